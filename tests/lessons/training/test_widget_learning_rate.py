"""The learning-rate explorer: the training of `begin`, a curve for each rate, and the loss at the end over the rate."""

import re

import pytest
import torch
from torch import nn

from tx_helpers.lessons.training.learning_rate import (
    RATES,
    RateRun,
    at_the_end,
    describe,
    describe_ends,
    draw,
    learning_rate_explorer,
)
from tx_helpers.training.loop import Run


class Numbers:
    """A batch of numbers, as `Run` takes it."""

    def to(self, device):
        return torch.tensor([1.0, 2.0])


def begin(rate):
    """Gradient descent on the mean of (w x − 3x)²: it diverges from the rate 0.4 on."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)

    def loss(model, x):
        return (model(x[:, None]) - 3 * x[:, None]).square().mean()

    return Run(
        model, lambda step: Numbers(), loss=loss, optimizer=torch.optim.SGD(model.parameters(), lr=rate), clip=None
    )


# --- compute ---------------------------------------------------------------------------------------------------------


def test_step_by_step_it_is_the_training_of_begin():
    run, straight = RateRun(begin, 0.01, steps=4), begin(0.01)
    assert run.step == 0 and not run.done
    for _ in range(4):
        run.advance()
        straight.train_step()
    assert run.done and run.look() == tuple(straight.losses)
    assert at_the_end([9.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == 3.0  # of the last five


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_each_run_has_a_curve_and_each_one_that_is_done_a_point(as_stored):
    others = {"1": (4.0, 100.0, 200.0, 300.0), "0.1": (4.0, 3.0)}  # the second one was stopped
    as_stored(
        three=draw("0.001", (4.0, 2.0, 1.0, 1.0), 4, 3.5, "the beginning.", others),
        levels=draw("0.001", None, 4, 3.5, "x", {}),
    )


@pytest.mark.parametrize(
    "losses, told",
    [
        ((4.0, 2.0, 1.0), "loss 4.00 at first, now 2.33: it learns."),
        ((4.0, 3.9, 3.8), "loss 4.00 at first, now 3.90: it crawls."),
        ((4.0, 90.0, 300.0), "loss 4.00 at first, now 131.33: it explodes."),
    ],
)
def test_what_is_said_of_a_run(losses, told):
    assert describe(losses) == told


def test_ends_are_in_the_order_of_the_rates():
    ends = describe_ends({"1": (5.0, 5.0), "0.00001": (4.0, 4.0), "0.01": (4.0,)}, 2)
    assert ends == " Loss after 2 steps by rate: 0.00001: 4.00, 1: 5.00." and describe_ends({"1": (5.0,)}, 2) == ""


# --- bind ------------------------------------------------------------------------------------------------------------


def test_from_crawling_to_exploding():
    explorer = learning_rate_explorer(begin, nothing=3.5, steps=30)
    assert repr(explorer) == "Explorer 'learning-rate': not started: press Start to train '0.00001'"
    assert [control.description for control in explorer.controls.values()] == ["Rate", "Start"]
    told = {}
    for rate in ("0.00001", "0.1", "1"):
        explorer.set(model=rate)
        explorer.set(training=True)  # no event loop here: to the end at once
        told[rate] = re.search(r"it (\w+)\.", explorer.summary)[1]
    assert told == {"0.00001": "crawls", "0.1": "learns", "1": "explodes"}
    assert explorer.summary.startswith("1: done, step 30 of 30, loss 22.50 at first")
    assert re.search(r"by rate: 0\.00001: 22\.\d\d, 0\.1: 0\.00, 1: \d+", explorer.summary)


def test_every_rate_is_drawn_before_it_is_started():
    explorer = learning_rate_explorer(begin, nothing=3.5)
    for rate in RATES:
        explorer.set(model=rate)
        assert explorer.summary == f"not started: press Start to train '{rate}'"


def test_runs_that_have_ended_are_drawn_at_once():
    run = begin(0.1)
    for _ in range(6):
        run.train_step()
    explorer = learning_rate_explorer(begin, nothing=3.5, steps=6, trained={"0.1": run})
    assert re.match(r"0\.1: done, step 6 of 6, loss 22\.50 .* by rate: 0\.1: ", explorer.summary)
    explorer.set(model="1")
    assert re.match(r"not started: press Start to train '1' Loss after 6 steps by rate: 0\.1: ", explorer.summary)
    with pytest.raises(ValueError, match=r"rate='0\.2'"):
        learning_rate_explorer(begin, nothing=3.5, trained={"0.2": run})
