"""The picture of the ladder: a row for each entry, its marks and bars the numbers of the table."""

import numpy as np
import pytest

from tx_helpers.lessons.what_changed.ladder import BUDGETS, recorded_ladder
from tx_helpers.lessons.what_changed.ladder_plot import plot_ladder

TABLE = recorded_ladder()


@pytest.mark.parametrize("group", ["rungs", "alone", "without"])
def test_marks_are_means_and_bars_reach_the_lowest_and_the_highest_seed(group):
    axis = plot_ladder(TABLE, group).figure.axes[0]
    rows = TABLE[group]
    assert [label.get_text() for label in axis.get_yticklabels()] == [row["name"] for row in rows]
    assert len(axis.containers) == len(BUDGETS)
    for budget, container in zip(BUDGETS, axis.containers, strict=True):
        np.testing.assert_allclose(np.asarray(container[0].get_xdata(), float), [np.mean(row[budget]) for row in rows])
        ends = [segment[:, 0] for segment in container[2][0].get_segments()]
        np.testing.assert_allclose(ends, [[min(row[budget]), max(row[budget])] for row in rows])


def test_the_words_are_made_of_the_numbers():
    table = {"about": {"seeds": [0, 1]}, "rungs": [], "alone": [], "without": []}
    for name, loss in (("2017", 2.0), ("one", 1.9), ("two", 1.4)):
        table["rungs"].append({"name": name, **{budget: [loss, loss] for budget in BUDGETS}})
    table["alone"] = [{"name": "worse", "steps": [2.5, 2.5]}, {"name": "better", "steps": [1.0, 1.5]}]
    assert plot_ladder(table, budgets=["steps"]).alt == (
        "The ladder: each row keeps all changes above it. Validation loss, 2 seeds: at equal steps from 2.00 (2017) "
        "to 1.40 (two), the largest step down is two (0.50)."
    )
    assert plot_ladder(table, "alone", ["steps"]).alt.endswith("at equal steps from -0.75 (better) to +0.50 (worse).")


def test_it_draws():
    assert plot_ladder().png().startswith(b"\x89PNG")


def test_wrong_names_are_named():
    with pytest.raises(ValueError, match="plot_ladder: group='x', expected"):
        plot_ladder(group="x")
    with pytest.raises(ValueError, match="plot_ladder: budget='x', expected"):
        plot_ladder(budgets=["x"])
