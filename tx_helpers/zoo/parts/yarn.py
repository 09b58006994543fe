"""Stretched rotary wavelengths: Llama 3.1's way (`WavelengthStretch`), and YaRN.

YaRN: a model with rotary positions reads texts many times as long as those it was trained on. Peng et al. 2023.

It does two things, of which interpolation and the larger base of `positions.ntk_base` each do a part:

* fast pairs, which make many turns within the trained length, stay as they are: they tell near tokens apart; slow ones,
  which do not complete a turn, are slowed down by the factor, as interpolation does; in between it moves gradually;
* queries and keys grow by m = 0.1 · ln(factor) + 1, and so the scores by m²: among many more keys the softmax would
  otherwise become too flat.

In config.json, rope_parameters (once rope_scaling) with rope_type "yarn": factor, original_max_position_embeddings
(`context`), beta_fast, beta_slow, attention_factor and truncate (`whole`).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types


@dataclass(frozen=True)
class Yarn:
    """A `stretch` for `positions.Rotary`, from T = `context` positions to factor · T.

    fast, slow        pairs that make more than `fast` turns within T stay; with less than `slow` they are slowed down
    attention_factor  m, by default 0.1 · ln(factor) + 1, and 1 where the factor is below 1
    whole             the two bounds are rounded outwards to whole pairs
    Between the bounds the share of each grows linearly with the pair's number, and so with the logarithm of its turns,
    as in the code published with the paper; in the paper's text (section 3.2) it grows with the turns themselves.
    """

    factor: float
    context: int
    fast: float = 32.0
    slow: float = 1.0
    attention_factor: float | None = None
    whole: bool = True

    def __post_init__(self) -> None:
        check_numbers("Yarn", above=0, less_than=math.inf, factor=self.factor, slow=self.slow)
        check_numbers("Yarn", above=self.slow, less_than=math.inf, fast=self.fast)
        check_numbers("Yarn", least=1, whole=True, context=self.context)
        check_numbers("Yarn", above=0, less_than=math.inf, optional=True, attention_factor=self.attention_factor)
        check_types("Yarn", bool, whole=self.whole)

    def __call__(self, frequencies: Tensor) -> Tensor:
        """ω (K/2,) -> ω (K/2,), in radians per position; ω_i = base^(−2i/K)."""
        sizes = check_tensors("Yarn", frequencies=(frequencies, "float N"))
        if sizes["N"] < 2:
            raise ValueError(f"Yarn: {sizes['N']} frequency, expected at least 2: a head width of 4 or more")
        step = torch.log(frequencies[0] / frequencies[1])  # ω_i = e^(−i·step)
        low, high = self._pair(self.fast, step), self._pair(self.slow, step)
        if self.whole:
            low, high = low.floor(), high.ceil()
        low, high = low.clamp(min=0), high.clamp(max=2 * sizes["N"] - 1)
        high = torch.where(high == low, high + 0.001, high)
        number = torch.arange(sizes["N"], device=frequencies.device, dtype=frequencies.dtype)
        slowed = ((number - low) / (high - low)).clamp(0, 1)
        return frequencies * (1 - slowed + slowed / self.factor)

    @property
    def gain(self) -> float:
        """m, by which queries and keys grow."""
        if self.attention_factor is not None:
            return self.attention_factor
        return 0.1 * math.log(self.factor) + 1 if self.factor > 1 else 1.0

    def _pair(self, turns: float, step: Tensor) -> Tensor:
        """The number of the pair, as a fraction, that makes `turns` turns within the context: T · ω_i = 2π · turns."""
        return math.log(self.context / (2 * math.pi * turns)) / step


@dataclass(frozen=True)
class WavelengthStretch:
    """How Llama 3.1 stretches the rotary wavelengths of a model trained on T = `context` positions.

    A wavelength beyond T / low gets `factor` times as long, one below T / high stays, and between them the frequency
    moves linearly with T / wavelength. Source: Dubey et al. 2024, and the code published with Llama 3.1.
    """

    factor: float
    low: float
    high: float
    context: int

    def __post_init__(self) -> None:
        check_numbers("WavelengthStretch", above=0, factor=self.factor, low=self.low)
        check_numbers("WavelengthStretch", above=self.low, high=self.high)
        check_numbers("WavelengthStretch", least=1, whole=True, context=self.context)

    def __call__(self, frequencies: Tensor) -> Tensor:
        """ω (K/2,) -> ω (K/2,), in radians per position."""
        turns = self.context * frequencies / (2 * math.pi)  # T / wavelength
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return frequencies * (kept + (1 - kept) / self.factor)
