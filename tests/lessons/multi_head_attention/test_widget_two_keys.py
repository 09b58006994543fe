"""Two keys for one query: the task, its training, and the picture of where each head looks."""

import asyncio
import re

import pytest
import torch

from tx_helpers.lessons.multi_head_attention.two_keys import (
    RUNS,
    Seen,
    TwoKeysRun,
    blank,
    describe,
    draw,
    two_keys,
    two_keys_explorer,
)
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import count_parameters
from tx_helpers.widgets.live import Live

SEEN = Seen(
    steps=[4, 8],
    both=[0.1, 0.25],
    better=0.75,
    looked=[[0.5, 0.25], [0.0, 1.0]],
    weights=[[0.5, 0.25, 0.25, 0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0, 0, 0]],
    asked=[2, 0],
    values=[7, 6, 5, 4, 3, 2, 1, 0],
    said=[5, 7],
)


# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_answers_are_the_values_under_the_two_keys():
    questions = two_keys(seed=3, rows=40)
    assert [tuple(part.shape) for part in questions] == [(40, 1, 16), (40, 8, 16), (40, 2), (40, 2)]
    assert (questions.asked[:, 0] != questions.asked[:, 1]).all()
    assert torch.equal(questions.query[:, 0].view(40, 2, 8).argmax(-1), questions.asked)
    for memory, asked, answers in zip(questions.memory, questions.asked, questions.answers, strict=True):
        under = {int(pair[:8].argmax()): int(pair[8:].argmax()) for pair in memory}
        assert [under[int(key)] for key in asked] == answers.tolist()


def test_as_many_parameters_for_one_head_as_for_two():
    assert {count_parameters(MultiHeadAttention(16, heads)) for heads in (1, 2)} == {
        count_parameters(RUNS["two heads"]().layer)
    }


def test_one_head_gets_both_values_seldom_and_two_heads_nearly_always():
    one, two, deep = (make().train().look() for make in RUNS.values())
    assert one.both[-1] < 0.35 and one.better > 0.9
    assert two.both[-1] > 0.97 and deep.both[-1] > 0.97
    best = [max(range(2), key=row.__getitem__) for row in two.looked]
    assert sorted(best) == [0, 1] and all(max(row) > 0.8 for row in two.looked)  # one key for each head


def test_a_look_is_at_the_real_layer_and_leaves_random_numbers_alone():
    state = torch.get_rng_state()
    run = TwoKeysRun(2, steps=3)
    run.advance()
    seen = run.look()
    assert torch.equal(torch.get_rng_state(), state) and seen.steps == [1] and not run.done
    with capture(run.layer, "weights") as captured, torch.no_grad():
        logits = run.layer(run.exam.query, run.exam.memory).view(-1, 2, 8)
    weights = captured["weights"][:, :, 0]
    assert torch.equal(torch.tensor(seen.weights), weights[0])
    first = torch.stack([row[:, keys[0]] for row, keys in zip(weights, run.exam.asked, strict=True)]).mean(0)
    torch.testing.assert_close(torch.tensor(seen.looked)[:, 0], first)
    right = (logits.argmax(-1) == run.exam.answers).all(-1).double().mean().item()
    assert seen.both == [right] and seen.said == logits[0].argmax(-1).tolist()
    run.train()
    assert run.done and run.look().steps == [1, 3]


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    as_stored(
        right=draw("two heads", SEEN, describe(SEEN), {"one head": SEEN}),
        wrong=draw("two heads", SEEN._replace(said=[7, 5]), "words", {}),
    )


def test_before_the_training_the_question_is_there_but_nothing_is_said():
    nothing = blank(TwoKeysRun(1))
    picture = draw("one head", None, "words", {})
    assert f"the values of keys {nothing.asked[0]} and {nothing.asked[1]}?" in picture.svg
    assert "Press Start." in picture.svg and "says" not in picture.svg and "right is" not in picture.svg


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_trains_the_chosen_layer():
    explorer = two_keys_explorer()
    assert repr(explorer) == "Explorer 'two-keys': not started: press Start to train 'one head'"
    explorer.set(model="two heads")
    explorer.set(training=True)  # no event loop here: to the end at once
    assert re.match(r"two heads: done, step 200 of 200, (9[89]|100)% of 500 questions", explorer.summary)


def test_a_live_training_of_any_kind_can_be_stopped_and_goes_on():
    async def learner():
        live = Live("any", RUNS, draw, describe, steps=200, every=1, rest=0.0)
        live.explore.set(training=True)
        while "one head" not in live.runs or live.runs["one head"].step < 5:
            await asyncio.sleep(0)
        live.button.value = False
        await asyncio.wrap_future(live.work.task)
        stopped = live.explore.summary
        live.runs["one head"].steps = live.steps = live.runs["one head"].step + 2
        live.button.value = True
        await asyncio.wrap_future(live.work.task)
        return stopped, live.explore.summary

    stopped, ended = asyncio.run(learner())
    assert re.match(r"one head: stopped at step \d+ of 200, ", stopped)
    assert re.match(r"one head: done, step (\d+) of \1, ", ended)


@pytest.mark.parametrize("name", RUNS)
def test_each_choice_is_drawn_before_it_is_started(name):
    explorer = two_keys_explorer()
    explorer.set(model=name)
    assert explorer.summary == f"not started: press Start to train '{name}'"
