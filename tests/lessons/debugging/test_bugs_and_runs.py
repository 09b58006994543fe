"""The bugs, their drawing, the recorded runs, and the explorer of their symptoms."""

import math

import pytest
import torch

from tx_helpers.diagnose.doctor import doctor, read_record
from tx_helpers.lessons.debugging.bugs import BUGS, NAMES, SAID, draw_bugs, heads_by_view, softmax_over_queries
from tx_helpers.lessons.debugging.runs import (
    FAULTS,
    HEALTHY,
    guess_by_frequency,
    planted_run,
    record_runs,
    recorded_runs,
)
from tx_helpers.lessons.debugging.symptoms import lettered, symptom_explorer
from tx_helpers.text.data import word_pairs


def test_each_bug_is_drawn_with_its_name_and_what_it_does():
    drawing = draw_bugs()
    assert len(SAID) == len(NAMES) == len(BUGS) - 1 == 9
    for number, name in enumerate(NAMES, 1):
        assert f">{number}. {name}<" in drawing.svg and name in drawing.alt


def test_the_attention_of_two_bugs_is_wrong_as_their_names_say():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 4, 3)
    ones = torch.ones_like(v)
    assert not torch.allclose(softmax_over_queries(q, k, ones)[0, 0, 0], torch.ones(3))
    moved = v.clone()
    moved[0, 1, 0] += 1  # the second head's first word
    assert not torch.allclose(heads_by_view(q, k, moved)[0, 0], heads_by_view(q, k, v)[0, 0])


def test_the_guess_by_frequency_is_the_entropy_of_the_words():
    data = word_pairs([("one", "eins"), ("two", "zwei")])  # eins, zwei and twice <eos>
    assert guess_by_frequency(data) == pytest.approx(-(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25)))


def test_the_recorded_runs_are_the_recipe_and_the_faults():
    runs = recorded_runs()
    assert list(runs) == ["the recipe", *FAULTS] and not set(FAULTS) & set(HEALTHY)
    for run in runs.values():
        assert len(run["losses"]) == 80 and list(run["validation"]) == list(range(10, 81, 10))


@pytest.mark.thorough
def test_the_recorded_runs_can_be_recorded_again():
    for name, again in record_runs().items():
        stored = recorded_runs()[name]
        assert again["losses"][:5] == pytest.approx(stored["losses"][:5], rel=0.02)
        assert doctor(again).wrong == doctor(stored).wrong


def test_an_unknown_run_is_named():
    with pytest.raises(ValueError, match="planted_run: name='haste', expected one of rate too high"):
        planted_run("haste")


# --- the explorer ----------------------------------------------------------------------------------------------------
def test_every_run_has_a_letter_and_the_healthy_one_is_a():
    letters = lettered(recorded_runs())
    assert sorted(letters.values()) == sorted(recorded_runs()) and letters["A"] == "the recipe"


def test_the_explorer_says_what_the_doctor_says_when_asked():
    explore = symptom_explorer(recorded_runs())
    assert explore.summary.startswith("Run A: loss 4.58 to ") and "doctor" not in explore.summary
    explore.set(doctor=True)
    assert "The doctor: no alarm." in explore.summary
    for letter, name in lettered(recorded_runs()).items():
        explore.set(letter=letter)
        for check in doctor(recorded_runs()[name]).wrong:
            assert f"{check}: " in explore.summary and explore.error == ""


def test_each_first_answer_counts_and_a_wrong_one_is_told_the_sign_that_is_missing():
    explore = symptom_explorer(recorded_runs())
    explore.set(letter="B", fault="one bad batch")
    assert explore.summary.startswith("No. With “one bad batch”, the loss leaps up in a single step")
    explore.set(fault="data repeated")
    assert explore.summary.startswith("Right: data repeated.\nRun B: ")
    explore.set(letter="A")
    assert explore.values["fault"] == "" and explore.summary.startswith("Run A: ")
    explore.set(fault="the recipe")
    assert explore.summary.startswith("Right: healthy. Score: 1 of 2 first answers.")
    explore.set(letter="B")
    assert explore.values["fault"] == "one bad batch"


def test_the_signs_are_those_of_the_runs():
    runs = {name: read_record(run) for name, run in recorded_runs().items()}
    assert {name for name, run in runs.items() if not math.isfinite(run.gradient_norms[0])} == {"half precision"}
    assert {name for name, run in runs.items() if max(run.moved) < 2e-4} == {"half precision", "rate too low"}
    assert {name for name, run in runs.items() if run.moved[0] > 0.2} == {"no warm-up"}
    assert {name for name, run in runs.items() if 0.15 < max(run.moved[1:]) < 1} == {"rate too high"}
    still = {name for name, run in runs.items() if sum(min(run.ratios.values(), key=sum)) == 0}
    assert still == {"half precision", "frozen part"}
    assert {name for name, run in runs.items() if math.isnan(run.losses[-1])} == {"exploding norm"}


def test_a_run_without_norms_and_one_without_a_name_are_refused():
    runs = {"the recipe": {"losses": [1.0] * 20}}
    with pytest.raises(ValueError, match="symptom_explorer: 'the recipe' lacks norms, ratios, validation or guess"):
        symptom_explorer(runs)
    assert read_record(runs["the recipe"]).gradient_norms == []
    with pytest.raises(ValueError, match="symptom_explorer: a run 'short', expected some of the recipe, "):
        symptom_explorer({"short": {}})
