"""Turn a control and see the picture change: `Explore` binds any drawing function to controls.

    def draw(temperature, top_k):
        ...
        return Picture(figure, alt="'drei' is the likeliest word (0.62).")     # or Svg(markup, alt)

    Explore(draw, name="sampling", temperature=(0.1, 2.0, 0.1), top_k=[1, 5, 50])

The alt text answers the explorer's question with the numbers in it: it is the summary, which a screen reader announces,
and what nbval compares. The page shows it beneath the picture only if `told`: where it holds what the picture does not.
A draw should take no more than 30 ms: compute beforehand, and prefer `Svg`. With matplotlib, make the figure once, with
its layout, and only change its data: that takes a third of the time. In a notebook that nbval compares strictly, use an
`Svg`: the bytes of a PNG depend on matplotlib's version.
"""

import asyncio
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as widgets
from ipywidgets.widgets.widget_description import DescriptionWidget

from tx_helpers.opening import VIEW, Bundle
from tx_helpers.show.camera import Recorded
from tx_helpers.show.keyboard import Keyboard
from tx_helpers.show.plots import Picture, Svg, image, svg_text
from tx_helpers.show.recording import Recording, record, recorded_form
from tx_helpers.show.stored import PageForm

PAUSE = 0.004  # seconds between a move and its picture; of the moves that come in meanwhile the newest wins
ROUNDS = 5  # how often a picture is drawn again because the drawing function itself moved a control
TEXT = "line-height: 1.5; overflow-wrap: anywhere; white-space: pre-line"
UNSEEN = "position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%)"
ALARM = f"{TEXT}; border-left: 4px solid #D55E00; padding-left: 8px"


