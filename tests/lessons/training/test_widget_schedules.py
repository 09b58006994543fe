"""The schedules."""

import pytest

from tx_helpers.lessons.training import schedules
from tx_helpers.lessons.training.schedules import KINDS, PEAKS, rates, schedule_explorer
from tx_helpers.training.optimizers import cosine, linear_warmup_decay, warmup_inverse_sqrt


@pytest.mark.parametrize(
    "kind, schedule",
    [
        ("2017", lambda step: warmup_inverse_sqrt(64, warmup=20)(step) * (64 * 20) ** 0.5),
        ("linear decay", linear_warmup_decay(100, warmup=20)),
        ("cosine", cosine(100, warmup=20)),
        ("constant", lambda step: min(1.0, (step + 1) / 20)),
    ],
)
def test_the_rates_are_the_schedules_scaled_to_the_peak(kind, schedule):
    curve = rates(kind, warmup=20, peak=0.01, steps=100)
    assert curve.rates == pytest.approx([0.01 * schedule(step) for step in range(100)], rel=1e-12)
    assert curve.rates[curve.top - 1] == max(curve.rates) == pytest.approx(0.01) and curve.top == 20


@pytest.mark.parametrize("kind", KINDS[1:])
def test_without_warm_up_the_first_rate_is_the_largest(kind):
    curve = rates(kind, warmup=0, peak=0.002, steps=50)
    assert (curve.top, curve.rates[0], max(curve.rates)) == (1, 0.002, 0.002)


def test_the_schedule_explorer_answers_its_question():
    explore = schedule_explorer(500)
    assert repr(explore) == (
        "Explorer 'schedule': 2017: the rate is 0.000100 at step 1, 0.005000 at step 50, where it is largest, and "
        "0.001581 at step 500: 31.6% of the largest."
    )
    explore.set(warmup=125)
    assert explore.summary.endswith("at step 500: 50.0% of the largest.")
    explore.set(kind="constant", peak=PEAKS[0])
    assert explore.summary.endswith("and 0.001000 at step 500: 100.0% of the largest.")


def test_2017_has_no_value_without_warm_up_and_says_so_in_place():
    explore = schedule_explorer(500)
    explore.set(warmup=0)
    assert explore.error.startswith("warmup_inverse_sqrt: ") and "31.6%" in explore.summary  # the last good picture
    explore.set(kind="cosine")
    assert explore.error == "" and "0.005000 at step 1, where it is largest" in explore.summary


def test_a_kind_that_is_none():
    with pytest.raises(ValueError, match="kind='cubic', expected one of 2017, linear decay, cosine, constant"):
        rates("cubic", warmup=1, peak=1.0, steps=2)
    assert "31.6%" in schedules.describe(rates("2017", warmup=50, peak=1.0, steps=500))
