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


def test_a_run_without_norms_cannot_be_drawn():
    runs = {"short": {"losses": [1.0] * 20}}
    with pytest.raises(ValueError, match="symptom_explorer: 'short' lacks norms, ratios, validation or guess"):
        symptom_explorer(runs)
    assert read_record(runs["short"]).gradient_norms == []
    with pytest.raises(ValueError, match="symptom_explorer: 27 runs, expected at most 26"):
        symptom_explorer({str(n): {} for n in range(27)})
