"""The record on two processes as a picture: the loss over the minutes, and where the seconds of two processes go."""

from collections.abc import Mapping
from typing import Any

from tx_helpers.lessons.scaling_up.two_processes import (
    all_reduce_seconds,
    recorded,
    seconds,
    speedup,
    steps_with_twice_the_batch,
    time_parts,
)
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show


def plot_two_processes(table: Mapping[str, Any] | None = None) -> Picture:
    """Left: the same losses over the time. Right: from half of one process's seconds to those of two."""
    table = recorded() if table is None else table
    figure, (left, right) = new_figure(9.0, 3.6, columns=2)
    run = next(row for row in table["runs"] if row["name"] == "the recipe")
    scale = table["about"]["steps"] / run["steps"]
    losses = [loss for _, _, loss in run["losses"]]
    for way, label, colour, line in (
        ("one", "one process", COLOURS[0], "-"),
        ("two", "two processes", COLOURS[1], "--"),
    ):
        minutes = [seconds(table, way, until=step * scale) / 60 for step, _, _ in run["losses"]]
        left.plot(minutes, losses, line, color=colour, linewidth=1.6, label=label)
    left.set(title="The same losses, over time", xlabel="minutes", ylabel="training loss (nats a character)")
    left.set_ylim(top=min(2.5, max(losses)))
    left.grid(alpha=0.3)
    left.legend(fontsize=9, frameon=False)
    rows, start = [("one process", 0.0, seconds(table, "one") + table["evaluation"])], 0.0
    for name, spent in time_parts(table).items():
        rows.append((name, start, spent))
        start += spent
    rows.append(("two processes", 0.0, start))
    for place, (name, begin, spent) in enumerate(rows):
        colour = {"one process": COLOURS[0], "two processes": COLOURS[1]}.get(name, COLOURS[2])
        right.barh(place, spent, left=begin, color=colour, height=0.7)
        sign = "" if name.endswith(("process", "processes")) or place == 1 else "+"
        right.text(max(begin, begin + spent) + 3, place, f"{sign}{spent:.0f} s", va="center", fontsize=8.5)
    right.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    right.invert_yaxis()
    right.set_xlim(0, 1.2 * max(begin + spent for _, begin, spent in rows))
    right.set(title="Where the seconds go", xlabel=f"seconds of {table['about']['steps']:,} steps")
    return show(figure, describe(table))


def describe(table: Mapping[str, Any]) -> str:
    """The picture in words, and what larger batches would bring."""
    parts = time_parts(table)
    one, two = seconds(table, "one"), seconds(table, "two")
    more = ", ".join(f"{name} {spent:+.0f}" for name, spent in list(parts.items())[1:-1])
    fewer, steps = steps_with_twice_the_batch(table)
    run = next(row for row in table["runs"] if row["name"] == "the recipe")
    return (
        f"The record's {table['about']['steps']:,} steps take {one:.0f} s on one process and {two:.0f} s on two, "
        f"{speedup(table):.2f} times as fast; on two they ended at a validation loss of {run['loss']:.3f}. "
        f"Two processes: {parts['half of one']:.0f} s are half of one's; {more} s, of which the all-reduce itself is "
        f"{all_reduce_seconds(table):.0f} s; the evaluation at the end takes both {table['evaluation']:.0f} s. With "
        f"batches that are twice as large, {fewer:.0f} steps reach the loss of {steps}."
    )
