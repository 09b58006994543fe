"""The keys and values of earlier positions, stored so that a decoding step computes only those of the new one.

    cache = KVCache()
    k, v = cache.append(k_new, v_new)     # all positions so far, the new ones last

Shapes: (B, G, S, K): rows, key–value heads, positions, width of a head.
"""

import torch
from torch import Tensor

from tx_helpers.arguments import check_numbers


class KVCache:
    """The keys and values that one attention layer has computed so far, (B, G, S, K) each; empty at first.

    The tensors have room to spare and are doubled when full, so that a step need not copy all earlier positions.
    """

    def __init__(self):
        self._room: tuple[Tensor, Tensor] | None = None  # keys and values, (B, G, room, K)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def keys(self) -> Tensor | None:
        return None if self._room is None else self._room[0][..., : self._length, :]

    @property
    def values(self) -> Tensor | None:
        return None if self._room is None else self._room[1][..., : self._length, :]

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions (B, G, T, K) at the end. Returns all keys and all values."""
        if self._room is None:
            self._room = keys, values
        else:
            known_keys, known_values = self._room
            if len(keys) != len(known_keys):
                raise ValueError(f"KVCache: {len(keys)} rows, but it holds {len(known_keys)}")
            self._room = _write(known_keys, keys, self._length), _write(known_values, values, self._length)
        self._length += keys.shape[-2]
        return self.keys, self.values

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        if self._room is not None:
            self._room = self._room[0][rows], self._room[1][rows]

    def rewind(self, length: int) -> None:
        """Forget all positions from `length` on."""
        check_numbers("KVCache.rewind", least=0, most=len(self), whole=True, length=length)
        self._length = length


def _write(room: Tensor, new: Tensor, start: int) -> Tensor:
    """Write `new` (B, G, T, K) into `room` (B, G, R, K) at `start`. Returns `room`, or a larger copy if it is full."""
    end = start + new.shape[-2]
    if torch.is_grad_enabled():  # autograd may need the old values, so nothing is overwritten
        return torch.cat([room[..., :start, :], new], dim=-2)
    if end > room.shape[-2]:
        wider = room.new_empty(*room.shape[:-2], 2 * end, room.shape[-1])
        wider[..., :start, :] = room[..., :start, :]
        room = wider
    room[..., start:end, :] = new
    return room
