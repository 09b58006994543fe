"""Induction: a small model without feed-forward networks learns to say again a block of letters that it has just read.

    run = learn_copying(seed=0)                 # two layers of two heads, 300 steps: 4 seconds
    recall(run.model, unseen_rows())            # the share of letters of the repeat that it says
    induction_explorer(run)

A row is a block of random letters, again and again. With a block of L letters, the letter at position t of the repeat
stood at t − L before, and t − L + 1 holds what comes next. Two scores of a head with weights A (B, H, T, T):

    previous token   mean of A[t, t − 1], over the first copy of the block
    induction        mean of A[t, t − L + 1], over the repeats

Source: Elhage et al. 2021, *A mathematical framework for Transformer circuits*; Olsson et al. 2022, *In-context
learning and induction heads*.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.inside_the_model.tools import Part
from tx_helpers.lessons.inside_the_model.tools import without as without_parts
from tx_helpers.nn.arguments import check_ids, check_numbers, check_tensors
from tx_helpers.nn.capture import Activations, capture
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatch
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CONTEXT, SHORTEST, LONGEST = 32, 8, 16  # letters of a row, and of a block
STEPS, EVERY, BATCH, TESTED, SEEDS = 300, 20, 64, 256, (0, 1, 2)
WORD = "quickbrown"
Edits = Mapping[str, Callable[[Tensor], Tensor]]


# --- the task ---------------------------------------------------------------------------------------------------------
class Rows(NamedTuple):
    """Ids (B, CONTEXT + 1) and the length of each row's block (B, 1)."""

    ids: Tensor
    lengths: Tensor


def rows(count: int, step: int, *, seed: int = 0, length: int = 0, distinct: bool = False) -> Rows:
    """Random blocks of 8 to 16 letters (or of `length`), each repeated until the row is full; the same for a step.

    distinct: no letter twice in a block, so that there is one right answer everywhere.
    """
    check_numbers("rows", least=1, whole=True, count=count)
    check_numbers("rows", least=0, most=len(LETTERS), whole=True, length=length)
    draw = torch.Generator().manual_seed(1_000_003 * (seed + 1) + step)
    lengths = torch.randint(length or SHORTEST, (length or LONGEST) + 1, (count, 1), generator=draw)
    letters = torch.randint(len(LETTERS), (count, len(LETTERS)), generator=draw)
    if distinct:
        letters = torch.rand(letters.shape, generator=draw).argsort(-1)
    return Rows(letters.gather(1, torch.arange(CONTEXT + 1) % lengths), lengths)


def unseen_rows(count: int = TESTED, *, length: int = 0) -> Rows:
    """Rows that no training has, in whose blocks no letter stands twice."""
    return rows(count, -1, length=length, distinct=True)  # training has the steps from 0 on


def ids_of(text: str) -> Tensor:
    """Letters -> ids (1, T)."""
    if strange := set(text) - set(LETTERS):
        raise ValueError(f"ids_of: {min(strange)!r} in {text!r}, expected letters a to z")
    return torch.tensor([[LETTERS.index(letter) for letter in text]])


# --- the model --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Copying:
    """A trained model, copies of it during training (step -> model), and its curves (name -> a number for each)."""

    model: DecoderOnly
    models: dict[int, DecoderOnly]
    curves: dict[str, list[float]]


