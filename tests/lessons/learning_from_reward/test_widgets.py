"""The explorers: what they open on, that they follow their controls, and that the pictures show the numbers."""

import pytest
import torch

from tx_helpers.lessons.learning_from_reward import dials
from tx_helpers.lessons.learning_from_reward.base import base_model
from tx_helpers.lessons.learning_from_reward.baseline import baseline_explorer, describe_baseline
from tx_helpers.lessons.learning_from_reward.cheating import KEPT, cheating_explorer, describe_cheating
from tx_helpers.lessons.learning_from_reward.dials import (
    USUAL,
    DialRun,
    describe_dials,
    dials_explorer,
    recorded_dials,
)
from tx_helpers.lessons.learning_from_reward.pushes import (
    GROUP,
    SEEDS,
    Group,
    describe_pushes,
    draw_film,
    draw_pushes,
    film_explorer,
    pushes,
    pushes_explorer,
    sampled_group,
)
from tx_helpers.lessons.learning_from_reward.run_curves import (
    KS,
    curve_at_k,
    describe_right_at_k,
    right_at_k_explorer,
)
from tx_helpers.lessons.learning_from_reward.runs import learn, recorded
from tx_helpers.lessons.learning_from_reward.sums import SIX

# Two of eight are right: their advantage is (1 − 1/4) / deviation, that of the others (0 − 1/4) / deviation.
MADE_UP = Group(
    "185373=",
    ["A7.", "1A7."] + ["A0."] * 6,
    [[0.9, 0.1, 1.0], [0.05, 0.9, 0.9, 1.0]] + [[0.9, 0.1, 1.0]] * 6,
    torch.tensor([1.0, 1.0, 0, 0, 0, 0, 0, 0]),
    0.05,
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
    film = draw_film(MADE_UP, 1, {"right": [0.2, 0.9], "with steps": [0.1, 0.95]})
    as_stored(equal=draw_pushes(equal, scaled=True), two=draw_pushes(MADE_UP, scaled=False), film=film)


def test_a_sampled_group_is_one_problem_with_its_rewards():
    group = sampled_group(base_model(SIX), SIX, seed=16)
    truth = sum(map(int, group.problem[:-1])) % 10
    assert [bool(one) for one in group.rewards] == [said.endswith(f"A{truth}.") for said in group.tokens]
    for said, chances in zip(group.tokens, group.chances, strict=True):
        assert len(said) == len(chances) and all(0 < p <= 1 for p in chances)


def test_the_pushes_open_on_a_group_with_both_kinds_and_follow():
    explorer = pushes_explorer(base_model(SIX))
    first = explorer.summary
    assert "answers are right; advantage" in first
    explorer.set(problem=1)
    assert explorer.summary != first
    with pytest.raises(ValueError, match="pushes_explorer"):
        pushes_explorer("a model")


def test_the_film_shows_one_problem_at_each_update():
    base, trained = base_model(SIX), learn(SIX, updates=12).model
    explorer = film_explorer({12: trained, 0: base}, {"right": [0.2, 0.9]})
    assert explorer.summary.startswith("Update 0, problem 185373= ")
    likely = sampled_group(base, SIX, SEEDS[0]).begins
    explorer.set(picture=1)
    assert explorer.summary.startswith("Update 12, problem 185373= ")
    assert sampled_group(trained, SIX, SEEDS[0]).begins > 2 * likely
    with pytest.raises(ValueError, match="film_explorer"):
        film_explorer({0: "a model"}, {})


def test_a_recorded_run_is_shown_until_another_is_trained(monkeypatch):
    known = recorded_dials()
    assert len(known) == 18 and {len(c) for curves in known.values() for c in curves.values()} == {40}
    explorer = dials_explorer()
    assert explorer.summary.endswith(describe_dials(known[USUAL]))
    explorer.set(rate=4e-3)
    assert "0.004 · 16 · 0.0: done, step 40 of 40" in explorer.summary
    monkeypatch.setattr(dials, "UPDATES", 2)
    run = DialRun((1e-4, 4, 0.3))
    while not run.done:
        run.advance()
    want = known[1e-4, 4, 0.3]
    assert run.curves["right"] == pytest.approx(want["right"][:2], abs=0.05) and run.curves["KL"][0] == 0


def test_a_page_plays_the_record():
    explorer, run = dials_explorer(), recorded_dials()[4e-4, 64, 0.0]
    explorer.set(group=64)
    explorer.begin_again()
    explorer.set(training=True)
    assert explorer.summary.endswith(describe_dials(run))


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
