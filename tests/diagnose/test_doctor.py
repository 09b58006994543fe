"""The training doctor: planted faults are found, healthy runs get no alarm, wrong records are named."""

import math
from types import SimpleNamespace

import pytest

from tx_helpers.diagnose.doctor import CHECKS, doctor
from tx_helpers.lessons.debugging.runs import FAULTS, HEALTHY, planted_run, recorded_runs

FOUND = {  # fault -> the check that must find it, and a word of its first cause
    "rate too high": ("rate", "too high"),
    "rate too low": ("rate", "too low"),
    "no warm-up": ("warm-up", "no warm-up"),
    "exploding norm": ("norm", "exploding"),
    "data repeated": ("repeats", "data repeated"),
    "labels shuffled": ("labels", "labels shuffled"),
    "half precision": ("finite", "half precision"),
    "frozen part": ("parts", "frozen"),
    "one bad batch": ("spike", "bad batch"),
}
ALONE = [name for name in FOUND if name not in ("rate too high", "exploding norm")]  # these make the norm or loss leap


def steady(**changes):
    """A healthy record of 40 steps, made by hand; a change of None leaves the entry out."""
    falling = [4 * 0.9**step for step in range(40)]
    record = {
        "losses": falling,
        "gradient_norms": [3.0] * 40,
        "rates": [min(1, step / 8) * 5e-3 for step in range(40)],
        "ratios": {part: [0.01] * 40 for part in "abc"},
        "validation": {20: 0.6, 40: 0.2},
        "guess": 3.0,
    }
    return {name: entry for name, entry in (record | changes).items() if entry is not None}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_recorded_fault_is_found(fault):
    report = doctor(recorded_runs()[fault])
    check, word = FOUND[fault]
    assert check in report.wrong and word in report[check].causes[0] and report[check].advice
    assert fault not in ALONE or report.wrong == [check]


def test_the_recorded_recipe_gets_no_alarm():
    report = doctor(recorded_runs()["the recipe"])
    assert report.wrong == [] and report.of("skipped") == [] and len(list(report)) == len(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_each_planted_fault_is_found(fault):
    check, word = FOUND[fault]
    report = doctor(planted_run(fault, seed=1))
    assert check in report.wrong and word in report[check].causes[0]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 2, 3])
@pytest.mark.parametrize("fault", FAULTS)
def test_each_planted_fault_is_found_at_other_seeds(fault, seed):
    check, word = FOUND[fault]
    report = doctor(planted_run(fault, seed))
    assert check in report.wrong and word in report[check].causes[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["the recipe", "SGD", "cosine"])
def test_a_healthy_run_gets_no_alarm(name):
    assert doctor(planted_run(name, seed=1)).wrong == []


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 2, 3])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_gets_no_alarm_at_other_seeds(name, seed):
    assert doctor(planted_run(name, seed)).wrong == []


# --- each limit, by hand ----------------------------------------------------------------------------------------------
def at(step, value, row):
    return [*row[:step], value, *row[step + 1 :]]


FLAT = [3.0 - 0.001 * step for step in range(40)]
SIDES = {  # a record that is just right, the same beyond the limit, and the check that then speaks
    "loss nan": ({}, {"losses": at(30, math.nan, steady()["losses"])}, "finite"),
    "norm": ({"gradient_norms": at(30, 23.0, [3.0] * 40)}, {"gradient_norms": at(30, 25.0, [3.0] * 40)}, "norm"),
    "spike": ({"losses": at(20, 1.6, steady()["losses"])}, {"losses": at(20, 2.2, steady()["losses"])}, "spike"),
    "fast": ({"ratios": [0.059] * 40}, {"ratios": [0.061] * 40}, "rate"),
    "slow": ({"losses": FLAT, "ratios": [0.0018] * 40}, {"losses": FLAT, "ratios": [0.0017] * 40}, "rate"),
    "warm-up": (
        {"losses": FLAT, "rates": [1.0] * 40, "ratios": at(0, 0.044, [0.01] * 40), "guess": None},
        {"losses": FLAT, "rates": [1.0] * 40, "ratios": at(0, 0.046, [0.01] * 40), "guess": None},
        "warm-up",
    ),
    "frozen": (
        {"ratios": {"a": [0.01] * 40, "b": [0.01] * 40, "c": [0.00021] * 40}},
        {"ratios": {"a": [0.01] * 40, "b": [0.01] * 40, "c": [0.00019] * 40}},
        "parts",
    ),
    "gap": ({"validation": {40: 0.45}}, {"validation": {40: 0.5}}, "repeats"),
    "guess": ({"losses": FLAT, "guess": 3.3}, {"losses": FLAT, "guess": 3.1}, "labels"),
}
SIDES["slow"] = tuple({**one, "guess": None} if isinstance(one, dict) else one for one in SIDES["slow"])
SIDES["overflow"] = (
    {"gradient_norms": [math.inf] * 7 + [3.0] * 33},  # a scale that is found in the first fifth
    {"gradient_norms": [3.0] * 20 + [math.inf] * 3 + [3.0] * 17},
    "finite",
)


