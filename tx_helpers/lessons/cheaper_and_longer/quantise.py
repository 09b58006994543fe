"""Smaller numbers: a tensor in 8 bits or fewer, with one scale for all of it or one for each group of numbers.

    symmetric     s = max |x| / (2^(b−1) − 1)        code = round(x / s)              x ≈ s · code
    asymmetric    s = (max x − min x) / (2^b − 1)    code = round(x / s) + zero       x ≈ s · (code − zero)

No number is off by more than s/2, so one large number makes all that share its scale inexact. The fewer share one, the
better, and the more scales have to be kept. Source: Jacob et al. 2018, section 2.1; Nagel et al. 2021, section 2.

Groups lie along the last dimension: group = in_features of a weight (out_features, in_features) is one scale for each
output channel. Left out on purpose: two 4-bit codes in a byte, and integer kernels; both change speed, not numbers.
"""

from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.nn.cache import KVCache


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


def fake_quantise(x: Tensor, **options: Any) -> Tensor:
    """quantise and back; in the backward pass as if nothing had been rounded, for quantisation-aware training.

    Rounding has the derivative 0 nearly everywhere, so the gradient goes straight through it: Bengio et al. 2013.
    """
    check_tensors("fake_quantise", x=(x, "float …"))
    return x + (dequantise(quantise(x.detach(), **options)) - x.detach())


class FakeQuantise(nn.Module):
    """`fake_quantise` with these options, as a parametrization of a weight."""

    def __init__(self, **options: Any):
        super().__init__()
        self.options = options

    def forward(self, x: Tensor) -> Tensor:
        return fake_quantise(x, **self.options)


def quantisation_aware(model: nn.Module, *, bits: int = 8, group: int | None = None) -> nn.Module:
    """A copy whose linear layers calculate with rounded weights, while training moves the weights behind them.

    group None: one scale for each output channel. Embeddings and what is tied to them stay as they are.
    """
    check_types("quantisation_aware", nn.Module, model=model)
    model = deepcopy(model)
    kept = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    for module in list(model.modules()):
        if isinstance(module, nn.Linear) and id(module.weight) not in kept:
            options = dict(bits=bits, group=group or module.in_features)
            parametrize.register_parametrization(module, "weight", FakeQuantise(**options))
    return model


def quantised_copy(model: nn.Module, *, bits: int = 8, group: int | None = None) -> nn.Module:
    """A copy whose linear layers have rounded weights, without any training: as `quantisation_aware`, made final."""
    model = quantisation_aware(model, bits=bits, group=group)
    for module in model.modules():
        if isinstance(module, nn.Linear) and parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)
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


def round_to_float(x: Tensor, *, exponent_bits: int = 4, mantissa_bits: int = 3, largest: float = 448.0) -> Tensor:
    """The nearest number of a small floating-point format; the default is fp8 E4M3 (Micikevicius et al. 2022, table 1).

    A number of the exponent e is a multiple of 2^(e − mantissa_bits). Below the smallest exponent, 2 − 2^(exponent_bits
    − 1), the steps stay as they are. What is larger than `largest` becomes ± `largest`.
    """
    check_tensors("round_to_float", x=(x, "float …"))
    check_numbers("round_to_float", least=2, most=8, whole=True, exponent_bits=exponent_bits)
    check_numbers("round_to_float", least=0, most=10, whole=True, mantissa_bits=mantissa_bits)
    check_numbers("round_to_float", above=0, largest=largest)
    _, exponent = torch.frexp(x)  # x = f · 2^exponent with ½ ≤ |f| < 1
    smallest = 2 - 2 ** (exponent_bits - 1)
    step = torch.ldexp(torch.ones_like(x), (exponent - 1).clamp(min=smallest) - mantissa_bits)
    return ((x / step).round() * step).clamp(-largest, largest)


class QuantisedCache(KVCache):
    """A `KVCache` that keeps codes and a scale for each position and head, and returns the numbers that they mean.

    Put it in the place of a decoder's caches: `BlockCache(self_attention=QuantisedCache(bits=4))`.
    """

    def __init__(self, bits: int = 8):
        check_numbers("QuantisedCache", least=2, most=8, whole=True, bits=bits)
        super().__init__()
        self.bits, self._codes, self._scales = bits, KVCache(), KVCache()

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def keys(self) -> Tensor | None:
        """All keys, (B, G, S, K)."""
        return None if self._codes.keys is None else self._codes.keys * self._scales.keys

    @property
    def values(self) -> Tensor | None:
        """All values, (B, G, S, K)."""
        return None if self._codes.values is None else self._codes.values * self._scales.values

    @property
    def bytes(self) -> float:
        """What the codes and the scales take; a code is counted with its bits, though torch keeps it in a byte."""
        if not len(self):
            return 0.0
        scales = self._scales.keys
        return 2 * (self._codes.keys.numel() * self.bits / 8 + scales.numel() * scales.element_size())

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions (B, G, T, K) at the end. Returns all keys and all values, the new ones rounded as well."""
        check_tensors("QuantisedCache", keys=(keys, "float B G T K"), values=(values, "float B G T K"))
        rounded = [quantise(x, bits=self.bits, group=x.shape[-1]) for x in (keys, values)]
        codes = self._codes.append(*(one.codes.squeeze(-2) for one in rounded))  # one group: (B, G, T, 1, K)
        scales = self._scales.append(*(one.scale.squeeze(-2) for one in rounded))
        return codes[0] * scales[0], codes[1] * scales[1]

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        self._codes.select(rows)
        self._scales.select(rows)

    def rewind(self, length: int) -> None:
        """Forget all positions from `length` on."""
        self.check_rewind(length)
        self._codes.rewind(length)
        self._scales.rewind(length)


def _not_zero(scale: Tensor) -> Tensor:
    """1 in the place of 0, the scale of a group of zeros."""
    return torch.where(scale > 0, scale, 1.0)
