"""Smaller numbers: a tensor in 8 bits or fewer, with one scale for all of it or one for each group of numbers.

    symmetric     s = max |x| / (2^(b−1) − 1)        code = round(x / s)              x ≈ s · code
    asymmetric    s = (max x − min x) / (2^b − 1)    code = round(x / s) + zero       x ≈ s · (code − zero)

No number is off by more than s/2, so one large number makes all that share its scale inexact. The fewer share one, the
better, and the more scales have to be kept. Source: Jacob et al. 2018, section 2.1; Nagel et al. 2021, section 2.

Groups lie along the last dimension: group = in_features of a weight (out_features, in_features) is one scale for each
output channel. Left out on purpose: two 4-bit codes in a byte, and integer kernels; both change speed, not numbers.
"""

from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types


class Quantised(NamedTuple):
    """A tensor of `shape` as whole numbers, in n groups of g."""

    codes: Tensor  # (…, n, g): int8, or uint8 with a zero
    scale: Tensor  # (…, n, 1)
    zero: Tensor | None  # (…, n, 1): the code of 0, if asymmetric
    shape: torch.Size


def quantise(x: Tensor, *, bits: int = 8, group: int | None = None, symmetric: bool = True) -> Quantised:
    """The equation above; `group` numbers share a scale, or all of the tensor with None."""
    check_tensors("quantise", x=(x, "float …"))
    check_numbers("quantise", least=2, most=8, whole=True, bits=bits)
    check_numbers("quantise", least=1, whole=True, optional=True, group=group)
    if not x.numel() or not x.dim() or (group is not None and x.shape[-1] % group):
        raise ValueError(f"quantise: x of shape {tuple(x.shape)}, expected whole groups of {group or 'any number'}")
    grouped = x.reshape(1, -1) if group is None else x.unflatten(-1, (-1, group))
    if symmetric:
        most = 2 ** (bits - 1) - 1
        scale = _not_zero(grouped.abs().amax(dim=-1, keepdim=True) / most)
        return Quantised((grouped / scale).round().clamp(-most, most).to(torch.int8), scale, None, x.shape)
    most = 2**bits - 1
    wide = torch.promote_types(x.dtype, torch.float32)  # in float16 the difference could be infinite
    low = grouped.amin(dim=-1, keepdim=True).clamp(max=0).to(wide)  # 0 has a code of its own: padding stays exact
    scale = _not_zero((grouped.amax(dim=-1, keepdim=True).clamp(min=0).to(wide) - low) / most).to(x.dtype)
    zero = (-low / scale).round()
    codes = ((grouped / scale).round() + zero).clamp(0, most)
    return Quantised(codes.to(torch.uint8), scale, zero.to(torch.uint8), x.shape)


def dequantise(quantised: Quantised) -> Tensor:
    """x ≈ s · (code − zero), in its first shape and precision."""
    check_types("dequantise", Quantised, quantised=quantised)
    codes, scale, zero, shape = quantised
    codes = codes.to(scale.dtype)
    return (scale * (codes if zero is None else codes - zero.to(scale.dtype))).reshape(shape)


def quantised_copy(model: nn.Module, *, bits: int = 8, group: int | None = None) -> nn.Module:
    """A copy whose linear layers have rounded weights; group None: one scale for each output channel.

    Embeddings and what is tied to them stay as they are.
    """
    check_types("quantised_copy", nn.Module, model=model)
    model = deepcopy(model)
    kept = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    for module in model.modules():
        if isinstance(module, nn.Linear) and id(module.weight) not in kept:
            rounded = quantise(module.weight.detach(), bits=bits, group=group or module.in_features)
            module.weight.data = dequantise(rounded)
    return model


@torch.no_grad()
def relative_errors(model: nn.Module, rounded: nn.Module, ids: Tensor) -> tuple[float, float]:
    """How far the weights of linear layers are off, and how far their outputs: shares of the norm, mean over layers.

    Each layer of `rounded` gets the inputs that the layer of `model` has when the model reads ids, so that no error
    comes from the layers before it.
    """
    check_types("relative_errors", nn.Module, model=model, rounded=rounded)
    inputs: dict[str, Tensor] = {}
    layers = {name: module for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    hooks = [
        module.register_forward_hook(lambda _, given, out, name=name: inputs.update({name: given[0]}))
        for name, module in layers.items()
    ]
    model(ids)
    for hook in hooks:
        hook.remove()
    of_weights = of_outputs = 0.0
    for name, x in inputs.items():
        weight, off = layers[name].weight, rounded.get_submodule(name).weight - layers[name].weight
        of_weights += (off.norm() / weight.norm()).item() / len(inputs)
        of_outputs += ((x @ off.mT).norm() / (x @ weight.mT).norm()).item() / len(inputs)
    return of_weights, of_outputs


def _not_zero(scale: Tensor) -> Tensor:
    """1 in the place of 0, the scale of a group of zeros."""
    return torch.where(scale > 0, scale, 1.0)
