"""The five explorers: what they open on, that they follow their controls, and that the pictures show the numbers."""

import pytest
import torch

from tx_helpers.lessons.learning_from_reward.base import base_model
from tx_helpers.lessons.learning_from_reward.baseline import baseline_explorer, describe_baseline
from tx_helpers.lessons.learning_from_reward.cheating import KEPT, cheating_explorer, describe_cheating
from tx_helpers.lessons.learning_from_reward.pushes import (
    GROUP,
    Group,
    describe_pushes,
    draw_pushes,
    pushes,
    pushes_explorer,
    sampled_group,
)
from tx_helpers.lessons.learning_from_reward.run_curves import (
    CURVES,
    KS,
    at_seeds,
    curve_at_k,
    describe_right_at_k,
    describe_runs,
    draw_runs,
    mean_curve,
    right_at_k_explorer,
    runs_explorer,
)
from tx_helpers.lessons.learning_from_reward.runs import recorded
from tx_helpers.lessons.learning_from_reward.sums import SIX

# Two of eight are right: their advantage is (1 − 1/4) / deviation, that of the others (0 − 1/4) / deviation.
MADE_UP = Group(
    "185373=",
    ["A7.", "1A7."] + ["A0."] * 6,
    [[0.9, 0.1, 1.0], [0.05, 0.9, 0.9, 1.0]] + [[0.9, 0.1, 1.0]] * 6,
    torch.tensor([1.0, 1.0, 0, 0, 0, 0, 0, 0]),
)


def test_a_push_is_the_advantage_times_what_is_to_be_gained():
    advantages, rows = pushes(MADE_UP, scaled=False)
    assert advantages == pytest.approx([0.75, 0.75] + [-0.25] * 6)
    assert rows[1] == pytest.approx([0.75 * 0.95, 0.075, 0.075, 0]) and rows[2] == pytest.approx([-0.025, -0.225, 0])
    scaled, _ = pushes(MADE_UP, scaled=True)
    assert scaled[0] / scaled[2] == pytest.approx(-3) and sum(scaled) == pytest.approx(0, abs=1e-5)
    assert "token 1 of answer 2, '1' in '1A7.', which had p = 0.05: +0.71" in describe_pushes(MADE_UP, scaled=False)


def test_equal_rewards_push_nothing(as_stored):
    equal = MADE_UP._replace(rewards=torch.zeros(GROUP))
    assert not any(push for row in pushes(equal, scaled=True)[1] for push in row)
    as_stored(equal=draw_pushes(equal, scaled=True), two=draw_pushes(MADE_UP, scaled=False))


def test_a_sampled_group_is_one_problem_with_its_rewards():
    group = sampled_group(base_model(SIX), SIX, seed=16)
    truth = sum(map(int, group.problem[:-1])) % 10
    assert [bool(one) for one in group.rewards] == [said.endswith(f"A{truth}.") for said in group.tokens]
    for said, chances in zip(group.tokens, group.chances, strict=True):
        assert len(said) == len(chances) and all(0 < p <= 1 for p in chances)


def test_the_pushes_open_on_a_group_with_both_kinds_and_follow():
    explorer = pushes_explorer({"base model": base_model(SIX)})
    first = explorer.summary
    assert "answers are right; advantage" in first
    explorer.set(problem=1)
    assert explorer.summary != first
    with pytest.raises(ValueError, match="pushes_explorer"):
        pushes_explorer({"base model": "a model"})


def test_the_baseline_explorer_follows_its_controls():
    explorer = baseline_explorer()
    assert explorer.summary == describe_baseline(-0.5, 16)
    explorer.set(baseline=0.3, samples=4)
    assert explorer.summary == describe_baseline(0.3, 4) and "the exact gradient" in explorer.summary


def test_the_explorer_of_checkers_follows_what_is_typed():
    explorer = cheating_explorer()
    for answer in KEPT:
        explorer.set(answer=answer)
        assert explorer.summary == describe_cheating(answer)
    assert describe_cheating("0511152AAA2.").endswith("exact: 0; finds it somewhere: 0; full marks if unreadable: 1.")
    assert describe_cheating("A18.").endswith("exact: 0; finds it somewhere: 0; full marks if unreadable: 0.")
    for wrong in ("", "B17.", "1" * 25):
        with pytest.raises(ValueError, match="expected"):
            describe_cheating(wrong)


@pytest.mark.parametrize("run", recorded())
def test_every_recorded_run_is_drawn_with_every_curve(run):
    for curve in CURVES:
        assert draw_runs(run, curve).alt == describe_runs(run, curve)
        assert mean_curve(run, "right") == pytest.approx(torch.tensor(at_seeds(run, "right")).mean(0).tolist())
    assert [row[-1] for row in at_seeds(run, "right")] == [row["after"]["right"] for row in recorded()[run]]


def test_the_runs_explorer_follows_its_controls():
    explorer = runs_explorer()
    assert explorer.summary == describe_runs("six", "steps")
    explorer.set(run="four", curve="length")
    assert explorer.summary == describe_runs("four", "length")


def test_right_at_k_rises_with_k_and_begins_at_the_share():
    for run in ("six", "four"):
        for when in ("before", "after"):
            curve = curve_at_k(run, when)
            shares = [sum(row[f"counts {when}"]) / 25_600 for row in recorded()[run]]
            assert (
                len(curve) == len(KS)
                and curve == sorted(curve)
                and curve[0] == pytest.approx(sum(shares) / 5, abs=1e-4)
            )
    explorer = right_at_k_explorer()
    explorer.set(run="four", k=16)
    assert explorer.summary == describe_right_at_k("four", 16) and "ahead from k = " in explorer.summary
