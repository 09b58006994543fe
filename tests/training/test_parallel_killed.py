"""A process of a training is killed or stopped: the run ends, says why, and leaves a checkpoint to go on from."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from launch import CASES as SCRIPT
from launch import measured, torchrun
from parallel_cases import CASES, FSDP, Case
from tx_helpers.lessons.scaling_up.real.launch import left
from tx_helpers.training.parallel import Parallel
from tx_helpers.training.sharded import last_checkpoint

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
TIMEOUT = 60  # seconds that processes wait for one that stands still
# torchrun gives the others 30 seconds to end before it kills them; the rest is for a busy machine.
MOST_SECONDS = TIMEOUT + 30 + 60


def begun(folder: Path, launched, before: int) -> list[int]:
    """The ids of both processes, once they have saved a step beyond `before`."""
    end = time.monotonic() + 600
    while time.monotonic() < end and launched.poll() is None:
        last = last_checkpoint(folder / "slow")
        if last and int(last.name[5:13]) > before:
            return [int((folder / f"pid-{rank}").read_text()) for rank in range(2)]
        time.sleep(0.01)
    raise AssertionError(f"no step beyond {before}: {launched.communicate() if launched.poll() else 'too slow'}")


def hit(folder: Path, number: int, victim: int, wait: float, steps: int, **environment: str) -> tuple[str, float]:
    """Send a signal to one of two processes, `wait` seconds after a step. -> what torchrun says, and seconds"""
    last = last_checkpoint(folder / "slow")
    with torchrun(2, SCRIPT, '["slow"]', str(folder), STEPS=str(steps), **environment) as launched:
        pids = begun(folder, launched, int(last.name[5:13]) if last else 0)
        time.sleep(wait)
        os.kill(pids[victim], number)
        start = time.monotonic()
        said = "".join(launched.communicate(timeout=MOST_SECONDS))
        seconds = time.monotonic() - start
        assert left(launched) == []
    assert launched.returncode != 0
    return said, seconds


def readable(folder: Path) -> int:
    """How many steps the last checkpoint has, after it has been loaded."""
    last = last_checkpoint(folder / "slow")
    steps = int(last.name[5:13])
    run = Case(FSDP).train(Parallel(shard="rest"), steps=steps, resume=folder / "slow")
    assert run.step == len(run.losses) == steps
    return steps


@pytest.mark.slow
def test_a_killed_process_ends_the_run_and_a_restart_goes_on(tmp_path):
    said, _ = hit(tmp_path, signal.SIGKILL, victim=1, wait=0.05, steps=1000)
    assert "Signal 9 (SIGKILL) received by PID" in said
    steps = readable(tmp_path) + 3
    losses = measured(2, ["slow"], tmp_path, STEPS=str(steps))["slow"]["losses"]
    alone = CASES["shards"].train(None, steps=steps).losses
    assert losses == pytest.approx(alone, abs=1e-6, rel=0)
    assert [path.name for path in (tmp_path / "slow").iterdir()] == [f"step-{steps:08}"]


@pytest.mark.thorough  # what `torchrun` leaves is tested by tests/lessons/scaling_up/real/test_launch.py
def test_no_process_is_left_when_a_test_is_interrupted(tmp_path):
    with pytest.raises(KeyboardInterrupt), torchrun(2, SCRIPT, '["slow"]', str(tmp_path), STEPS="1000") as launched:
        pids = begun(tmp_path, launched, 0)
        assert len(pids) == 2 and set(pids) < set(left(launched))
        raise KeyboardInterrupt
    assert left(launched) == [] and launched.returncode is not None
    assert readable(tmp_path)


@pytest.mark.thorough
def test_a_process_that_stands_still_ends_the_run(tmp_path):
    _, seconds = hit(tmp_path, signal.SIGSTOP, victim=0, wait=0.2, steps=1000, TIMEOUT=str(TIMEOUT))
    assert TIMEOUT - 1 < seconds < MOST_SECONDS
    assert readable(tmp_path)


@pytest.mark.thorough
def test_a_hundred_kills_at_random_moments(tmp_path):
    """In training and in saving. KILLS says how many, where a hundred are too many."""
    draw, steps = random.Random(0), 0
    for _ in range(int(os.environ.get("KILLS", 100))):
        said, _ = hit(tmp_path, signal.SIGKILL, victim=draw.randrange(2), wait=draw.uniform(0, 0.3), steps=100_000)
        assert "Signal 9 (SIGKILL) received by PID" in said
        assert readable(tmp_path) >= steps
        steps = readable(tmp_path)
