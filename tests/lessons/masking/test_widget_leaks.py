"""The view of leaks: the Jacobian against finite differences, the paths against a search, maskings against loops."""

import re

import pytest
import torch
from torch import nn

from tx_helpers.lessons.masking.leaks import (
    RIGHT,
    TINY,
    WRONG,
    T,
    attention_by,
    draw,
    influence,
    influence_map,
    influence_maps,
    leak,
    leak_explorer,
    masked_softmax,
    reach,
    stack,
    through,
)
from tx_helpers.nn.masks import causal_mask, sliding_window_mask
from tx_helpers.show.charts import side_by_side

EVERY = torch.ones(T, T, dtype=torch.bool)
MASK_OF = {  # those that are a mask at all
    "causal": causal_mask(T),
    "window of 3": sliding_window_mask(T, window=3),
    "none, as in an encoder": EVERY,
    "two texts in one row": torch.block_diag(EVERY[:4, :4], EVERY[4:, 4:]).bool().tril(),
    "prefix of 3": EVERY.tril() | (torch.arange(T) < 3),
    "no mask": EVERY,
    "one too far": EVERY.tril(1),
    "transposed": EVERY.triu(),
    "inverted": EVERY.triu(1),
}


def scores(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


# ------------------------------------------------------------------------------------------------------------- compute


def test_influence_is_the_norm_of_each_block_of_the_jacobian():
    weight, x = scores(3, 4, 5, 2), scores(5, 2)  # out (3, 4), in (5, 2)
    found = influence(lambda x: torch.einsum("iajb,jb->ia", weight, x), x)
    torch.testing.assert_close(found, weight.square().sum(dim=(1, 3)).sqrt())


def test_influence_agrees_with_small_steps():
    run, x, step = through(stack(RIGHT["causal"], 1)), scores(T, 16), 1e-6
    found = influence(run, x)
    with torch.no_grad():
        for j in (0, 5):
            blocks = [(run(x + step * d) - run(x - step * d)) / (2 * step) for d in unit_steps(x, j)]
            torch.testing.assert_close(
                torch.stack(blocks).square().sum(dim=(0, 2)).sqrt(), found[:, j], atol=1e-7, rtol=1e-6
            )


def unit_steps(x: torch.Tensor, j: int) -> list[torch.Tensor]:
    steps = torch.zeros(x.shape[1], *x.shape, dtype=x.dtype)
    for number, step in enumerate(steps):
        step[j, number] = 1.0
    return list(steps)


def test_influence_says_what_it_expects():
    with pytest.raises(ValueError, match=r"the Jacobian is \(3, 2\), expected \(T, F, S, D\)"):
        influence(lambda x: x.sum(), torch.zeros(3, 2))


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_reach_is_what_a_search_finds(depth):
    mask = torch.rand(6, 6, generator=torch.Generator().manual_seed(3)) < 0.2
    for i in range(6):
        found = {i}
        for _ in range(depth):
            found |= {j for r in found for j in range(6) if mask[r, j]}
        assert set(reach(mask, depth)[i].nonzero().flatten().tolist()) == found


@pytest.mark.parametrize("name", MASK_OF)
def test_a_masking_is_the_softmax_under_its_mask(name):
    s = scores(2, T, T)
    torch.testing.assert_close((RIGHT | WRONG)[name](s), masked_softmax(s, MASK_OF[name]))


def test_the_other_maskings_cell_by_cell():
    s, causal = scores(T, T), causal_mask(T)
    plain, right = s.softmax(-1), masked_softmax(s, causal)
    late = torch.where(causal, plain, 0.0)
    expected = {
        "after the softmax": late,
        "after the softmax, rows divided by their sums": right,
        "scores multiplied by 0": torch.where(causal, s, 0.0).softmax(-1),
        "fill too weak, −10": torch.where(causal, s, -10.0).softmax(-1),
        "diagonal excluded, −1e9": torch.where(EVERY.tril(-1), s, -1e9).softmax(-1),
        "softmax over the queries": torch.where(causal, s.exp(), 0.0) / torch.where(causal, s.exp(), 0.0).sum(0),
    }
    assert {*expected, *MASK_OF} == {*RIGHT, *WRONG}
    for name, weights in expected.items():
        torch.testing.assert_close((RIGHT | WRONG)[name](s), weights, msg=name)


def test_an_empty_row_gets_zeros_or_with_a_finite_fill_equal_shares():
    s, nothing = scores(1, 4), torch.zeros(1, 4, dtype=torch.bool)
    assert masked_softmax(s, nothing).tolist() == [[0.0] * 4]
    assert masked_softmax(s, nothing, -1e9).tolist() == [[0.25] * 4]


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("name", MASK_OF)
def test_where_there_is_no_path_there_is_no_influence_and_the_other_way_round(name, depth):
    found = leak(name, depth)
    assert torch.equal(found.influence > TINY, reach(MASK_OF[name], depth))
    assert found.future == [(i, j) for i, j in reach(MASK_OF[name], depth).nonzero().tolist() if j > i]


@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_masking_leaks(name):
    assert leak(name, 1).future


def test_the_weights_are_those_the_first_block_used():
    blocks, x = (
        stack(RIGHT["causal"], 2),
        torch.randn(T, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1)),
    )
    used = []
    blocks[0].self_attention.attend = attention_by(lambda s: used.append(RIGHT["causal"](s)) or used[-1])
    with torch.no_grad():
        blocks(x[None])
    torch.testing.assert_close(leak("causal", 2).weights, used[0][0].mean(0))


