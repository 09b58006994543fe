"""torchrun as a child: what it prints comes back, and no process is left, however it ends."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tx_helpers.lessons.scaling_up.real.launch import launch, left, started

pytestmark = pytest.mark.skipif(os.name != "posix", reason="torchrun and gloo are tried on Unix only")
SLEEPS = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it does not end when it is asked to
print("begun", flush=True)
pathlib.Path(sys.argv[1], os.environ["RANK"]).write_text(str(os.getpid()))
time.sleep(600)
"""


@pytest.fixture
def sleeps(tmp_path, monkeypatch):
    """A script whose processes sleep, and end only when they are killed."""
    monkeypatch.setattr("tx_helpers.lessons.scaling_up.real.launch.GRACE", 0.5)
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    return str(tmp_path / "sleeps.py")


def wait_for_both(folder: Path) -> list[int]:
    """The ids of both processes, once they have begun."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        files = [folder / "0", folder / "1"]
        if all(file.exists() and file.read_text() for file in files):
            return [int(file.read_text()) for file in files]
        time.sleep(0.05)
    raise AssertionError("the processes do not begin")


def alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return state != "" and not state.startswith("Z")  # an orphan that has ended may wait for somebody to note it


@pytest.mark.slow
def test_what_two_processes_print(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, tx_helpers\n"
        "names = 'RANK', 'WORLD_SIZE', 'OMP_NUM_THREADS', 'COLOUR'\n"
        "print(*(os.environ[name] for name in names), sys.argv[1], flush=True)\n"
        "print('a warning', file=sys.stderr)\n"
    )
    printed = launch(2, str(script), "an argument", COLOUR="green")
    assert sorted(printed.splitlines()) == ["0 2 1 green an argument", "1 2 1 green an argument"]


@pytest.mark.slow
def test_a_failure_is_told_with_the_end_of_the_output(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print('so far', flush=True)\nraise SystemExit('no such thing')\n")
    with pytest.raises(RuntimeError, match=r"(?s)^launch: torchrun ended with exit code 1\nso far.*no such thing"):
        launch(2, str(script))


@pytest.mark.slow
def test_nothing_is_left_after_the_timeout(sleeps, tmp_path):
    with pytest.raises(TimeoutError, match="launch: not finished after 5 s") as raised:
        launch(2, sleeps, str(tmp_path), timeout=5)  # enough to begin, on a quiet machine
    if "begun" in str(raised.value):
        assert not any(alive(pid) for pid in wait_for_both(tmp_path))


@pytest.mark.slow
def test_nothing_is_left_after_an_interrupt(sleeps, tmp_path):
    """As in a notebook: the kernel gets a SIGINT while it waits for `launch`."""
    first = "from tx_helpers.lessons.scaling_up.real import launch as l; l.GRACE = 0.5"
    call = f"{first}; l.launch(2, {sleeps!r}, {str(tmp_path)!r}, timeout=600)"
    kernel = subprocess.Popen([sys.executable, "-c", call], stderr=subprocess.PIPE, text=True)
    try:
        pids = wait_for_both(tmp_path)
        assert all(map(alive, pids))
        kernel.send_signal(signal.SIGINT)
        _, errors = kernel.communicate(timeout=600)
    finally:
        kernel.kill()
    assert "KeyboardInterrupt" in errors.splitlines()  # torchrun may have a last word after it
    assert kernel.returncode == -signal.SIGINT
    assert not any(map(alive, pids))


@pytest.mark.slow
def test_nothing_is_left_where_torchrun_itself_is_killed(sleeps, tmp_path):
    with started(2, sleeps, str(tmp_path)) as launched:
        pids = wait_for_both(tmp_path)
        assert set(pids) < set(left(launched))
        launched.kill()
        launched.wait()
        assert set(pids) == set(left(launched))
    assert left(launched) == [] and not any(map(alive, pids))


@pytest.mark.parametrize("where", ["/proc", "/nowhere"])
def test_processes_are_found_by_their_mark(where, monkeypatch):
    """In /proc, and where there is none by `ps`."""
    if where == "/nowhere" and shutil.which("ps") is None:
        pytest.skip("this machine has no ps")
    monkeypatch.setattr("tx_helpers.lessons.scaling_up.real.launch.PROC", Path(where))
    command = [sys.executable, "-X", f"launch=test-{os.getpid()}", "-c", "print('begun', flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()  # before it runs Python, its command line is not there yet
        found = left(child)
        child.communicate(b"\n")
    assert found == [child.pid] and left(child) == []


def test_a_wrong_call_is_named():
    with pytest.raises(ValueError, match="launch: processes=0, expected at least 1"):
        launch(0, "script.py")
    with pytest.raises(ValueError, match="launch: no command, expected a script"):
        launch(2)
    with pytest.raises(ValueError, match="launch: timeout=0"):
        launch(2, "script.py", timeout=0)
    with pytest.raises(ValueError, match=r"launch: command\[1\] is 3"):
        launch(2, "script.py", 3)
