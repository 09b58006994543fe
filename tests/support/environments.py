"""Other places in which the notebooks must run: other versions, the wheel alone, no network, a read-only folder.

    python = make_environment(folder, COLAB_FRONT_END)            # an environment of its own, in seconds
    executed = execute(python, notebooks, folder / "run")         # every cell run, without network or a disk to write
    differences(stored, executed[0])                              # which cells show something else than is stored

An environment borrows all packages that are installed here except the course, and puts its own versions before them.
The client that sends the cells runs in this environment, the kernel in the other.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbclient.util import run_sync

from notebook_comparison import COMPARED_KINDS
from notebook_frame import ROOT
from notebook_guards import code_cells, markers, text_of
from refresh_notebooks import clean
from repository import repository_files

SITE_PACKAGES = Path(sysconfig.get_path("purelib"))
CELL_SECONDS = 300

# Preinstalled on Colab in August 2026. A notebook runs on all of these but torch and numpy: another torch would be a
# download of hundreds of megabytes, so for them the ranges of pyproject.toml are all that is tested.
COLAB = {
    "torch": "2.11.0",
    "numpy": "2.1.3",
    "ipywidgets": "7.7.1",
    "traitlets": "5.7.1",
    "ipython": "7.34.0",
    "ipykernel": "6.17.1",
    "anywidget": "0.9.21",
    "matplotlib": "3.10.0",
    "tokenizers": "0.22.2",
}
COLAB_FRONT_END = {name: version for name, version in COLAB.items() if name not in ("torch", "numpy")}


# --- the course, and environments with it ----------------------------------------------------------------------------


def copy_repository(folder: Path) -> Path:
    """The tracked files as they are now, in a folder of their own."""
    for name in repository_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def make_environment(
    folder: Path, versions: dict[str, str] | None = None, *, with_pip: bool = False, without: tuple[str, ...] = ()
) -> Path:
    """The python of a new environment: all that is installed here except the course and the packages of `without`.

    `versions` are installed in front of these.
    """
    if os.name == "nt":
        pytest.skip("an environment that borrows another's packages is made of symbolic links")
    venv.create(folder / "venv", with_pip=with_pip)
    python = folder / "venv" / "bin" / "python"
    own = folder / "venv" / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for old in own.glob("setuptools*"):  # Python 3.11 brings one, too old to build with
        shutil.rmtree(old)
    borrowed = folder / "preinstalled"
    borrowed.mkdir()
    for entry in SITE_PACKAGES.iterdir():
        if "tx_helpers" not in entry.name and not entry.name.startswith(("pip", "_virtualenv", *without)):
            (borrowed / entry.name).symlink_to(entry)
    (own / "preinstalled.pth").write_text(str(borrowed))
    if versions:
        done = install(python, *(f"{name}=={version}" for name, version in versions.items()))
        if done.returncode:
            pytest.skip(f"these versions cannot be had here (no network?): {done.stderr.strip().splitlines()[-1]}")
    return python


def install(python: Path, *what: str) -> subprocess.CompletedProcess:
    """Install something into that environment with this one's pip."""
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--disable-pip-version-check"]
    command += ["--retries", "1", "--timeout", "20"]  # without a network the answer should come soon
    return subprocess.run([*command, *what], capture_output=True, text=True)


def versions(python: Path) -> dict[str, str]:
    """What is installed in that environment: name -> version."""
    code = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True, cwd=python.parent)
    return json.loads(done.stdout)


# --- the run ---------------------------------------------------------------------------------------------------------

# $0 becomes read-only, also for root, and the network is this machine alone.
SHUT = 'ip link set lo up && mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def can_shut() -> bool:
    """May a process here have a network and mounts of its own (Linux, where user namespaces are allowed)?"""
    probe = ["unshare", "-rnm", "sh", "-c", SHUT, tempfile.gettempdir(), "true"]
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True).returncode == 0


