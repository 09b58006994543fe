"""A claim, for the test of claims: the cell of a notebook that tests it, and ways to break its subject.

A lesson's `claims.py` holds the claims of its notebook in a list CLAIMS, each made by `claim`.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    """A change of the cells that the testing cell needs: `old` stands there once, `new` takes its place.

    The change makes the subject wrong (a mask is missing, a formula is another), and the assertion must fail.
    """

    old: str
    new: str


@dataclass(frozen=True)
class Claim:
    """A claim people make, what holds, and the cell that shows it.

    text      the claim as people say it
    holds     what is true instead, in a few words
    cell      source that stands in one code cell alone of the lesson's notebook: the cell with the `assert`
    breaks    each of them alone must make that cell raise an AssertionError
    notebook  "04_self_attention", once the file is read
    """

    text: str
    holds: str
    cell: str
    breaks: tuple[Break, ...]
    notebook: str = ""


def laid_out(code: str) -> re.Pattern:
    """Finds this piece of code however its lines are broken."""
    words = re.findall(r"\w+|[^\w\s]", code)
    return re.compile(r"\s*".join(f",?\\s*{re.escape(word)}" if word in ")]}" else re.escape(word) for word in words))


def stands_in(code: str, source: str) -> bool:
    return laid_out(code).search(source) is not None


def claim(text: str, holds: str, cell: str, *breaks: Break) -> Claim:
    return Claim(text, holds, cell, breaks)
