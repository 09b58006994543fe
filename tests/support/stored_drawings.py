"""Drawings as they looked when somebody last looked: SVG files beside the tests, compared element by element."""

import os
import re
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

from drawn import SVG
from tx_helpers.show.plots import Svg

NUMBER = re.compile(r"#\w+|-?\d*\.?\d+(?:e-?\d+)?")  # or a colour, which is none
ATTRIBUTE = re.compile(r' (?!aria-label)[\w:-]+="[^"]*"')
CLOSE = 0.02  # what platforms may differ by, in the unit of the number
LARGEST = 30_000  # bytes of a file


def lines_of(picture: Svg) -> list[str]:
    """One line an element, with the alt text and all words; numbers to two decimals, without style sheet and pixels."""
    root = ElementTree.fromstring(picture.markup())
    for element in list(root.iter()):
        for style in element.findall(f"{SVG}style"):
            element.remove(style)
        for name, value in element.attrib.items():
            if name != "aria-label":
                element.set(name, "data:" if value.startswith("data:") else NUMBER.sub(_rounded, value))
    ElementTree.register_namespace("", SVG.strip("{}"))
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode").splitlines()


def _rounded(found: re.Match) -> str:
    return found[0] if found[0][0] == "#" else f"{round(float(found[0]), 2) + 0:g}"


def _same(line: str | None, other: str | None) -> bool:
    """Are two lines the same, but for the last digit of the numbers in attributes?"""
    if line is None or other is None:
        return False
    frames = [
        ATTRIBUTE.sub(lambda found: NUMBER.sub(lambda n: n[0] if n[0][0] == "#" else "0", found[0]), one)
        for one in (line, other)
    ]
    values = [
        [float(n) for found in ATTRIBUTE.findall(one) for n in NUMBER.findall(found) if n[0] != "#"]
        for one in (line, other)
    ]
    return frames[0] == frames[1] and all(abs(a - b) <= CLOSE for a, b in zip(*values, strict=True))


def compare_stored(folder: Path, **pictures: Svg) -> None:
    """Compare drawings with the files of a folder, one each; with TX_REDRAW=1 set, store what differs."""
    changed = {}
    for name, picture in pictures.items():
        file, lines = folder / f"{name}.svg", lines_of(picture)
        stored = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        differ = [
            f"line {n}\n  stored {a}\n  now    {b}"
            for n, (a, b) in enumerate(zip_longest(stored, lines), 1)
            if not _same(a, b)
        ]
        if differ and os.environ.get("TX_REDRAW"):
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            assert file.stat().st_size <= LARGEST, f"{file} is too large to be stored: draw a smaller case"
        elif differ:
            changed[name] = "\n".join([f"{len(differ)} lines of {file} differ", *differ[:4]])
    told = "\n".join(changed.values())
    assert not changed, f"{told}\nIf this is meant, look at the new drawing and store it: TX_REDRAW=1 pytest …"
    left_over = {file.stem for file in folder.glob("*.svg")} - pictures.keys()
    assert not left_over, f"{folder} holds drawings of no test: {sorted(left_over)}"
