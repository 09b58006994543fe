"""Longer context: at which length does a model still find what it is asked for, and at which does it only run?

    model = train_reader(seed=0)                                   # on texts of N = 64 tokens
    accuracy(model, 256)                                           # {"needle": 0.4, "two hops": 0.3}
    accuracy(with_positions(model, positions("YaRN", 4)), 256)
    effective_length(lengths, curve)                               # the definition below
    recorded()                                                     # four ways to stretch, tuned and not, over seeds

A text is filler, in which facts "a b ." stand at random places, with questions at its end. The facts make chains,
a → b and b → c:

    needle       "<one> a"  asks for b, and "<one> b" for c       one fact has to be found
    two hops     "<two> a"  asks for c                            the answer to a first question is the second question

Whatever the length, a text has the same number of facts and questions: what grows is the filler. No answer stands
behind a question, so nothing can be copied from there.

The **effective length** is the longest tested length up to which accuracy stays at or above 0.9 of that at N. The
advertised length is the one that a model accepts: with rotary positions, any.

The file context.json:

    {"about": {"seeds": [0, …], "steps", "tuning_steps", "tuned_at", "chains", "minutes", "cores", "commit", "torch"},
     "trained": N, "lengths": [N, 2N, …], "tasks": [name, …],
     "curves": {task: {way: [[an accuracy for each length] for each seed]}},
     "places": {"length", "way", "needle": [[an accuracy for each tenth of the text] for each seed]}}

Sources: interpolation: Chen et al. 2023; NTK: bloc97 2023; YaRN: Peng et al. 2023; effective against advertised length:
Hsieh et al. 2024 (RULER), with a threshold of its own; the middle that is lost: Liu et al. 2023.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
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
from tx_helpers.nn.positions import ntk_base
from tx_helpers.text.data import IGNORE, TextBatch
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import Schedule, linear_warmup_decay, muon
from tx_helpers.zoo.parts.inputs import TokenShift
from tx_helpers.zoo.parts.yarn import Yarn

STOP, ONE, TWO = 0, 1, 2  # the end of a fact, and the two questions
FILLERS, NAMES, CHAINS = 8, 24, 3
VOCABULARY = 3 + FILLERS + NAMES
TASKS = {"needle": ONE, "two hops": TWO}
N, LENGTHS = 64, (64, 128, 256, 512, 1024)
WAYS = ("plain rotary", "interpolation", "NTK", "YaRN")
BASE, D, HEADS, BLOCKS = 10_000.0, 64, 2, 2
STEPS, BATCH = 600, 16
TUNING_STEPS, TUNED_AT, TUNING_BATCH = 60, 512, 2
SEEDS, ROWS, PLACES_ROWS, PLACES_LENGTH = (0, 1, 2, 3), 32, 96, 256  # of what is recorded
RATES = {"lr": 0.02, "momentum": 0.9, "adamw_lr": 1e-2, "output_lr": 6e-3}
SHORTEST = 3 * 2 * CHAINS + 2 * 3 * CHAINS  # all facts and all questions


def fact_texts(count: int, length: int, generator: torch.Generator | None = None) -> TextBatch:
    """Texts with facts in filler and questions at the end: ids (B, T), and as targets the answers, else IGNORE."""
    check_numbers("fact_texts", least=1, whole=True, count=count)
    check_numbers("fact_texts", least=SHORTEST, whole=True, length=length)
    a, b, c = (3 + FILLERS + _shuffled(count, NAMES, generator)[:, : 3 * CHAINS]).split(CHAINS, dim=1)
    facts = torch.stack([torch.cat([a, b], 1), torch.cat([b, c], 1)], dim=-1)  # (B, 2C, 2)
    kinds = torch.tensor([ONE] * 2 * CHAINS + [TWO] * CHAINS).expand(count, -1)
    questions = torch.stack([kinds, torch.cat([facts[..., 0], a], 1), torch.cat([facts[..., 1], c], 1)], dim=-1)
    order = _shuffled(count, 3 * CHAINS, generator)[..., None].expand(-1, -1, 3)
    kinds, asked, answers = questions.gather(1, order).unbind(-1)  # (B, 3C) each
    end = length - 2 * 3 * CHAINS
    ids = torch.randint(3, 3 + FILLERS, (count, length), generator=generator)
    starts = _places(count, end, generator)  # (B, 2C), in the order of the chains: the facts stand in a random order
    for offset, words in enumerate((facts[..., 0], facts[..., 1], torch.full_like(starts, STOP))):
        ids.scatter_(1, starts + offset, words)
    ids[:, end::2], ids[:, end + 1 :: 2] = kinds, asked
    targets = torch.full((count, length), IGNORE)
    targets[:, end + 1 :: 2] = answers
    return TextBatch(ids, targets)


def _shuffled(count: int, n: int, generator: torch.Generator | None) -> Tensor:
    """A permutation of 0 … n − 1 in each row: (count, n)."""
    return torch.rand(count, n, generator=generator).argsort(dim=1)


def _places(count: int, end: int, generator: torch.Generator | None) -> Tensor:
    """Where the 2C facts of three tokens begin, so that none overlap: (count, 2C), in a random order."""
    facts = 2 * CHAINS
    apart = _shuffled(count, end - 2 * facts, generator)[:, :facts].sort(dim=1).values + 2 * torch.arange(facts)
    return apart.gather(1, _shuffled(count, facts, generator))


class FactBatches:
    """`batches(step) -> TextBatch`: texts of `length` tokens, the same for the same seed and step."""

    def __init__(self, length: int, count: int, *, seed: int = 0):
        self.length, self.count, self.seed = length, count, seed

    def __call__(self, step: int) -> TextBatch:
        return fact_texts(self.count, self.length, torch.Generator().manual_seed(1_000_003 * (self.seed + 1) + step))


def positions(way: str, factor: float = 1.0) -> PositionConfig:
    """Rotary positions for texts `factor` times as long as N, stretched in one of the four WAYS."""
    check_one_of("positions", WAYS, way=way)
    check_numbers("positions", least=1, factor=factor)
    plain = PositionConfig("rotary", base=BASE)
    if way == "interpolation":
        return replace(plain, interpolation=factor)
    if way == "NTK":
        return replace(plain, base=ntk_base(BASE, factor, D // HEADS))
    return replace(plain, stretch=Yarn(factor, N)) if way == "YaRN" else plain


def reader_config() -> TransformerConfig:
    """A decoder of two blocks with rotary positions; each token also sees the one before it (token shift)."""
    return TransformerConfig(
        VOCABULARY,
        D,
        BLOCKS,
        attention=AttentionConfig(HEADS, bias=False, qk_norm=True),
        feed_forward=FeedForwardConfig(activation="relu2", bias=False),
        positions=positions("plain rotary"),
        norm=NormConfig("rms"),
        embedding=EmbeddingConfig(scale=False, tied=False, input=TokenShift(1)),
        init=InitConfig("normal", residual="zero"),
    )


def train_reader(*, steps: int = STEPS, seed: int = 0) -> DecoderOnly:
    """A model that answers both kinds of question about texts of N tokens."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(reader_config())
    return _train(model, FactBatches(N, BATCH, seed=seed), steps, linear_warmup_decay(steps, warmup=min(20, steps - 1)))


