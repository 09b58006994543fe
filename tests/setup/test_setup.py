"""Everything between a fresh clone and the first cell: versions, README, `check`, the wheel."""

import ast
import importlib.metadata
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from environments import COLAB, copy_repository
from make_colab import build_wheel
from notebook_frame import ROOT
from notebook_guards import code_cells, python_of
from repository import COURSE, repository_files
from tx_helpers import __version__, contents, environment

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
RANGES = {r.name: r for r in map(Requirement, [*PROJECT["dependencies"], *EXTRAS])}
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "TEACHING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]


# --- versions --------------------------------------------------------------------------------------------------------


def test_colab_keeps_its_own_versions():
    assert [name for name in RANGES.keys() & COLAB.keys() if not RANGES[name].specifier.contains(COLAB[name])] == []
    assert SpecifierSet(PROJECT["requires-python"]).contains("3.13.0")


def pins(file: str, first: str) -> dict[str, str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert wanted[0] == first, f"{file} begins with what it builds on"
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in wanted[1:]), wanted
    return dict(line.split("==") for line in wanted[1:])


LEARNERS = pins("requirements.txt", "-e .")
MAINTAINERS = pins("requirements-dev.txt", "-r requirements.txt")


def test_a_learner_gets_the_course_what_opens_it_and_what_tests_it():
    assert set(LEARNERS) == set(RANGES) | {"jupyterlab", "notebook", "ipykernel", "nbval", "pytest"}
    assert not LEARNERS.keys() & MAINTAINERS.keys()
    for name, requirement in RANGES.items():
        assert requirement.specifier.contains(LEARNERS[name]), f"{name}=={LEARNERS[name]} is outside {requirement}"


def needed_by(names: Iterable[str]) -> set[str]:
    """The packages of these names, and all that they bring."""
    found, waiting = set(), list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in found:
            found.add(name)
            brought = map(Requirement, importlib.metadata.requires(name) or [])
            waiting += [one.name for one in brought if not one.marker or one.marker.evaluate({"extra": ""})]
    return found


def test_a_learner_can_import_what_the_notebooks_import():
    notebooks = [nbformat.read(path, as_version=4) for path in COURSE]
    nodes = [node for one in notebooks for cell in code_cells(one) for node in ast.walk(ast.parse(python_of(cell)))]
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    tops = {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"tx_helpers"}
    assert {"torch", "tokenizers", "sympy"} <= tops
    packages, brought = importlib.metadata.packages_distributions(), needed_by(LEARNERS)
    assert [top for top in tops if not brought & set(map(canonicalize_name, packages[top]))] == []


