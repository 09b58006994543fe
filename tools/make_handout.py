"""Write an edition of the course without the exercises' solutions, for learners whose teacher keeps them.

    python tools/make_handout.py               into build/handout
    python tools/make_handout.py --to FOLDER   into another, new or empty folder

The edition checks answers and names mistakes like the full one: the results of solutions and mistakes on the exercises'
inputs are recorded in a file, and their code is removed. With the solutions of inline exercises, `plain.py` among them,
a notebook goes on: they are packed, so that nobody reads them by chance. A hint that says a whole solution is left out.
The notebooks and their stored pictures say and show nothing that this edition does not have. It has notebooks, package,
drawings, a README of its own (handout/README.md) and of the Makefile what a learner needs; no tests and no tools.
"""

import argparse
import ast
import base64
import difflib
import html
import json
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import torch

from notebook_frame import ROOT
from tx_helpers.exercises.catalogue import RECORD, find, lesson_of
from tx_helpers.exercises.exercise import Exercise

PARTS = ("README.md", "LICENSE", "LICENSE-text.md", "Makefile", "requirements.txt", "environment.yml", "pyproject.toml")
FOLDERS = ("notebooks", "tx_helpers", "figures", "setup.py", *PARTS)
TARGETS = {"help", "setup", "lab", "clean", "$(READY)"}  # of the Makefile: those that need no tools and no tests
SAID = (  # what the full edition says, and what this one says instead
    (r"gives three hints", "gives up to three hints"),
    (r'; `solution\(\\"\w+\\"\)` shows the tested code\.', ". Your teacher has the solutions."),
    (r", `solution` shows the answer\.", "."),
    (r" `tx_helpers\.plain` is shorter\.", ""),
    (r'\\n",\n *"\(`tools/\w+\.py`\)', ""),
)
LEAST, SHOWN = 25, 40  # letters by which a solution is known in code, and one of its lines in a picture
TOLD = 0.9  # of the words of a solution, in their order: a hint that has as many says it
PACKED = """\
\"\"\"The classes of notebook 08: they run, and are packed, since this edition comes without solutions.\"\"\"

import base64
import zlib

PACKED = {!r}
exec(zlib.decompress(base64.b85decode(PACKED)).decode())
"""


def without_answers(source: str, bodies: list[list[str]]) -> str:
    """A module's source without solutions and mistakes, and without the helpers that only those call.

    The solutions of inline exercises are packed, and helpers that are solutions by another name.
    """
    inline = _inline(source)
    source = _with(source, lambda node: _is_answer(node, inline))
    while idle := _idle(source):
        source = _with(source, lambda node, idle=idle: getattr(node, "name", None) in idle)
    known = readable(source, bodies)
    return (
        _with(
            source,
            lambda node: _is_solution(node) or getattr(node, "name", None) in known,
            lambda code: [f"exec({_unpacking(code)})"],
        ).rstrip()
        + "\n"
    )


def _with(source: str, found: Callable[[ast.stmt], bool], instead: Callable[[str], list[str]] = lambda _: []) -> str:
    """The source with lines in place of those of its top-level statements."""
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        if found(node):
            first = node.decorator_list[0] if getattr(node, "decorator_list", None) else node
            place = slice(first.lineno - 1, node.end_lineno)
            lines[place] = instead("\n".join(lines[place]))
    return "\n".join(lines)


def _packed(code: str) -> bytes:
    return base64.b85encode(zlib.compress(code.encode()))


def _unpacking(code: str) -> str:
    """An expression whose value is the code."""
    return f'__import__("zlib").decompress(__import__("base64").b85decode({_packed(code)!r}))'


def _is_solution(node: ast.stmt) -> bool:
    return any(ast.unparse(one).endswith(".solution") for one in getattr(node, "decorator_list", []))


def _idle(source: str) -> set[str]:
    """Functions and classes of the module, solutions apart, that no other part of it uses."""
    body = ast.parse(source).body
    named = {id(statement): {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} for statement in body}
    return {
        node.name
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not _is_solution(node)
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
    """Is it a decorated solution or mistake, or a table of mistakes; and no solution of an inline exercise?"""
    calls = [node.value] if isinstance(node, ast.Expr) else getattr(node, "decorator_list", [])
    functions = [call.func if isinstance(call, ast.Call) else call for call in calls]
    called = [
        (function.attr, ast.unparse(function.value)) for function in functions if isinstance(function, ast.Attribute)
    ]
    return any(
        method in ("mistake", "slips") or (method == "solution" and exercise not in inline)
        for method, exercise in called
    )


def without_hints(source: str, told: set[str]) -> str:
    """A module's source without these hints, each of which begins and ends a line."""
    lines = source.split("\n")
    for node in sorted(ast.walk(ast.parse(source)), key=lambda node: -getattr(node, "lineno", 0)):
        if isinstance(node, ast.Constant) and node.value in told:
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines)


