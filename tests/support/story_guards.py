"""What a learner meets in a notebook: how much there is to read, what is folded away, what is asked before it is told.

Functions that return lists of findings ([] = fine), as in `notebook_guards`, which holds the rules of form.
"""

import ast
import builtins
import re

from notebook_guards import code_cells, python_of, text_of
from notebook_header import HALF_WAY, LONG, TIME_LINE, path_minutes
from notebook_parts import (
    EXPLORER,
    PREDICTION,
    REVEAL,
    asks_or_tells,
    cell_headings,
    core_path,
    is_optional,
    optional_sections,
    shown,
    waiting,
    words,
)
from tx_helpers.exercises.course import LESSONS

# Lessons whose core path is held to the limits below: all but the one that is looked up.
TOLD_AGAIN = [lesson for lesson in LESSONS if lesson != "reference"]
MAX_CELLS = 60
MAX_WORDS = 2_500
MAX_OPENING = 40  # words beside the heading of an optional section: they are in sight while it is folded
MAX_WAITING = 3  # cells between a question and its finding
# "0.03 (below 0.2)", "after (bound)", "a gap below 1e-10", "between 2 and 35 %"
BAND = re.compile(
    r"\((?:all |both )?(?:below|above|under|over|at least|at most|less than|more than|within|bound)\b"
    r"|\bbetween [\d.]+ and [\d.]|\b(?:below|above) \d+e-"
)
MAX_TRUE = 0.1  # of all printed lines


def load(notebook) -> list[str]:
    """The core path has at most 60 cells and 2,500 words."""
    path = core_path(notebook.cells)
    counts = ((len(path), "cells", MAX_CELLS), (words(path), "words", MAX_WORDS))
    return [
        f"the core path has {count} {what}, expected at most {most}; cut, or move to an optional section"
        for count, what, most in counts
        if count > most
    ]


def optional_parts(notebook) -> list[str]:
    """An optional section opens with its heading, ends at a heading, and hides nothing that learners should do."""
    found = []
    for part in optional_sections(notebook.cells):
        opening, inside = notebook.cells[part[0]], [notebook.cells[index] for index in part[1:]]
        name = cell_headings(opening)[0][1]
        if len(cell_headings(opening)) > 1 or words([opening]) > MAX_OPENING:
            found.append(f"{name!r}: its first cell stays in sight; leave the heading and {MAX_OPENING} words in it")
        if not inside:
            found.append(f"{name!r}: nothing is folded away below it")
        after = notebook.cells[part.stop] if part.stop < len(notebook.cells) else None
        if after is None or not after.source.startswith("#"):
            found.append(f"{name!r}: the cell behind it does not begin with the heading at which it ends")
        found += [f"{name!r} hides {what}, which belongs on the core path" for what in map(to_be_done, inside) if what]
    for number, cell in enumerate(notebook.cells, 1):
        later = [title for _, title in cell_headings(cell)[is_optional(cell) :] if title.startswith("Optional")]
        found += [f"cell {number}: {title!r} is not the cell's first line, so it is not folded" for title in later]
    return found


def needed_from_optional(notebook) -> list[str]:
    """The core path uses no name that only a folded section defines: who skips the section goes on without an error."""
    optional = {index for part in optional_sections(notebook.cells) for index in part}
    known, folded, found = set(dir(builtins)), set(), []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        made, used = names_of(ast.parse(python_of(cell)))
        if index in optional:
            folded |= made
            continue
        known |= made
        found += [
            f"{name} of a core cell comes from an optional section alone" for name in sorted(used & folded - known)
        ]
    return found


def names_of(tree: ast.AST) -> tuple[set[str], set[str]]:
    """The names that code defines (arguments of functions included), and those that it reads."""
    made, used = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.arg):
            made.add(node.arg)
    return made, used


def to_be_done(cell) -> str:
    """What a learner should do in this cell: "an explorer", "a prediction", "an exercise"; "" if nothing."""
    if cell.cell_type != "code":
        return ""
    if EXPLORER.search(cell.source):
        return "an explorer"
    if PREDICTION.search(cell.source) or REVEAL.search(cell.source):
        return "a prediction"
    return "an exercise" if cell.get("id", "").startswith("exercise-") else ""


def untold_explorers(notebook) -> list[str]:
    """An explorer has a heading of its own, a question before it and the answer behind it.

    The question is a prediction, the answer its reveal; or, as it was before there were predictions, two texts.
    """
    found = []
    for index, cell in enumerate(notebook.cells):
        called = EXPLORER.search(cell.source)
        if cell.cell_type != "code" or not called:
            continue
        begin = max((i for i in range(index) if cell_headings(notebook.cells[i])), default=0)
        end = next((i for i in range(index + 1, len(notebook.cells)) if cell_headings(notebook.cells[i])), index + 1)
        before, behind = notebook.cells[begin:index], notebook.cells[index + 1 : end + 1]
        headings = [f"{'#' * level} {title}" for level, title in cell_headings(notebook.cells[begin])] or [""]
        if not headings[-1].startswith("### Explorer: "):
            found.append(f"{called[1]}…) stands below {headings[-1]!r}, expected '### Explorer: …'")
        if not has(before, PREDICTION, "**To find out:**"):
            found.append(f"{called[1]}…): no prediction, nor '**To find out:**', between its heading and it")
        if not has(behind, REVEAL, "**What you should have found.**"):
            found.append(f"{called[1]}…): no reveal, nor '**What you should have found.**', before the next heading")
    return found