@pytest.mark.parametrize("target", ["setup", "lab", "test", "lint", "site", "notebooks", "api", "figures"])
def test_only_a_target_for_maintainers_installs_what_they_need(target, tmp_path):
    done = subprocess.run(["make", "-n", target, f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    files = re.findall(r"pip install .*-r (\S+)", done.stdout)
    assert files == ["requirements.txt" if target in ("setup", "lab") else "requirements-dev.txt"], done.stderr


def test_what_is_tested_is_what_is_pinned():
    found = {name: importlib.metadata.version(name).split("+")[0] for name in LEARNERS | MAINTAINERS}
    assert found == LEARNERS | MAINTAINERS


def test_conda_installs_the_same_ranges():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    conda = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}
    listed = dict(re.findall(r"^ +- ([\w-]+)([<>=].*)?$", text, re.MULTILINE))
    for name, requirement in RANGES.items():
        if name != "ipywidgets":  # the lab of 2026 needs version 8; 7 is only for Colab
            assert SpecifierSet(listed[conda.get(name, name)]) == requirement.specifier, name
    assert "    - -e ." in text
    assert not listed.keys() & MAINTAINERS.keys()


def test_binder_installs_the_same_versions():
    lines = (ROOT / ".binder/requirements.txt").read_text(encoding="utf-8").splitlines()
    course = {line.split("==")[0]: line.split("==")[1] for line in lines if "==" in line}
    assert course == {name: LEARNERS[name] for name in RANGES}
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in lines
    version = (ROOT / ".binder/runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)
    assert os.access(ROOT / ".binder/postBuild", os.X_OK)


def test_the_container_is_made_by_make():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert container["postCreateCommand"] == "make setup"
    assert SpecifierSet(PROJECT["requires-python"]).contains(container["image"].split(":")[1])
    assert container["containerEnv"]["PIP_EXTRA_INDEX_URL"] in README  # the small build of PyTorch
    interpreter = container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert interpreter.endswith("/.venv/bin/python")
    (opened,) = container["customizations"]["codespaces"]["openFiles"]
    assert (ROOT / opened).exists()


# --- README ----------------------------------------------------------------------------------------------------------


def laid_out() -> list[str]:
    """The paths in the tree of docs/layout.md; two spaces of indentation mean "in the folder above"."""
    layout = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    block = re.search(r"```\n(.*?)```", layout, re.DOTALL)[1]
    paths, folder = [], ""
    for line in block.splitlines():
        name = line.split()[0]
        if line.startswith("  "):
            paths.append(folder + name)
        else:
            folder = name if name.endswith("/") else ""
            paths.append(name)
    return paths


def test_the_tree_of_the_layout_is_the_repositorys():
    tree = laid_out()
    opened = {
        path for path in tree if path.endswith("/") and any(other != path and other.startswith(path) for other in tree)
    }
    shown = set()
    for name in repository_files():
        parts = name.split("/")
        if any(name.startswith(folder) for folder in opened):
            folder = next(folder for folder in opened if name.startswith(folder))
            rest = name.removeprefix(folder).split("/")
            shown |= {folder, folder + rest[0] + ("/" if len(rest) > 1 else "")}
        else:
            shown.add(parts[0] + "/" if len(parts) > 1 and name not in tree else name)
    assert len(tree) == len(set(tree))
    assert {"not in the tree": shown - set(tree), "only in the tree": set(tree) - shown} == {
        "not in the tree": set(),
        "only in the tree": set(),
    }


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != "docs/notebooks.md"])  # has examples
def test_the_documents_links_and_pictures_exist(document):
    path = ROOT / document
    for target, anchor in re.findall(r"\[[^\]]*\]\(([^)#\s]*)#?([^)\s]*)\)", path.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        there = path.parent / target if target else path
        assert there.exists(), f"{target} leads nowhere"
        if anchor and there.suffix == ".md":
            lines = there.read_text(encoding="utf-8").splitlines()
            headings = [re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in lines]
            assert anchor in headings, f"#{anchor} is no heading of {there.name}"


def test_the_readme_is_two_to_three_screens():
    assert len(README.split()) <= 1200


def test_every_make_target_that_is_spoken_of_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        spoken = set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)", text, re.MULTILINE))
        assert {a or b for a, b in spoken} <= targets
    assert {"lab", "test", "quick", "thorough", "notebooks", "benchmarks", "help"} <= targets


def test_the_two_commands_come_first():
    assert re.search(r"```\n(.*?)```", README, re.DOTALL)[1].split("\n")[:3] == [
        "export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
        "   # on Linux: PyTorch without CUDA, 190 MB for several GB",
        "make lab     # makes an environment, installs the course, opens the first notebook",
        "make test    # every test, in the same environment: about 20 minutes on two cores",
    ]


def test_continuous_integration_runs_the_same_command_everywhere():
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert "run: bash .ci/run\n" in workflow and "run: bash .ci/run thorough\n" in workflow
    assert "permissions:\n  contents: read\n" in workflow
    assert 'make "${1:-test}"' in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert os.access(ROOT / ".ci/run", os.X_OK)
    for action in re.findall(r"uses: (\S+)", workflow):
        assert re.fullmatch(r"actions/[\w-]+@(v\d+|[0-9a-f]{40})", action), f"{action} is not pinned"


# --- check -----------------------------------------------------------------------------------------------------------


def check(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "tx_helpers", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | variables)


def test_check_when_all_is_well(tmp_path):
    done = check("check", TX_CACHE=str(tmp_path), OMP_NUM_THREADS="1", TX_TINYSHAKESPEARE="")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"tx_helpers {importlib.metadata.version('tx-helpers')}, Python {sys.version.split()[0]}"
    assert re.fullmatch(r"  ok       torch +2\.\d+\.\S+ +\(>=2\.9,<3\)", lines[3])
    assert [line.split()[1] for line in lines[3 : 3 + len(PROJECT["dependencies"])]] == [
        Requirement(dependency).name for dependency in PROJECT["dependencies"]
    ]
    assert "Text       tinyshakespeare is not at hand; stories of our own stand in" in lines
    assert f"Cache      {tmp_path}" in lines
    assert "           OMP_NUM_THREADS is 1" in lines
    assert lines[-1] == environment.summary() == "all 12 packages the course needs are here"


@pytest.mark.parametrize(
    ("name", "version", "line", "remedy"),
    [
        ("torch", "1.13.1", "  too old  torch        1.13.1", 'python -m pip install "torch>=2.9,<3"'),
        ("numpy", "3.0.0", "  too new  numpy        3.0.0", 'python -m pip install "numpy>=2.0,<3"'),
        ("num2words", None, "  missing  num2words    -", 'python -m pip install "num2words>=0.5.13,<0.6"'),
    ],
)
def test_check_names_what_is_wrong_and_how_to_mend_it(name, version, line, remedy, monkeypatch):
    true = environment.installed
    monkeypatch.setattr(environment, "installed", lambda other: version if other == name else true(other))
    text, well = environment.report()
    assert not well
    assert line in text
    assert f"           mend it by: {remedy}" in text.splitlines()
    assert environment.summary() == f"{name} is {line[2:10].strip()}: {remedy}"


