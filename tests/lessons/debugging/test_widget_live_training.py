"""Live training: the same training as `fit`'s, seen on the way, stopped and resumed by a button."""

import asyncio
import re
import threading
from dataclasses import replace
from functools import partial

import pytest
import torch

from tx_helpers.lessons.debugging.live_training import (
    LiveRun,
    LiveTraining,
    Moment,
    describe,
    draw,
    live_training_explorer,
)
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import sequence_batch
from tx_helpers.text.number_words import english, german, number_pairs
from tx_helpers.training.losses import translation_loss
from tx_helpers.training.optimizers import linear_warmup_decay
from tx_helpers.zoo.recipes import train_translator

STEPS = 6
PAIRS = number_pairs(train=200, held_out=10, below=1000)
SMALL = dict(d_model=16, n_layers=1)
retrain = partial(
    train_translator, PAIRS.train, schedule=linear_warmup_decay(STEPS, warmup=2), progress=False, changes=SMALL
)
CHOICES = {"whole": {}, "with dropout": dict(changes=SMALL | dict(dropout=0.3))}


def blind(model):
    for name, layer in model.named_modules():
        if name.endswith("cross_attention"):
            layer.attend = lambda q, k, v, **options: torch.zeros_like(q)


def live(choices=CHOICES, **options):
    return LiveTraining(retrain, choices, steps=STEPS, every=2, **options)