def test_stacks_differ_in_their_masking_alone_and_leave_the_random_state():
    before = torch.random.get_rng_state()
    one, other = stack(RIGHT["causal"], 2), stack(WRONG["no mask"], 2)
    assert isinstance(one, nn.Sequential) and torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


# ---------------------------------------------------------------------------------------------------------------- draw


FRAME = 'd="M'  # only the frame is drawn as a path


def test_what_is_drawn(as_stored):
    """Leaks are orange, what is forbidden is framed; words, axes and scale; nothing is forbidden to an encoder."""
    seen = torch.tensor([[1.0, 1e-4, 0.0], [0.0625, 1.0, 0.0], [0.0, 0.0, 1.0]])
    names = ["<bos>", "vier", "hundert"]
    decoder = influence_map(seen, names, title="decoder", forbidden=~causal_mask(3))
    as_stored(
        maps=side_by_side([decoder, influence_map(seen, names, title="encoder")], alt="Two maps."),
        prefix=draw("prefix of 3", 2),
        far=draw("one too far", 1),
        encoder=draw(list(RIGHT)[3], 1),
    )


def test_several_maps_share_one_scale_and_each_has_its_frame():
    maps = {name: leak(name, 1).influence for name in ("one too far", "transposed", "inverted", "no mask")}
    svg = influence_maps(maps, forbidden=~causal_mask(T), alt="Four maps of influence.").svg
    assert all(f">{name}<" in svg for name in maps) and svg.count(">input<") == svg.count(">output<") == 4
    assert svg.count(FRAME) == 4 and svg.count(">0, none<") == svg.count(">leak<") == 1
    assert svg.count('<rect fill="#D55E00"') == 7 + 28 + 28 + 28 + 1  # those that leak, and one in the scale
    lefts, tops = zip(*re.findall(r"<g transform=.translate\((\d+),(\d+)\)", svg), strict=True)
    assert len(set(lefts)) == 3 and len(set(tops)) == 2


def test_the_words_name_outputs_and_inputs():
    assert "output 0 ← inputs 1, 2; output 1 ← inputs 2, 3;" in draw("one too far", 2).alt
    assert "output 0 ← inputs 1 … 4;" in draw("one too far", 4).alt
    assert "output 0 ← inputs 1 … 7. Rows of weights sum to 1.00." in draw("diagonal excluded, −1e9", 1).alt
    assert draw("after the softmax", 1).alt.endswith("Rows of weights sum to 0.14 … 1.00.")
    assert "all 28 later inputs come through, as it should be in an encoder" in draw(list(RIGHT)[3], 1).alt


# ---------------------------------------------------------------------------------------------------------------- bind


def test_the_explorer_shows_every_masking():
    explorer = leak_explorer()
    assert explorer.summary.startswith("causal, 1 block: no leak.")
    for name in [*RIGHT, *WRONG]:
        explorer.set(mask=name, blocks=2)
        assert explorer.summary.startswith(f"{name}, 2 blocks:") and not explorer.error
