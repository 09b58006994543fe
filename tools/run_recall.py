"""Train small models on recall, each kind at several seeds: tx_helpers/lessons/cheaper_and_longer/recall.json

    python tools/run_recall.py [--seeds 0 1 2] [--steps 400] [--to FILE]

About two minutes a seed on a quiet core. After each model the file is whole. What it holds already for the same steps
is kept, so seeds can be added: --seeds 3 4.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from recorded_files import begun, write
from tx_helpers.lessons.cheaper_and_longer.recall_runs import (
    BATCH,
    FILE,
    KINDS,
    LENGTH,
    LONGER,
    LONGER_KINDS,
    LONGER_SIZE,
    PAIRS,
    SIZES,
    STEPS,
    learn_recall,
)


def about(steps: int) -> dict[str, Any]:
    """What a file must have been made with, for a run to go on from it."""
    return {"steps": steps, "batch": BATCH, "length": LENGTH, "pairs": list(PAIRS), "sizes": list(SIZES)}


def run(seeds: list[int], steps: int, file: Path) -> None:
    """Train what is missing, and write the file after each model."""
    table = begun(about(steps), file)
    all_of_them = [("runs", steps, d_head, kind) for d_head in SIZES for kind in KINDS]
    all_of_them += [("longer", LONGER, LONGER_SIZE, kind) for kind in LONGER_KINDS]
    for seed in seeds:
        for group, given_steps, d_head, kind in all_of_them:
            rows = table.setdefault(group, [])
            if any((one["seed"], one["d_head"], one["kind"]) == (seed, d_head, kind) for one in rows):
                continue
            start = time.process_time()
            found = learn_recall(kind, d_head=d_head, steps=given_steps, seed=seed)
            seconds = time.process_time() - start
            accuracy = {str(pairs): round(share, 4) for pairs, share in found.accuracy.items()}
            rows.append({"seed": seed, "d_head": d_head, "kind": kind, "kept": found.kept, "accuracy": accuracy})
            table["about"]["seconds"] = round(table["about"]["seconds"] + seconds, 1)
            write(table, file)
            print(f"seed {seed}  K {d_head:2}  {kind:12} {accuracy}  {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=FILE)
    given = parser.parse_args()
    run(given.seeds, given.steps, given.to)
