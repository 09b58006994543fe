"""Execute the notebooks and write their outputs, set-up cells and measured minutes.

    python tools/refresh_notebooks.py             all notebooks
    python tools/refresh_notebooks.py 08 10       these
    python tools/refresh_notebooks.py --check     execute, and say which files would change, without writing
    python tools/refresh_notebooks.py --frame     set-up cells, badges, what is folded, lists; nothing executed
    python tools/refresh_notebooks.py --stamp     the same, after reading the repository's address from git

Each notebook runs in a fresh kernel, in its own folder, on two cores and with an empty cache, so that outputs and
minutes are those of a first run. What changes from run to run (widget state, timings, versions) is
dropped, and pictures are stored in 255 colours. A notebook whose cell fails is left as it was; the exit code is then 1.
"""

import argparse
import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from PIL import Image

import course_lists
from notebook_frame import (
    ROOT,
    frame,
    https_address,
    metadata,
    repository_address,
    stamp_address,
    stamp_readme,
)
from tx_helpers.opening import VIEW


class CellError(Exception):
    """A notebook's cell failed; the message names notebook and cell."""


def load(path: Path) -> nbformat.NotebookNode:
    """Read a notebook; cells without an id get one made of their place and text, the same at every reading."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    for index, cell in enumerate(raw["cells"]):
        text = f"{index}:{''.join(cell['source'])}"
        cell.setdefault("id", hashlib.sha256(text.encode()).hexdigest()[:8])
    raw["nbformat"], raw["nbformat_minor"] = 4, 5
    return nbformat.from_dict(nbformat.reads(json.dumps(raw), as_version=4))


def execute(notebook: nbformat.NotebookNode, folder: Path, name: str, timeout: int) -> float:
    """Run all cells in a fresh kernel, outputs into the notebook; returns the seconds it took."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory() as cache:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TX_")}
        environment["TX_CACHE"] = cache
        environment["TX_PROGRESS"] = str(Path(cache) / "progress.json")  # no outputs of a maintainer's own model
        client = NotebookClient(
            notebook, kernel_name="python3", timeout=timeout, store_widget_state=False, record_timing=False
        )
        start = time.perf_counter()
        try:
            client.execute(cwd=str(folder), env=environment, stderr=subprocess.DEVNULL)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise CellError(f"{name}, {_last_cell(notebook)}: {error}") from error
        return time.perf_counter() - start


