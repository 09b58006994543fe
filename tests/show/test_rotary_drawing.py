"""The drawing of rotary positions says of its angles what it draws; no drawing writes a colour where words belong."""

import math
import re
from xml.etree import ElementTree

import pytest

from notebook_frame import ROOT
from tx_helpers.show.shapes import KEY, QUERY

SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = sorted((ROOT / "figures").glob("*.svg"))


def texts(path) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.parse(path).iter(SVG + "text")]


def directions(colour: str) -> list[float]:
    """The directions in degrees of all arrows of a colour, from left to right in the drawing."""
    found = []
    for line in ElementTree.parse(ROOT / "figures" / "rotary_rotation.svg").iter(SVG + "polyline"):
        if line.get("stroke") == colour:
            (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in line.get("points").split())
            found.append((x0, math.degrees(math.atan2(y0 - y1, x1 - x0))))
    return [angle for _, angle in sorted(found)]


def test_the_angle_between_query_and_key_is_the_one_that_is_written():
    written = texts(ROOT / "figures" / "rotary_rotation.svg")
    queries, keys = directions(QUERY.full)[-2:], directions(KEY.full)
    angles = [float(found[1]) for words in written if (found := re.fullmatch(r"(\d+)°", words))]
    turns = [list(map(int, re.findall(r"\d+", words))) for words in written if words.startswith("q turned")]
    assert len(queries) == len(keys) == len(angles) == len(turns) == 2
    for query, key, angle, (m, query_step, n, key_step) in zip(queries, keys, angles, turns, strict=True):
        assert (query - key) % 360 == pytest.approx(angle, abs=0.5)
        assert query % 360 == pytest.approx(m * query_step % 360, abs=0.5)
        assert key % 360 == pytest.approx(n * key_step % 360, abs=0.5)


def test_no_drawing_writes_a_colour_where_words_belong():
    written = [(path.stem, words) for path in DRAWINGS for words in texts(path)]
    assert [each for each in written if re.search(r"#[0-9A-Fa-f]{6}|Colour\(", each[1])] == []
