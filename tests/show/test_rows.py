"""Pictures in rows: nothing overlaps, bars are as long as their values, long texts are cut and lose nothing."""

import re

import pytest

from drawn import elements, texts
from tx_helpers.show.charts import Panel, looks
from tx_helpers.show.rows import MARGIN, Bar, Text, bars, legend, listed, stacked, title, waterfall
from tx_helpers.show.shapes import BLUE, GREY, MUTED, ORANGE, shape

FILLS = {"a": BLUE.full, "b": ORANGE.full, "c": GREY.full}


def rectangles(panel: Panel, fill: str) -> list[tuple[float, float]]:
    """Where the bars of a colour begin, and how long they are."""
    found = elements(stacked([panel], width=300, alt="bars").svg, "rect")
    return [(float(one.get("x")), float(one.get("width"))) for one in found if one.get("fill") == fill]


def test_rows_stand_below_each_other():
    picture = stacked(
        [title("Memory"), "of a chip", Panel((100, 50), shape("rect", width=100, height=50)), Text("end", MUTED)],
        width=300,
        alt="rows",
    )
    memory, chip, end = (float(one.get("y")) for one in elements(picture.svg, "text"))
    top = float(re.search(r"translate\(16,([\d.]+)\)", picture.svg)[1])
    assert memory < chip < top < top + 50 < end - 13 and picture.alt == "rows"
    assert float(elements(picture.svg, "svg")[0].get("height")) > end


def test_panels_of_a_row_stand_side_by_side():
    one = Panel((100, 50), shape("rect", width=100, height=50))
    left, right = re.findall(r"translate\((\d+),", stacked([[one, one]], width=300, alt="two").svg)
    assert int(left) == MARGIN and int(right) == MARGIN + 100 + MARGIN


def test_a_long_text_is_cut_between_words_and_loses_none():
    said = " ".join(f"word{n}" for n in range(60))
    lines = texts(stacked([said], width=400, alt="long").svg)
    assert " ".join(lines) == said and 1 < max(map(len, lines)) <= (400 - 2 * MARGIN) / (0.53 * 13)


def test_bars_are_as_long_as_their_values():
    panel = bars({"a": Bar(2, "two", BLUE.full), "b": Bar(8, "eight", ORANGE.full, muted=4)}, **PLACE)
    assert rectangles(panel, BLUE.full) == [(60, 25)] and rectangles(panel, ORANGE.full) == [(60, 100)]
    assert rectangles(panel, MUTED) == [(60, 50)] and panel.size[0] == 60 + 100 + 40


PLACE = dict(names=60, length=100, room=40)


def test_a_bar_ends_where_its_frame_ends():
    panel = bars({"a": Bar(2, "two", BLUE.full, muted=3), "b": Bar(0.5, "half", ORANGE.full)}, **PLACE, full=1)
    assert rectangles(panel, GREY.tint) == [(60, 100)] * 2 and rectangles(panel, BLUE.full) == [(60, 100)]
    assert rectangles(panel, ORANGE.full) == [(60, 50)] and rectangles(panel, MUTED) == [(60, 100)]


@pytest.mark.parametrize(("limit", "scale"), [(0, 10), (20, 5)])
def test_a_part_begins_where_the_one_before_ended(limit, scale):
    panel = waterfall({"a": 4, "b": 0, "c": 6}, FILLS, str, names=60, length=100, limit=limit)
    assert rectangles(panel, BLUE.full) == [(60, 4 * scale)] and rectangles(panel, ORANGE.full) == []
    assert rectangles(panel, GREY.full) == [(60 + 4 * scale, 6 * scale)]
    edge = [line.get("x1") for line in elements(stacked([panel], width=300, alt="parts").svg, "line")][3:]
    assert edge == (["160"] if limit else [])


def test_what_stands_beside_a_chart_has_the_looks_of_its_lines():
    look = looks(["first", "second"])
    panel = listed({"second": ("second: 2", "more"), "first": ("first: 1",)}, look, title="now", size=(200, 90))
    svg = stacked([panel], width=300, alt="list").svg
    assert [line.get("stroke") for line in elements(svg, "line")] == [look["second"].colour, look["first"].colour]
    assert texts(svg) == ["now", "second: 2", "more", "first: 1"]


def test_a_swatch_of_a_legend_stands_before_its_name_and_behind_the_one_before():
    parts = legend(10, 5, {"a long name": {"fill": BLUE.full}, "b": {"fill": "none", "rx": 3}})
    svg = stacked([Panel((300, 30), "".join(parts))], width=300, alt="legend").svg
    (first, second), said = elements(svg, "rect")[1:], elements(svg, "text")
    assert [one.get("fill") for one in (first, second)] == [BLUE.full, "none"] and second.get("rx") == "3"
    places = [float(one.get("x")) for one in (first, said[0], second, said[1])]
    assert places == sorted(places) and places[2] - places[1] > 6 * len("a long name")
