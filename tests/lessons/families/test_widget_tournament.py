"""The dot plot and its explorer: a dot for each score, hollow where a guess is as good; how each family is asked."""

import pytest

from tx_helpers.lessons.families.tasks import TASKS
from tx_helpers.lessons.families.tournament import FAMILIES, recorded
from tx_helpers.lessons.families.tournament_explorer import (
    AXIS,
    LONG,
    asked,
    describe_task,
    dot_plot,
    draw,
    not_learned,
    scores_of,
    tournament_explorer,
)
from tx_helpers.show.shapes import number

WEAK = {
    "entities": ["decoder", "encoder_decoder"],
    "resolve": ["encoder_decoder"],
    "similar": ["encoder", "decoder", "encoder_decoder"],
    "translate": ["encoder", "decoder"],
}


def test_four_tasks_have_families_no_better_than_the_guess():
    table = recorded()
    assert {task: weak for task in TASKS if (weak := not_learned(table, task))} == WEAK


def test_each_score_is_a_dot_and_those_no_better_than_the_guess_are_hollow():
    svg, table = dot_plot().svg, recorded()
    assert svg.count("<circle") == 1 + len(TASKS) * len(FAMILIES) * len(table["about"]["seeds"])
    assert svg.count('fill="none"') == 5 * sum(map(len, WEAK.values()))
    for score in table["scores"]["pretrained"]["encoder"]["answer"]:
        assert f'cx="{number(AXIS + LONG * score)}"' in svg


def test_what_was_not_measured_is_said():
    table = recorded()
    assert list(scores_of(table, "resolve", 240)) == list(FAMILIES)
    assert scores_of(table, "sentiment", 240) == {}
    assert draw("sentiment", 240).svg.count("not measured") == 3
    assert describe_task(table, "sentiment", 240) == "does it end well? Not measured."
    with pytest.raises(ValueError, match="tournament: steps='70', expected one of 60, 240"):
        scores_of(table, "go_on", 70)


@pytest.mark.parametrize("task", TASKS)
def test_each_family_is_asked_in_its_way(task):
    (encoder, _), (decoder, _), (source, written) = (asked(family, task) for family in FAMILIES)
    assert encoder.startswith("<cls> ") and decoder.startswith("<bos> ") and source.startswith(TASKS[task].token)
    assert written.startswith("the decoder writes: ")


def test_the_explorer_moves():
    explorer = tournament_explorer("entities")
    assert "No better than the guess, so not to be compared: decoder, encoder–decoder." in explorer.summary
    explorer.set(steps=240)
    means = "encoder 1.00, decoder 0.90, encoder–decoder 1.00, guess 0.90."
    assert explorer.summary.endswith(f"{means} No better than the guess, so not to be compared: decoder.")
    explorer.set(task="similar", steps=60)
    assert "encoder, decoder, encoder–decoder" in explorer.summary
