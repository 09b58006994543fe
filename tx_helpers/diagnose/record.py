"""What a training run has recorded, as the doctor reads it: its entries stand at the head of doctor.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from statistics import fmean, median
from typing import Any

from tx_helpers.nn.arguments import check_numbers, check_types, described

SHORTEST = 20  # steps: of fewer nothing can be said


@dataclass(frozen=True)
class Record:
    """What a run has recorded, checked: see the head of doctor.py. Empty lists and None are what is not known."""

    losses: list[float]
    gradient_norms: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    ratios: dict[str, list[float]] = field(default_factory=dict)
    validation: dict[int, float] = field(default_factory=dict)
    guess: float | None = None

    @property
    def moved(self) -> list[float]:
        """The ratio of update to weight of each step: the median of the parts that learn."""
        learn = [row for row in self.ratios.values() if any(row)] or self.ratios.values()
        return [median(step) for step in zip(*learn, strict=True)]

    @property
    def end(self) -> float:
        """The mean loss of the last tenth of the steps."""
        return fmean(self.losses[-max(1, len(self.losses) // 10) :])

    def means(self) -> list[float]:
        """The mean loss of each stretch as long as a tenth of the steps (five at least)."""
        length = max(5, len(self.losses) // 10)
        return [fmean(self.losses[step : step + length]) for step in range(len(self.losses) - length + 1)]

    def around(self, step: int) -> float:
        """The mean loss of the five steps around one."""
        return fmean(self.losses[max(0, step - 2) : step + 3])


def read_record(record: Any, **more: Any) -> Record:
    """A record from a dictionary or a run of `fit`, with what is given besides. Raises ValueError for a wrong one."""
    if not isinstance(record, Mapping):
        if not hasattr(record, "losses"):
            raise ValueError(f"doctor: record is {described(record)}, expected a dictionary of lists or a run of fit")
        kept = {name: getattr(record, name) for name in ("losses", "gradient_norms", "rates") if hasattr(record, name)}
        evaluations = [one for one in getattr(record, "evaluations", ()) if "loss" in one]
        record = kept | ({"validation": {one["step"]: one["loss"] for one in evaluations}} if evaluations else {})
    given = {**record, **more}
    unknown = [name for name in given if name not in Record.__dataclass_fields__]
    if unknown or "losses" not in given:
        known = ", ".join(Record.__dataclass_fields__)
        what = f"the record has {unknown[0]!r}" if unknown else "the record has no losses"
        raise ValueError(f"doctor: {what}, expected losses and any of {known}")
    losses = _row("losses", given["losses"])
    if len(losses) < SHORTEST:
        raise ValueError(f"doctor: {len(losses)} losses, expected at least {SHORTEST}: of fewer nothing can be said")
    rows = {name: _row(name, given[name]) for name in ("gradient_norms", "rates") if given.get(name) is not None}
    ratios = given.get("ratios") or {}
    if not isinstance(ratios, Mapping):
        ratios = {"all weights": ratios}
    ratios = {str(name): _row(f"ratios[{name!r}]", row) for name, row in ratios.items()}
    for name, row in [*rows.items(), *((f"ratios[{name!r}]", row) for name, row in ratios.items())]:
        if len(row) != len(losses):
            raise ValueError(
                f"doctor: {name} has {len(row)} steps, losses has {len(losses)}: record each in every step"
            )
    validation = given.get("validation") or {}
    check_types("doctor", Mapping, **({"validation": validation} if validation else {}))
    for step, loss in validation.items():
        check_numbers("doctor", {"a step of validation": step}, whole=True, least=0, most=len(losses))
        _row("validation", [loss])
    check_numbers("doctor", above=0, optional=True, guess=given.get("guess"))
    return Record(losses, **rows, ratios=ratios, validation=dict(sorted(validation.items())), guess=given.get("guess"))


def _row(name: str, row: Any) -> list[float]:
    if isinstance(row, str | Mapping) or not hasattr(row, "__iter__"):
        raise ValueError(f"doctor: {name} is {described(row)}, expected a list of a number for each step")
    row = list(row)
    for step, value in enumerate(row):
        if isinstance(value, bool) or not (isinstance(value, Real) or (hasattr(value, "item") and value.ndim == 0)):
            raise ValueError(f"doctor: {name}[{step}] is {described(value)}, expected a number (loss.item())")
    return [float(value) for value in row]
