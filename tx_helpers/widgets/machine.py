"""The machine: a trained model at work, computed in the page, with everything in it open to view.

    machine(number_translator(), "four hundred twenty-one")
    machine(story_writer(64), "Once upon a time")

The model's weights are sent to the browser once; the scripts in the folder `machine` compute with them.
"""

from html import escape

import traitlets
from torch import nn

from tx_helpers.arguments import check_types
from tx_helpers.recipes import Translator, Writer
from tx_helpers.show.stored import StoredWidget
from tx_helpers.widgets.machine_data import SCRIPT, machine_data

TEXTS = ("four hundred twenty-one", "Once upon a time")  # the first that the model can read is shown


class Machine(StoredWidget):
    """What the browser gets: `spec` and `data` as `machine_data` makes them, and the `state` of the view."""

    _esm = SCRIPT
    spec = traitlets.Dict().tag(sync=True)
    data = traitlets.Bytes().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def static_form(self) -> tuple[dict, dict]:
        return {"text/html": f"<p>{escape(repr(self))}</p>"}, {}

    def __repr__(self) -> str:
        return f"Machine: {self.spec['kind'].replace('_', '–')}, reading {self.state['text']!r}"


def machine(subject: Translator | Writer | nn.Module, text: str | None = None, *, half: bool = False) -> Machine:
    """The machine of a trained model, at a text that it can read.

    subject  a Translator, a Writer, or a model alone, whose words are then its ids: "3 4 5"
    text     the source of a translator, the beginning for a writer
    half     send the weights in float16, for pages
    """
    spec, data = machine_data(subject, half=half)
    side = spec["source"] or spec["target"]
    if text is None:
        text = next((one for one in TEXTS if not unreadable(side, one)), None) or _some_tokens(side)
    check_types("machine", str, text=text)
    if problem := unreadable(side, text):
        raise ValueError(f"machine: {problem}")
    return Machine(spec=spec, data=data, state={"text": text})


def unreadable(side: dict, text: str) -> str:
    """Why a text is none that the model can read; empty if it can."""
    pieces = text.replace("-", " ").split() if side["kind"] == "words" else list(text)
    known = set(side["tokens"][side["specials"] :])
    if not 0 < len(pieces) <= side["limit"]:
        return f"a text of {len(pieces)} {side['kind']}, expected 1 to {side['limit']}"
    wrong = next((piece for piece in pieces if piece not in known), None)
    if wrong is None or side["unknown"] is not None:
        return ""
    return f"the text has {wrong[:20]!r}, which is not among the {len(known)} {side['kind']} that the model knows"


def _some_tokens(side: dict) -> str:
    """The first tokens of the vocabulary as a text."""
    return (" " if side["kind"] == "words" else "").join(side["tokens"][side["specials"] :][:4])
