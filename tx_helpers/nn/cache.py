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


class WindowCache(KVCache):
    """A `KVCache` for a layer with a window: it drops positions that no later query will see.

    A position that the newest query of no row sees is closed for ever: it is outside the window, and neither one of the
    first tokens that stay open (attention sinks) nor anything else. Closed positions are dropped once `spare` of them
    have gathered. The last window + spare positions always stay, so that the last `spare` can be taken back.
    """

    def __init__(self, window: int, *, spare: int = 32):
        check_numbers("WindowCache", least=1, whole=True, window=window, spare=spare)
        super().__init__()
        self.window, self.spare = window, spare
        self._total = 0  # all positions so far, with the dropped ones
        self._held: Tensor | None = None  # (n,) the numbers of those that are kept, in order
        self._whole_from = 0  # from this position on, none was dropped

    def __len__(self) -> int:
        return self._total

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions (B, G, T, K) at the end. Returns the keys and values of all that are kept."""
        new = torch.arange(self._total, self._total + keys.shape[-2], device=keys.device)
        both = super().append(keys, values)
        self._held = new if self._held is None else torch.cat([self._held, new])
        self._total += len(new)
        return both

    def columns(self, scores: Tensor | None) -> Tensor | None:
        """Of a mask or a bias (…, T, S) for all positions, the columns of those that are kept: (…, T, n)."""
        return scores if scores is None or self._length == self._total else scores[..., self._held]

    def drop(self, mask: Tensor | None) -> None:
        """Drop what the newest queries do not see: mask (…, T, n), as `columns` gives it."""
        if mask is None or self._length <= self.window + 2 * self.spare:
            return
        start = self._total - self.window - self.spare
        kept = (self._held >= start) | mask[..., -1, :].reshape(-1, self._length).any(dim=0)
        self._room = self.keys[..., kept, :], self.values[..., kept, :]
        self._held, self._whole_from = self._held[kept], start
        self._length = len(self._held)

    def rewind(self, length: int) -> None:
        """Forget all positions from `length` on: at least the last `spare`, and no more where too much was dropped."""
        check_numbers("WindowCache.rewind", least=0, most=len(self), whole=True, length=length)
        first = max(0, length - self.window + 1)  # that the next query sees
        if length > 0 and first < self._whole_from:
            raise ValueError(
                f"WindowCache.rewind: length={length} needs the positions from {first} on, but those before "
                f"{self._whole_from} were dropped; expected at least {self._whole_from + self.window - 1}, or 0"
            )
        self._held = None if self._held is None else self._held[self._held < length]
        self._length, self._total = (0, 0) if self._held is None else (len(self._held), length)
        if length == 0:
            self._whole_from = 0


class StateCache:
    """The state of one recurrent layer after all positions so far: a named tuple of tensors, the batch in front."""

    def __init__(self):
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

    def rewind(self, length: int) -> None:
        """Forget everything: a recurrent layer cannot go back to an earlier state, which it has not kept."""
        check_numbers("StateCache.rewind", least=0, most=len(self), whole=True, length=length)
        if length == 0:
            self.state, self._length = None, 0
        elif length != len(self):
            raise ValueError(
                f"StateCache.rewind: length={length}, but a recurrent state cannot go back; expected 0 or {len(self)}"
            )


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
