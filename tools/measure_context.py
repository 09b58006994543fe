"""Measure at which lengths a small model still answers questions about a text: context.json of its lesson

    python tools/measure_context.py [--seeds 4] [--steps 600] [--tuning-steps 60] [--to FILE]

About a minute of work for each seed. After each seed the file is whole, with the seeds so far.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from recorded_files import machine, write
from tx_helpers.lessons.cheaper_and_longer.context import (
    CHAINS,
    FILE,
    LENGTHS,
    STEPS,
    TASKS,
    TUNED_AT,
    TUNING_STEPS,
    WAYS,
    N,
    accuracy,
    accuracy_by_place,
    positions,
    train_reader,
    tuned,
    with_positions,
)
from tx_helpers.training.contexts import cpu_threads

ROWS, PLACES_ROWS, PLACES_LENGTH = 32, 96, 256


def empty(steps: int, tuning_steps: int) -> dict[str, Any]:
    """A file without a seed."""
    about = {"seeds": [], "steps": steps, "tuning_steps": tuning_steps, "tuned_at": TUNED_AT, "chains": CHAINS}
    about |= {"texts": ROWS, "minutes": 0.0}
    ways = [*WAYS, *(f"{way}, tuned" for way in WAYS)]
    return {
        "about": about | machine(),
        "trained": N,
        "lengths": list(LENGTHS),
        "tasks": list(TASKS),
        "curves": {task: {way: [] for way in ways} for task in TASKS},
        "places": {"length": PLACES_LENGTH, "way": "plain rotary", "needle": []},
    }


def add_seed(table: dict[str, Any], seed: int) -> None:
    """All curves of a model that is trained from this seed. Its minutes are those of work on one core."""
    began, about = time.process_time(), table["about"]
    model = train_reader(steps=about["steps"], seed=seed)
    for way in WAYS:
        stretched = [with_positions(model, positions(way, length / N)) for length in LENGTHS]
        after = tuned(model, way, steps=about["tuning_steps"], seed=seed)
        for name, models in ((way, stretched), (f"{way}, tuned", [after] * len(LENGTHS))):
            found = [accuracy(one, length, count=ROWS) for one, length in zip(models, LENGTHS, strict=True)]
            for task in TASKS:
                table["curves"][task][name].append([round(one[task], 3) for one in found])
            print(
                f"seed {seed}  {name:22}", *(f"{one['needle']:.2f}/{one['two hops']:.2f}" for one in found), flush=True
            )
    by_place = accuracy_by_place(model, PLACES_LENGTH, count=PLACES_ROWS)
    table["places"]["needle"].append([round(share, 3) for share in by_place])
    about["seeds"].append(seed)
    about["minutes"] = round(about["minutes"] + (time.process_time() - began) / 60, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--tuning-steps", type=int, default=TUNING_STEPS)
    parser.add_argument("--to", type=Path, default=FILE)
    options = parser.parse_args()
    table = empty(options.steps, options.tuning_steps)
    with cpu_threads(1):
        for seed in range(options.seeds):
            add_seed(table, seed)
            write(table, options.to)
    print(f"{options.to}: {len(table['about']['seeds'])} seeds, {table['about']['minutes']} minutes of work")


if __name__ == "__main__":
    main()
