"""What was looked at, and what was needed: parts, weights and scores of one text."""

import torch

from tx_helpers.exercises.catalogue import find
from tx_helpers.lessons.families.reading import nouns, reading, sentences
from tx_helpers.lessons.families.tournament import new_player

TEXT = "finn said sorry to leo because he had eaten the pizza . then both went to the forest ."
SUMMARY = "finn said sorry to leo ."


def test_sentences_cover_all_words_but_the_first():
    assert sentences(["<t>", "a", "b", ".", "c", "."]) == [(1, 4), (4, 6)]
    assert sentences(["<t>", "a", "b", ".", "c", "d"]) == [(1, 4), (4, 6)]


def test_a_reading_of_one_text():
    player = new_player("encoder_decoder", "summarise")
    one = reading(player, TEXT, SUMMARY)
    assert one.words == ["<summarise>", *TEXT.split()] and one.parts == [(1, 13), (13, 20)]
    assert one.weights.shape == (len(SUMMARY.split()) + 1, len(one.ids))
    torch.testing.assert_close(one.weights.sum(1), torch.ones(7))
    words = [one.word_score(one.ids, place) for place in range(7)]
    assert abs(sum(words) - one.score(one.ids)) < 1e-3
    worth = find("leave_one_out").answer(one.score, one.ids, one.parts)
    assert abs(worth[0] - (one.score(one.ids) - one.score(one.ids[:1] + one.ids[13:]))) < 1e-4
    assert nouns(one, SUMMARY) == [(0, 1), (1, 2), (2, 3)]
