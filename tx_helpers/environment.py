"""Which packages the course needs, which are installed, and how to get the others (`python -m tx_helpers check`).

It reads the metadata of the installed packages and imports none of them, so it answers at once, even where torch is
missing or broken.
"""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path
from typing import NamedTuple, TextIO

from tx_helpers import __version__

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"  # in a clone; an installed package has none
TOOLS = {
    "jupyterlab": "opens the notebooks",
    "nbval": "tests the notebooks",
    "pooch": "downloads a text, when asked to",
    "tokenizers": "the tokenizers of public checkpoints",
    "huggingface_hub": "downloads public checkpoints, when asked to",
}

PLAIN = {  # for consoles whose encoding lacks the character
    **{"–": "-", "−": "-", "…": "...", "→": "->", "←": "<-", "·": "*", "×": "x", "√": "sqrt ", "∞": "inf"},
    **{"≥": ">=", "≤": "<=", "≈": "~", "≠": "!=", "✓": "+", "✗": "x", "’": "'", "“": '"', "”": '"', "␣": "_"},
}


def printable(text: str, stream: TextIO | None = None) -> str:
    """The text as `stream` (None: standard output) can print it, for consoles that are not UTF-8.

    A character that the stream's encoding lacks is replaced: "√" by "sqrt", "é" by "e", an unknown one by "?".
    """
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return "".join(_in_encoding(character, encoding) for character in text)


def _in_encoding(character: str, encoding: str) -> str:
    for candidate in (character, PLAIN.get(character, ""), unicodedata.normalize("NFKD", character)):
        found = candidate.encode(encoding, errors="ignore").decode(encoding)
        if found:
            return found
    return "?"


class Package(NamedTuple):
    """A package: its name, the range needed ("" = any version), the version installed (None = not installed)."""

    name: str
    needed: str
    installed: str | None

    @property
    def state(self) -> str:
        """One of "ok", "missing", "too old", "too new"."""
        if self.installed is None:
            return "missing"
        for bound in filter(None, self.needed.split(",")):
            ((operator, version),) = re.findall(r"^(>=|<)(.*)$", bound.strip())
            if operator == ">=" and release(self.installed) < release(version):
                return "too old"
            if operator == "<" and release(self.installed) >= release(version):
                return "too new"
        return "ok"

    @property
    def remedy(self) -> str:
        """The command that installs the right version."""
        return f'python -m pip install "{self.name}{self.needed}"'


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version: "2.13.0+cpu" -> (2, 13). Trailing zeros are left out, so that 2.0 equals 2."""
    numbers = [int(part) for part in re.findall(r"^\d+(?:\.\d+)*", version)[0].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def requirements() -> list[Package]:
    """The packages that the course declares as its requirements, with the versions that are installed.

    They stand in the metadata of the installed course, or else in the pyproject.toml beside the package. ValueError if
    there is neither.
    """
    try:
        declared = importlib.metadata.requires("tx-helpers") or []
    except importlib.metadata.PackageNotFoundError:
        if not PROJECT.exists():
            raise ValueError(
                "the course itself is not installed; in its folder run: python -m pip install -e ."
            ) from None
        declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    packages = []
    for requirement in declared:
        if "extra ==" not in requirement:
            ((name, needed),) = re.findall(r"^([\w.-]+)\s*(.*)", requirement)
            needed = ",".join(sorted(needed.replace(" ", "").split(","), reverse=True))  # lower bound first
            packages.append(Package(name, needed, installed(name)))
    return packages


def installed(name: str) -> str | None:
    """The version of a package, or None if it is missing."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def install_missing() -> str:
    """Let pip install the packages that are missing, for the set-up cell; says which: "; installed num2words", or "".

    A package that is there stays as it is, whatever its version.
    """
    missing = [package for package in requirements() if package.installed is None]
    if not missing:
        return ""
    wanted = [f"{package.name}{package.needed}" for package in missing]
    subprocess.run([sys.executable, "-m", "pip", "install", "-qq", *wanted], check=True)
    return f"; installed {', '.join(package.name for package in missing)}"


def summary() -> str:
    """One line, the same on every machine where nothing is missing: "all 7 packages the course needs are here"."""
    packages = requirements()
    faults = [f"{package.name} is {package.state}: {package.remedy}" for package in packages if package.state != "ok"]
    return "; ".join(faults) or f"all {len(packages)} packages the course needs are here"


def report() -> tuple[str, bool]:
    """The full report, and whether nothing is missing."""
    packages = requirements()
    lines = [f"tx_helpers {__version__}, Python {sys.version.split()[0]}", "", "The course needs"]
    for package in packages:
        lines += line(package, f"({package.needed or 'any'})")
    lines += ["", "Not needed by the package, but useful"]
    for name, use in TOOLS.items():
        lines += line(Package(name, "", installed(name)), use)
    lines += ["", *surroundings(), "", summary()]
    return "\n".join(lines), all(package.state == "ok" for package in packages)


def line(package: Package, remark: str) -> list[str]:
    """The line of a package in the report and, if it is missing or of the wrong version, the command that mends it."""
    text = f"  {package.state:<8} {package.name:<12} {package.installed or '-':<12} {remark}"
    return [text] if package.state == "ok" else [text, f"{'':11}mend it by: {package.remedy}"]


def surroundings() -> list[str]:
    """The text, the cache, the processor, and the variables that control how torch uses it."""
    lines = []
    if installed("platformdirs"):
        from tx_helpers.text.corpora import cache_folder

        text = os.environ.get("TX_TINYSHAKESPEARE") or cache_folder() / "tinyshakespeare.txt"
        state = "at hand" if os.path.isfile(text) else "not at hand; stories of our own stand in"
        lines += [f"Text       tinyshakespeare is {state}", f"Cache      {cache_folder()}"]
    lines.append(f"Processor  {os.cpu_count()} cores")
    for variable in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY"):
        lines.append(f"{'':11}{variable} is {os.environ.get(variable, 'not set')}")
    return lines
