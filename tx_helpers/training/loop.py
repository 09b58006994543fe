"""Training: a loss, one step, and the loop around it.

    run = fit(model, batches, steps=600, loss=translation_loss, optimizer=adamw(model, 3e-3),
              schedule=linear_warmup_decay(600, warmup=30))

`Run.train_step` is all that happens in a step, and a `Run` holds all that a step reads and changes. Saved and loaded,
it continues bit for bit as if it had never stopped (on the same machine, with as many threads). Batches are a function
of the step, so the data have no state. Dropout draws from a random stream that belongs to the run alone.

Several processes, and batches in several pieces: `parallel`.
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from tx_helpers.nn.arguments import Function, check_numbers, check_types
from tx_helpers.training.checkpoints import (
    check_optimizer,
    check_weights,
    load_checkpoint,
    load_weights,
    save_checkpoint,
)
from tx_helpers.training.contexts import (
    RandomStream,
    buffers_restored_on_error,
    cpu_threads,
    in_mode,
    interrupts,
)
from tx_helpers.training.gradients import by_mesh, clip_gradients, gradient_norm
from tx_helpers.training.layout import Layout
from tx_helpers.training.optimizers import Schedule, constant, trained_by
from tx_helpers.training.parallel import Parallel

Optimizers = torch.optim.Optimizer | Sequence[torch.optim.Optimizer]
Loss = Callable[[nn.Module, Any], Tensor]
Measure = Callable[[nn.Module], Mapping[str, float]]
HISTORY = ("losses", "gradient_norms", "rates", "evaluations")


class Run:
    """A training run: the arguments of `fit`, the steps done so far, and the record of each.

    step          steps done, and so the number of the next batch
    losses, gradient_norms (before clipping), rates (learning rate of the first group): a float for each step
    evaluations   one {"step": …, name: value} for each evaluation
    interrupted   did a Ctrl-C end the last `fit`?
    """

    def __init__(
        self,
        model: nn.Module,
        batches: Callable[[int], Any],
        *,
        loss: Loss,
        optimizer: Optimizers,
        schedule: Schedule | None = None,
        clip: float | None = 1.0,
        autocast: torch.dtype | None = None,
        seed: int = 0,
        parallel: Parallel | None = None,
    ):
        check_numbers("fit", above=0, optional=True, clip=clip)
        check_types("fit", nn.Module, model=model)
        check_types("fit", Function, batches=batches, loss=loss)
        check_types("fit", (Function, type(None)), schedule=schedule)
        check_numbers("fit", whole=True, seed=seed)
        check_types("fit", (Parallel, type(None)), parallel=parallel)
        if autocast not in (None, torch.bfloat16, torch.float16):
            expected = "expected torch.bfloat16, torch.float16, or None for full precision"
            raise ValueError(f"fit: autocast={autocast}, {expected}")
        self.model, self.batches, self.loss = model, batches, loss
        self.optimizers = list(optimizer) if isinstance(optimizer, Sequence) else [optimizer]
        check_types("fit", torch.optim.Optimizer, **{f"optimizer {n}": o for n, o in enumerate(self.optimizers)})
        self.schedule = schedule or constant()
        self.clip, self.autocast = clip, autocast
        self.random = RandomStream(seed)
        self.step = 0
        self.losses: list[float] = []
        self.gradient_norms: list[float] = []
        self.rates: list[float] = []
        self.evaluations: list[dict[str, float]] = []
        self.interrupted = False
        trained_by(self.optimizers, model)
        self.parallel, self.layout = parallel, Layout(parallel, model, self.optimizers)
        self.parameters = trained_by(self.optimizers, model)
        device = next(model.parameters()).device
        self.scaler = torch.amp.GradScaler(device.type, enabled=autocast == torch.float16)
        if self.scaler.is_enabled() and len(by_mesh(list(self.parameters.values()))) > 1:
            raise ValueError("fit: autocast=torch.float16 does not go with Parallel(tensor=…), expected torch.bfloat16")
        for group in self._groups():
            group.setdefault("initial_lr", group["lr"])

    def train_step(self) -> float:
        """Do one step, on batch number `self.step`. -> its loss

        Raises FloatingPointError, before anything is updated, if the loss or a gradient is not finite. In float16 a
        gradient may be: then the step changes nothing but the factor of the loss, which is halved. After any error
        the run is as before the step, except after a KeyboardInterrupt during the update, which `fit` prevents.
        """
        device = next(self.model.parameters()).device
        batch = self.batches(self.step).to(device)
        stream = self.random if self.parallel is None else self.layout.stream(self.random.seed, self.step)
        with stream.on(device), in_mode(self.model, training=True), buffers_restored_on_error(self.model):
            value = self._loss_and_gradients(batch, device)
            factor = self.schedule(self.step)
            try:
                size = self._update(value, factor)
            except BaseException:
                if self.scaler.is_enabled():  # it must forget that it has unscaled the gradients
                    self.scaler.update(self.scaler.get_scale())
                raise
            self.scaler.update()
        self.step += 1
        self.losses.append(value)
        self.gradient_norms.append(size)
        self.rates.append(self._groups()[0]["lr"])
        return value

    def _loss_and_gradients(self, batch: Any, device: torch.device) -> float:
        """The loss of a batch, in as many pieces as the layout says; its gradients are in the parameters."""
        self.model.zero_grad()
        value = 0.0
        for piece, factor in self.layout.parts(batch):
            with torch.autocast(device.type, self.autocast) if self.autocast else nullcontext():
                loss = self.loss(self.layout.module, piece)
            if loss.dim():
                raise ValueError(f"fit: the loss has shape {tuple(loss.shape)}, expected a scalar")
            self.scaler.scale(loss * factor).backward()
            value += loss.item() * factor
        return self.layout.mean(value)

    def _update(self, value: float, factor: float) -> float:
        """Clip the gradients and do a step of the optimizers, unless float16 has overflowed. -> the gradient's norm"""
        trained = [parameter for parameter in self.parameters.values() if parameter.grad is not None]
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
        norm = gradient_norm(trained)
        size = norm.item()
        finite = math.isfinite(value) and math.isfinite(size)
        if not (finite or (math.isfinite(value) and self.scaler.get_scale() > 1)):
            raise FloatingPointError(
                f"fit: at step {self.step} the loss is {value} and the gradient's norm {size}; "
                + self._first_not_finite()
            )
        if self.clip is not None and size > self.clip:
            clip_gradients(trained, self.clip, norm)
        for group in self._groups():
            group["lr"] = group["initial_lr"] * factor
        for optimizer in self.optimizers if finite else ():
            optimizer.step()
        return size

    def evaluate(self, measure: Measure) -> dict[str, float]:
        """Measure the model, in evaluation mode and without gradients; the record is appended to `evaluations`.

        Random numbers that `measure` draws from torch depend on seed and step alone, and disturb no other stream.
        """
        device = next(self.model.parameters()).device
        stream = RandomStream(self.random.seed + self.step)
        with stream.on(device), in_mode(self.model, training=False), torch.no_grad():
            measured = measure(self.model)
        if not isinstance(measured, Mapping):
            raise ValueError(f"fit: evaluate returned {measured!r}, expected a dict of numbers by name")
        record = {"step": self.step} | {name: float(number) for name, number in measured.items()}
        self.evaluations.append(record)
        return record

    def state_dict(self) -> dict[str, Any]:
        """All that a step changes: tensors, numbers, strings, and lists and dicts of them."""
        return {
            "model": self.model.state_dict(),
            "optimizers": [{"name": type(one).__name__, "state": one.state_dict()} for one in self.optimizers],
            "random": {"seed": self.random.seed, "states": dict(self.random.states)},
            **self._record(),
            **({"batches": self.batches.state_dict()} if hasattr(self.batches, "state_dict") else {}),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load a state; the optimizers' settings (learning rate, …) are then the saved ones.

        Raises ValueError, before anything is changed, if the state is damaged or of another model or other optimizers.
        """
        with _damage_is_named():
            self._check_state(state)
            if hasattr(self.batches, "load_state_dict") and "batches" in state:
                self.batches.load_state_dict(state["batches"])
        for optimizer, entry in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(deepcopy(entry["state"]))
        load_weights(self.model, state["model"])
        self.random.seed, self.random.states = state["random"]["seed"], dict(state["random"]["states"])
        self._load_record(state)

    def save(self, path: str | Path) -> None:
        """Write a checkpoint: a file, or with `parallel` a folder (`sharded`)."""
        if self.parallel is None:
            save_checkpoint(path, "run", self.state_dict())
        else:
            from tx_helpers.training.sharded import save_sharded  # takes a second to import

            save_sharded(path, self.model, self.optimizers, self._record() | {"seed": self.random.seed})

    def load(self, path: str | Path) -> None:
        """Load a checkpoint of a run with this model and these optimizers."""
        if self.parallel is None:
            self.load_state_dict(load_checkpoint(path, "run"))
        else:
            from tx_helpers.training.sharded import load_sharded

            record = load_sharded(path, self.model, self.optimizers, check=self._check_record)
            self.random.seed = record["seed"]
            self._load_record(record)

    def _record(self) -> dict[str, Any]:
        """The number of steps done, what is recorded of each, and the factor of the loss in float16."""
        history = {name: list(getattr(self, name)) for name in HISTORY}
        return {"step": self.step, **history, "scaler": self.scaler.state_dict()}

    def _load_record(self, record: Mapping[str, Any]) -> None:
        self.step = record["step"]
        for name in HISTORY:
            setattr(self, name, list(record[name]))
        if self.scaler.is_enabled() and record.get("scaler"):  # a run in another dtype has none
            self.scaler.load_state_dict(record["scaler"])

    def _check_state(self, state: Mapping[str, Any]) -> None:
        """Raise an error unless every part of a state is there and fits this run."""
        check_weights(self.model, state["model"])
        names, saved = [type(o).__name__ for o in self.optimizers], [o["name"] for o in state["optimizers"]]
        if names != saved:
            raise ValueError(f"fit: the optimizers are {names}, but {saved} in the checkpoint: resume with the same")
        for optimizer, entry in zip(self.optimizers, state["optimizers"], strict=True):
            check_optimizer(optimizer, entry["state"])
        if "cpu" in (states := state["random"]["states"]):
            torch.Generator().set_state(states["cpu"])
        self._check_record({**state, "seed": state["random"]["seed"]})

    def _check_record(self, record: dict[str, Any]) -> None:
        with _damage_is_named():
            check_numbers("fit", least=0, whole=True, step=record["step"])
            check_numbers("fit", whole=True, seed=record["seed"])
            lengths = {name: len(record[name]) for name in HISTORY if name != "evaluations"}
            if set(lengths.values()) != {record["step"]}:
                raise TypeError(f"step {record['step']}, but {lengths} entries")
            if not all(isinstance(evaluation, dict) for evaluation in record["evaluations"]):
                raise TypeError("an evaluation is not a dict")
            if self.scaler.is_enabled() and record.get("scaler"):
                deepcopy(self.scaler).load_state_dict(record["scaler"])

    def __repr__(self) -> str:
        last = f", loss {self.losses[-1]:.3f}" if self.losses else ""
        return f"<Run: {self.step} steps{last}>"

    def _groups(self) -> list[dict[str, Any]]:
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def _first_not_finite(self) -> str:
        for name, parameter in self.model.named_parameters():
            if not parameter.isfinite().all():
                return f"the first parameter that is not finite is {name!r}"
        for name, parameter in self.parameters.items():
            if parameter.grad is not None and not parameter.grad.isfinite().all():
                return f"all parameters are finite; the first whose gradient is not is {name!r}"
        return "all parameters and gradients are finite"


@contextmanager
def _damage_is_named() -> Iterator[None]:
    try:
        yield
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"fit: the checkpoint is damaged or not that of a run ({reason})") from error


@contextmanager
def _bar(steps: int, start: int, quiet: bool) -> Iterator[tqdm]:
    """A progress bar. In a notebook a sentence takes its place at the end: the file would show the bar at 0 %."""
    options: dict[str, Any] = dict(total=steps, initial=start, unit="step", mininterval=0.25, disable=quiet)
    notebook = sys.modules.get("tqdm.notebook")  # imported by tqdm.auto where a notebook runs
    if quiet or notebook is None or not issubclass(tqdm, notebook.tqdm):
        with tqdm(**options) as bar:
            yield bar
        return
    with tqdm(**options, display=False) as bar:
        place = notebook.display(bar.container, display_id=True)
        yield bar
    place.update({"text/plain": f"Trained for {bar.n - start} steps."}, raw=True)


def fit(
    model: nn.Module,
    batches: Callable[[int], Any],
    *,
    steps: int,
    loss: Loss,
    optimizer: Optimizers,
    schedule: Schedule | None = None,
    clip: float | None = 1.0,
    autocast: torch.dtype | None = None,
    seed: int = 0,
    parallel: Parallel | None = None,
    evaluate: Measure | None = None,
    every: int | None = None,
    after_step: Callable[[Run], object] | None = None,
    checkpoint: str | Path | None = None,
    save_every: int | None = None,
    resume: Run | Mapping[str, Any] | str | Path | None = None,
    progress: bool = True,
    threads: int | None = 1,
) -> Run:
    """Train until `steps` steps are done.

    batches     batches(step) -> batch, with `.to(device)`; always the same one for the same step, or with state_dict()
                and load_state_dict(state), which a checkpoint (without `parallel`) then has, too
    loss        loss(model, batch) -> scalar tensor
    optimizer   one, or a list; schedule: step -> factor of its learning rate
    clip        if the norm of all gradients together is larger, they are scaled down to it; None: never
    autocast    torch.bfloat16, or torch.float16 with a scaled loss: matrix products in reduced precision
    parallel    several processes, or pieces of a batch; every process calls `evaluate`, the first shows the progress
    evaluate    evaluate(model) -> {name: number}, each `every` steps and at the end
    after_step  after_step(run) is called after every step, in every process, to log it
    checkpoint  a file, with `parallel` a folder; written each `save_every` steps and at the end
    resume      a run to go on from, or its `state_dict()`, or its checkpoint; with several processes the checkpoint
    threads     of the CPU: models as small as the course's train faster on one than on two that wait for each other,
                and one gives the same numbers on any number of cores; None: as many as torch is set to

    Ctrl-C (a notebook's stop button) ends training after the current step: the checkpoint is written and the run is
    returned, from which `fit(…, resume=run)` goes on; several processes go on from the checkpoint. A second Ctrl-C is
    raised at once; the model is then as it is at that moment, and the checkpoint is the last one written.
    """
    check_numbers("fit", least=1, whole=True, steps=steps)
    check_numbers("fit", least=1, whole=True, optional=True, every=every, save_every=save_every, threads=threads)
    if save_every is not None and checkpoint is None:
        raise ValueError(f"fit: save_every={save_every}, but checkpoint=None says no file to save to")
    run = Run(
        model,
        batches,
        loss=loss,
        optimizer=optimizer,
        schedule=schedule,
        clip=clip,
        autocast=autocast,
        seed=seed,
        parallel=parallel,
    )
    check_types("fit", (Function, type(None)), evaluate=evaluate, after_step=after_step)
    check_types("fit", (str, Path, type(None)), checkpoint=checkpoint)
    check_types("fit", (Run, Mapping, str, Path, type(None)), resume=resume)
    if isinstance(resume, str | Path):
        run.load(resume)
    elif resume is not None and run.layout.processes > 1:
        raise ValueError(
            "fit: resume is a run or its state, but several processes go on from the folder of a checkpoint"
        )
    elif resume is not None:
        run.load_state_dict(resume.state_dict() if isinstance(resume, Run) else resume)

    start = saved = run.step
    quiet = not progress or start >= steps or not run.layout.first
    with (
        cpu_threads(threads),
        interrupts() as noted,
        _bar(steps, start, quiet) as bar,
    ):
        shown: dict[str, float] = {}
        while run.step < steps and not run.layout.any(bool(noted)):
            shown["loss"] = run.train_step()
            last = run.step == steps
            if evaluate is not None and (last or (every is not None and run.step % every == 0)):
                shown |= {name: number for name, number in run.evaluate(evaluate).items() if name != "step"}
            if after_step is not None:
                after_step(run)
            if checkpoint is not None and save_every is not None and run.step % save_every == 0 and not last:
                run.save(checkpoint)
                saved = run.step
            bar.set_postfix(shown, refresh=False)
            bar.update()
        if checkpoint is not None and run.step > saved:
            run.save(checkpoint)
        run.interrupted = run.step < steps
    if run.interrupted and run.layout.first:
        source = "run" if run.layout.processes == 1 else checkpoint and repr(str(checkpoint))
        advice = f": fit(…, resume={source}) goes on from here" if source else ""
        where = f" and {str(checkpoint)!r} has it" if checkpoint and source == "run" else ""
        print(f"Interrupted after step {run.step} of {steps}{advice}{where}.")
    return run
