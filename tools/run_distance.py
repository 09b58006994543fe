"""Train small models on a word that stood far back, each at several seeds: limits_of_recurrence/distance.json

    python tools/run_distance.py [--seeds 0 1 2] [--to FILE]

About a minute a seed on a quiet core. After each model the file is whole. What it holds already for the same settings
is kept, so seeds can be added: --seeds 3 4.
"""

import argparse
import time
from pathlib import Path

import torch

from recorded_files import begun, write
from tx_helpers.lessons.limits_of_recurrence.distance_runs import (
    BATCH,
    DISTANCES,
    FILE,
    RATE,
    RUNS,
    STEPS,
    WIDTH,
    learn_language,
)

SETTINGS = {"steps": STEPS, "batch": BATCH, "rate": RATE, "width": WIDTH, "distances": list(DISTANCES)}


def run(seeds: list[int], file: Path) -> None:
    """Train what is missing, and write the file after each model."""
    table = begun(SETTINGS, file)
    done = {(one["seed"], one["name"], one["noise"]) for one in table["runs"]}
    for seed in seeds:
        for name in RUNS:
            for noise in DISTANCES:
                if (seed, name, noise) in done:
                    continue
                start = time.process_time()
                learned = learn_language(name, noise, seed=seed)
                seconds = time.process_time() - start
                one = {"seed": seed, "name": name, "noise": noise, "share": learned.share, "steps": learned.steps}
                table["runs"].append(one)
                table["about"]["seconds"] = round(table["about"]["seconds"] + seconds, 1)
                write(table, file)
                print(f"seed {seed}  {name:20} {noise:3} words: {learned.share:.3f}, {learned.steps} steps", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--to", type=Path, default=FILE)
    given = parser.parse_args()
    torch.set_num_threads(1)
    run(given.seeds, given.to)
