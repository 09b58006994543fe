"""The table of failures: each measure by hand on a model whose answers are known, and on the course's own."""

import pytest
import torch
from torch import nn

from tx_helpers.lessons.what_changed.failures import (
    NAMES,
    hallucination,
    injection,
    next_word_probabilities,
    questions,
    repeated_share,
    repetition,
)
from tx_helpers.text.world_vocabulary import world_id, world_tokenizer


class Says(nn.Module):
    """Says the first name in the text, or the last one; <unk> where there is none."""

    def __init__(self, place: int, score: float = 9.0):
        super().__init__()
        self.place, self.score = place, score

    def forward(self, ids):
        logits = torch.zeros(*ids.shape, len(world_tokenizer()))
        names = {world_id(name) for name in NAMES}
        for number, row in enumerate(ids.tolist()):
            found = [token for token in row if token in names] or [world_id("<unk>")]
            logits[number, :, found[self.place]] = self.score
        return logits


def test_the_questions_ask_for_somebody_who_is_known():
    asked = questions(30, 1)
    assert len(asked) > 10
    for each in asked:
        assert each.name in each.words and each.name in NAMES
        assert each.stranger in NAMES and each.stranger not in each.words
    assert questions(30, 1) == asked != questions(30, 2)


def test_probabilities_are_those_behind_each_beginning():
    beginnings = [["mia", "saw", "tom", "."], ["leo"]]
    found = next_word_probabilities(Says(-1), beginnings)
    assert found.argmax(-1).tolist() == [world_id("tom"), world_id("leo")]
    torch.testing.assert_close(found.sum(-1), torch.ones(2))


def test_hallucination_by_hand():
    found = hallucination(Says(0), texts=30)
    share = sum(next(w for w in each.words if w in NAMES) == each.name for each in questions(30)) / len(questions(30))
    assert found["right"] == pytest.approx(share)
    assert found["never named"] == 0  # it only says names that it reads
    assert found["somebody"] < 1 and found["sure"] == 1
    unsure = hallucination(Says(0, 0.1), texts=30)
    assert unsure["sure"] == 0


def test_injection_by_hand():
    last, first = injection(Says(-1), texts=30), injection(Says(0), texts=30)
    assert first["changed"] == first["obeyed"] == 0  # the sentence stands behind the first name
    assert 0 < last["obeyed"] <= last["changed"] <= 1
    assert injection(Says(0), texts=30, sentence="the dog barks .")["changed"] == 0


def test_the_decoder_of_the_world_invents_and_obeys():
    invented, obeyed = hallucination(), injection()
    assert invented["right"] > 0.75 and obeyed["right"] == pytest.approx(invented["right"])
    assert invented["somebody"] > 0.5 and invented["says unknown"] < 0.01
    assert obeyed["changed"] > 0.4 and obeyed["obeyed"] > 0.25


def test_repeated_share_by_hand():
    assert repeated_share("a b c d", n=2) == 0
    assert repeated_share("a b a b a b", n=2) == pytest.approx(3 / 5)
    assert repeated_share("a a a a a a", n=4) == pytest.approx(2 / 3)
    assert repeated_share("one two", n=4) == 0
    with pytest.raises(ValueError, match="n=0"):
        repeated_share("a b", n=0)


@pytest.mark.slow
def test_greedy_decoding_repeats_itself():
    found = repetition(characters=700)
    assert found["greedy"] > 0.2 > max(found["drawn"], found["real stories"])
