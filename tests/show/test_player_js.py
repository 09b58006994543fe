"""Recorded explorers in Chromium, without a kernel: every setting shows what Python draws there, freshly."""

import ipywidgets
import pytest

from browser_contrast import contrast_faults
from player_page import PICTURE, play, shown, turn
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import card, dragging, setting, words
from tx_helpers.show.steps import Steps
from widget_page import HOSTILE

WORDS = ["one", HOSTILE, "\u202eright to left"]


def drawing(x=0, word="", big=False, text="", **others):
    """A picture that says everything it was given."""
    if x == 3:
        raise ValueError(f"three is refused, {HOSTILE}")
    said = f"x = {x}, {word}, {'big' if big else 'small'}, {text}, {others}"
    parts = [words(10, 30 + 10 * x, said), *(setting("x", n, [words(40 * n, 90, f"to {n}")]) for n in (0, 2))]
    return card(500, 120, parts, said)


def explorer(**controls) -> Explore:
    return Explore(drawing, name="toy", **controls)


def everything() -> Explore:
    return explorer(x=(0, 4), word=WORDS, big=True, y=(0.0, 1.0, 0.25), text="start")


def test_each_setting_shows_what_python_draws(bare_page):
    play(bare_page, everything())
    fresh = everything()
    for n in (0, 1, 2, 4):
        turn(bare_page, "slider", "X", n)
        for word in WORDS:
            turn(bare_page, "combobox", "Word", word)
            for big in (True, False):
                turn(bare_page, "checkbox", "Big", big)
                fresh.set(x=n, word=word, big=big)
                assert shown(bare_page) == (fresh.summary, "")
                assert bare_page.evaluate(PICTURE, fresh.shown[0]) == ""
    turn(bare_page, "slider", "Y", 3)
    fresh.set(y=0.75)
    assert shown(bare_page) == (fresh.summary, "")


@pytest.mark.parametrize(("count", "lines"), [(3, 3), (8, 4)])
def test_many_ticks_stand_in_columns_on_a_phone(bare_page, count, lines):
    bare_page.set_viewport_size({"width": 390, "height": 800})
    ticks = {f"tick {n}": False for n in range(count)}
    play(bare_page, Explore(lambda x, **ticked: drawing(x), name="toy", x=(0, 2), **ticks))
    tops = {round(one.bounding_box()["y"]) for one in bare_page.get_by_role("checkbox").all()}
    assert len(tops) == lines
    turn(bare_page, "checkbox", f"Tick {count - 1}", True)
    assert shown(bare_page)[1] == ""


def test_an_error_is_recorded_and_the_last_picture_stays(bare_page):
    play(bare_page, everything())
    turn(bare_page, "slider", "X", 2)
    before = shown(bare_page)[0]
    turn(bare_page, "slider", "X", 3)
    assert shown(bare_page) == (before, f"three is refused, {HOSTILE}")
    turn(bare_page, "slider", "X", 4)
    assert shown(bare_page) == (before.replace("x = 2", "x = 4"), "")


def test_the_keyboard_and_a_click_on_a_part_of_the_picture(bare_page):
    play(bare_page, everything())
    bare_page.keyboard.press("Tab")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        bare_page.keyboard.press(key)
    assert shown(bare_page)[0].startswith("x = 2, one, big")
    assert bare_page.get_by_role("slider", name="X").get_attribute("aria-valuetext") == "2"
    bare_page.get_by_text("to 0").click()
    assert shown(bare_page)[0].startswith("x = 0, one, big")
    assert bare_page.get_by_role("slider", name="X").input_value() == "0"


def test_a_dragged_part_turns_its_sliders_to_the_nearest_places_until_it_is_let_go(bare_page):
    def handle(x, y):
        grip = dragging({"x": (0.02, 0.0), "y": (0.0, 0.5)}, [words(100, 100, "drag me")])
        return card(300, 200, [grip], f"x = {x}, y = {y}")

    play(bare_page, Explore(handle, name="toy", x=(0, 4), y=(0, 9, 3)))
    spot = bare_page.get_by_text("drag me").bounding_box()
    bare_page.mouse.move(spot["x"] + 5, spot["y"] + 5)
    bare_page.mouse.down()
    bare_page.mouse.move(spot["x"] + 105, spot["y"] + 18)
    assert shown(bare_page) == ("x = 2, y = 6", "")
    bare_page.mouse.move(spot["x"] + 5, spot["y"] + 300)
    assert shown(bare_page) == ("x = 0, y = 9", "")
    bare_page.mouse.up()
    bare_page.mouse.move(spot["x"] + 105, spot["y"] + 5)
    assert shown(bare_page) == ("x = 0, y = 9", "")