class Silent(nn.Module):
    """What stands in the place of a feed-forward network: it adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def new_copier(
    *,
    layers: int = 2,
    heads: int = 2,
    width: int = 64,
    d_ff: int = 0,
    positions: str = "learned",
    scale: bool = True,
    seed: int = 0,
) -> DecoderOnly:
    """The course's decoder; without feed-forward networks unless d_ff says how wide they are.

    scale: token vectors times √D, so that they begin much longer than the vectors of the positions
    """
    check_numbers("new_copier", least=0, whole=True, d_ff=d_ff)
    config = TransformerConfig(
        len(LETTERS),
        d_model=width,
        n_layers=layers,
        context_length=CONTEXT,
        attention=AttentionConfig(heads),
        feed_forward=FeedForwardConfig(d_ff or 1),
        positions=PositionConfig(positions),
        embedding=EmbeddingConfig(scale=scale, tied=False),
    )
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(config)
    for block in model.decoder.blocks if not d_ff else ():
        block.feed_forward, block.feed_forward_norm = Silent(), nn.Identity()
    return model


def learn_copying(*, steps: int = STEPS, every: int = EVERY, seed: int = 0, **model: int | bool | str) -> Copying:
    """Train a `new_copier(**model)`; keep a copy of it, and measure it, after 0, `every` … steps."""
    check_numbers("learn_copying", least=1, whole=True, steps=steps, every=every)
    if steps % every:
        raise ValueError(f"learn_copying: steps={steps} is not divisible by every={every}")
    copier, test = new_copier(seed=seed, **model), unseen_rows()
    models: dict[int, DecoderOnly] = {}
    curves: dict[str, list[float]] = {}

    def evaluate(trained: nn.Module) -> dict[str, float]:
        models[every * len(models)] = deepcopy(copier).eval()
        for name, value in (found := {"recall": recall(trained, test)} | scores(trained)).items():
            curves.setdefault(name, []).append(value)
        return found

    def batch(step: int) -> TextBatch:
        return TextBatch((ids := rows(BATCH, step, seed=seed).ids)[:, :-1], ids[:, 1:])

    evaluate(copier)  # before the first step
    how = dict(loss=language_model_loss, optimizer=adamw(copier, 3e-3, weight_decay=0.01), seed=seed)
    fit(copier, batch, steps=steps, **how, evaluate=evaluate, every=every, progress=False)
    return Copying(copier.eval(), models, curves)


# --- measure ----------------------------------------------------------------------------------------------------------
def run_with(model: nn.Module, ids: Tensor, edits: Edits | None = None) -> tuple[Tensor, Activations]:
    """The likeliest next letters (B, T) for ids (B, T), and all attention weights, "….weights" -> (B, H, T, T)."""
    check_ids("run_with", len(LETTERS), ids=ids)
    with capture(model, "*.weights", edit=edits) as seen, torch.no_grad():
        logits = model(ids)
    return logits.argmax(-1), seen


def recall(model: nn.Module, test: Rows, edits: Edits | None = None, *, ahead: int = 1) -> float:
    """Where a block is repeated: the share of positions at which the model says what stands `ahead` places on.

    1: the right letter; 0: the letter just read; 2: one is left out
    """
    check_numbers("recall", least=0, whole=True, ahead=ahead)
    said, _ = run_with(model, test.ids[:, :-1], edits)
    places = torch.arange(said.shape[1])
    asked = test.ids.gather(1, (places + ahead) % test.lengths)
    return (said == asked)[places >= test.lengths].double().mean().item()


def scores(model: nn.Module, length: int = 12, count: int = TESTED) -> dict[str, float]:
    """ "previous 1.1" (layer 1, head 1) … -> its mean weight on the token before, and "induction 1.1" … likewise."""
    _, seen = run_with(model, unseen_rows(count, length=length).ids[:, : 2 * length])
    found = {}
    for layer, name in enumerate(seen.names("*.weights"), start=1):
        before = seen[name].diagonal(-1, -2, -1)[..., : length - 1].mean((0, -1))
        after_match = seen[name].diagonal(1 - length, -2, -1)[..., 1:].mean((0, -1))
        for head, (one, other) in enumerate(zip(before.tolist(), after_match.tolist(), strict=True), start=1):
            found |= {f"previous {layer}.{head}": one, f"induction {layer}.{head}": other}
    return found


# --- intervene --------------------------------------------------------------------------------------------------------
def without(layer: int, head: int = 0) -> Edits:
    """Layer 1 or 2 without its head 1, 2 …, or without all of them: they hand on zeros."""
    check_numbers("without", least=1, whole=True, layer=layer, head=head or 1)

    path = f"decoder.blocks.{layer - 1}.self_attention"
    return without_parts([Part(path, head - 1)]) if head else {f"{path}.heads": torch.zeros_like}


def look_back(weights: Tensor, by: int) -> Tensor:
    """Weights of the same shape with which each position looks `by` letters back alone; the first `by` see nothing."""
    check_tensors("look_back", weights=(weights, "float B H T T"))
    check_numbers("look_back", least=0, whole=True, by=by)
    return torch.ones_like(weights).tril(-by).triu(-by)


def looking_back(by: int, layer: int = 1) -> Edits:
    """All heads of a layer look `by` letters back."""
    return {f"decoder.blocks.{layer - 1}.self_attention.weights": partial(look_back, by=by)}
