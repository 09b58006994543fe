"""What "it" means: the sentences, the toy that points at a noun, the lines, and the explorer."""

import re

import pytest
import torch

from tx_helpers.lessons.multi_head_attention.pronoun import (
    ANIMALS,
    CUTS,
    IT,
    LENGTH,
    LEXICON,
    LIFELESS,
    LIVING,
    THINGS,
    PronounToy,
    draw,
    pronoun_explorer,
    right,
    say,
    train_pronoun_toy,
    twins,
    where_it_looks,
    word_ids,
)
from tx_helpers.nn.capture import capture

CAT = say("cat", "mat", "tired")
LOOKS = [[0.0] * 9 + [1.0], [0.0, 0.75, 0, 0, 0, 0.25, 0, 0, 0, 0], [0.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0]]


@pytest.fixture(scope="module")
def toy():
    return train_pronoun_toy()


# --- compute ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [True, False])
def test_it_stands_at_its_place_in_every_sentence(first):
    sentence = say("dog", "rug", "new", first)
    assert (sentence[IT], sentence[-1], len(sentence)) == ("it", "new", LENGTH)
    assert sentence[1 if first else 5] == "dog" and sentence[5 if first else 1] == "rug"
    assert [LEXICON[i] for i in word_ids([sentence])[0]] == sentence


def test_twins_differ_in_the_adjective_alone_and_the_held_out_nouns_are_new():
    known, unseen = twins(held_out=False), twins(held_out=True)
    assert (len(known.alive), len(unseen.alive)) == (192, 96)
    for pairs in (known, unseen):
        assert (pairs.alive != pairs.lifeless).sum(0).tolist() == [0] * 9 + [len(pairs.alive)]
        for ids, places, words in ((pairs.alive, pairs.animal_at, ANIMALS), (pairs.lifeless, pairs.thing_at, THINGS)):
            assert {LEXICON[i] for i in ids.gather(1, places[:, None])[:, 0]} == set(words)
        assert {LEXICON[i] for i in pairs.alive[:, -1]} == set(LIVING)
        assert {LEXICON[i] for i in pairs.lifeless[:, -1]} == set(LIFELESS)
    nouns = [{tuple(sorted(pair)) for pair in pairs.alive[:, [1, 5]].tolist()} for pairs in (known, unseen)]
    assert not nouns[0] & nouns[1] and len(nouns[0] | nouns[1]) == 36


def test_the_looks_are_those_of_the_real_forward_pass():
    torch.manual_seed(0)
    toy, ids = PronounToy(), word_ids([CAT, say("dog", "bed", "new", False)])
    looks = where_it_looks(toy, ids)
    with capture(toy, "first.weights") as seen, torch.no_grad():
        assert torch.equal(looks[:, 2], toy(ids))
    assert torch.equal(looks[:, :2], seen["first.weights"][:, :, IT])
    torch.testing.assert_close(looks.sum(-1), torch.ones(2, 3))
    cut = where_it_looks(toy, ids, (0, 1))
    x = toy.words(ids) + toy.positions.weight
    h = x + toy.first.output.bias  # nothing else is left of the first block
    scores = torch.einsum("bd,bsd->bs", toy.query(h[:, IT]), toy.key(x)) / 32**0.5
    torch.testing.assert_close(cut[:, 2], scores.softmax(-1))
    assert torch.equal(where_it_looks(toy, ids), looks)  # the heads are back


def test_the_toy_points_at_the_noun_and_without_its_first_block_it_cannot(toy):
    unseen = twins(held_out=True)
    assert right(toy, unseen) > 0.97
    assert right(toy, unseen, (0, 1)) == 0.5  # the twins get the same answer, so one of them is wrong


def test_training_leaves_random_numbers_alone():
    state = torch.get_rng_state()
    train_pronoun_toy(steps=1)
    assert torch.equal(torch.get_rng_state(), state)


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """A line for each weight and none for a removed head; where it points and looks."""
    soft = say("cat", "mat", "soft")
    as_stored(whole=draw(CAT, LOOKS), cut=draw(CAT, LOOKS, (1,)), both=draw(soft, LOOKS, (0, 1)))


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_follows_the_adjective(toy):
    explorer = pronoun_explorer(toy)
    assert "because it was tired': it points at 'cat' (1.00), right." in explorer.summary
    explorer.set(adjective="soft")
    assert "because it was soft': it points at 'mat' (1.00), right." in explorer.summary
    answers = []
    for adjective in ("tired", "soft"):
        explorer.set(cut=CUTS["both heads of block 1"], adjective=adjective)
        answers.append(re.search(r"points at '(\w+)'", explorer.summary)[1])
    assert answers[0] == answers[1]
    explorer.set(nouns=("bird", "chair", False), cut=(), adjective="broken")
    assert explorer.summary.startswith("'the chair lay under the bird because it was broken': it points at 'chair'")
