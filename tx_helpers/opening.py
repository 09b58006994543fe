"""How a notebook opens that was run, saved and shut: with its last pictures.

A saved notebook names the widgets of its kernel. Once that kernel is gone, Jupyter shows "Error displaying widget:
model not found" in their place, although the picture is stored beside the name. `put_to_sleep` drops the names, and
says at the notebook's beginning how to wake the widgets. A notebook that is not the course's, since its first code
cell is no set-up cell, is never changed (`course_cells`). `tx_helpers.contents` does so whenever Jupyter opens a
notebook, unless its widgets live; for an editor that reads the file itself (VS Code), `python -m tx_helpers tidy FILE`
does so in the file.

This module needs no torch: Jupyter's server imports it.
"""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tx_helpers.progress_file import replace_file

Bundle = dict[str, Any]  # what a cell shows: MIME type -> content, or -> its metadata
VIEW = "application/vnd.jupyter.widget-view+json"  # names a widget's model, which dies with its kernel
WAITS = "tx_waits"  # in the metadata of an output that is folded until a question has an answer: its key
ASLEEP = "tx_asleep"  # marks the output that says how to wake the widgets
HOW_TO_WAKE = "Explorers and questions show their last picture. To wake them: Run, Run All Cells."
HOW_TO_TRUST = "Drawings stay hidden until you trust this notebook: by Trust Notebook in the command palette."


def course_cells(notebook: object) -> list[dict[str, Any]]:
    """The cells of a notebook of the course; none for any other notebook, whatever its form."""
    cells: object = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return []
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source")
            source = "".join(source) if isinstance(source, list) else source
            if isinstance(source, str) and source.startswith("# Set-up") and "import tx_helpers" in source:
                return cells if all(map(_is_whole, cells)) else []
            return []
    return []


def _is_whole(cell: object) -> bool:
    """Whether a cell has all that this module reads, in the form that Jupyter writes."""
    if not isinstance(cell, dict) or not isinstance(cell.get("source"), (str, list)):
        return False
    outputs = cell.get("outputs", [] if cell.get("cell_type") != "code" else None)
    return (
        isinstance(cell.get("metadata"), dict)
        and isinstance(outputs, list)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("data", {}), dict)
            and isinstance(one.get("metadata", {}), dict)
            for one in outputs
        )
    )


def put_to_sleep(notebook: dict[str, Any], living: Collection[str] = ()) -> bool:
    """Make pictures of the widgets of a notebook of the course, but of the living; returns whether it is the course's.

    Unless some of them live, a line in the first code cell says how to wake them. Another notebook stays as it is.
    """
    without_the_line(notebook)
    code = [cell for cell in course_cells(notebook) if cell["cell_type"] == "code"]
    if code and not _drop_views(code, living):
        said = HOW_TO_WAKE if code[0]["metadata"].get("trusted", True) else f"{HOW_TO_WAKE} {HOW_TO_TRUST}"
        line = {"text/html": f"<p><em>{said}</em></p>", "text/plain": said}
        code[0]["outputs"].append({"output_type": "display_data", "data": line, "metadata": {ASLEEP: True}})
    return bool(code)


def _drop_views(code: list[dict[str, Any]], living: Collection[str] = ()) -> bool:
    """Drop the names of dead widgets beside which a picture is stored; returns whether living ones are named."""
    shown = [output.get("data", {}) for cell in code for output in cell["outputs"]]
    named = [data for data in shown if VIEW in data and len(data) > 1]
    dead = [data for data in named if not (isinstance(data[VIEW], dict) and data[VIEW].get("model_id") in living)]
    for data in dead:
        del data[VIEW]
    return len(dead) < len(named)


def without_the_line(notebook: object) -> None:
    """Take out what `put_to_sleep` wrote for the learner, so that no file keeps it."""
    for cell in course_cells(notebook):
        if cell["cell_type"] == "code":
            cell["outputs"][:] = [one for one in cell["outputs"] if ASLEEP not in one.get("metadata", {})]


def tidy(file: Path) -> bool:
    """Put a file of the course to sleep, for an editor that reads it by itself; returns whether anything changed.

    OSError if the file cannot be read or written, ValueError if it is no notebook.
    """
    text = file.read_text(encoding="utf-8")
    try:
        notebook, before = json.loads(text), json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"tidy: {file} is no notebook ({error})") from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError(f"tidy: {file} is no notebook (it has no list of cells)")
    cells = course_cells(notebook)
    without_the_line(notebook)
    _drop_views([cell for cell in cells if cell["cell_type"] == "code"])
    if notebook == before:
        return False
    replace_file(file, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return True
