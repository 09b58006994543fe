"""Models that learn to recall: what differs between them, and what they keep."""

import pytest
import torch

from tx_helpers.lessons.cheaper_and_longer.recall_runs import (
    KINDS,
    LENGTH,
    SIZES,
    WIDTH,
    accuracy,
    learn_recall,
    recall_config,
    state_size,
    texts,
)
from tx_helpers.nn.models import DecoderOnly, count_parameters


@pytest.mark.parametrize("K", SIZES)
def test_all_but_softmax_keep_a_state_of_the_same_size(K):
    numbers = {kind: state_size(DecoderOnly(recall_config(kind, K))) for kind in KINDS}
    assert numbers["softmax"] == 2 * 2 * K * LENGTH
    assert numbers["window"] == numbers["delta"] == numbers["gated delta"] == 2 * K * K
    assert numbers["linear"] == 2 * (K * K + K)
    assert numbers["state space"] == 2 * (K * K + 3 * WIDTH)
    assert numbers["hybrid"] == K * K + 2 * K * LENGTH


def test_the_models_are_of_about_the_same_size():
    sizes = {kind: count_parameters(DecoderOnly(recall_config(kind))) for kind in KINDS}
    assert max(sizes, key=sizes.get) == "state space"
    assert max(sizes.values()) < 1.3 * min(sizes.values())


def test_texts_depend_on_the_seed_alone():
    one, again, other = texts(4, 3, seed=1), texts(4, 3, seed=1), texts(4, 3, seed=2)
    assert torch.equal(one.ids, again.ids) and torch.equal(one.targets, again.targets)
    assert not torch.equal(one.ids, other.ids)
    assert one.ids.shape == (3, LENGTH)


def test_accuracy_of_a_model_that_knows_and_of_one_that_does_not():
    class Knows(torch.nn.Module):
        def forward(self, ids):  # looks up each id's value in the pairs
            logits = torch.zeros(*ids.shape, 33)
            for b, row in enumerate(ids.tolist()):
                values = dict(zip(row[0:16:2], row[1:16:2], strict=True))
                for t, token in enumerate(row[16:], start=16):
                    logits[b, t, values.get(token, 0)] = 1.0
            return logits

    assert accuracy(Knows(), 8, batch=5) == 1.0
    torch.manual_seed(0)
    assert accuracy(DecoderOnly(recall_config("softmax")), 8) < 0.2


@pytest.mark.slow
def test_softmax_learns_what_a_window_cannot():
    softmax, window = (learn_recall(kind, steps=150, seed=3) for kind in ("softmax", "window"))
    assert softmax.accuracy[16] > 0.9
    assert window.accuracy[16] < 0.3
    assert softmax.kept > window.kept


def test_a_run_depends_on_its_seed_alone():
    one, again = (learn_recall("delta", d_head=8, pairs=(4,), steps=2, seed=5) for _ in range(2))
    assert one.accuracy == again.accuracy


def test_bad_values_are_named():
    with pytest.raises(ValueError, match=r"recall_config: kind='lstm', expected one of softmax"):
        learn_recall("lstm")
    with pytest.raises(ValueError, match=r"recall_config: d_head=7, expected one of"):
        learn_recall("delta", d_head=7)
    with pytest.raises(ValueError, match=r"learn_recall: one of pairs=17, expected"):
        learn_recall("delta", pairs=(17,))
