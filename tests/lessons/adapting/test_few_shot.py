"""Rows of words with labels, and when a decoder learns to use the examples in its prompt."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tx_helpers.lessons.adapting.few_shot import LABELS, Mappings, accuracy_by_shots, learn_mappings
from tx_helpers.text.data import IGNORE


@given(fresh=st.sampled_from([0.0, 0.5, 1.0]), in_a_row=st.integers(1, 5), seed=st.integers(0, 99))
def test_a_word_has_one_label_in_a_row(fresh, in_a_row, seed):
    mappings = Mappings(fresh=fresh, words=7, in_a_row=in_a_row, pairs=11, seed=seed)
    rows = mappings.rows(13, 2)
    assert rows.shape == (13, 22)
    for row in rows.tolist():
        pairs = list(zip(row[::2], row[1::2], strict=True))
        assert all(LABELS <= word < LABELS + 7 and 0 <= label < LABELS for word, label in pairs)
        assert len(set(pairs)) == len({word for word, _ in pairs}) <= in_a_row
        if fresh == 0:
            assert all(label == mappings.table[word - LABELS] for word, label in pairs)
    assert rows.equal(mappings.rows(13, 2)) and not rows.equal(mappings.rows(13, 3))


def test_only_labels_are_scored():
    mappings = Mappings(pairs=3)
    ids, batch = mappings.rows(5, 7), mappings.batches(5)(7)
    assert batch.input.equal(ids[:, :-1])
    assert batch.target[:, ::2].equal(ids[:, 1::2]) and (batch.target[:, 1::2] == IGNORE).all()


class Copies(torch.nn.Module):
    """The best that can be done: the label that the word had before in the row, else label 0."""

    def forward(self, ids):
        logits = torch.zeros(*ids.shape, LABELS + 16)
        for row, known in enumerate(ids.tolist()):
            for place in range(0, len(known), 2):
                labels = dict(zip(known[:place:2], known[1:place:2], strict=True))
                logits[row, place, labels.get(known[place], 0)] = 1.0
        return logits


def test_accuracy_of_a_model_that_copies_is_the_best_accuracy():
    mappings = Mappings(pairs=9)
    unseen = [(1 - 1 / mappings.in_a_row) ** shots for shots in range(9)]  # the word is not among the examples
    expected = [1 - share + share / LABELS for share in unseen]
    found = accuracy_by_shots(Copies(), mappings, count=1500)
    assert found == pytest.approx(expected, abs=0.05)


def test_training_measures_both_mappings():
    learner = learn_mappings(Mappings(pairs=5), steps=6, every=3)
    assert list(learner.by_shots) == list(learner.by_heart) == [0, 3, 6]
    assert all(len(accuracies) == 5 for accuracies in learner.by_shots.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fresh": 1.5}, "fresh=1.5, expected at least 0 and at most 1"),
        ({"words": 3}, "words=3, expected at least 4"),
        ({"pairs": 0}, "pairs=0, expected at least 1"),
    ],
)
def test_mappings_that_cannot_be_drawn_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Mappings(**options)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_examples_are_used_only_if_mappings_change(seed):
    fresh = learn_mappings(Mappings(fresh=1.0, seed=seed), seed=seed)
    fixed = learn_mappings(Mappings(fresh=0.0, seed=seed), seed=seed)
    first, last = fresh.by_shots[240][0], fresh.by_shots[240][-4:]
    assert first < 0.45 < 0.65 < sum(last) / 4
    assert max(fixed.by_shots[240]) < 0.45 and min(fixed.by_heart[240]) > 0.95
