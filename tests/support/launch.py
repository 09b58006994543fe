"""Start `parallel_cases` in several processes, and leave none behind."""

import json
import os
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

from notebook_frame import ROOT
from tx_helpers.lessons.scaling_up.real.launch import launch, started

CASES = str(ROOT / "tests/support/parallel_cases.py")
PATHS = os.pathsep.join(map(str, (ROOT, ROOT / "tests/support")))


def torchrun(processes: int, *command: str, **environment: str) -> AbstractContextManager[subprocess.Popen]:
    """torchrun with its processes, in the background; they import what tests import."""
    return started(processes, *command, PYTHONPATH=PATHS, **environment)


def measured(processes: int, names: list[str], folder: Path, **environment: str) -> dict:
    """What `parallel_cases` measures, in this many processes."""
    launch(processes, CASES, json.dumps(names), str(folder), timeout=1000, PYTHONPATH=PATHS, **environment)
    return json.loads((folder / "measured.json").read_text())
