"""Inside a notebook's kernel: the page forms of what each cell shows. `record_pages.py` puts the calls into the cells.

    forms = Forms(folder)      # from now on everything that is displayed is noted
    forms.keep("a1b2c3")       # after a cell: the page forms of what it showed, into folder/a1b2c3.json

Recording moves an explorer's controls and may train models; the random numbers of the cells below stay what they were.
"""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy
import torch
from IPython import get_ipython

from tx_helpers.show.stored import as_json

CHOSEN = ("slider", "choice", "buttons", "tick", "number", "text")  # kinds of controls that checks move


class Forms:
    """What was displayed since the last cell, and where its page forms go."""

    def __init__(self, folder: str):
        self.folder, self.shown = Path(folder), []
        formatter = get_ipython().display_formatter
        formatter.format = self._noting(formatter.format)

    def _noting(self, ordinary):
        def format(shown, *arguments, **options):
            if hasattr(shown, "page_form"):
                self.shown.append(shown)
            return ordinary(shown, *arguments, **options)

        return format

    def keep(self, cell: str) -> None:
        """Write the page forms of a cell."""
        shown, self.shown = self.shown, []
        if shown:
            with same_random_numbers():
                made = [_written(one) for one in shown]
            (self.folder / f"{cell}.json").write_text(json.dumps(made), "utf-8")


def _written(shown) -> dict:
    form = shown.page_form()
    recording = form.state.get("recording", {})
    name = recording.get("name") or getattr(shown, "name", None) or form.state.get("spec", {}).get("name", "")
    way = recording.get("way", "computed in the page")
    # A run that a button starts is pressed and watched instead: here the recording has left all of them ended.
    can_be_checked = "controls" in recording and not way.endswith("recorded runs")
    return {
        **{"esm": form.script, "css": form.css, "state": as_json(form.state), "text": form.text},
        **{"kind": type(shown).__name__, "name": name, "way": way},
        "checks": checks(shown, recording["controls"]) if can_be_checked else [],
    }


def checks(explorer, controls: list[dict]) -> list[dict]:
    """What Python draws, freshly, where one control is moved: for the site's tests, which move it so in the page.

    Of each control whose value can be chosen alone, the place beside its start and the one farthest from it.
    """
    explorer.begin_again()
    start, found = explorer.values, []
    for about in controls:
        if about["kind"] not in CHOSEN or about.get("led"):
            continue
        keys = [one["key"] for one in controls if one.get("axis") == about["axis"]]
        last = len(about["values"]) - 1
        beside, far = about["at"] + (1 if about["at"] < last else -1), last if about["at"] < last else 0
        for place in dict.fromkeys([beside, far]) if last else []:
            explorer.set(**start)
            explorer.forget()
            explorer.set(**dict.fromkeys(keys, about["values"][place]))
            found.append({"key": about["key"], "place": place, "summary": explorer.summary, "error": explorer.error})
    explorer.set(**start)
    return found


@contextmanager
def same_random_numbers() -> Iterator[None]:
    """Python's, NumPy's and PyTorch's random numbers go on afterwards as if nothing had been."""
    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        torch.set_rng_state(states[2])
