"""The recorded runs of `distance_runs` as a picture: a row a model, a column a distance, a bar a seed.

draw_distances(recorded_shares())
"""

from collections.abc import Mapping, Sequence
from statistics import mean

from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, card, line, shape, words

Table = Mapping[str, Mapping[int, Sequence[float]]]  # name -> words in between -> the share at each seed
SIZE, LEFT, TOP, ROW, TALL, BAR = 720, 178, 76, 54, 30, 15


def draw_distances(table: Table, *, guessing: float = 1 / 8) -> Svg:
    """The share of right answers at each seed as bars, with their mean; the mark at the left is guessing."""
    distances = list(next(iter(table.values())))
    wide = (SIZE - LEFT - 16) / len(distances)
    parts = [words(20, 28, "Languages right, three trainings each; mark at the left: guessing", font_weight="bold")]
    parts += [words(LEFT + wide * (n + 0.5), 56, f"{d} words", anchor="middle") for n, d in enumerate(distances)]
    for row, (name, by_distance) in enumerate(table.items()):
        base = TOP + ROW * row + TALL
        parts.append(words(20, base - 8, name, font_weight="bold"))
        for place, shares in enumerate(by_distance.values()):
            x = LEFT + wide * place + 8
            for seed, share in enumerate(shares):
                tall = TALL * share
                bar = dict(x=x + BAR * seed, y=base - tall, width=BAR - 3, height=tall, fill=INK)
                parts.append(shape("rect", **bar))
            end = x + BAR * len(shares)
            parts.append(line(x - 3, base, end, base, EDGE))
            at = base - TALL * guessing
            parts.append(line(x - 11, at, x - 4, at, INK, stroke_width=2))
            parts.append(words(end + 2, base - 9, f"{100 * mean(shares):.0f} %", size=12.5, fill=MUTED))
    return card(SIZE, TOP + ROW * len(table), parts, describe_distances(table))


def describe_distances(table: Table) -> str:
    """The mean share of each model at each distance."""
    rows = [
        f"{name}: " + ", ".join(f"{100 * mean(shares):.0f} % at {d}" for d, shares in by_distance.items())
        for name, by_distance in table.items()
    ]
    return "Languages right with so many words in between, mean of three trainings. " + "; ".join(rows) + "."
