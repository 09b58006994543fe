"""`check` an answer and read which mistake it makes; `hint` in three steps; `solution`, the tested code.

An answer is run on the exercise's cases. Its results are compared with the right ones in this order: kind, shape,
dtype, finite or not, value. A wrong answer is then compared with every known mistake of the exercise: the one that
gives the same numbers on every case is the one that was made. If there is none, the smallest wrong case is shown.
"""

import dis
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import CodeType

import torch
from torch import Tensor

from tx_helpers.environment import printable
from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.compare import as_tensor, difference, shown
from tx_helpers.exercises.exercise import Case, Exercise, Mistake
from tx_helpers.exercises.sandbox import Outcome, guarded, stopped
from tx_helpers.exercises.solved import note, note_hint
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import side_by_side, weight_map
from tx_helpers.show.plots import Svg, svg_text

SIGNS = {"open": "○", "wrong": "✗", "right": "✓"}
COLOURS = {"open": "#52606D", "wrong": "#9A4400", "right": "#00664A"}
_hints_given: dict[str, int] = {}


@dataclass(frozen=True)
class Feedback:
    """What `check` returns. State: "open" (nothing written yet), "wrong" or "right"; mistake: its name, if known."""

    exercise: str
    state: str
    text: str
    mistake: str = ""
    picture: Svg | None = None

    def __bool__(self) -> bool:
        return self.state == "right"

    def __repr__(self) -> str:
        return printable(self._line())

    def _line(self) -> str:
        return f"{SIGNS[self.state]} {self.exercise}: {self.text}"

    def _repr_mimebundle_(self, **_asked: object) -> dict[str, str]:
        style = f"border-left: 4px solid {COLOURS[self.state]}; padding: 4px 10px; white-space: pre-line"
        picture = self.picture.markup() if self.picture else ""
        html = f'<div role="status" style="{style}">{svg_text(self._line())}</div>{picture}'
        return {"text/html": html, "text/plain": repr(self)}


def check(name: str, answer: object) -> Feedback:
    """Is the answer right, and if not, what went wrong? ValueError if there is no such exercise."""
    exercise = find(name)
    feedback = examine(exercise, answer)
    if feedback.state != "open":
        note(name, right=bool(feedback), mistake=feedback.mistake)
    return feedback


def examine(exercise: Exercise, answer: object) -> Feedback:
    """The feedback on an answer; nothing is written to the learner's file."""
    if not_attempted(answer):
        return Feedback(exercise.name, "open", "not attempted yet. Write your answer in place of the dots.")
    cases, rights = exercise.cases(), exercise.results()["solution"]
    outcomes: list[Outcome] = []
    for case in cases:
        outcome = guarded(lambda *inputs: exercise.apply(answer, inputs), case, exercise.seconds)
        outcomes.append(outcome)
        if outcomes[0].not_written or outcomes[0].value is Ellipsis:
            return Feedback(exercise.name, "open", "not attempted yet: it still returns its placeholder.")
        if outcome.problem:
            text = f"not yet: {outcome.problem}. The input was {told(exercise, case)}."
            return Feedback(exercise.name, "wrong", text)
    found: list[Feedback] = []
    # A result may be sparse, quantised, on "meta", or have methods that never end.
    problem = stopped(lambda: found.append(compared(exercise, cases, rights, outcomes)), exercise.seconds)
    if problem:
        kind = type(outcomes[0].value).__name__
        text = f"not yet: your result, of type {kind}, cannot be compared with the right one: {problem}"
        return Feedback(exercise.name, "wrong", text)
    return found[0]


