"""What documents, docstrings, comments and notebooks speak of is there: files, modules of the package, tests."""

import ast
import fnmatch
import importlib
import io
import re
import tokenize
from functools import cache

import nbformat
import pytest

from notebook_frame import ROOT
from repository import repository_files

FILE = re.compile(
    r"(?<![\w/.:-])((?:(?:[\w.*-]|<\w+>)+/)*(?:[\w*-]|<\w+>)+\.(?:py|md|js|ipynb|svg|toml|txt|yml))(?![\w/])"
)
DOTTED = re.compile(r"(?<![\w.])tx_helpers(?:\.\w+)+")
TEST = re.compile(r"(?<![\w/.])test_\w+(?![\w.*])")
PLACEHOLDER = re.compile(r"NN|<\w+>|…")  # NN_families.ipynb, figures/<name>.py
# Files that are spoken of and are not in this repository: in the wheel, on the site, in a cache, made up.
ELSEWHERE = {
    "my_checker.py",
    "prompts.txt",
    "tx_helpers/figures/*.svg",
    "search_index.js",
    "tinyshakespeare.txt",
    "x.ipynb",
    "my_model.py",
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def names() -> frozenset[str]:
    """All tracked paths, and each of their endings: "tx_helpers/text/data.py", "text/data.py", "data.py"."""
    paths = [name.split("/") for name in repository_files()]
    return frozenset("/".join(parts[start:]) for parts in paths for start in range(len(parts)))


@cache
def known_tests() -> frozenset[str]:
    """The names of all test functions and test modules."""
    files = [name for name in repository_files() if name.startswith("tests/") and name.endswith(".py")]
    functions = re.findall(r"def (test_\w+)", "\n".join((ROOT / name).read_text(encoding="utf-8") for name in files))
    return frozenset(functions) | {name.rsplit("/", 1)[1][:-3] for name in files}


def spoken(text: str, kind: str) -> str:
    """The part of a file in which people speak: all of a document, docstrings and comments of a Python file."""
    if kind != "py":
        return text
    tree = ast.parse(text)
    said = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, DOCUMENTED)]
    comments = [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    return "\n".join([*filter(None, said), *comments])


def exists(dotted: str) -> bool:
    """Is this a module of the package, or something in one?"""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def absent(text: str) -> list[str]:
    """The files, dotted names and tests that a text mentions and that do not exist."""
    files = [PLACEHOLDER.sub("*", name).removeprefix("../") for name in FILE.findall(text)]
    found = [name for name in files if name not in ELSEWHERE and not fnmatch.filter(names(), name)]
    found += [name for name in DOTTED.findall(text) if not exists(name) and name not in files]
    return found + [name for name in TEST.findall(text) if name not in known_tests()]


def texts() -> dict[str, str]:
    """Each file in which people speak -> what they say there."""
    found = {}
    for name in repository_files():
        if name == "CHANGELOG.md":  # it tells of what was there
            continue
        kind = name.rsplit(".", 1)[-1]
        if kind in {"py", "md", "js", "yml", "toml"} or name in {"Makefile", ".ci/run"}:
            found[name] = spoken((ROOT / name).read_text(encoding="utf-8"), kind)
        elif kind == "ipynb":
            cells = nbformat.read(ROOT / name, as_version=4).cells
            found[name] = "\n".join(cell.source for cell in cells)
    return found


def test_what_is_spoken_of_exists():
    assert {name: missing for name, text in texts().items() if (missing := absent(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "see nothing.md",
        "`tx_helpers/nothing.py`",
        "<tools/no.py",
        "in tx_helpers.nn.masks.no_mask",
        "test_of_nothing",
    ],
)
def test_the_guard_sees(text):
    assert len(absent(text)) == 1


def test_what_the_guard_lets_pass():
    fine = "`notebooks/NN_families.ipynb`, tx_helpers/nn/masks.py, figures/<name>.svg, text/data.py, `layers.py`,"
    assert absent(fine + " tx_helpers.nn.masks.causal_mask, https://example.org/a/b.md, test_structure, a.b.c") == []
    assert spoken('"""a.py"""\nx = "b.py"  # c.py', "py") == "a.py\n# c.py"
