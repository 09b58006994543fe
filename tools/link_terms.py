"""Link every term that a notebook teaches, where it first appears, to the glossary of notebook 00.

    python tools/link_terms.py             all notebooks
    python tools/link_terms.py 08 10       these
    python tools/link_terms.py --check     say which would change, without writing

The terms are those of the last cell ("**Terms learned:** …"). The first appearance counts in prose: not in headings,
code, formulas, links to elsewhere, or the lists of terms and sources. Links that are already there are made anew, so
running it twice changes nothing. Only markdown sources are touched; outputs stay.
"""

import argparse
import re
import sys
from pathlib import Path

import nbformat

from notebook_frame import ROOT
from refresh_notebooks import selected, write

START = "00_start_here.ipynb"
TERMS = re.compile(r"\*\*Terms learned:\*\*(?P<terms>.*?)(?=All in the|\n\n|\Z)", re.DOTALL)
LINK = re.compile(r"\[([^\[\]]+)\]\((?:00_start_here\.ipynb)?#Glossary\)")
NO_PROSE = re.compile(
    r"^\s*```.*?^\s*```"  # code
    r"|`[^`]*`"
    r"|\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$"  # formulas, an inline one over two lines at most
    r"|^#{1,6} .*?$"  # headings
    r"|!?\[[^\]]*\]\([^)]*\)"  # links to elsewhere, pictures
    r"|<[^>\n]+>"  # HTML
    r"|^\*\*(?:Terms learned|Sources|You need first|You are here|Time|Next):\*\*.*?(?=^\s*$|\Z)",
    re.MULTILINE | re.DOTALL,
)


def plain(word: str) -> str:
    """A term without emphasis, in small letters, on one line."""
    return re.sub(r"\s+", " ", word).strip(" .*`").lower()


def terms_learned(notebook) -> list[set[str]]:
    """The terms that the last cell names; "KV cache (key–value cache)" is one term with two names."""
    listed = TERMS.search(LINK.sub(r"\1", notebook.cells[-1].source))
    terms = re.split(r",(?![^()]*\))", listed["terms"]) if listed else []
    return [{plain(name) for name in re.split(r"[()]", term)} - {""} for term in terms]


def first_appearances(text: str, terms: list[set[str]]) -> dict[int, tuple[int, int]]:
    """Number of the term -> (begin, end) of its first appearance in a text.

    A longer term goes before a shorter one within it: "padding mask" is no appearance of "padding".
    """
    names = {name: number for number, term in enumerate(terms) for name in term}
    longest_first = sorted(names, key=len, reverse=True)
    any_name = "|".join(f"({_flexible(name)})" for name in longest_first)
    found: dict[int, tuple[int, int]] = {}
    for match in re.finditer(rf"(?<![\w-])(?:{any_name})(?![\w-])", text, re.IGNORECASE) if names else ():
        found.setdefault(names[longest_first[match.lastindex - 1]], match.span())
    return found


def _flexible(name: str) -> str:
    """A pattern for a name, in the singular or plural, also over the end of a line."""
    words = re.escape(name).replace(r"\ ", r"\s+").replace("'", "['’]")
    return words[:-1] + "(?:ys?|ies)" if words.endswith("y") else words + "(?:s|es)?"


def is_prose(cell) -> bool:
    """Whether a cell is markdown and not an exercise's, whose text stands in the package."""
    return cell.cell_type == "markdown" and not cell.get("id", "").startswith("exercise-")


def linked(notebook, name: str) -> list[str]:
    """The sources of a notebook's cells, with each term linked where it first appears."""
    terms = terms_learned(notebook)
    known = {word for term in terms for word in term}
    target = "#Glossary" if name == START else f"{START}#Glossary"
    sources, seen = [], set()
    for cell in notebook.cells:
        source = cell.source
        if is_prose(cell):
            source = LINK.sub(lambda match: match[1] if _is_term(match[1], known) else match[0], source)
            if not source.startswith("## Glossary"):
                places = first_appearances(NO_PROSE.sub(_blank, source), terms)
                if cell is notebook.cells[-1] and (listed := TERMS.search(source)):
                    inside = " " * listed.start("terms") + listed["terms"]
                    places = first_appearances(inside, terms) | places
                source = _with_links(source, [span for n, span in places.items() if n not in seen], target)
                seen |= places.keys()
        sources.append(source)
    return sources


def unlinked(notebook, name: str) -> list[str]:
    """Findings: the cells whose links to the glossary are not those that `linked` makes."""
    return [
        f"cell {number}: a term's first appearance is not linked to the glossary (tools/link_terms.py)"
        for number, (cell, source) in enumerate(zip(notebook.cells, linked(notebook, name), strict=True), 1)
        if cell.source != source
    ]


def only_listed(notebook) -> list[str]:
    """Terms that the text never names: they are linked in the list at the end instead."""
    terms = terms_learned(notebook)
    cells = [cell.source for cell in notebook.cells if is_prose(cell)]
    text = "\n\n".join(NO_PROSE.sub(_blank, LINK.sub(r"\1", s)) for s in cells if not s.startswith("## Glossary"))
    return [" / ".join(sorted(term)) for n, term in enumerate(terms) if n not in first_appearances(text, terms)]


def _with_links(source: str, spans: list[tuple[int, int]], target: str) -> str:
    for begin, end in sorted(spans, reverse=True):
        for mark in ("**", "*"):  # emphasis that encloses the term alone goes inside
            if source[:begin].endswith(mark) and source[end:].startswith(mark):
                begin, end = begin - len(mark), end + len(mark)
        source = f"{source[:begin]}[{source[begin:end]}]({target}){source[end:]}"
    return source


def _blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", "\0", match[0])


def _is_term(words: str, known: set[str]) -> bool:
    return any(re.fullmatch(_flexible(name), plain(words), re.IGNORECASE) for name in known)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file would change")
    parser.add_argument("--folder", type=Path, default=ROOT / "notebooks", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    changed = []
    for path in selected(options.notebooks, options.folder):
        notebook = nbformat.read(path, as_version=4)
        sources = linked(notebook, path.name)
        if absent := only_listed(notebook):
            print(f"{path.name}: the text never names {', '.join(absent)}; linked in the list of terms")
        if sources != [cell.source for cell in notebook.cells]:
            changed.append(path.name)
            for cell, source in zip(notebook.cells, sources, strict=True):
                cell.source = source
            if not options.check:
                write(path, nbformat.writes(notebook) + "\n")
    print(f"{'would change' if options.check else 'changed'}: {', '.join(changed) or 'nothing'}")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