def _last_cell(notebook: nbformat.NotebookNode) -> str:
    """Which code cell was the last to be started, of those that a reader sees."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and not cell.metadata.get("hidden_hook")]
    started = [n for n, cell in enumerate(code, 1) if cell.execution_count is not None or cell.outputs]
    number = started[-1] if started else 1
    return f"code cell {number} (id {code[number - 1].id})"


def clean(notebook: nbformat.NotebookNode) -> None:
    """Drop what differs from run to run or from machine to machine; counts become 1..N."""
    count = 0
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = merged_streams(cell.outputs)
        for output in cell.outputs:
            data = output.get("data", {})
            data.pop(VIEW, None)
            if "image/png" in data:
                data["image/png"] = small_png(data["image/png"])
            if output.output_type == "execute_result":
                output.execution_count = count


def fold(notebook: nbformat.NotebookNode) -> None:
    """Give the notebook and its cells the metadata that fold away what is optional, and drop all other."""
    of_notebook, of_cells = metadata(notebook.cells)
    notebook.metadata = nbformat.from_dict(of_notebook)
    for cell, its in zip(notebook.cells, of_cells, strict=True):
        cell.metadata = nbformat.from_dict(its)


def small_png(stored: str) -> str:
    """The picture with a palette: curves and maps have few colours, and the file shrinks to a quarter."""
    image = Image.open(io.BytesIO(base64.b64decode(stored)))
    if image.mode == "P" or (image.mode == "RGBA" and image.getextrema()[3][0] < 255):  # done, or partly transparent
        return stored
    buffer = io.BytesIO()
    palette = image.convert("RGB").quantize(255, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette.save(buffer, "PNG", compress_level=9)
    return base64.b64encode(buffer.getvalue()).decode() + "\n"


def merged_streams(outputs: list) -> list:
    """Consecutive pieces of one stream as one output: where print's text is cut differs from run to run."""
    merged: list = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def refreshed(path: Path, address: str, *, run: bool, timeout: int) -> str:
    """The text the notebook's file should have."""
    notebook = load(path)
    frame(notebook.cells, path, address)
    if run:
        seconds = execute(notebook, path.parent, path.name, timeout)
        clean(notebook)
        frame(notebook.cells, path, address, seconds)
        print(f"{path.name}: {seconds:.0f} s", flush=True)
    fold(notebook)
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def write(path: Path, text: str) -> None:
    """Replace the file whole or not at all."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, delete=False) as file:
        file.write(text)
    shutil.copymode(path, file.name)  # a temporary file is its owner's alone
    os.replace(file.name, path)


def write_lists(folder: Path, check: bool = False) -> list[str]:
    """Write what needs the headers of all notebooks: the lists in README.md and TEACHING.md, the routes in the first
    notebook. Returns the names of the files that changed, or with `check` of those that would."""
    headers = {file.stem[3:]: load(file).cells[0].source for file in selected([], folder)}
    lists = {
        ROOT / "README.md": course_lists.readme,
        ROOT / "TEACHING.md": partial(course_lists.teaching, headers=headers),
        selected([], folder)[0]: partial(_with_routes, headers=headers),
    }
    changed = []
    for path, made in lists.items():
        text = path.read_text(encoding="utf-8")
        if made(text) != text:
            changed.append(path.name)
            if not check:
                write(path, made(text))
    return changed


def _with_routes(text: str, headers: dict[str, str]) -> str:
    """The text of the first notebook's file with the routes through the course."""
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.source.startswith(course_lists.ROUTES_TITLE):
            cell.source = course_lists.routes(cell.source, headers)
    return nbformat.writes(notebook) + "\n"


def selected(names: list[str], folder: Path) -> list[Path]:
    """The notebooks meant by "08", "full_model", "08_full_model" or a path; all of the folder's if none is named."""
    found = sorted(folder.glob("*.ipynb"))
    if not names:
        return found
    chosen = []
    for name in names:
        matches = [path for path in found if path.stem[3:] == name or path.name.startswith(Path(name).name)]
        if not matches:
            raise ValueError(f"no notebook is {name!r}; there are {', '.join(p.stem for p in found)}")
        chosen += matches
    return chosen


@contextmanager
def two_cores() -> Iterator[None]:
    """The header speaks of two cores, so at most two are used, where the system lets a process choose."""
    if not hasattr(os, "sched_setaffinity"):
        if (os.cpu_count() or 2) > 2:
            print("note: measured on more than two cores; the minutes in the headers will be too small")
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file would change")
    parser.add_argument("--frame", action="store_true", help="what every notebook has in common; nothing executed")
    parser.add_argument("--stamp", action="store_true", help="read the address from `git remote`, then as --frame")
    parser.add_argument("--timeout", type=int, default=600, help="seconds a cell may take (default %(default)s)")
    parser.add_argument("--folder", type=Path, default=ROOT / "notebooks", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)

    if options.stamp:
        git = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
        address = https_address(subprocess.run(git, capture_output=True, text=True, check=True).stdout)
        stamp_address(ROOT / "pyproject.toml", address)
        stamp_readme(ROOT / "README.md", address)
        print(f"the address is {address}")
    run = not (options.frame or options.stamp)
    changed, failed = [], []
    for path in selected(options.notebooks, options.folder):
        try:
            with two_cores():
                text = refreshed(path, repository_address(), run=run, timeout=options.timeout)
        except (CellError, ValueError) as failure:
            failed.append(str(failure))
            continue
        if text != path.read_text(encoding="utf-8"):
            changed.append(path.name)
            if not options.check:
                write(path, text)
    if not (options.notebooks or options.stamp) and options.folder == ROOT / "notebooks":
        changed += write_lists(options.folder, options.check)
    for failure in failed:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{'would change' if options.check else 'changed'}: {', '.join(changed) or 'nothing'}")
    return 1 if failed or (options.check and changed) else 0


if __name__ == "__main__":
    sys.exit(main())
