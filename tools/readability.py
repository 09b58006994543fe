"""How a notebook reads, in figures: one line a notebook, to compare before and after.

    python tools/readability.py                         all notebooks, as they are
    python tools/readability.py 04 05                   these
    python tools/readability.py --rev 6f9731b           as they were in a revision
    python tools/readability.py --against 6f9731b       both, in one table: "before > after"

Columns: words; words and cells of the core path (`notebook_parts`); words before the first picture or explorer; and of
the sentences their mean length, the share over 25 words, the share in the passive, and the share that is inverted.

The last two are guesses by pattern, good for comparing two versions of a text and not for counting. Passive: a form of
"to be" and a participle (a word in -ed, or one of a list) with at most one word between them. Inverted: a sentence that
begins with a preposition, "so", "not", "only" or a participle, and has its verb before its subject: in the first ten
words a form of "to be", "have" or "do" stands directly before "the", "a", "this", "it", "they" and their like.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat

from notebook_frame import ROOT
from notebook_header import is_picture
from notebook_parts import EXPLORER, core_path, prose, words
from refresh_notebooks import selected

LONG = 25  # words
BE = r"(?:is|are|was|were|be|been|being)"
IRREGULAR = (
    "made|given|taken|kept|told|held|found|shown|drawn|written|known|seen|done|built|cut|put|read|set|left|lost|sent|"
    "said|spread|thrown|chosen|broken|hidden|brought|bought|thought|taught|meant|paid|run|split|stood|understood|worn"
)
PASSIVE = re.compile(rf"\b{BE}\b(?: \w+)? (?:\w{{2,}}ed|{IRREGULAR})\b", re.IGNORECASE)
FRONT = r"(?:of|in|on|at|by|with|from|for|to|under|over|after|before|so|not|nor|only|no|small|large|seldom|here|there)"
SUBJECT = r"(?:the|a|an|this|that|these|those|it|they|we|you|he|she|its|their|our|your|one|each|every|all)"
INVERTED = re.compile(
    rf"^{FRONT}\b(?:,? [\w'’-]+){{0,9}}? (?:is|are|was|were|has|have|had|do|does|did|can|must|may) {SUBJECT}\b", re.I
)


class Figures(NamedTuple):
    """What is printed of a notebook; shares are of its sentences."""

    words: int
    core_words: int
    core_cells: int
    before_picture: int
    mean_length: float
    long: float
    passive: float
    inverted: float


def sentences(text: str) -> list[list[str]]:
    """The sentences of a text as lists of words: paragraphs and points cut at . ! ? : and ;, headings left out."""
    text = re.sub(r"^(?:#+ .*|\|.*)$", "", text, flags=re.MULTILINE)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        plain = re.sub(r"[*_\[\]]|^\s*(?:[-*]|\d+\.) ", "", re.sub(r"\s+", " ", paragraph.strip()))
        found += [re.findall(r"[\w'’-]+", part) for part in re.split(r"(?<=[.!?:;])\s+(?=[\"“A-Z0-9a-z])", plain)]
    return [sentence for sentence in found if len(sentence) > 2]


def words_before_picture(cells: list[dict]) -> int:
    """How much is read before there is something to see; all of it where there is nothing."""
    for index, cell in enumerate(cells):
        code = cell["cell_type"] == "code"
        if is_picture(cell) or (code and EXPLORER.search(cell["source"])):
            return words(cells[:index])
    return words(cells)


def figures(cells: list[dict]) -> Figures:
    """The figures of a notebook's cells."""
    path = core_path(cells)
    told = [sentence for cell in path for sentence in sentences(prose(cell))]
    joined = [" ".join(sentence) for sentence in told]
    count = max(1, len(told))
    return Figures(
        words(cells),
        words(path),
        len(path),
        words_before_picture(path),
        sum(map(len, told)) / count,
        sum(len(sentence) > LONG for sentence in told) / count,
        sum(PASSIVE.search(text) is not None for text in joined) / count,
        sum(INVERTED.match(text) is not None for text in joined) / count,
    )


def of_revision(revision: str, names: list[str]) -> dict[str, list[dict]]:
    """File -> cells of the notebooks of a git revision; all, or those whose names begin so."""
    git = ["git", "-C", str(ROOT)]
    listed = subprocess.run([*git, "ls-tree", "--name-only", revision, "notebooks/"], capture_output=True, text=True)
    if listed.returncode:
        raise ValueError(f"readability: git knows no revision {revision!r}")
    found = {}
    for path in (line for line in listed.stdout.split() if line.endswith(".ipynb")):
        if not names or any(Path(path).name.startswith(Path(name).name) for name in names):
            text = subprocess.run([*git, "show", f"{revision}:{path}"], capture_output=True, text=True, check=True)
            found[Path(path).name] = nbformat.reads(text.stdout, as_version=4).cells
    return found


def as_they_are(names: list[str]) -> dict[str, list[dict]]:
    """File -> cells of the notebooks in the folder."""
    return {path.name: nbformat.read(path, as_version=4).cells for path in selected(names, ROOT / "notebooks")}


def table(now: dict[str, Figures], before: dict[str, Figures]) -> str:
    """A line a notebook; where there is an earlier version of it, "before > after"."""
    heads = ("words", "core words", "core cells", "to picture", "a sentence", f"over {LONG}", "passive", "inverted")
    rows = [["", *heads]]
    for name, new in now.items():
        old = before.get(name)
        pairs = zip(new, old, strict=True) if old else [(value, None) for value in new]
        rows.append([name[:2], *(_cell(value, was, place) for place, (value, was) in enumerate(pairs))])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows)


def _cell(value: float, was: float | None, place: int) -> str:
    form = "{:.0f}" if place < 4 else "{:.1f}" if place == 4 else "{:.0%}"
    return form.format(value) if was is None else f"{form.format(was)} > {form.format(value)}"


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--rev", help="read the notebooks of this git revision")
    parser.add_argument("--against", help="show the figures of this git revision, too")
    options = parser.parse_args(arguments)
    try:
        shown = of_revision(options.rev, options.notebooks) if options.rev else as_they_are(options.notebooks)
        earlier = of_revision(options.against, options.notebooks) if options.against else {}
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    measured = [{name: figures(cells) for name, cells in course.items()} for course in (shown, earlier)]
    print(table(*measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
