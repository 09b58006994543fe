"""The learner's own model as a file: the source of every class of notebook 08 that has passed.

The file is my_model.py, beside progress.json. It is plain Python: a head with the imports, then a section for each
class behind a line `# %% Attention 0f1e…`. The number in that line belongs to the text of the section as it was kept,
so that `your_own` runs nothing that was written or changed elsewhere.
"""

import ast
import contextlib
import hashlib
import inspect
import linecache
import re
from pathlib import Path

from tx_helpers.exercises.solved import alone, set_aside, text_of
from tx_helpers.progress_file import progress_file, replace_file

PARTS = ("Embedding", "Attention", "FeedForward", "Block", "Encoder", "Decoder", "Transformer", "GPT")
HEAD = '''"""Your own Transformer: every class that you have written in notebook 08, as it was when it passed.

Read it, run it, copy it. To change a class, change it in notebook 08: a text that was changed here is not used.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.nn.positions import sinusoidal
'''
MARK = re.compile(r"^# %% (\w+)(?: (\w+))?[ \t]*$", re.M)


def model_file() -> Path:
    """The path of the file; it may not exist yet."""
    return progress_file().with_name("my_model.py")


def definition(answer: type) -> str:
    """The class's source with what its cell defines for it; ValueError if it cannot be found.

    These are the cell's imports, functions and classes, and the constants that they use. `inspect.getsource` looks for
    a class in the file of its module, which a notebook does not have. The code of its methods names the cell.
    """
    for method in filter(inspect.isfunction, vars(answer).values()):
        with contextlib.suppress(SyntaxError):
            cell = "".join(linecache.getlines(method.__code__.co_filename))
            body = ast.parse(cell).body
            if any(isinstance(node, ast.ClassDef) and node.name == answer.__name__ for node in body):
                return "\n\n\n".join(_source(cell, node) for node in _needed(body, answer.__name__))
    raise ValueError(f"keep: the source of {answer.__name__} cannot be found; expected a class written in a cell")


def read() -> dict[str, tuple[str, str]]:
    """Name of a class -> (its number, its section), "" -> ("", the head); empty if there is no file.

    A file that is no text is set aside. OSError where it cannot be read.
    """
    try:
        text = text_of(model_file())
    except UnicodeDecodeError as error:
        set_aside(model_file(), str(error))
        text = ""
    head, *rest = MARK.split(text)
    parts = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return {"": ("", head)} | {name: (number or "", section.strip()) for name, number, section in parts} if text else {}


def number_of(section: str) -> str:
    """The number that belongs to the text of a section."""
    return hashlib.sha256(section.strip().encode()).hexdigest()[:16]


def keep(name: str, section: str) -> None:
    """Write a class into the file, in the order of PARTS. OSError or ValueError where it cannot be written."""
    with alone(model_file()):
        sections = {"": ("", HEAD)} | read() | {name: (number_of(section), section.strip())}
        ordered = [part for part in PARTS if part in sections] + [part for part in sections if part not in ("", *PARTS)]
        text = sections[""][1].rstrip() + "\n"
        for part in ordered:
            number, section = sections[part]
            text += f"\n\n# %% {part} {number}".rstrip() + f"\n\n\n{section}\n"
        replace_file(model_file(), text)


def _needed(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements of a cell that its class needs: all imports and definitions, and the constants in them."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    used = {
        part.id for node in body if isinstance(node, kinds) for part in ast.walk(node) if isinstance(part, ast.Name)
    }

    def constant(node: ast.stmt) -> bool:
        targets = {target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name)}
        return bool(targets & used - {name})

    return [node for node in body if isinstance(node, kinds) or constant(node)]


def _source(cell: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return "\n".join(cell.split("\n")[first - 1 : node.end_lineno])
