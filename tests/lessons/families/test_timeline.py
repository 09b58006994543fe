"""The timeline: each name once, with a source; years, shapes and chips."""

import re

from tx_helpers.lessons.families.timeline import BOTH, DECODER, SOURCES, UNKNOWN, shapes_by_year, timeline


def test_each_model_stands_once_with_a_paper_or_a_day():
    entries = [entry.rsplit(" ", 1) for listed in SOURCES.values() for entry in listed.split(", ")]
    assert len({name for name, _ in entries}) == len(entries)
    assert all(re.fullmatch(r"\d{4}\.\d{5}|20\d\d-\d\d(-\d\d)?", source) for _, source in entries)


def test_years_are_those_of_the_sources_and_all_names_are_drawn():
    found = shapes_by_year()
    assert found[BOTH][2017] == ["original"] and found[DECODER][2020] == ["GPT-3"]
    assert found[UNKNOWN][2025][-2:] == ["GPT-5", "Gemini 3"]
    svg = timeline().svg
    assert all(f">{name}</text>" in svg for years in found.values() for names in years.values() for name in names)
    assert "2017 to 2021: 4 encoder-only, 5 encoder–decoder, 4 decoder-only" in timeline().alt
