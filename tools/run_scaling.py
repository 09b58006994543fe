"""Train the models of the scaling laws, and look for the learning rate at each width: laws.json of its lesson

    python tools/run_scaling.py [--only runs|rates] [--to FILE]

Half an hour on one quiet core. A stopped run goes on where it was: what the file already has is not trained again.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from recorded_files import machine, write
from tx_helpers.lessons.scaling_up import law_runs
from tx_helpers.training.contexts import cpu_threads


def empty() -> dict[str, Any]:
    """A file without a run."""
    floor, floor_of_held_out = law_runs.floors()
    about = {"floor": round(floor, 4), "floor_of_held_out": round(floor_of_held_out, 4), "minutes": 0.0}
    about |= {"layers": law_runs.LAYERS, "texts_in_a_batch": law_runs.COUNT, "seed": law_runs.SEED, **machine()}
    rates = {"steps": law_runs.RATE_STEPS, "rates": list(law_runs.RATES), "seeds": list(law_runs.RATE_SEEDS)}
    return {"about": about, "runs": [], "rates": {**rates, "base_width": law_runs.BASE_WIDTH, "losses": {}}}


def begun(file: Path) -> dict[str, Any]:
    """The file to go on with, or an empty one. Rates may be added behind the old ones; all else must be as it was."""
    new = empty()
    if not file.exists():
        return new
    old = json.loads(file.read_text(encoding="utf-8"))
    known = len(old["rates"]["rates"])
    if old["rates"]["rates"] == new["rates"]["rates"][:known]:
        old["rates"]["rates"] = new["rates"]["rates"]
    settings = {
        "about": ("floor", "layers", "texts_in_a_batch", "seed"),
        "rates": ("steps", "rates", "seeds", "base_width"),
    }
    for part, names in settings.items():
        for name in names:
            if old[part][name] != new[part][name]:
                raise ValueError(
                    f"run_scaling: {str(file)!r} was made with {name}={old[part][name]}, but now it is "
                    f"{new[part][name]}: begin another file with --to"
                )
    return old


def train_runs(found: dict[str, Any], file: Path) -> None:
    """A run of each width and length that is not there yet, the short ones first."""
    done = {(one["width"], one["steps"]) for one in found["runs"]}
    for steps in law_runs.LENGTHS:
        for width in law_runs.WIDTHS:
            if (width, steps) not in done:
                began = time.process_time()
                run = law_runs.train_one(width, steps, on_the_way=law_runs.ON_THE_WAY)
                found["runs"].append(run._asdict())
                _note(found, file, began, f"width {width:3} steps {steps:5} loss {run.loss:.4f}")


def try_rates(found: dict[str, Any], file: Path) -> None:
    """Each rate at each width, with both ways to set it."""
    losses = found["rates"]["losses"]
    for width in law_runs.RATE_WIDTHS:
        for way in law_runs.WAYS:
            row = losses.setdefault(way, {}).setdefault(str(width), [])
            if way == "μP" and width == law_runs.BASE_WIDTH:  # the same training as with one rate
                row[:] = losses["one rate"][str(width)]
            for rate in law_runs.RATES[len(row) :]:
                began = time.process_time()
                row.append([law_runs.train_at_rate(way, width, rate, seed=seed) for seed in law_runs.RATE_SEEDS])
                _note(found, file, began, f"{way:8} width {width:3} rate {rate:.5f} losses {row[-1]}")


def _note(found: dict[str, Any], file: Path, began: float, told: str) -> None:
    found["about"]["minutes"] = round(found["about"]["minutes"] + (time.process_time() - began) / 60, 2)
    write(found, file)
    print(f"{told}  {found['about']['minutes']:.1f} minutes", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("runs", "rates"))
    parser.add_argument("--to", type=Path, default=law_runs.FILE)
    options = parser.parse_args()
    found = begun(options.to)
    with cpu_threads(1):
        if options.only != "rates":
            train_runs(found, options.to)
        if options.only != "runs":
            try_rates(found, options.to)


if __name__ == "__main__":
    main()
