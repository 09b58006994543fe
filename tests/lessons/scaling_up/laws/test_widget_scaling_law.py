"""The explorer of the scaling law: what is fitted and held back, the drawing, the words, and the explorer."""

import math

import pytest

from drawn import elements, points, texts
from planted_runs import PLANTED, planted
from tx_helpers.lessons.scaling_up.laws.scaling_law import (
    BUDGETS,
    LOSSES,
    best_size,
    describe,
    draw,
    fitted,
    scaling_law_explorer,
)
from tx_helpers.show.charts import BOTTOM, TOP
from tx_helpers.show.plots import COLOURS
from tx_helpers.show.shapes import PAPER

LOW, HIGH = LOSSES["ylim"]
TABLE = planted()
FIT = fitted(TABLE, 1 / 4, True, True)


# --- compute ---------------------------------------------------------------------------------------------------------
def test_the_share_decides_what_is_fitted():
    most = max(6 * one["parameters"] * one["tokens"] for one in TABLE["runs"])
    small = [one for one in TABLE["runs"] if 6 * one["parameters"] * one["tokens"] <= most / 4]
    assert sorted(FIT.found.small.losses.tolist()) == pytest.approx(sorted(one["loss"] for one in small))
    assert len(FIT.found.others.losses) == len(TABLE["runs"]) - len(small)
    assert FIT.found.law == pytest.approx(PLANTED, rel=0.05)


def test_the_best_size_is_that_of_the_law():
    best = best_size(FIT.found, 1e9)
    assert (best.parameters, best.tokens) == FIT.found.law.best_size(1e9)
    assert 6 * best.parameters * best.tokens == pytest.approx(1e9)
    assert best.loss == pytest.approx(PLANTED.loss(best.parameters, best.tokens), rel=0.01)
    assert best.low <= best.parameters * 1.01 and best.high >= best.parameters * 0.99


# --- draw ------------------------------------------------------------------------------------------------------------
def height(loss: float) -> float:
    return TOP + (330 - TOP - BOTTOM) * (1 - math.log(loss / LOW) / math.log(HIGH / LOW))


def test_a_mark_for_each_run_empty_where_it_was_held_back():
    svg = draw(FIT, 1e9).svg
    *runs, lowest = elements(svg, "circle")
    filled = [mark for mark in runs if mark.get("fill") != PAPER]
    for marks, losses in (
        (filled, FIT.found.small.losses),
        ([m for m in runs if m not in filled], FIT.found.others.losses),
    ):
        at = sorted(height(min(max(loss, LOW), HIGH)) for loss in losses.tolist())
        assert sorted(float(mark.get("cy")) for mark in marks) == pytest.approx(at, abs=0.15)
    assert lowest.get("fill") == COLOURS[0]
    assert float(lowest.get("cy")) == pytest.approx(height(best_size(FIT.found, 1e9).loss), abs=0.15)


def test_the_lines_are_the_law_and_the_mark_is_the_lowest_point_of_its_curve():
    svg = draw(FIT, 1e9).svg
    *lines, over_size = points(svg)
    assert len(lines) == 4
    first = float(FIT.found.law.loss(6400, float(FIT.found.small.tokens.min())))
    assert lines[-1][0][1] == pytest.approx(height(first), abs=0.15)
    lowest = elements(svg, "circle")[-1]
    assert max(y for _, y in over_size) <= float(lowest.get("cy")) + 0.15
    assert "smallest possible loss 0.500" in texts(svg)


# --- describe --------------------------------------------------------------------------------------------------------
def test_the_words():
    fit = fitted(TABLE, 1 / 4, True, False)
    law, best = fit.found.law, best_size(fit.found, 1e9)
    told = describe(fit, 1e9)
    assert told.startswith(f"Fitted to {len(fit.found.small.losses)} runs: E = {law.E:.3f} (")
    assert f"α = {law.alpha:.2f}, β = {law.beta:.2f}; the smallest possible loss is 0.500." in told
    assert f"{len(fit.found.others.losses)} runs held back: the law misses them by 0.00" in told
    assert f"The best N without the embedding grows as C^{law.exponent:.2f} (" in told
    assert told.endswith(f"loss {best.loss:.3f}.")


# --- bind ------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_controls_choose_what_is_fitted():
    explorer = scaling_law_explorer(TABLE)
    assert list(explorer.values) == ["share", "ended", "embeddings", "budget"]
    own = explorer.summary
    explorer.set(ended=False)
    assert explorer.summary == describe(fitted(TABLE, 1 / 16, False, True), 10**13) != own
    explorer.set(ended=True, embeddings=False)
    assert "N without the embedding" in explorer.summary
    explorer.set(embeddings=True, budget=BUDGETS["10^16"])
    assert "For 1.0e+16 operations" in explorer.summary


def test_another_table_is_named():
    with pytest.raises(ValueError, match="scaling-law: the table has no 'runs', expected what `law_runs`"):
        scaling_law_explorer({"about": {}})
