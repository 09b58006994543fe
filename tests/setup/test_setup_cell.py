"""The set-up cell where the course is not installed: in a clone, beside a wheel, with an address, with nothing at all.

The quick tests run it in a bare Python, with a pip that unpacks a small wheel and writes down what it was asked for.
"""

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

from environments import copy_repository, execute_alone, make_environment, text_shown, versions
from make_colab import build_wheel, wheel_cell
from notebook_frame import ROOT, setup_cell
from tx_helpers import __version__

NEEDED = (
    *("torch", "numpy", "matplotlib", "ipywidgets", "anywidget", "tqdm", "num2words", "platformdirs", "safetensors"),
    *("filelock", "ipython", "traitlets"),
)
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"
PIP = """
import sys, zipfile
from pathlib import Path
packages = Path(__file__).parent.parent
with open(packages / "asked", "a") as asked:
    print(*sys.argv[1:], file=asked)
if sys.argv[-1].endswith(".whl"):
    zipfile.ZipFile(sys.argv[-1]).extractall(packages)
"""


def test_the_set_up_cell_imports_the_course_before_anything_else():
    first = next(line for line in setup_cell("").split("\n") if "import" in line)
    assert first.strip() == "import tx_helpers"


def test_the_version_is_one_that_the_set_up_cell_can_compare():
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)


# --- in a bare Python ------------------------------------------------------------------------------------------------


