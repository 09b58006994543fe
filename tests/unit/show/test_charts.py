"""The charts: where their points lie, their axes and colours, what they refuse, hostile names."""

import re

import numpy as np
import pytest

from drawn import contrast, points
from tx_helpers.show.charts import _shade, bar_chart, line_chart, message, side_by_side, weight_map
from tx_helpers.show.plots import COLOURS

WORDS = dict(title="t", xlabel="x", ylabel="y")


def svg(*panels):
    return side_by_side(panels, alt="words enough to say").svg


def test_points_lie_where_the_axes_say():
    chart = line_chart({"a": ([0, 5, 10], [0, 1, 4])}, size=(164, 166), **WORDS)  # 100 by 100 inside the margins
    assert points(svg(chart)) == [[(52.0, 126.0), (102.0, 101.0), (152.0, 26.0)]]
    chart = line_chart({"a": ([1, 2], [0.01, 0.1])}, size=(164, 166), xlim=(0, 2), ylim=(0.01, 1), logy=True, **WORDS)
    assert points(svg(chart)) == [[(102.0, 126.0), (152.0, 76.0)]]


def test_values_off_the_axis_stay_at_its_end():
    chart = line_chart({"a": ([0, 1], [1e-9, 1e9])}, size=(164, 166), ylim=(0.01, 1), logy=True, **WORDS)
    assert points(svg(chart)) == [[(52.0, 126.0), (152.0, 26.0)]]


@pytest.mark.parametrize(
    ("limits", "labels"),
    [
        ((0.1, 10), ["0.1", "1", "10"]),
        ((1e-4, 1e6), ["1e-4", "0.01", "1", "100", "10000", "1e6"]),
        ((1e-20, 1e10), ["1e-20", "1e-16", "1e-12", "1e-8", "1e-4", "1", "10000", "1e8"]),
        ((1e5, 5e5), ["1e5", "200000", "500000"]),
    ],
)
def test_numbers_of_a_log_axis_do_not_crowd(limits, labels):
    chart = line_chart({"a": ([0, 1], limits)}, size=(164, 166), logy=True, **WORDS)
    texts = re.findall(r'text-anchor="end"[^>]*>([^<]+)<', svg(chart))
    assert texts == labels


def test_one_line_needs_no_legend_two_do():
    names = [{"one": ([0, 1], [1, 2])}, {"one": ([0, 1], [1, 2]), "two": ([], [])}]
    assert [svg(line_chart(lines, size=(164, 166), **WORDS)).count(">one<") for lines in names] == [0, 1]


@pytest.mark.parametrize("line", [([], []), ([3], [7])])
def test_no_point_and_one_point_are_drawn(line):
    assert "nan" not in svg(line_chart({"a": line}, size=(164, 166), **WORDS))


def test_a_logarithmic_scale_needs_positive_values():
    with pytest.raises(ValueError, match="cannot begin at 0; expected more than 0"):
        line_chart({"a": ([0, 1], [0, 1])}, size=(164, 166), logy=True, **WORDS)


def test_a_map_needs_a_row_for_each_query():
    with pytest.raises(ValueError, match=r"weights \(1, 2\), but there are 2 queries and 1 keys"):
        weight_map([[0.5, 0.5]], ["a"], ["b", "c"], size=(100, 100), title="t")


def test_bars_are_as_tall_as_their_shares():
    drawn = svg(bar_chart({"a": 1.0, "b": 0.25}, size=(200, 180), title="t"))
    assert re.findall(r'width="44" height="([\d.]+)"', drawn) == ["100", "25"]


def test_bars_have_the_lines_colours_or_one_that_is_given():
    values = {"a": 1.0, "b": 0.25}
    for options, colours in (({}, COLOURS[:2]), ({"colour": "#009E73"}, ("#009E73", "#009E73"))):
        drawn = svg(bar_chart(values, size=(200, 180), title="t", **options))
        assert re.findall(r'width="44" height="[\d.]+" fill="(#\w+)"', drawn) == list(colours)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: line_chart({}, size=(164, 166), **WORDS), "line_chart: lines is empty"),
        (lambda: line_chart({"a": ([1, 2], [3])}, size=(164, 166), **WORDS), r"line 'a' has x \(2,\) and y \(1,\)"),
        (
            lambda: line_chart({"a": ([], [])}, size=(164, 166), faint=["b"], **WORDS),
            "faint names 'b', but",
        ),
        (lambda: bar_chart({}, size=(200, 180), title="t"), "bar_chart: values is empty"),
        (
            lambda: bar_chart({"a": None}, size=(200, 180), title="t"),
            "bar_chart: 'a': value is None, expected",
        ),
        (lambda: weight_map([], [], [], size=(100, 100), title="t"), "weight_map: queries is empty"),
    ],
)
def test_an_empty_or_unknown_series_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_hostile_names_are_text():
    bad = '<script>alert(1)</script>"\x00&'
    drawn = svg(
        line_chart({bad: ([0, 1], [1, 2]), bad + "2": ([], [])}, size=(164, 166), title=bad, xlabel=bad, ylabel=bad),
        bar_chart({bad: 0.5}, size=(164, 166), title=bad),
        weight_map([[1.0]], [bad], [bad], size=(164, 166), title=bad),
        message(bad, size=(164, 166)),
    )
    assert "<script" not in drawn and "\x00" not in drawn and drawn.count("&lt;script&gt;") >= 8


def test_numbers_can_be_read_on_every_shade():
    for weight in np.linspace(0, 1, 101):
        drawn = svg(weight_map([[weight]], ["k"], ["q"], size=(164, 166), title="t"))
        ink = re.search(rf'fill="(#\w+)"[^>]*>{weight:.2f}<', drawn)[1]
        assert contrast(ink, _shade(weight)) >= 4.5, weight
