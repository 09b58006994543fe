"""What learners write computes the same as the package, whose code the solutions do not use."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from tx_helpers.exercises.catalogue import find, of_lesson
from tx_helpers.lessons.adapting.chat import chat_ids, chats
from tx_helpers.lessons.adapting.lora import LoRA
from tx_helpers.lessons.adapting.preferences import dpo_loss
from tx_helpers.lessons.beyond_text.vit import patches
from tx_helpers.text.world_vocabulary import ASSISTANT, END, world_id
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


@pytest.mark.parametrize("rank", [1, 3])
def test_lora(rank):
    layer = LoRA(nn.Linear(6, 5, bias=False), rank, alpha=8.0)
    nn.init.normal_(layer.up)
    x = torch.randn(2, 4, 6)
    with torch.no_grad():
        torch.testing.assert_close(solved("lora_output")(x, layer.linear.weight, layer.down, layer.up, 8.0), layer(x))


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_pictures(size):
    images = torch.randn(3, 8, 8)
    assert torch.equal(solved("picture_of")(patches(images, size), 8, 8), images)


def test_the_targets_of_chats():
    signs = world_id(ASSISTANT), world_id(END)
    several = chats(20, seed=3)
    assert {len(chat) for chat in several} == {2, 4}
    for chat in several:
        inputs, target = chat_ids(chat)
        assert solved("chat_labels")([*inputs, signs[1]], *signs) == target  # a chat ends in <end>


@pytest.mark.parametrize("beta", [0.1, 2.0])
def test_preferences(beta):
    four = torch.randn(4, 7) * 30 - 50
    torch.testing.assert_close(solved("dpo_loss")(*four, beta), dpo_loss(*four, beta=beta))