def readme(template: str, full: str) -> str:
    """The README of this edition: its own text, with the table of notebooks of the full one."""
    table = re.search(r"^\| \| notebook \|\n(\|.*\n)+", full, re.M)
    return template.replace("{notebooks}\n", table[0])


def makefile(full: str) -> str:
    """Of a Makefile the paragraphs that make TARGETS alone, and the variables that these use."""
    kept = [part for part in full.split("\n\n") if TARGETS.issuperset(re.findall(r"^([\w$()]+):(?!=)", part, re.M))]
    text = re.sub(r"^(\.PHONY:).*", rf"\1 {' '.join(sorted(TARGETS - {'$(READY)'}))}", "\n\n".join(kept), flags=re.M)
    text = re.sub(r"^#.*`make test`.*\n(# Var.*\n)?", "# `make lab` opens the course.\n", text, flags=re.M)
    text = text.replace("`lab` does it itself; all other targets add what they need", "`lab` does it itself")
    for name in reversed(re.findall(r"^(\w+) *[:?]=", text, re.M)):
        if f"$({name})" not in text:
            text = re.sub(rf"^(# .*\n)*{name} *[:?]=.*\n", "", text, flags=re.M)
    return text.rstrip() + "\n"


def without_lacking(text: str) -> str:
    """A notebook or module in which nothing is said of what this edition lacks."""
    for pattern, instead in SAID:
        text = re.sub(pattern, instead, text, flags=re.M)
    return text


def without_views(notebook: str, bodies: list[list[str]]) -> str:
    """A notebook's text without the stored outputs that show a line of a solution, which may be cut off."""
    content, starts = json.loads(notebook), {line[:SHOWN] for body in bodies for line in body if len(line) >= SHOWN}
    for cell in content["cells"]:
        shown = html.unescape("".join(json.dumps(cell.get("outputs", []), ensure_ascii=False)))
        if any(start in shown for start in starts):
            cell["outputs"] = []
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def bodies() -> list[list[str]]:
    """The bodies of the solutions, without those that say very little."""
    return [body for body in map(_body, map(find, lesson_of())) if len("".join(body)) >= LEAST]


def _body(exercise: Exercise) -> list[str]:
    """The lines of a solution that its starter does not show, imports apart."""
    return [
        line.strip()
        for line in exercise.solution_source().splitlines()
        if line.strip() and not line.startswith(("import ", "from ")) and line not in exercise.starter()
    ]


def telling() -> set[str]:
    """The hints of the course that say nearly a whole solution."""
    return {hint for one in map(find, lesson_of()) for hint in one.hints if _says(hint, "\n".join(_body(one)))}


def _says(hint: str, body: str) -> bool:
    said, wanted = (re.findall(r"\w+|[^\w\s]", text) for text in (hint, body))
    blocks = difflib.SequenceMatcher(None, wanted, said, autojunk=False).get_matching_blocks()
    return len(body) >= LEAST and sum(block.size for block in blocks) >= TOLD * len(wanted)


def readable(source: str, bodies: list[list[str]]) -> list[str]:
    """The top-level functions and classes of a module, by name, in which a whole solution stands."""
    found = [node for node in ast.parse(source).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    codes = {node.name: "\n".join(source.split("\n")[node.lineno - 1 : node.end_lineno]) for node in found}
    return [name for name, code in codes.items() if any(all(line in code for line in body) for body in bodies)]


def make(folder: Path) -> None:
    """Write the edition; ValueError if there is something in the folder already."""
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"make_handout: {folder} is not empty")
    listed = subprocess.run(["git", "ls-files", "-z", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in re.findall(r"[^\0]+", re.sub(r"figures/\w+\.py\0", "", listed.stdout)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    solutions, told = bodies(), telling()
    for file in (folder / "tx_helpers" / "lessons").glob("*/exercises*.py"):
        source = without_hints(file.read_text(encoding="utf-8"), told)
        file.write_text(without_answers(source, solutions), encoding="utf-8")
    plain = folder / "tx_helpers" / "plain.py"
    plain.write_text(PACKED.format(_packed(plain.read_text(encoding="utf-8"))), encoding="utf-8")
    template = Path(__file__).with_name("handout") / "README.md"
    for name, text in {
        "README.md": readme(template.read_text(encoding="utf-8"), (ROOT / "README.md").read_text(encoding="utf-8")),
        "Makefile": makefile((ROOT / "Makefile").read_text(encoding="utf-8")),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    for file in (*folder.glob("tx_helpers/**/__init__.py"), *folder.glob("notebooks/*.ipynb")):
        text = without_lacking(file.read_text(encoding="utf-8"))
        file.write_text(without_views(text, solutions) if file.suffix == ".ipynb" else text, encoding="utf-8")
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