def tuned(
    model: DecoderOnly, way: str, *, steps: int = TUNING_STEPS, length: int = TUNED_AT, seed: int = 0
) -> nn.Module:
    """A copy with stretched positions, trained for a few more steps on texts of `length` tokens."""
    copy = with_positions(model, positions(way, length / N))
    return _train(
        copy, FactBatches(length, TUNING_BATCH, seed=seed + 1000), steps, lambda step: 0.3 * (1 - step / steps)
    )


def _train(model: DecoderOnly, batches: FactBatches, steps: int, schedule: Schedule) -> DecoderOnly:
    options = dict(loss=language_model_loss, optimizer=muon(model, **RATES), schedule=schedule, progress=False)
    fit(model, batches, steps=steps, **options)
    return model.eval()


def with_positions(model: DecoderOnly, changed: PositionConfig) -> DecoderOnly:
    """A copy with the same weights and other positions."""
    check_types("with_positions", DecoderOnly, model=model)
    copy = DecoderOnly(replace(model.config, positions=changed))
    copy.load_state_dict(model.state_dict())
    return copy.eval()


def accuracy(model: nn.Module, length: int, *, count: int = 64, seed: int = 99) -> dict[str, float]:
    """The share of right answers of each task, on texts of this length."""
    batch, right = _answers(model, length, count, seed)
    kinds = batch.input.roll(1, dims=1)  # the token before each name that is asked about
    asked = batch.target != IGNORE
    return {task: right[asked & (kinds == token)].float().mean().item() for task, token in TASKS.items()}


