"""The record: train its recipe, nanoGPT's own recipe for a CPU beside it, and the recipe without each of its parts.

    python tools/run_record.py --text tinyshakespeare.txt [--seeds 3] [--left-out-seeds 2] [--to FILE]
    python tools/run_record.py --download          # fetches the text into the user's cache; its hash is checked
    python tools/run_record.py --table             # the recorded figures as markdown

About half an hour on one quiet core: three seeds of both recipes, and each part at a tenth of the steps. Seconds are
those of the training's steps, without the evaluation: of the processor, which other programs disturb least, and of the
clock. The text is not part of the package. What is done stands in the file after each training, and is not done again.
TX_TINYSHAKESPEARE can name the text, too.
"""

import argparse
from pathlib import Path
from typing import Any

from recorded_files import machine, write
from tx_helpers.lessons.what_changed import record
from tx_helpers.text.corpora import TINY_SHAKESPEARE_SHA256, tinyshakespeare

SHARE = 0.1  # of the steps, where a part is left out
WHOLE = "all parts"


def plan(seeds: int, left_out_seeds: int, share: float = 1.0) -> list[tuple[str, str, record.RecordRecipe, float, int]]:
    """(group, name, recipe, share of its steps, seed) of each training run, in the order in which they are done."""
    jobs = [("record", "record", record.RECORD, share, seed) for seed in range(seeds)]
    jobs.insert(1, ("record", "nanoGPT", record.NANOGPT, share, 0))
    jobs += [("record", "nanoGPT", record.NANOGPT, share, seed) for seed in range(1, seeds)]
    jobs += [("record", "4,600 steps", record.SHORTER, share, 0)] if seeds else []
    for seed in range(left_out_seeds):
        jobs.append(("without", WHOLE, record.RECORD, share * SHARE, seed))
        jobs += [("without", part, record.leave_out(part), share * SHARE, seed) for part in record.LEFT_OUT]
    return jobs


def entry(table: dict[str, Any], group: str, name: str) -> dict[str, Any]:
    """The row of this name, made if it is missing."""
    for row in table[group]:
        if row["name"] == name:
            return row
    lists = {measure: [] for measure in ("seeds", "loss", "processor_seconds", "wall_seconds")}
    table[group].append({"name": name, **lists})
    return table[group][-1]


def add(table: dict[str, Any], group: str, name: str, seed: int, attempt: record.Attempt) -> None:
    """Write a training run into its row."""
    row = entry(table, group, name)
    row |= {"steps": attempt.steps, "parameters": attempt.parameters}
    row["seeds"].append(seed)
    row["loss"].append(round(attempt.loss, 4))
    row["processor_seconds"].append(round(attempt.processor_seconds, 1))
    row["wall_seconds"].append(round(attempt.wall_seconds, 1))


def about() -> dict[str, Any]:
    """Of what the figures are, and where they were measured."""
    return {
        "data": "tinyshakespeare by characters, the last tenth for validation",
        "sha256": TINY_SHAKESPEARE_SHA256,
        "evaluation": "full validation split, windows that do not overlap, as long as the last ones of training",
        "headline": record.HEADLINE,
        "nanogpt_on_a_cpu": record.NANOGPT_ON_A_CPU,
        "share_without": SHARE,
        "threads": 1,
        **machine(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path)
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--left-out-seeds", type=int, default=2)
    parser.add_argument("--share", type=float, default=1.0, help="of all steps, to try the tool out")
    parser.add_argument("--to", type=Path, default=record.FILE)
    parser.add_argument("--anew", action="store_true", help="do all training runs again")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        return print(record.as_text(record.recorded(options.to)))
    text = record.record_text(tinyshakespeare(options.text, download=options.download))
    fresh = options.anew or not options.to.exists()
    table = {"about": about(), "record": [], "without": []} if fresh else record.recorded(options.to)
    for group, name, recipe, share, seed in plan(options.seeds, options.left_out_seeds, options.share):
        if seed in entry(table, group, name)["seeds"]:
            continue
        attempt = record.train_recipe(recipe, text, seed=seed, share=share)
        add(table, group, name, seed, attempt)
        write(table, options.to)
        seconds = f"{attempt.processor_seconds:.0f} s of the processor, {attempt.wall_seconds:.0f} s of the clock"
        print(f"{group:8} {name:18} seed {seed}  {attempt.loss:.4f}  {seconds}", flush=True)
    print(record.as_text(table))


if __name__ == "__main__":
    main()