async def until(condition):
    for _ in range(20_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


async def ended(task):
    await asyncio.wait_for(asyncio.wrap_future(task), 60)


# --- compute ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES)
def test_step_by_step_is_the_same_training_as_fit(choice):
    straight = retrain(steps=STEPS, **CHOICES[choice])
    run = LiveRun(partial(retrain, **CHOICES[choice]), STEPS)
    steps = []
    while not run.done:
        run.advance()
        steps.append(run.step)
        run.look()  # looking must not disturb
    assert steps == [1, 2, 3, 4, 5, 6] and run.translator.run.losses == straight.run.losses
    for one, other in zip(run.translator.model.parameters(), straight.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_it_computes_on_one_thread_and_leaves_threads_and_random_numbers_alone():
    seen = []

    def loss(model, batch):
        seen.append(torch.get_num_threads())
        return translation_loss(model, batch)

    before, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)
    try:
        run = LiveRun(partial(retrain, loss=loss), STEPS)
        for _ in range(3):
            run.advance()
            run.look()
        assert seen == [1, 1, 1] and torch.get_num_threads() == 2
        assert torch.equal(torch.get_rng_state(), state)
    finally:
        torch.set_num_threads(before)


def test_a_look_is_at_the_real_forward_pass():
    run = LiveRun(retrain, STEPS, number=21)
    run.advance()
    moment, translator = run.look(), run.translator
    batch = sequence_batch(translator.data.encode([(english(21), german(21))]))
    with capture(translator.model, "decoder.blocks.0.cross_attention.weights") as seen, torch.no_grad():
        translator.model(batch.source, batch.decoder_input)
    (weights,) = seen.values()
    assert torch.equal(torch.tensor(moment.weights), weights[0].mean(dim=0))
    assert (moment.keys, moment.words) == (["twenty", "one"], ["ein", "und", "zwanzig", "<eos>"])
    assert moment.written == translator.translate(english(21), cached=False, max_new_tokens=6)
    assert moment.losses == tuple(translator.run.losses)


def test_without_cross_attention_there_is_no_map_but_a_picture():
    run = LiveRun(partial(retrain, prepare=blind), STEPS)
    run.advance()
    moment = run.look()
    assert moment.weights is None and describe(moment).endswith("would be right; no cross-attention.")
    assert "No cross-attention to be seen." in draw("blind", moment, STEPS, "some words to say", {}).svg


# --- draw ------------------------------------------------------------------------------------------------------------

MOMENT = Moment((3.0, 0.5), [[0.75, 0.25], [0.125, 0.875], [0.5, 0.5]], ["ein", "und", "<eos>"], ["twenty", "one"], "x")


def test_what_is_drawn_and_said(as_stored):
    """A point for each step of each run, and all weights; loss, looks, and what is written."""
    right = replace(MOMENT, written="ein und zwanzig")
    as_stored(
        two=draw("this one", MOMENT, 6, describe(MOMENT, 21), {"that one": (3.0, 2.0, 1.0)}),
        right=draw("this one", right, 6, describe(right, 21), {}),
    )


# --- bind ------------------------------------------------------------------------------------------------------------


def test_idle_it_says_so_and_always_the_same():
    explore = live_training_explorer(retrain, CHOICES, steps=STEPS)
    assert repr(explore) == "Explorer 'live-training': not started: press Start to train 'whole'"
    assert [control.description for control in explore.controls.values()] == ["Model", "Start"]


def test_stopped_while_it_runs_and_going_on_gives_the_same_losses():
    async def learner():
        training = live()
        training.explore.set(training=True)
        assert training.button.description == "Stop"
        await until(lambda: training.runs["whole"].step == 3)
        training.button.value = False  # the press comes in while the training rests
        await ended(training.work.task)
        stopped = training.explore.summary
        assert training.runs["whole"].step == 3 and training.button.description == "Start"
        training.button.value = True
        await ended(training.work.task)
        return training, stopped

    training, stopped = asyncio.run(learner())
    assert stopped.startswith("whole: stopped at step 3 of 6, loss ")
    assert training.explore.summary.startswith("whole: done, step 6 of 6, loss ")
    assert training.runs["whole"].translator.run.losses == retrain(steps=STEPS).run.losses
    assert (training.button.value, training.button.description, training.work.going) == (False, "Start", False)


def test_the_picture_forms_every_few_steps():
    async def learner():
        training, summaries = live(), []
        training.explore.set(training=True)
        while not training.work.task.done():
            summaries.append(training.explore.summary.split(", loss")[0])
            await asyncio.sleep(0)
        return list(dict.fromkeys(summaries))

    assert asyncio.run(learner()) == [
        "whole: starting",
        "whole: training, step 1 of 6",
        "whole: training, step 2 of 6",
        "whole: training, step 4 of 6",
        "whole: done, step 6 of 6",
    ]


def test_a_press_from_another_thread_trains_in_the_thread_of_the_cells():
    threads = []

    def loss(model, batch):
        threads.append(threading.current_thread())
        return translation_loss(model, batch)

    async def learner():
        training = LiveTraining(retrain, {"whole": dict(loss=loss)}, steps=100_000, every=2)
        await asyncio.to_thread(training.explore.set, training=True)
        await until(lambda: training.runs["whole"].step >= 3)
        await asyncio.to_thread(training.explore.set, training=False)
        await ended(training.work.task)
        return training

    training = asyncio.run(learner())
    assert threads == [threading.main_thread()] * training.runs["whole"].step  # three, or more on a busy machine
    assert training.explore.summary.startswith(f"whole: stopped at step {len(threads)} of 100000")


def test_pressed_in_the_middle_of_a_step_it_has_not_stopped_yet():
    said = []

    def loss(model, batch):
        if model.training and training.runs["whole"].step == 3:  # as a press in a subshell, while step 4 is computed
            training.explore.set(training=False)
            said.append(training.explore.summary.split(", loss")[0])
        return translation_loss(model, batch)

    async def learner():
        nonlocal training
        training = live({"whole": dict(loss=loss)})
        training.explore.set(training=True)
        await until(lambda: training.work.task.done())

    training = None
    asyncio.run(learner())
    assert said == ["whole: training, step 2 of 6"]
    assert training.explore.summary.startswith("whole: stopped at step 4 of 6")


def test_start_at_the_end_begins_anew():
    training = live()
    training.explore.set(training=True)  # no event loop here: to the end at once
    first = training.runs["whole"]
    training.explore.set(training=True)
    assert first.done and training.runs["whole"] is not first and training.runs["whole"].done


def test_stop_and_start_at_once_leaves_one_training_going():
    async def learner():
        training = live()
        training.explore.set(training=True)
        await until(lambda: training.runs["whole"].step == 1)
        old = training.work.task
        training.button.value = False
        training.button.value = True
        await ended(old)
        going = training.work.going and not training.work.task.done() and training.runs["whole"].step < STEPS
        await ended(training.work.task)
        return going, training

    going, training = asyncio.run(learner())
    assert going and training.explore.summary.startswith("whole: done, step 6 of 6")


def test_another_model_stops_the_first_and_both_are_kept():
    async def learner():
        training = live()
        training.explore.set(training=True)
        await until(lambda: training.runs["whole"].step == 3)
        training.explore.set(model="with dropout")
        await ended(training.work.task)
        return training

    training = asyncio.run(learner())
    assert training.explore.summary == "not started: press Start to train 'with dropout'"
    assert training.button.value is False
    training.explore.set(training=True)
    svg = training.explore._repr_mimebundle_()[0]["image/svg+xml"]
    assert [len(line.split()) for line in re.findall(r'<polyline points="([^"]*)"', svg)] == [6, 3]
    training.explore.set(model="whole")
    assert training.explore.summary.startswith("whole: stopped at step 3 of 6")


def test_an_error_of_the_training_is_shown_in_place_and_start_tries_again():
    broken = [True]

    def loss(model, batch):
        if broken and model.training and batch.source.shape[0] and len(calls) == 3:
            raise RuntimeError("shapes <b>do not</b> fit")
        calls.append(1)
        return translation_loss(model, batch)

    calls: list = []
    training = live({"broken": dict(loss=loss), "whole": {}})
    training.explore.set(training=True)
    assert training.explore.error == "step 4 failed: RuntimeError: shapes <b>do not</b> fit"
    assert training.button.value is False and training.button.description == "Start"
    training.explore.set(model="whole")
    assert training.explore.error == "" and training.explore.summary.startswith("not started")
    training.explore.set(model="broken")
    broken.clear()
    training.explore.set(training=True)
    assert training.explore.error == "" and training.explore.summary.startswith("broken: done, step 6 of 6")


def test_choices_and_numbers_that_do_not_fit():
    with pytest.raises(ValueError, match="choices is empty, expected a dictionary that is not"):
        live_training_explorer(retrain, {})
    with pytest.raises(ValueError, match=r"choices\['a'\] is 5, expected a dictionary"):
        live_training_explorer(retrain, {"a": 5})
    with pytest.raises(ValueError, match="every=0, expected at least 1"):
        live_training_explorer(retrain, CHOICES, every=0)


def test_a_run_that_has_ended_is_shown_until_start_begins_another():
    training = live(trained={"whole": retrain(steps=STEPS)})
    assert training.explore.summary.startswith("whole: done, step 6 of 6, loss ")
    first = training.runs["whole"]
    training.explore.set(training=True)
    assert training.runs["whole"] is not first and training.explore.summary.startswith("whole: done, step 6 of 6")
    training.explore.set(model="with dropout")
    assert training.explore.summary.startswith("not started")
