"""The speed of this machine: what is measured, and that a coarse clock does not spoil it."""

from types import SimpleNamespace

import pytest

from tx_helpers.training import machine_speed
from tx_helpers.training.machine_speed import Machine, best_seconds, measure_machine, tick


def test_the_roof_is_slanted_and_then_flat():
    machine = Machine(1e11, 2e10)
    assert machine.ridge == 5 and machine.roof(2) == 4e10 and machine.roof(50) == 1e11


def test_a_machine_is_measured_in_operations_and_bytes(monkeypatch):
    monkeypatch.setattr(machine_speed, "best_seconds", lambda run, rounds: 0.5)
    assert measure_machine(size=10, megabytes=1) == Machine(2 * 10**3 / 0.5, 2 * 2**20 / 0.5)


def test_a_coarse_clock_measures_many_runs(monkeypatch):
    now = [0.0]

    def run():
        now[0] += 0.001

    def clock():
        now[0] += 1e-6  # a reading takes time, too
        return now[0] // 0.0156 * 0.0156

    monkeypatch.setattr(machine_speed, "time", SimpleNamespace(thread_time=clock))
    assert tick(clock) == pytest.approx(0.0156)
    assert best_seconds(run, rounds=3) == pytest.approx(0.001, rel=0.1)
    with pytest.raises(ValueError, match="rounds=0"):
        best_seconds(run, rounds=0)
