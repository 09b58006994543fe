"""Explorers without a browser: moves of controls, errors, the newest value that wins, hostile text, the mimebundle."""

import asyncio
from html import escape
from html.parser import HTMLParser
from threading import Thread

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tx_helpers.opening import VIEW
from tx_helpers.show.explore import ROUNDS, Explore
from tx_helpers.show.keyboard import Keyboard
from tx_helpers.show.plots import Picture, Svg, image, new_figure, svg_text
from tx_helpers.show.shapes import card, sheet, words

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\" onload='alert(1)' x=\"",
    "\0\x1b\ud800",
    "\u202eright to left\u202c",
    "two\nlines",
    "$$\\frac{1}{",
    "x" * 10_000,
]


def square(x=0, **others):
    """A drawing of nothing that says a number."""
    return Svg('<svg viewBox="0 0 1 1"></svg>', f"The square of {x} is {x * x}.")


class Recorder:
    """A drawing function that remembers what it was asked for, and does what it is told about certain values."""

    def __init__(self, **errors):
        self.drawn, self.errors = [], errors

    def __call__(self, x):
        self.drawn.append(x)
        if f"x{x}" in self.errors:
            raise self.errors[f"x{x}"]
        return square(x)


class Page(HTMLParser):
    """The elements of a piece of HTML with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def parts(explore):
    """What is on the page: picture, summary and error."""
    return [Page(widget.value) for widget in (explore._view, explore._status, explore._alarm)]


def moves_in_a_loop(explore, *bursts):
    """Bursts of values that come in while an event loop runs, as in a kernel; the summary on the page after each."""

    async def moves():
        for burst in bursts:
            for value in burst:
                explore.controls["x"].value = value
            for _ in range(2000):  # a draw that never comes shall fail the test, not stop it
                if explore._timer:
                    await asyncio.sleep(0.001)
            yield parts(explore)[1].text

    async def everything():
        return [text async for text in moves()]

    return asyncio.run(everything())


def test_a_move_draws_at_once_without_an_event_loop():
    explore = Explore(square, "squares", x=(3, 9))
    assert repr(explore) == "Explorer 'squares': The square of 3 is 9."
    explore.controls["x"].value = 5
    picture, summary, error = parts(explore)
    assert summary.text == explore.summary == "The square of 5 is 25."
    assert picture.elements[0][1]["aria-label"] == "The square of 5 is 25."
    assert explore.error == error.text == ""


def test_set_moves_several_controls_and_draws_once():
    seen = []

    def draw(x, y):
        seen.append((x, y))
        return square(x * y)

    explore = Explore(draw, "products", x=(0, 9), y=(0.0, 9.0, 0.5))
    explore.set(x=4, y=2.5)
    assert seen == [(0, 0.0), (4, 2.5)]
    assert explore.values == {"x": 4, "y": 2.5}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"y": "b", "z": 1}, "'z' is none of the controls x, y"),
        ({"y": "b", "x": 10}, "x=10, but the control goes from 0 to 9"),
        ({"x": 4, "y": "c"}, "y='c', but the options are "),
        ({"y": "b", "x": None}, "x=None: "),
    ],
)
def test_set_refuses_what_no_control_can_show_and_moves_nothing(values, message):
    explore = Explore(square, "squares", x=(0, 9), y=["a", "b"])
    with pytest.raises(ValueError, match=message):
        explore.set(**values)
    assert explore.values == {"x": 0, "y": "a"}
    assert explore.summary == "The square of 0 is 0."


def test_quick_moves_are_drawn_once_at_the_newest_value():
    draw = Recorder()
    assert moves_in_a_loop(Explore(draw, "squares", x=(0, 30)), range(1, 21)) == ["The square of 20 is 400."]
    assert draw.drawn == [0, 20]


def test_slow_moves_are_drawn_each():
    draw = Recorder()
    texts = moves_in_a_loop(Explore(draw, "squares", x=(0, 30)), [1], [2, 5], [3])
    assert texts == ["The square of 1 is 1.", "The square of 5 is 25.", "The square of 3 is 9."]
    assert draw.drawn == [0, 1, 5, 3]


def test_what_is_read_is_never_older_than_the_controls():
    draw = Recorder()
    explore = Explore(draw, "squares", x=(0, 30))

    async def moves():
        explore.controls["x"].value = 6
        read = repr(explore), explore._repr_mimebundle_()[0]["text/plain"]
        explore.controls["x"].value = 7
        explore.set(x=8)
        await asyncio.sleep(0.05)
        return read

    assert asyncio.run(moves()) == ("Explorer 'squares': The square of 6 is 36.",) * 2
    assert draw.drawn == [0, 6, 8]  # `set` has called off the draw that 7 had asked for


def test_a_draw_that_an_ended_loop_still_owes_is_not_waited_for(monkeypatch):
    explore = Explore(square, "squares", x=(0, 30))

    async def move(value):
        explore.controls["x"].value = value

    def move_in_a_loop_that_ends_at_once(value):
        with monkeypatch.context() as patch:
            patch.setattr("tx_helpers.show.explore.PAUSE", 3600)  # the loop ends first, however busy the machine is
            asyncio.run(move(value))

    move_in_a_loop_that_ends_at_once(4)
    assert parts(explore)[1].text == "The square of 0 is 0."
    assert moves_in_a_loop(explore, [5]) == ["The square of 5 is 25."]
    move_in_a_loop_that_ends_at_once(6)
    explore.controls["x"].value = 7
    assert parts(explore)[1].text == "The square of 7 is 49."


def test_a_draw_may_move_a_control_and_the_newest_value_wins():
    def draw(x):
        if x < 3:
            explore.controls["x"].value = x + 1
        return square(x)

    explore = Explore(square, "squares", x=(0, 9))
    explore._draw = draw
    explore.controls["x"].value = 1
    assert (explore.values, explore.summary) == ({"x": 3}, "The square of 3 is 9.")


def test_what_another_thread_asks_for_while_a_picture_is_drawn_is_drawn_after_it():
    explore, steps = Explore(square, "squares", x=(0, 9)), [16]

    def draw(x):
        step = steps[-1]
        if len(steps) == 1:  # meanwhile a training ends in another thread, and shows its last step
            steps.append(17)
            ending = Thread(target=explore.redraw)
            ending.start()
            ending.join()
        return square(step)

    explore._draw = draw
    explore.redraw()
    assert explore.summary == "The square of 17 is 289."


def test_a_draw_that_never_rests_comes_to_an_end():
    draw = Recorder()
    explore = Explore(draw, "squares", x=(0, 99))

    def restless(x):
        explore.controls["x"].value = x + 1
        return draw(x)

    explore._draw = restless
    explore.set(x=10)
    assert draw.drawn == [0, *range(10, 10 + ROUNDS)]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError("4 is <too> much"), "4 is <too> much"),
        (ValueError(), "ValueError"),
        (KeyError("four"), "KeyError: 'four'"),
    ],
)
@pytest.mark.parametrize("in_a_loop", [False, True])
def test_an_error_is_shown_in_place_and_the_last_good_picture_stays(error, shown, in_a_loop, capsys):
    explore = Explore(Recorder(x4=error), "squares", x=(2, 9))
    if in_a_loop:
        moves_in_a_loop(explore, [4])
    else:
        explore.controls["x"].value = 4
    picture, summary, alarm = parts(explore)
    assert explore.error == alarm.text == shown
    assert [tag for tag, _ in alarm.elements] == ["div"]
    assert explore.summary == summary.text == picture.elements[0][1]["aria-label"] == "The square of 2 is 4."
    explore.controls["x"].value = 5
    assert (explore.error, parts(explore)[2].text) == ("", "")
    assert explore.summary == "The square of 5 is 25."
    assert capsys.readouterr() == ("", "")


def test_a_draw_that_returns_no_picture_is_told_so():
    with pytest.raises(ValueError, match="draw returned None, expected a Picture or an Svg"):
        Explore(lambda: None, "nothing")


@pytest.mark.parametrize("error", [ValueError("no model"), KeyError("model")])
def test_an_error_of_the_first_draw_is_raised(error):
    with pytest.raises(type(error), match="model"):
        Explore(Recorder(x0=error), "squares", x=(0, 9))


def test_the_shorthands_of_controls():
    explore = Explore(
        square, "all", x=(1, 9, 2), y=(0.5, 2.5), z=[4, 5], kind={"one": 1, "two": 2}, causal=True, a_word="drei"
    )
    kinds = {key: type(control).__name__ for key, control in explore.controls.items()}
    assert kinds == {
        **{"x": "IntSlider", "y": "FloatSlider", "z": "Dropdown", "kind": "Dropdown"},
        **{"causal": "Checkbox", "a_word": "Text"},
    }
    assert explore.values == {"x": 1, "y": 0.5, "z": 4, "kind": 1, "causal": True, "a_word": "drei"}
    assert explore.controls["a_word"].description == "A word"
    x = explore.controls["x"]
    assert (x.min, x.max, x.step) == (1, 9, 2)


def test_a_button_stands_among_the_controls_and_hands_over_nothing():
    explore = Explore(square, "squares", x=(1, 3), start=ipywidgets.Button(description="Start"))
    assert explore.values == {"x": 1}
    assert list(explore.controls) == ["x", "start"]


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ({"x": ipywidgets.IntSlider()}, "x=IntSlider has no description"),
        ({"x": ipywidgets.Button(description=" ", icon="play")}, "x=Button has no description"),
        ({"x": ipywidgets.Label("x")}, "x=Label has no description"),
        ({"x": (3, 3)}, r"x=\(3, 3\), expected .* with low < high"),
        ({"x": (1,)}, r"x=\(1,\), expected \(low, high\)"),
        ({"x": []}, r"x=\[\], expected a widget"),
        ({"x": 3}, "x=3, expected a widget"),
        ({"x": ["a", None]}, "x has an option None, which means that nothing is chosen"),
        ({"x": {"all heads": None, "first": 0}}, "x has an option None"),
        ({"x": ipywidgets.Dropdown(options=[("a", 1), ("b", None)], description="x")}, "x has an option None"),
        ({"x": ipywidgets.Dropdown(options=["a", "b"], value=None, description="x")}, "x has an option None"),
    ],
)
def test_a_control_that_does_not_fit_is_refused(controls, message):
    with pytest.raises(ValueError, match=message):
        Explore(square, "squares", **controls)


@pytest.mark.parametrize("name", ["", "Two words", "1st", "a_b", 'a"b', "a\n"])
def test_a_name_that_is_no_css_class_is_refused(name):
    with pytest.raises(ValueError, match="Explore: name="):
        Explore(square, name)


def test_what_the_page_holds():
    explore = Explore(square, "squares", x=(0, 9))
    assert explore.box._dom_classes == ("tx-explorer", "tx-explorer-squares")
    picture, summary, alarm = parts(explore)
    tag, attributes = picture.elements[0]
    assert (tag, attributes["class"], attributes["role"]) == ("svg", "tx-picture", "img")
    tag, attributes = summary.elements[0]
    assert (tag, attributes["class"], attributes["role"]) == ("div", "tx-summary", "status")
    assert attributes["aria-live"] == "polite"
    tag, attributes = alarm.elements[0]
    assert (tag, attributes["class"], attributes["role"]) == ("div", "tx-error", "alert")
    assert [repr(child) for child in explore.box.children if isinstance(child, Keyboard)] == ["Keyboard()"]


def test_the_text_is_for_ears_alone_unless_it_is_told():
    styles = {}
    for told in (True, False):
        _, summary, _ = parts(Explore(square, "squares", told=told, x=(0, 9)))
        styles[told] = summary.elements[0][1]["style"]
    assert "clip-path" in styles[False] and "clip-path" not in styles[True]


def matplotlib_picture(text="A line that goes up."):
    figure, axis = new_figure(3, 2)
    axis.plot([0, 1])
    return Picture(figure, text)


def test_the_bundle_with_a_matplotlib_picture():
    explore = Explore(matplotlib_picture, "line")
    data, metadata = explore._repr_mimebundle_()
    assert data == {
        VIEW: {"version_major": 2, "version_minor": 0, "model_id": explore.box.model_id},
        "image/png": matplotlib_picture().png(),
        "text/html": explore._view.value,
        "text/plain": "Explorer 'line': A line that goes up.",
    }
    assert metadata == {"image/png": {"alt": "A line that goes up."}}
    tag, attributes = parts(explore)[0].elements[0]
    assert (tag, attributes["class"], attributes["alt"]) == ("img", "tx-picture", "A line that goes up.")
    assert (attributes["width"], attributes["height"]) == ("330", "220")
    assert attributes["src"].startswith("data:image/png;base64,iVBOR")


def test_the_bundle_with_an_svg_is_the_picture_of_now():
    explore = Explore(square, "squares", x=(0, 9))
    explore.set(x=3)
    data, metadata = explore._repr_mimebundle_()
    assert data == {
        VIEW: {"version_major": 2, "version_minor": 0, "model_id": explore.box.model_id},
        "image/svg+xml": square(3).markup(),
        "text/html": image("image/svg+xml", square(3).markup().encode(), "The square of 3 is 9."),
        "text/plain": "Explorer 'squares': The square of 3 is 9.",
    }
    assert metadata == {"image/svg+xml": {"alt": "The square of 3 is 9."}}


def test_ipython_takes_the_bundle():
    formatter = InteractiveShell.instance().display_formatter
    data, metadata = formatter.format(Explore(square, "squares", x=(0, 9)))
    assert set(data) == {VIEW, "image/svg+xml", "text/html", "text/plain"}
    assert metadata == {"image/svg+xml": {"alt": "The square of 0 is 0."}}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(text):
    def draw(word, kind):
        if kind == "bad":
            raise ValueError(word)
        return Svg(f'<svg viewBox="0 0 9 9"><text>{svg_text(word)}</text></svg>', word)

    explore = Explore(draw, "words", word=ipywidgets.Text("", description="Word"), kind=["good", "bad", text])
    explore.set(word=text)
    shown = text.translate({0: None, 0x1B: None, 0xD800: None})
    picture, summary, _ = parts(explore)
    assert [(tag, sorted(attributes)) for tag, attributes in picture.elements] == [
        ("svg", ["aria-label", "class", "role", "viewbox", "xmlns"]),
        ("text", []),
    ]
    assert (picture.elements[0][1]["aria-label"], picture.text, summary.text) == (shown, shown, shown)
    assert [tag for tag, _ in summary.elements] == ["div"]
    explore.set(kind="bad")
    assert ([tag for tag, _ in parts(explore)[2].elements], parts(explore)[2].text) == (["div"], shown)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_alt_text_stays_in_its_attribute(text):
    page = parts(Explore(lambda: matplotlib_picture(text), "words"))[0]
    ((tag, attributes),) = page.elements
    assert (tag, sorted(attributes)) == ("img", ["alt", "class", "height", "src", "style", "width"])
    assert attributes["alt"] == text.translate({0: None, 0x1B: None, 0xD800: None})


def test_a_description_is_never_html():
    """ipywidgets 8 has a switch for it, which is off; ipywidgets 7 has none, and gets the markup escaped."""
    control = Explore(square, "squares", x=ipywidgets.IntSlider(description=HOSTILE[0])).controls["x"]
    if control.has_trait("description_allow_html"):
        assert (control.description_allow_html, control.description) == (False, HOSTILE[0])
    else:
        assert control.description == escape(HOSTILE[0])


def test_a_live_drawing_has_no_style_sheet_of_its_own():
    """A new one at every move would be slow; the hidden widget brings that of all drawings. A stored one keeps its."""
    explorer = Explore(lambda x: card(9, 9, [words(1, 8, str(x))], f"It is {x}."), name="card", x=(0, 3))
    assert "<style>" not in explorer._view.value and 'class="tx-card tx-picture"' in explorer._view.value
    assert explorer._keyboard._css == sheet()
    assert "<style>" in explorer._repr_mimebundle_()[0]["image/svg+xml"]
