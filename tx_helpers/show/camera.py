"""Pictures of an explorer at its settings, and of what its button starts: what `recording.py` records.

camera = Camera(explorer, axes)
camera.frame(places)        # the picture at one setting
camera.run(places)          # all pictures after a press of the button there
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import ipywidgets as widgets

from tx_helpers.show.grid import Axis
from tx_helpers.show.steps import by_hand
from tx_helpers.show.stored import page_form

Stops = Sequence[Any] | str | None  # of a control: see `Explore`
Recorded = Mapping[str, Stops | Callable[[], Stops]] | Callable[[], Iterable[Mapping[str, Any]]]


class Frame(NamedTuple):
    """What one setting shows; `traits`: as JSON, what the drawing told the controls that a script draws."""

    markup: str
    alt: str
    error: str
    traits: str


class Shot(NamedTuple):
    """A moment of what a button has started: as it goes on, and stopped there."""

    going: Frame
    stopped: Frame


class Explorer(Protocol):
    """What is recorded: an `Explore`, or whatever has its controls and shows pictures."""

    name: str
    controls: dict[str, widgets.Widget]
    told: bool
    recorded: Recorded
    computed: tuple[str, object] | None
    begin_again: Callable[[], object]
    forget: Callable[[], object]

    @property
    def values(self) -> dict[str, Any]: ...
    @property
    def button(self) -> str | None: ...
    @property
    def shown(self) -> tuple[str, str, str]: ...
    def set(self, **values: Any) -> None: ...


class Camera:
    """Moves an explorer's controls and keeps what it then shows; a setting is drawn once."""

    def __init__(self, explore: Explorer, axes: Sequence[Axis]):
        self.explore, self.axes = explore, axes
        self.seen: dict[tuple[int, ...], Frame | None] = {}
        self.led: set[str] = set()  # controls that the drawing, or another control, has moved or limited
        self.drawn = drawn_traits(explore)  # what the page's own controls begin with
        self.runs: dict[tuple[int, ...], list[Shot]] = {}
        self.labels: dict[str, None] = {}  # of the button, in the order in which it said them

    def frame(self, places: tuple[int, ...]) -> Frame | None:
        """The setting at these places on the axes; None if a slider ends before it, as another control makes it do."""
        if places not in self.seen:
            self.seen[places] = self._take(self._setting(places))
        return self.seen[places]

    def _setting(self, places: tuple[int, ...]) -> dict[str, Any]:
        return {axis.key: axis.values[place] for axis, place in zip(self.axes, places, strict=True)}

    def move(self, setting: Mapping[str, Any]) -> None:
        """Put all controls, those last whose limits depend on others. ValueError if Python has no such setting."""
        try:
            self.explore.set(**setting)
        except ValueError:
            for key, value in setting.items():
                try:
                    self.explore.set(**{key: value})
                except ValueError:
                    self.led.add(key)
            self.explore.set(**setting)

    def _take(self, setting: dict[str, Any]) -> Frame | None:
        self.explore.forget()
        try:
            self.move(setting)
        except ValueError:
            return None
        moved = {key for key, value in setting.items() if self.explore.values[key] != value}
        self.led |= moved
        if moved:
            return None
        return self._now()

    def _now(self) -> Frame:
        markup, alt, error = self.explore.shown
        told = drawn_traits(self.explore)
        news = {key: _news(self.drawn[key], state) for key, state in told.items() if state != self.drawn[key]}
        traits = json.dumps(news, ensure_ascii=False, separators=(",", ":")) if news else ""
        return Frame("" if error else markup, "" if error else alt, error, traits)

    def run(self, places: tuple[int, ...], button: str) -> list[Shot]:
        """What comes of a press of this button at this setting, to its end."""
        if places not in self.runs:
            self.explore.begin_again()
            self.move(self._setting(places))
            self.runs[places] = self._film(button)
        return self.runs[places]

    def _film(self, button: str) -> list[Shot]:
        explore, shots = self.explore, []
        with by_hand() as started:
            explore.set(**{button: True})
            seen, more = self._now(), True
            while more:
                more = started[-1].take()
                going = self._now()
                if going == seen and more:
                    continue
                self.labels[explore.controls[button].description] = None
                if more:
                    explore.set(**{button: False})
                    started[-1].take()
                    stopped = self._now()
                    self.labels[explore.controls[button].description] = None
                    explore.set(**{button: True})
                    seen, more = self._now(), started[-1].going
                else:
                    stopped = going
                shots.append(Shot(going, stopped))
        return shots


def drawn_traits(explore: Explorer) -> dict[str, dict[str, Any]]:
    """Control -> its traits, of the controls that a script of their own draws; their value left out."""
    drawn = {key: control for key, control in explore.controls.items() if hasattr(control, "_esm")}
    states = {key: page_form(control, "").state for key, control in drawn.items()}
    return {key: {name: value for name, value in state.items() if name != "value"} for key, state in states.items()}


def _news(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The traits that have changed."""
    return {name: value for name, value in now.items() if value != before[name]}


def spread(shots: Sequence[Shot], most: int) -> list[Shot]:
    """At most `most` of them, the first and the last among them."""
    last = len(shots) - 1
    return [shots[round(last * n / (most - 1))] for n in range(most)] if last >= most else list(shots)
