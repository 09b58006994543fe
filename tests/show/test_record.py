"""Explorers recorded for pages without a kernel: the settings, equal frames once, a budget, the controls as before."""

import json
import zlib
from itertools import pairwise

import ipywidgets
import pytest

from tx_helpers.lessons.multi_head_attention.head_removal import Head, HeadGrid
from tx_helpers.show.explore import Explore
from tx_helpers.show.grid import axis_of, grid, thinned
from tx_helpers.show.plots import Svg
from tx_helpers.show.recording import pieces
from tx_helpers.show.stored import StoredWidget


def square(**values):
    return Svg(f'<svg viewBox="0 0 1 1"><text>{values}</text></svg>', f"These are {values}.")


def axis(count: int, start: int = 0, sliding: bool = True):
    control = ipywidgets.IntSlider(start, 0, count - 1) if sliding else ipywidgets.Dropdown(options=range(count))
    return axis_of(f"x{count}", control)


def content(recording) -> dict:
    return json.loads(zlib.decompress(recording.data))


# --- the grid ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("control", "values", "texts"),
    [
        (ipywidgets.IntSlider(4, 0, 7, 2), [0, 2, 4, 6], ["0", "2", "4", "6"]),
        (ipywidgets.FloatSlider(0.3, min=0.1, max=0.3, step=0.1), [0.1, 0.2, 0.3], ["0.10", "0.20", "0.30"]),
        (ipywidgets.FloatSlider(0.3, min=0.0, max=0.4, step=0.4), [0.0, 0.3, 0.4], ["0.00", "0.30", "0.40"]),
        (ipywidgets.Dropdown(options=[("a", 1), ("b", 2)], value=2), [1, 2], ["a", "b"]),
        (ipywidgets.SelectionSlider(options=["p", "q"]), ["p", "q"], ["p", "q"]),
        (ipywidgets.Checkbox(True), [False, True], ["False", "True"]),
        (ipywidgets.Text("word"), ["word"], ["word"]),
    ],
)  # fmt: skip
def test_a_control_is_recorded_at_all_that_it_offers(control, values, texts):
    found = axis_of("x", control)
    assert (found.values, found.texts, found.values[found.start]) == (values, texts, control.value)


def test_stated_values_take_the_place_of_all_and_keep_the_start():
    assert axis_of("x", ipywidgets.IntText(5), [1, 2]).values == [5, 1, 2]
    assert axis_of("x", ipywidgets.IntSlider(5, 0, 9), [1, 8]).values == [1, 5, 8]
    assert axis_of("x", ipywidgets.Dropdown(options=[("a", 1), ("b", 2)]), [2, 1]).texts == ["b", "a"]


@pytest.mark.parametrize("start", [0, 3, 7, 20])
@pytest.mark.parametrize("most", [2, 3, 5, 8, 21, 30])
def test_a_thinned_slider_keeps_its_start_and_its_ends(start, most):
    kept = thinned(axis(21, start), most)
    assert {0, start, 20} <= set(kept) and len(kept) <= max(most, 3) and kept == sorted(kept)
    assert max(b - a for a, b in pairwise(kept)) <= 2 * 20 / (most - 1)


def test_all_settings_where_there_is_room_then_thinner_sliders_then_pairs():
    axes = [axis(3, sliding=False), axis(21, 4), axis(11, 0)]
    whole = grid(axes, 1000)
    assert whole[0] == (0, 4, 0) and len(whole) == len(set(whole)) == 3 * 21 * 11
    assert len(grid([axis(4, sliding=False), axis(2, sliding=False), axis(3)], 24)) == 24  # few values, all of them
    thin = grid(axes, 200)
    assert thin[0] == (0, 4, 0) and 100 < len(thin) <= 200
    assert {len({setting[n] for setting in thin}) for n in (1, 2)} == {8} and {setting[0] for setting in thin} == {
        0,
        1,
        2,
    }
    pairs = grid([*axes, axis(9), axis(8)], 300)
    assert pairs[0] == (0, 4, 0, 0, 0) and len(pairs) <= 300
    moved = [sum(a != b for a, b in zip(setting, pairs[0], strict=True)) for setting in pairs]
    assert max(moved) == 2 and {setting[1] for setting in pairs} == set(range(21))


# --- the recording ----------------------------------------------------------------------------------------------------


def test_every_setting_has_the_frame_that_python_draws():
    made = Explore(square, name="toy", x=(0, 3), word=["a", "b"])
    recording = made.record()
    found = content(recording)
    assert recording.settings == 8 and set(found["settings"]) == {f"{x},{w}" for x in range(4) for w in range(2)}
    for x in range(4):
        for place, word in enumerate("ab"):
            made.set(x=x, word=word)
            picture, alt, error, _ = found["frames"][found["settings"][f"{x},{place}"]]
            assert ("".join(found["pieces"][piece] for piece in picture), alt, error) == made.shown


