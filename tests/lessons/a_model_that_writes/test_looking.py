"""The picture of what a head reads."""

import re

import pytest

from tx_helpers.lessons.a_model_that_writes.looking import Reading, draw_readings, lines

TEXT = "a cat met a bell. The "


def reading(on: str, share: float = 0.9) -> Reading:
    weights = [0.0] * len(TEXT)
    weights[TEXT.index(on)] = share
    weights[-1] = 1 - share
    return Reading("lost thing", TEXT, weights, word="bell")


@pytest.mark.parametrize(("on", "expected"), [("bell", "90%"), (" bell", "90%"), ("cat", "0%")])
def test_the_description_says_how_much_lies_on_the_word(on, expected):
    assert draw_readings([reading(on)], near=5).alt.endswith(f"lost thing, before 'bell': {expected} on this word.")


def test_gold_lies_behind_what_is_attended_to_and_a_line_below_the_newest():
    svg = draw_readings([reading("bell", 1.0)], near=5).svg
    gold = re.findall(r'<rect x="([\d.]+)" width="7.8" y="[\d.]+" height="20"|height="20"[^>]*x="([\d.]+)"', svg)
    assert len(gold) == 1 and svg.count('height="1.5"') == 5


def test_lines_are_cut_behind_spaces_and_lose_nothing():
    text = "abcd " * 40 + "e" * 100
    assert "".join(lines(text)) == text and max(map(len, lines(text))) <= 88


def test_weights_and_characters_are_as_many():
    with pytest.raises(ValueError, match="2 weights for 3 characters, expected as many"):
        draw_readings([Reading("x", "abc", [0.5, 0.5], word="b")], near=1)
