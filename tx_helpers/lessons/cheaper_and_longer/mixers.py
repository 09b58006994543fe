"""Layers without a softmax in the place of self-attention: parts of a config, for whole models or for hybrids.

    DecoderOnly(TransformerConfig(vocab_size=64, positions=PositionConfig("none"), mixer=DeltaRule(gated=True)))
    layers=(LayerConfig(mixer=StateSpace()), LayerConfig())       state space and softmax in turn

`LinearAttention` and `DeltaRule` keep for each head a matrix of K × K numbers (`linear`), `StateSpace` N numbers for
each of its channels (`state_space`), however long the text is. None of them needs positions: a state is built in order.

Left out on purpose: the short convolution that published models have before queries, keys and values; the part that it
plays, a look at the token before, is `EmbeddingConfig(input=TokenShift(1))` here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.cheaper_and_longer.linear import LinearState, chunked, delta_chunked, positive_features
from tx_helpers.lessons.cheaper_and_longer.state_space import SelectiveStateSpace
from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.nn.cache import StateCache
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import RMSNorm
from tx_helpers.nn.observe import observe
from tx_helpers.nn.parts import Mixer


@dataclass(frozen=True)
class LinearAttention(Mixer):
    """Linear attention (Katharopoulos et al. 2020): every pair is added to the state, and nothing leaves it."""

    d_head: int | None = None  # K; D / H
    chunk: int = 32  # positions that are computed at once
    recurrent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_numbers("LinearAttention", least=1, whole=True, chunk=self.chunk)
        check_numbers("LinearAttention", least=1, whole=True, optional=True, d_head=self.d_head)

    def new(self, config: TransformerConfig) -> nn.Module:
        return LinearAttentionLayer(config.d_model, config.attention.n_heads, d_head=self.d_head, chunk=self.chunk)


@dataclass(frozen=True)
class DeltaRule(Mixer):
    """The delta rule (Schlag et al. 2021): what the state already returns for a key is replaced by the new value.

    gated  the state also forgets, as much as each token says (Yang et al. 2024, Gated Delta Networks)
    """

    gated: bool = False
    d_head: int | None = None  # K; D / H
    chunk: int = 32  # positions that are computed at once
    recurrent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_numbers("DeltaRule", least=1, whole=True, chunk=self.chunk)
        check_numbers("DeltaRule", least=1, whole=True, optional=True, d_head=self.d_head)

    def new(self, config: TransformerConfig) -> nn.Module:
        sizes = dict(d_head=self.d_head, chunk=self.chunk)
        return DeltaRuleLayer(config.d_model, config.attention.n_heads, **sizes, gated=self.gated)


@dataclass(frozen=True)
class StateSpace(Mixer):
    """A selective state-space layer (Gu & Dao 2023): `SelectiveStateSpace` with I = expand · D channels."""

    d_state: int = 16  # N
    expand: int = 2
    kernel: int = 4
    recurrent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_numbers("StateSpace", least=1, whole=True, d_state=self.d_state, expand=self.expand, kernel=self.kernel)

    def new(self, config: TransformerConfig) -> nn.Module:
        D = config.d_model
        return StateSpaceLayer(D, d_inner=self.expand * D, d_state=self.d_state, kernel=self.kernel)


class _Heads(nn.Module):
    """Queries, keys and values of H heads, a state for each, and the way back to the width of the model."""

    def __init__(self, d_model: int, n_heads: int, *, d_head: int | None = None, chunk: int = 32):
        super().__init__()
        check_numbers(type(self).__name__, least=1, whole=True, d_model=d_model, n_heads=n_heads, chunk=chunk)
        if d_head is None and d_model % n_heads:
            raise ValueError(f"{type(self).__name__}: d_model={d_model} is not divisible by n_heads={n_heads}")
        self.d_model, self.n_heads, self.chunk = d_model, n_heads, chunk
        self.d_head = d_head or d_model // n_heads
        width = n_heads * self.d_head
        self.query = nn.Linear(d_model, width, bias=False)
        self.key = nn.Linear(d_model, width, bias=False)
        self.value = nn.Linear(d_model, width, bias=False)
        self.norm = RMSNorm(self.d_head)
        self.output = nn.Linear(width, d_model, bias=False)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: None = None,
        causal: bool = True,
        rotate: Callable[[Tensor], Tensor] | None = None,
        cache: StateCache | None = None,
    ) -> Tensor:
        """x (B, T, D), the positions after those in the cache. -> (B, T, D). The mask: padding, (B, 1, 1, S)."""
        real = real_positions(type(self).__name__, x, mask, self.d_model)
        wide = torch.promote_types(x.dtype, torch.float32)  # a state is a long sum
        q, k, v = (
            project(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2).to(wide)  # (B, T, H·K) -> (B, H, T, K)
            for project in (self.query, self.key, self.value)
        )
        state = None if cache is None else cache.state
        heads, state = self.mix(x, q, k, v, None if real is None else real[:, None], state)
        if cache is not None:
            cache.update(state, x.shape[1])
        heads = observe("heads", self.norm(heads).to(x.dtype))  # (B, H, T, K)
        return observe("output", self.output(heads.transpose(1, 2).flatten(-2)))


class LinearAttentionLayer(_Heads):
    """out_t = Σ_{s≤t} φ(q_t)·φ(k_s) v_s / Σ_{s≤t} φ(q_t)·φ(k_s), then a norm of each head. (B, T, D) -> (B, T, D)"""

    def mix(
        self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, real: Tensor | None, state: LinearState | None
    ) -> tuple[Tensor, LinearState]:
        q, k = positive_features(q), positive_features(k)
        if real is not None:
            k = k * real[..., None]  # padding adds nothing to the state
        if state is None:  # the sums below begin at a millionth: padding before the first token is not divided by 0
            state = LinearState(k.new_zeros(*k.shape[:2], self.d_head, self.d_head), torch.full_like(k[:, :, 0], 1e-6))
        return chunked(q, k, v, self.chunk, state)


class DeltaState(NamedTuple):
    """What the delta rule keeps of the past."""

    memory: Tensor  # (B, H, K, K)


class DeltaRuleLayer(_Heads):
    """M_t = a_t M_{t−1} + β_t k_t (v_t − a_t M_{t−1}ᵀ k_t)ᵀ and out_t = M_tᵀ q_t, then a norm. (B, T, D) -> (B, T, D)

    q and k are divided by their length; β = σ(x W_β) for each head; a = 1, or exp(−A · softplus(x W_a + b)) if gated,
    with A > 0 learned for each head (Yang et al. 2024, section 3.4).
    """

    def __init__(self, d_model: int, n_heads: int, *, gated: bool = False, **options: Any):
        super().__init__(d_model, n_heads, **options)
        self.strength = nn.Linear(d_model, n_heads)
        self.forget = nn.Linear(d_model, n_heads) if gated else None
        self.log_rate = nn.Parameter(torch.zeros(n_heads)) if gated else None

    @torch.no_grad()
    def first_values(self) -> None:
        """The gates begin almost open: heads keep between 0.9 and 0.999 of the state a token, a lone head 0.99."""
        if self.forget is not None:  # softplus of these is about 0.001 … 0.1
            self.forget.bias.copy_(torch.linspace(-6.9, -2.3, self.n_heads + 2)[1:-1])

    def mix(
        self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, real: Tensor | None, state: DeltaState | None
    ) -> tuple[Tensor, DeltaState]:
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        beta = self.strength(x).to(q.dtype).sigmoid().transpose(1, 2)  # (B, T, H) -> (B, H, T)
        log_decay = None
        if self.forget is not None:
            log_decay = -self.log_rate.exp()[:, None] * F.softplus(self.forget(x).to(q.dtype)).transpose(1, 2)
        if real is not None:  # padding writes nothing and makes nothing forgotten
            beta = beta * real
            log_decay = None if log_decay is None else log_decay * real
        memory = None if state is None else state.memory
        heads, memory = delta_chunked(q, k, v, beta, log_decay, memory, chunk=self.chunk)
        return heads, DeltaState(memory)


class StateSpaceLayer(SelectiveStateSpace):
    """`SelectiveStateSpace` with the call of attention."""

    def forward(  # type: ignore[override]
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: None = None,
        causal: bool = True,
        rotate: Callable[[Tensor], Tensor] | None = None,
        cache: StateCache | None = None,
    ) -> Tensor:
        """x (B, T, D), the positions after those in the cache. -> (B, T, D). The mask: padding, (B, 1, 1, S)."""
        real = real_positions("StateSpaceLayer", x, mask, self.d_model)
        out, state = super().forward(x, None if cache is None else cache.state, real=real)
        if cache is not None:
            cache.update(state, x.shape[1])
        return observe("output", out)


def real_positions(where: str, x: Tensor, mask: Tensor | None, d_model: int) -> Tensor | None:
    """Which of the newest positions are real tokens: mask (B, 1, 1, S) -> (B, T), or None where all are.

    A recurrent layer cannot leave out a key for one query and keep it for another: it takes no other mask.
    """
    sizes = check_tensors(where, x=(x, f"float B T {d_model}"))
    if mask is None:
        return None
    if mask.dim() != 4 or mask.shape[1:3] != (1, 1) or mask.shape[-1] < sizes["T"]:
        raise ValueError(
            f"{where}: a mask of shape {tuple(mask.shape)}; a recurrent layer takes padding alone, "
            f"({sizes['B']}, 1, 1, S) with S >= {sizes['T']}"
        )
    return mask[:, 0, 0, -sizes["T"] :]