def toy_wheel(folder: Path, version: str) -> Path:
    """A wheel with the course's metadata and two of its modules."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"tx_helpers-{version}-py3-none-any.whl"
    needed = "".join(f"Requires-Dist: {name}\n" for name in (*NEEDED, 'pooch; extra == "data"'))
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tx_helpers/__init__.py", f"__version__ = {version!r}\n")
        wheel.write(ROOT / "tx_helpers" / "environment.py", "tx_helpers/environment.py")
        wheel.writestr(f"tx_helpers-{version}.dist-info/METADATA", METADATA.format("tx-helpers", version) + needed)
    return path


@pytest.fixture
def packages(tmp_path):
    """The folder of packages of a bare Python: a pip of our own, and all that the course needs but num2words."""
    folder = tmp_path / "packages"
    (folder / "pip").mkdir(parents=True)
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(PIP, encoding="utf-8")
    for name in set(NEEDED) - {"num2words"}:
        info = folder / f"{name.replace('-', '_')}-9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(METADATA.format(name, 9), encoding="utf-8")
    return folder


@pytest.fixture
def set_up(packages, tmp_path):
    """Run the cell from a folder (a path below tmp_path); returns its output, or its last line of error."""

    def run(folder: str, address: str = "", kaggle: str = "nowhere", before: str = "") -> str:
        here = tmp_path / folder
        here.mkdir(parents=True, exist_ok=True)
        code = before + setup_cell(address).replace("/kaggle", str(tmp_path / kaggle))
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [sys.executable, "-S", "-c", code], cwd=here, env=clean | {"PYTHONPATH": str(packages), "PYTHONUTF8": "1"},
            capture_output=True, text=True, encoding="utf-8",
        )  # fmt: skip
        return (done.stderr if done.returncode else done.stdout).strip().split("\n")[-1]

    return run


def asked(packages: Path) -> list[str]:
    """What pip was asked for, a line a call."""
    calls = packages / "asked"
    return [call.removeprefix("install -qq ") for call in calls.read_text().splitlines()] if calls.exists() else []


def test_nothing_is_done_where_the_course_is_installed(set_up, packages, tmp_path):
    zipfile.ZipFile(toy_wheel(tmp_path, "0.9.0")).extractall(packages)
    toy_wheel(tmp_path / "alone", "1.0.0")
    assert set_up("alone", "https://github.com/a/b") == "tx_helpers 0.9.0"
    assert asked(packages) == []


@pytest.mark.parametrize(
    ("here", "clone"),
    [
        ("course/notebooks", "course"),
        ("course/notebooks/mine/deep", "course"),
        ("home", "home/course"),
        ("content", "content/drive/MyDrive/course"),
    ],
)
def test_a_clone_is_found_above_beside_and_on_a_drive(here, clone, set_up, packages, tmp_path):
    for name in ("pyproject.toml", "tx_helpers/__init__.py", "tx_helpers/environment.py"):
        (tmp_path / clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / clone / name)
    toy_wheel(tmp_path / here, "9.0.0")
    said = set_up(here, "https://github.com/a/b")
    assert said == f"tx_helpers {__version__}, from {tmp_path / clone}; installed num2words"
    assert asked(packages) == ["num2words>=0.5.13,<0.6"]  # as pyproject.toml says: a clone has no metadata


def test_the_newest_wheel_beside_the_notebook_is_installed_with_what_is_missing(set_up, packages, tmp_path):
    old, new = (toy_wheel(tmp_path / "alone", version) for version in ("0.9.0", "0.10.0"))
    os.utime(old, (2e9, 2e9))  # its number is what counts
    assert set_up("alone", "https://github.com/a/b") == f"tx_helpers 0.10.0, from {new}; installed num2words"
    assert asked(packages) == [f"--no-deps {new}", "num2words"]


def test_a_wheel_among_kaggles_inputs_is_installed(set_up, packages, tmp_path):
    wheel = toy_wheel(tmp_path / "kaggle" / "input" / "datasets" / "someone" / "course", "0.9.0")
    assert set_up("alone", kaggle="kaggle") == f"tx_helpers 0.9.0, from {wheel}; installed num2words"


def test_the_address_comes_last(set_up, packages):
    assert set_up("alone", "https://github.com/a/b") == "ModuleNotFoundError: No module named 'tx_helpers'"
    assert asked(packages) == ["--no-deps git+https://github.com/a/b"]  # which our pip does not install


def test_a_pip_that_fails_is_an_error(set_up, packages, tmp_path):
    toy_wheel(tmp_path / "alone", "0.9.0")
    (packages / "pip" / "__main__.py").write_text("raise SystemExit(3)")
    assert "returned non-zero exit status 3" in set_up("alone")


COLAB = "import sys\nsys.modules['google.colab'] = sys\n"


@pytest.mark.parametrize(
    ("before", "kaggle", "advice"),
    [
        ("", "nowhere", r"In the course's folder run: make lab .*"),
        (COLAB, "nowhere", r"Click the folder on the left, upload the course's wheel .*"),
        ("", "kaggle", r"Upload the course's wheel \(tx_helpers-….whl\) by Add Input, turn the internet on.*"),
    ],
)
def test_where_nothing_is_found_the_place_has_its_advice(before, kaggle, advice, set_up, packages, tmp_path):
    (tmp_path / "kaggle" / "input").mkdir(parents=True)
    text = set_up("alone", kaggle=kaggle, before=before)
    assert re.fullmatch(f"ModuleNotFoundError: tx_helpers is not installed for this kernel. {advice}", text)
    assert asked(packages) == []


# --- with the real pip and a kernel ----------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path):
    """The tracked files as they are now, committed to a git repository of its own."""
    folder = copy_repository(tmp_path / "clone")
    author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def bare_environment(tmp_path):
    """The python of an environment with all that is installed here except the course, as on Colab."""
    return make_environment(tmp_path / "environment", with_pip=True)


LOOK = "import os, sys\nprint(tx_helpers.__file__, 'torch' in sys.modules, os.environ['OMP_WAIT_POLICY'])"
# pip builds with the setuptools that is here, and may look nowhere else.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["address", "wheel", "inside", "clone"])
def test_a_lone_notebook_gets_the_course_and_nothing_is_replaced(place, clone, bare_environment, tmp_path):
    before = versions(bare_environment)
    assert "tx-helpers" not in before
    assert "torch" in before
    alone = clone / "notebooks" if place == "clone" else tmp_path / "alone"
    alone.mkdir(exist_ok=True)
    wheel = build_wheel(clone, alone if place == "wheel" else tmp_path / "wheels")
    source = {"address": f"git+{clone.as_uri()}", "clone": clone}.get(place, alone / wheel.name)
    path = alone / "08_lone.ipynb"
    cells = [new_code_cell(setup_cell(clone.as_uri() if place == "address" else "")), new_code_cell(LOOK)]
    nbformat.write(new_notebook(cells=[wheel_cell(wheel)] * (place == "inside") + cells), path)
    said, looked = (text_shown(cell) for cell in execute_alone(bare_environment, path, **OFFLINE).cells[-2:])
    after = versions(bare_environment)
    assert {name: version for name, version in after.items() if name != "tx-helpers"} == before
    assert said == f"tx_helpers {__version__}, from {source}\n"
    file, torch_is_there, policy = looked.split()
    assert Path(file).is_relative_to(clone if place == "clone" else bare_environment.parent.parent)
    assert (torch_is_there, policy) == ("False", "PASSIVE")
