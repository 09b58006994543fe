"""Play the tournament of the three families, and learn from few labels: tx_helpers/lessons/families/tournament.json

    python tools/run_tournament.py [--seeds 5] [--resume] [--only few_labels] [--steps 5] [--to FILE]

Half an hour on a quiet core. After each seed the file is whole, with the seeds so far. --resume goes on behind the
seeds of a file that was made with the same weights and settings. --only few_labels, or --only table, makes one part
anew and keeps the other. --steps is for a quick trial: the steps of every cell, in both parts.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recorded_files import machine, write
from tx_helpers.lessons.adapting import few_labels
from tx_helpers.lessons.families.tasks import TASKS
from tx_helpers.lessons.families.tournament import (
    BATCH,
    EXAMPLES,
    FAMILIES,
    FILE,
    QUESTIONS,
    RATES,
    STEPS,
    examples,
    measured,
    recorded,
    weights_hash,
)
from tx_helpers.nn.models import count_parameters
from tx_helpers.zoo.world_models import new_world_model

PARTS = ("table", "few_labels")


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
        "few_labels": {
            "task": few_labels.TASK,
            "labels": list(few_labels.LABELS),
            "questions": few_labels.QUESTIONS,
            "steps": steps or few_labels.STEPS,
            "batch": few_labels.BATCH,
            "rates": few_labels.RATES,
            "seeds": [],
            "guess": [],
            "trained": {},
            "scores": {},
        },
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


def add_few_labels(table: dict[str, Any], seed: int) -> None:
    """All ways and numbers of labels of a seed."""
    part, task = table["few_labels"], TASKS[few_labels.TASK]
    found: dict[str, dict[str, float]] = {}
    for way in few_labels.WAYS:
        for labels in few_labels.LABELS:
            learned = few_labels.learn(way, labels, seed=seed, steps=part["steps"])
            found.setdefault(way, {})[str(labels)] = round(learned.score, 4)
            part["trained"][way] = learned.trained
            print(f"seed {seed}  {way:8} {labels:5} labels {learned.score:.3f}", flush=True)
    part["scores"] = appended(part["scores"], found)
    test = examples(few_labels.TASK, few_labels.QUESTIONS, "test", seed)
    part["guess"].append(round(task.guess(*test, *examples(few_labels.TASK, 1000, "train", seed)), 4))
    part["seeds"].append(seed)


ADD: dict[str, Callable[[dict[str, Any], int], None]] = {"table": add_table, "few_labels": add_few_labels}


def started(file: Path, *, resume: bool = False, only: str | None = None, steps: int | None = None) -> dict[str, Any]:
    """The file to go on from, or an empty one. Raises ValueError where it was made with other weights or settings."""
    if not file.exists() or not (resume or only):
        return empty(steps)
    table, now = recorded(file), settings(steps)
    other = [name for name, value in now.items() if table["about"].get(name) != value]
    kept, fresh = table["few_labels"], empty(steps)["few_labels"]
    other += [
        f"few_labels.{name}" for name, value in fresh.items() if value and only is None and kept.get(name) != value
    ]
    if other:
        raise ValueError(f"run_tournament: {file.name} was made with other {', '.join(other)}; make it anew, in whole")
    if only and not resume:
        fresh = empty(steps)
        if only == "few_labels":
            table["few_labels"] = fresh["few_labels"]
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
            done = table["about"] if part == "table" else table["few_labels"]
            if seed in done["seeds"]:
                continue
            began = time.perf_counter()
            ADD[part](table, seed)
            table["about"]["minutes"] = round(table["about"]["minutes"] + (time.perf_counter() - began) / 60, 1)
            write(table, options.to)
    print(f"{options.to}: {len(table['about']['seeds'])} seeds, {table['about']['minutes']} minutes")


if __name__ == "__main__":
    main()
