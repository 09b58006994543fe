"""FlashAttention tile by tile: the walk's counts end at the formula's, and the words say them."""

import pytest

from tx_helpers.lessons.cheaper_and_longer.tiles import SIZES, K, T, draw_tiles, tiles_explorer, walk
from tx_helpers.zoo.parts.flash import Blocks, flash_cost


@pytest.mark.parametrize("size", SIZES)
def test_the_walk_ends_at_the_formula_and_meets_each_tile_once(size):
    steps = range(1, (T // size) ** 2 + 1)
    assert walk(size, steps[-1]).moved == flash_cost(T, T, K, Blocks(size, size)).moved
    tiles = [walk(size, step).tile for step in steps]
    assert sorted(tiles) == [(i, j) for i in range(T // size) for j in range(T // size)]
    assert walk(size, 0) == (None, 0, walk(size, 1).fast)


def test_the_explorer_says_what_was_moved_and_a_larger_block_has_fewer_tiles():
    explorer = tiles_explorer()
    explorer.set(step=16)
    assert explorer.summary == (
        "Tile 16 of 16 (queries 4, keys 4), blocks of 16: 15,360 numbers moved, in the end 15,360; written out 20,480. "
        "Fast memory holds 1,312 numbers, the whole table has 4,096."
    )
    explorer.set(size=32)
    assert explorer.controls["step"].max == 4
    assert explorer.summary.startswith("Tile 4 of 4 (queries 2, keys 2), blocks of 32: 8,704 numbers moved")
    assert 'data-sets="step=3"' in draw_tiles(32, 0).svg


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="size=8"):
        walk(8, 0)
    with pytest.raises(ValueError, match="step=17"):
        walk(16, 17)
