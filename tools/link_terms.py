"""Link every term that a notebook teaches, where it first appears, to what it means; see `glossary`.

    python tools/link_terms.py             all notebooks
    python tools/link_terms.py 08 10       these
    python tools/link_terms.py --check     say which would change, without writing

The terms are those of the last cell ("**Terms learned:** …"). The first appearance counts in prose: not in headings,
code, formulas, links to elsewhere, or the lists of terms and sources. Links that are already there are made anew, so
running it twice changes nothing. Only markdown sources are touched; outputs stay. A notebook's table of words and the
third column of the glossary are made here, too.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat

from glossary import START, meanings, plain, slug, title, with_anchors, words_table
from notebook_frame import ROOT
from notebook_parts import WORDS_TITLE
from refresh_notebooks import selected, write

TERMS = re.compile(r"\*\*Terms learned:\*\*(?P<terms>.*?)(?=All in the|\n\n|\Z)", re.DOTALL)
LINK = re.compile(r"\[([^\[\]]+)\]\((?:(?P<old>(?:00_start_here\.ipynb)?#Glossary)|#term-[^\s)]*(?: \"[^\"]*\")?)\)")
TABLE = re.compile(rf"\n\n### {WORDS_TITLE}\n.*\Z", re.DOTALL)
NO_PROSE = re.compile(
    r"^\s*```.*?^\s*```"  # code
    r"|`[^`]*`"
    r"|\$\$.*?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$"  # formulas, an inline one over two lines at most
    r"|^#{1,6} .*?$"  # headings
    r"|!?\[[^\]]*\]\([^)]*\)|!\[[^\]]*\]\[[^\]]*\]"  # links to elsewhere, pictures
    r"|<[^>\n]+>"  # HTML
    r"|^\*\*(?:Terms learned|Sources|You need first|You are here|Time|Next):\*\*.*?(?=^\s*$|\Z)",
    re.MULTILINE | re.DOTALL,
)


class Glossary(NamedTuple):
    """What the course's words mean, and where they are taught: word -> meaning, word -> files."""

    meanings: dict[str, str]
    taught: dict[str, list[str]]


def glossary_of(notebooks: dict[str, object]) -> Glossary:
    """The glossary of a course, file -> notebook; empty where the first notebook is not among them."""
    cells = notebooks[START].cells if START in notebooks else []
    text = next((cell.source for cell in cells if cell.source.startswith("## Glossary")), "")
    taught: dict[str, list[str]] = {}
    for file, notebook in notebooks.items():
        for name in set().union(*terms_learned(notebook)):
            taught.setdefault(name, []).append(file)
    return Glossary(meanings(text), taught)


def listed_terms(notebook) -> list[tuple[str, list[str]]]:
    """(as it is written, its names) for each term of the last cell; "KV cache (key–value cache)" has two names."""
    listed = TERMS.search(LINK.sub(r"\1", TABLE.sub("", notebook.cells[-1].source)))
    terms = re.split(r",(?![^()]*\))", listed["terms"]) if listed else []
    written = [re.sub(r"\s+", " ", term).strip(" .") for term in terms]
    return [(term, [name for part in re.split(r"[()]", term) if (name := plain(part))]) for term in written]


def terms_learned(notebook) -> list[set[str]]:
    """The names of each term that the last cell lists."""
    return [set(names) for _, names in listed_terms(notebook)]


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


def linked(notebook, name: str, glossary: Glossary) -> list[str]:
    """The sources of a notebook's cells, with each term linked where it first appears, and with the tables of words."""
    listed = listed_terms(notebook)
    terms = [set(names) for _, names in listed]
    known = {word for term in terms for word in term}
    targets = {n: target for n, (_, names) in enumerate(listed) if (target := link_target(names, glossary, name[:2]))}
    sources, seen = [], {}
    for cell in notebook.cells:
        source = cell.source
        if cell is notebook.cells[-1]:
            source = TABLE.sub("", source)
        if is_prose(cell):
            source = LINK.sub(lambda m: m[1] if not m["old"] or _is_term(m[1], known) else m[0], source)
        if source.startswith("## Glossary"):
            source = with_anchors(source, glossary.taught)
        elif is_prose(cell):
            places = first_appearances(NO_PROSE.sub(_blank, source), terms)
            if cell is notebook.cells[-1] and (found := TERMS.search(source)):
                inside = " " * found.start("terms") + found["terms"]
                places = first_appearances(inside, terms) | places
            new = {n: span for n, span in places.items() if n in targets and n not in seen}
            source = _with_links(source, [(span, targets[n]) for n, span in new.items()])
            seen |= dict.fromkeys(new, cell.id)
        sources.append(source)
    if name != START and targets:
        rows = [
            (written, glossary.meanings[explained(names, glossary)], seen[n], targets[n])
            for n, (written, names) in enumerate(listed)
            if n in seen
        ]
        sources[-1] += "\n\n" + words_table(rows)
    return sources


def explained(names: list[str], glossary: Glossary) -> str:
    """The first of a term's names that the glossary explains, "" if there is none."""
    return next((name for name in names if name in glossary.meanings), "")


def link_target(names: list[str], glossary: Glossary, number: str) -> str:
    """Where a term's link leads in a notebook, with its meaning as title; "" if the glossary does not explain it."""
    name = explained(names, glossary)
    return f'#{slug(name, number)} "{title(glossary.meanings[name])}"' if name else ""


def only_listed(notebook) -> list[str]:
    """Terms that the text never names: they are linked in the list at the end instead."""
    terms = terms_learned(notebook)
    cells = [TABLE.sub("", cell.source) for cell in notebook.cells if is_prose(cell)]
    text = "\n\n".join(NO_PROSE.sub(_blank, LINK.sub(r"\1", s)) for s in cells if not s.startswith("## Glossary"))
    return [" / ".join(sorted(term)) for n, term in enumerate(terms) if n not in first_appearances(text, terms)]


def _with_links(source: str, places: list[tuple[tuple[int, int], str]]) -> str:
    for (begin, end), target in sorted(places, reverse=True):
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
    glossary = glossary_of({p.name: nbformat.read(p, as_version=4) for p in selected([], options.folder)})
    for path in selected(options.notebooks, options.folder):
        notebook = nbformat.read(path, as_version=4)
        sources = linked(notebook, path.name, glossary)
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
