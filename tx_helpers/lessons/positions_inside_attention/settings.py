"""How today's models set rotary positions, each setting tried on a small model; and what stretching needs.

    recorded()                                  # settings.json: the losses of both experiments, over seeds
    measure(SETTINGS["base 500,000"], seed=0)   # losses at [16–63, 64–127, 192–255], and after tuning
    stretched(reader=True, seed=0)              # {"plain": […], "interpolation": […], "NTK": […]}

All models here read the stories of the notebook, 64 characters at a time, and are tested on windows of 256. `measure`
trains four layers, `stretched` two: the notebook's own model, or one built and trained like the reader of `needles.py`.

Sources: base 500,000: Grattafiori et al. 2024 (Llama 3), section 3.2; a quarter of the features: Black et al. 2022
(GPT-NeoX-20B), section 2.1; every fourth layer without positions: Hugging Face 2025 (SmolLM3), Meta 2025 (Llama 4).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tx_helpers.lessons.positions_inside_attention.needles import (
    FACTOR,
    RATES,
    N,
    reader_config,
    stretched_reader,
    ways,
)
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import LayerConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatch, TextBatches, evaluation_windows
from tx_helpers.text.stories import stories
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, linear_warmup_decay, muon

SEEDS, STEPS = (0, 1, 2), 300
PARTS = ((16, 64), (64, 128), (192, 256))
ROTARY, NONE = PositionConfig("rotary"), LayerConfig(positions=PositionConfig("none"))
SETTINGS: dict[str, dict[str, Any]] = {  # what differs from rotary as in 2021
    "base 10,000, all features, all layers": {},
    "base 500,000": {"positions": replace(ROTARY, base=500_000.0)},
    "half of the features": {"positions": replace(ROTARY, d_rotary=8)},
    "a quarter of the features": {"positions": replace(ROTARY, d_rotary=4)},
    "no positions in every fourth layer": {"layers": (LayerConfig(), LayerConfig(), LayerConfig(), NONE)},
    "no positions in any layer": {"positions": PositionConfig("none")},
}


class Texts(NamedTuple):
    """The stories: the size of the vocabulary, the ids to learn from, unseen ones, and 64 windows of 256 of these."""

    size: int
    ids: Tensor
    unseen: Tensor
    windows: TextBatch


@cache
def story_texts() -> Texts:
    """1,000 stories to learn from and 100 others, in characters."""
    corpus = stories(1000, seed=0)
    tokenizer = CharTokenizer.train(corpus)
    unseen = torch.tensor(tokenizer.encode(stories(100, seed=1)))
    ids = torch.tensor(tokenizer.encode(corpus))
    return Texts(len(tokenizer), ids, unseen, evaluation_windows(unseen, FACTOR * N)[0])


def trained(
    positions: PositionConfig = ROTARY,
    *,
    seed: int = 0,
    steps: int = STEPS,
    lr: float = 5e-3,
    batches: Callable[[int], TextBatch] | None = None,
    **changes: Any,
) -> DecoderOnly:
    """A model of the stories, or of other `batches`, with these positions; `changes` are fields of its config."""
    config = TransformerConfig(story_texts().size, positions=positions, **changes)
    return _fit(config, lambda model: adamw(model, lr), seed, steps, batches)


def _fit(
    config: TransformerConfig,
    optimizer: Callable,
    seed: int,
    steps: int,
    batches: Callable[[int], TextBatch] | None = None,
) -> DecoderOnly:
    """A model of this config after `steps` batches, by default of 12 texts of N characters."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(config)
    schedule = linear_warmup_decay(steps, warmup=max(1, steps // 20))
    options = dict(optimizer=optimizer(model), schedule=schedule, progress=False)
    batches = batches or TextBatches(story_texts().ids, N, batch_size=12, seed=seed)
    fit(model, batches, steps=steps, loss=language_model_loss, **options)
    return model.eval()


@torch.no_grad()
def by_position(model: DecoderOnly) -> Tensor:
    """The loss at each position of the windows, in nats a character: (256,)."""
    windows = story_texts().windows
    return cross_entropy(model(windows.input).transpose(1, 2), windows.target, reduction="none").mean(0)


def losses(model: DecoderOnly) -> list[float]:
    """Nats a character, the mean over each of PARTS."""
    at = by_position(model)
    return [round(at[first:end].mean().item(), 3) for first, end in PARTS]


@torch.no_grad()
def score_over_distance(model: DecoderOnly) -> Tensor:
    """The mean score of a query and the key d characters before it, for each block, head and d: (N, H, 192)."""
    windows = story_texts().windows
    with capture(model) as seen:
        model(windows.input[:16])
    found = []
    for block in range(model.config.n_layers):
        scores = seen[f"decoder.blocks.{block}.self_attention.scores"]  # (B, H, T, S)
        found.append(torch.stack([scores.diagonal(-d, -2, -1).mean((0, -1)) for d in range(192)], dim=-1))
    return torch.stack(found)


def tune(model: DecoderOnly, *, seed: int = 1, steps: int = 40) -> DecoderOnly:
    """The same model after a few more steps, on texts FACTOR times as long."""
    longer = TextBatches(story_texts().ids, FACTOR * N, batch_size=4, seed=seed)
    fit(model, longer, steps=steps, loss=language_model_loss, optimizer=adamw(model, 1e-3), progress=False)
    return model.eval()


def measure(setting: dict[str, Any], *, seed: int = 0, steps: int = STEPS) -> list[list[float]]:
    """The losses of a model of four layers with this setting, and those after `tune`."""
    model = trained(**setting, seed=seed, steps=steps, lr=3e-3, n_layers=4)
    return [losses(model), losses(tune(model, seed=seed + 1, steps=max(1, steps * 40 // STEPS)))]


def stretched(*, reader: bool, seed: int = 0, steps: int = STEPS) -> dict[str, list[float]]:
    """The losses of one story model of two layers, its rotary stretched in three ways without any training.

    reader  built and trained like the reader of facts, with token shift; or the notebook's own model
    """
    if reader:
        config = reader_config(story_texts().size, shift=True)
        model = _fit(config, lambda model: muon(model, **RATES), seed, steps)
    else:
        model = trained(seed=seed, steps=steps)
    found = {}
    for name, rotary in ways(model.decoder.rotary).items():
        model.decoder.rotary = rotary
        found[name] = losses(model)
    return found


def measure_all() -> dict[str, Any]:
    """All models of both experiments at each of SEEDS."""
    return {
        "about": {},
        "settings": {name: [measure(setting, seed=seed) for seed in SEEDS] for name, setting in SETTINGS.items()},
        "stories": {
            name: [stretched(reader=reader, seed=seed) for seed in SEEDS]
            for name, reader in (("our model", False), ("with token shift", True))
        },
        "facts": {
            name: [stretched_reader(shift=shift, seed=seed) for seed in SEEDS]
            for name, shift in (("with token shift", True), ("without token shift", False))
        },
    }


ABOUT = {"seeds": SEEDS, "steps": STEPS, "trained on": N, "parts": PARTS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), measure_all, "20 minutes", ABOUT)
recorded = RECORDED.read
