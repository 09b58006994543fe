"""Charts and drawings of the notebook: the figures in them, and the words that tell them."""

import pytest
import torch
from torch import nn

from drawn import texts
from tx_helpers.lessons.decoding.beam_widths import widths_chart
from tx_helpers.lessons.decoding.filter_orders import after_rules, orders_drawing
from tx_helpers.lessons.decoding.many_samples import likeliest, majority, picks_chart, right_picks
from tx_helpers.lessons.decoding.own_cache import fastest, products_alone, same_weights, speed_chart, work_drawing
from tx_helpers.plain import GPT, Attention

DRAWN = [
    [("a", -3.0), ("b", -1.0), ("a", -3.0), ("c", -2.0)],
    [("x", -1.0), ("y", -2.0), ("z", -5.0), ("z", -5.0)],
]


def test_a_choice_among_samples():
    assert [majority(row) for row in DRAWN] == ["a", "z"]
    assert [likeliest(row) for row in DRAWN] == ["b", "x"]
    counts = right_picks(DRAWN, ["b", "z"], (1, 4))
    assert counts == {
        1: {"majority vote": 0, "likeliest of n": 0, "any of n": 0},
        4: {"majority vote": 1, "likeliest of n": 1, "any of n": 2},
    }
    assert picks_chart(counts, 2).alt == (
        "Right of 2 with 1, 4 texts for each number: majority vote 0, 1; likeliest of n 0, 1; any of n 0, 2."
    )


def test_an_order_of_rules():
    z = torch.tensor([0.5, 0.25, 0.15, 0.1]).log()
    k, p = {"top_k": 2}, {"top_p": 0.6}
    assert after_rules(z, "abcd", [k, p]) == [("a", 1.0)]
    assert [word for word, _ in after_rules(z, "abcd", [p, k])] == ["a", "b"]
    drawn = orders_drawing(z, "abcd", {"k, p": [k, p], "p, k": [p, k]})
    assert (
        drawn.alt == "Bars cut into the words that may be drawn. k, p: 1 word, a 1.00; p, k: 2 words, a 0.67, b 0.33."
    )
    assert texts(drawn.svg) == ["k, p", "1 word", "a", "p, k", "2 words", "a", "b"]


def test_the_work_of_a_cache():
    drawn = work_drawing(4)
    assert "10 squares altogether" in drawn.alt and "4 filled squares" in drawn.alt
    assert drawn.svg.count('width="20"') == 2 * 10
    with pytest.raises(ValueError, match="T=10"):
        work_drawing(10)


def test_speeds():
    chart = speed_chart({16: {"fast": 0.001, "slow": 0.002}, 32: {"fast": 0.001, "slow": 0.004}})
    assert chart.alt == "Tokens per second after 16 and after 32 tokens: fast 1,000 and 1,000; slow 500 and 250."
    assert 0 <= fastest(lambda: None) < 1
    model = GPT(9, d_model=8, n_heads=2, d_ff=16, n_layers=1)
    assert [tuple(one.shape) for one in products_alone(model)()] == [*[(1, 8)] * 4, (1, 16), (1, 8), (1, 9)]


def test_the_same_weights():
    class Other(Attention):
        pass

    layer = Attention(8, 2)
    made = same_weights(Other, layer)
    assert isinstance(made, Other) and isinstance(made, nn.Module) and made.n_heads == 2
    assert all(torch.equal(mine, its) for mine, its in zip(made.parameters(), layer.parameters(), strict=True))


def test_wider_searches():
    found = {"one": {1: (-3.0, 7.0, 69), 8: (-2.5, 6.0, 60)}}
    assert widths_chart(found, 300).alt == (
        "Two charts over the number of beams. one: ln P -3.00 with 1 and -2.50 with 8, right 69 and 60."
    )