def test_check_does_not_mind_a_missing_tool(monkeypatch):
    true = environment.installed
    monkeypatch.setattr(environment, "installed", lambda other: None if other == "nbval" else true(other))
    text, well = environment.report()
    assert well
    assert "  missing  nbval" in text


@pytest.fixture
def not_installed(monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", absent)


def test_check_in_a_clone_where_the_course_is_not_installed_reads_pyproject(not_installed):
    assert [(package.name, package.needed) for package in environment.requirements()] == [
        (name, ",".join(sorted(map(str, RANGES[name].specifier), reverse=True)))
        for name in (Requirement(needed).name for needed in PROJECT["dependencies"])
    ]
    assert environment.summary() == "all 12 packages the course needs are here"


def test_check_of_a_course_that_is_nowhere(not_installed, monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "PROJECT", tmp_path / "pyproject.toml")
    with pytest.raises(ValueError, match=r"the course itself is not installed; in its folder run: python -m pip"):
        environment.report()


@pytest.mark.parametrize("arguments", [[], ["look"], ["check", "more"]])
def test_a_wrong_call_of_check(arguments):
    done = check(*arguments)
    commands = (
        "check | diagnose module:factory [--help] | train RECIPE [--help] | record [NAME ...] "
        "| publish FILE PAGE [--help] | tidy NOTEBOOK ... | class FOLDER [--help]"
    )
    usage = f"usage: python -m tx_helpers {commands}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", usage)


def test_versions_are_compared_as_pip_does():
    versions = ["0.5.12", "0.5.13", "0.6", "2.9", "2.9.0", "2.13.0+cpu", "3.0", "4.66.1", "7.7.1", "10"]
    for needed in (">=2.9,<3", ">=7.7.1,<9", ">=4.66", ">=0.5.13,<0.6"):
        fine = [version for version in versions if environment.Package("x", needed, version).state == "ok"]
        assert fine == [version for version in versions if SpecifierSet(needed).contains(version)]


EXTENSION = "etc/jupyter/jupyter_server_config.d/tx-helpers.json"

# --- the wheel -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_wheel_alone_carries_all_it_needs(tmp_path):
    clone = copy_repository(tmp_path / "clone")
    wheels = tmp_path / "wheels"
    (clone / "figures").mkdir(exist_ok=True)
    (clone / "figures" / "probe.svg").write_text("<svg/>")
    wheel = build_wheel(clone, wheels)
    names = zipfile.ZipFile(wheel).namelist()
    sources = {name for name in repository_files() if name.startswith("tx_helpers/")}
    drawings = {f"tx_helpers/{name}" for name in repository_files() if re.fullmatch(r"figures/.*\.svg", name)}
    drawings.add("tx_helpers/figures/probe.svg")
    extension = f"tx_helpers-{__version__}.data/data/{EXTENSION}"
    assert {name for name in names if ".dist-info/" not in name} == {extension} | sources | drawings
    assert any(name.endswith("licenses/LICENSE-text.md") for name in names)

    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r}); import pkgutil, importlib, tx_helpers;"
        f"assert tx_helpers.__file__.startswith({str(target)!r}), tx_helpers.__file__;"
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(tx_helpers.__path__, 'tx_helpers.')"
        " if not m.name.endswith('__main__')];"
        "from tx_helpers.environment import summary; print(summary())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "all 12 packages the course needs are here\n", done.stderr


@pytest.mark.slow
def test_an_editable_install_brings_jupyters_file_too(tmp_path):
    clone = copy_repository(tmp_path / "clone")
    build = [sys.executable, "-c", "from setuptools.build_meta import build_editable; build_editable('..')"]
    subprocess.run(build, cwd=clone, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    (found,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(EXTENSION)]
    enabled = json.loads(zipfile.ZipFile(wheel).read(found))["ServerApp"]["jpserver_extensions"]
    assert enabled == {contents._jupyter_server_extension_points()[0]["module"]: True}


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "√K ≥ −∞, é, ²; “·” ✓ 日"),
        ("cp1252", "sqrt K >= -inf, é, ²; “·” + ?"),
        ("ascii", 'sqrt K >= -inf, e, 2; "*" + ?'),
    ],
)
def test_a_console_gets_what_it_can_print(encoding, expected):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    text = environment.printable("√K ≥ −∞, é, ²; “·” ✓ 日", stream)
    assert text == expected
    print(text, file=stream, flush=True)
    assert environment.printable("lone \udce9", stream) == "lone ?"
