"""The opening question's answer, line by line: the planner's plans, the drawing, the words."""

import pytest

from drawn import texts
from tx_helpers.lessons.scaling_up.planning.cluster import Cluster
from tx_helpers.lessons.scaling_up.planning.planner import best_layouts
from tx_helpers.lessons.scaling_up.planning.published import MODELS
from tx_helpers.lessons.scaling_up.planning.so_far import (
    CHIP,
    COUNT,
    LINES,
    TRAINING,
    answer_so_far,
    described,
    plans,
    shares,
)


def test_each_line_uses_all_chips_and_the_last_is_the_fastest():
    found = plans()
    assert list(found) == list(LINES)
    assert [plan.layout.chips for plan in found.values()] == [1] + [COUNT] * 5
    fastest = best_layouts(MODELS["GPT-3 175B"], TRAINING, Cluster(CHIP, COUNT), count=1)[0]
    assert found["the fastest that fits"] == fastest and fastest.days == min(p.days for p in found.values() if p.fits)
    assert all(sum(shares(plan).values()) == pytest.approx(1) for plan in found.values())


def test_lines_are_added():
    few, many = texts(answer_so_far(2).svg), texts(answer_so_far().svg)
    assert "1,024 copies" in few and "1,024 shards" not in few and "the fastest that fits" in many
    assert described(1) in answer_so_far(1).alt and "17.6 years" in few
    with pytest.raises(ValueError, match="answer_so_far: count=7"):
        answer_so_far(7)
