"""What a finished page says, read back from its HTML: its headings for the outline, its sections for the search, which
are also the words that it explains: their rows in its table of words.

The search index is a script, `window.txSearch = …`, because a page that was opened as a file may load nothing else.
"""

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser

HEADINGS = ("h1", "h2", "h3", "h4")
SILENT = ("math", "script", "style")  # elements whose text is not searched, with those of these classes:
SILENT_CLASSES = {"output", "folded", "anchor", "opens", "turn"}
VOID = {"img", "br", "hr", "input", "meta", "link"}


@dataclass
class Section:
    """A heading, its level and anchor, and the text up to the next heading; or, at level 0, a word and its meaning."""

    level: int
    anchor: str
    heading: str = ""
    text: str = ""


class Reader(HTMLParser):
    """Reads a page's content; `sections` then holds what it says, the part before the first heading left out."""

    def __init__(self, content: str):
        super().__init__()
        self.sections: list[Section] = []
        self._open: list[str] = []  # the elements around, from the outside in
        self._silent = 0  # how many of them are silent
        self._into: Section | None = None  # where text goes
        self._in_heading = False
        self.feed(content)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag in VOID:
            return
        given = dict(attributes)
        anchor = given.get("id") or ""
        silent = tag in SILENT or bool(SILENT_CLASSES & set((given.get("class") or "").split()))
        silent |= (given.get("href") or "").startswith("#cell-id")  # leads from a word back to where it is explained
        self._open.append(f"!{tag}" if silent else tag)
        self._silent += silent
        word = anchor.startswith("term-") and "details" not in self._open  # there 00 lists the words of other notebooks
        if (tag in HEADINGS or word) and not self._silent:
            self.sections.append(Section(0 if word else int(tag[1]), anchor))
            self._into, self._in_heading = self.sections[-1], True

    def handle_endtag(self, tag: str) -> None:
        while self._open and tag in (name.lstrip("!") for name in self._open):
            last = self._open.pop()
            self._silent -= last.startswith("!")
            if last.lstrip("!") == tag:
                break
        if tag in (*HEADINGS, "td"):
            self._in_heading = False
        elif tag == "tr":  # a word's row ends: the text goes on below its heading
            self._into = next((part for part in reversed(self.sections) if part.level), None)
        elif tag not in ("code", "span", "b", "strong", "em", "i", "a", "math"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self._silent or not self._into:
            return
        if self._in_heading:
            self._into.heading += data
        else:
            self._into.text += data


def outline(content: str) -> list[tuple[int, str, str]]:
    """(level, anchor, text) of the headings of the second and third level."""
    found = [part for part in Reader(content).sections if part.level in (2, 3)]
    return [(part.level, part.anchor, " ".join(part.heading.split())) for part in found]


def entry(file: str, title: str, about: str, content: str) -> list:
    """A page in the index: [file, title, [[anchor, heading, text], …]]; its first text begins with what it is about."""
    sections = Reader(content).sections
    sections[0].text = f"{about.rstrip('.')}. {sections[0].text}"
    parts = [
        [
            "" if part.level == 1 else part.anchor,
            *(re.sub(r"\s+", " ", text).strip() for text in (part.heading, part.text)),
        ]
        for part in sections
    ]
    return [file, title, parts]


def index(entries: list[list]) -> str:
    """The index of all pages, as a script."""
    return f"window.txSearch = {json.dumps(entries, ensure_ascii=False, separators=(',', ':'))};\n"
