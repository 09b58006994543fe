"""What only some models have: the bases of the parts that are handed to a `TransformerConfig`.

A part is a frozen dataclass, in a file of its own, with one of these bases. Its method `new` makes the module, and
neither `config` nor `models` knows it by name. It is given the `TransformerConfig`. `zoo.parts` has parts.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from torch import Tensor, nn

from tx_helpers.nn.blocks import InputEmbedding
from tx_helpers.nn.cache import StateCache


class Mixer:
    """What a block has in the place of self-attention.

    recurrent  its cache is a state; it sees the past alone, its only mask is that of padding, and it has no window
    sees_ids   its call is also given the ids (B, T) of x

    The module's call is that of `attention.MultiHeadAttention` without a memory: module(x, mask=…, bias=…, causal=…,
    rotate=…, cache=…) -> (B, T, D). Its last linear map is called `output`. A method `first_values`, if it has one,
    draws the initial values that are not a linear map's.
    """

    recurrent: ClassVar[bool] = False
    sees_ids: ClassVar[bool] = False

    def new(self, config: Any) -> nn.Module:
        """The module for a block of this config."""
        raise NotImplementedError(f"{type(self).__name__}.new")

    def rotary_width(self, d_head: int) -> int | None:
        """The width of what rotary positions turn; None: the layer is not given the rotation."""
        return None

    def new_cache(self) -> StateCache:
        """The empty cache of one recurrent module; the others have those of attention."""
        return StateCache()


class Attend:
    """What computes attention, in the place of `attention.scaled_dot_product_attention`."""

    def new(self, config: Any) -> Callable[..., Tensor]:
        """A function, or a module, of that signature."""
        raise NotImplementedError(f"{type(self).__name__}.new")


class Experts:
    """What a block has in the place of one feed-forward network, made of several."""

    def new(self, config: Any) -> nn.Module:
        """The module, (B, T, D) -> (B, T, D); `config.feed_forward` describes one network."""
        raise NotImplementedError(f"{type(self).__name__}.new")


class Input:
    """What turns ids into vectors, in the place of `blocks.InputEmbedding`."""

    def new(self, config: Any, tokens: nn.Embedding, positions: nn.Module | None, **options: Any) -> InputEmbedding:
        """The module; the arguments after the config are those of `InputEmbedding`."""
        raise NotImplementedError(f"{type(self).__name__}.new")


class Output:
    """What stands around the output layer, which has a bias if `bias`."""

    bias: ClassVar[bool] = False

    def new(self, config: Any) -> Callable[[Tensor, nn.Module], Tensor]:
        """What gives the logits (B, T, V) from the last hidden states (B, T, D) and the output layer; here itself."""
        return self

    def __call__(self, hidden: Tensor, output: nn.Module) -> Tensor:
        """The logits, of a part without parameters."""
        raise NotImplementedError(f"{type(self).__name__}.__call__")
