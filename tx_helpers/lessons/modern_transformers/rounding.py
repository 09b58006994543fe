"""Smaller numbers in a trained model: the loss by bits, by how many weights share a scale, and with outliers.

    losses_by_bits()                                   # {"tensor": {8: …, 4: …}, "channel": …, 32: …}, "full": …
    losses_by_bits(with_outliers(world_model("decoder"), 30))

The model is the decoder of the little world, the loss that on held-out texts, and the method `efficient.quantise`.
"""

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import nn

from tx_helpers.lessons.modern_transformers.quantise import dequantise, quantise
from tx_helpers.lessons.modern_transformers.specialists import held_out_loss
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.world_models import world_model

SHARES = ("tensor", "channel", 32)


def rounded_copy(model: nn.Module, *, bits: int, share: str | int = "channel") -> nn.Module:
    """A copy whose linear layers have weights of `bits` bits; embeddings and what is tied to them stay.

    share: which weights share a scale: all of a "tensor", an output "channel", or a group of so many.
    """
    check_types("rounded_copy", nn.Module, model=model)
    if share not in ("tensor", "channel"):
        check_numbers("rounded_copy", least=1, whole=True, share=share)
    model = deepcopy(model)
    kept = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Linear) and id(module.weight) not in kept:
                group = {"tensor": None, "channel": module.in_features}.get(share, share)
                module.weight.copy_(dequantise(quantise(module.weight, bits=bits, group=group)))
    return model


def losses_by_bits(
    model: DecoderOnly | None = None, *, bits: Sequence[int] = (8, 4, 3, 2), texts: int = 100
) -> dict[str | int, dict[int, float] | float]:
    """The held-out loss for each way to share a scale and each number of bits; "full" without rounding."""
    check_types("losses_by_bits", Sequence, bits=bits)
    model = model or world_model("decoder")
    found: dict = {"full": held_out_loss(model, texts=texts)}
    for share in SHARES:
        rounded = {each: rounded_copy(model, bits=each, share=share) for each in bits}
        found[share] = {each: held_out_loss(one, texts=texts) for each, one in rounded.items()}
    return found


def with_outliers(model: DecoderOnly, factor: float = 30.0) -> DecoderOnly:
    """A copy that computes the same, with one input channel of each block's first maps `factor` times as large.

    The norm's gain of that channel is divided by the factor, so the products stay as they are. Large models have such
    channels by training (Dettmers et al. 2022). Errors: a ValueError unless the model is pre-norm, its norms are RMS
    norms, and its feed-forward networks are ordinary ones: elsewhere the results would change.
    """
    check_types("with_outliers", DecoderOnly, model=model)
    check_numbers("with_outliers", above=0, factor=factor)
    config = model.config
    check_one_of("with_outliers", ("pre_norm",), wiring=config.wiring)
    check_one_of("with_outliers", ("rms",), norm=config.norm.kind)
    for layer in map(config.of_layer, range(config.n_layers)):
        if layer.feed_forward.gated or layer.feed_forward.experts or layer.mixer:
            raise ValueError("with_outliers: gated=True, experts or a mixer in a block, expected none of them")
    model = deepcopy(model)
    with torch.no_grad():
        for block in model.decoder.blocks:
            attention, feed_forward = block.self_attention, block.feed_forward
            block.self_attention_norm.weight[0] /= factor
            block.feed_forward_norm.weight[0] /= factor
            for matrix in (attention.query, attention.key, attention.value, feed_forward.expand):
                matrix.weight[:, 0] *= factor
    return model