class Explore:
    """Controls, a picture, a line of text that describes it, seen or only heard, and a place for errors.

    draw      draw(**values) -> Picture or Svg: whatever has `.alt`, and `.png()` or `.svg`
    name      of letters, digits and hyphens; unique in its notebook (`tx-explorer-<name>` is its class on the page)
    controls  name = a widget of ipywidgets that has a description, or
              (low, high) or (low, high, step)  a slider, which starts at low
              a list, or a dict label -> value  a dropdown; None is no value: it means that nothing is chosen
              True or False                     a checkbox
              "text"                            a line of text
              A Button is shown among the controls, but passes no value to `draw`.
    recorded  control -> the values that pages without a kernel offer (`recording.py`), where they are not all that it
              has, or a function that gives them; or the name of another control whose value this one always has; or
              None for a control that pages leave out. Or a function that gives whole settings: control -> its value
    told      does the text stand below the picture for all to read, because it holds what the picture does not?
    computed  (script, given): pages without a kernel compute instead. The module's default export is
              compute(values, given) -> { alt, error, traits, markup }; what is left out is empty

    An error in the first draw is raised. Later errors are shown in place (a ValueError by its text alone, others with
    their type), and the last good picture stays. Raises ValueError for a name or a control that does not fit.
    """

    def __init__(
        self,
        draw: Callable[..., Picture | Svg],
        name: str,
        *,
        told: bool = False,
        recorded: Recorded | None = None,
        computed: tuple[str, object] | None = None,
        **controls: Any,
    ):
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise ValueError(f"Explore: name={name!r}, expected small letters, digits and hyphens, a letter first")
        self.name = name
        self.controls = {key: _control(key, given) for key, given in controls.items()}
        self.told, self.computed = told, computed
        self.recorded: Recorded = recorded or {}
        self.begin_again: Callable[[], object] = lambda: None  # what `record` calls before each press
        self.forget: Callable[[], object] = lambda: None  # and before each picture
        self._draw = draw
        self._summary = self._error = ""
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drawing = self._stale = False
        self._taken: dict[str, Any] = {}  # the values when a part of the picture was last taken to be dragged
        self._view = widgets.HTML(layout={"width": "auto"})
        self._status = widgets.HTML(layout={"width": "auto"} if told else {"height": "1px", "margin": "0"})
        self._status.add_class("tx-live")
        self._alarm = widgets.HTML(layout={"width": "auto"})
        self._keyboard = Keyboard(layout={"display": "none"})
        self._keyboard.on_msg(self._clicked)
        rows = widgets.Box(
            list(self.controls.values()), layout={"display": "flex", "flex_flow": "row wrap", "grid_gap": "4px 24px"}
        )
        self.box = widgets.VBox([rows, self._alarm, self._view, self._status, self._keyboard])
        self.box.add_class("tx-explorer").add_class(f"tx-explorer-{name}")
        self._show(draw(**self.values))
        self._report("")
        for control in self.controls.values():
            if control.has_trait("value"):
                control.observe(self._moved, "value")

    @property
    def values(self) -> dict[str, Any]:
        """The values of the controls: the keyword arguments of `draw`."""
        return {key: control.value for key, control in self.controls.items() if control.has_trait("value")}

    @property
    def summary(self) -> str:
        """What the picture shows at the present values."""
        self._settle()
        return self._summary

    @property
    def error(self) -> str:
        """What is wrong with the present values; empty if nothing is."""
        self._settle()
        return self._error

    @property
    def button(self) -> str | None:
        """The control that starts and stops something, if there is one."""
        return next((key for key, one in self.controls.items() if isinstance(one, widgets.ToggleButton)), None)

    @property
    def shown(self) -> tuple[str, str, str]:
        """The picture's element, its alt text, and the error, at the present values."""
        self._settle()
        return self._view.value, self._summary, self._error

    def record(self, **limits: int) -> Recording:
        """What the explorer shows over a grid of its controls; `recording.py` says which limits there are."""
        return record(self, **limits)

    def page_form(self) -> PageForm:
        """The explorer for a page without a kernel, where player.js shows what was recorded."""
        return recorded_form(self)

    def set(self, **values: Any) -> None:
        """Move controls and draw at once. ValueError if a control does not take its value; then none has moved."""
        before = self.values
        if unknown := sorted(values.keys() - before.keys()):
            raise ValueError(f"Explore.set: {unknown[0]!r} is none of the controls {', '.join(before)}")
        drawing, self._drawing = self._drawing, True  # no picture between the first control and the last
        try:
            for key, value in values.items():
                _put(key, self.controls[key], value)
        except ValueError:
            for key in values:
                self.controls[key].value = before[key]
            raise
        finally:
            self._drawing = drawing
        self.redraw()

    def redraw(self) -> None:
        """Draw again at once, after a change of something that is not a control."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._drawing:  # perhaps in another thread, and of what was there before
            self._stale = True
            return
        self._drawing = True
        try:
            for _ in range(ROUNDS):
                self._stale, values = False, self.values
                self._attempt(values)
                if self.values == values and not self._stale:
                    break
        finally:
            self._drawing = False

    def _moved(self, _change) -> None:
        """A control moved. With an event loop the draw waits a little, so that further moves come first."""
        if self._drawing:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.redraw()
        else:
            if not self._timer or self._loop is not loop:  # a loop that has ended never calls back
                self._loop, self._timer = loop, loop.call_later(PAUSE, self.redraw)

    def _clicked(self, _keyboard, message: Mapping[str, Any], _buffers) -> None:
        """A click on a part of the picture that stands for a value of a control (`shapes.setting`), or a drag."""
        if "drags" in message:
            return self._dragged(message["drags"])
        key, _, value = message["sets"].partition("=")
        control = self.controls[key]
        control.value = type(control.value)(value)

    def _dragged(self, added: Mapping[str, float] | None) -> None:
        """A part that turns sliders (`shapes.dragging`) was taken (None), or moved by so much since."""
        if added is None:
            self._taken = self.values
            return
        for key, more in added.items():
            slider = self.controls[key]
            steps = round((self._taken[key] + more - slider.min) / slider.step)
            slider.value = min(slider.max, max(slider.min, round(slider.min + steps * slider.step, 9)))

    def _settle(self) -> None:
        if self._timer:
            self.redraw()

    def _attempt(self, values: Mapping[str, Any]) -> None:
        """Errors end here: a callback that raises would put a traceback into the log or into another cell."""
        try:
            self._show(self._draw(**values))
        except ValueError as error:
            self._report(str(error) or "ValueError")
        except Exception as error:
            self._report(f"{type(error).__name__}: {error}")
        else:
            self._report("")

    def _show(self, picture: Picture | Svg) -> None:
        element, bundle = _element(picture)
        self._view.value, self._bundle, self._summary = element, bundle, picture.alt
        style = TEXT if self.told else UNSEEN
        said = f'<div class="tx-summary" role="status" aria-live="polite" style="{style}">{svg_text(picture.alt)}</div>'
        self._status.value = said

    def _report(self, error: str) -> None:
        self._error = error
        style = ALARM if error else "display: none"
        self._alarm.value = f'<div class="tx-error" role="alert" style="{style}">{svg_text(error)}</div>'
        self._alarm.layout.display = None if error else "none"

    def __repr__(self) -> str:
        return f"Explorer {self.name!r}: {self.summary}"

    def _repr_mimebundle_(self, **_asked: object) -> tuple[Bundle, Bundle]:
        text = repr(self)  # first, since it brings the picture up to date
        _, metadata = self._keyboard._repr_mimebundle_() or ({}, {})  # anywidget knows what Colab wants to be told
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        alt = {mime: {"alt": self._summary} for mime in self._bundle if mime.startswith("image/")}
        return {VIEW: view, **self._bundle, "text/plain": text}, {**metadata, **alt}


def live_markup(svg: Svg) -> str:
    """The drawing alone: `Keyboard` has the style sheet of all drawings, since a new one at every move costs 20 ms."""
    return re.sub("<style>.*?</style>", "", svg.markup("tx-picture"))


def _element(picture: Picture | Svg) -> tuple[str, Bundle]:
    """The picture for the live page, and for places without a kernel (nbconvert takes alt text only from an <img>)."""
    if hasattr(picture, "svg"):
        svg = Svg(picture.svg, picture.alt)
        return live_markup(svg), svg._repr_mimebundle_()[0]
    if not hasattr(picture, "png"):
        raise ValueError(f"Explore: draw returned {picture!r}, expected a Picture or an Svg")
    png = picture.png()
    width, height = struct.unpack(">II", png[16:24])  # so that the page does not jump while an image is decoded
    attributes = {"class": "tx-picture", "width": width, "height": height}
    element = image("image/png", png, picture.alt, **attributes)
    return element, {"text/html": element, "image/png": png}


def _control(key: str, given: object) -> widgets.Widget:
    """A control from a widget or from the shorthand. ValueError for a widget without a description.

    ipywidgets 8 shows the description as text; ipywidgets 7 reads it as HTML, so it is escaped there.
    """
    words = key.replace("_", " ").capitalize()
    if isinstance(given, widgets.Widget):
        control = given
    elif isinstance(given, bool):
        control = widgets.Checkbox(given, description=words, indent=False)
    elif isinstance(given, str):
        control = widgets.Text(given, description=words)
    elif isinstance(given, tuple):
        control = _slider(key, given, words)
    elif isinstance(given, (Mapping, Sequence)) and given:
        options = list(given.items()) if isinstance(given, Mapping) else [(str(option), option) for option in given]
        control = widgets.Dropdown(options=options, value=options[0][1], description=words)
    else:
        raise ValueError(f"Explore: {key}={given!r}, expected a widget, (low, high, step), options, a bool or a text")
    if not getattr(control, "description", "").strip():
        raise ValueError(f"Explore: {key}={type(control).__name__} has no description, which is its name for a reader")
    if _may_be_none(control):
        raise ValueError(
            f"Explore: {key} has an option None, which means that nothing is chosen; expected other values"
        )
    if isinstance(control, DescriptionWidget) and not control.has_trait("description_allow_html"):  # ipywidgets 7
        control.description = svg_text(control.description)
    if control.has_trait("style") and "description_width" in control.style.keys and not control.style.description_width:
        control.style.description_width = "initial"
    if control.layout.width is None:
        control.layout.width = "auto" if isinstance(control, (widgets.Checkbox, widgets.Button)) else "420px"
    control.layout.max_width = control.layout.max_width or "100%"
    return control


def _may_be_none(control: widgets.Widget) -> bool:
    """Is None an option? ipywidgets takes it for "nothing chosen", and shows no option for it."""
    options = getattr(control, "options", ())
    values = [option[1] if isinstance(option, tuple) and len(option) == 2 else option for option in options]
    return bool(values) and any(value is None for value in [*values, control.value])


def _slider(key: str, limits: tuple[float, ...], words: str) -> widgets.Widget:
    if len(limits) not in (2, 3) or not limits[0] < limits[1]:
        raise ValueError(f"Explore: {key}={limits}, expected (low, high) or (low, high, step) with low < high")
    low, high = limits[:2]
    if all(isinstance(limit, int) for limit in limits):
        return widgets.IntSlider(low, low, high, limits[2] if len(limits) == 3 else 1, description=words)
    step = limits[2] if len(limits) == 3 else (high - low) / 20
    return widgets.FloatSlider(low, min=low, max=high, step=step, description=words)


def _put(key: str, control: widgets.Widget, value: Any) -> None:
    """Set a control; ValueError for a value outside its limits, which a slider would silently clip."""
    low, high = getattr(control, "min", None), getattr(control, "max", None)
    try:
        parts = value if isinstance(value, (tuple, list)) else [value]
        if fits := low is None or all(low <= part <= high for part in parts):
            control.value = value
    except Exception as error:  # traitlets raise an error of their own, not a ValueError
        options = getattr(control, "options", None)
        known = f", but the options are {options}" if options else f": {error}"
        raise ValueError(f"Explore.set: {key}={value!r}{known}") from error
    if not fits:
        raise ValueError(f"Explore.set: {key}={value!r}, but the control goes from {low} to {high}")
