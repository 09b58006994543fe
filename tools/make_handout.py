"""Write an edition of the course without the exercises' solutions, for learners whose teacher keeps them.

    python tools/make_handout.py               into build/handout
    python tools/make_handout.py --to FOLDER   into another, new or empty folder

The edition checks answers and names mistakes like the full one: the results of solutions and mistakes on the exercises'
inputs are recorded in a file, and their code is removed. The code of inline exercises stays in the package, although
`solution` does not show it: the notebook goes on with it. The edition has notebooks, package and drawings, no tests.
"""

import argparse
import ast
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from notebook_frame import ROOT
from tx_helpers.exercises.catalogue import RECORD, find, lesson_of

PARTS = ("README.md", "LICENSE", "LICENSE-text.md", "Makefile", "requirements.txt", "environment.yml", "pyproject.toml")
FOLDERS = ("notebooks", "tx_helpers", "figures", "setup.py", *PARTS)


def without_answers(source: str) -> str:
    """A module's source without solutions and mistakes, and without the helpers that only those call.

    The solutions of inline exercises stay.
    """
    inline = _inline(source)
    source = _without(source, lambda node: _is_answer(node, inline))
    while idle := _idle(source):
        source = _without(source, lambda node, idle=idle: getattr(node, "name", None) in idle)
    return source.rstrip() + "\n"


def _without(source: str, unwanted: Callable[[ast.stmt], bool]) -> str:
    """The source without those of its top-level statements."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        if unwanted(node):
            first = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
            del lines[first.lineno - 1 : node.end_lineno]
    return "\n".join(lines)


def _idle(source: str) -> set[str]:
    """Functions and classes of the module, solutions apart, that no other part of it uses."""
    body = ast.parse(source).body
    named = {id(statement): {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} for statement in body}
    return {
        node.name
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not any(ast.unparse(decorator).endswith(".solution") for decorator in node.decorator_list)
        and not any(node.name in named[id(other)] for other in body if other is not node)
    }


def _inline(source: str) -> set[str]:
    """The variables of exercises made with `inline=True`."""
    return {
        node.targets[0].id
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(keyword.arg == "inline" and ast.unparse(keyword.value) == "True" for keyword in node.value.keywords)
    }


def _is_answer(node: ast.stmt, inline: set[str]) -> bool:
    """Is it a decorated solution or mistake, or a call of `add_mistakes`; and no solution of an inline exercise?"""
    calls = [node.value] if isinstance(node, ast.Expr) else getattr(node, "decorator_list", [])
    functions = [call.func if isinstance(call, ast.Call) else call for call in calls]
    called = [
        (function.attr, ast.unparse(function.value)) for function in functions if isinstance(function, ast.Attribute)
    ]
    return any(
        method in ("mistake", "add_mistakes") or (method == "solution" and exercise not in inline)
        for method, exercise in called
    )


def make(folder: Path) -> None:
    """Write the edition; ValueError if there is something in the folder already."""
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"make_handout: {folder} is not empty")
    listed = subprocess.run(["git", "ls-files", "-z", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    for file in (folder / "tx_helpers" / "lessons").glob("*/exercises*.py"):
        file.write_text(without_answers(file.read_text(encoding="utf-8")), encoding="utf-8")
    torch.save({name: find(name).record() for name in lesson_of()}, folder / RECORD.relative_to(ROOT))


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "handout")
    folder = parser.parse_args(arguments).to
    try:
        make(folder)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(lesson_of())} exercises without their solutions, in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