def execute(python: Path, notebooks: list[Path], folder: Path) -> list[nbformat.NotebookNode]:
    """Run copies of notebooks, each in a fresh kernel of `python`, and return them. AssertionError if one fails.

    The copies are alone in a read-only folder. The working directory is another read-only folder, which is empty. There
    is no cache at the start, and no network. (Where `can_shut` is false the network stays on, and root may write.)
    """
    shut, results, kernels = folder / "shut", folder / "results", folder / "jupyter" / "kernels" / "other"
    for place in (shut / "there", shut / "elsewhere", results, kernels):
        place.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "other", "language": "python"}
    (kernels / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    copies = [Path(shutil.copy(path, shut / "there")) for path in notebooks]
    for place in (shut / "there", shut / "elsewhere", shut):
        place.chmod(0o555)  # enough where nobody is root
    foreign = ("PYTHON", "PIP_", "VIRTUAL_ENV", "JUPYTER", "TX_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    places = {name: str(folder / name.lower()) for name in ("TX_CACHE", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")}
    prefix = ["unshare", "-rnm", "sh", "-c", SHUT, str(shut)] if can_shut() else []
    try:
        done = subprocess.run(
            [*prefix, sys.executable, __file__, str(results), str(shut / "elsewhere"), *map(str, copies)],
            env=kept | places | {"JUPYTER_PATH": str(folder / "jupyter"), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True,
        )  # fmt: skip
    finally:
        for place in (shut, shut / "there", shut / "elsewhere"):
            place.chmod(0o755)  # so that it can be removed
    assert done.returncode == 0, done.stderr[-4000:]
    return [nbformat.read(results / path.name, as_version=4) for path in notebooks]


def execute_alone(python: Path, path: Path, **variables: str) -> nbformat.NotebookNode:
    """Run a notebook in its folder, in a kernel of `python`, which may write there and use the network.

    AssertionError if a cell fails, with what the cell said.
    """
    kernel = python.parent.parent / "kernels" / "alone"
    kernel.mkdir(parents=True, exist_ok=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "alone", "language": "python"}))
    specs = KernelSpecManager(kernel_dirs=[str(kernel.parent)])
    notebook = nbformat.read(path, as_version=4)
    manager = AsyncKernelManager(kernel_name="alone", kernel_spec_manager=specs)
    client = NotebookClient(notebook, km=manager, timeout=CELL_SECONDS, store_widget_state=False)
    foreign = ("PYTHON", "VIRTUAL_ENV", "JUPYTER", "TX_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    try:
        client.execute(cwd=str(path.parent), env=kept | {"TX_CACHE": str(kernel.parent)} | variables)
    except CellExecutionError as error:
        raise AssertionError(f"{path.name}: {error}") from error
    finally:
        run_sync(manager.shutdown_kernel)(now=True)  # the client ends only kernels of its own manager
    clean(notebook)
    return nbformat.reads(nbformat.writes(notebook), as_version=4)  # outputs in a file's order


def run_all(results: str, working_directory: str, *notebooks: str) -> int:
    """What `execute` starts as a process of its own; returns the exit code."""
    failed = 0
    without_path = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for path in map(Path, notebooks):
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(notebook, kernel_name="other", timeout=CELL_SECONDS, store_widget_state=False)
        try:
            client.execute(cwd=working_directory, env=without_path)
        except Exception as error:  # whatever it is, run the other notebooks as well
            print(f"{path.name}: {type(error).__name__}: {error}", file=sys.stderr)
            failed = 1
        clean(notebook)
        nbformat.write(notebook, Path(results) / path.name)
    return failed


# --- the comparison --------------------------------------------------------------------------------------------------


def shown(cell) -> list[tuple[str, str]]:
    """What a cell shows, as far as strict nbval compares it: (kind, text)."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append((output.name, output.text))
        found += [(k, text_of(v).rstrip()) for k, v in output.get("data", {}).items() if k in COMPARED_KINDS]
    return found


def text_shown(cell) -> str:
    """All that a cell has printed; print's text comes in one piece or in several."""
    return "".join(text for kind, text in shown(cell) if kind in ("stdout", "stderr"))


def differences(stored, executed) -> list[str]:
    """Code cells that show something else than is stored; those that nbval ignores are left out."""
    found = []
    for number, (old, new) in enumerate(zip(code_cells(stored), code_cells(executed), strict=True), 1):
        if "ignore" in markers(old) or old.execution_count is None or shown(old) == shown(new):
            continue
        kinds = sorted({kind for kind, _ in set(shown(old)) ^ set(shown(new))})
        found.append(f"code cell {number} shows other {' and '.join(kinds) or 'order'}")
    return found


if __name__ == "__main__":
    sys.exit(run_all(*sys.argv[1:]))
