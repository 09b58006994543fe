"""The charts: where their points lie, their axes and colours, what they refuse, hostile names."""

import re

import numpy as np
import pytest

from drawn import contrast, elements, points
from tx_helpers.show.charts import BLACK, bar_chart, ink_on, line_chart, looks, message, side_by_side, weight_map
from tx_helpers.show.plots import COLOURS
from tx_helpers.show.shapes import BLUE, DARK, GOLD, ORANGE, PAPER, rgb

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
        line_chart({"a": ([0, 1], [1, 2])}, size=(164, 166), logx=True, **WORDS)
    with pytest.raises(ValueError, match="cannot begin at 0; expected more than 0"):
        line_chart({"a": ([0, 1], [0, 1])}, size=(164, 166), logy=True, **WORDS)


def test_dots_mark_the_points_of_lines_that_are_not_faint():
    lines = {"a": ([1, 10], [1, 2]), "b": ([1, 100], [1, 1])}
    options = dict(size=(164, 166), logx=True, faint=["b"], **WORDS)
    plain, dotted = svg(line_chart(lines, **options)), svg(line_chart(lines, dots=True, **options))
    assert (plain.count("<circle"), dotted.count("<circle")) == (0, 2)


def test_a_chart_can_do_without_a_legend_and_with_other_ticks():
    lines = {"a": ([1e-5, 3e-5, 1], [1, 2, 3]), "b": ([1e-5, 1], [1, 1])}
    drawn = svg(line_chart(lines, size=(164, 166), logx=True, legend=False, xticks=[1e-5, 1], **WORDS))
    assert ">b<" not in drawn and ">1e-5<" in drawn and "3e-5" not in drawn


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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("colour", [BLUE.full, GOLD.full])
def test_numbers_can_be_read_on_every_shade(colour, dark):
    ground = rgb(DARK[PAPER] if dark else PAPER)
    for share in np.linspace(0, 1, 201):
        mixed = (round(g + share * (c - g)) for g, c in zip(ground, rgb(colour), strict=True))
        ink = ink_on(share, colour)
        ink = {BLACK: "#000000", "#000000": DARK["#000000"] if dark else "#000000"}.get(ink, ink)
        assert contrast(ink, "#" + "".join(f"{part:02X}" for part in mixed)) >= 4.5, share


def test_a_map_shades_its_cells_by_their_weights():
    drawn = svg(weight_map([[0.25, 0.75]], ["a", "b"], ["q"], size=(164, 166), title="t"))
    assert re.findall(r'fill="#E69F00"[^>]* fill-opacity="([\d.]+)"', drawn) == ["0.25", "0.75"]
    assert re.findall(r'fill="(#\w+)"[^>]*>0.\d5<', drawn) == ["#000000", "#000"]


def test_no_numbers_are_written_on_other_colours():
    with pytest.raises(ValueError, match="ink_on: colour='#D55E00', expected one of #0072B2, #E69F00"):
        ink_on(0.5, "#D55E00")


def test_a_logarithmic_x_has_its_ticks_where_it_was_measured():
    lengths = [128, 256, 1024, 2048]
    drawn = svg(line_chart({"a": (lengths, [0, 1, 2, 3])}, size=(164, 166), logx=True, **WORDS))
    assert [x for x, _ in points(drawn)[0]] == [52.0, 77.0, 127.0, 152.0]
    assert re.findall(r'y="142"[^>]*>([^<]+)<', drawn) == ["128", "256", "1024", "2048"]
    drawn = svg(line_chart({"a": (range(1, 21), range(20))}, size=(164, 166), logx=True, **WORDS))
    assert len(re.findall(r'y="142"', drawn)) == 7


def test_a_forbidden_cell_has_a_dash_and_an_orange_edge():
    options = dict(keys=["a", "b"], queries=["q"], size=(164, 166), title="t")
    plain, marked = (
        weight_map([[1.0, 0.0]], forbidden=forbidden, **options).body for forbidden in (None, [[False, True]])
    )
    assert ("–" in plain, plain.count(ORANGE.full), plain.count("0.00")) == (False, 0, 1)
    assert ("–" in marked, marked.count(ORANGE.full), marked.count("0.00")) == (True, 1, 0)


@pytest.mark.parametrize("size", [3, None, "ab", (3,), (3, 0), (3, None)])
def test_a_size_that_is_no_pair_is_named(size):
    charts = {
        "line_chart": lambda: line_chart({"a": ([0, 1], [0, 1])}, size=size, **WORDS),
        "bar_chart": lambda: bar_chart({"a": 0.5}, size=size, title="t"),
        "weight_map": lambda: weight_map([[1.0]], ["a"], ["b"], size=size, title="t"),
        "message": lambda: message("nothing", size=size),
    }
    for name, draw in charts.items():
        with pytest.raises(ValueError, match=f"{name}: size is .*, expected a pair"):
            draw()


@pytest.mark.parametrize("panels", [[], None, 3, ["a"], [None]])
def test_no_panel_and_what_is_none_are_named(panels):
    with pytest.raises(ValueError, match="side_by_side: panels"):
        side_by_side(panels, alt="nothing")


def test_bands_marks_levels_and_the_place_that_is_looked_at():
    chart = line_chart(
        {"a": ([0, 10], [0, 1])},
        size=(164, 166),  # 100 by 100 inside the margins
        bands={"a": ([0, 0.5], [0.5, 1])},
        marks={"a": ([5], [0.5])},
        hollow={"a": ([10], [1])},
        levels={"half": 0.5, "beyond": 2},
        at=(0, 5),
        xform="{:.1f}".format,
        percent=True,
        **WORDS,
    )
    (band,), (disc, ring) = elements(svg(chart), "polygon"), elements(svg(chart), "circle")
    assert band.get("points") == "52.0,76.0 152.0,26.0 152.0,76.0 52.0,126.0"
    assert [(one.get("cx"), one.get("cy"), one.get("fill")) for one in (disc, ring)] == [
        *(("102", "76", COLOURS[0]), ("152", "26", PAPER))
    ]
    shaded = elements(svg(chart), "rect")[1]
    assert (shaded.get("x"), shaded.get("width")) == ("52", "50")
    said = re.findall(r">([^<>]+)</text>", svg(chart))
    assert {"half", "100%", "10.0"} < {*said} and "beyond" not in said
    assert looks(["a", "b"])["b"].colour == COLOURS[1]
