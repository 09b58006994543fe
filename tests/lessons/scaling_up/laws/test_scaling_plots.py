"""The pictures of the scaling laws: marks are the runs, filled or empty, lines the law, and the words say it."""

import numpy as np
import pytest

from planted_runs import LENGTHS, PLANTED, RATES, planted
from tx_helpers.lessons.scaling_up.laws.law_ways import extrapolate, hoffmann_way
from tx_helpers.lessons.scaling_up.laws.scaling_plots import plot_law, plot_rates

TABLE = planted()


@pytest.mark.slow
def test_filled_marks_are_the_runs_that_were_fitted_and_empty_ones_the_others():
    picture = plot_law(TABLE, share=0.2)
    points = hoffmann_way(TABLE)
    found = extrapolate(points, 0.2 * float(points.operations.max()))
    marks = [line for line in picture.figure.axes[0].lines if line.get_linestyle() == "None"]
    empty = [line for line in marks if line.get_markerfacecolor() == "white"]
    for lines, runs in ((empty, found.others), ([line for line in marks if line not in empty], found.small)):
        drawn = sorted((x, y) for line in lines for x, y in zip(*line.get_data(), strict=True))
        expected = sorted(zip(runs.tokens.tolist(), runs.losses.tolist(), strict=True))
        np.testing.assert_allclose(drawn, expected)
    law = next(line for line in picture.figure.axes[0].lines if len(line.get_xdata()) == 60)
    np.testing.assert_allclose(law.get_ydata(), found.law.loss(800, law.get_xdata()))
    assert len(picture.figure.axes[1].get_xticks()) == len(LENGTHS)


@pytest.mark.slow
def test_the_words_of_the_law():
    alt = plot_law(TABLE, share=0.2).alt
    assert alt.startswith(
        "Loss over tokens for 16 runs, smallest possible loss 0.500. A schedule for each run: law of "
    )
    largest = float(PLANTED.loss(6400, 500 * LENGTHS[-1]))
    assert f"measured {largest:.3f}" in alt and "One schedule, read on the way: law of " in alt


def test_a_ring_stands_at_the_best_rate():
    picture = plot_rates(TABLE)
    for axis, best in zip(picture.figure.axes, ([(0.25, 2.0), (0.125, 1.6)], [(0.25, 2.0), (0.25, 1.5)]), strict=True):
        rings = [line for line in axis.lines if line.get_markersize() == 13]
        assert [(float(ring.get_xdata()[0]), float(ring.get_ydata()[0])) for ring in rings] == best
        losses = np.mean(RATES["losses"][axis.get_title()]["32"], axis=1)
        np.testing.assert_allclose(axis.lines[2].get_ydata(), losses)
    assert picture.alt == (
        "Loss over the learning rate by width, 20 steps with Adam. With one rate: best 0.2500 at width 16, 0.1250 at "
        "width 32; at width 32 the rate of width 16 costs 0.250 more than the best. With μP: best 0.2500 at width 16, "
        "0.2500 at width 32; at width 32 the rate of width 16 costs 0.000 more than the best."
    )


@pytest.mark.slow
def test_they_draw():
    assert plot_law().png().startswith(b"\x89PNG") and plot_rates().png().startswith(b"\x89PNG")


def test_wrong_arguments_are_named():
    for share in (0, 1):
        with pytest.raises(ValueError, match=f"plot_law: share={share}, expected more than 0 and less than 1"):
            plot_law(TABLE, share=share)