def accuracy_by_place(
    model: nn.Module, length: int, *, parts: int = 10, count: int = 128, seed: int = 99
) -> list[float]:
    """The share of right answers to needle questions, by the part of the text that holds the fact: `parts` numbers.

    nan for a part in which no fact began.
    """
    check_numbers("accuracy_by_place", least=1, whole=True, parts=parts)
    batch, right = _answers(model, length, count, seed)
    end = length - 2 * 3 * CHAINS
    hits, found = torch.zeros(parts), torch.zeros(parts)
    asked = (batch.target != IGNORE) & (batch.input.roll(1, dims=1) == ONE)
    for row, place in asked.nonzero().tolist():
        names, following = batch.input[row, :end], batch.input[row, 1 : end + 1]
        fact = (names == batch.input[row, place]) & (following == batch.target[row, place])
        at = int(fact.nonzero()[0])
        part = min(parts - 1, at * parts // end)
        found[part] += 1
        hits[part] += right[row, place]
    return (hits / found).tolist()


def _answers(model: nn.Module, length: int, count: int, seed: int) -> tuple[TextBatch, Tensor]:
    """Texts, and where the likeliest token is the target: (B, T)."""
    batch = fact_texts(count, length, torch.Generator().manual_seed(seed))
    with in_mode(model, training=False), torch.no_grad():
        rows = max(1, 8192 // length)
        logits = torch.cat([model(ids).argmax(dim=-1) for ids in batch.input.split(rows)])
    return batch, logits == batch.target


def effective_length(lengths: Sequence[int], curve: Sequence[float], *, share: float = 0.9) -> int:
    """The longest length up to which accuracy stays at or above `share` of that at the first, the trained, length."""
    check_types("effective_length", Sequence, lengths=lengths, curve=curve)
    if len(lengths) != len(curve) or not len(lengths):
        raise ValueError(
            f"effective_length: {len(lengths)} lengths and {len(curve)} accuracies, expected as many of each"
        )
    effective = lengths[0]
    for length, found in zip(lengths, curve, strict=True):
        if found < share * curve[0]:
            break
        effective = length
    return effective


# --- recorded ---------------------------------------------------------------------------------------------------------
def measure_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the head of this file says of context.json, after each seed."""
    ways = [*WAYS, *(f"{way}, tuned" for way in WAYS)]
    table = begun or {
        "about": {"seeds": []},
        "trained": N,
        "lengths": LENGTHS,
        "tasks": list(TASKS),
        "curves": {task: {way: [] for way in ways} for task in TASKS},
        "places": {"length": PLACES_LENGTH, "way": "plain rotary", "needle": []},
    }
    for seed in SEEDS:
        if seed not in table["about"]["seeds"]:
            _measure_seed(table, seed)
            table["about"]["seeds"].append(seed)
            yield table


def _measure_seed(table: dict[str, Any], seed: int) -> None:
    model = train_reader(steps=STEPS, seed=seed)
    for way in WAYS:
        stretched = [with_positions(model, positions(way, length / N)) for length in LENGTHS]
        after = tuned(model, way, steps=TUNING_STEPS, seed=seed)
        for name, models in ((way, stretched), (f"{way}, tuned", [after] * len(LENGTHS))):
            found = [accuracy(one, length, count=ROWS) for one, length in zip(models, LENGTHS, strict=True)]
            for task in TASKS:
                table["curves"][task][name].append([round(one[task], 3) for one in found])
            print(f"seed {seed}  {name:22}", *("/".join(f"{share:.2f}" for share in one.values()) for one in found))
    by_place = accuracy_by_place(model, PLACES_LENGTH, count=PLACES_ROWS)
    table["places"]["needle"].append([round(share, 3) for share in by_place])


SETTINGS = {"steps": STEPS, "tuning_steps": TUNING_STEPS, "tuned_at": TUNED_AT, "chains": CHAINS, "texts": ROWS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), measure_all, "4 minutes", SETTINGS)
recorded = RECORDED.read
