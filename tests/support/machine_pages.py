"""The machine's arithmetic in an empty page, beside PyTorch's: the same ids through both, every tensor compared.

page_model = MachinePage(bare_page, model)
page_model.compare(cases, expected)       # {name: largest gap}, over all cases
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.capture import capture, module_paths
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.widgets.machine_data import SCRIPT, machine_data
from tx_helpers.zoo.recipes import Translator, Writer

# Bytes are given as a chosen file, which is faster than as text.
GIVEN = """async () => { window.given = await document.querySelector("input").files[0].arrayBuffer(); }"""
OPEN = """async ([script, spec]) => {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  window.machine = await import(address);
  window.model = machine.load(spec, new DataView(given));
}"""
# The largest gap of each name, relative where numbers exceed 1. A missing name and another shape are infinitely far.
COMPARE = """(cases) => {
  const numbers = new Float32Array(given), worst = {};
  const doubled = (names) => Object.fromEntries(names.map((name) =>
    [name, ({ shape, data }) => ({ shape, data: data.map((number) => 2 * number) })]));
  for (const { ids, edits, tensors } of cases) {
    const seen = machine.run(model, ids, { ...edits, edit: doubled(edits.doubled ?? []) });
    for (const [name, shape, offset] of tensors) {
      const got = seen.get(name), same = got && String(got.shape) === String(shape);
      let gap = same ? 0 : Infinity;
      for (let i = 0; same && i < got.data.length; i++) {
        const expected = numbers[offset + i], away = Math.abs(got.data[i] - expected) / Math.max(1, Math.abs(expected));
        if (!(away <= gap)) gap = away;  // NaN is a gap, too
      }
      worst[name] = Math.max(worst[name] ?? 0, gap);
    }
  }
  return worst;
}"""
BATCH = 50  # cases that are sent at once


class Case(NamedTuple):
    """Ids to read, without batch; a decoder-only model has no source. Edits as transformer.js describes them."""

    target: list[int]
    source: list[int] | None = None
    edits: Mapping = {}

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """As the model in PyTorch takes them."""
        sides = [self.target] if self.source is None else [self.source, self.target]
        return tuple(torch.tensor([ids]) for ids in sides)


Expected = Callable[[Case], Mapping[str, Tensor]]


class MachinePage:
    """A page that holds the scripts of the machine and a model."""

    def __init__(self, page, subject: Translator | Writer | nn.Module, *, half: bool = False):
        self.page, self.subject = page, subject
        self.spec, data = machine_data(subject, half=half)
        page.set_content("<input type=file>")
        self._give(data)
        page.evaluate(OPEN, [SCRIPT, self.spec])

    def compare(self, cases: Sequence[Case], expected: Expected) -> dict[str, float]:
        """The largest gap of each tensor that `expected` gives for a case, over all cases."""
        worst: dict[str, float] = {}
        for start in range(0, len(cases), BATCH):
            sent, parts, offset = [], [], 0
            for case in cases[start : start + BATCH]:
                tensors = []
                for name, tensor in expected(case).items():
                    parts.append(tensor.float().contiguous().numpy().tobytes())
                    tensors.append([name, list(tensor.shape), offset])
                    offset += tensor.numel()
                ids = {"source": case.source, "target": case.target}
                sent.append({"ids": ids, "edits": dict(case.edits), "tensors": tensors})
            self._give(b"".join(parts))
            found = self.page.evaluate(COMPARE, sent)
            worst = {name: max(worst.get(name, 0.0), gap) for name, gap in found.items()} | {
                name: gap for name, gap in worst.items() if name not in found
            }
        return worst

    def _give(self, data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "bytes"
            file.write_bytes(data)
            self.page.set_input_files("input", file)
            self.page.evaluate(GIVEN)


def captured(model: nn.Module, *patterns: str, edit: Mapping | None = None) -> Expected:
    """What `capture` records of the model, and its logits."""

    def expected(case: Case) -> dict[str, Tensor]:
        with torch.no_grad(), capture(model, *patterns, edit=edit) as seen:
            logits = model(*case.inputs)
        return {name: tensor[0] for name, tensor in seen.items()} | {"logits": logits[0]}

    return expected


def outputs(model: nn.Module) -> Expected:
    """NAME.output for each module NAME of the model: what it returned the first time."""

    def expected(case: Case) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}

        def leaving(path: str, output: Tensor) -> None:
            found.setdefault(f"{path}.output", output[0] if output.shape[0] == 1 else output)

        with torch.no_grad(), module_paths(model, leaving=leaving):
            model(*case.inputs)
        return found

    return expected


def largest(gaps: Mapping[str, float]) -> tuple[float, str]:
    """The largest gap and its name."""
    return max((gap, name) for name, gap in gaps.items())


def in_place(model: nn.Module, **others: object) -> ExitStack:
    """Inside the block, parts of the model are others: in_place(model, **{"encoder.norm": nn.Identity()})."""
    stack = ExitStack()
    for path, value in others.items():
        parent, _, name = path.rpartition(".")
        module = model.get_submodule(parent)
        stack.callback(setattr, module, name, getattr(module, name))
        setattr(module, name, value)
    return stack


def number_cases(translator: Translator, pairs: Iterable) -> list[Case]:
    """Source and the decoder's input of each pair (number, source, target)."""
    source, target = translator.data.source_tokenizer, translator.data.target_tokenizer
    return [Case([target.bos_id, *target.encode(pair.target)], source.encode(pair.source)) for pair in pairs]


def random_case(model: nn.Module, generator: torch.Generator, edits: Mapping | None = None) -> Case:
    """Ids of 7 source and 5 target positions; where there is padding, the last source position is padding."""
    config = model.config

    def draw(size: int, length: int) -> list[int]:
        return torch.randint(1, size, (length,), generator=generator).tolist()

    if not isinstance(model, EncoderDecoder):
        return Case(draw(config.vocab_size, 7), None, edits or {})
    source = draw(config.source_vocab_size or config.vocab_size, 7)
    if config.pad_id is not None:
        source[-1] = config.pad_id
    return Case(draw(config.vocab_size, 5), source, edits or {})
