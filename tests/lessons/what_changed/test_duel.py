"""2017 against today: both sides get the same seconds, and keep a record of them."""

import math
from itertools import count
from statistics import mean
from types import SimpleNamespace

import pytest

from tx_helpers.lessons.what_changed import duel as module
from tx_helpers.lessons.what_changed.duel import TODAY, duel
from tx_helpers.lessons.what_changed.ladder import FIRST, LadderText, as_of, ladder_text
from tx_helpers.lessons.what_changed.rungs import RUNGS


@pytest.mark.slow
def test_both_sides_get_the_same_seconds(monkeypatch):
    readings, text = count(), ladder_text()
    monkeypatch.setattr(module, "time", SimpleNamespace(process_time=lambda: next(readings) / 100))
    monkeypatch.setattr(module, "tick", lambda clock: 0)
    monkeypatch.setattr(module, "ladder_text", lambda: LadderText(text.tokenizer, text.train, text.held_out[:500]))
    sides = duel(seconds=0.2, characters=40)
    assert list(sides) == [FIRST, TODAY]
    for side in sides.values():
        assert side.steps == len(side.losses) == 20
        assert side.seconds == pytest.approx([step / 100 for step in range(1, 21)])
        assert len(side.sample) == 40 and math.isfinite(side.held_out)
        assert mean(side.losses[:5]) > mean(side.losses[-5:])
    assert as_of(RUNGS[-1].name).config != as_of(FIRST).config


def test_a_coarse_clock_gets_a_longer_pilot(monkeypatch):
    trained = []

    def pilot(_, steps, __):
        trained.append(steps)
        return None, [step // 10 * 0.15 for step in range(steps)]

    monkeypatch.setattr(module, "_trained", pilot)
    monkeypatch.setattr(module, "tick", lambda clock: 0.0156)
    assert module._seconds_a_step(as_of(FIRST), 0) == pytest.approx(0.45 / 31)
    assert trained == [4, 8, 16, 32]


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="seconds=0"):
        duel(seconds=0)
    with pytest.raises(ValueError, match="characters=-1"):
        duel(characters=-1)
