"""The cache in pages: keys and values in blocks of a few positions, which sequences take, share and give back.

    a sequence = a table of block numbers and a length;  position t stands in block table[t // size], at t mod size

A cache that reserves the longest possible length for every sequence wastes most of its memory. In pages, a sequence
takes a block only when the one before is full, so at most one block of each is not full. Sequences that begin alike
share the blocks of their beginning: each block counts its owners, and one who writes into a shared block gets a copy
first. Source: Kwon et al. 2023 (vLLM, PagedAttention), sections 4.1 to 4.4.

Shapes: pages of keys and of values (N, G, size, K) for N blocks; new keys and values (G, T, K); queries (H, T, K).
"""

import math

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types


class BlockAllocator:
    """Numbers of blocks that are taken, shared and given back; a block with no owner is free."""

    def __init__(self, n_blocks: int):
        check_numbers("BlockAllocator", least=1, whole=True, n_blocks=n_blocks)
        self.owners = [0] * n_blocks
        self._free = list(reversed(range(n_blocks)))

    @property
    def free(self) -> int:
        """How many blocks are free."""
        return len(self._free)

    def take(self) -> int:
        """A free block, with one owner from now on."""
        if not self._free:
            raise ValueError(
                f"BlockAllocator: no block is free, all {len(self.owners)} are taken; release one, or make more"
            )
        block = self._free.pop()
        self.owners[block] = 1
        return block

    def share(self, block: int) -> None:
        """One more owner of a block that is taken."""
        self._check_taken(block)
        self.owners[block] += 1

    def release(self, block: int) -> None:
        """One owner less; without any the block is free."""
        self._check_taken(block)
        self.owners[block] -= 1
        if not self.owners[block]:
            self._free.append(block)

    def _check_taken(self, block: int) -> None:
        check_numbers("BlockAllocator", least=0, less_than=len(self.owners), whole=True, block=block)
        if not self.owners[block]:
            raise ValueError(f"BlockAllocator: block {block} is free, expected one that is taken")


class PagedCache:
    """Keys and values of many sequences, of one layer, in `n_blocks` blocks of `block_size` positions."""

    def __init__(
        self, n_blocks: int, block_size: int, n_kv_heads: int, d_head: int, dtype: torch.dtype = torch.float32
    ):
        sizes = dict(block_size=block_size, n_kv_heads=n_kv_heads, d_head=d_head)
        check_numbers("PagedCache", sizes, least=1, whole=True)
        self.allocator, self.block_size = BlockAllocator(n_blocks), block_size
        self.keys = torch.zeros(n_blocks, n_kv_heads, block_size, d_head, dtype=dtype)
        self.values = torch.zeros_like(self.keys)
        self.tables: dict[int, list[int]] = {}  # sequence -> its blocks
        self.lengths: dict[int, int] = {}  # sequence -> its positions
        self._next = 0

    def start(self) -> int:
        """A new, empty sequence. Returns its number."""
        return self._add([], 0)

    def fork(self, sequence: int) -> int:
        """A second sequence with the same positions so far, in the same blocks. Returns its number."""
        self._check(sequence)
        for block in self.tables[sequence]:
            self.allocator.share(block)
        return self._add(list(self.tables[sequence]), self.lengths[sequence])

    def free(self, sequence: int) -> None:
        """Give back all blocks of a sequence; those that it shares stay with the others."""
        self._check(sequence)
        for block in self.tables.pop(sequence):
            self.allocator.release(block)
        del self.lengths[sequence]

    def append(self, sequence: int, keys: Tensor, values: Tensor) -> None:
        """Write new positions (G, T, K) at the end of a sequence. If the blocks do not suffice, nothing changes."""
        self._check(sequence)
        _, G, _, K = self.keys.shape
        check_tensors("PagedCache", keys=(keys, f"float {G} T {K}"))
        check_tensors("PagedCache", values=(values, f"float {G} {keys.shape[1]} {K}"))
        self._make_room(sequence, keys.shape[1])
        for t in range(keys.shape[1]):
            block, place = divmod(self.lengths[sequence] + t, self.block_size)
            block = self.tables[sequence][block]
            self.keys[block, :, place] = keys[:, t]
            self.values[block, :, place] = values[:, t]
        self.lengths[sequence] += keys.shape[1]

    def pages(self, sequence: int) -> list[tuple[Tensor, Tensor]]:
        """The keys and values of a sequence, block by block, (G, up to block_size, K): views, nothing is copied."""
        self._check(sequence)
        length = self.lengths[sequence]
        filled = [min(self.block_size, length - start) for start in range(0, length, self.block_size)]
        blocks = self.tables[sequence]
        return [(self.keys[i, :, :n], self.values[i, :, :n]) for i, n in zip(blocks, filled, strict=True)]

    @property
    def waste(self) -> float:
        """The share of the taken places that hold no position: 0 if none is taken."""
        filled = {}  # block -> places; of a shared block the most that an owner uses
        for sequence, table in self.tables.items():
            for i, block in enumerate(table):
                used = min(self.block_size, self.lengths[sequence] - i * self.block_size)
                filled[block] = max(used, filled.get(block, 0))
        return 1 - sum(filled.values()) / (len(filled) * self.block_size) if filled else 0.0

    def _make_room(self, sequence: int, new: int) -> None:
        """Copy the last block if it is shared and will be written into; take as many more as are needed."""
        table, length = self.tables[sequence], self.lengths[sequence]
        copies = new > 0 and length % self.block_size > 0 and self.allocator.owners[table[-1]] > 1
        more = math.ceil((length + new) / self.block_size) - len(table)
        if more + copies > self.allocator.free:
            free = self.allocator.free
            raise ValueError(f"PagedCache: {new} positions need {more + copies} more blocks, but {free} are free")
        if copies:  # copy on write
            shared, table[-1] = table[-1], self.allocator.take()
            self.keys[table[-1]], self.values[table[-1]] = self.keys[shared], self.values[shared]
            self.allocator.release(shared)
        table += [self.allocator.take() for _ in range(more)]

    def _add(self, table: list[int], length: int) -> int:
        sequence, self._next = self._next, self._next + 1
        self.tables[sequence], self.lengths[sequence] = table, length
        return sequence

    def _check(self, sequence: int) -> None:
        check_numbers("PagedCache", least=0, whole=True, sequence=sequence)
        if sequence not in self.tables:
            raise ValueError(f"PagedCache: no sequence {sequence}, expected one of {list(self.tables)}")


def reserved_waste(lengths: list[int], longest: int) -> float:
    """The wasted share of a cache that reserves `longest` positions for each sequence of these lengths."""
    check_numbers("reserved_waste", least=1, whole=True, longest=longest)
    check_types("reserved_waste", list, lengths=lengths)
    for length in lengths:
        check_numbers("reserved_waste", least=0, most=longest, whole=True, length=length)
    return 1 - sum(lengths) / (len(lengths) * longest)
