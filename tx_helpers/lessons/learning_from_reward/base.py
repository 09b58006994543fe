"""The two base models: each can write steps, and answers at once most of the time.

    model = base_model(SIX)      # shipped, in float16: 0.2 million numbers for both
    pretrain(SIX, seed=3)        # another one, in 15 seconds of one core

Their texts are right answers, some with steps and some without. "six": 80 % of the texts have steps at first, 10 % in
the last part of the training. So the model has learned to think, and has got out of the habit. "four": 30 % throughout.
"""

from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from tx_helpers.lessons.learning_from_reward.sums import CHARACTERS, FOUR, PAD, SIX, Sums
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE
from tx_helpers.training.checkpoints import load_weights, save_tensors
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import sequence_loss
from tx_helpers.training.optimizers import adamw, linear_warmup_decay

FILE = Path(__file__).with_name("base_models.safetensors")
NAMES = {SIX: "six", FOUR: "four"}
STEPS, OFTEN, RARE = {SIX: 900, FOUR: 600}, {SIX: 0.8, FOUR: 0.3}, {SIX: 0.1, FOUR: 0.3}
BATCH, RATE, LATE = 64, 3e-3, 0.85  # from this share of the training on, steps are rare


def config() -> TransformerConfig:
    """0.1 million parameters: width 64, two blocks, four heads, rotary positions."""
    return TransformerConfig(
        len(CHARACTERS),
        64,
        n_layers=2,
        context_length=48,
        dropout=0.0,
        attention=AttentionConfig(4),
        feed_forward=FeedForwardConfig(activation="gelu"),
        positions=PositionConfig("rotary", base=1000.0),
        embedding=EmbeddingConfig(tied=False, scale=False),
        init=InitConfig("normal", std=0.05),
    )


def pretrain(task: Sums = SIX, *, seed: int = 0, steps: int | None = None) -> nn.Module:
    """A base model from another seed."""
    _check("pretrain", task)
    steps = steps or STEPS[task]
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(config())

    def batch(step: int) -> Tensor:
        generator = torch.Generator().manual_seed(1_000_003 * (seed + 1) + step)
        share = OFTEN[task] if step < LATE * steps else RARE[task]
        prompts = task.draw(BATCH, generator)
        return task.texts(prompts, torch.rand(BATCH, generator=generator) < share)

    def loss(model: nn.Module, ids: Tensor) -> Tensor:
        target = ids[:, 1:].masked_fill(ids[:, 1:] == PAD, IGNORE)
        target[:, : task.terms] = IGNORE  # the problem is given
        return sequence_loss(model(ids[:, :-1]), target, pad_id=IGNORE)

    fit(
        model,
        batch,
        steps=steps,
        loss=loss,
        optimizer=adamw(model, RATE, betas=(0.9, 0.95), weight_decay=0.01),
        schedule=linear_warmup_decay(steps, warmup=min(50, steps // 2)),
        seed=seed,
        progress=False,
    )
    return model.eval()


def base_model(task: Sums = SIX) -> nn.Module:
    """The shipped base model of this task, seed 0; a copy of its own at each call, in float32."""
    _check("base_model", task)
    model, start = DecoderOnly(config()), NAMES[task] + "."
    stored = {name.removeprefix(start): value.float() for name, value in _stored().items() if name.startswith(start)}
    load_weights(model, stored)
    return model.eval()


def store() -> None:
    """Train both base models from seed 0 and write them to the file that is shipped."""
    tensors = {}
    for task, name in NAMES.items():
        weights = pretrain(task).state_dict()
        tensors |= {f"{name}.{part}": value.half().contiguous() for part, value in weights.items()}
    save_tensors(FILE, tensors, {"made": "2026-11-23, base.store(), seed 0"})


@cache
def _stored() -> dict[str, Tensor]:
    return load_file(FILE)


def _check(where: str, task: Sums) -> None:
    if task not in NAMES:
        raise ValueError(f"{where}: task={task!r}, expected SIX or FOUR")
