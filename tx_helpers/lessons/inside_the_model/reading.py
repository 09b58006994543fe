"""Reading the stream: the logit lens, a tuned lens, and linear probes with their controls.

    lens = read_stream(translator, batch_to_fit, batch)       # the share of words that each state already says
    probed = probe_neighbours(translator, fit, test)          # what a probe finds that the model does not use

Logit lens (nostalgebraist 2020): softmax(U · norm(x_n)), as if the state x_n were the last one. Tuned lens (Belrose et
al. 2023): an affine map A_n x + b comes first, fitted so that it gives the last state; here by least squares. A linear
probe is the same idea for any label; its control (Hewitt & Liang 2019) is a label that means nothing, and what the
probe reaches there it has learned by itself.
"""

import random
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from tx_helpers.lessons.inside_the_model.tools import Edit, exact
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.text.data import EOS, PAD, SequenceBatch
from tx_helpers.zoo.recipes import Translator

PARTS = ("self_attention", "cross_attention", "feed_forward")
MEMORY = "encoder.blocks.1.hidden"
RIDGE = 0.1


class Probe(NamedTuple):
    """A ridge regression (D + 1, V) onto one-hot labels, in float64: the largest output is the guess."""

    weight: Tensor

    @classmethod
    def fit(cls, x: Tensor, labels: Tensor, classes: int) -> "Probe":
        """x (N, D), labels (N,). Raises ValueError unless there are as many of both."""
        if len(x) != len(labels):
            raise ValueError(f"Probe.fit: {len(x)} vectors, but {len(labels)} labels")
        X, Y = _with_one(x), F.one_hot(labels, classes).double()
        return cls(torch.linalg.solve(X.T @ X + RIDGE * torch.eye(X.shape[1], dtype=X.dtype), X.T @ Y))

    def right(self, x: Tensor, labels: Tensor) -> float:
        """The share of labels (N,) that it guesses from x (N, D)."""
        return ((_with_one(x) @ self.weight).argmax(-1) == labels).double().mean().item()


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x.double(), x.new_ones(len(x), 1).double()], 1)


# --- the lenses -------------------------------------------------------------------------------------------------------
def states(translator: Translator, batch: SequenceBatch) -> dict[str, Tensor]:
    """The decoder's stream at all real positions (N, D): after the embedding, and after each sub-layer."""
    model = translator.model
    names = ["decoder.input.hidden"]
    names += [f"decoder.blocks.{n}.{part}.output" for n in range(len(model.decoder.blocks)) for part in PARTS]
    with capture(model, *names) as seen, torch.no_grad():
        model(batch.source, batch.decoder_input)
    summed = torch.stack([seen[name] for name in names]).cumsum(0)[:, batch.target != PAD]
    return dict(zip(["embedding", *(_short(name) for name in names[1:])], summed, strict=True))


def _short(name: str) -> str:
    _, _, block, part, _ = name.split(".")
    return f"{part.replace('_', '-')} {int(block) + 1}"


def read_stream(translator: Translator, fit: SequenceBatch, test: SequenceBatch) -> dict[str, tuple[float, float]]:
    """After each sub-layer the share of next words that (the logit lens, the tuned lens) reads rightly."""
    model, known, new = translator.model, states(translator, fit), states(translator, test)
    last, target = list(known.values())[-1].double(), test.target[test.target != PAD]

    def right(x: Tensor) -> float:
        with torch.no_grad():
            return (model.output(model.decoder.norm(x)).argmax(-1) == target).double().mean().item()

    found = {}
    for name, x in known.items():
        tuned = torch.linalg.lstsq(_with_one(x), last).solution
        found[name] = (right(new[name]), right((_with_one(new[name]) @ tuned).float()))
    return found


# --- the probe --------------------------------------------------------------------------------------------------------
class Probed(NamedTuple):
    """What a probe reads in the memory about the next word of the source, and what the model does with it.

    probe     the share of next words that it finds in the vector of a word
    word      the same from the word alone, without the model: the fairest rival
    control   the share when each pair of words has a label drawn at random
    whole     sentences without a fault
    exchanged the same when each vector comes from another sentence, with the same word, position and length
    erased    the probe on these exchanged vectors
    """

    probe: float
    word: float
    control: float
    whole: float
    exchanged: float
    erased: float