def has(cells: list, code: re.Pattern, text: str) -> bool:
    """Whether one of these cells has the code, or the text."""
    return any(code.search(c.source) if c.cell_type == "code" else text in c.source for c in cells)


def predictions(notebook) -> list[str]:
    """Each prediction has a key of small letters, digits and hyphens, and each is revealed later, once."""
    found, asked = [], set()
    for cell in code_cells(notebook):
        for name in REVEAL.findall(cell.source):
            if name not in asked:
                found.append(f"{name}.reveal(…) without an open {name} = predict(…) before it")
            asked.discard(name)
        for match in PREDICTION.finditer(cell.source):
            if not re.match(r'\s*"[a-z][a-z0-9-]*"', cell.source[match.end() :]):
                found.append(f"{match[0]}…): expected a key such as 'one-head'")
            asked.add(match[1])
    return [*found, *(f"{name} = predict(…) is never revealed" for name in sorted(asked))]


def answers_in_sight(notebook) -> list[str]:
    """What answers a prediction stands right behind it, in at most three cells of code: their outputs wait for it."""
    found, keys = [], waiting(notebook.cells)
    for key in dict.fromkeys(keys.values()):
        places = [index for index, other in keys.items() if other == key]
        if len(places) > MAX_WAITING or places[-1] - places[0] >= len(places):
            found.append(
                f"{key!r}: {places[-1] - places[0] + 1} cells stand between question and finding, expected at most "
                f"{MAX_WAITING}, all of code; what prepares the answer goes before the question"
            )
    return found


def half_way(notebook) -> list[str]:
    """A core path of more than 45 minutes has one marked place to stop; nobody reads the reference through."""
    if notebook.cells[0].source.startswith(f"# {LESSONS['reference'].number} "):
        return []
    line = TIME_LINE.search(notebook.cells[0].source)
    stops = sum(cell.source.startswith(HALF_WAY) for cell in core_path(notebook.cells))
    wanted = int((path_minutes(line) or 0) > LONG)
    if wanted <= stops <= 1:
        return []
    return [f"{stops} cells begin {HALF_WAY!r}, expected 1 in a core path of more than {LONG} minutes"]


def unmeasured_lines(notebook) -> list[str]:
    """The core path prints what was measured: no band or bound beside it, and no constant text with figures."""
    found = []
    for cell in core_path(notebook.cells):
        if cell.cell_type != "code" or asks_or_tells(cell):
            continue
        printed = [text_of(output.text) for output in shown(cell) if output.output_type == "stream"]
        lines = [line for text in printed for line in text.split("\n")]
        found += [f"prints a band or a bound, not a number: {line.strip()!r}" for line in lines if BAND.search(line)]
        found += [f"prints a constant: {text!r}" for text in constants(cell) if re.search(r"\d", text)]
    return found


def constants(cell) -> list[str]:
    """The texts that a cell prints without computing anything; a line that ends in a colon is a heading."""
    calls = [node for node in ast.walk(ast.parse(python_of(cell))) if isinstance(node, ast.Call)]
    prints = [call for call in calls if getattr(call.func, "id", "") == "print" and call.args]
    fixed = [call for call in prints if all(isinstance(argument, ast.Constant) for argument in call.args)]
    texts = [" ".join(str(argument.value) for argument in call.args) for call in fixed]
    return [text for text in texts if not text.rstrip().endswith(":")]


def printed_lines(notebook) -> list[str]:
    """The lines that a notebook's cells print or show as text, pictures and widgets left out."""
    texts = []
    for output in (output for cell in code_cells(notebook) for output in shown(cell)):
        if output.output_type == "stream":
            texts.append(output.text)
        elif output.output_type == "execute_result" and set(output.data) == {"text/plain"}:
            texts.append(output.data["text/plain"])
    return [line for text in texts for line in text_of(text).split("\n") if line.strip()]


def lines_of_truth(lines: list[str]) -> list[str]:
    """Those that say True or False where a figure could stand; rows of a tensor are figures."""
    return [line for line in lines if re.search(r"\b(?:True|False)\b", line) and "[" not in line]


def story_guards(notebook) -> list[str]:
    """All findings on one notebook, its load left out."""
    return [
        *optional_parts(notebook),
        *needed_from_optional(notebook),
        *untold_explorers(notebook),
        *predictions(notebook),
        *answers_in_sight(notebook),
        *half_way(notebook),
        *unmeasured_lines(notebook),
    ]
