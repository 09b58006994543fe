"""What a sparse autoencoder found in the toy: the cosine of each of its columns with each of the true features.

    dictionary_explorer()

Green is a cosine above 0.9: there the column is the feature. `features` has the equations, `feature_runs` the record.
"""

import torch
from torch import Tensor

from tx_helpers.lessons.inside_the_model.feature_runs import RECORDED
from tx_helpers.lessons.inside_the_model.features import FEATURES, SAME, WEIGHTS, WIDTHS, report, unit
from tx_helpers.show.charts import Panel, heading, side_by_side
from tx_helpers.show.controls import stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, MUTED, ORANGE, shape, words


# --- compute ----------------------------------------------------------------------------------------------------------
def recorded(width: int, weight: float) -> tuple[Tensor, Tensor]:
    """The true directions (20, 8), and the columns in use (N, 8) of an autoencoder at seed 0."""
    kept = RECORDED.read()["shown"]
    return torch.tensor(kept["directions"]), torch.tensor(kept[f"{width}, {weight:g}"])


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(directions: Tensor, columns: Tensor, width: int, weight: float) -> Svg:
    """The cosine of each column with each true feature; a column stands below the feature that it is nearest to."""
    cosines = unit(directions) @ unit(columns).T
    best, nearest = cosines.max(0)
    order = sorted(range(len(columns)), key=lambda at: (int(nearest[at]), -float(best[at])))
    step, row = 660 / max(len(order), 20), 15
    parts = [heading(372, "Cosine of each column with each true feature")]
    for feature, values in enumerate(cosines):
        y, hits = 40 + row * feature, int((values > SAME).sum())
        said, colour = ("missing", ORANGE) if not hits else ("found", GREEN) if hits == 1 else (f"split: {hits}", BLUE)
        parts.append(words(32, y + 12, str(feature + 1), anchor="end", fill=MUTED))
        parts.append(words(48 + 660, y + 12, said, fill=colour.shade))
        for place, at in enumerate(order):
            if (value := float(values[at])) > 0.2:
                cell = dict(x=40 + step * place, y=y, width=step - 1, height=row - 1, fill_opacity=round(value, 2))
                parts.append(shape("rect", fill=GREEN.full if value > SAME else MUTED, **cell))
    parts.append(
        words(40, 58 + row * FEATURES, "one column for each code that is ever on; green: above 0.9", fill=MUTED)
    )
    return side_by_side(
        [Panel((776, 68 + row * FEATURES), "".join(parts))], alt=describe(directions, columns, width, weight)
    )


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(directions: Tensor, columns: Tensor, width: int, weight: float) -> str:
    """How many of the true features have a column of their own, and what became of the others."""
    seen = report(directions, columns)
    return (
        f"{width} columns, L1 {weight:g}: {seen.found} of {FEATURES} features found, {seen.split} of them split. "
        f"{len(columns)} columns are in use: {seen.true:.0%} are right, {seen.merged} merge two features."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def dictionary_explorer() -> Explore:
    """Width and L1 weight of a sparse autoencoder, and which features of the toy it found; recorded at seed 0."""
    return Explore(
        lambda width, weight: draw(*recorded(width, weight), width, weight),
        name="dictionary",
        width=stops("Columns", list(WIDTHS), 40),
        weight=stops("L1 weight", list(WEIGHTS), 0.02),
    )
