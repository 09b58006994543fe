"""A recipe's training on two processes: how much sooner it ends, and where the rest of the time goes.

    table = recorded()                  # two_processes.json
    speedup(table)                      # seconds on one process / seconds on two
    time_parts(table)                   # the seconds of the training on two, by what they are spent on
    steps_with_twice_the_batch(table)   # the other use of a second process: fewer steps, with larger batches

Each process computes with one thread, also when it is alone: one core is compared with two. Two processes with copies
of the model (DistributedDataParallel) each take half of every batch, so the losses are those of one process, step by
step, up to rounding. What a step takes decides. With one process it is t; with two

    t / 2                  what would be left if all work were divided and nothing came in addition
    + smaller pieces       half a batch takes more than half the time: small matrices use a core less well
    + optimizer twice      each process updates all weights, by Muon and AdamW, instead of half of them
    + side by side         two processes that do not talk share caches and memory, and wait for other programs
    + sending and waiting  gradients are summed (all-reduce), and the faster process waits for the slower one

In the file: {"about": {…}, "stages": [{"length", "rows", "share", "step": {way: seconds}, "optimizer": {way: seconds},
"all_reduce": seconds}, …], "gaps": [{"numbers", "steps", "largest"}], "evaluation": seconds, "runs": [{"name", "batch",
"steps", "seconds", "loss", "losses": [[step, seconds, loss], …]}, …]}. A stage has windows of one length, for a share
of all steps. The ways: "one" process with full batches, "half" batches in one process, "apart": in two that do not
talk, "two" processes with DDP. The ways took turns, round after round. Each number is the tenth percentile, since other
programs only ever make a step slower. All "runs" are of two processes.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tx_helpers.lessons.scaling_up.real.launch import launch
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show
from tx_helpers.training.experiment import Experiment

WAYS = ("one", "half", "apart", "two")
PARTS = ("half of one", "smaller pieces", "optimizer twice", "side by side", "sending and waiting", "evaluation")


def measure() -> dict[str, Any]:
    """The content of the file, by tools/run_record_on_two.py in a checkout of the course: it knows two lessons."""
    tool = Path(__file__).parents[4] / "tools" / "run_record_on_two.py"
    with TemporaryDirectory() as folder:
        file = Path(folder, "two_processes.json")
        print(launch(2, str(tool), "--to", str(file), timeout=7200), end="")
        return RECORDED.read(file)


RECORDED = Experiment(Path(__file__).parents[1] / "two_processes.json", measure, "10 minutes", None)
recorded = RECORDED.read


def seconds(table: Mapping[str, Any], way: str, part: str = "step", *, until: float | None = None) -> float:
    """Of the first `until` steps (None: all) of the training in this way; part is "step", or "optimizer" alone."""
    check_one_of("seconds", WAYS, way=way)
    steps, spent, start = table["about"]["steps"], 0.0, 0.0
    for stage in table["stages"]:
        end = start + stage["share"] * steps
        spent += max(0.0, min(end, end if until is None else until) - start) * stage[part][way]
        start = end
    return spent


def all_reduce_seconds(table: Mapping[str, Any]) -> float:
    """Of all steps: to sum the gradients of two processes that wait for nothing else."""
    return sum(stage["share"] * table["about"]["steps"] * stage["all_reduce"] for stage in table["stages"])


def speedup(table: Mapping[str, Any]) -> float:
    """How many times as long the steps take on one process."""
    return seconds(table, "one") / seconds(table, "two")


def time_parts(table: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of the training on two processes, by part; together they are its steps and the evaluation at the end."""
    one, half, apart, two = (seconds(table, way) for way in WAYS)
    twice = seconds(table, "half", "optimizer") - seconds(table, "one", "optimizer") / 2
    found = (one / 2, half - one / 2 - twice, twice, apart - half, two - apart, table["evaluation"])
    return dict(zip(PARTS, found, strict=True))


def steps_with_twice_the_batch(table: Mapping[str, Any]) -> tuple[float, int]:
    """Steps after which twice the batch has the loss of the recipe at a tenth of its steps, and that number of steps.

    Each run is complete: its rate falls to 0 at its end. Between their losses we interpolate.
    """
    base = next(row for row in table["runs"] if row["name"] == "a tenth of the steps")
    rows = sorted((row for row in table["runs"] if row["name"] == "twice the batch"), key=lambda row: row["steps"])
    for before, after in pairwise(rows):
        if after["loss"] <= base["loss"] <= before["loss"]:
            way = (before["loss"] - base["loss"]) / (before["loss"] - after["loss"])
            return before["steps"] + way * (after["steps"] - before["steps"]), base["steps"]
    raise ValueError(
        f"steps_with_twice_the_batch: {[row['loss'] for row in rows]} do not enclose {base['loss']}, expected them to"
    )


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
        f"The recipe's {table['about']['steps']:,} steps take {one:.0f} s on one process and {two:.0f} s on two, "
        f"{speedup(table):.2f} times as fast; on two they ended at a validation loss of {run['loss']:.3f}. "
        f"Two processes: {parts['half of one']:.0f} s are half of one's; {more} s, of which the all-reduce itself is "
        f"{all_reduce_seconds(table):.0f} s; the evaluation at the end takes both {table['evaluation']:.0f} s. With "
        f"batches that are twice as large, {fewer:.0f} steps reach the loss of {steps}."
    )
