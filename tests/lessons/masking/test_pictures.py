"""Drawings of masks: their cells, their paths, and what their alt texts say."""

import pytest
import torch

from tx_helpers.lessons.masking.leaks import reach
from tx_helpers.lessons.masking.pictures import fans, mask_tables, on_a_path, passes
from tx_helpers.nn.masks import causal_mask, sliding_window_mask


def test_a_table_has_a_sign_in_each_allowed_cell():
    picture = mask_tables({"causal": (causal_mask(3), ["a", "b", "c"], ["a", "b", "c"])}, alt="More.")
    assert picture.svg.count("✓") == 6 and picture.svg.count("h25v25h-25z") == 9
    assert picture.alt == "Tables of masks. causal: 6 of 9 cells allowed. More."
    with pytest.raises(ValueError, match="mask_tables"):
        mask_tables({"causal": (causal_mask(3), ["a", "b"], ["a", "b", "c"])})


def test_many_passes_read_every_prefix_and_one_pass_each_word_once():
    picture = passes(["<bos>", "vier", "hundert"], ["vier", "hundert", "<eos>"])
    assert "together they read 6 words" in picture.alt and "1 + 2 + 3 = 6 words read, 3 answers" in picture.svg
    assert picture.svg.count("&lt;bos&gt;") == 4 and picture.svg.count("&lt;eos&gt;") == 2
    assert picture.svg.count('stroke-width="1.2"') + picture.svg.count('stroke-width="2.6"') == 6


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("output", [0, 5, 7])
def test_the_points_on_a_path_are_those_that_powers_of_the_mask_find(depth, output):
    mask = sliding_window_mask(8, window=3)
    levels = on_a_path(mask, depth, output)
    assert len(levels) == depth + 1
    for level, reached in enumerate(levels):
        assert torch.equal(reached, reach(mask, depth - level)[output])


def test_a_fan_says_which_inputs_reach_the_output():
    picture = fans({"window of 3": (sliding_window_mask(8, window=3), 2, 7), "causal": (causal_mask(8), 1, 2)})
    assert "window of 3: paths lead to output 7 from inputs 3, 4, 5, 6, 7; causal: " in picture.alt
    assert picture.alt.endswith("from inputs 0, 1, 2.")
    assert picture.svg.count('r="12"') == 2 and picture.svg.count('r="8"') == 24 + 16
