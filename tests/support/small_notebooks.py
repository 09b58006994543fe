"""Small notebooks for tests: one that follows every rule, cells to spoil it with, and a file of code cells to run."""

from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from notebook_frame import KERNEL, frame, repository_address
from refresh_notebooks import fold
from tx_helpers.exercises.course import LESSONS

LESSON = LESSONS["feed_forward"]  # whose place in the course the notebook takes
NAME = f"{LESSON.stem}.ipynb"
HEADER = f"""# {LESSON.number} Good

What it is about.

**You will be able to**

- see;
- say, over
  two lines;
- do.

**You need first:** nothing

**Time:** machine 2 min"""

CLOSING = """## What to remember

- One thing.
- Two things, over
  two lines.
- Three things.

**Terms learned:** token.

**Sources:** a paper.

**Next:** the end."""


def stream(text: str, name: str = "stdout"):
    return new_output("stream", name=name, text=text)


def shown(metadata: dict | None = None, **data: str):
    mime = {"png": "image/png", "plain": "text/plain", "html": "text/html", "svg": "image/svg+xml"}
    return new_output("display_data", {mime[kind]: value for kind, value in data.items()}, metadata=metadata or {})


def code(source: str, *outputs, tags: tuple = ()):
    metadata = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, outputs=list(outputs), execution_count=2, metadata=metadata)


def notebook(*cells):
    """A notebook that follows every rule, with the given cells after its header and set-up cell."""
    made = new_notebook(cells=[new_markdown_cell(HEADER), new_code_cell("# Set-up"), *cells])
    frame(made.cells, Path(NAME), repository_address())
    fold(made)
    for count, cell in enumerate((cell for cell in made.cells if cell.cell_type == "code"), 1):
        cell.execution_count = count
    return made


def write_cells(path: Path, sources: Iterable[str]) -> None:
    """A notebook of these code cells, with no output, written to a file."""
    cells = [new_code_cell(source) for source in sources]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)
