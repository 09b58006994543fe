"""`your_own("Transformer")`: the learner's class of notebook 08, made of its kept source; ours where it is missing."""

import inspect
import linecache
from types import CodeType

from tx_helpers import plain as plain_model
from tx_helpers.environment import printable
from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.checks import examine
from tx_helpers.exercises.kept import HEAD, PARTS, read
from tx_helpers.exercises.sandbox import guarded
from tx_helpers.nn.arguments import check_one_of

SECONDS = 5.0  # in which the learner's definitions must have run
USES = {
    "Block": ("Attention", "FeedForward"),
    "Encoder": ("Embedding", "Block"),
    "Decoder": ("Embedding", "Block"),
    "Transformer": ("Encoder", "Decoder"),
    "GPT": ("Encoder",),
}


def your_own(name: str) -> type:
    """The class of that name that the learner wrote in notebook 08, made of the learner's parts; a line says so.

    A part that is not written yet, or no longer passes, is ours. ValueError if notebook 08 has no such class.
    """
    check_one_of("your_own", PARTS, name=name)
    parts = [part for part in PARTS if part in needed(name)]
    try:
        sections = read()
    except (OSError, ValueError) as error:
        print(f"{name}: ours, since my_model.py cannot be read ({type(error).__name__}).")
        return getattr(plain_model, name)
    if not any(part in sections for part in parts):
        print(f"{name}: ours, since you have not written a part of it in notebook 08 yet.")
        return getattr(plain_model, name)
    made, ours = assembled(parts, sections)
    if len(ours) == len(parts):
        whose = f"ours, since no part passes: {_listed(ours)}."
    elif ours:
        whose = f"yours of notebook 08, with our {_listed(ours)}."
    else:
        whose = "yours, as you wrote it in notebook 08."
    print(printable(f"{name}: {whose}"))
    return made[name]


def needed(name: str) -> set[str]:
    """The class and all that it is made of."""
    return {name}.union(*(needed(part) for part in USES.get(name, ())))


def assembled(parts: list[str], sections: dict[str, str]) -> tuple[dict, dict[str, str]]:
    """(the names of a module made of these parts, part -> why it is ours); each is made with those before it."""
    made: dict = {"__name__": "my_model"}
    ours: dict[str, str] = {}
    exec(HEAD, made)
    for part in parts:
        why = _failure(part, sections, made)
        if why:
            ours[part] = why
            exec(inspect.getsource(getattr(plain_model, part)), made)  # with the learner's earlier parts
    return made, ours


def _failure(part: str, sections: dict[str, str], made: dict) -> str:
    """Define the learner's class among the names made so far; why that fails, or "" if it passes."""
    if part not in sections:
        return "not written yet"

    def define() -> None:
        exec(_compiled(sections[""], "head"), made)
        exec(_compiled(sections[part], part), made)

    outcome = guarded(define, (), SECONDS)
    if outcome.problem or outcome.not_written:
        return "does not run"
    return "" if examine(find(part), made.get(part)).state == "right" else "does not pass"


def _compiled(source: str, part: str) -> CodeType:
    """Code whose lines Python finds when it tells of an error."""
    file = f"<my_model.py, {part}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return compile(source, file, "exec")


def _listed(ours: dict[str, str]) -> str:
    return ", ".join(f"{part} ({why})" for part, why in ours.items())
