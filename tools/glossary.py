"""The glossary of the course and its extracts: anchors, meanings, and the table of words at each notebook's end.

The glossary is the cell that begins with "## Glossary": tables with the columns word and meaning, which people write.
The tool adds an anchor to each word, and a third column with the notebooks that teach it. All other notebooks get, at
the end of their last cell, a table of their own words: its rows are where the links in the text lead, and a link in
each row leads back. (JupyterLab 4.6 does not go to an anchor of a notebook that it has to open first.)
"""

import re

from notebook_parts import WORDS_TITLE
from tx_helpers.exercises.course import LESSONS

START = f"{LESSONS['start_here'].stem}.ipynb"
MAX_TITLE = 120  # characters of a meaning that are shown where the pointer rests on a link
ANCHOR = re.compile(r"<a id=[^>]*></a>")
HEAD = ("| word | meaning | taught in |", "|---|---|---|")


def plain(word: str) -> str:
    """A term without emphasis and anchors, in small letters, on one line."""
    return re.sub(r"\s+", " ", ANCHOR.sub("", word)).strip(" .*`").lower()


def names(cell: str) -> list[str]:
    """The words of a table's cell: "key–value cache (KV cache), `x` and *y*" names four."""
    return [name for part in re.split(r",| and |[()]", ANCHOR.sub("", cell)) if (name := plain(part))]


def slug(name: str, number: str) -> str:
    """The anchor of a word in a notebook: "term-08-kv-cache". JupyterLab looks for it in all open notebooks at once."""
    return f"term-{number}-" + re.sub(r"\W+", "-", name).strip("-")


def rows(text: str) -> list[tuple[str, str]]:
    """(words, meaning) of every row of the glossary, heads left out; the words without their anchors."""
    cells = [re.split(r"(?<!\\)\|", line)[1:3] for line in text.split("\n") if line.startswith("|")]
    found = [(ANCHOR.sub("", word).strip(), meaning.strip()) for word, meaning in cells]
    return [(word, meaning) for word, meaning in found if word != "word" and not re.fullmatch(r":?-+:?", word)]


def meanings(text: str) -> dict[str, str]:
    """Word -> what the glossary says about it."""
    return {name: meaning for word, meaning in rows(text) for name in names(word)}


def title(meaning: str) -> str:
    """A meaning as the title of a link: without marks and dollars, at most MAX_TITLE characters."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning)
    text = re.sub(r"\s+", " ", re.sub(r"[*`$\\]", "", text)).translate(str.maketrans('()|"', "[]/'"))
    if len(text) <= MAX_TITLE:
        return text
    return text[: MAX_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def with_anchors(text: str, taught: dict[str, list[str]]) -> str:
    """The glossary with an anchor for each word and the notebooks that teach it (word -> files)."""
    lines = []
    for line in text.split("\n"):
        found = rows(line)
        if not line.startswith("|"):
            lines.append(line)
        elif not found:
            lines.append(HEAD[line.startswith(("|-", "|:"))])
        else:
            word, meaning = found[0]
            anchors = "".join(f'<a id="{slug(name, START[:2])}"></a>' for name in names(word))
            files = sorted({file for name in names(word) for file in taught.get(name, [])})
            lines.append(f"| {anchors}{word} | {meaning} | {', '.join(f'[{file[:2]}]({file})' for file in files)} |")
    return "\n".join(lines)


def words_table(terms: list[tuple[str, str, str, str]]) -> str:
    """A notebook's own words, from (as it is written, meaning, id of the cell where it is met, link) of each."""
    lines = [
        f'| <a id="{link[1:].split()[0]}"></a>{word} | {meaning} | [back](#cell-id={cell}) |'
        for word, meaning, cell, link in terms
    ]
    return "\n".join([f"### {WORDS_TITLE}", "", "| word | meaning | first met |", "|---|---|---|", *lines])
