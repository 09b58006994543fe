"""The bias that decides: whose token moves, the shares, the drawing and its words."""

import pytest
import torch

from drawn import texts
from tx_helpers.lessons.what_changed.balance_picture import describe, draw_balance, loads, moved_token

P = torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
BIAS = torch.tensor([-0.15, 0.1, 0.0])


def test_the_first_token_that_goes_elsewhere_and_the_shares():
    assert moved_token(P, BIAS) == 1 and moved_token(P, torch.zeros(3)) == 0
    assert loads(P, torch.zeros(3)).tolist() == [0.75, 0.25, 0] and loads(P, BIAS).tolist() == [0.5, 0.5, 0]


def test_the_drawing_has_the_numbers_and_the_words_say_them():
    shown = texts(draw_balance(P, BIAS).svg)
    assert {"50", "35", "30", "40", "75", "25", "1: -0.15", "2: +0.10"} <= set(shown)
    assert describe(P, BIAS) == (
        "One token: expert 1 has 0.50, expert 2 has 0.30; with the biases -0.15 and +0.10 it goes to expert 2. All "
        "tokens: an expert gets 0 to 75 % without the bias, 0 to 50 % with it."
    )


def test_another_shape_is_refused():
    with pytest.raises(ValueError, match="draw_balance: bias"):
        draw_balance(P, BIAS[:, None])
