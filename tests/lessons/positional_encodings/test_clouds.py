"""Two sentences as two clouds: what has moved, and what is drawn."""

import pytest
import torch

from tx_helpers.lessons.positional_encodings.clouds import moved, named_rows, two_clouds

ONE, OTHER = "the dog bites the man", "the man bites the dog"


def rows(sentence: str, seed: int = 0) -> torch.Tensor:
    """A vector for each word, the same wherever it stands."""
    table = torch.randn(4, 6, generator=torch.Generator().manual_seed(seed))
    return torch.stack([table[["the", "dog", "bites", "man"].index(word)] for word in sentence.split()])


def test_words_are_named_by_their_count():
    assert named_rows(ONE) == [("the", 0), ("dog", 0), ("bites", 0), ("the", 1), ("man", 0)]


def test_how_far_each_word_has_moved():
    after = rows(OTHER)
    after[1] += torch.tensor([3.0, 0, 0, 4, 0, 0])  # the man
    after[3, 5] += 2  # the second "the"
    expected = {"the": 2, "dog": 0, "bites": 0, "man": 5}
    assert moved({ONE: rows(ONE), OTHER: after}) == pytest.approx(expected, abs=1e-5)


def test_the_same_vectors_make_the_same_cloud_twice():
    drawn = two_clouds({ONE: rows(ONE), OTHER: rows(OTHER)})
    assert drawn.alt.startswith("Two identical clouds of points") and drawn.alt.endswith("bites 0.00, man 0.00.")
    assert drawn.svg.count("<circle") == 8 and drawn.svg.count("the (twice)") == 2


def test_other_vectors_are_told_by_their_distance():
    drawn = two_clouds({ONE: rows(ONE), OTHER: rows(OTHER, seed=1)})
    assert drawn.alt.startswith("Two different clouds of points") and "twice" in drawn.svg


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="expected two sentences of the same words"):
        two_clouds({ONE: rows(ONE), "the dog bites the dog": rows(ONE)})
