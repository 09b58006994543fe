"""What learners write computes the same as the package, whose code the solutions do not use."""

from itertools import pairwise

import pytest
import torch

from tx_helpers.exercises.catalogue import find, of_lesson
from tx_helpers.training import objectives


def solved(name: str):
    return find(name).answer


def test_no_solution_calls_the_package():
    assert [e.name for e in of_lesson("families") if "tx_helpers" in e.solution_source()] == []


@pytest.mark.parametrize("seed", range(3))
def test_masked_words(seed):
    ids = torch.randint(0, 30, (5, 40), generator=torch.Generator().manual_seed(seed))
    drawn, again = (torch.Generator().manual_seed(seed + 10) for _ in range(2))
    right = objectives.masked(ids, mask_id=7, words=range(8, 30), keep=(0, 1, 2), generator=again)
    first, second = (torch.rand(ids.shape, generator=drawn) for _ in range(2))
    words = torch.randint(8, 30, ids.shape, generator=drawn)
    mine = solved("mask_tokens")(ids, ids < 3, first, second, words, 7)
    assert all(map(torch.equal, mine, right)) and (right[0] != ids).any()


@pytest.mark.parametrize("seed", range(3))
def test_hidden_spans(seed):
    ids, sentinels = torch.arange(100, 160), list(range(9))
    generator = torch.Generator().manual_seed(seed)
    shown, target = objectives.span_corruption(ids, sentinels=sentinels, generator=generator)
    cuts = [place for place, token in enumerate(target.tolist()) if token in sentinels]
    hidden = [target[a + 1 : b] - 100 for a, b in pairwise(cuts)]  # places in the text
    spans = [(int(places[0]), int(places[-1]) + 1) for places in hidden]
    assert len(spans) > 1
    assert solved("hide_spans")(ids.tolist(), spans, sentinels) == (shown.tolist(), target.tolist())


def test_prefix_masks():
    mine = solved("prefix_masks")(torch.tensor([0, 2, 5]), 5)
    assert torch.equal(mine, torch.stack([objectives.prefix_mask(5, n) for n in (0, 2, 5)])[:, None])


def test_next_words():
    for length in (2, 5, 9):
        ids = torch.arange(3, 3 + length)
        inputs, target = solved("next_words")(ids[None], 0)
        assert torch.equal(inputs[0], objectives.causal(ids)[0]) and torch.equal(target[0], objectives.causal(ids)[1])


@pytest.mark.parametrize("length", [1, 3, 6])
def test_what_a_prefix_model_is_scored_on(length):
    """The loss of a model that is sure of token 0 everywhere tells which targets were scored."""
    ids = torch.randint(1, 5, (1, 8), generator=torch.Generator().manual_seed(length))
    _, target = objectives.prefix(ids[0], length)
    logits = torch.randn(8, 5, generator=torch.Generator().manual_seed(9))

    def model(inputs, mask):
        assert mask.shape == (1, 1, 7, 7)
        return logits[None, :7]

    mine = solved("prefix_loss")(model, ids, torch.tensor([length]), solved("prefix_masks"))
    torch.testing.assert_close(mine, torch.nn.functional.cross_entropy(logits[:7], target))
