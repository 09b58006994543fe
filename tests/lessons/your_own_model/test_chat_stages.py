"""The three stages in miniature, the checker, and what was recorded."""

from dataclasses import replace

import pytest
import torch

from tx_helpers.lessons.your_own_model import chat_stages
from tx_helpers.lessons.your_own_model.chat_stages import (
    questions,
    right_answer,
    stage_scores,
    stages,
)
from tx_helpers.nn.config import FeedForwardConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.zoo.world_models import new_world_model, world_config


@pytest.mark.parametrize("written, paid", [
    ("to the forest <end>", 1.0), ("to the forest", 0.0), ("the forest <end>", 0.0), ("", 0.0), ("<end>", 0.0),
    ("to the forest <end> <end>", 0.0), ("to the forest . to the forest <end>", 0.0),
])  # fmt: skip
def test_the_checker_pays_for_a_right_answer_that_ends(written, paid):
    assert right_answer(written, "to the forest") == paid
    assert right_answer("<end>", "") == 0.0


def test_held_out_questions_are_new_and_the_same_each_time():
    held_out = questions(50, split="test", seed=99)
    assert held_out == questions(50, split="test", seed=99)
    assert not {text for text, _ in held_out} & {text for text, _ in questions(300)}
    longest = max(len(world_tokenizer().encode(answer)) for _, answer in questions(300))
    assert longest < chat_stages.LONGEST


def test_the_reward_reads_each_rows_own_question():
    asked = questions(6)
    generator = torch.Generator().manual_seed(0)
    rows = chat_stages.prompts(asked)(4, generator)
    by_prompt = {tuple(chat_stages._prompt(question)): answer for question, answer in asked}
    ids, written = [], []
    for number, row in enumerate(rows.tolist()):
        answer = by_prompt[tuple(one for one in row if one)]
        text = world_tokenizer().encode(f"{answer} <end>" if number % 2 else "mia <end> <end>")
        ids.append(row + text + [0] * (8 - len(text)))
        written.append([False] * len(row) + [True] * len(text) + [False] * (8 - len(text)))
    paid = chat_stages.reward(asked)(torch.tensor(ids), torch.tensor(written))
    assert paid.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_all_stages_run_and_leave_each_other_alone(monkeypatch):
    monkeypatch.setattr(chat_stages, "TUNE_STEPS", 3)
    monkeypatch.setitem(chat_stages.REWARD, "problems", 2)
    config = world_config("decoder")
    base = DecoderOnly(replace(config, d_model=32, n_layers=1, feed_forward=FeedForwardConfig(d_ff=32)))
    before = stage_scores(base, questions(10, split="test", seed=99))
    found = stages(base, updates=1, written=20, measured=10)
    assert list(found.scores) == list(found.models) == ["pretrained", "tuned", "rewarded"]
    assert found.scores["pretrained"] == before
    assert all(set(row) == {"right", "drawn", "ends", "world"} for row in found.scores.values())
    assert len(found.records) == 1 and found.seconds.keys() == {"tuned", "rewarded"}


def test_pretraining_lowers_the_loss():
    model = chat_stages.pretrain(steps=4)
    torch.manual_seed(0)
    assert chat_stages.world_loss(model) < chat_stages.world_loss(new_world_model("decoder")) - 0.5


def test_what_each_stage_adds_was_recorded():
    table = chat_stages.recorded()
    right = {stage: row["right"] for stage, row in table["scores"].items()}
    assert all(max(right["pretrained"]) < one < 0.8 for one in right["tuned"])
    for tuned, longer, rewarded in zip(right["tuned"], right["tuned longer"], right["rewarded"], strict=True):
        assert tuned < longer < rewarded
    assert min(table["scores"]["rewarded"]["ends"]) > 0.95
    assert min(table["scores"]["tuned"]["world"]) > 5 > max(table["scores"]["pretrained"]["world"])  # what is forgotten
    assert [len(curve) for curve in table["reward"]] == [chat_stages.UPDATES] * 3
