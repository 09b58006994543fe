"""tools/record_pages.py on a notebook of a few cells: what it keeps, when it keeps it, and what it says of failures."""

import json
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

import record_pages
from notebook_frame import ROOT
from record_pages import bytes_of, key_of, recorded, report
from refresh_notebooks import CellError, load

DRAW = """
import random
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
factor = 2
def draw(x):
    random.random()
    return Svg(f'<svg viewBox="0 0 9 9"><text>{factor * x}</text></svg>', f"{factor} times {x} is {factor * x}")
explorer = Explore(draw, name="times", x=(0, 3))
random.seed(0)
"""
# `draw` takes random numbers; that it is recorded at 4 settings must not change those of the cells below.
CELLS = {
    "draw": DRAW,
    "show": "explorer",
    "same": "now = random.random(); random.seed(0); assert now == random.random()",
    "more": "factor = 3; explorer.redraw(); explorer",
    "none": "print('no explorer')",
}


@pytest.fixture(autouse=True)
def package(monkeypatch):
    """The kernel imports this package, whatever is installed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def stored(folder, **cells: str):
    path = folder / "20_small.ipynb"
    made = [new_code_cell(source, id=name) for name, source in (CELLS | cells).items()]
    nbformat.write(new_notebook(cells=made), path)
    return path


@pytest.mark.slow
def test_forms_of_what_each_cell_shows_at_that_cell(tmp_path):
    found = recorded(stored(tmp_path), tmp_path / "kept")
    assert list(found["forms"]) == ["show", "more"]
    (first,), (second,) = found["forms"].values()
    assert first["text"] == "Explorer 'times': 2 times 0 is 0" and second["text"] == "Explorer 'times': 3 times 0 is 0"
    for form in (first, second):
        assert (form["kind"], form["name"], form["way"]) == ("Explore", "times", "recorded, 4 settings")
        assert set(form["state"]["frames"]) == {"base64"} and "render" in found["scripts"][form["script"]]["esm"]
    assert first["state"]["frames"] != second["state"]["frames"]
    assert len(found["scripts"]) == 1 and 0 < bytes_of(first) < 2000
    said = report(found, "20_small.ipynb", 1.0)
    assert said.startswith("20_small.ipynb: 2 forms,") and said.count("times: recorded, 4 settings") == 2


@pytest.mark.thorough
def test_it_is_made_again_only_when_code_has_changed(tmp_path, monkeypatch):
    path, kept = stored(tmp_path), tmp_path / "kept"
    first = recorded(path, kept)
    monkeypatch.setattr(record_pages, "execute", None)  # what is kept needs no execution
    assert recorded(path, kept) == first == json.loads((kept / "20_small.json").read_text("utf-8"))
    with pytest.raises(TypeError):
        recorded(stored(tmp_path, none="print('something else')"), kept)


def test_the_key_depends_on_code_and_package_not_on_outputs(tmp_path, monkeypatch):
    notebook = load(stored(tmp_path))
    key = key_of(notebook)
    notebook.cells[-1].outputs = [new_output("stream", text="no explorer")]
    assert key_of(notebook) == key
    monkeypatch.setattr(record_pages, "SOURCES", [ROOT / "tx_helpers" / "show" / "player.js"])
    assert key_of(notebook) != key


@pytest.mark.thorough
def test_a_cell_that_fails_is_named_and_nothing_is_kept(tmp_path):
    with pytest.raises(CellError, match=r"20_small\.ipynb, code cell 5 \(id none\): (?s:.)*ZeroDivisionError"):
        recorded(stored(tmp_path, none="1 / 0"), tmp_path / "kept")
    unrecordable = "Explore(draw, name='unknown', x=(0, 3), recorded={'x': ['three']})"
    with pytest.raises(CellError, match=r"code cell 2 \(id show\)"):
        recorded(stored(tmp_path, show=unrecordable), tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.thorough
def test_two_processes_record_the_same_bytes(tmp_path):
    path = stored(tmp_path)
    script = (
        "import sys; from pathlib import Path; from record_pages import recorded; recorded(*map(Path, sys.argv[1:]))"
    )
    kept = [tmp_path / name for name in ("one", "other")]
    for seed, folder in enumerate(kept):
        environment = {"PYTHONHASHSEED": str(seed), "PYTHONPATH": f"{ROOT}:{ROOT / 'tools'}", "PATH": "/usr/bin:/bin"}
        subprocess.run([sys.executable, "-c", script, path, folder], check=True, env=environment)
    one, other = ((folder / "20_small.json").read_bytes() for folder in kept)
    assert one == other
