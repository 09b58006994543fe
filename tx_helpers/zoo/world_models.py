"""Three models pretrained on the little world: an encoder, a decoder and an encoder–decoder of equal size.

    encoder = world_model("encoder")                       # an EncoderOnly in evaluation mode
    encoder.encode(ids)                                    # (B, T, 96)
    world_model_facts("encoder")["objective"]              # what it was trained for, how long, how well

They have the same width, the same number of heads and of parameters, and read the same texts in the same order. What
differs is who may see whom, and the objective that goes with it. The encoder–decoder has half as many blocks on each
side; its cross-attention is paid for by narrower feed-forward layers: 4 · 12 D² = 2 · (4 + 6) D² + 2 · (8 + 6) D².

Each model reads texts as `objectives.ObjectiveBatches` writes them: the encoder <cls> … <sep>, the decoder
<bos> … <eos>, the encoder of the encoder–decoder the words alone, its decoder <bos> … <eos>.

`make pretrained` trains them (tools/pretrain_world_models.py); weights/MODEL_CARD.md says how well they do.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly, TransformerModel
from tx_helpers.text.data import PAD
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.loop import Loss, Run, fit
from tx_helpers.training.objectives import objective_loss
from tx_helpers.training.optimizers import linear_warmup_decay, muon
from tx_helpers.zoo.public.files import open_tensors
from tx_helpers.zoo.recipes import WRITER_RATES

FOLDER = Path(__file__).with_name("weights")
CLASSES = {"encoder": EncoderOnly, "decoder": DecoderOnly, "encoder_decoder": EncoderDecoder}
OBJECTIVE_OF = {"encoder": "masked", "decoder": "causal", "encoder_decoder": "span_corruption"}
D = 96


def world_config(kind: str) -> TransformerConfig:
    """The configuration of a world model: "encoder", "decoder" or "encoder_decoder"."""
    check_one_of("world_config", CLASSES, kind=kind)
    config = TransformerConfig(
        len(world_tokenizer()),
        d_model=D,
        n_layers=4,
        pad_id=PAD,
        attention=AttentionConfig(4, bias=False, qk_norm=True),
        feed_forward=FeedForwardConfig(d_ff=4 * D, activation="relu2", bias=False),
        positions=PositionConfig("rotary", base=1000.0),
        norm=NormConfig("rms"),
        embedding=EmbeddingConfig(scale=False),
        init=InitConfig("normal", std=0.05, residual="zero"),
    )
    if kind == "encoder_decoder":
        narrower = replace(config.feed_forward, d_ff=3 * D)
        config = replace(config, n_layers=2, n_encoder_layers=2, feed_forward=narrower)
    return config


def new_world_model(kind: str) -> TransformerModel:
    """An untrained model of the same shape, with values drawn from torch's generator."""
    return CLASSES[kind](world_config(kind))


def train_on_texts(
    model: nn.Module,
    batches: Callable[[int], Any],
    *,
    steps: int,
    warmup: int = 10,
    loss: Loss = objective_loss,
    **options: Any,
) -> Run:
    """`fit` as all models of the little world are trained: Muon, a short warm-up, then a rate that falls to zero."""
    check_numbers("train_on_texts", least=2, whole=True, steps=steps)
    return fit(
        model,
        batches,
        steps=steps,
        loss=loss,
        optimizer=muon(model, **WRITER_RATES),
        schedule=linear_warmup_decay(steps, warmup=min(warmup, steps // 2)),
        **options,
    )


def world_model(kind: str, folder: str | Path = FOLDER) -> TransformerModel:
    """The pretrained model, in evaluation mode; a copy of its own at each call, in float32.

    folder: where the tool wrote other ones. Raises ValueError, naming both sides, for a file of another model.
    """
    check_one_of("world_model", CLASSES, kind=kind)
    file = Path(folder) / f"{kind}.safetensors"
    if not file.is_file():
        raise ValueError(
            f"world_model: {file}: no such file. Of the notebooks that carry the course, only 14 and 15 bring the "
            "models: restart the kernel and run one of them first. In a checkout: make pretrained"
        )
    model = new_world_model(kind)
    parameters = dict(model.named_parameters())
    with open_tensors(file) as opened:
        names = opened.keys()
        values = {name: opened.get_tensor(name) for name in names}
    expected, found = ({name: tuple(v.shape) for name, v in part.items()} for part in (parameters, values))
    for name in [*expected, *found]:
        if expected.get(name) != found.get(name):
            raise ValueError(
                f"world_model: {name!r} is {expected.get(name, 'missing')} in the {kind} of the little world, "
                f"but {found.get(name, 'missing')} in {file.name}"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(values[name])
    return model.eval()


def world_model_facts(kind: str, folder: str | Path = FOLDER) -> dict[str, Any]:
    """How a model was trained and how well it does: the figures of the card, by name."""
    check_one_of("world_model_facts", CLASSES, kind=kind)
    with open_tensors(Path(folder) / f"{kind}.safetensors") as opened:
        return json.loads(opened.metadata()["facts"])
