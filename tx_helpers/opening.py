"""How a notebook opens that was run, saved and shut: with its last pictures, and with open questions' answers folded.

A saved notebook names the widgets of its kernel. Once that kernel is gone, Jupyter shows "Error displaying widget:
model not found" in their place, although the picture is stored beside the name. `put_to_sleep` drops the names, and
says at the notebook's beginning how to wake the widgets. It also folds what would answer a prediction that the learner
has not made. A notebook that is not the course's, since its first code cell is no set-up cell, is never changed
(`course_cells`). `tx_helpers.contents` does so whenever Jupyter opens a notebook that no kernel runs; for an editor
that reads the file itself (VS Code), `python -m tx_helpers tidy FILE` does so in the file.

This module needs no torch: Jupyter's server imports it.
"""

import contextlib
import json
import re
from collections.abc import Collection
from pathlib import Path

from tx_helpers.progress_file import guesses_in, progress_file, replace_file

VIEW = "application/vnd.jupyter.widget-view+json"  # names a widget's model, which dies with its kernel
PREDICTION = re.compile(r"^(\w+) = predict\(", re.MULTILINE)
KEY = re.compile(r"\s*[\"']([\w-]+)[\"']")  # the first argument of predict
REVEAL = re.compile(r"^(\w+)\.reveal\(", re.MULTILINE)
ASLEEP = "tx_asleep"  # marks the output that says how to wake the widgets
HOW_TO_WAKE = "Explorers and questions show their last picture. To wake them: Run, Run All Cells."


def course_cells(notebook: object) -> list[dict]:
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


def waiting(cells: list[dict]) -> dict[int, str]:
    """Index of each code cell between a prediction and its finding -> the prediction's key."""
    asked: dict[str, tuple[str, int]] = {}
    found: dict[int, str] = {}
    for index, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        if told := REVEAL.search(cell["source"]):
            key, start = asked.pop(told[1], ("", index))  # without a question nothing waits
            found |= {n: key for n in range(start + 1, index) if cells[n]["cell_type"] == "code"}
        for question in PREDICTION.finditer(cell["source"]):
            if named := KEY.match(cell["source"], question.end()):
                asked[question[1]] = named[1], index
    return found


def put_to_sleep(notebook: dict, guessed: Collection[str]) -> bool:
    """Make pictures of the widgets of a notebook of the course without a kernel; returns whether there were any.

    A line in the first code cell says how to wake them. `guessed` are the keys of the predictions that the learner has
    made. The answers to all others are folded. Another notebook stays as it is.
    """
    without_the_line(notebook)
    if not (cells := course_cells(notebook)):
        return False
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    dead = _drop_views(code)
    for index, key in waiting(cells).items():
        hidden = cells[index]["metadata"].setdefault("jupyter", {})
        hidden["outputs_hidden"] = key not in guessed
    line = {"text/html": f"<p><em>{HOW_TO_WAKE}</em></p>", "text/plain": HOW_TO_WAKE}
    code[0]["outputs"].append({"output_type": "display_data", "data": line, "metadata": {ASLEEP: True}})
    return dead


def _drop_views(code: list[dict]) -> bool:
    """Drop the names of widgets beside which a picture is stored; returns whether there were any."""
    shown = [output.get("data", {}) for cell in code for output in cell["outputs"]]
    named = [data for data in shown if VIEW in data and len(data) > 1]
    for data in named:
        del data[VIEW]
    return bool(named)


def without_the_line(notebook: dict) -> None:
    """Take out what `put_to_sleep` wrote for the learner, so that no file keeps it."""
    for cell in course_cells(notebook):
        if cell["cell_type"] == "code":
            cell["outputs"] = [one for one in cell["outputs"] if ASLEEP not in one.get("metadata", {})]


def guessed() -> set[str]:
    """The keys of the predictions in the learner's file of progress; none if it cannot be read."""
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
        return set(guesses_in(json.loads(progress_file().read_text(encoding="utf-8-sig"))))
    return set()


def tidy(file: Path) -> bool:
    """Put a file of the course to sleep, for an editor that reads it by itself; returns whether anything changed.

    Such an editor cannot fold an output, so the answers to open predictions are dropped: running the cells brings them
    back. OSError if the file cannot be read or written, ValueError if it is no notebook.
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
    made = guessed()
    for index, key in waiting([cell | {"source": "".join(cell["source"])} for cell in cells]).items():
        if key not in made:
            cells[index] |= {"outputs": [], "execution_count": None}
    if notebook == before:
        return False
    replace_file(file, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return True
