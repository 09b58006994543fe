"""The explorers of rotary positions: their numbers against formulas, their drawings against the numbers."""

import math
import re

import numpy as np
import pytest

from tx_helpers.lessons.positions_inside_attention.rotary import (
    KEY_PAIR,
    METHODS,
    QUERY_PAIR,
    clocks,
    draw_clocks,
    draw_turn,
    rotary_explorer,
    sector,
    stretched_explorer,
    turn_pair,
)

# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize(("m", "n", "degrees"), [(5, 2, 20), (0, 0, 35), (3, 40, 90), (7, 7, 0)])
def test_query_and_key_turn_as_complex_numbers(m, n, degrees):
    seen = turn_pair(m, n, degrees)
    query = complex(*QUERY_PAIR) * np.exp(1j * math.radians(m * degrees))
    key = complex(*KEY_PAIR) * np.exp(1j * math.radians(n * degrees))
    np.testing.assert_allclose([*seen.query, *seen.key], [query.real, query.imag, key.real, key.imag], atol=1e-12)
    assert seen.score == pytest.approx((query * key.conjugate()).real)
    assert turn_pair(m + 7, n + 7, degrees).score == pytest.approx(seen.score)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [64, 128, 512])
def test_the_clocks_turn_as_the_formulas_say(method, length):
    seen, factor = clocks(length, method), length / 64
    rates = 10000.0 ** (-2 * np.arange(8) / 16)
    if method == "interpolation":
        now = rates / factor
    else:
        base = 10000.0 * factor ** (16 / 14) if method == "NTK" else 10000.0
        now = base ** (-2 * np.arange(8) / 16)
    np.testing.assert_allclose(seen.seen, 64 * rates)
    np.testing.assert_allclose(seen.used, length * now)
    assert seen.step == pytest.approx(now[0])
    once_round = 64 * rates >= 2 * math.pi
    np.testing.assert_allclose(seen.beyond, np.where(once_round, 1.0, length * now / (64 * rates)))
    assert once_round.tolist() == [True] * 3 + [False] * 5


def test_what_the_stretchings_promise():
    assert clocks(256, "nothing").beyond.max() == pytest.approx(4)
    assert clocks(256, "interpolation").beyond.max() == pytest.approx(1)
    assert clocks(256, "NTK").beyond[-1] == pytest.approx(1)
    assert clocks(256, "NTK").step == clocks(256, "nothing").step == 4 * clocks(256, "interpolation").step


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((63, "NTK"), "clocks: length=63, expected at least 64"),
        ((64, "YaRN"), "clocks: method='YaRN', expected one of"),
    ],
)
def test_what_clocks_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        clocks(*arguments)


# ---------------------------------------------------------------------------------------------------------------- draw


def test_the_arrows_end_where_the_vectors_do_a_circle_for_the_query_a_square_for_the_key():
    svg = draw_turn(0, 0, 20, turn_pair(0, 0, 20)).svg
    assert re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="6"', svg) == [("325", "180")]
    assert re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="11"', svg) == [("292.5", "93.5")]


def test_the_names_of_query_and_key_never_touch():
    for distance in range(-9, 10):
        seen = turn_pair(20 + distance, 20, 20)
        svg = draw_turn(20 + distance, 20, 20, seen).svg
        (a, b), (c, d) = (
            map(float, re.search(rf'<text x="([\d.]+)" y="([\d.]+)"[^>]*>{name}<', svg).groups())
            for name in ("query", "key")
        )
        assert abs(a - c) > 30 or abs(b - d) > 13, f"distance {distance}"


@pytest.mark.parametrize(("m", "n", "degrees"), [(5, 2, 20), (2, 8, 20), (0, 0, 45), (40, 0, 35)])
def test_the_angle_that_is_written_is_the_one_whose_cosine_is_the_score(m, n, degrees):
    seen = turn_pair(m, n, degrees)
    drawn = draw_turn(m, n, degrees, seen)
    written = re.search(r"score = cos\((−?)(\d+)°\) = (−?)([\d.]+)<", drawn.svg).groups()
    angle, score = float(written[0].replace("−", "-") + written[1]), float(written[2].replace("−", "-") + written[3])
    assert score == pytest.approx(seen.score, abs=6e-4)
    assert math.cos(math.radians(angle)) == pytest.approx(score, abs=0.01)
    assert f"= {angle:.0f}°, and the score is the cosine of that, {seen.score:.3f}" in drawn.alt.replace("−", "-")


def test_a_sector_is_large_from_half_a_circle_on_and_a_disc_from_a_full_one_on():
    assert "A10,10 0 0 0 0,-10 Z" in sector(0, 0, 10, 0.0, math.pi / 2, "red")
    assert " 0 1 0 " in sector(0, 0, 10, 0.0, 1.5 * math.pi, "red")
    assert sector(0, 0, 10, 0.0, 7.0, "red").startswith("<circle")


def test_only_pairs_with_new_angles_are_marked():
    svg = draw_clocks(256, "nothing", clocks(256, "nothing")).svg
    assert (svg.count("nothing new"), svg.count(">× 4.0<")) == (3, 5)
    svg = draw_clocks(64, "nothing", clocks(64, "nothing")).svg
    assert svg.count("nothing new") == 8 and svg.count('fill="#D55E00"') == 1  # in the legend alone


# ---------------------------------------------------------------------------------------------------------------- bind


def test_the_turning_pair_answers_its_questions():
    turn = rotary_explorer()
    rest = "and the score is the cosine of that, 0.920. It is the same at all positions with m − n = 3."
    assert turn.summary == (
        "Query at 5 turned by 100°, key at 2 by 40°. The key began 37° ahead of the query; 37° − 60° = −23°, " + rest
    )
    turn.set(query=25, key=22)
    assert turn.summary.startswith("Query at 25 turned by 500°, key at 22 by 440°.") and turn.summary.endswith(rest)
    turn.set(query=5, key=2, both=20)
    assert turn.summary.startswith("Query at 25 turned by 500°, key at 22 by 440°.") and turn.summary.endswith(rest)
    turn.set(query=25, key=28, both=0)
    assert "37° − (−60°) = 97°, and the score is the cosine of that, −0.120." in turn.summary


def test_the_clocks_answer_their_questions():
    stretched = stretched_explorer()
    assert "0 of 8 pairs meet angles they have never met, none turns further" in stretched.summary
    stretched.set(length=256)
    assert "5 of 8 pairs meet angles they have never met, the furthest 4.0 times as far" in stretched.summary
    stretched.set(method="interpolation")
    assert "0 of 8 pairs" in stretched.summary and "the fastest pair turns by 14°" in stretched.summary
    stretched.set(method="NTK")
    assert "4 of 8 pairs" in stretched.summary and "the furthest 2.2 times" in stretched.summary
    assert "the fastest pair turns by 57°" in stretched.summary
