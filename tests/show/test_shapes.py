"""The palette: light and dark, told apart by every eye, and a style sheet that turns the one into the other."""

import itertools
import re

import nbformat
import pytest

from drawn import contrast, elements
from repository import COURSE
from tx_helpers.show import shapes
from tx_helpers.show.shapes import (
    DARK,
    FORMULA,
    GREY,
    INK,
    MUTED,
    PAPER,
    WHITE,
    Colour,
    card,
    either,
    gibi,
    rgb,
    sheet,
    theme,
    words,
)

PALETTE = {name: value for name, value in vars(shapes).items() if isinstance(value, Colour)}
# How those see who lack one kind of cone (Viénot, Brettel and Mollon 1999), on linear red, green and blue.
CONES = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deutan": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
}


def seen(colour: str, eye: str) -> list[float]:
    """The colour as this eye sees it, in CIE Lab."""
    linear = [c / 12.92 if (c := part / 255) <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for part in rgb(colour)]
    r, g, b = (min(1, max(0, sum(a * c for a, c in zip(row, linear, strict=True)))) for row in CONES[eye])
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("eye", CONES)
def test_the_roles_are_told_apart_by_every_eye(eye):
    roles = ("QUERY", "KEY", "VALUE", "SCORE", "WEIGHT", "RESIDUAL")
    for (a, one), (b, other) in itertools.combinations([(role, PALETTE[role].full) for role in roles], 2):
        away = sum((p - q) ** 2 for p, q in zip(seen(one, eye), seen(other, eye), strict=True)) ** 0.5
        assert away > 15, f"{a} and {b} are {away:.0f} apart"


def test_every_shade_can_be_read_on_its_tint_and_on_the_card_in_both_themes():
    for name, (full, tint, shade) in PALETTE.items():
        assert contrast(full, DARK[PAPER]) >= 3, name
        for ground in (tint, PAPER, WHITE):
            assert contrast(shade, ground) >= 4.5, name
            assert contrast(DARK[shade], DARK[ground]) >= 4.5, name
            assert contrast(DARK[INK], DARK[ground]) >= 6, name
    for ground in (PAPER, WHITE, GREY.tint):
        assert contrast(DARK[MUTED], DARK[ground]) >= 4.5


def test_no_colour_of_a_formula_could_be_read_much_better_on_white_and_on_dark():
    best = contrast("#FFFFFF", "#111111") ** 0.5  # of the grey halfway between
    assert best < 4.5
    for mark in FORMULA.values():
        colour = re.search(r"#\w{6}", mark)[0]
        assert min(contrast(colour, "#FFFFFF"), contrast(colour, "#111111")) > best - 0.05


def test_the_formulas_of_the_course_have_these_marks_and_no_other_colours():
    sources = [cell.source for path in COURSE for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"]
    found = re.findall(r"\\textcolor\{#\w+\}\{[^}]*\}", "\n".join(sources))
    assert set(found) == set(FORMULA.values())


def test_a_card_carries_the_rules_of_its_own_colours_and_no_others():
    svg = card(90, 30, [words(5, 20, "word", fill=MUTED)], "A word.").svg
    (style,) = elements(svg, "style")
    assert style.text.startswith("svg:root{color-scheme:light dark}")
    ruled = re.findall(r'\[fill="(#\w+)"\]{fill:light-dark\((#\w+),(#\w+)\)}', style.text)
    assert ruled == [(colour, colour, DARK[colour]) for colour in (MUTED, PAPER)]
    assert svg.count(theme(svg.replace(style.text, ""))) == 1


def test_white_words_stay_white_since_they_stand_on_a_full_colour():
    assert f'.tx-card :not(text)[fill="{WHITE}"]{{fill:{either(WHITE)}}}' in sheet()
    assert f'.tx-card [stroke="{WHITE}"]' in sheet()


def test_each_role_has_a_mark_of_its_own():
    marks = [shapes.query_mark(20, 10, 5), shapes.key_mark(20, 10, 5), shapes.value_mark(20, 10, 5)]
    assert marks == [
        '<circle cx="20" cy="10" r="5" fill="#D55E00"/>',
        '<rect x="15" y="5" width="10" height="10" fill="#0072B2"/>',
        '<path d="M20,5l5,5l-5,5l-5,-5z" fill="#009E73"/>',
    ]
    assert shapes.value_mark(0, 0, fill="none").endswith('fill="none"/>')


def test_bytes_are_said_in_their_unit():
    assert [gibi(2**power * 1.5) for power in (10, 20, 30, 47)] == ["1.5 KiB", "1.5 MiB", "1.5 GiB", "192 TiB"]
