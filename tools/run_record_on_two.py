"""The record on two processes: measure the parts of a step, and train; what `two_processes` reads.

    python tools/run_record_on_two.py --text tinyshakespeare.txt [--only measure] [--rounds 24] [--share 1] [--to FILE]

About ten minutes on two quiet cores, in three parts, which `--only` can name. "measure": in each round and for each
length of the windows, one process works on full batches, then on half of each; then both on halves without talking;
then both with DDP. "train": the recipe, for `--share` of its steps. "batch": a tenth of the steps, and batches that are
twice as large, for fewer steps. A part replaces what the file had of it. The text is not part of the package;
TX_TINYSHAKESPEARE can name it, too.
"""

import argparse
import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from tx_helpers.lessons.scaling_up.real import two_processes
from tx_helpers.lessons.scaling_up.real.launch import launch
from tx_helpers.lessons.what_changed import record
from tx_helpers.text.corpora import tinyshakespeare
from tx_helpers.training.experiment import machine, save
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss, text_loss
from tx_helpers.training.parallel import Parallel

DDP = Parallel(data=2, timeout=600)
STEPS_A_ROUND = 5
COMPARED = 50  # steps whose losses are compared with those of one process
TENTH = 0.1
TWICE_AS_LARGE = (0.5, 0.65, 0.8)  # of the steps of a tenth, with batches that are twice as large


def new_run(
    recipe: record.RecordRecipe, text: record.RecordText, parallel: Parallel | None, dtype=torch.float32
) -> Run:
    """A run of the recipe with all its parts, which has done no step."""
    model = record.record_model(recipe, text.vocab_size).to(dtype)
    return Run(
        model,
        record.batches_of(recipe, text.train, recipe.steps),
        loss=language_model_loss,
        optimizer=record.optimizers_of(recipe, model),
        schedule=record.schedule_of(recipe.steps),
        autocast=torch.bfloat16 if dtype == torch.float32 else None,
        parallel=parallel,
    )


