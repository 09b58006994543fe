"""An explorer recorded for pages without a kernel: controls in, frames out.

    recording = record(explorer)        # or explorer.record()
    recording.about                     # name, controls with their stops: JSON
    recording.data                      # all frames, deflated

A button that starts something (a training run, a text that is written) is pressed at each setting; every picture until
the end is kept, as it is while the work goes on and as it is where the work is stopped there.

A frame is a picture, its alt text, and an error if there was one. Its markup is cut behind every ">", and equal pieces
are stored once: two neighbours differ in a few numbers. `grid.py` says which settings are recorded; the module
player.js shows the frames.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from tx_helpers.show.camera import Camera, Explorer, Frame, spread
from tx_helpers.show.grid import Axis, axis_of, grid
from tx_helpers.show.shapes import sheet
from tx_helpers.show.stored import PageForm, default_export

FRAMES, BUDGET = 3000, 120_000  # of an explorer at most: frames, and bytes when deflated
SHOTS, FEWEST, SECONDS = 60, 15, 6.0  # of what a button starts: pictures, the fewest of them, and how long they play
PLAYER = [Path(__file__).with_name(f"{name}.js") for name in ("legible", "drag", "controls", "player")]
STYLE = """
.tx-recorded .tx-controls {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 6px 28px;
  align-items: center; margin: 0 0 10px;
}
.tx-recorded .tx-control { display: flex; align-items: center; gap: 8px; min-width: 0; min-height: 2rem; }
.tx-recorded :is(.tx-buttons, .tx-text, .tx-long) { grid-column: 1 / -1; }
.tx-recorded .tx-ticks {
  grid-column: 1 / -1; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9rem), 1fr));
  gap: 2px 16px;
}
.tx-recorded .tx-buttons { flex-wrap: wrap; }
.tx-recorded .tx-control label { flex: 1; display: flex; align-items: center; gap: 8px; min-width: 0; }
.tx-recorded .tx-name { flex: 0 0 8em; line-height: 1.25; }
.tx-recorded .tx-tick .tx-name { flex: 1; }
.tx-recorded :is(button, input, select) { font: inherit; color: inherit; margin: 0; max-width: 100%; }
.tx-recorded :is(select, input[type="text"], input[type="number"]) { flex: 0 1 auto; min-width: 0; padding: 2px 4px; }
.tx-recorded input[type="text"] { flex: 1; }
.tx-recorded input[type="number"] { width: 8em; }
.tx-recorded input[type="range"] { flex: 1; width: 0; min-width: 60px; accent-color: light-dark(#0072B2, #8CC8F0); }
.tx-recorded input[type="checkbox"] { width: 1.1em; height: 1.1em; flex: none; }
.tx-recorded output { min-width: 3.4em; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tx-recorded button { padding: 2px 14px; }
.tx-recorded :is(button, label, input[type="range"]) { min-height: 24px; }
.tx-recorded button[aria-pressed="true"] { font-weight: bold; outline: 2px solid currentColor; outline-offset: -3px; }
.tx-recorded .tx-drawn { grid-column: 1 / -1; min-width: 0; }
.tx-recorded .tx-view { overflow-x: auto; }
.tx-recorded .tx-view[tabindex] { mask: linear-gradient(to right, #000 calc(100% - 24px), transparent); }  /* scrolls */
.tx-recorded .tx-view[tabindex] .tx-picture { margin-right: 24px; }
.tx-recorded .tx-picture { display: block; max-width: max(100%, var(--least, 40rem)) !important; height: auto; }
.tx-recorded :is(.tx-summary, .tx-error) { line-height: 1.5; margin: 8px 0; }
.tx-recorded :is(.tx-summary, .tx-error) { overflow-wrap: anywhere; white-space: pre-line; }
.tx-recorded .tx-unseen {
  position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%);
}
.tx-recorded .tx-error { border-left: 4px solid #D55E00; padding: 4px 10px; }
.tx-recorded :focus-visible { outline: 2px solid light-dark(#0072B2, #8CC8F0); outline-offset: 2px; }
"""
KINDS = {  # how player.js shows a control
    widgets.Checkbox: "tick",
    widgets.ToggleButtons: "buttons",
    widgets.SelectionSlider: "slider",
    widgets.IntSlider: "slider",
    widgets.FloatSlider: "slider",
    widgets.Dropdown: "choice",
    widgets.IntText: "number",
    widgets.Text: "text",
}


@dataclass(frozen=True)
class Recording:
    """What player.js needs, and how many settings and different frames there are."""

    about: dict[str, Any]
    data: bytes
    settings: int
    frames: int


# --- the frames -------------------------------------------------------------------------------------------------------
def pieces(markup: str) -> list[str]:
    """The markup, cut behind every ">"."""
    return re.findall(r"[^>]*>|[^>]+", markup)


def packed(frames: Sequence[Frame], settings: Mapping[str, int], runs: Mapping[str, list[list[int]]]) -> bytes:
    """All frames as deflated JSON: pieces, each once; the frames as lists of their places; setting -> frame, run."""
    places: dict[str, int] = {}
    pictures = [[places.setdefault(piece, len(places)) for piece in pieces(frame.markup)] for frame in frames]
    told = [[places.setdefault(piece, len(places)) for piece in frame.traits.split(",")] for frame in frames]
    content = {
        "frames": [
            [picture, frame.alt, frame.error, traits if frame.traits else []]
            for picture, traits, frame in zip(pictures, told, frames, strict=True)
        ],
        "pieces": list(places),
        "settings": settings,
        "runs": runs,
    }
    return zlib.compress(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), 9)


# --- the whole --------------------------------------------------------------------------------------------------------
def record(explore: Explorer, *, frames: int = FRAMES, budget: int = BUDGET) -> Recording:
    """All that an `Explore` shows over its grid, in at most `frames` frames and `budget` deflated bytes.

    The explorer's controls are then as they were before. ValueError if not even its start fits into the budget.
    """
    axes, linked = _axes(explore)
    start = {axis.key: axis.values[axis.start] for axis in axes}
    camera, most, shots, made = Camera(explore, axes), frames, SHOTS, None
    try:
        while made is None:
            made = _recorded(camera, linked, _settings(explore, axes, most), shots)
            if len(made.data) > budget:
                if most == 1:
                    raise ValueError(
                        f"record: {explore.name!r} takes {len(made.data)} bytes at its start, but budget={budget}"
                    )
                if explore.button and shots > FEWEST:
                    shots, made = max(FEWEST, int(shots * 0.7)), None
                else:
                    most, made = max(1, min(int(most * 0.95 * budget / len(made.data)), made.settings - 1)), None
    finally:
        camera.move(start)
    return made


def _axes(explore: Explorer) -> tuple[list[Axis], dict[str, str | None]]:
    """An axis for each control that has a value; and control -> the one whose value it always has, None if hidden."""
    by_control = {} if callable(explore.recorded) else explore.recorded
    stated = {key: given() if callable(given) else given for key, given in by_control.items()}
    linked = {key: given for key, given in stated.items() if given is None or isinstance(given, str)}
    controls = {key: control for key, control in explore.controls.items() if control.has_trait("value")}
    own = [key for key in controls if key not in linked and key != explore.button]
    return [axis_of(key, controls[key], stated.get(key)) for key in own], linked


def _settings(explore: Explorer, axes: Sequence[Axis], most: int) -> list[tuple[int, ...]]:
    """The settings to record, as places on the axes: those that the explorer names, or a grid; the start first."""
    if not callable(explore.recorded):
        return grid(axes, most)
    start = tuple(axis.start for axis in axes)
    named = (tuple(axis.values.index(setting[axis.key]) for axis in axes) for setting in explore.recorded())
    return list(dict.fromkeys([start, *named]))[:most]


def _offered(explore: Explorer, linked: Mapping[str, str | None]) -> list[str]:
    """The controls that pages show."""
    return [key for key in explore.controls if linked.get(key, key) is not None]


def about_controls(explore: Explorer) -> dict[str, Any]:
    """What player.js needs of an explorer for which the page computes: its controls at all their values."""
    axes, linked = _axes(explore)
    camera, kept = Camera(explore, axes), [list(range(len(axis.values))) for axis in axes]
    controls = [_described(key, explore, camera, kept, linked) for key in _offered(explore, linked)]
    return {"name": explore.name, "told": explore.told, "controls": controls, "way": "computed in the page"}


def _recorded(
    camera: Camera, linked: Mapping[str, str | None], settings: list[tuple[int, ...]], shots: int
) -> Recording:
    """The frames of these settings; a stop at which nothing was recorded is left out."""
    axes, explore = camera.axes, camera.explore
    found: dict[tuple[int, ...], Frame] = {}
    for setting in settings:
        frame = camera.frame(setting)
        if frame is not None:
            found[setting] = frame
    films = {setting: spread(camera.run(setting, explore.button), shots) for setting in found if explore.button}
    kept = [sorted({setting[n] for setting in found}) for n in range(len(axes))]
    frames = dict.fromkeys(found.values()) | dict.fromkeys(
        frame for film in films.values() for shot in film for frame in shot
    )
    place = {frame: n for n, frame in enumerate(frames)}
    key_of = {setting: ",".join(str(kept[n].index(stop)) for n, stop in enumerate(setting)) for setting in found}
    numbers = {key_of[setting]: place[frame] for setting, frame in found.items()}
    runs = {key_of[setting]: [[place[frame] for frame in shot] for shot in film] for setting, film in films.items()}
    way = f"{len(runs)} recorded runs" if runs else f"recorded, {len(found):,} settings"
    controls = [_described(key, explore, camera, kept, linked) for key in _offered(explore, linked)]
    about = {"name": explore.name, "told": explore.told, "controls": controls, "way": way}
    return Recording(about, packed(list(frames), numbers, runs), len(found), len(frames))


def _described(
    key: str, explore: Explorer, camera: Camera, kept: list[list[int]], linked: Mapping[str, str | None]
) -> dict[str, Any]:
    """A control for player.js: its kind and label; and if it has values, their texts and the start among them."""
    control = explore.controls[key]
    about = {"key": key, "label": control.description.strip()}
    if key == explore.button:
        labels = list(camera.labels)
        start, going, *on = [about["label"], *(label for label in labels if label != about["label"])]
        return about | {"kind": "run", "labels": [start, going, *(on or [start])], "seconds": SECONDS}
    if not control.has_trait("value"):
        plays = getattr(control, "plays", None)  # (slider, pause) of a play button
        if plays:
            slider = next(name for name, other in explore.controls.items() if other is plays[0])
            return about | {"kind": "play", "slider": slider, "pause": plays[1]}
        return about | {"kind": "press", "sets": getattr(control, "sets", {})}
    kind = next((kind for made, kind in KINDS.items() if isinstance(control, made)), "drawn")
    place = [axis.key for axis in camera.axes].index(linked.get(key) or key)
    axis, stops = camera.axes[place], kept[place]
    about |= {"kind": kind, "axis": place, "texts": [axis.texts[stop] for stop in stops], "at": stops.index(axis.start)}
    about |= {"values": [axis.values[stop] for stop in stops]}
    if key in camera.led:
        about["led"] = True
    if kind == "drawn":
        about["state"] = camera.drawn[key]
    return about


def recorded_form(explore: Explorer, **limits: int) -> PageForm:
    """The page form of an explorer: player.js, the scripts of the controls that draw themselves, and the recording."""
    text = repr(explore)
    if explore.computed:
        compute, given = explore.computed
        state = {"recording": about_controls(explore), "given": given}
    else:
        made, compute = record(explore, **limits), ""
        state = {"recording": made.about, "frames": made.data}
    drawn = {key: control for key, control in explore.controls.items() if hasattr(control, "_esm")}
    scripts = [f"{json.dumps(key)}: {default_export(str(control._esm))}" for key, control in drawn.items()]
    player = "\n".join(path.read_text("utf-8") for path in PLAYER)
    computes = default_export(compute) if compute else "null"
    script = f"const DRAWN = {{{', '.join(scripts)}}};\nconst COMPUTE = {computes};\n{player}"
    css = "\n".join([sheet(), STYLE, *(str(control._css) for control in drawn.values())])
    return PageForm(script, css, state, text)