def test_a_text_that_was_not_recorded_is_named_with_those_that_were(bare_page):
    text = ipywidgets.Text("first", description="Text")
    number = ipywidgets.IntText(5, description="Number")
    play(bare_page, explorer(text=text, n=number, recorded={"text": ["first", HOSTILE, "third"], "n": [5, 7, 40]}))
    turn(bare_page, "combobox", "Text", HOSTILE)
    assert shown(bare_page) == (f"x = 0, , small, {HOSTILE}, {{'n': 5}}", "")
    turn(bare_page, "combobox", "Text", "another")
    said, error = shown(bare_page)
    assert said == f"x = 0, , small, {HOSTILE}, {{'n': 5}}"
    assert error == (
        f"Text “another” was not recorded for this page. There is: first, {HOSTILE}, third. "
        "In the notebook every setting is drawn."
    )
    turn(bare_page, "combobox", "Text", "third")
    assert shown(bare_page) == ("x = 0, , small, third, {'n': 5}", "")
    field = bare_page.locator("input[type=number]")
    for key, value in (("ArrowUp", "7"), ("ArrowUp", "40"), ("ArrowUp", "40"), ("ArrowDown", "7")):
        field.press(key)
        assert field.input_value() == value and shown(bare_page)[0].endswith(f"{{'n': {value}}}")


def test_off_the_recorded_pairs_the_message_names_what_there_is(bare_page):
    made = explorer(**{key: (0, 8) for key in ("x1", "x2", "x3", "x4", "x5")})
    play(bare_page, made, frames=300)
    turn(bare_page, "slider", "X1", 4)
    turn(bare_page, "slider", "X2", 4)
    before, error = shown(bare_page)
    assert error == "" and "'x1': 4, 'x2': 4, 'x3': 0" in before
    turn(bare_page, "slider", "X3", 4)
    assert shown(bare_page) == (
        before,
        "X3 4 was recorded for this page only with X1 0. In the notebook every setting is drawn.",
    )
    turn(bare_page, "slider", "X1", 0)
    assert "'x1': 0, 'x2': 4, 'x3': 4" in shown(bare_page)[0] and shown(bare_page)[1] == ""


def test_a_slider_ends_where_another_control_lets_it_end(bare_page):
    step, distance = (
        ipywidgets.IntSlider(4, 0, 4, description="Step"),
        ipywidgets.IntSlider(4, 2, 6, description="Far"),
    )
    distance.observe(lambda change: setattr(step, "max", change["new"]), "value")
    made = Explore(
        lambda step, far: Svg('<svg viewBox="0 0 1 1"></svg>', f"{step} of {far}"),
        name="toy", step=step, far=distance, recorded={"step": range(7)},
    )  # fmt: skip
    play(bare_page, made)
    slider = bare_page.get_by_role("slider", name="Step")
    assert shown(bare_page)[0] == "4 of 4" and slider.get_attribute("max") == "4"
    turn(bare_page, "slider", "Far", 0)
    assert shown(bare_page) == ("2 of 2", "") and slider.get_attribute("max") == "2"
    turn(bare_page, "slider", "Far", 4)
    assert shown(bare_page) == ("2 of 6", "") and slider.get_attribute("max") == "6"


class Counting:
    """Counts to ten from a press of its button on; the recorder of a live explorer needs no more."""

    def __init__(self):
        self.count, self.work = 0, Steps(0.0)
        self.button = ipywidgets.ToggleButton(description="Count")
        self.by = ipywidgets.Dropdown(options=[1, 2], description="By")
        self.explore = Explore(self.picture, name="counting", by=self.by, counting=self.button)
        self.explore.begin_again = lambda: setattr(self, "count", 0)
        self.button.observe(lambda change: self.start() if change["new"] else self.stop(), "value")

    def picture(self, by, counting):
        said = f"{'counting' if counting else 'resting'} at {self.count} by {by}"
        return card(200, 50, [words(5, 20, said)], said)

    def start(self):
        self.button.description = "Stop"
        self.work.start(self.step, self.ended)

    def stop(self):
        self.work.stop()
        self.button.value, self.button.description = False, "Go on" if self.count < 10 else "Count"

    def step(self):
        self.count += self.by.value
        self.explore.redraw()
        return self.count < 10

    def ended(self, whole):
        if whole:
            self.stop()
        self.explore.redraw()


