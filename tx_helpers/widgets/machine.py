"""The machine: a trained model at work, computed in the page, with everything in it open to view.

    machine(number_translator(), "four hundred twenty-one")
    machine(story_writer(64), "Once upon a time")
    machine(number_translator(), step=1)                   # opens folded, and grows step by step

The model's weights are sent to the browser once; the scripts in the folder `machine` compute with them.
"""

import re
from typing import NamedTuple

import torch
import traitlets
from torch import Tensor, nn

from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.show.plots import Svg
from tx_helpers.show.stored import StoredWidget
from tx_helpers.widgets.machine_data import SCRIPT, course_model, packed_model
from tx_helpers.widgets.machine_picture import draw, last_pass
from tx_helpers.widgets.scripts import FOLDER
from tx_helpers.zoo.recipes import Translator, Writer

TEXTS = ("four hundred twenty-one", "Once upon a time")  # the first that the model can read is shown
MOST_WRITTEN = {"words": 20, "characters": 24}  # as in machine/view.js


class Passed(NamedTuple):
    """A whole run of the intact model: ids, and what was seen in the pass that wrote the last word."""

    source: list[int] | None
    target: list[int]
    written: list[int]
    seen: dict[str, Tensor]


class Machine(StoredWidget):
    """What the browser gets: `spec` and `data` as `machine_data` makes them, and the `state` of the view."""

    _esm = SCRIPT
    _css = (FOLDER / "machine" / "view.css").read_text("utf-8")
    spec = traitlets.Dict().tag(sync=True)
    """The model's sizes and parts, and its vocabulary."""
    data = traitlets.Bytes().tag(sync=True)
    """Its weights."""
    state = traitlets.Dict().tag(sync=True)
    """The text, the step, and what has been changed."""

    def __init__(
        self, model: EncoderDecoder | DecoderOnly, spec: dict, data: bytes, text: str, step: int | None = None
    ):
        state = {"text": text} if step is None else {"text": text, "place": step - 1}
        super().__init__(spec=spec, data=data, state=state, layout={"width": "100%"})
        self._passed = run(model, spec, text)

    @property
    def summary(self) -> str:
        """What goes in and what comes out; the sentence in the browser begins with it."""
        source, target, written, _ = self._passed
        if source is None:
            return f"'{self._read('target', target)}' goes on with '{self._read('target', written)}'."
        return f"'{self._read('source', source)}' becomes '{self._read('target', written)}'."

    def _read(self, side: str, ids: list[int]) -> str:
        side = self.spec[side]
        tokens = [side["tokens"][id] for id in ids if id >= side["specials"]]
        text = (" " if side["kind"] == "words" else "").join(tokens)
        return text if len(text) <= 120 else f"{text[:119]}…"

    def drawn(self) -> Svg:
        """The pass that wrote the last word, as a picture."""
        source, target, written, seen = self._passed
        names = self.spec["target"]["tokens"]
        source_words = [] if source is None else [self.spec["source"]["tokens"][id] for id in source]
        prefix = seen["logits"].shape[0] - len(target)
        return draw(seen, source_words, [names[id] for id in [*target, *written[:prefix]]], names, self.summary)

    def static_form(self) -> tuple[dict, dict]:
        return self.drawn()._repr_mimebundle_()

    def __repr__(self) -> str:
        return f"Machine {self.spec['name']!r}: {self.summary}"


def machine(
    subject: Translator | Writer | nn.Module,
    text: str | None = None,
    *,
    name: str = "machine",
    step: int | None = None,
    half: bool = False,
) -> Machine:
    """The machine of a trained model, at a text that it can read.

    subject  a Translator, a Writer, or a model alone, whose words are then its ids: "3 4 5"
    text     the source of a translator, the beginning for a writer
    name     a slug (small letters, digits, hyphens), unique in its notebook
    step     the step to open at: 1, and the picture grows from there; None, and all of it is there, at its last word
    half     send the weights in float16, for pages
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"machine: name={name!r}, expected small letters, digits and hyphens")
    model = course_model(subject)
    spec, data = packed_model(model, subject, half=half)
    side = spec["source"] or spec["target"]
    if text is None:
        text = next((one for one in TEXTS if not unreadable(side, one)), None) or _some_tokens(side)
    check_types("machine", str, text=text)
    if problem := unreadable(side, text):
        raise ValueError(f"machine: {problem}")
    if step is not None:
        check_numbers("machine", least=1, whole=True, step=step)
    return Machine(model, spec | {"name": name}, data, text, step)


def run(model: EncoderDecoder | DecoderOnly, spec: dict, text: str) -> Passed:
    """Everything that the intact model writes for a text, always the likeliest token, and its last pass."""
    side, end = spec["source"] or spec["target"], spec["target"]["eos"]
    known = {token: id for id, token in enumerate(side["tokens"]) if id >= side["specials"]}
    ids = [known.get(piece, side["unknown"]) for piece in _pieces(side, text)]
    most = MOST_WRITTEN[spec["target"]["kind"]]
    if spec["source"]:
        source, target = ids, [spec["target"]["bos"]]
        given = {"prompt": target[0], "source": torch.tensor([source])}
    else:
        source, target = None, ids
        given = {"prompt": torch.tensor([target])}
    most = max(1, min(most, spec["target"]["limit"] - len(target)))
    written = generate(model, **given, max_new_tokens=most, end_id=end)[0].tolist()
    last = max(1, len(written) - (written[-1] == end))
    return Passed(source, target, written, last_pass(model, source, [*target, *written[: last - 1]]))


def unreadable(side: dict, text: str) -> str:
    """Why the model cannot read a text; empty if it can."""
    pieces, known = _pieces(side, text), set(side["tokens"][side["specials"] :])
    if not 0 < len(pieces) <= side["limit"]:
        return f"a text of {len(pieces)} {side['kind']}, expected 1 to {side['limit']}"
    wrong = next((piece for piece in pieces if piece not in known), None)
    if wrong is None or side["unknown"] is not None:
        return ""
    return f"the text has {wrong[:20]!r}, which is not among the {len(known)} {side['kind']} that the model knows"


def _pieces(side: dict, text: str) -> list[str]:
    """A text cut into words or characters, as `encode` of machine/tokenizers.js cuts it."""
    return text.replace("-", " ").split() if side["kind"] == "words" else list(text)


def _some_tokens(side: dict) -> str:
    """The first tokens of the vocabulary as a text."""
    return (" " if side["kind"] == "words" else "").join(side["tokens"][side["specials"] :][:4])
