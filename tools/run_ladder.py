"""Train every rung of the ladder and record what each change is worth: ladder.json of its lesson

    python tools/run_ladder.py [--seeds 5] [--steps 200] [--text FILE] [--to FILE]
    python tools/run_ladder.py --rates        # the learning rates that were tried, on a seed that is not among the five
    python tools/run_ladder.py --longer       # three rungs after four times the steps: are they harmful, or slow?
    python tools/run_ladder.py --table        # the recorded figures as a markdown table

Three quarters of an hour on one quiet core. First the time of a step is measured: all recipes take turns, some steps
each, in rounds; the median over the rounds counts, in seconds of processor time, which other programs disturb least.
From it and from the FLOPs by formula follow the numbers of steps at equal time and equal FLOPs. Then each recipe is
trained for each number of steps and each seed. A run that is stopped goes on where it was: finished training runs stand
in a file beside the result, until all are done.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch

from recorded_files import machine, write
from tx_helpers.lessons.what_changed import ladder
from tx_helpers.lessons.what_changed.costs import cache_bytes_per_token, flops_per_token
from tx_helpers.lessons.what_changed.ladder import BUDGETS, FIRST, LadderText, Recipe
from tx_helpers.lessons.what_changed.verdicts import as_text
from tx_helpers.nn.models import count_parameters
from tx_helpers.text.data import train_validation_split
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.training.loop import Run

RATES_SEED = 100
LONGER = ("own output", "small start", "zero outputs")
TRIED = {"adam": [{"lr": lr} for lr in (2e-3, 4e-3, 8e-3, 1.6e-2)]}
TRIED["muon"] = [{"lr": lr, "adamw_lr": adam} for lr in (0.02, 0.04, 0.08) for adam in (5e-3, 1e-2, 2e-2)]
TRIED_ON = {  # the first and the last rung with each optimizer; a rate's loss is the mean of both
    "adam": (ladder.as_of(FIRST), ladder.as_of("decay to zero")),
    "muon": (ladder.with_changes("Muon"), ladder.as_of(ladder.RUNGS[-1].name)),
}


class Job(NamedTuple):
    """A recipe under the first name that it has: the same recipe can stand in two groups."""

    name: str
    recipe: Recipe


def jobs() -> dict[tuple[str, str], Job]:
    """{(group, name): its job}."""
    found: dict[tuple[str, str], Job] = {}
    for group, named in ladder.recipes().items():
        for name, recipe in named.items():
            same = [job for job in found.values() if job.recipe == recipe]
            found[group, name] = same[0] if same else Job(f"{group}/{name}", recipe)
    return found


def seconds_per_step(recipes: dict[str, Recipe], text: LadderText, *, rounds: int, steps: int = 4) -> dict[str, float]:
    """Median processor seconds of a training step; the recipes take turns."""
    runs = {}
    for name, recipe in recipes.items():
        model = ladder.ladder_model(recipe, len(text.tokenizer))
        options = ladder.training(recipe, model, steps=(rounds + 1) * steps, text=text)
        runs[name] = Run(model, options.pop("batches"), **options)
    taken: dict[str, list[float]] = {name: [] for name in recipes}
    with cpu_threads(1):
        for counted in [False] + [True] * rounds:
            for name, run in runs.items():
                began = time.process_time()
                for _ in range(steps):
                    run.train_step()
                if counted:
                    taken[name].append((time.process_time() - began) / steps)
    return {name: statistics.median(values) for name, values in taken.items()}


def steps_at(steps: int, flops: float, seconds: float, first: dict[str, float]) -> dict[str, int]:
    """How many steps a recipe does in each budget, which is what the first rung takes for `steps` steps."""
    return {
        "steps": steps,
        "flops": max(2, round(steps * first["flops_per_token"] / flops)),
        "seconds": max(2, round(steps * first["seconds_per_step"] / seconds)),
    }


def plan(text: LadderText, *, steps: int, rounds: int) -> dict[str, Any]:
    """The table before any training: costs, and how many steps each entry will do."""
    found, vocab_size = jobs(), len(text.tokenizer)
    seconds = seconds_per_step({job.name: job.recipe for job in found.values()}, text, rounds=rounds)
    table: dict[str, Any] = {"about": {}, **{group: [] for group, _ in found}}
    for (group, name), job in found.items():
        costs = {
            "parameters": count_parameters(ladder.ladder_model(job.recipe, vocab_size)),
            "flops_per_token": flops_per_token(job.recipe, vocab_size),
            "seconds_per_step": float(f"{seconds[job.name]:.3g}"),
            "cache_bytes_per_token": cache_bytes_per_token(job.recipe.config),
        }
        first = table["rungs"][0] if table["rungs"] else costs
        at = steps_at(steps, costs["flops_per_token"], costs["seconds_per_step"], first)
        table[group].append({"name": name, **{budget: [] for budget in BUDGETS}, "steps_at": at, **costs})
    return table


def loaded(path: Path | None) -> LadderText:
    """The stories, or a file: nine tenths to train on; of the rest as much as of the stories to validate on."""
    if path is None:
        return ladder.ladder_text()
    text = path.read_text(encoding="utf-8")
    tokenizer = CharTokenizer.train(text)
    train, held_out = train_validation_split(torch.tensor(tokenizer.encode(text)))
    return LadderText(tokenizer, train, held_out[: len(ladder.ladder_text().held_out)])


def climb(table: dict[str, Any], text: LadderText, to: Path, losses: dict[str, float], seeds: int) -> None:
    """Train what is missing and write the file after each seed."""
    found = jobs()
    for seed in range(seeds):
        for group, name in found:
            entry = next(row for row in table[group] if row["name"] == name)
            for budget in BUDGETS:
                job, steps = found[group, name], entry["steps_at"][budget]
                key = f"{job.name}/{steps}/{seed}"
                if key not in losses:
                    began = time.process_time()
                    trained = ladder.train(job.recipe, steps=steps, seed=seed, text=text)
                    losses[key] = round(trained.held_out, 4)
                    table["about"]["seconds"] = round(table["about"]["seconds"] + time.process_time() - began, 1)
                    write({"table": table, "losses": losses}, unfinished(to))
                    print(f"{key:45} {losses[key]:.4f}  {table['about']['seconds']:7.0f} s", flush=True)
                if len(entry[budget]) == seed:
                    entry[budget].append(losses[key])
        if seed not in table["about"]["seeds"]:
            table["about"]["seeds"].append(seed)
        write(table, to)


def unfinished(to: Path) -> Path:
    """Where the finished training runs stand until all are done."""
    return to.with_name(f".{to.stem}.unfinished.json")


def about(text: LadderText, source: str, steps: int) -> dict[str, Any]:
    """What was held equal, and where it was measured."""
    return {
        "data": source,
        "characters": len(text.train),
        "held_out": len(text.held_out),
        "steps": steps,
        "rows": ladder.ROWS,
        "context": ladder.CONTEXT,
        "rates": ladder.RATES,
        "rates_seed": RATES_SEED,
        "torch": torch.__version__,
    }


def try_rates(text: LadderText, steps: int) -> None:
    """Print the loss of each rate that was tried."""
    for optimizer, tried in TRIED.items():
        for rates in tried:
            losses = [
                ladder.train(recipe, steps=steps, seed=RATES_SEED, text=text, rates=rates).held_out
                for recipe in TRIED_ON[optimizer]
            ]
            mean = sum(losses) / len(losses)
            print(f"{optimizer} {rates}: {mean:.3f}, of {' and '.join(f'{loss:.3f}' for loss in losses)}", flush=True)


def train_longer(file: Path, *, seeds: int = 3) -> None:
    """Write "longer" into the file: the loss of each seed of the rungs of LONGER after four times the steps."""
    rows = []
    for name in LONGER:
        trained = [ladder.train(ladder.as_of(name), steps=4 * ladder.STEPS, seed=seed) for seed in range(seeds)]
        losses = [round(each.held_out, 4) for each in trained]
        rows.append({"name": name, "seeds": list(range(seeds)), "steps": 4 * ladder.STEPS, "loss": losses})
        print(rows[-1], flush=True)
    write(ladder.recorded_ladder(file) | {"longer": rows}, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=ladder.STEPS)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--to", type=Path, default=ladder.FILE)
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--longer", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        return print(as_text(ladder.recorded_ladder(options.to)))
    text = loaded(options.text)
    if options.longer:
        return train_longer(options.to)
    if options.rates:
        return try_rates(text, options.steps)
    held, rest = about(text, options.text.name if options.text else "stories", options.steps), unfinished(options.to)
    started = json.loads(rest.read_text(encoding="utf-8")) if rest.exists() else None
    if started and {name: started["table"]["about"].get(name) for name in held} == held:
        table, losses = started["table"], started["losses"]
    else:
        table, losses = plan(text, steps=options.steps, rounds=options.rounds), {}
        table["about"] = {"seeds": [], **held, **machine(), "seconds": 0.0}
    climb(table, text, options.to, losses, options.seeds)
    rest.unlink()
    print(as_text(table))


if __name__ == "__main__":
    main()
