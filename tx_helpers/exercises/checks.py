"""`check` an answer and be told which mistake it is; `hint` in three steps; `solution`, the tested code.

An answer is run on the exercise's cases and compared in this order: does it run, has its result the right shape and
dtype, is it finite, does it agree. If it does not, it is compared with every known mistake of the exercise: one that
gives the same numbers on every case is the one that was made. If none does, the smallest case that is wrong is shown.
"""

import dis
from dataclasses import dataclass

import torch
from torch import Tensor

from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.compare import as_tensor, difference, shown
from tx_helpers.exercises.exercise import Exercise, Mistake
from tx_helpers.exercises.record import note
from tx_helpers.exercises.sandbox import Outcome, guarded
from tx_helpers.show.charts import side_by_side, weight_map
from tx_helpers.show.plots import Svg, svg_text

SIGNS = {"open": "○", "wrong": "✗", "right": "✓"}
COLOURS = {"open": "#52606D", "wrong": "#9A4400", "right": "#00664A"}
_hints_given: dict[str, int] = {}


@dataclass(frozen=True)
class Verdict:
    """What `check` says: state "open" (nothing written yet), "wrong" or "right"; the mistake's name, if it is known."""

    exercise: str
    state: str
    text: str
    mistake: str = ""
    picture: Svg | None = None

    def __bool__(self) -> bool:
        return self.state == "right"

    def __repr__(self) -> str:
        return f"{SIGNS[self.state]} {self.exercise}: {self.text}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        style = f"border-left: 4px solid {COLOURS[self.state]}; padding: 4px 10px; white-space: pre-line"
        picture = self.picture.markup() if self.picture else ""
        html = f'<div role="status" style="{style}">{svg_text(repr(self))}</div>{picture}'
        return {"text/html": html, "text/plain": repr(self)}


def check(name: str, answer: object) -> Verdict:
    """Is it right, and if not, what went wrong? ValueError if there is no such exercise."""
    exercise = find(name)
    verdict = examine(exercise, answer)
    if verdict.state != "open":
        note(name, right=bool(verdict), mistake=verdict.mistake)
    return verdict


def examine(exercise: Exercise, answer: object) -> Verdict:
    """The verdict on an answer; nothing is written down."""
    if not_attempted(answer):
        return Verdict(exercise.name, "open", "not attempted yet. Write your answer in place of the dots.")
    cases, rights = exercise.cases(), exercise.results()["solution"]
    outcomes: list[Outcome] = []
    for case in cases:
        outcomes.append(guarded(lambda *inputs: exercise.apply(answer, inputs), case, exercise.seconds))
        if outcomes[0].not_written or outcomes[0].value is Ellipsis:
            return Verdict(exercise.name, "open", "not attempted yet: it still hands back its placeholder.")
        if outcomes[-1].problem:
            break
    if outcomes[-1].problem:
        text = f"not yet: {outcomes[-1].problem}. The input was {told(cases[len(outcomes) - 1])}."
        return Verdict(exercise.name, "wrong", text)
    try:
        return judge(exercise, cases, rights, outcomes)
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:  # sparse, quantised, on "meta" …
        kind = type(outcomes[0].value).__name__
        text = f"not yet: a result of this kind ({kind}) cannot be compared with the right one: {error}"
        return Verdict(exercise.name, "wrong", text)


def judge(exercise: Exercise, cases: list[tuple], rights: list, outcomes: list[Outcome]) -> Verdict:
    """The verdict on values: right, a known mistake, or the smallest counterexample."""
    values = [outcome.value for outcome in outcomes]
    remarks = "".join(f"\nBy the way: {remark}." for remark in dict.fromkeys(r for o in outcomes for r in o.remarks))
    found = [difference(value, right, exercise.tolerance) for value, right in zip(values, rights, strict=True)]
    if not any(found):
        return Verdict(exercise.name, "right", f"right, on all {len(cases)} cases.{remarks}")
    wrong = next(index for index, one in enumerate(found) if one)
    picture = _beside(values[wrong], rights[wrong]) if exercise.picture else None
    if mistake := known_mistake(exercise, values):
        text = f"not yet. {mistake.says}\n(Seen in this: {found[wrong].says}, for the input {told(cases[wrong])}.)"
        return Verdict(exercise.name, "wrong", text + remarks, mistake.name, picture)
    text = f"not yet: the {found[wrong].says}. The smallest input that shows it: {told(cases[wrong])}."
    if found[wrong].step == "value":
        text += f"\nYours: {shown(as_tensor(values[wrong]))}\nRight: {shown(as_tensor(rights[wrong]))}"
    return Verdict(exercise.name, "wrong", text + remarks, "", picture)


def known_mistake(exercise: Exercise, values: list) -> Mistake | None:
    """The mistake of the bank that gives these values on every case."""
    for mistake in exercise.mistakes:
        results = exercise.results()[mistake.name]
        if not any(difference(mine, its, exercise.tolerance) for mine, its in zip(values, results, strict=True)):
            return mistake
    return None


def not_attempted(answer: object) -> bool:
    """Is it still the starter: `...` or None, or a function whose body does nothing?"""
    if answer is None or answer is Ellipsis:
        return True
    code = getattr(answer, "__code__", None)
    if code is None:
        return False
    steps = list(dis.get_instructions(code))
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "POP_TOP"}
    handed = {step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")}
    return {step.opname for step in steps} <= nothing and handed <= {None, Ellipsis}


def hint(name: str, step: int | None = None) -> None:
    """Prints the next of the three hints, or the one asked for (1, 2, 3)."""
    exercise = find(name)
    if step is not None and not 1 <= step <= len(exercise.hints):
        raise ValueError(f"hint: {name!r} has the hints 1 to {len(exercise.hints)}, not {step}")
    step = step or min(_hints_given.get(name, 0) + 1, len(exercise.hints))
    _hints_given[name] = max(step, _hints_given.get(name, 0))
    print(f"Hint {step} of {len(exercise.hints)}: {exercise.hints[step - 1]}")


def solution(name: str) -> None:
    """Prints the code of the right answer, the same that the answers are compared with."""
    exercise = find(name)
    without = "This edition comes without solutions: ask your teacher."
    print(without if exercise.answer is None else exercise.solution_source())


def told(case: tuple) -> str:
    """The inputs of a case in a few words."""
    return ", ".join(shown(as_tensor(value)) for value in case) or "none"


def _beside(got: object, right: object) -> Svg | None:
    """Two matrices side by side, where both are small enough to be read."""
    got, right = as_tensor(got), as_tensor(right)
    both = [got, right]
    if not all(isinstance(value, Tensor) and value.dim() == 2 and max(value.shape) <= 8 for value in both):
        return None
    if got.shape != right.shape or got.is_complex() or not torch.isfinite(got.double()).all():
        return None
    panels = [_table(value, title) for value, title in zip(both, ("yours", "right"), strict=True)]
    return side_by_side(panels, alt=f"Two tables side by side. Yours: {shown(got, 64)}. Right: {shown(right, 64)}.")


def _table(value: Tensor, title: str):
    rows, columns = value.shape
    return weight_map(
        value.double().tolist(), [str(s) for s in range(columns)], [f"row {t}" for t in range(rows)],
        size=(80 + 52 * columns, 60 + 34 * rows), title=title,
    )  # fmt: skip
