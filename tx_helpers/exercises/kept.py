"""The learner's own model as a file: the source of every class of notebook 08 that has passed.

The file is my_model.py, beside progress.json. It is plain Python: a head with the imports, then a section for each
class behind a line `# %% Attention`. Whoever likes may read it, change it, or run it.
"""

import ast
import contextlib
import inspect
import linecache
import re
from pathlib import Path

from tx_helpers.exercises.record import progress_file, replace_file

PARTS = ("Embedding", "Attention", "FeedForward", "Block", "Encoder", "Decoder", "Transformer", "GPT")
HEAD = '''"""Your own Transformer: every class that you have written in notebook 08, as it was when it passed."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.nn.positions import sinusoidal
'''
MARK = re.compile(r"^# %% (\w+)[ \t]*$", re.M)


def model_file() -> Path:
    """The path of the file; it may not exist yet."""
    return progress_file().with_name("my_model.py")


def definition(answer: type) -> str:
    """The class's source with the imports, functions and classes of its cell; ValueError if it cannot be found.

    `inspect.getsource` looks for a class in the file of its module, which a notebook does not have. The code of its
    methods names the cell.
    """
    for method in filter(inspect.isfunction, vars(answer).values()):
        with contextlib.suppress(SyntaxError):
            cell = "".join(linecache.getlines(method.__code__.co_filename))
            kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
            found = [node for node in ast.parse(cell).body if isinstance(node, kinds)]
            if any(isinstance(node, ast.ClassDef) and node.name == answer.__name__ for node in found):
                return "\n\n\n".join(_source(cell, node) for node in found)
    raise ValueError(f"keep: the source of {answer.__name__} cannot be found; expected a class written in a cell")


def read() -> dict[str, str]:
    """Name of a class -> its section of the file, "" -> the head; empty if there is no file.

    OSError or UnicodeDecodeError where the file cannot be read.
    """
    if not model_file().exists():
        return {}
    head, *rest = MARK.split(model_file().read_text(encoding="utf-8"))
    return {"": head} | dict(zip(rest[::2], rest[1::2], strict=True))


def keep(name: str, answer: type) -> str:
    """Write the class into the file, in the order of PARTS. Returns a sentence that says whether it is kept."""
    try:
        sections = {"": HEAD} | read() | {name: definition(answer)}
        ordered = [part for part in PARTS if part in sections] + [part for part in sections if part not in ("", *PARTS)]
        text = sections[""].rstrip() + "\n"
        for part in ordered:
            text += f"\n\n# %% {part}\n\n\n{sections[part].strip()}\n"
        replace_file(model_file(), text)
    except (OSError, ValueError) as error:  # ValueError: a file that is not text, too
        return f"It could not be kept for later notebooks ({type(error).__name__}: {error})."
    return "It is kept for later notebooks, in the file my_model.py."


def _source(cell: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return "\n".join(cell.split("\n")[first - 1 : node.end_lineno])
