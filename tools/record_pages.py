"""Execute the notebooks and keep the page forms of what they show: explorers, views and quizzes for the course's site.

    python tools/record_pages.py             all notebooks, two at a time
    python tools/record_pages.py 04 08       these

What a cell shows is recorded when the cell has run, with the models as they are then. A page form is a script, a style
sheet and a state; an explorer's state holds the pictures of a grid of its controls. All forms of a notebook go into
build/recorded/<notebook>.json. They are made again only when the notebook's code or the package has changed.

    {"key": …, "scripts": {hash: {"esm": …, "css": …}},
     "forms": {cell id: [{"script": hash, "state": …, "text": …, "kind": …, "name": …, "way": …, "checks": …}, …]}}
"""

import argparse
import base64
import hashlib
import json
import os
import sys
import tempfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat

from notebook_frame import ROOT
from refresh_notebooks import CellError, execute, load, selected, two_cores, write

FOLDER = ROOT / "build" / "recorded"
TIMEOUT = 900  # seconds a cell may take, and after it the recording of what it shows
SOURCES = [*sorted((ROOT / "tx_helpers").rglob("*")), Path(__file__), Path(__file__).with_name("shown_forms.py")]


def key_of(notebook: nbformat.NotebookNode) -> str:
    """What the forms depend on, as a hash: the notebook's code, the package, and these tools."""
    hashed = hashlib.sha256()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            hashed.update(f"{cell.id}\0{cell.source}\0".encode())
    for path in SOURCES:
        if path.is_file() and path.suffix != ".pyc":
            hashed.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return hashed.hexdigest()


def with_hooks(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """The notebook with a hidden cell at its beginning and after each cell of code."""
    tools = str(Path(__file__).parent)
    first = f"import sys; sys.path.append({tools!r}); import shown_forms; _forms = shown_forms.Forms({str(folder)!r})"
    cells = [_hook(first)]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            cells.append(_hook(f"_forms.keep({cell.id!r})"))
    return nbformat.from_dict({**notebook, "cells": cells})


def _hook(source: str) -> nbformat.NotebookNode:
    """A cell that is not counted where a failure is reported."""
    return nbformat.v4.new_code_cell(source, metadata={"hidden_hook": True})


def collected(notebook: nbformat.NotebookNode, folder: Path) -> dict:
    """What the cells have written into the folder, each script once."""
    scripts, forms = {}, {}
    for cell in notebook.cells:
        path = folder / f"{cell.id}.json"
        if not path.exists():
            continue
        forms[cell.id] = []
        for form in json.loads(path.read_text("utf-8")):
            script = {"esm": form.pop("esm"), "css": form.pop("css")}
            name = hashlib.sha256(json.dumps(script).encode()).hexdigest()[:16]
            scripts[name] = script
            forms[cell.id].append({"script": name, **form})
    return {"scripts": scripts, "forms": forms}


def kept(path: Path, folder: Path = FOLDER) -> dict:
    """The page forms of a notebook that the folder has; nothing, where they do not fit it any more."""
    return _stored(folder / f"{path.stem}.json", key_of(load(path)))


def _stored(file: Path, key: str) -> dict:
    found = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found if found.get("key") == key else {}


def recorded(path: Path, folder: Path = FOLDER) -> dict:
    """The page forms of a notebook: those kept in the folder if they still fit it, else it is executed."""
    notebook, file = load(path), folder / f"{path.stem}.json"
    key = key_of(notebook)  # of the code as it is now: what changes while the notebook runs asks for another recording
    if found := _stored(file, key):
        return found
    os.environ["OMP_NUM_THREADS"] = "1"  # so that a training run gives the same numbers, however many notebooks run
    with tempfile.TemporaryDirectory() as written:
        execute(with_hooks(notebook, Path(written)), path.parent, path.name, TIMEOUT)
        found = {"key": key, **collected(notebook, Path(written))}
    folder.mkdir(parents=True, exist_ok=True)
    file.touch()
    write(file, json.dumps(found, ensure_ascii=False))
    return found


def bytes_of(form: dict) -> int:
    """How much the state of a form adds to a compressed page."""
    stored = [base64.b64decode(value["base64"]) for value in form["state"].values() if _is_bytes(value)]
    rest = {name: value for name, value in form["state"].items() if not _is_bytes(value)}
    return len(zlib.compress(json.dumps(rest, ensure_ascii=False).encode())) + sum(
        min(len(data), len(zlib.compress(data))) for data in stored
    )


def _is_bytes(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {"base64"}


def report(found: dict, name: str, seconds: float) -> str:
    """A line for each explorer and view: its name, the way in which it lives, its size."""
    forms = [form for cell in found["forms"].values() for form in cell]
    total = sum(map(bytes_of, forms))
    lines = [f"{name}: {len(forms)} forms, {total / 1000:.0f} kB, {seconds:.0f} s"]
    lines += [f"    {form['name']}: {form['way']}, {bytes_of(form) / 1000:.0f} kB" for form in forms if form["name"]]
    return "\n".join(lines)


def one(path: Path) -> tuple[str, str]:
    """A notebook's report, and what failed in it, if anything did."""
    start = time.perf_counter()
    try:
        return report(recorded(path), path.name, time.perf_counter() - start), ""
    except (CellError, ValueError) as failure:
        return "", str(failure)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    options = parser.parse_args(arguments)
    failed = False
    with two_cores(), ProcessPoolExecutor(2) as pool:
        for said, failure in pool.map(one, selected(options.notebooks, ROOT / "notebooks")):
            print(said or f"FAILED {failure}", flush=True)
            failed |= bool(failure)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
