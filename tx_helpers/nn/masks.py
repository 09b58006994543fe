"""Masks: which positions may attend to which.

Every mask here is boolean and **True means "may attend"**, broadcastable to (B, H, T, S): B batch, H heads,
T query positions, S key positions. PyTorch has other conventions: in `nn.MultiheadAttention` True means the opposite,
and `is_causal` of its kernel aligns queries and keys at the first position, which is wrong for a chunk after a cache
(S > T). Ours aligns them at the last position: the last query sees every key.
"""

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_tensors, described


def causal_mask(T: int, S: int | None = None, *, device: torch.device | str | None = None) -> Tensor:
    """No query sees the future: query t may attend to key s where s <= t + (S - T).

    Shape (T, S); S defaults to T. With S > T the queries are the last T of S positions, as in decoding with a cache.
    Source: Vaswani et al. 2017, section 3.2.3.
    """
    query, key = _positions(T, S, device)
    return key <= query


def sliding_window_mask(
    T: int, S: int | None = None, *, window: int, device: torch.device | str | None = None
) -> Tensor:
    """Causal, and limited to the last `window` positions, the query's own included. Shape (T, S).

    Source: Beltagy et al. 2020 (Longformer), section 3.1; used causally by Jiang et al. 2023 (Mistral 7B).
    """
    check_numbers("sliding_window_mask", least=1, whole=True, window=window)  # 1: a query sees itself alone
    query, key = _positions(T, S, device)
    return (key <= query) & (key > query - window)


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """No query sees padding: ids (B, S) -> mask (B, 1, 1, S), True at real tokens."""
    check_tensors("padding_mask", ids=(ids, "int B S"))
    check_numbers("padding_mask", whole=True, pad_id=pad_id)
    return (ids != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """True where all masks are True. None means "no restriction"; the result is None if all masks are."""
    combined = None
    for mask in masks:
        if mask is None:
            continue
        _check_boolean("combine_masks", mask)
        if combined is not None:
            _check_broadcast(combined, mask)
        combined = mask if combined is None else combined & mask
    return combined


def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The mask as a term to be added to the scores: 0 where a query may attend, −∞ where it may not. Same shape."""
    _check_boolean("additive_mask", mask)
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, float("-inf"))


def _positions(T: int, S: int | None, device: torch.device | str | None) -> tuple[Tensor, Tensor]:
    """Absolute positions of the queries (T, 1) and of the keys (1, S). The last query is at the last key."""
    S = T if S is None else S
    check_numbers("mask", whole=True, T=T, S=S)
    if not 0 < T <= S:
        raise ValueError(f"mask: {T} query positions, {S} key positions; queries are the last of the keys: 0 < T <= S")
    key = torch.arange(S, device=device)
    return key[S - T :, None], key[None, :]


def _check_boolean(operation: str, mask: Tensor) -> None:
    if not isinstance(mask, Tensor):
        raise ValueError(f"{operation}: a mask is {described(mask)}, expected a tensor of torch.bool")
    if mask.dtype != torch.bool:
        raise ValueError(f"{operation}: a mask of {mask.dtype}, expected torch.bool with True = may attend")


def _check_broadcast(one: Tensor, other: Tensor) -> None:
    try:
        torch.broadcast_shapes(one.shape, other.shape)
    except RuntimeError:
        shapes = f"{tuple(one.shape)} and {tuple(other.shape)}"
        raise ValueError(f"combine_masks: masks of shape {shapes} do not broadcast to one (B, H, T, S)") from None
