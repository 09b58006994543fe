"""Play the tournament of the three families: tx_helpers/lessons/families/tournament.json

    python tools/run_tournament.py [--seeds 5] [--resume] [--only longer] [--steps 5] [--to FILE]

An hour on a quiet core. After each seed the file is whole, with the seeds so far. --resume goes on behind the
seeds of a file that was made with the same weights and settings. --only longer, or --only table, makes one part
anew and keeps the other. --steps is for a quick trial: the steps of every cell of the table.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recorded_files import machine, write
from tx_helpers.lessons.families.tasks import TASKS
from tx_helpers.lessons.families.tournament import (
    BATCH,
    EXAMPLES,
    FAMILIES,
    FILE,
    LONGER_SEEDS,
    LONGER_STEPS,
    QUESTIONS,
    RATES,
    STEPS,
    measured,
    measured_longer,
    recorded,
    weights_hash,
)
from tx_helpers.nn.models import count_parameters
from tx_helpers.zoo.world_models import new_world_model

PARTS = ("table", "longer")


def settings(steps: int | None = None) -> dict[str, Any]:
    """What a file must have been made with, for a run to go on from it."""
    return {
        "steps": steps or STEPS,
        "batch": BATCH,
        "rates": RATES,
        "examples": EXAMPLES,
        "questions": QUESTIONS,
        "parameters": {family: count_parameters(new_world_model(family)) for family in FAMILIES},
        "weights": {family: weights_hash(family) for family in FAMILIES},
    }


def appended(before: Any, found: Any) -> Any:
    """The scores of one more seed behind those of the seeds before, at every place of a table."""
    if isinstance(found, dict):
        return {key: appended((before or {}).get(key), value) for key, value in found.items()}
    return [*(before or []), found]


def empty(steps: int | None = None) -> dict[str, Any]:
    """A file without a seed."""
    return {
        "about": {"seeds": [], "minutes": 0.0, **settings(steps), **machine()},
        "tasks": {name: {"measure": task.measure, "guess": [], "best": []} for name, task in TASKS.items()},
        "scores": {},
        "longer": {"steps": LONGER_STEPS, "seeds": [], "scores": {}},
    }


def add_table(table: dict[str, Any], seed: int) -> None:
    """All cells of a seed."""
    steps = table["about"]["steps"]
    found = measured(seed, steps=steps, say=lambda text: print(f"seed {seed}  {text}", flush=True))
    table["scores"] = appended(table["scores"], found["scores"])
    for name, entry in table["tasks"].items():
        entry["guess"].append(round(found["guess"][name], 4))
        entry["best"].append(round(found["best"][name], 4))
    table["about"]["seeds"].append(seed)


def add_longer(table: dict[str, Any], seed: int) -> None:
    """The longer training of a seed."""
    part = table["longer"]
    found = measured_longer(seed, say=lambda text: print(f"seed {seed}  {text}", flush=True))
    part["scores"] = appended(part["scores"], found)
    part["seeds"].append(seed)


ADD: dict[str, Callable[[dict[str, Any], int], None]] = {"table": add_table, "longer": add_longer}


def started(file: Path, *, resume: bool = False, only: str | None = None, steps: int | None = None) -> dict[str, Any]:
    """The file to go on from, or an empty one. Raises ValueError where it was made with other weights or settings."""
    if not file.exists() or not (resume or only):
        return empty(steps)
    table, now = recorded(file), settings(steps)
    other = [name for name, value in now.items() if table["about"].get(name) != value]
    if table["longer"]["steps"] != LONGER_STEPS:
        other.append("longer.steps")
    if other:
        raise ValueError(f"run_tournament: {file.name} was made with other {', '.join(other)}; make it anew, in whole")
    if only and not resume:
        fresh = empty(steps)
        if only == "longer":
            table["longer"] = fresh["longer"]
        else:
            table |= {"tasks": fresh["tasks"], "scores": {}, "about": fresh["about"]}
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--to", type=Path, default=FILE)
    options = parser.parse_args()
    table = started(options.to, resume=options.resume, only=options.only, steps=options.steps)
    for seed in range(options.seeds):
        for part in [options.only] if options.only else PARTS:
            done = table["about"] if part == "table" else table["longer"]
            if seed in done["seeds"] or (part == "longer" and seed >= LONGER_SEEDS):
                continue
            began = time.perf_counter()
            ADD[part](table, seed)
            table["about"]["minutes"] = round(table["about"]["minutes"] + (time.perf_counter() - began) / 60, 1)
            write(table, options.to)
    print(f"{options.to}: {len(table['about']['seeds'])} seeds, {table['about']['minutes']} minutes")


if __name__ == "__main__":
    main()
