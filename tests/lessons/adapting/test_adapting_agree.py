"""What learners write computes the same as the package, whose code the solutions do not use."""

import pytest
import torch
from torch import nn

from tx_helpers.exercises.catalogue import find, of_lesson
from tx_helpers.lessons.adapting.lora import LoRA
from tx_helpers.lessons.adapting.preferences import dpo_loss
from tx_helpers.text.world_vocabulary import ASSISTANT, END, world_id
from tx_helpers.zoo.world_chat import chat_ids, chats


def solved(name: str):
    return find(name).answer


def test_no_solution_calls_the_package():
    assert [e.name for e in of_lesson("adapting") if "tx_helpers" in e.solution_source()] == []


@pytest.mark.parametrize("rank", [1, 3])
def test_lora(rank):
    layer = LoRA(nn.Linear(6, 5, bias=False), rank, alpha=8.0)
    nn.init.normal_(layer.up)
    mine = solved("LoRALayer")(layer.linear, rank, 8.0)
    x = torch.randn(2, 4, 6)
    with torch.no_grad():
        mine.A.copy_(layer.down)
        mine.B.copy_(layer.up)
        torch.testing.assert_close(solved("lora_output")(x, layer.linear.weight, layer.down, layer.up, 8.0), layer(x))
        torch.testing.assert_close(mine(x), layer(x))
        torch.testing.assert_close(mine.merged(), layer.merged().weight)


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
