"""The drawings of notebook 04: the children's table, the gradients of queries, what "it" means."""

import re

import pytest
import torch

from tx_helpers.lessons.self_attention.children import CARD, cards, draw_table, partners
from tx_helpers.lessons.self_attention.root import draw_gradients
from tx_helpers.lessons.self_attention.trophy import IT, LENGTH, NOUNS, VOCABULARY, Trophy, draw_trophy, exam, sentence
from tx_helpers.show.shapes import WEIGHT


@pytest.fixture(scope="module")
def children():
    return partners(torch.Generator().manual_seed(0), 3)


def test_partners_share_a_seat_and_differ_in_their_side(children):
    x, opposite = children
    assert x.shape == (3, 8, 17) and x.dtype == torch.float64
    assert torch.equal(x[:, :4, :8], x[:, 4:, :8])
    assert torch.equal(x[:, :4, 8], -x[:, 4:, 8])
    assert torch.equal(x[..., CARD].argmax(-1), opposite.roll(4, 1))
    assert (x[..., CARD].sum(-1) == 1).all()


def test_the_table_shows_every_card_and_the_question(children):
    drawn = draw_table(children[0][0])
    held = cards(children[0][0])
    assert re.findall(r'font-weight="bold">(\d)</text>', drawn.svg) == [str(card) for card in held]
    assert ", ".join(map(str, held[:4])) in drawn.alt


def test_an_arrow_leads_to_the_child_with_the_largest_weight(children):
    x = children[0][0]
    itself = torch.eye(8, dtype=torch.float64)
    drawn = draw_table(x, [itself, itself.roll(4, 0)], ["one", "two"])
    assert "one: 8 of 8 children look most at themselves, 0 at the child opposite" in drawn.alt
    assert (
        "two: 0 of 8 children look most at themselves, 8 at the child opposite; 8 say the card opposite." in drawn.alt
    )
    assert drawn.svg.count("✓") == 8 and drawn.svg.count(WEIGHT.shade) >= 16
    with pytest.raises(ValueError, match="shorter"):
        draw_table(x, [itself], [])


def test_gradients_are_dots_and_medians():
    rooted, bare = torch.tensor([0.1, 0.2, 0.4]), torch.tensor([0.0, 2.0, 90.0])
    drawn = draw_gradients({16: (rooted, bare)}, shown=2)
    assert drawn.svg.count('r="3"') == 4 and "dots for 2 of 3," in drawn.alt
    assert "d_k = 16: median 0.20 with the root, 2 without; largest 0.4 and 90." in drawn.alt


def test_the_sentences_and_who_is_meant():
    ids, meant, held_out = exam()
    assert ids.shape == (8 * 7 * 12, LENGTH) and held_out.sum() == 96
    assert {VOCABULARY[i] for i in ids[:, IT].tolist()} == {"it"}
    told = [[VOCABULARY[i] for i in row] for row in ids.tolist()]
    n = told.index(sentence("trophy", "suitcase", "big"))
    assert NOUNS[meant[n]] == "trophy"
    assert NOUNS[meant[told.index(sentence("trophy", "suitcase", "small"))]] == "suitcase"


def test_a_look_adds_attention_to_it():
    toy = Trophy(looks=1, even=False, width=16, seed=0)
    ids = exam().ids[:5]
    weights, stream = toy.look(ids)
    x = toy.E[ids] + toy.P
    W_Q, W_K, W_V = toy.matrices[0]
    added = torch.nn.functional.scaled_dot_product_attention(x[:, IT : IT + 1] @ W_Q, x @ W_K, x @ W_V)[:, 0]
    torch.testing.assert_close(stream[1], x[:, IT] + added)
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(5))


def test_the_drawing_tells_the_largest_weight():
    toy = Trophy(looks=2, even=True, width=16, seed=0)
    drawn = draw_trophy(toy, [("cup", "box", "big")])
    assert "'the cup does not fit into the box because it is too big': 'it' looks most at 'the' (0.08)" in drawn.alt
    assert drawn.svg.count("added") == 2