def in_stage(stage: record.Stage, divided_by: int) -> record.RecordRecipe:
    """The recipe with this stage's windows from the first step, and a part of its rows."""
    return replace(record.RECORD, stages=(stage._replace(start=0.0, rows=stage.rows // divided_by),))


class Clock:
    """Seconds of the steps of a run, and of its optimizers' part of them."""

    def __init__(self, run: Run):
        self.run, self.steps, self.updates = run, [], []
        for optimizer in run.optimizers:
            optimizer.register_step_pre_hook(self._begin)
            optimizer.register_step_post_hook(self._end)

    def measure(self, count: int) -> None:
        for _ in range(count):
            self.update, start = 0.0, time.perf_counter()
            self.run.train_step()
            self.steps.append(time.perf_counter() - start)
            self.updates.append(self.update)

    def _begin(self, *_: Any) -> None:
        self.begun = time.perf_counter()

    def _end(self, *_: Any) -> None:
        self.update += time.perf_counter() - self.begun


def measured_stage(stage: record.Stage, text: record.RecordText, rounds: int) -> dict[str, Any]:
    """A stage's row of the file. Where one process works alone, the other sleeps."""
    first = dist.get_rank() == 0
    clocks = {
        "one": Clock(new_run(in_stage(stage, 1), text, None)),
        "half": Clock(new_run(in_stage(stage, 2), text, None)),
        "apart": Clock(new_run(in_stage(stage, 2), text, None)),
        "two": Clock(new_run(in_stage(stage, 1), text, DDP)),
    }
    gradients, sums = torch.zeros(sum(p.numel() for p in clocks["one"].run.parameters.values())), []
    for number in range(rounds + 1):
        for way, clock in clocks.items():
            dist.barrier()
            if first or way in ("apart", "two"):
                clock.measure(STEPS_A_ROUND)
            if number == 0:  # to warm up
                clock.steps.clear(), clock.updates.clear()
        for _ in range(STEPS_A_ROUND):
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(gradients)
            sums.append(time.perf_counter() - start)
    row = {"length": stage.length, "rows": stage.rows, "all_reduce": undisturbed(sums)}
    if first:
        row["step"] = {way: undisturbed(clock.steps) for way, clock in clocks.items()}
        row["optimizer"] = {way: undisturbed(clock.updates) for way, clock in clocks.items()}
    return row


def undisturbed(seconds: list[float]) -> float:
    """The tenth percentile: other programs only ever make a step slower, but the quickest of all may be luck."""
    return round(statistics.quantiles(seconds, n=10, method="inclusive")[0], 5)


def gap(text: record.RecordText, dtype: torch.dtype) -> dict[str, Any]:
    """How far the losses of two processes are from those of one, which both processes compute."""
    alone, two = new_run(record.RECORD, text, None, dtype), new_run(record.RECORD, text, DDP, dtype)
    gaps = [abs(alone.train_step() - two.train_step()) for _ in range(COMPARED)]
    numbers = "float64" if dtype == torch.float64 else "the recipe's, with bfloat16"
    return {"numbers": numbers, "steps": COMPARED, "largest": float(f"{max(gaps):.1e}")}


def trained(name: str, batch: int, share: float, text: record.RecordText) -> dict[str, Any]:
    """Train on two processes, with batches that are `batch` times as large. -> a row of "runs" """
    stages = tuple(stage._replace(rows=batch * stage.rows) for stage in record.RECORD.stages)
    recipe = replace(record.RECORD, stages=stages, steps=round(record.RECORD.steps * share))
    model, start, times = record.record_model(recipe, text.vocab_size), time.perf_counter(), []
    run = fit(
        model,
        record.batches_of(recipe, text.train, recipe.steps),
        steps=recipe.steps,
        loss=language_model_loss,
        optimizer=record.optimizers_of(recipe, model),
        schedule=record.schedule_of(recipe.steps),
        autocast=torch.bfloat16,
        parallel=DDP,
        after_step=lambda run: times.append(time.perf_counter() - start),
        progress=False,
    )
    loss = text_loss(model.eval(), text.validation, recipe.stages[-1].length)
    return {
        "name": name,
        "batch": batch,
        "steps": recipe.steps,
        "seconds": round(times[-1], 1),
        "loss": round(loss, 4),
        "losses": smoothed(run.losses, times),
    }


def smoothed(losses: list[float], times: list[float], points: int = 60) -> list[list[float]]:
    """[step, seconds, mean loss of the steps before it], evenly over the steps."""
    width = max(1, len(losses) // points)
    ends = range(width, len(losses) + 1, width)
    return [[end, round(times[end - 1], 1), round(statistics.mean(losses[end - width : end]), 3)] for end in ends]


def measured(text: record.RecordText, rounds: int) -> dict[str, Any]:
    """The parts of the file that need no training."""
    torch.set_num_threads(1)
    gaps = [gap(text, dtype) for dtype in (torch.float64, torch.float32)]
    stages = [measured_stage(stage, text, rounds) for stage in record.RECORD.stages]
    starts = [stage.start for stage in record.RECORD.stages] + [1.0]
    for number, row in enumerate(stages):
        row["share"] = round(starts[number + 1] - starts[number], 3)
    about = {"steps": record.RECORD.steps, "threads": 1, **machine()}
    model, start = record.record_model(record.RECORD, text.vocab_size), time.perf_counter()
    text_loss(model, text.validation, record.RECORD.stages[-1].length)
    return {"about": about, "stages": stages, "gaps": gaps, "evaluation": round(time.perf_counter() - start, 2)}


def work(options: argparse.Namespace) -> None:
    """What each process does; the first writes the file."""
    text = record.record_text(tinyshakespeare(options.text))
    table = {"runs": []} | (two_processes.recorded(options.to) if options.to.exists() else {})
    dist.init_process_group("gloo")
    if options.only in (None, "measure"):
        table |= measured(text, options.rounds)
    jobs = {"train": [("the recipe", 1, options.share)], "batch": [("a tenth of the steps", 1, TENTH)]}
    jobs["batch"] += [("twice the batch", 2, TENTH * part) for part in TWICE_AS_LARGE]
    for part, runs in jobs.items():
        if options.only in (None, part):
            names = {name for name, _, _ in runs}
            table["runs"] = [row for row in table["runs"] if row["name"] not in names]
            table["runs"] += [trained(*job, text) for job in runs]
    if dist.get_rank() == 0:
        save(
            {name: table[name] for name in ("about", "stages", "gaps", "evaluation", "runs") if name in table},
            options.to,
        )
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--share", type=float, default=1.0, help="of all steps, to train")
    parser.add_argument("--only", choices=("measure", "train", "batch"))
    parser.add_argument("--to", type=Path, default=two_processes.RECORDED.file)
    options = parser.parse_args()
    if "RANK" in os.environ:
        return work(options)
    print(launch(2, __file__, *sys.argv[1:], timeout=7200), end="")


if __name__ == "__main__":
    main()
