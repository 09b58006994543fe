"""How attention learns where a token stands. By itself it knows nothing of order.

Three families of methods:

* a vector added to the embedding: `sinusoidal` (Vaswani et al. 2017, section 3.5) and `LearnedPositions`;
* a rotation of queries and keys: `Rotary` (Su et al. 2021, RoFormer), in the two layouts in use;
* a term added to the scores: `T5Bias` (Raffel et al. 2020, section 2.1) and `ALiBi` (Press et al. 2022).

Positions are integer tensors (T,), or (B, T) if they differ from row to row. Angles are computed in float32 or better,
whatever the precision of the model: in bfloat16 position 257 would be the same as position 256.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors, described, values_are_known


def wavelengths(dim: int, *, base: float = 10000.0) -> Tensor:
    """2π · base^(2i/dim) for i = 0 … dim/2 − 1, in positions: the period of each sine–cosine pair. (dim/2,)"""
    return 2 * math.pi / _frequencies(dim, base, torch.device("cpu"), torch.float64)


def sinusoidal(
    positions: Tensor, d_model: int, *, base: float = 10000.0, halves: bool = False, dtype: torch.dtype = torch.float32
) -> Tensor:
    """PE(p, 2i) = sin(p / base^(2i/D)), PE(p, 2i+1) = cos(p / base^(2i/D)).   (…,) -> (…, D)

    Even dimensions hold the sine, odd ones the cosine. With halves, the first half of the dimensions holds the sines
    and the second half the cosines, as in the code published with the paper and in Marian.
    Source: Vaswani et al. 2017, section 3.5.
    """
    angles = _angles(positions, d_model, base, dtype)
    if halves:
        return _halves(angles.sin(), angles.cos()).to(dtype)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(dtype)


def relative_rotation(k: int, d_model: int, *, base: float = 10000.0) -> Tensor:
    """The matrix M with PE(p + k) = M PE(p) for every p: rotations by k·ω_i on the diagonal. (D, D), float64.

    From sin(a + b) and cos(a + b): one block [[cos kω, sin kω], [−sin kω, cos kω]] for each pair of dimensions.
    """
    check_numbers("relative_rotation", k=k)
    turn = k * _frequencies(d_model, base, torch.device("cpu"), torch.float64)
    blocks = torch.stack([turn.cos(), turn.sin(), -turn.sin(), turn.cos()], dim=-1).unflatten(-1, (2, 2))
    return torch.block_diag(*blocks)


class SinusoidalPositions(nn.Module):
    """`sinusoidal` as a module without parameters: positions (…,) -> (…, D)."""

    def __init__(self, d_model: int, *, base: float = 10000.0, halves: bool = False):
        super().__init__()
        _check_even(d_model)
        self.d_model, self.base, self.halves = d_model, base, halves

    def forward(self, positions: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        return sinusoidal(positions, self.d_model, base=self.base, halves=self.halves, dtype=dtype)


class LearnedPositions(nn.Module):
    """One trainable vector for each position below `context_length`: positions (…,) -> (…, D)."""

    def __init__(self, context_length: int, d_model: int):
        super().__init__()
        check_numbers("LearnedPositions", least=1, whole=True, context_length=context_length, d_model=d_model)
        self.table = nn.Embedding(context_length, d_model)

    def forward(self, positions: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        context = self.table.num_embeddings
        check_tensors("LearnedPositions", positions=(positions, "int …"))
        if values_are_known(positions) and not ((positions >= 0) & (positions < context)).all():
            wrong = int(positions.max()) if (positions >= context).any() else int(positions.min())
            raise ValueError(f"LearnedPositions: position {wrong}, but only {context} were learned")
        return self.table(positions).to(dtype)


@dataclass(frozen=True)
class Rotary:
    """Turn each pair of features of a query or key by position · ω_i, so that q_m · k_n depends on m − n alone.

    d_head         the head width K (even): K/2 pairs with ω_i = base^(−2i/K)
    layout         which features form pair i: "interleaved" (2i, 2i + 1), as in the paper and in Meta's code of Llama;
                   "half" (i, i + K/2), as in GPT-NeoX and in the library transformers, which converts Llama's weights
    interpolation  positions are divided by it: a model trained on T positions runs on interpolation · T
                   (Chen et al. 2023)
    stretch        a function of the frequencies ω (K/2,), such as `zoo.parts.yarn.Yarn`; its `gain`, if it has one,
                   multiplies what turns
    d_rotary       R: the first R features of a head turn, as if K were R, and the others stay; by default all do

    `Rotary(8).at(positions)` gives the function to be applied to queries and keys (B, H, T, K). Su et al. 2021, eq. 34.
    """

    d_head: int
    base: float = 10000.0
    layout: str = "half"
    interpolation: float = 1.0
    stretch: Callable[[Tensor], Tensor] | None = None
    d_rotary: int | None = None

    def __post_init__(self):
        _check_even(self.d_head)
        if self.d_rotary is not None:
            _check_even(self.d_rotary)
            check_numbers("Rotary", most=self.d_head, d_rotary=self.d_rotary)
        check_one_of("Rotary", ("half", "interleaved"), layout=self.layout)
        check_numbers("Rotary", above=0, less_than=math.inf, base=self.base, interpolation=self.interpolation)

    def at(self, positions: Tensor, dtype: torch.dtype = torch.float32) -> Callable[[Tensor], Tensor]:
        """The rotation at these positions, (T,) or (B, T), as a function (B, H, T, K) -> (B, H, T, K)."""
        check_tensors("Rotary", positions=(positions, "… T"))
        width = self.d_rotary or self.d_head
        angles = _angles(positions / self.interpolation, width, self.base, dtype, self.stretch)
        angles = angles.unsqueeze(-3)  # the same rotation for all heads: (1, T, K/2) or (B, 1, T, K/2)
        partner, spread = (_other_half, _halves) if self.layout == "half" else (_neighbour, _neighbours)
        angles = spread(-angles, angles)  # (…, T, K/2) -> (…, T, K)
        gain = getattr(self.stretch, "gain", 1.0)
        cos, sin = (gain * angles.cos()).to(dtype), (gain * angles.sin()).to(dtype)

        def rotate(x: Tensor) -> Tensor:
            if not isinstance(x, Tensor) or x.shape[-1:] != (self.d_head,):
                given = x.shape[-1] if isinstance(x, Tensor) and x.dim() else described(x)
                raise ValueError(f"Rotary: a head width of {given}, but this rotation is for {self.d_head}")
            first, rest = (x, None) if width == self.d_head else (x[..., :width], x[..., width:])
            first = first * cos.type_as(x) + partner(first) * sin.type_as(x)  # a cos − b sin, b cos + a sin
            return first if rest is None else torch.cat([first, rest], dim=-1)

        return rotate


def ntk_base(base: float, factor: float, d_head: int) -> float:
    """The larger base that stretches the longest rotary wavelength `factor` times and leaves the shortest as it is.

    base · factor^(K/(K−2)). Source: bloc97 2023 ("NTK-aware scaled RoPE"); Peng et al. 2023 (YaRN), section 3.1.
    """
    check_numbers("ntk_base", above=0, base=base, factor=factor)
    check_numbers("ntk_base", least=4, whole=True, d_head=d_head)  # with K = 2 there is one wavelength
    return base * factor ** (d_head / (d_head - 2))


class T5Bias(nn.Module):
    """A learned number for each head and bucket of distances, added to the scores: forward(T, S) -> (1, H, T, S).

    Each near distance has its own bucket; far distances share buckets, which widen logarithmically up to
    `max_distance`. bidirectional (encoder): half of the buckets are for keys before the query, half for keys after it.
    The queries are the last T of the S positions.
    Source: Raffel et al. 2020, section 2.1, and the bucket rule of the code published with it.
    """

    def __init__(self, n_heads: int, *, buckets: int = 32, max_distance: int = 128, bidirectional: bool = False):
        super().__init__()
        check_numbers("T5Bias", least=1, whole=True, n_heads=n_heads, max_distance=max_distance)
        check_numbers("T5Bias", whole=True, buckets=buckets)
        if buckets < 4 or buckets % 4:
            raise ValueError(f"T5Bias: buckets={buckets}, expected a multiple of 4")
        if max_distance <= buckets:
            raise ValueError(f"T5Bias: max_distance={max_distance} must exceed buckets={buckets}")
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional
        self.table = nn.Embedding(buckets, n_heads)

    def forward(
        self,
        T: int,
        S: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Tensor:
        """Device and dtype are those of the table unless given."""
        distance = _distances(T, S, device or self.table.weight.device)
        bias = self.table(self.bucket(distance))  # (T, S) -> (T, S, H)
        return bias.permute(2, 0, 1).unsqueeze(0).to(dtype or bias.dtype)  # (T, S, H) -> (1, H, T, S)

    def bucket(self, distance: Tensor) -> Tensor:
        """Bucket of each distance key − query (any shape)."""
        buckets, offset = self.buckets, 0
        if self.bidirectional:
            buckets //= 2
            offset = (distance > 0) * buckets
            distance = distance.abs()
        else:
            distance = (-distance).clamp(min=0)
        exact = buckets // 2
        ratio = torch.log(distance.clamp(min=1) / exact) / math.log(self.max_distance / exact)
        far = (exact + (ratio * (buckets - exact)).long()).clamp(max=buckets - 1)
        return offset + torch.where(distance < exact, distance, far)


class ALiBi(nn.Module):
    """−slope_h · |query − key|, added to the scores; nothing is learned: forward(T, S) -> (1, H, T, S).

    Nothing is stored either: the slopes are computed in each call, on the given device and in the given dtype.

    Slopes 2^(−8/H), 2^(−16/H) … if H is a power of two. Otherwise, as in the code published with the paper: those of
    the next smaller power of two, then every second one of the next larger. Source: Press et al. 2022, section 3.
    """

    def __init__(self, n_heads: int):
        super().__init__()
        check_numbers("ALiBi", least=1, whole=True, n_heads=n_heads)
        self.slopes = _alibi_slopes(n_heads)  # no buffer, which `to_empty` would lose

    def forward(
        self,
        T: int,
        S: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        slopes = torch.tensor(self.slopes, device=device, dtype=dtype)
        distance = _distances(T, S, device).abs()
        return (-slopes[:, None, None] * distance).unsqueeze(0)  # (H, 1, 1) * (T, S) -> (1, H, T, S)


def _frequencies(dim: int, base: float, device: torch.device, dtype: torch.dtype) -> Tensor:
    """ω_i = base^(−2i/dim), (dim/2,)."""
    _check_even(dim)
    check_numbers("positions", above=0, base=base)
    return base ** (-torch.arange(0, dim, 2, device=device, dtype=dtype) / dim)


def _angles(
    positions: Tensor, dim: int, base: float, dtype: torch.dtype, stretch: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """position · ω_i, (…, dim/2), in float32 or better."""
    check_tensors("positions", positions=(positions, "…"))
    dtype = torch.promote_types(dtype, torch.float32)
    frequencies = _frequencies(dim, base, positions.device, dtype)
    return positions.to(dtype).unsqueeze(-1) * (frequencies if stretch is None else stretch(frequencies))


def _halves(a: Tensor, b: Tensor) -> Tensor:
    """Pairs (a_i, b_i) side by side as halves: (…, K/2) twice -> (…, K)."""
    return torch.cat([a, b], dim=-1)


def _other_half(x: Tensor) -> Tensor:
    return x.roll(x.shape[-1] // 2, dims=-1)


def _neighbours(a: Tensor, b: Tensor) -> Tensor:
    """Pairs (a_i, b_i) as neighbours: (…, K/2) twice -> (…, K)."""
    return torch.stack([a, b], dim=-1).flatten(-2)


def _neighbour(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def _distances(T: int, S: int, device: torch.device | str | None) -> Tensor:
    """key − query, (T, S); the queries are the last T of the S positions."""
    check_numbers("position bias", whole=True, T=T, S=S)
    if not 0 < T <= S:
        raise ValueError(f"position bias: {T} query positions, {S} key positions; queries are the last: 0 < T <= S")
    key = torch.arange(S, device=device)
    return key[None, :] - key[S - T :, None]


def _alibi_slopes(n_heads: int) -> list[float]:
    power = 2 ** math.floor(math.log2(n_heads))
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    between = [2 ** (-4 * (h + 1) / power) for h in range(0, 2 * power, 2)]
    return slopes + between[: n_heads - power]


def _check_even(dim: int) -> None:
    check_numbers("positions", whole=True, dim=dim)
    if dim < 2 or dim % 2:
        raise ValueError(f"positions: dim={dim}, but sines and cosines come in pairs: an even number is needed")
