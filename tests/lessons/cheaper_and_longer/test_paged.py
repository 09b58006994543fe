"""The cache in pages: no block is lost or has two contents, and attention over pages is attention."""

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from parity import K, normal, properties
from tx_helpers.lessons.cheaper_and_longer.paged import BlockAllocator, PagedCache, reserved_waste
from wrong_arguments import faults

N, SIZE, G, H = 7, 3, 2, 6


def positions(T: int, seed: int = 0):
    return normal(G, T, K, seed=seed), normal(G, T, K, seed=seed + 1)


def cache(n_blocks: int = N) -> PagedCache:
    return PagedCache(n_blocks, SIZE, G, K, dtype=torch.float64)


class PagesAgainstPlainTensors(RuleBasedStateMachine):
    """Sequences start, grow, fork and end in any order; beside them, each is kept as one plain tensor."""

    def __init__(self):
        super().__init__()
        self.cache, self.plain, self.seed = cache(), {}, 0

    @rule()
    def start(self):
        self.plain[self.cache.start()] = positions(0)

    @precondition(lambda self: self.plain)
    @rule(data=st.data(), T=st.integers(0, 2 * SIZE + 1))
    def append(self, data, T):
        sequence = data.draw(st.sampled_from(sorted(self.plain)))
        self.seed += 2
        new = positions(T, self.seed)
        before = (
            self.cache.allocator.free,
            dict(self.cache.lengths),
            {s: list(t) for s, t in self.cache.tables.items()},
        )
        try:
            self.cache.append(sequence, *new)
        except ValueError as error:
            assert "more blocks, but" in str(error)
            after = (self.cache.allocator.free, self.cache.lengths, self.cache.tables)
            assert before == after
        else:
            pairs = zip(self.plain[sequence], new, strict=True)
            self.plain[sequence] = tuple(torch.cat(pair, dim=1) for pair in pairs)

    @precondition(lambda self: self.plain)
    @rule(data=st.data())
    def fork(self, data):
        sequence = data.draw(st.sampled_from(sorted(self.plain)))
        self.plain[self.cache.fork(sequence)] = self.plain[sequence]

    @precondition(lambda self: self.plain)
    @rule(data=st.data())
    def free(self, data):
        sequence = data.draw(st.sampled_from(sorted(self.plain)))
        self.cache.free(sequence)
        del self.plain[sequence]

    @invariant()
    def every_sequence_holds_what_was_written(self):
        for sequence, (keys, values) in self.plain.items():
            pages = self.cache.pages(sequence)
            for i, right in enumerate((keys, values)):
                found = torch.cat([page[i] for page in pages] or [right[:, :0]], dim=1)
                assert torch.equal(found, right)

    @invariant()
    def no_block_is_lost_or_taken_twice(self):
        tables = [block for table in self.cache.tables.values() for block in table]
        assert self.cache.allocator.owners == [tables.count(block) for block in range(N)]
        assert self.cache.allocator.free == N - len(set(tables))
        assert all(len(set(table)) == len(table) for table in self.cache.tables.values())

    @invariant()
    def at_most_one_block_of_each_is_not_full(self):
        for sequence, table in self.cache.tables.items():
            assert len(table) == -(-self.cache.lengths[sequence] // SIZE)


TestPages = PagesAgainstPlainTensors.TestCase
TestPages.settings = settings(properties, max_examples=20, stateful_step_count=20)


def test_a_shared_block_is_copied_when_it_is_written_into_and_only_then():
    pages = cache()
    prompt, more = positions(4), positions(1, seed=5)
    first = pages.start()
    pages.append(first, *prompt)
    assert pages.allocator.free == N - 2  # 3 + 1 positions
    second = pages.fork(first)
    assert pages.tables[second] == pages.tables[first] and pages.allocator.free == N - 2  # nothing is copied
    pages.append(second, *more)
    assert pages.tables[second][0] == pages.tables[first][0] and pages.tables[second][1] != pages.tables[first][1]
    assert pages.allocator.free == N - 3
    pages.append(first, *positions(1, seed=7))  # nobody else owns its last block now
    assert pages.allocator.free == N - 3
    third = pages.fork(first)
    pages.append(third, *positions(1, seed=8))  # fills the last block's third place, after a copy
    fourth = pages.fork(third)
    pages.append(fourth, *positions(1, seed=9))  # the last block is full: a new one, and no copy
    assert pages.tables[fourth][:2] == pages.tables[third]
    for sequence in (first, second, third, fourth):
        pages.free(sequence)
    assert pages.allocator.free == N


def test_waste_is_measured_against_a_cache_that_reserves():
    pages, lengths = cache(20), [1, 3, 7, 12]
    assert pages.waste == 0
    for length in lengths:
        pages.append(pages.start(), *positions(length))
    assert pages.waste == pytest.approx(1 - 23 / (3 * (1 + 1 + 3 + 4)))
    assert reserved_waste(lengths, 12) == pytest.approx(1 - 23 / 48)
    last = pages.fork(2)  # shares all its blocks: neither more places nor more waste
    assert pages.waste == pytest.approx(1 - 23 / 27)
    pages.append(last, *positions(1))
    assert pages.waste == pytest.approx(1 - 25 / 30)  # its own third block now, with two positions


def test_the_allocator_refuses():
    allocator = BlockAllocator(2)
    first, second = allocator.take(), allocator.take()
    assert {first, second} == {0, 1} and allocator.free == 0
    with pytest.raises(ValueError, match="BlockAllocator: no block is free, all 2 are taken"):
        allocator.take()
    allocator.share(first)
    allocator.release(first)
    assert allocator.free == 0
    allocator.release(first)
    for call in (allocator.release, allocator.share):
        with pytest.raises(ValueError, match=f"BlockAllocator: block {first} is free, expected one that is taken"):
            call(first)
    assert allocator.take() == first


def test_wrong_arguments():
    assert faults(BlockAllocator, dict(n_blocks=3)) == []
    assert faults(PagedCache, dict(n_blocks=3, block_size=2, n_kv_heads=2, d_head=4)) == []
    pages = cache(1000)
    sequence = pages.start()
    keys, values = positions(4)
    assert faults(pages.append, dict(sequence=sequence, keys=keys, values=values)) == []
    assert faults(pages.fork, dict(sequence=sequence)) == []
    assert faults(pages.pages, dict(sequence=sequence)) == []
    assert faults(reserved_waste, dict(lengths=[1, 3], longest=5)) == []
    with pytest.raises(ValueError, match=r"PagedCache: no sequence 99, expected one of \["):
        pages.free(99)
