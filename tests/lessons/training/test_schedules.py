"""The five schedules, their explorer, and the recorded trainings."""

import re

import pytest
import torch

from tx_helpers.lessons.training import experiments
from tx_helpers.lessons.training.experiments import REMEDIES, STARTS, recorded, started, train_remedy, train_start
from tx_helpers.lessons.training.guessing import guessing_costs
from tx_helpers.lessons.training.pictures import (
    JUMPING,
    STEADY,
    adam_drawing,
    adam_means,
    overfitting_drawing,
    plain,
    probabilities,
    starts_drawing,
    starts_table,
    surprise_drawing,
)
from tx_helpers.lessons.training.schedules import KINDS, PEAKS, STEPS, draw, ends, factors, schedule_explorer
from tx_helpers.text.data import word_pairs
from tx_helpers.training.optimizers import cosine, linear_warmup_decay

# --- schedules --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("constant", lambda step: min(1.0, (step + 1) / 20)),
        ("2017", lambda step: min((step + 1) / 20, (20 / (step + 1)) ** 0.5)),
        ("linear decay", linear_warmup_decay(100, warmup=20)),
        ("cosine", cosine(100, warmup=20)),
        ("warm-up, stable, decay", lambda step: min(1.0, (step + 1) / 20, (100 - step) / 20)),
    ],
)
def test_the_factors_are_the_schedules_with_the_largest_at_1(kind, expected):
    factor = factors(kind, warmup=20, steps=100)
    assert [factor(step) for step in range(100)] == pytest.approx([expected(step) for step in range(100)], rel=1e-12)
    assert max(map(factor, range(100))) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_without_warm_up_the_first_step_is_the_largest(kind):
    assert factors(kind, warmup=0, steps=50)(0) == pytest.approx(1)


def test_a_kind_that_is_none():
    with pytest.raises(ValueError, match="kind='cubic', expected one of constant, 2017, linear decay, cosine"):
        factors("cubic", warmup=1, steps=2)


def test_the_explorer_says_where_the_chosen_schedule_ended():
    runs = recorded("schedules")
    explorer = schedule_explorer(runs)
    for kind in KINDS:
        for peak in PEAKS:
            explorer.set(kind=kind, peak=peak)
            loss = ends(runs)[kind][peak]
            assert (
                explorer.summary.startswith(f"{kind}, at most {peak:g}: ")
                and f" ends at {loss:.3f} " in explorer.summary
            )
    lines = re.findall(r'<polyline points="([^"]*)"', draw(runs, "cosine", 0.005).svg)
    assert sorted(len(line.split()) for line in lines) == [len(PEAKS)] * 5 + [STEPS] * 5


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_the_records_are_whole():
    starts, schedules, remedies = (recorded(name) for name in ("starts", "schedules", "remedies"))
    assert sorted((run["start"], run["seed"]) for run in starts) == sorted((s, n) for s in STARTS for n in range(5))
    of_schedules = sorted((run["kind"], run["peak"], run["seed"]) for run in schedules)
    assert of_schedules == sorted((k, p, seed) for k in KINDS for p in PEAKS for seed in range(3))
    wanted = sorted((n, *remedy, seed) for n in (100, 5000) for remedy in REMEDIES.values() for seed in range(3))
    assert sorted((run["count"], run["dropout"], run["decay"], run["seed"]) for run in remedies) == wanted
    assert {len(run["losses"]) for run in starts} == {30} and {len(run["losses"]) for run in schedules} == {40}
    assert all(0 <= run["exact"] <= 1 for run in (*starts, *schedules, *remedies))


def test_every_mend_starts_at_ln_v():
    data = word_pairs(experiments.PAIRS.train)
    batch = data.batches(64, seed=1)(0)
    for start in STARTS:
        with torch.no_grad():
            loss = experiments.translation_loss(started(start, 1, data), batch).item()
        assert (loss > 5) if start == "as it was" else abs(loss - 3.555) < 0.1


def test_what_the_notebook_says_of_the_records():
    table = starts_table(recorded("starts"))
    steps = {start: row["steps to 0.3"] for start, row in table.items()}
    assert (
        steps["target table small"] + 5
        < steps["as it was"]
        < min(steps["both tables small"], steps["last norm's gain 0.1"])
    )
    assert table["target table small"]["exact match"] > table["as it was"]["exact match"] + 0.01
    assert "as it was reaches 0.3 after 77 steps" in starts_drawing(recorded("starts")).alt
    exact = {n: [run["exact"] for run in recorded("remedies") if run["count"] == n and plain(run)] for n in (100, 5000)}
    assert max(exact[100]) < 0.45 and min(exact[5000]) > 0.9
    assert "with 5,000 pairs trained on 0.02, held out 0.03" in overfitting_drawing(recorded("remedies")).alt


@pytest.mark.thorough
def test_recorded_runs_are_repeated_in_bands():
    for start in ("as it was", "target table small"):
        old = next(run for run in recorded("starts") if run["start"] == start and run["seed"] == 0)
        new = train_start(start, 0)
        assert (
            new["first"] == pytest.approx(old["first"], abs=0.01)
            and abs(new["steps_to_0.3"] - old["steps_to_0.3"]) < 12
        )
    assert train_remedy(100, 0.0, 3.0, 0)["exact"] == pytest.approx(0.6, abs=0.2)


# --- drawings ---------------------------------------------------------------------------------------------------------


def test_the_row_of_probabilities_is_a_softmax_and_says_the_loss():
    shares = probabilities({"a": 1.0, "b": 1.0, "c": 0.0})
    assert sum(shares.values()) == pytest.approx(1) and shares["a"] == shares["b"] == pytest.approx(
        2.71828 * shares["c"], rel=1e-4
    )
    drawn = surprise_drawing({"vier": 2.0, "fünf": 1.0, "acht": 0.0, "und": -1.0}, right="vier")
    assert "vier 0.644, fünf 0.237, acht 0.087, und 0.032" in drawn.alt and "−ln 0.644 = 0.44" in drawn.svg
    with pytest.raises(ValueError, match="surprise_drawing: right='sieben', expected one of vier"):
        surprise_drawing({"vier": 2.0}, right="sieben")


@pytest.mark.parametrize("gradients", [STEADY, JUMPING])
def test_adams_means_are_pytorchs(gradients):
    parameter = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer = torch.optim.Adam([parameter], lr=1.0, betas=(0.9, 0.98), eps=0.0)
    for g, (m, size) in zip(gradients, adam_means(gradients), strict=True):
        before = parameter.item()
        parameter.grad = torch.tensor(g, dtype=torch.float64)
        optimizer.step()
        assert before - parameter.item() == pytest.approx(m / size, rel=1e-9)
    assert "small and steady, m̂ is about 0.95 of √v̂; large, but jumping, m̂ is about 0.05" in adam_drawing().alt


def test_what_guessing_costs():
    costs = guessing_costs(experiments.PAIRS.train)
    assert costs == pytest.approx({"any number": 1.574, "one of our pairs": 1.162}, abs=2e-3)