def test_a_run_is_played_stopped_continued_and_played_again(bare_page):
    bare_page.clock.install()
    play(bare_page, Counting().explore)
    button = bare_page.locator(".tx-explorer button")

    def seen(seconds: float) -> tuple[str, str]:
        bare_page.clock.run_for(1000 * seconds)
        return shown(bare_page)[0], button.text_content()

    assert seen(1) == ("resting at 0 by 1", "Count")
    button.press("Enter")
    assert seen(0) == ("counting at 1 by 1", "Stop")
    assert seen(1.3) == ("counting at 3 by 1", "Stop")  # ten shots in six seconds
    button.click()
    assert seen(5) == ("resting at 3 by 1", "Go on")
    turn(bare_page, "combobox", "By", "2")
    assert seen(1) == ("resting at 0 by 2", "Count")
    button.click()
    assert seen(7) == ("resting at 10 by 2", "Count")
    turn(bare_page, "combobox", "By", "1")
    assert seen(1) == ("resting at 3 by 1", "Go on")
    button.click()
    assert seen(0) == ("counting at 4 by 1", "Stop")
    turn(bare_page, "combobox", "By", "2")
    assert seen(3) == ("resting at 10 by 2", "Count")
    button.click()
    assert seen(0) == ("counting at 2 by 2", "Stop")


def test_play_moves_the_slider_to_its_end_and_begins_anew(bare_page):
    bare_page.clock.install(time=0)
    bare_page.clock.pause_at(1)  # from here on time passes only where `seen` lets it, also on a busy machine
    slider = ipywidgets.IntSlider(1, 0, 3, description="X")
    play(bare_page, explorer(x=slider, play=play_button(slider, pause=0.5), recorded={"x": [0, 1, 2]}))
    button = bare_page.get_by_role("button")

    def seen(seconds: float) -> tuple[str, str]:
        bare_page.clock.run_for(1000 * seconds)
        return shown(bare_page)[0][:5], button.text_content()

    button.click()
    assert seen(0.4) == ("x = 1", "Pause") and seen(0.2) == ("x = 2", "Play")
    button.click()
    assert seen(0.1) == ("x = 0", "Pause") and seen(0.5) == ("x = 1", "Pause")
    button.click()
    assert seen(3) == ("x = 1", "Play")


def test_a_button_sets_controls(bare_page):
    clear = ipywidgets.Button(description="Clear")
    clear.sets = {"x": 0, "word": "one"}
    play(bare_page, explorer(x=(0, 2), word=["one", "two"], clear=clear))
    turn(bare_page, "slider", "X", 2)
    turn(bare_page, "combobox", "Word", "two")
    bare_page.get_by_role("button", name="Clear").click()
    assert shown(bare_page)[0].startswith("x = 0, one,")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read_in_both_themes(bare_page, scheme):
    bare_page.emulate_media(color_scheme=scheme)
    play(bare_page, everything())
    assert contrast_faults(bare_page, ".tx-explorer") == []


def test_a_wide_picture_scrolls_in_a_narrow_window_by_keyboard_too(bare_page):
    play(bare_page, everything())
    view = bare_page.locator(".tx-view")
    assert view.get_attribute("tabindex") is None
    bare_page.set_viewport_size({"width": 360, "height": 800})
    bare_page.locator(".tx-view[tabindex='0']").focus()
    bare_page.keyboard.press("ArrowRight")
    bare_page.wait_for_function("document.querySelector('.tx-view').scrollLeft > 0")
    assert bare_page.evaluate("document.documentElement.scrollWidth") <= 360
    bare_page.set_viewport_size({"width": 1000, "height": 800})
    bare_page.locator(".tx-view:not([tabindex])").wait_for()
