"""torchrun from a notebook or a test: start processes, read what they print, and leave none of them behind.

    print(launch(2, "-m", "tx_helpers.lessons.scaling_up.real.on_processes", folder))
    print(launch(2, "tools/bench_gpu.py", "--shard", "rest"))  # torchrun --standalone --nproc-per-node 2 tools/…

torchrun starts each process in a session of its own, so neither killing torchrun nor killing its process group ends
them. So every process carries a mark in its command line (Python keeps unknown `-X` options). It is found by this mark
even where torchrun itself has been killed: in /proc on Linux, since small containers have no `ps`; by `ps` on macOS.
"""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tx_helpers.nn.arguments import check_numbers, check_types

PROC = Path("/proc")  # Linux lists its processes there
GRACE = 10.0  # seconds that processes have to end by themselves when they are asked to
SHOWN = 5000  # characters of the output in an error; torchrun alone writes half of them


def launch(processes: int, *command: str, timeout: float = 120, **environment: str) -> str:
    """Run a command, a script or "-m" and a module with its arguments, in several processes. -> what they print

    environment   variables for them, beside those of now; OMP_NUM_THREADS is 1 unless you say otherwise

    When this function returns or raises, all processes have ended, also after a Ctrl-C (a notebook's stop button).
    Raises RuntimeError with the end of the output if one of them fails, and TimeoutError after `timeout` seconds.
    """
    check_numbers("launch", above=0, timeout=timeout)
    with started(processes, *command, **environment) as launched:
        try:
            printed, errors = launched.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end(launched)
            printed, errors = launched.communicate()
            raise TimeoutError(f"launch: not finished after {timeout} s{_end_of(printed, errors)}") from None
    if launched.returncode:
        raise RuntimeError(f"launch: torchrun ended with exit code {launched.returncode}{_end_of(printed, errors)}")
    return printed


@contextmanager
def started(processes: int, *command: str, **environment: str) -> Iterator[subprocess.Popen]:
    """torchrun and its processes in the background; none of them is left at the end of the block."""
    check_numbers("launch", least=1, whole=True, processes=processes)
    check_types("launch", str, **{f"command[{place}]": part for place, part in enumerate(command)}, **environment)
    if not command:
        raise ValueError('launch: no command, expected a script, or "-m" and a module')
    python = [sys.executable, "-X", f"launch={uuid.uuid4().hex}"]
    run = [*python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", "--no-python"]
    paths = [str(Path(__file__).parents[4]), os.environ.get("PYTHONPATH", "")]
    defaults = {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    if os.name == "nt":
        defaults["USE_LIBUV"] = "0"  # PyTorch for Windows is built without it
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", "start_new_session": True}
    with subprocess.Popen([*run, *python, "-u", *command], env=os.environ | defaults | environment, **options) as child:
        try:
            yield child
        finally:
            end(child)


def end(launched: subprocess.Popen) -> None:
    """Ask torchrun to end its processes, and kill what is left of them after a few seconds."""
    try:
        if launched.poll() is None:
            launched.terminate()
            launched.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:  # also where a second Ctrl-C ends the wait
        _kill(launched)


def left(launched: subprocess.Popen) -> list[int]:
    """The ids of torchrun and its processes that still run; empty on Windows, which has neither /proc nor `ps`."""
    if os.name == "nt":
        return []
    return [pid for pid, command in _running() if launched.args[2] in command]


def _running() -> Iterator[tuple[int, str]]:
    """All processes of this machine: (id, command line)."""
    if PROC.joinpath("self/cmdline").exists():
        for file in PROC.glob("[0-9]*/cmdline"):
            with suppress(OSError):  # it has just ended
                yield int(file.parent.name), file.read_text(errors="replace")
        return
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        pid, _, command = line.strip().partition(" ")
        yield int(pid), command


def _kill(launched: subprocess.Popen) -> None:
    if os.name == "nt" and launched.poll() is None:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(launched.pid)], capture_output=True)
    while pids := left(launched):
        for pid in pids:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGKILL)
        launched.poll()
        time.sleep(0.02)


def _end_of(printed: str, errors: str) -> str:
    """The end of the output, of what was printed and then of the errors, for a message."""
    parts = [text.strip()[-SHOWN:] for text in (printed, errors)]
    return "".join(f"\n{text}" for text in parts if text) or ", and nothing was printed"
