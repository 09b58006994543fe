"""What a block can have in the place of self-attention: a part of the config, which makes the module.

    DecoderOnly(TransformerConfig(vocab_size=64, mixer=LatentConfig(d_latent=32, d_rotary=8)))
    replace(config, layers=(LayerConfig(mixer=DeltaRule()), LayerConfig(mixer=DeltaRule()), LayerConfig()))   # a hybrid

A new kind of layer is a frozen dataclass with `Mixer` as its base, in a file of its own: neither `config` nor `models`
knows it by name. `latent` has one with a softmax, `efficient.mixers` has recurrent ones.
"""

from collections.abc import Callable
from typing import ClassVar

from torch import Tensor, nn

from tx_helpers.nn.cache import StateCache


class Mixer:
    """The base of all such parts.

    d_rotary   the width of what rotary positions turn; None: the layer is not given the rotation
    recurrent  its cache is a state; it sees the past alone, its only mask is that of padding, and it has no window

    The module's call is that of `attention.MultiHeadAttention` without a memory: module(x, mask=…, bias=…, causal=…,
    rotate=…, cache=…) -> (B, T, D). Its last linear map is called `output`. A method `first_values`, if it has one,
    draws the initial values that are not a linear map's.
    """

    d_rotary: int | None = None
    recurrent: ClassVar[bool] = False

    def new(
        self, d_model: int, n_heads: int, *, scale: float | None, dropout: float, attend: Callable[..., Tensor]
    ) -> nn.Module:
        """The module for a model of this width. Scale, dropout and `attend` are for layers with a softmax."""
        raise NotImplementedError(f"{type(self).__name__}.new")

    def new_cache(self) -> StateCache:
        """The empty cache of one recurrent module; the others have those of attention."""
        return StateCache()
