"""Small notebooks for the tests of the guards: one that follows every rule, and cells to spoil it with."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from notebook_frame import badge_line, repository_address, setup_cell
from refresh_notebooks import fold

NAME = "07_good.ipynb"
HEADER = """# 07 Good

{badge}

What it is about.

**You will be able to**

- see;
- say, over
  two lines;
- do.

**You need first:** nothing

**Time:** about 2 minutes on a two-core CPU (measured)"""

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
    header = new_markdown_cell(HEADER.format(badge=badge_line(NAME, repository_address())))
    setup = new_code_cell(setup_cell(repository_address()))
    made = new_notebook(cells=[header, setup, *cells])
    fold(made)
    for count, cell in enumerate((cell for cell in made.cells if cell.cell_type == "code"), 1):
        cell.execution_count = count
    return made
