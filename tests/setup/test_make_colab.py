"""The notebooks that carry the course: what is in them, that they run alone, and that a damaged one says so."""

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import make_colab
from environments import (
    COLAB,
    differences,
    execute_alone,
    make_environment,
    text_shown,
    versions,
)
from notebook_guards import code_cells
from repository import COURSE
from tx_helpers import __version__

LINKED = "[02](02_tokens_and_embeddings.ipynb#term-02-token) [terms](#term-02-token) `03_x.ipynb`"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder that `make colab` writes."""
    folder = tmp_path_factory.mktemp("colab")
    make_colab.make(folder)
    return folder


@pytest.fixture
def stand_in(tmp_path):
    """A file in place of the wheel: its cell does not look into it."""
    path = tmp_path / "wheels" / f"tx_helpers-{__version__}-py3-none-any.whl"
    path.parent.mkdir()
    path.write_bytes(bytes(range(256)) * 20)
    return path


def names_in(wheel: bytes) -> set[str]:
    return set(zipfile.ZipFile(io.BytesIO(wheel)).namelist())


def run_cell(cell, folder: Path) -> subprocess.CompletedProcess:
    """The cell in a Python that lacks the course, from an empty folder."""
    folder.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-S", "-c", cell.source]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)


# --- the cell --------------------------------------------------------------------------------------------------------


def test_the_cell_puts_the_wheel_beside_the_notebook(stand_in, tmp_path):
    done = run_cell(make_colab.wheel_cell(stand_in), tmp_path / "alone")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in (tmp_path / "alone").iterdir()] == [stand_in.name]
    assert (tmp_path / "alone" / stand_in.name).read_bytes() == stand_in.read_bytes()


def test_the_cell_does_nothing_where_the_course_is_installed(stand_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(make_colab.wheel_cell(stand_in).source, {})
    assert [path.name for path in tmp_path.iterdir()] == ["wheels"]


def test_a_damaged_wheel_is_refused_with_both_sums(stand_in, tmp_path):
    cell = make_colab.wheel_cell(stand_in)
    cell.source = cell.source.replace("AAECAwQF", "AAECAwQG", 1)
    right, wrong = stand_in.read_bytes(), b"\0\1\2\3\4\6" + stand_in.read_bytes()[6:]
    done = run_cell(cell, tmp_path / "alone")
    sums = [hashlib.sha256(data).hexdigest() for data in (wrong, right)]
    assert done.stderr.strip().split("\n")[-1] == (
        f"ValueError: {stand_in.name} is damaged: its SHA-256 is {sums[0]}, expected {sums[1]}"
    )
    assert list((tmp_path / "alone").iterdir()) == []


# --- the edition -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("", "02_tokens_and_embeddings.ipynb"),
        ("https://gitlab.com/a/b", "02_tokens_and_embeddings.ipynb"),
        (
            "https://github.com/a/b",
            "https://colab.research.google.com/github/a/b/blob/main/notebooks/02_tokens_and_embeddings.ipynb",
        ),
    ],
)
def test_links_to_other_notebooks_open_these_on_colab_once_the_address_is_known(address, link, stand_in, tmp_path):
    cells = [nbformat.v4.new_markdown_cell(LINKED), new_code_cell(f"# {LINKED}")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "01_x.ipynb")
    notebook = nbformat.reads(make_colab.edition(tmp_path / "01_x.ipynb", stand_in, address), as_version=4)
    assert notebook.cells[0].source == LINKED.replace("02_tokens_and_embeddings.ipynb", link)
    assert notebook.cells[2].source == f"# {LINKED}"


@pytest.mark.thorough
def test_the_editions_hold_the_course_and_are_else_the_notebooks(made):
    (wheel,) = made.glob("*.whl")
    assert {path.name for path in made.iterdir()} == {wheel.name, *(path.name for path in COURSE)}
    for path in COURSE:
        ours, its = (nbformat.read(folder / path.name, as_version=4) for folder in (path.parent, made))
        cell = its.cells.pop(1)
        assert [c for c in its.cells if c.cell_type == "code"] == [c for c in ours.cells if c.cell_type == "code"]
        assert (len(its.cells), its.metadata) == (len(ours.cells), ours.metadata)
        text = re.search(r'text = """\n(.*?)\n"""', cell.source, re.DOTALL)[1]
        carried, models = base64.b64decode(text), {name for name in names_in(wheel.read_bytes()) if "/weights/" in name}
        if path.stem[3:] in make_colab.WITH_MODELS:
            assert carried == wheel.read_bytes()
        else:
            assert names_in(carried) == names_in(wheel.read_bytes()) - models
            assert not any("families" in code.source for code in code_cells(ours))  # nothing that needs the models
        assert cell.metadata.jupyter.source_hidden and cell.metadata.cellView == "form"
        assert (made / path.name).stat().st_size < (8e6 if path.stem[3:] in make_colab.WITH_MODELS else 5e6)


@pytest.mark.thorough
def test_the_same_sources_make_the_same_bytes(made, tmp_path):
    make_colab.make(tmp_path)
    make_colab.make(tmp_path)  # over what is there
    files = {path.name: path.read_bytes() for path in made.iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


# --- alone -----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_lone_edition_shows_what_is_stored(made, tmp_path):
    python = make_environment(tmp_path, with_pip=True, without=("num2words", "docopt"))
    (tmp_path / "alone").mkdir()
    path = Path(shutil.copy(made / "23_reference.ipynb", tmp_path / "alone"))
    stored, executed = nbformat.read(path, as_version=4), execute_alone(python, path)
    assert text_shown(executed.cells[2]).endswith("; installed num2words\n")
    for notebook in (stored, executed):
        del notebook.cells[1:3]  # the wheel's cell has no output yet, the set-up cell says another source
    assert differences(stored, executed) == []


def interpreter(version: str) -> str:
    """A Python of this version; the test is skipped where there is none."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"{version}.*/bin/python")
    for python in (shutil.which(f"python{version}"), *map(str, kept)):
        if python and subprocess.run([python, "-c", "import ensurepip"], capture_output=True).returncode == 0:
            return python
    pytest.skip(f"no Python {version} on this machine")


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_the_set_up_on_colabs_versions_installs_what_colab_lacks(version, made, tmp_path):
    subprocess.run([interpreter(version), "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    preinstalled = [f"{name}=={number}" for name, number in COLAB.items() if name not in ("torch", "tokenizers")]
    preinstalled += ["tqdm", "platformdirs", "safetensors", "filelock"]
    done = subprocess.run([python, "-m", "pip", "install", "-q", *preinstalled], text=True, capture_output=True)
    if done.returncode:
        pytest.skip(f"these versions cannot be had here (no network?): {done.stderr.strip().splitlines()[-1]}")
    (torch,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (torch / "torch-2.11.0.dist-info").mkdir()  # pip sees a torch; the set-up imports none
    (torch / "torch-2.11.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.11.0\n")
    before = versions(python)
    (tmp_path / "alone").mkdir()
    edition = nbformat.read(made / "00_start_here.ipynb", as_version=4)
    look = new_code_cell("import sys\nfrom tx_helpers.environment import summary\nprint(sys.version[:4], summary())")
    nbformat.write(new_notebook(cells=[*edition.cells[1:3], look]), tmp_path / "alone" / "00_lone.ipynb")
    _, said, looked = map(text_shown, execute_alone(python, tmp_path / "alone" / "00_lone.ipynb").cells)
    (wheel,) = (tmp_path / "alone").glob("*.whl")
    assert said == f"tx_helpers {__version__}, from {wheel}; installed num2words\n"
    assert looked == f"{version} all 12 packages the course needs are here\n"
    after = versions(python)
    new = {name.replace("_", "-") for name in after.keys() - before.keys()}
    assert new == {"tx-helpers", "num2words", "docopt"}
    assert {name: after[name] for name in before} == before
