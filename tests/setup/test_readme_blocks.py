"""Every block of code in README.md and docs/ runs as printed: Python as a script; what a command names exists."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from notebook_frame import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = [(path.name, *found) for path in DOCUMENTS for found in BLOCK.findall(path.read_text(encoding="utf-8"))]
SCRIPTS = [(f"{name}-{number}", code) for number, (name, kind, code) in enumerate(BLOCKS) if kind == "python"]
TRAINING = [code for _, code in SCRIPTS if "fit(" in code]
# What a reader's system has, beside what the environment brings.
SYSTEM = {"cp", "git", "conda", "export", "python"}


def missing(code: str, told: str) -> list[str]:
    """The lines that a script promises, in their order, and does not print."""
    printed = iter(told.splitlines())
    return [line for line in re.findall(r"^# -> (.*)$", code, re.MULTILINE) if line not in printed]


def run(command: list[str], folder) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in SCRIPTS])
def test_a_block_prints_what_the_text_says(code, tmp_path):
    assert "# -> " in code
    (tmp_path / "block.py").write_text(code, encoding="utf-8")
    assert missing(code, run([sys.executable, "block.py"], tmp_path)) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="torchrun on Windows has no libuv")
def test_only_the_command_changes_for_two_processes(tmp_path):
    (code,) = TRAINING
    (tmp_path / "block.py").write_text(code, encoding="utf-8")
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    start += ["--local-ranks-filter", "0", "block.py"]  # else what both print may stand in one line
    assert missing(code, run(start, tmp_path)) == []


def test_a_promise_that_is_not_kept_is_seen():
    assert missing("# -> a\n# -> b\n", "x\na\nb\n") == []
    assert missing("# -> a\n# -> b\n", "b\na\n") == ["b"]
    assert missing("print()\n# -> a b\n", "a\n") == ["a b"]


def test_the_documents_have_blocks_of_both_kinds():
    assert len(SCRIPTS) >= 5 and len(BLOCKS) - len(SCRIPTS) >= 5


def wrong_commands(block: str) -> list[str]:
    """The lines of a block for a shell whose command, module, target or file does not exist."""
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    found = []
    for line in block.splitlines():
        words = [word for word in re.sub(r"(^| +)#.*", "", line).split() if not re.fullmatch(r"[A-Z_]+=\S*", word)]
        if not words or words[0].startswith(".venv"):  # made by the line above
            continue
        command, *rest = words
        here = shutil.which(command) or shutil.which(command, path=os.path.dirname(sys.executable))
        fine = bool(here) or command in SYSTEM or command == "make"
        if command == "make":
            fine = rest[0] in targets
        if "-m" in rest:
            fine &= importlib.util.find_spec(rest[rest.index("-m") + 1]) is not None
        files = [word for word in rest if re.search(r"\w\.(py|txt|yml|toml|ipynb)$", word)]
        found += [] if fine and all((ROOT / file).exists() for file in files) else [line]
    return found


COMMANDS = re.compile(r"(?:make|python|git|conda|torchrun|jupyter|cp|export|[A-Z_]+=\S+ make) ")


def test_the_commands_of_the_documents_exist():
    shells = [block for _, kind, block in BLOCKS if not kind and COMMANDS.match(block)]
    assert len(shells) >= 5
    assert [line for block in shells for line in wrong_commands(block)] == []


@pytest.mark.parametrize(
    "line", ["make tea", "python -m no_module", "no_such_command x", "python tools/no.py", "A=b make tea"]
)
def test_a_wrong_command_is_seen(line):
    assert wrong_commands(f"{line}   # a comment\nmake lab\n") == [line + "   # a comment"]
