"""Why stretching ruins one model and helps another: facts in filler, with and without the neighbour in each vector.

    found = stretched_reader(shift=True, seed=0)     # {"plain": [at 64, at 256], "interpolation": …, "NTK": …}

A text is filler with six facts "a b" at random places and, at its end, the six a in another order: at each of them the
model has to name the b. With token shift (Peng et al. 2023) each vector holds the token before it, too: then the fact's
b is found by its contents, wherever it stands. Without it, one head has to look exactly one position back.
"""

from dataclasses import replace

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.nn.positions import Rotary, ntk_base
from tx_helpers.text.data import IGNORE, TextBatch
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import linear_warmup_decay, muon
from tx_helpers.zoo.parts.inputs import TokenShift

FILLERS, NAMES, FACTS = 8, 24, 6
N, FACTOR, STEPS = 64, 4, 1200  # as in the notebook "Cheaper and longer": trained on 64 tokens
RATES = {"lr": 0.02, "momentum": 0.9, "adamw_lr": 1e-2, "output_lr": 6e-3}


def needles(count: int, length: int, generator: torch.Generator | None = None) -> TextBatch:
    """Texts with facts in filler and the questions at the end: ids (B, T), as targets the answers, else IGNORE."""
    check_numbers("needles", least=1, whole=True, count=count)
    check_numbers("needles", least=3 * FACTS, whole=True, length=length)

    def shuffled(n: int) -> Tensor:
        return torch.rand(count, n, generator=generator).argsort(dim=1)

    a, b = (FILLERS + shuffled(NAMES)[:, : 2 * FACTS]).chunk(2, dim=1)  # (B, 6) each
    end = length - FACTS
    starts = shuffled(end - FACTS)[:, :FACTS].sort(dim=1).values + torch.arange(FACTS)  # none overlap
    ids = torch.randint(0, FILLERS, (count, length), generator=generator)
    ids.scatter_(1, starts, a).scatter_(1, starts + 1, b)
    order = shuffled(FACTS)
    ids[:, end:] = a.gather(1, order)
    targets = torch.full((count, length), IGNORE)
    targets[:, end:] = b.gather(1, order)
    return TextBatch(ids, targets)


def reader_config(size: int, *, shift: bool) -> TransformerConfig:
    """The reader of the notebook "Cheaper and longer", for a vocabulary of `size`, with or without token shift."""
    return TransformerConfig(
        size,
        attention=AttentionConfig(2, bias=False, qk_norm=True),
        feed_forward=FeedForwardConfig(activation="relu2", bias=False),
        positions=PositionConfig("rotary"),
        norm=NormConfig("rms"),
        embedding=EmbeddingConfig(scale=False, tied=False, input=TokenShift(1) if shift else None),
        init=InitConfig("normal", residual="zero"),
    )


def train_reader(*, shift: bool, seed: int = 0, steps: int = STEPS) -> DecoderOnly:
    """A reader of texts of N tokens."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(reader_config(FILLERS + NAMES, shift=shift))

    def batches(step: int) -> TextBatch:
        return needles(16, N, torch.Generator().manual_seed(1_000_003 * (seed + 1) + step))

    schedule = linear_warmup_decay(steps, warmup=max(1, min(20, steps - 1)))
    options = dict(optimizer=muon(model, **RATES), schedule=schedule, progress=False)
    fit(model, batches, steps=steps, loss=language_model_loss, **options)
    return model.eval()


@torch.no_grad()
def accuracy(model: DecoderOnly, length: int) -> float:
    """The share of right answers on 64 texts of this length."""
    batch = needles(64, length, torch.Generator().manual_seed(99))
    asked = batch.target != IGNORE
    return round((model(batch.input).argmax(-1) == batch.target)[asked].double().mean().item(), 3)


def ways(plain: Rotary, factor: float = FACTOR) -> dict[str, Rotary]:
    """Three rotations for texts `factor` times as long."""
    return {
        "plain": plain,
        "interpolation": replace(plain, interpolation=float(factor)),
        "NTK": replace(plain, base=ntk_base(plain.base, factor, plain.d_head)),
    }


def stretched_reader(*, shift: bool, seed: int = 0, steps: int = STEPS) -> dict[str, list[float]]:
    """The accuracy at N and at FACTOR · N tokens of one reader, stretched in three ways without further training."""
    model, found = train_reader(shift=shift, seed=seed, steps=steps), {}
    for name, rotary in ways(model.decoder.rotary).items():
        model.decoder.rotary = rotary
        found[name] = [accuracy(model, N), accuracy(model, FACTOR * N)]
    return found
