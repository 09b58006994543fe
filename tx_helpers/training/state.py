"""What a run is, as data: all that a step reads and changes, checked before any of it is loaded."""

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import torch

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.training.checkpoints import check_optimizer, check_weights, load_weights

if TYPE_CHECKING:
    from tx_helpers.training.loop import Run

HISTORY = ("losses", "gradient_norms", "rates", "evaluations")


def state_of(run: "Run") -> dict[str, Any]:
    """All that a step changes: tensors, numbers, strings, and lists and dicts of them."""
    return {
        "model": run.model.state_dict(),
        "optimizers": [{"name": type(one).__name__, "state": one.state_dict()} for one in run.optimizers],
        "random": {"seed": run.random.seed, "states": dict(run.random.states)},
        "scaler": run.scaler.state_dict(),
        "step": run.step,
        **{name: list(getattr(run, name)) for name in HISTORY},
    }


def load_state(run: "Run", state: dict[str, Any]) -> None:
    """Load a state. Raises ValueError, before anything is changed, if it is damaged or does not fit the run."""
    try:
        _check_state(run, state)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"fit: the checkpoint is damaged or not that of a run ({reason})") from error
    for optimizer, entry in zip(run.optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(deepcopy(entry["state"]))
    load_weights(run.model, state["model"])
    run.random.seed, run.random.states = state["random"]["seed"], dict(state["random"]["states"])
    load_scaler(run, state.get("scaler", {}))
    load_history(run, state)


def load_history(run: "Run", state: dict[str, Any]) -> None:
    """Load the number of steps done and what is recorded of each."""
    run.step = state["step"]
    for name in HISTORY:
        setattr(run, name, list(state[name]))


def load_scaler(run: "Run", state: dict[str, Any]) -> None:
    """Load the factor of the loss in float16; a run in another dtype has none, and none is in its checkpoint."""
    if run.scaler.is_enabled() and state:
        run.scaler.load_state_dict(state)


def _check_state(run: "Run", state: dict[str, Any]) -> None:
    """Raise an error unless every part of a state is there and fits this run."""
    check_weights(run.model, state["model"])
    names, saved = [type(o).__name__ for o in run.optimizers], [o["name"] for o in state["optimizers"]]
    if names != saved:
        raise ValueError(f"fit: the optimizers are {names}, but {saved} in the checkpoint")
    for optimizer, entry in zip(run.optimizers, state["optimizers"], strict=True):
        check_optimizer(optimizer, entry["state"])
    check_numbers("fit", least=0, whole=True, step=state["step"])
    check_numbers("fit", whole=True, seed=state["random"]["seed"])
    if "cpu" in (states := state["random"]["states"]):
        torch.Generator().set_state(states["cpu"])
    lengths = {name: len(state[name]) for name in HISTORY if name != "evaluations"}
    if set(lengths.values()) != {state["step"]}:
        raise TypeError(f"step {state['step']}, but {lengths} entries")
    if not all(isinstance(record, dict) for record in state["evaluations"]):
        raise TypeError("an evaluation is not a dict")
