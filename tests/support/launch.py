"""Start a script in several processes by torchrun, and leave none behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from notebook_frame import ROOT

CASES = ROOT / "tests/support/parallel_cases.py"


@contextmanager
def torchrun(processes: int, *command: str, **environment: str) -> Iterator[subprocess.Popen]:
    """torchrun with its processes, in the background; at the end of the block it is asked to end them, then made to."""
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests/support")))
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"} | environment
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([*run, *command], env=environment, cwd=ROOT, **pipes) as launched:
        try:
            yield launched
        finally:
            if launched.poll() is None:
                launched.send_signal(signal.SIGTERM)
                try:
                    launched.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    launched.kill()


def measured(processes: int, names: list[str], folder: Path, **environment: str) -> dict:
    """What `parallel_cases` measures, in this many processes."""
    with torchrun(processes, str(CASES), json.dumps(names), str(folder), **environment) as launched:
        said, _ = launched.communicate(timeout=1000)
    assert launched.returncode == 0, said
    return json.loads((folder / "measured.json").read_text())
