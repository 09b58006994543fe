"""The timeline: dates, sources, the lessons that build the news, the drawing, and a click."""

import re

import pytest

from tx_helpers.exercises.course import LESSONS
from tx_helpers.lessons.families.timeline import YEARS, dated, draw, timeline_explorer
from tx_helpers.lessons.families.timeline_models import MODELS

ASKED_FOR = (
    "ChatGPT",
    "GPT-4",
    "Gemini 1.5",
    "Gemini 2.5",
    "Claude 2",
    "Claude 3.5",
    "GPT-4o",
    "GPT-4.5",
    "PaLM",
    "GPT-2",
)


def test_each_name_has_a_day_a_sentence_a_source_and_a_lesson():
    names = [model.name for model in MODELS]
    assert len(set(names)) == len(names) and set(ASKED_FOR) < set(names)
    for model in MODELS:
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", model.day) and model.year in YEARS
        assert model.news[0].isupper() or model.news[0].isdigit()
        assert model.news.endswith(".") and len(model.news) <= 110 and len(model.source) > 8
        assert model.lesson in LESSONS


def test_a_paper_on_arxiv_has_the_month_of_its_number():
    for model in MODELS:
        if re.fullmatch(r"\d{4}\.\d{5}", model.source) and len(model.day) == 7:
            assert model.day == f"20{model.source[:2]}-{model.source[2:4]}", model.name


def test_days_are_said_in_words():
    assert (dated("2018-10"), dated("2022-11-30"), dated("2025-02-07")) == (
        "October 2018",
        "30 November 2022",
        "7 February 2025",
    )


def test_the_drawing_shows_the_chosen_sentence_and_every_name(as_stored):
    as_stored(chatgpt=draw("ChatGPT"))
    assert all(f">{each.name}</text>" in draw("ChatGPT").svg for each in MODELS)


def test_the_explorer_goes_to_another_name():
    explorer = timeline_explorer("BERT")
    assert explorer.summary.startswith("BERT (Google, October 2018; encoder-only)")
    explorer.set(model="Gemini 1.5")
    assert "15 February 2024" in explorer.summary
    with pytest.raises(ValueError, match="timeline: model='GPT-9', expected one of original"):
        timeline_explorer("GPT-9")
