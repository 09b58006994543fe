"""The learner's own code in the notebooks: `your_turn` goes on with an answer, `your_own` with a class of notebook 08.

Attention = your_turn("Attention", Attention)     # the learner's version where it passes, else the course's
your_own("Transformer")                           # made of the kept source; ours where it is missing
"""

import ast
import base64
import inspect
import linecache
import sys
import zlib
from dataclasses import replace
from types import CodeType, ModuleType
from typing import Any

from IPython.display import display

from tx_helpers import plain as plain_model
from tx_helpers.environment import printable
from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.checks import check, examine
from tx_helpers.exercises.kept import HEAD, PARTS, definition, keep, number_of, read
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


def your_turn(name: str, answer: object) -> object:
    """Check an answer, show the feedback, and return what the notebook goes on with: it, if it passes, else ours.

    A class of notebook 08's model that passes is also kept in a file, for `your_own`.

    ValueError if there is no such exercise, or if it is none that stands inside a notebook (`inline`).
    """
    if not find(name).inline:
        raise ValueError(f"your_turn: {name!r} is an exercise from the end of a notebook; expected check({name!r}, …)")
    feedback = check(name, answer)
    whose = "your version" if feedback else "the course's version"
    text = "not written yet." if feedback.state == "open" else feedback.text
    kept = f" {_kept(name, answer)}" if feedback and name in PARTS and isinstance(answer, type) else ""
    display(replace(feedback, text=f"{text}\nFrom here on the notebook uses {whose}.{kept}"))
    return answer if feedback else find(name).answer


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


def assembled(parts: list[str], sections: dict[str, tuple[str, str]]) -> tuple[dict[str, Any], dict[str, str]]:
    """(the names of a module made of these parts, part -> why it is ours); each is made with those before it."""
    made: dict[str, Any] = {"__name__": "my_model"}
    ours: dict[str, str] = {}
    exec(HEAD, made)
    for part in parts:
        why = _failure(part, sections, made)
        if why:
            ours[part] = why
            exec(_ours(part), made)  # with the learner's earlier parts
    return made, ours


def _kept(name: str, answer: type) -> str:
    """Keep a class that has passed, if it passes without the rest of the notebook, too. Returns what became of it."""
    try:
        source = definition(answer)
        parts = [part for part in PARTS if part in needed(name)]
        _, ours = assembled(parts, read() | {name: (number_of(source), source)})
        if name in ours:
            return f"It is not kept for later notebooks: without your other cells it {ours[name].splitlines()[0]}"
        keep(name, source)
    except (OSError, ValueError) as error:
        return f"It could not be kept for later notebooks ({type(error).__name__}: {error})."
    return "It is kept for later notebooks, in the file my_model.py."


def _failure(part: str, sections: dict[str, tuple[str, str]], made: dict[str, Any]) -> str:
    """Define the learner's class among the names made so far; why that fails, or "" if it passes."""
    if part not in sections:
        return "not written yet"
    number, section = sections[part]
    if number != number_of(section):  # neither what has passed nor, perhaps, the learner's
        return "changed in the file; run its cell in notebook 08 again"
    outcome = guarded(lambda: exec(_compiled(section, part), made), (), SECONDS)
    if outcome.problem or outcome.not_written:
        return f"does not run: {outcome.problem}"
    feedback = examine(find(part), made.get(part))
    return "" if feedback else f"does not pass: {feedback.text.removeprefix('not yet: ')}"


def _ours(part: str) -> CodeType:
    """Our class, as code; in the edition without solutions `plain` is packed, and nobody finds its lines."""
    packed = vars(plain_model).get("PACKED")
    if packed is None:
        return _compiled(inspect.getsource(getattr(plain_model, part)), part)
    source = zlib.decompress(base64.b85decode(packed))
    (node,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == part)
    return compile(ast.Module([node], []), "<packed>", "exec")


def _compiled(source: str, part: str) -> CodeType:
    """Code whose lines Python finds when it tells of an error, and `inspect` when it is asked for the class."""
    module, file = ModuleType(f"my_model.{part}"), f"<my_model.py, {part}>"
    module.__file__ = file
    sys.modules[module.__name__] = module  # where `inspect` looks for the file of a class
    source = f"__name__ = {module.__name__!r}\n{source}"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return compile(source, file, "exec")


def _listed(ours: dict[str, str]) -> str:
    return ", ".join(f"{part} ({why.partition(':')[0]})" for part, why in ours.items())
