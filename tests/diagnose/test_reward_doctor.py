"""The doctor for runs that learn from reward: each limit by hand, wrong records are named, real runs are judged."""

import pytest
import torch

from tx_helpers.diagnose.reward_doctor import CHECKS, reward_doctor
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.training.reward import train_on_reward


def steady(**changes):
    """The records of a healthy run of 40 updates; a change is a number for the second half, None leaves it out."""
    healthy = {
        "reward": 0.2,
        "length": 4.0,
        "entropy": 0.6,
        "kl": 0.1,
        "equal": 0.1,
        "ratio": 1.0,
        "age": 0,
        "true": 0.2,
    }
    later = {"reward": 0.9, "length": 9.0, "entropy": 0.05, "equal": 0.9, "true": 0.9} | changes
    kept = {name: value for name, value in healthy.items() if changes.get(name, 0) is not None}
    return [kept if update < 19 else kept | {n: v for n, v in later.items() if n in kept} for update in range(40)]


SIDES = {  # a change that is just right, one beyond the limit, and the check that then speaks
    "cheated": ({"true": 0.11}, {"true": 0.09}, "cheated"),
    "reward": (
        {"reward": 0.081, "equal": 0.5, "entropy": 0.5},
        {"reward": 0.079, "equal": 0.5, "entropy": 0.5},
        "reward",
    ),
    "equal": ({"reward": 0.5, "entropy": 0.5, "equal": 0.79}, {"reward": 0.5, "entropy": 0.5, "equal": 0.81}, "equal"),
    "solved": ({"equal": 1.0, "reward": 0.71}, {"equal": 1.0, "reward": 0.69, "entropy": 0.5}, "equal"),
    "entropy": (
        {"reward": 0.5, "equal": 0.5, "entropy": 0.22},
        {"reward": 0.5, "equal": 0.5, "entropy": 0.2},
        "entropy",
    ),
    "length": ({"length": 13.5}, {"length": 13.7}, "length"),
    "kl": ({"kl": 0.9}, {"kl": 1.1}, "kl"),
    "stale": ({"ratio": 1900.0, "age": 7}, {"ratio": 2100.0, "age": 7}, "stale"),
}


@pytest.mark.parametrize("name", SIDES)
def test_each_alarm_begins_at_its_limit(name):
    fine, beyond, check = SIDES[name]
    assert reward_doctor(steady(**fine), max_new=16).wrong == []
    report = reward_doctor(steady(**beyond), max_new=16)
    assert report.wrong == [check] and report[check].causes and report[check].advice


def test_every_check_has_its_limit_here():
    assert {check for _, _, check in SIDES.values()} == set(CHECKS)


def test_a_check_that_lacks_what_it_needs_is_skipped():
    report = reward_doctor([{"reward": 0.5}] * 10)
    assert report.wrong == [] and report["reward"].state == "right"
    assert report.of("skipped") == [name for name in CHECKS if name != "reward"]
    assert report["length"].figure == "say length and max_new"


def test_the_first_cause_says_whether_it_was_so_from_the_start():
    never = [record | {"equal": 1.0, "reward": 0.0} for record in steady(true=None)]
    assert "never solves" in reward_doctor(never)["equal"].causes[0]
    lost = steady(reward=0.1, equal=1.0, entropy=0.5, true=None)
    assert "the same to every problem" in reward_doctor(lost)["equal"].causes[0]


def test_the_report_reads_as_one_about_a_run():
    text = " ".join(str(reward_doctor(steady(kl=2.0), max_new=16)).split())
    assert "Run of 40 updates, reward from 0.20 to 0.90" in text and "1 check finds a mistake (kl)" in text
    assert "is 2.00 nats a token" in text and "0.1 million parameters" in text


def has_five(ids, answer):
    return ((ids == 5) & answer).any(1).float()


@pytest.mark.parametrize(
    ("reward", "options", "found"),
    [
        (has_five, {}, []),
        (lambda ids, answer: torch.zeros(len(ids)), {}, ["equal"]),
        (lambda ids, answer: answer.sum(1) / 8, {"rate": 3e-2, "updates": 60}, ["length"]),
    ],
)
def test_a_run_is_judged_by_what_it_recorded(reward, options, found):
    torch.manual_seed(0)
    model, seen = DecoderOnly(TransformerConfig(6, d_model=16, n_layers=1, pad_id=0)), {}

    def paid(ids, answer):
        seen["true"] = 1.0
        return reward(ids, answer)

    given = {"stop": 3, "max_new": 8, "updates": 20, "problems": 8, "group": 8, "rate": 3e-3} | options
    records = train_on_reward(model, torch.randint(1, 6, (8, 3)), paid, after=lambda *_: seen, **given)
    wrong = reward_doctor(records, max_new=8 if "length" in found else None).wrong  # untrained, it never stops
    assert set(found) <= set(wrong) and (found or not wrong)


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        ([], {}, "records is empty"),
        ([{"reward": 1.0}] * 9, {}, "9 records, expected at least 10"),
        ([{"reward": 1.0}] * 9 + [3], {}, "record 9 is 3, expected a dictionary with reward"),
        ([{"length": 1.0}] * 10, {}, "record 0 is a dict, expected a dictionary with reward"),
        ([{"reward": 1.0, "kl": 0.0}] * 9 + [{"reward": 1.0}], {}, "kl of record 9 is None, expected a number"),
        ([{"reward": float("nan")}] * 10, {}, "reward of record 0 is NaN"),
        ([{"reward": 1.0}] * 10, {"best": 0}, "best=0, expected more than 0"),
        ([{"reward": 1.0}] * 10, {"max_new": 0.5}, "max_new is 0.5, expected a whole number at least 1"),
    ],
)
def test_wrong_records_are_named(records, options, message):
    with pytest.raises(ValueError, match=message):
        reward_doctor(records, **options)
