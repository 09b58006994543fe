"""The record of `feature_runs` in words, as tables and as a picture.

toy_finding()       # what the autoencoder and its rivals find in the toy
words_table()       # how well units of the translator answer to one word
outlier_lines()     # the largest dimensions, and what they are for
"""

from collections.abc import Sequence

from tx_helpers.lessons.inside_the_model.feature_runs import RECORDED
from tx_helpers.show.charts import bar_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE

FEW, MANY = "40, 0.02", "40, 0.4"


def _of_seeds(values: Sequence[float], form: str = "{:g}") -> str:
    """ "18, 19 and 20", or "20" where all are the same."""
    said = [form.format(value) for value in values]
    return said[0] if len(set(said)) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def toy_finding() -> str:
    """What was found in the toy at three seeds, beside the rivals."""
    toy = RECORDED.read()["toy"]["trained"]

    def found(name: str, what: str = "found", form: str = "{:g}") -> str:
        return _of_seeds([seed[what] for seed in toy[name]], form)

    return (
        f"In the recorded runs, at three seeds, the weak penalty found {found(FEW)} features and lost "
        f"{found(FEW, 'error', '{:.1%}')} of the variance; the strong one found {found(MANY)} and lost "
        f"{found(MANY, 'error', '{:.0%}')}. Good reconstruction is no proof of a right dictionary. Rivals: coordinates "
        f"found {found('coordinates')}, PCA {found('PCA')}, ICA {found('ICA')}; both have only 16 signed directions. "
        f"k-means is the strongest: with 40 centres it found {found('k-means, 40')}, with 20 {found('k-means, 20')}. "
        f"Of the autoencoder's columns {found(MANY, 'true', '{:.0%}')} are features, of 20 centres "
        f"{found('k-means, 20', 'true', '{:.0%}')}. Some features have several columns."
    )


def words_table() -> dict[str, list[float]]:
    """Name of the units -> the mean F1 over all words, at each seed."""
    seeds = RECORDED.read()["words"].values()
    names = [name for name in next(iter(seeds)) if name != "active"]
    means = {name: [sum(seed[name]) / len(seed[name]) for seed in seeds] for name in names}
    return dict(sorted(means.items(), key=lambda item: sum(item[1])))


def words_picture() -> Svg:
    """The mean over the seeds as bars."""
    table = words_table()
    means = {name: sum(each) / len(each) for name, each in table.items()}
    panel = bar_chart(
        means, size=(740, 260), title="Mean F1 of the best unit for each next word", form="{:.2f}", colour=BLUE.full
    )
    said = ", ".join(f"{name} {_of_seeds(each, '{:.2f}')}" for name, each in table.items())
    return side_by_side([panel], alt=f"Mean F1 of the best unit for each next word, three seeds: {said}.")


def outlier_lines() -> list[str]:
    """For each model and block: how large the largest value is, and what its dimension is worth."""
    lines = []
    for model, layers in RECORDED.read()["outliers"].items():
        for name, (ratio, mean, zero, others, others_zero, place) in layers.items():
            lines.append(
                f"{model}, block {int(name.split('.')[2]) + 1}: largest value {ratio:.0f} × the median, at position "
                f"{int(place)}; largest dimension set to its mean: loss {mean:+.4f}, to 0: {zero:+.4f}; "
                f"another: {others:+.4f}, {others_zero:+.4f}"
            )
    return lines
