"""Every rung of the ladder, trained: what `ladder.recorded_ladder` reads.

First the time of a step is measured: all recipes take turns, some steps each, in rounds; the median over the rounds
counts, in seconds of processor time, which other programs disturb least. From it and from the FLOPs by formula follow
the numbers of steps at equal time and equal FLOPs. Then each recipe is trained for each number of steps and each seed;
at last three rungs for four times the steps: are they harmful, or slow? `try_rates` prints what the learning rates rest
on, at a seed that is not among the five.
"""

import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from tx_helpers.lessons.what_changed import ladder
from tx_helpers.lessons.what_changed.costs import cache_bytes_per_token, flops_per_token
from tx_helpers.lessons.what_changed.ladder import BUDGETS, FIRST, STEPS, LadderText, Recipe
from tx_helpers.nn.models import count_parameters
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.training.loop import Run

SEEDS, LONGER_SEEDS, ROUNDS = range(5), range(3), 15
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


def plan(text: LadderText, *, steps: int = STEPS, rounds: int = ROUNDS) -> dict[str, Any]:
    """The table before any training: costs, and how many steps each entry will do."""
    found, vocab_size = jobs(), len(text.tokenizer)
    seconds = seconds_per_step({job.name: job.recipe for job in found.values()}, text, rounds=rounds)
    about = {"seeds": [], "characters": len(text.train), "held_out": len(text.held_out)}
    table: dict[str, Any] = {"about": about, **{group: [] for group, _ in found}}
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


def climb(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the head of `ladder` says of ladder.json, after each training that it did not hold."""
    text, found = ladder.ladder_text(), jobs()
    table = begun or plan(text)
    rows = {(group, row["name"]): row for group in dict.fromkeys(group for group, _ in found) for row in table[group]}
    losses = {
        (found[place].name, row["steps_at"][budget], seed): loss
        for place, row in rows.items()
        for budget in BUDGETS
        for seed, loss in enumerate(row[budget])
    }
    for seed in SEEDS:
        for place, row in rows.items():
            for budget in BUDGETS:
                key = found[place].name, row["steps_at"][budget], seed
                if key not in losses:
                    trained = ladder.train(found[place].recipe, steps=key[1], seed=seed, text=text)
                    losses[key] = round(trained.held_out, 4)
                    print(f"{'/'.join(map(str, key)):45} {losses[key]:.4f}", flush=True)
                if len(row[budget]) == seed:
                    row[budget].append(losses[key])
                    yield table
        if seed not in table["about"]["seeds"]:
            table["about"]["seeds"].append(seed)
            yield table
    if "longer" not in table:
        table["longer"] = [_longer(name) for name in LONGER]
        yield table


def _longer(name: str) -> dict[str, Any]:
    steps, recipe = 4 * STEPS, ladder.as_of(name)
    losses = [round(ladder.train(recipe, steps=steps, seed=seed).held_out, 4) for seed in LONGER_SEEDS]
    return {"name": name, "seeds": list(LONGER_SEEDS), "steps": steps, "loss": losses}


def try_rates() -> None:
    """Print the loss of each rate that was tried, for the recipes of TRIED_ON."""
    for optimizer, tried in TRIED.items():
        for rates in tried:
            losses = [
                ladder.train(recipe, seed=ladder.RATES_SEED, rates=rates).held_out for recipe in TRIED_ON[optimizer]
            ]
            mean = sum(losses) / len(losses)
            print(f"{optimizer} {rates}: {mean:.3f}, of {' and '.join(f'{loss:.3f}' for loss in losses)}", flush=True)