def compared(exercise: Exercise, cases: Sequence[Case], rights: list[object], outcomes: list[Outcome]) -> Feedback:
    """The feedback on results: right, a known mistake, or the smallest counterexample."""
    values = [outcome.value for outcome in outcomes]
    remarks = dict.fromkeys(remark for outcome in outcomes for remark in outcome.remarks)  # each one once
    aside = "".join(f"\nBy the way: {remark}." for remark in remarks)
    found = [difference(value, right, exercise.tolerance) for value, right in zip(values, rights, strict=True)]
    if exercise.run:  # it has named the parts of a result that the learner did not write so
        named = r"^result\['(?:the )?(.*?)'\]( is\b)?"
        found = [one and replace(one, says=re.sub(named, lambda m: m[1] + ":" * bool(m[2]), one.says)) for one in found]
    wrong, first = next(((index, one) for index, one in enumerate(found) if one), (0, None))
    if first is None:
        return Feedback(exercise.name, "right", f"right, on all {len(cases)} cases.{aside}")
    inputs = told(exercise, cases[wrong])
    picture = _beside(values[wrong], rights[wrong]) if exercise.picture else None
    if mistake := known_mistake(exercise, values):
        text = f"not yet. {mistake.says}\n(An example: with {inputs}, your {first.says}.)"
        return Feedback(exercise.name, "wrong", text + aside, mistake.name, picture)
    text = f"not yet: your {first.says}. The smallest input that shows it: {inputs}."
    if first.step == "value":
        mine, right = _apart(values[wrong], rights[wrong], exercise.tolerance)
        text += f"\nYours: {shown(as_tensor(mine))}\nRight: {shown(as_tensor(right))}"
    return Feedback(exercise.name, "wrong", text + aside, "", picture)


def known_mistake(exercise: Exercise, values: list[object]) -> Mistake | None:
    """The known mistake that gives these values on every case."""
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
    if not isinstance(code, CodeType):
        return False
    steps = list(dis.get_instructions(code))
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "POP_TOP"}
    constants = {step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")}
    return {step.opname for step in steps} <= nothing and constants <= {None, Ellipsis}


def hint(name: str, step: int | None = None) -> None:
    """Print the next of the three hints, or the one asked for (1, 2, 3)."""
    hints = find(name).hints
    check_numbers("hint", whole=True, optional=True, least=1, most=len(hints), step=step)
    step = step or min(_hints_given.get(name, 0) + 1, len(hints))
    _hints_given[name] = max(step, _hints_given.get(name, 0))
    note_hint(name, step)
    print(printable(f"Hint {step} of {len(hints)}: {hints[step - 1]}"))


def solution(name: str) -> None:
    """Print the code of the right answer, the same that the answers are compared with."""
    exercise = find(name)
    without = "This edition comes without solutions: ask your teacher."
    print(printable(without if exercise.recorded else exercise.solution_source()))


def told(exercise: Exercise, case: Case) -> str:
    """The inputs of a case in a few words, each with its name: "x = [1.0, 2.0], W_q = a tensor (8, 8)"."""
    inputs = [shown(as_tensor(value)) for value in case]
    names = exercise.input_names()
    if len(names) == len(inputs):
        inputs = [f"{name} = {value}" for name, value in zip(names, inputs, strict=True)]
    return ", ".join(inputs) or "none"


def _apart(got: object, right: object, tolerance: float) -> tuple[object, object]:
    """Both results; of two dicts with the same keys only the parts that differ."""
    if not (isinstance(got, dict) and isinstance(right, dict)):
        return got, right
    names = [name for name in right if difference(got[name], right[name], tolerance)]
    return {name: got[name] for name in names}, {name: right[name] for name in names}


def _beside(got: object, right: object) -> Svg | None:
    """Two matrices side by side, where both are small enough to be read."""
    tensors = [value for value in map(as_tensor, (got, right)) if isinstance(value, Tensor)]
    both = [value for value in tensors if value.dim() == 2 and max(value.shape) <= 8]
    if len(both) < 2:
        return None
    mine, its = both
    if mine.shape != its.shape or mine.is_complex() or not torch.isfinite(mine.double()).all():
        return None
    panels = [_table(value, title) for value, title in zip(both, ("yours", "right"), strict=True)]
    return side_by_side(panels, alt=f"Two tables side by side. Yours: {shown(mine, 64)}. Right: {shown(its, 64)}.")


def _table(value: Tensor, title: str):
    rows, columns = value.shape
    return weight_map(
        value.double().tolist(),
        [str(s) for s in range(columns)],
        [f"row {t}" for t in range(rows)],
        size=(80 + 52 * columns, 60 + 34 * rows),
        title=title,
    )
