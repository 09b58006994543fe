"""Which positions may look at which.

Every mask here is boolean and **True means "may attend"**, broadcastable to (B, H, T, S): B batch, H heads,
T query positions, S key positions. Beware of the neighbours' conventions: in `nn.MultiheadAttention` True means the
opposite, and `is_causal` of PyTorch's kernel is aligned top-left, which is wrong for a cached chunk (S > T). Ours is
aligned bottom-right: the last query sees every key.
"""

import torch
from torch import Tensor


def causal_mask(T: int, S: int | None = None, *, device: torch.device | str | None = None) -> Tensor:
    """No look into the future: query t may attend to key s where s <= t + (S - T).

    Shape (T, S); S defaults to T. With S > T the queries are the last T of S positions, as in decoding with a cache.
    Source: Vaswani et al. 2017, section 3.2.3.
    """
    query, key = _positions(T, S, device)
    return key <= query


def sliding_window_mask(
    T: int, S: int | None = None, *, window: int, device: torch.device | str | None = None
) -> Tensor:
    """Causal, and no further back than `window` positions, the query's own included. Shape (T, S).

    Source: Beltagy et al. 2020 (Longformer), section 3.1; used causally by Jiang et al. 2023 (Mistral 7B).
    """
    if window < 1:
        raise ValueError(f"sliding_window_mask: window={window}, but a query sees at least itself: window >= 1")
    query, key = _positions(T, S, device)
    return (key <= query) & (key > query - window)


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """No look at padding: ids (B, S) -> mask (B, 1, 1, S), True at real tokens."""
    if ids.dim() != 2:
        raise ValueError(f"padding_mask: ids of shape {tuple(ids.shape)}, expected (B, S)")
    return (ids != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """What every mask allows; None stands for "no restriction", and so does the result if all are None."""
    combined = None
    for mask in masks:
        if mask is None:
            continue
        if mask.dtype != torch.bool:
            raise ValueError(f"combine_masks: a mask of {mask.dtype}, expected torch.bool with True = may attend")
        if combined is not None:
            _check_broadcast(combined, mask)
        combined = mask if combined is None else combined & mask
    return combined


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The mask as a term of the scores: 0 where a query may attend, −∞ where it may not. Same shape."""
    if mask.dtype != torch.bool:
        raise ValueError(f"additive_mask: a mask of {mask.dtype}, expected torch.bool with True = may attend")
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))


def _positions(T: int, S: int | None, device) -> tuple[Tensor, Tensor]:
    """Absolute positions of the queries (T, 1) and of the keys (1, S), the last of both being the same."""
    S = T if S is None else S
    if not 0 < T <= S:
        raise ValueError(f"mask: {T} query positions, {S} key positions; queries are the last of the keys: 0 < T <= S")
    key = torch.arange(S, device=device)
    return key[S - T :, None], key[None, :]


def _check_broadcast(one: Tensor, other: Tensor) -> None:
    try:
        torch.broadcast_shapes(one.shape, other.shape)
    except RuntimeError:
        shapes = f"{tuple(one.shape)} and {tuple(other.shape)}"
        raise ValueError(f"combine_masks: masks of shape {shapes} do not broadcast to one (B, H, T, S)") from None
