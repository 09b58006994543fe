"""The reference is looked up, not read: each entry runs alone, stands in the index, and names its function."""

import contextlib
import io
import re

import nbformat
import pytest

from notebook_frame import ROOT
from tx_helpers.exercises.course import LESSONS

CELLS = nbformat.read(ROOT / "notebooks" / f"{LESSONS['reference'].stem}.ipynb", as_version=4).cells
CODE = [cell.source for cell in CELLS if cell.cell_type == "code"]
TEXT = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
ENTRIES = re.split(r"^### ", TEXT[TEXT.index("\n## 1 ") : TEXT.index("\n## 10 ")], flags=re.MULTILINE)[1:]


@pytest.mark.slow
def test_every_entry_runs_alone_after_the_shared_cell():
    _, shared, *entries = CODE
    for source in entries:
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(shared, names)
            exec(source, names)


def test_every_entry_is_in_the_index_and_says_where_it_is_in_the_package():
    (index,) = [cell.source for cell in CELLS if cell.source.startswith("### Index of formulas")]
    titles = [entry.split("\n")[0].replace(" ", "-") for entry in ENTRIES]
    assert set(re.findall(r"\]\(#([^)]+)\)", index)) == set(titles)
    assert [entry for entry in ENTRIES if "*Package:*" not in entry or "*Built in:*" not in entry] == []
