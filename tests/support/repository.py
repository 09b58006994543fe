"""What belongs to the course: the files that git tracks. A learner's scratch file in the folder is none of them."""

import subprocess
from pathlib import Path

import pytest

from notebook_frame import ROOT


def _listed(*options: str) -> list[str] | None:
    """The paths that `git ls-files` names and that exist; None where there is no git checkout."""
    try:
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", *options], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    if listed.returncode:
        return None
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def repository_files() -> list[str]:
    """The tracked files, as paths below the root; the test is skipped where there is no git checkout."""
    names = _listed()
    if names is None:
        pytest.skip("not a git checkout")
    return names


def course_notebooks() -> list[Path]:
    """The tracked notebooks, in reading order; all that are there where there is no git checkout."""
    names = _listed("notebooks/*.ipynb")
    if names is None:
        return sorted((ROOT / "notebooks").glob("*.ipynb"))
    return sorted(ROOT / name for name in names)


COURSE = course_notebooks()
