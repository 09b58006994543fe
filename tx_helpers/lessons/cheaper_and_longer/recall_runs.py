"""Who can recall what it has read: small models that differ in one layer, trained on `recall_pairs`.

    learn_recall("softmax", steps=150).accuracy     {4: 1.0, 8: 1.0, 16: 1.0}: the share of right values, by pairs
    recall_table(16)["delta"][8]                    the recorded share at each seed

The models have the same width, depth, heads and feed-forward networks, the same data and the same steps. What differs
is the layer that mixes positions, and so the numbers that it keeps of the text (`Recall.kept`):

    "softmax"                          the keys and values of all positions
    "window"                           those of the last K/2 positions: K · K numbers in each layer
    "linear", "delta", "gated delta"   a matrix: K · K numbers (and K sums where they are divided)
    "state space"                      K²/D numbers for each of D channels: K · K (and the last three inputs)
    "hybrid"                           a gated delta rule in the first layer, softmax in the second

Theory: with K features there are K keys without overlap. So a matrix of K × K stores K pairs without error, if a key's
old value is replaced and not added to; beyond that, values mix. Softmax keeps all. A window forgets what has left it,
whatever its size. The recorded figures are those of 400 steps: what a layer could hold, and what it has learned by
then, are two things. Source: Arora et al. 2023 (Zoology), 2024 (Based); Schlag et al. 2021, section 4.1.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.lessons.cheaper_and_longer.mixers import DeltaRule, LinearAttention, StateSpace
from tx_helpers.lessons.cheaper_and_longer.recall import recall_pairs
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.cache import StateCache, WindowCache
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    LayerConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw, linear_warmup_decay
from tx_helpers.zoo.parts.inputs import TokenShift

KINDS = ("softmax", "window", "linear", "delta", "gated delta", "state space", "hybrid")
WIDTH, SIZES = 32, (8, 16)  # D, and the K that are tried
LENGTH, VOCAB = 64, 33  # 16 keys and 16 values
STEPS, BATCH, RATE, SEEDS = 400, 32, 0.01, (0, 1, 2)
LONGER, LONGER_SIZE, LONGER_KINDS = 1200, 8, ("gated delta", "hybrid")  # recorded after more steps, too
PAIRS = (4, 8, 16)


class Recall(NamedTuple):
    """What a model has learned."""

    kind: str
    accuracy: dict[int, float]  # pairs -> share of right values
    kept: int  # numbers that its layers keep of a text of LENGTH tokens
    seconds: float


def recall_config(kind: str, d_head: int = 16) -> TransformerConfig:
    """Two blocks with one head of width K. No positions: each token's vector also has that of the token before it."""
    check_one_of("recall_config", KINDS, kind=kind)
    if d_head not in SIZES:
        raise ValueError(f"recall_config: d_head={d_head!r}, expected one of {', '.join(map(str, SIZES))}")
    mixers = {  # a text is one chunk
        "linear": LinearAttention(d_head=d_head, chunk=LENGTH),
        "delta": DeltaRule(d_head=d_head, chunk=LENGTH),
        "gated delta": DeltaRule(gated=True, d_head=d_head, chunk=LENGTH),
        "state space": StateSpace(d_state=d_head**2 // WIDTH, expand=1),
    }
    config = TransformerConfig(
        VOCAB,
        WIDTH,
        n_layers=2,
        attention=AttentionConfig(1, d_head=d_head, bias=False, window=d_head // 2 if kind == "window" else None),
        feed_forward=FeedForwardConfig(2 * WIDTH, "relu2", bias=False),
        positions=PositionConfig("none"),
        norm=NormConfig("rms"),
        embedding=EmbeddingConfig(tied=False, scale=False, input=TokenShift(1)),
        init=InitConfig("normal", std=0.1, residual="zero"),
        mixer=mixers.get(kind),
    )
    return (
        replace(config, layers=(LayerConfig(mixer=mixers["gated delta"]), LayerConfig()))
        if kind == "hybrid"
        else config
    )


def learn_recall(
    kind: str, *, d_head: int = 16, pairs: Sequence[int] = PAIRS, steps: int = STEPS, seed: int = 0
) -> Recall:
    """Train a model on texts with these numbers of pairs in turn, and test it on 64 new texts of each."""
    check_types("learn_recall", Sequence, pairs=pairs)
    for count in pairs:
        check_numbers("learn_recall", {"one of pairs": count}, least=1, most=16, whole=True)
    check_numbers("learn_recall", least=1, whole=True, steps=steps)
    start = time.perf_counter()
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(recall_config(kind, d_head))
        with torch.no_grad():
            model.decoder.input.token_shift.fill_(0.5)
    optimizer = adamw(model, lr=RATE, betas=(0.9, 0.95), weight_decay=0.1)

    def batches(step: int) -> Texts:
        return texts(pairs[step % len(pairs)], BATCH, seed=1_000_000 * (seed + 1) + step)

    fit(
        model,
        batches,
        loss=_loss,
        optimizer=optimizer,
        steps=steps,
        schedule=linear_warmup_decay(steps, warmup=min(30, steps // 4)),
        seed=seed,
        progress=False,
    )
    seconds = time.perf_counter() - start
    return Recall(kind, {count: accuracy(model, count) for count in pairs}, state_size(model), seconds)


class Texts(NamedTuple):
    """A batch: ids and targets, (B, LENGTH) each."""

    ids: Tensor
    targets: Tensor

    def to(self, device: torch.device) -> "Texts":
        return Texts(self.ids.to(device), self.targets.to(device))


def texts(pairs: int, batch: int, *, seed: int) -> Texts:
    """A batch of texts with this number of pairs."""
    generator = torch.Generator().manual_seed(seed)
    return Texts(*recall_pairs(batch, pairs, LENGTH, vocab_size=VOCAB, generator=generator))


@torch.no_grad()
def accuracy(model: DecoderOnly, pairs: int, *, batch: int = 64, seed: int = 0) -> float:
    """The share of queries whose value is the likeliest token, on texts that no training has seen."""
    ids, targets = texts(pairs, batch, seed=seed)
    with in_mode(model, training=False):
        asked = targets != IGNORE
        return (model(ids).argmax(dim=-1)[asked] == targets[asked]).float().mean().item()


def state_size(model: DecoderOnly) -> int:
    """How many numbers the layers keep of a text of LENGTH tokens, to read on from there."""
    state = model.start(1)
    with torch.no_grad():
        state.step(torch.ones(1, LENGTH, dtype=torch.long))
    numbers = 0
    for layer in (block.self_attention for block in state.caches):
        if isinstance(layer, StateCache):
            numbers += sum(part.numel() for part in layer.state)
        else:  # a window's cache may hold a few positions more than it needs
            positions = min(layer.window, LENGTH) if isinstance(layer, WindowCache) else LENGTH
            numbers += positions * 2 * layer.keys.shape[1] * layer.keys.shape[-1]
    return numbers


def _loss(model: DecoderOnly, batch: Texts) -> Tensor:
    return F.cross_entropy(model(batch.ids).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """ "about", and "runs": a seed, K ("d_head"), a kind, "kept", and "accuracy" by the number of pairs.

    "longer": the same for LONGER_KINDS at LONGER_SIZE, after LONGER steps. Whole after each run that it did not hold.
    """
    table = begun or {"about": {}, "runs": [], "longer": []}
    settings = [("runs", STEPS, d_head, kind) for d_head in SIZES for kind in KINDS]
    settings += [("longer", LONGER, LONGER_SIZE, kind) for kind in LONGER_KINDS]
    for seed in SEEDS:
        for group, steps, d_head, kind in settings:
            run = {"seed": seed, "d_head": d_head, "kind": kind}
            if not any(one | run == one for one in table[group]):
                found = learn_recall(kind, d_head=d_head, steps=steps, seed=seed)
                accuracy = {str(pairs): round(share, 4) for pairs, share in found.accuracy.items()}
                table[group].append(run | {"kept": found.kept, "accuracy": accuracy})
                print(f"seed {seed}  K {d_head:2}  {kind:12} {accuracy}  {found.seconds:.1f} s", flush=True)
                yield table


SETTINGS = {"steps": STEPS, "batch": BATCH, "length": LENGTH, "pairs": PAIRS, "sizes": SIZES}
RECORDED = Experiment(Path(__file__).with_name("recall.json"), learn_all, "8 minutes", SETTINGS)
recorded_recall = RECORDED.read


def recall_table(d_head: int, group: str = "runs") -> dict[str, dict[int, list[float]]]:
    """Of the recorded runs (or the "longer" ones) with this K: kind -> pairs -> the share of right values by seed."""
    runs = [run for run in recorded_recall()[group] if run["d_head"] == d_head]
    if not runs:
        raise ValueError(f"recall_table: d_head={d_head!r}, expected one of {', '.join(map(str, SIZES))}")
    return {
        kind: {pairs: [run["accuracy"][str(pairs)] for run in runs if run["kind"] == kind] for pairs in PAIRS}
        for kind in KINDS
        if any(run["kind"] == kind for run in runs)
    }