def test_equal_frames_are_stored_once():
    recording = Explore(lambda x: square(half=x // 2), name="toy", x=(0, 9)).record()
    assert (recording.settings, recording.frames) == (10, 5) and len(content(recording)["frames"]) == 5


def test_equal_pieces_are_stored_once():
    found = content(Explore(square, name="toy", x=(0, 9)).record())
    assert len(found["pieces"]) == len(set(found["pieces"])) < 25
    assert "".join(pieces("<a><b>x</b>y")) == "<a><b>x</b>y" and pieces("<a><b>x</b>y") == ["<a>", "<b>", "x</b>", "y"]


def test_the_controls_are_as_before():
    made = Explore(square, name="toy", x=(0, 3), word=["a", "b"])
    made.set(x=2, word="b")
    before, summary = made.values, made.summary
    recording = made.record()
    assert (made.values, made.summary) == (before, summary)
    assert [about["at"] for about in recording.about["controls"]] == [2, 1]


def test_the_budget_holds_and_the_grid_becomes_thinner():
    def noisy(x, y):
        return square(said=[hash((x, y, n)) for n in range(40)])

    made = Explore(noisy, name="toy", x=(0, 40), y=(0, 40))
    whole, small = made.record(budget=10**7), made.record(budget=60_000)
    assert whole.settings == 41**2 and len(whole.data) > 200_000
    assert 50 < small.settings < 400 and 30_000 < len(small.data) <= 60_000
    with pytest.raises(ValueError, match=r"record: 'toy' takes \d+ bytes at its start, but budget=50"):
        made.record(budget=50)


def test_two_runs_give_the_same_bytes():
    one, other = (Explore(square, name="toy", x=(0, 9), word=["a", "b"]).page_form() for _ in range(2))
    assert one == other


def test_a_linked_control_has_no_axis_of_its_own():
    one, other = (ipywidgets.Dropdown(options=["a", "b"], description=name) for name in ("One", "Two"))
    ipywidgets.link((one, "value"), (other, "value"))
    recording = Explore(square, name="toy", one=one, other=other, recorded={"other": "one"}).record()
    assert recording.settings == 2 and [about["axis"] for about in recording.about["controls"]] == [0, 0]


def test_a_control_that_pages_leave_out_is_not_on_them():
    explorer = Explore(square, name="toy", one=["a", "b"], other=(0, 9), recorded={"other": None})
    recording = explorer.record()
    assert recording.settings == 2 and [about["key"] for about in recording.about["controls"]] == ["one"]
    assert [frame[1] for frame in content(recording)["frames"]] == [
        *("These are {'one': 'a', 'other': 0}.", "These are {'one': 'b', 'other': 0}.")
    ]


def test_an_explorer_can_name_the_settings_that_pages_offer():
    named = [{"one": "b", "other": 9}, {"one": "a", "other": 3}, {"one": "a", "other": 0}]
    explorer = Explore(square, name="toy", one=["a", "b"], other=(0, 9), recorded=lambda: named)
    recording = explorer.record()
    assert content(recording)["settings"] == {"0,0": 0, "1,2": 1, "0,1": 2}  # the start first
    assert [about["values"] for about in recording.about["controls"]] == [["a", "b"], [0, 3, 9]]
    assert explorer.record(frames=2).settings == 2


def test_a_setting_that_python_does_not_have_is_left_out():
    slider = ipywidgets.IntSlider(2, 0, 4, description="Step")

    def picture(step, most):
        slider.max = most
        return square(step=step, most=most)

    explore = Explore(picture, name="toy", step=slider, most=[4, 2])
    recording = explore.record()
    assert set(content(recording)["settings"]) == {f"{s},0" for s in range(5)} | {f"{s},1" for s in range(3)}
    assert [about.get("led", False) for about in recording.about["controls"]] == [True, False]
    assert explore.values == {"step": 2, "most": 4}


def test_a_control_with_lists_as_values_is_recorded_where_the_explorer_says():
    shares = {Head("encoder.blocks.0.self_attention", n): 0.5 for n in range(3)}
    grid = HeadGrid(shares, description="Heads")
    heads = [[], [["encoder.blocks.0.self_attention", 1]]]
    recording = Explore(square, name="toy", heads=grid, recorded={"heads": lambda: heads}).record()
    (about,) = recording.about["controls"]
    assert recording.settings == 2 and (about["kind"], about["values"]) == ("drawn", heads)


# --- page forms -------------------------------------------------------------------------------------------------------


def test_a_stored_widget_gives_its_own_traits():
    import traitlets

    class Toy(StoredWidget):
        _esm, _css = "export default { render() {} };", "p { color: red }"
        words = traitlets.List(["a"]).tag(sync=True)
        data = traitlets.Bytes(b"\0\1").tag(sync=True)
        hidden = traitlets.Int(3)

        def __repr__(self):
            return "a toy"

    form = Toy().page_form()
    assert form.state == {"words": ["a"], "data": b"\0\1"} and form.text == "a toy"
    assert (form.script, form.css) == (Toy._esm, Toy._css)