def probe_neighbours(translator: Translator, fit: SequenceBatch, test: SequenceBatch, *, seed: int = 0) -> Probed:
    """Does the memory tell the next word? And does the translation need that?

    The intervention gives each vector of the memory to another sentence that has the same word there, at the same
    position of as many words: all that it says of its neighbours is then that of another sentence.
    """
    model, words = translator.model, len(translator.data.source_tokenizer)
    exchange = exchanged(test, seed)
    (x, here, after), (x_new, here_new, after_new) = (_neighbours(translator, batch) for batch in (fit, test))
    erased, _, _ = _neighbours(translator, test, exchange)
    labels = torch.randint(words, (words, words), generator=torch.Generator().manual_seed(seed))
    control = Probe.fit(x, labels[here, after], words).right(x_new, labels[here_new, after_new])
    probe, word = Probe.fit(x, after, words), Probe.fit(F.one_hot(here, words), after, words)
    return Probed(
        probe.right(x_new, after_new),
        word.right(F.one_hot(here_new, words), after_new),
        control,
        exact(model, test),
        exact(model, test, {MEMORY: exchange}),
        probe.right(erased, after_new),
    )


def _neighbours(
    translator: Translator, batch: SequenceBatch, edit: Edit | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The memory's vector of each word that has one behind it (N, D), the word's id, and the id behind it."""
    with capture(translator.model, MEMORY, edit={MEMORY: edit} if edit else None) as seen, torch.no_grad():
        translator.model(batch.source, batch.decoder_input)
    here, after = batch.source[:, :-1], batch.source[:, 1:]
    both = (here > EOS) & (after > EOS)
    return seen[MEMORY][:, :-1][both], here[both], after[both]


def exchanged(batch: SequenceBatch, seed: int = 0) -> Edit:
    """Each source vector (B, S, D) from another sentence, if there is one, with this word here and as many words."""
    drawn, groups = random.Random(seed), defaultdict(list)
    lengths = (batch.source != PAD).sum(1).tolist()
    for row, ids in enumerate(batch.source.tolist()):
        for at in range(lengths[row]):
            groups[ids[at], at, lengths[row]].append(row)
    rows = torch.arange(len(batch.source))[:, None].repeat(1, batch.source.shape[1])
    for (_, at, _), members in groups.items():
        for row in members:
            rows[row, at] = drawn.choice([one for one in members if one != row] or members)
    places = torch.arange(batch.source.shape[1])
    return lambda x: x[rows, places]


# --- draw -------------------------------------------------------------------------------------------------------------
def lens_picture(runs: Mapping[str, Mapping[str, Any]]) -> Svg:
    """Both lenses over the sub-layers: the mean of the seeds as a line, the range as a band.

    runs  seed -> what `findings.measure` found at it
    """
    names = list(next(iter(runs.values()))["lens"])
    lines, bands = {}, {}
    for number, name in enumerate(("logit lens", "tuned lens")):
        columns = [[run["lens"][part][number] for run in runs.values()] for part in names]
        lines[name] = (list(range(len(names))), [sum(column) / len(column) for column in columns])
        bands[name] = (list(map(min, columns)), list(map(max, columns)))
    chart = line_chart(
        lines,
        size=(720, 320),
        title="Right next words, read from each state of the decoder's stream",
        xlabel="the state after this sub-layer of the decoder",
        ylabel="share right",
        ylim=(0, 1.3),
        yticks=(0, 0.2, 0.4, 0.6, 0.8, 1),
        xticks=list(range(len(names))),
        xform=lambda x: names[round(x)].replace("attention", "att.").replace("feed-forward", "ffn"),
        bands=bands,
        dots=True,
    )
    shown = "; ".join(
        f"after {part} {lines['logit lens'][1][at]:.0%} and {lines['tuned lens'][1][at]:.0%}"
        for at, part in enumerate(names)
    )
    return side_by_side([chart], alt=f"Logit lens and tuned lens, mean of {len(runs)} seeds: {shown}.")
