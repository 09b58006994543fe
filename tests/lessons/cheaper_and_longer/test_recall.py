"""The recall task: every query's target is the value that stood behind its key."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import properties
from tx_helpers.lessons.cheaper_and_longer.recall import recall_pairs
from wrong_arguments import faults


@given(pairs=st.integers(1, 9), more=st.integers(0, 20), vocab_size=st.integers(19, 40), seed=st.integers(0, 99))
@properties
def test_every_key_is_asked_once_and_its_target_is_its_value(pairs, more, vocab_size, seed):
    length = 4 * pairs + more
    generator = torch.Generator().manual_seed(seed)
    ids, targets = recall_pairs(3, pairs, length, vocab_size=vocab_size, generator=generator)
    assert ids.shape == targets.shape == (3, length) and ids.min() >= 0 and ids.max() < vocab_size
    for row, target in zip(ids.tolist(), targets.tolist(), strict=True):
        values = dict(zip(row[0 : 2 * pairs : 2], row[1 : 2 * pairs : 2], strict=True))
        assert len(values) == pairs and max(values) <= (vocab_size - 1) // 2 < min(values.values())
        scored = [i for i, wanted in enumerate(target) if wanted != -100]
        assert min(scored) >= 2 * pairs
        assert sorted(row[i] for i in scored) == sorted(values)
        assert all(target[i] == values[row[i]] for i in scored)
        assert all(row[i] == 0 for i in range(2 * pairs, length) if i not in scored)


def test_near_queries_are_more_frequent_and_the_generator_decides():
    def draw(seed: int):
        return recall_pairs(500, 1, 42, generator=torch.Generator().manual_seed(seed))

    ids, targets = draw(0)
    assert torch.equal(ids, draw(0)[0]) and torch.equal(targets, draw(0)[1]) and not torch.equal(ids, draw(1)[0])
    distance = (targets != -100).long().argmax(dim=1) - 2
    assert set(distance.tolist()) <= set(range(0, 40, 2))
    near, far = (distance == 0).float().mean().item(), (distance >= 20).float().mean().item()
    harmonic = sum(d**-0.99 for d in range(1, 21))
    assert near == pytest.approx(1 / harmonic, abs=0.08)
    assert far == pytest.approx(sum(d**-0.99 for d in range(11, 21)) / harmonic, abs=0.08)


def test_wrong_arguments():
    right = dict(batch=2, pairs=3, length=14, vocab_size=16, power=0.01)
    assert faults(recall_pairs, right) == []
    with pytest.raises(ValueError, match="recall_pairs: 4 pairs need a length of 16 or more, not 14"):
        recall_pairs(**right | {"pairs": 4})
    with pytest.raises(ValueError, match="recall_pairs: 3 pairs, but vocab_size=6 leaves 2 keys"):
        recall_pairs(**right | {"vocab_size": 6})
