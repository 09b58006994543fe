"""What a layer keeps of earlier positions, so that a decoding step computes only the new one.

    cache = KVCache()
    k, v = cache.append(k_new, v_new)     # all positions so far, the new ones last

`WindowCache` drops the positions that a window has left behind. `StateCache` holds the state of a recurrent layer,
whose size does not depend on the length.

Shapes: (B, G, S, K): rows, key–value heads, positions, width of a head.
"""

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers


class KVCache:
    """The keys and values that one attention layer has computed so far, (B, G, S, K) each; empty at first.

    The tensors have room to spare and are doubled when full, so that a step need not copy all earlier positions.
    """

    def __init__(self) -> None:
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
        end = self._length + keys.shape[-2]
        if self._room is not None:
            known_keys, known_values = self._room
            if keys.shape[0] != known_keys.shape[0]:
                raise ValueError(f"KVCache: {len(keys)} rows, but it holds {len(known_keys)}")
            keys, values = _write(known_keys, keys, self._length), _write(known_values, values, self._length)
        self._room, self._length = (keys, values), end
        return keys[..., :end, :], values[..., :end, :]

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        if self._room is not None:
            self._room = self._room[0][rows], self._room[1][rows]

    def columns(self, scores: Tensor | None) -> Tensor | None:
        """Of a mask or a bias (…, T, S) for all positions so far, the columns of those that are kept: all of them."""
        return scores

    def check_rewind(self, length: int) -> None:
        """Raise ValueError where `rewind` is not possible; nothing is changed."""
        check_numbers("KVCache.rewind", least=0, most=len(self), whole=True, length=length)

    def rewind(self, length: int) -> None:
        """Forget all positions from `length` on."""
        self.check_rewind(length)
        self._length = length


class WindowCache(KVCache):
    """A `KVCache` for a layer with a window: it drops positions that no later query will see.

    Positions that the window has left behind are dropped once `spare` of them have gathered. The last window + spare
    always stay, so that the last `spare` can be taken back.
    """

    def __init__(self, window: int, *, spare: int = 32):
        check_numbers("WindowCache", least=1, whole=True, window=window, spare=spare)
        super().__init__()
        self.window, self.spare = window, spare
        self._dropped = 0  # how many positions at the beginning are no longer kept

    def __len__(self) -> int:
        return self._dropped + self._length

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions (B, G, T, K) at the end. Returns the keys and values of all that are kept."""
        leave = self._length - self.window - self.spare
        if self._room is not None and leave > self.spare:
            kept = slice(leave, self._length)
            self._room = self._room[0][..., kept, :].clone(), self._room[1][..., kept, :].clone()
            self._dropped, self._length = self._dropped + leave, self._length - leave
        return super().append(keys, values)

    def columns(self, scores: Tensor | None) -> Tensor | None:
        return scores if scores is None else scores[..., self._dropped :]

    def check_rewind(self, length: int) -> None:
        """At least the last `spare` can be forgotten, and no more where too much was dropped."""
        check_numbers("WindowCache.rewind", least=0, most=len(self), whole=True, length=length)
        first = max(0, length - self.window + 1)  # that the next query sees
        if length > 0 and first < self._dropped:
            raise ValueError(
                f"WindowCache.rewind: length={length} needs the positions from {first} on, but those before "
                f"{self._dropped} were dropped; expected at least {self._dropped + self.window - 1}, or 0"
            )

    def rewind(self, length: int) -> None:
        self.check_rewind(length)
        self._dropped = self._dropped if length else 0
        self._length = length - self._dropped


class StateCache:
    """The state of one recurrent layer after all positions so far: a named tuple of tensors, the batch in front."""

    def __init__(self) -> None:
        self.state: tuple[Tensor, ...] | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def update(self, state: tuple[Tensor, ...], positions: int) -> None:
        """The state after `positions` more positions."""
        self.state, self._length = state, self._length + positions

    def select(self, rows: Tensor) -> None:
        """Select, repeat or reorder the rows of the batch: rows (N,) of indices."""
        if self.state is not None:
            self.state = type(self.state)(*(part[rows] for part in self.state))

    def check_rewind(self, length: int) -> None:
        """A recurrent layer cannot go back to an earlier state, which it has not kept."""
        check_numbers("StateCache.rewind", least=0, most=len(self), whole=True, length=length)
        if length not in (0, len(self)):
            raise ValueError(
                f"StateCache.rewind: length={length}, but a recurrent state cannot go back; expected 0 or {len(self)}"
            )

    def rewind(self, length: int) -> None:
        """Forget everything, or nothing."""
        self.check_rewind(length)
        if length == 0:
            self.state, self._length = None, 0


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
