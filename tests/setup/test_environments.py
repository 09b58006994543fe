"""The notebooks run elsewhere, too: from the wheel alone, shut off from network and disk, and on Colab's versions."""

import copy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from environments import (
    COLAB_FRONT_END,
    can_shut,
    copy_repository,
    differences,
    execute,
    install,
    make_environment,
    shown,
)
from make_colab import build_wheel
from notebook_frame import ROOT
from notebook_guards import code_cells
from repository import COURSE, repository_files
from tx_helpers.exercises.course import LESSONS

SMALL = LESSONS["reference"].stem  # quick, shows a drawing, and names every part of the package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    source = copy_repository(tmp_path_factory.mktemp("source"))
    return build_wheel(source, tmp_path_factory.mktemp("wheels"))


def environment_with(wheel, folder, versions=None):
    python = make_environment(folder, versions)
    done = install(python, "--no-deps", "--no-index", str(wheel))
    assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="module")
def ours(wheel, tmp_path_factory):
    """The versions that are installed here, with the wheel instead of the checkout."""
    return environment_with(wheel, tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def colab(wheel, tmp_path_factory):
    """Colab's versions in front of those that are installed here."""
    return environment_with(wheel, tmp_path_factory.mktemp("colab"), COLAB_FRONT_END)


# --- the environments are what they say ------------------------------------------------------------------------------

PROBE = {
    "versions": "import importlib.metadata as m\nfor name in {names}:\n    print(name, m.version(name))",
    "package": "import tx_helpers\nprint(tx_helpers.__file__)",
    "drawings": "from tx_helpers.show.drawings import names\nprint(*names())",
    "neighbours": "import os\nprint(os.getcwd(), os.listdir(), os.path.exists(os.environ['TX_CACHE']))",
    "writing": "try:\n    open('here', 'w')\nexcept OSError as error:\n    print(type(error).__name__, error.errno)",
    "network": "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), timeout=5)\n"
    "except OSError as error:\n    print(error.strerror)",
}


def probed(python, folder, names=()) -> dict[str, str]:
    """What a kernel of that environment prints for each cell of PROBE."""
    notebook = new_notebook(cells=[new_code_cell(source.format(names=list(names))) for source in PROBE.values()])
    nbformat.write(notebook, folder / "probe.ipynb")
    (answers,) = execute(python, [folder / "probe.ipynb"], folder / "run")
    return {
        name: "".join(text for _, text in shown(cell)).strip() for name, cell in zip(PROBE, answers.cells, strict=True)
    }


@pytest.mark.thorough
def test_the_wheel_is_alone_shut_off_and_has_its_drawings(ours, tmp_path):
    answers = probed(ours, tmp_path)
    assert answers["package"].startswith(str(ours.parent.parent)), answers["package"]
    drawings = {
        name.split("/")[1][:-4] for name in repository_files() if name.startswith("figures/") and ".svg" in name
    }
    assert set(answers["drawings"].split()) == drawings
    assert answers["neighbours"] == f"{tmp_path}/run/shut/elsewhere [] False"
    if not can_shut():
        pytest.skip("the network stays on, and root may write everywhere: no 'unshare -rnm' on this system")
    assert answers["writing"] == "OSError 30"  # read-only file system
    assert answers["network"] == "Network is unreachable"


@pytest.mark.thorough
def test_colabs_versions_are_the_ones_in_use(colab, tmp_path):
    answers = probed(colab, tmp_path, COLAB_FRONT_END)
    assert dict(line.split() for line in answers["versions"].splitlines()) == COLAB_FRONT_END


# --- the notebooks in them -------------------------------------------------------------------------------------------


def different(python, path, folder) -> list[str]:
    """Cells of a notebook that show something else there than is stored; AssertionError if one ends in an error."""
    (executed,) = execute(python, [path], folder / "run")
    return differences(nbformat.read(path, as_version=4), executed)


@pytest.mark.thorough
def test_a_notebook_runs_from_the_wheel_alone(ours, tmp_path):
    assert different(ours, ROOT / "notebooks" / f"{SMALL}.ipynb", tmp_path) == []


@pytest.mark.thorough
@pytest.mark.parametrize("path", [path for path in COURSE if path.stem != SMALL], ids=lambda path: path.stem)
def test_every_notebook_runs_from_the_wheel_alone(path, ours, tmp_path):
    assert different(ours, path, tmp_path) == []


@pytest.mark.thorough
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_every_notebook_runs_on_colabs_versions(path, colab, tmp_path):
    assert different(colab, path, tmp_path) == []


# --- the comparison can fail -----------------------------------------------------------------------------------------


def cell(*outputs, source="f()"):
    return new_code_cell(source, outputs=list(outputs), execution_count=1)


def stream(text):
    return new_output("stream", name="stdout", text=text)


@pytest.mark.parametrize(
    ("other", "finding"),
    [
        (cell(stream("2\n")), ["code cell 1 shows other stdout"]),
        (cell(), ["code cell 1 shows other stdout"]),
        (cell(stream("1\n"), new_output("display_data", {"text/plain": "x"})), ["code cell 1 shows other text/plain"]),
        (cell(stream("1\n"), new_output("display_data", {"image/png": "iVBO"})), []),  # as nbval does
    ],
)
def test_differences(other, finding):
    stored = new_notebook(cells=[cell(stream("1\n"))])
    assert differences(stored, copy.deepcopy(stored)) == []
    assert differences(stored, new_notebook(cells=[other])) == finding


def test_what_nbval_is_told_to_ignore_is_no_difference():
    stored = new_notebook(cells=[cell(stream("1 s\n"), source="# NBVAL_IGNORE_OUTPUT\nf()")])
    assert differences(stored, new_notebook(cells=[cell(stream("2 s\n"))])) == []


@pytest.mark.thorough
def test_an_environment_of_versions_that_cannot_be_had_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="these versions cannot be had here"):
        make_environment(tmp_path, {"ipywidgets": "7.7.1"})


@pytest.mark.thorough
def test_a_notebook_that_fails_there_is_a_failure_here(ours, tmp_path):
    nbformat.write(new_notebook(cells=[new_code_cell("open('../../nothing')")]), tmp_path / "bad.ipynb")
    with pytest.raises(AssertionError, match=r"bad\.ipynb: CellExecutionError(?s:.*)FileNotFoundError"):
        execute(ours, [tmp_path / "bad.ipynb"], tmp_path / "run")


def test_all_code_cells_are_compared():
    stored = nbformat.read(COURSE[0], as_version=4)
    spoilt = copy.deepcopy(stored)
    for made in code_cells(spoilt):
        made.outputs = [stream("something else\n")]
    assert len(differences(stored, spoilt)) >= 0.8 * len(code_cells(stored))