@pytest.mark.parametrize("name", SIDES)
def test_each_alarm_begins_at_its_limit(name):
    fine, beyond, check = SIDES[name]
    assert doctor(steady(**fine)).wrong == []
    assert doctor(steady(**beyond)).wrong == [check]


def test_what_came_before_a_nan_names_its_cause():
    lost = at(30, math.nan, steady()["losses"])
    grown = [*[3.0] * 27, 30.0, 300.0, 3000.0, *[math.nan] * 10]
    assert "norm grew" in doctor(steady(losses=lost, gradient_norms=grown))["finite"].causes[0]
    assert "at once" in doctor(steady(losses=lost))["finite"].causes[0]
    assert "half precision" in doctor(steady(gradient_norms=[math.inf] * 40))["finite"].causes[0]


def test_what_is_not_known_of_a_nan_is_not_said():
    """As nanoGPT's issue 215: finite for 300 steps, then NaN in float16, and no norms."""
    finite = doctor({"losses": [3.0] * 300 + [math.nan] * 40})["finite"]
    assert finite.figure.startswith("the loss is nan from step 300 on; all was finite before")
    assert "half precision" in finite.causes[0]
    once = doctor({"losses": [3.0] * 50 + [math.nan] + [3.0] * 50})["finite"]
    assert once.figure.startswith("1 of 101 losses is nan, in step 50; ") and "at once" in once.causes[0]
    assert "from the beginning" in doctor({"losses": [math.nan] * 40})["finite"].figure


def test_a_run_that_rises_for_good_has_diverged():
    fall = [3.3 + 7.6 * math.exp(-step / 30) for step in range(200)]
    rise = [3.3 + 3.9 * (1 - math.exp(-step / 25)) for step in range(200)]
    found = doctor({"losses": fall + rise})["spike"]
    assert found.state == "wrong" and "it has diverged" in found.causes[0]
    assert found.figure.startswith("the loss ends at 7.2, its least was 3.")
    assert doctor({"losses": fall + [3.3 + 0.9 * (loss - 3.3) / 3.9 for loss in rise]}).wrong == []


def test_a_leap_that_lasts_is_not_a_bad_batch():
    before = [2 + 4 * math.exp(-step / 60) for step in range(200)]
    resumed = doctor({"losses": before + [2 + 1.6 * math.exp(-step / 40) for step in range(150)]})["spike"]
    assert "a resumed run" in resumed.causes[0] and "it takes 46 steps" in resumed.figure
    assert "bad batch" in doctor({"losses": at(150, 5.0, before)})["spike"].causes[0]


@pytest.mark.parametrize("times", [1.1, 1.5, 100.0])
def test_a_loss_above_the_guess_is_no_right_run(times):
    report = doctor({"losses": [3.0 * times] * 100, "guess": 3.0})
    assert report.wrong == ["labels"] and "not even frequencies" in report["labels"].causes[0]


def test_a_run_that_has_just_come_to_the_guess_may_stand_on_a_plateau():
    falling = [9.0 - 0.1 * step for step in range(60)] + [3.0] * 40
    report = doctor({"losses": falling, "guess": 3.0})
    assert report.wrong == [] and report["labels"].state == "look" and "plateau" in report["labels"].causes[0]
    stands = doctor({"losses": falling + [3.0] * 60, "guess": 3.0})["labels"]
    assert stands.state == "wrong" and "labels shuffled" in stands.causes[0] and "plateau" in stands.causes[1]


