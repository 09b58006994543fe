"""A circuit: which heads and feed-forward layers are enough, when all others are replaced by their means?

    steps = search(model, batch, means)           # takes out the part that costs least, again and again
    circuit_explorer()                            # what is left at three seeds, part by part

A part alone may be dispensable because another one does the same; so what is dispensable one at a time is not
dispensable together. The search takes one out, measures all others again, and takes the next. It is greedy: that
another set of parts of the same size does better is possible.

Sources: Wang et al. 2022, *Interpretability in the wild*; Conmy et al. 2023, *Towards automated circuit discovery*.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.inside_the_model.tools import Part, exact, parts_of, score, without
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.capture import capture
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREY, INK, MUTED, PAPER, card, shape, words
from tx_helpers.text.data import SequenceBatch


# --- compute ----------------------------------------------------------------------------------------------------------
class Step(NamedTuple):
    """A part that was taken out, and the share of sentences without a fault once it is gone, too."""

    part: Part
    match: float


def one_by_one(model: nn.Module, batch: SequenceBatch, means: Mapping[Part, Tensor]) -> dict[Part, float]:
    """The share of sentences without a fault when each part, alone, is replaced by its mean."""
    return {part: exact(model, batch, without([part], means)) for part in parts_of(model)}


def search(model: nn.Module, batch: SequenceBatch, means: Mapping[Part, Tensor], *, keep: int = 14) -> Iterator[Step]:
    """Take out the part whose loss costs least, until `keep` parts are left.

    What it costs: sentences without a fault; among equals, log-probability of the right words.

    Raises ValueError if the model has fewer parts.
    """
    left = parts_of(model)
    check_numbers("search", least=0, most=len(left), whole=True, keep=keep)
    gone: list[Part] = []
    while len(left) > keep:
        matches = {part: score(model, batch, without([*gone, part], means)) for part in left}
        cheapest = max(matches, key=matches.__getitem__)
        left.remove(cheapest)
        gone.append(cheapest)
        yield Step(cheapest, matches[cheapest][0])


def direct_effects(
    model: Any, batch: SequenceBatch, rows: Tensor, at: Tensor, words_: tuple[Tensor, Tensor]
) -> dict[Part, float]:
    """What each part of the decoder adds to logit(first word) − logit(second), in the mean over N places.

    rows, at  (N,) the sentence and the position that predicts;  words_  the two words' ids, (N,) each

    The stream at the end is a sum, and with its scale σ held fixed the final LayerNorm is linear in it:
    Δ_i = (x_i − mean(x_i)) ⊙ γ / σ · (u_first − u_second). What a part changes through later parts is not counted.
    """
    parts = [part for part in parts_of(model) if part.path.startswith("decoder")]
    streams = [f"decoder.blocks.{len(model.decoder.blocks) - 1}.hidden", *{part.name for part in parts}]
    with capture(model, *streams) as seen, torch.no_grad():
        model(batch.source, batch.decoder_input)
    sigma = seen[streams[0]][rows, at].std(-1, unbiased=False, keepdim=True)
    table = model.output.weight.detach()
    direction = (table[words_[0]] - table[words_[1]]) * model.decoder.norm.weight.detach() / sigma
    effects = {}
    for part in parts:
        if part.head is None:
            added = seen[part.name][rows, at]
        else:
            K = seen[part.name].shape[-1]
            written = model.get_submodule(part.path).output.weight.detach()[:, K * part.head : K * (part.head + 1)]
            added = seen[part.name][rows, part.head, at] @ written.T
        effects[part] = ((added - added.mean(-1, keepdim=True)) * direction).sum(-1).mean().item()
    return effects


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(parts: Sequence[Part], kept: Sequence[Part], found: float, unseen: float, seed: int) -> Svg:
    """All parts, from the encoder's first block to the decoder's last; what is kept is filled."""
    rows = list(dict.fromkeys(part.path for part in parts))
    drawn = [
        words(20, 26, f"Seed {seed}: {len(kept)} of {len(parts)} parts compute, the others say their mean", size=14)
    ]
    for row, path in enumerate(rows):
        y = 44 + 32 * row
        name = str(Part(path))
        drawn.append(words(250, y + 18, name, anchor="end"))
        for column, part in enumerate(part for part in parts if part.path == path):
            wide = 46 if part.head is not None else 46 * 4 - 4
            on = part in kept
            look = dict(fill=BLUE.full) if on else dict(fill=PAPER, stroke=EDGE, stroke_dasharray="3 3")
            drawn.append(shape("rect", x=262 + 46 * column, y=y, width=wide - 4, height=26, rx=4, **look))
            label = "whole layer" if part.head is None else str(part.head + 1)
            ink = "#FFFFFF" if on else MUTED
            drawn.append(words(262 + 46 * column + (wide - 4) / 2, y + 18, label, anchor="middle", fill=ink))
    for row, (name, share) in enumerate((("searched with", found), ("not seen before", unseen))):
        y = 44 + 32 * len(rows) + 14 + 30 * row
        drawn.append(words(250, y + 15, name, anchor="end"))
        drawn.append(shape("rect", x=262, y=y, width=360, height=20, rx=3, fill=GREY.tint))
        drawn.append(shape("rect", x=262, y=y, width=max(1, 360 * share), height=20, rx=3, fill=INK))
        drawn.append(words(632, y + 16, f"{share:.0%}", font_weight="bold"))
    high = 44 + 32 * len(rows) + 80
    drawn.append(words(20, high, "sentences right", font_weight="bold", fill=MUTED))
    return card(720, high + 12, drawn, describe(parts, kept, found, unseen, seed))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(parts: Sequence[Part], kept: Sequence[Part], found: float, unseen: float, seed: int) -> str:
    """How many parts are left, how many heads of each attention, and how many sentences are right."""
    left = {
        path: sum(part in kept for part in parts if part.path == path) for path in dict.fromkeys(p.path for p in parts)
    }
    said = ", ".join(f"{Part(path)} {count}" for path, count in left.items())
    return (
        f"Seed {seed}: {len(kept)} of {len(parts)} parts are kept ({said}). {found:.0%} of the sentences searched "
        f"with are right, {unseen:.0%} of unseen ones."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def circuit_explorer(runs: Mapping[str, Mapping[str, Any]]) -> Explore:
    """The search at each seed: how many parts are kept, and how many sentences are then right.

    runs  seed -> what `findings.measure` found at it
    """
    check_types("circuit_explorer", Mapping, runs=runs)
    for seed, run in runs.items():
        check_types("circuit_explorer", Mapping, **{f"runs[{seed!r}]": run})

    def picture(seed: str, kept: int) -> Svg:
        parts = [Part(*one) for one in runs[seed]["parts"]]
        gone = runs[seed]["search"][: len(parts) - kept]
        left = [part for part in parts if part not in {Part(*one["part"]) for one in gone}]
        shares = gone[-1] if gone else runs[seed]["whole"]
        return draw(parts, left, shares["found"], shares["unseen"], int(seed))

    run = next(iter(runs.values()))
    count = len(run["parts"])
    return Explore(
        picture,
        name="circuit",
        seed=choice("Trained with", {f"seed {seed}": seed for seed in runs}),
        kept=slider("Parts kept", count - len(run["search"]), count, start=14),
    )
