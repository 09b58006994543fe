"""Record what notebook 17 reports of five seeds: tx_helpers/lessons/beyond_text/amounts.json and the others there.

    python tools/run_beyond_text.py amounts        # about ten minutes on one quiet core; a further model two

A run that is in the file already is not repeated.
"""

import argparse
import json
from datetime import date
from pathlib import Path

import torch

from tx_helpers.lessons.beyond_text import amounts, arm, captions
from tx_helpers.lessons.beyond_text.stored_weights import save_small


def record_amounts() -> None:
    """Each model, amount and seed; and each change of the pictures with few digits."""
    file = amounts.FILE
    found = json.loads(file.read_text()) if file.exists() else {"right": {}, "changed": {}}
    for name in amounts.MODELS:
        by_amount, by_change = found["right"].setdefault(name, {}), found["changed"].setdefault(name, {})
        for amount in amounts.AMOUNTS:
            if str(amount) not in by_amount:
                by_amount[str(amount)] = [round(amounts.learn(name, amount, seed), 3) for seed in amounts.SEEDS]
                _write(amounts.FILE, found)
        for change in amounts.CHANGES[1:]:
            if change not in by_change:
                shares = [amounts.learn(name, amounts.FEW, seed, change) for seed in amounts.SEEDS]
                by_change[change] = [round(share, 3) for share in shares]
                _write(amounts.FILE, found)


def record_captions() -> None:
    """Each size of batch and seed; the order of two shapes; the weights of seed 0 of the latter."""
    file = captions.FILE
    found = json.loads(file.read_text()) if file.exists() else {"batch": {}, "order": {}}
    for kind in captions.ORDERS:
        runs = found["order"].setdefault(kind, [])
        for seed in captions.SEEDS[len(runs) :]:
            model = captions.learn_order(kind, seed)
            if seed == 0:
                save_small(model, file.with_name(f"order_{kind}.safetensors"))
            runs.append({name: round(share, 3) for name, share in captions.order_scores(model).items()})
            _write(file, found)
    for rows in reversed(captions.BATCHES):
        runs = found["batch"].setdefault(str(rows), [])
        for seed in captions.SEEDS[len(runs) :]:
            runs.append({name: round(share, 3) for name, share in captions.learn_captions(rows, seed).items()})
            _write(file, found)


def record_arm() -> None:
    """The table with orders: places as names and as numbers; the weights of the first."""
    found = json.loads(arm.FILE.read_text()) if arm.FILE.exists() else {kind: [] for kind in arm.CELLS}
    for kind, seeds in zip(arm.CELLS, (5, 3), strict=True):
        for seed in range(len(found[kind]), seeds):
            model = arm.learn_arm(kind, seed)
            if (kind, seed) == ("names", 0):
                save_small(model, arm.FILE.with_name("arm.safetensors"))
            found[kind].append({name: round(share, 3) for name, share in arm.arm_scores(model).items()})
            _write(arm.FILE, found)


def _write(file: Path, found: dict) -> None:
    found["date"] = f"{date.today()}"
    file.write_text(json.dumps(found, indent=1) + "\n")


PARTS = {"amounts": record_amounts, "captions": record_captions, "arm": record_arm}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    torch.set_num_threads(1)
    PARTS[parser.parse_args().part]()