def test_parts_are_compared_with_those_that_learn():
    """As where a detach() in the middle, or requires_grad, stops most of the model."""
    ratios = {part: [0.0] * 40 for part in "abcdef"} | {"g": [0.01] * 40, "h": [0.012] * 40}
    report = doctor(steady(ratios=ratios))
    assert report.wrong == ["parts"] and report["parts"].figure.startswith("6 of 8 parts do not: a, b, c, …; a changes")
    assert "1.10% in the middle" in report["rate"].figure


def test_a_first_step_is_not_called_right_while_the_rate_is_too_high():
    hot = {part: [0.28] * 40 for part in "abc"}
    assert doctor(steady(ratios=hot))["warm-up"].figure == "mend first what rate found"
    slow = steady(losses=FLAT, ratios=hot, rates=[1.0] * 40, guess=None)
    assert doctor(slow).wrong == ["rate", "warm-up"]


def test_each_report_ends_with_what_it_rests_on():
    report = doctor(steady())
    assert report.summary == "No check finds a mistake, 8 find nothing."
    for shown in (report.text(), repr(report), report._repr_html_()):
        assert "No record shows a leak" in shown.split("nothing.")[-1] and "robe" not in shown


# --- what may be left out ---------------------------------------------------------------------------------------------
def test_losses_alone_are_enough_for_two_checks():
    report = doctor({"losses": steady()["losses"]})
    assert report.of("right") == ["finite", "spike"] and report.wrong == []
    assert report["warm-up"].figure == "say rates and ratios" and report["labels"].figure == "say guess"
    assert report.model == "Run of 40 steps, loss 4.00 to 0.07"


def test_one_list_of_ratios_is_enough_but_for_the_parts():
    report = doctor(steady(ratios=[0.01] * 40))
    assert report["rate"].state == "right" and report["parts"].state == "skipped"
    assert report["rate"].figure == "weights change by at most 1.00% a step, 1.00% in the middle, 40% in all"


def test_a_run_of_fit_is_a_record():
    row = {name: steady()[name] for name in ("losses", "gradient_norms", "rates")}
    run = SimpleNamespace(**row, evaluations=[{"step": 20, "loss": 0.6}, {"step": 40, "loss": 1.5}])
    report = doctor(run, ratios=[0.1] * 40)
    assert report.wrong == ["rate", "repeats"]
    assert "validation loss is 1.50 (at its best 0.60)" in report["repeats"].figure
    run.evaluations = [{"step": 40, "exact": 0.9}]
    assert doctor(run)["repeats"].figure == "say validation"


@pytest.mark.parametrize(
    "record, message",
    [
        ([1.0] * 40, "doctor: record is a list, expected a dictionary of lists or a run of fit"),
        ({"rates": [1.0]}, "the record has no losses, expected losses and any of losses, gradient_norms"),
        (steady(norms=[1.0] * 40), "the record has 'norms', expected losses and any of losses, gradient_norms"),
        ({"losses": [1.0] * 19}, "19 losses, expected at least 20"),
        ({"losses": "falling"}, "losses is 'falling', expected a list of a number for each step"),
        ({"losses": [1.0] * 39 + ["low"]}, r"losses\[39\] is 'low', expected a number \(loss.item\(\)\)"),
        (steady(rates=[0.1] * 39), "rates has 39 steps, losses has 40: record each in every step"),
        (steady(ratios={"a": [0.1] * 41}), r"ratios\['a'\] has 41 steps, losses has 40"),
        (steady(validation=[1.0, 2.0]), "validation is a list, expected a dictionary"),
        (steady(validation={41: 1.0}), "a step of validation=41, expected at least 0 and at most 40"),
        (steady(validation={40: None}), r"validation\[0\] is None, expected a number"),
        (steady(guess=0.0), "guess=0.0, expected more than 0"),
    ],
)
def test_a_wrong_record_is_named(record, message):
    with pytest.raises(ValueError, match=message):
        doctor(record)
