"""2017 against 2026: both sides get the same seconds, and keep a record of them."""

import math

import pytest

from tx_helpers.modern import duel as module
from tx_helpers.modern.duel import TODAY, duel
from tx_helpers.modern.ladder import FIRST, LadderText, as_of, ladder_text
from tx_helpers.modern.rungs import RUNGS


def test_both_sides_get_the_same_seconds(monkeypatch):
    text = ladder_text()
    monkeypatch.setattr(module, "ladder_text", lambda: LadderText(text.tokenizer, text.train, text.held_out[:500]))
    sides = duel(seconds=0.8, characters=40)
    assert list(sides) == [FIRST, TODAY]
    for side in sides.values():
        assert side.steps == len(side.losses) == len(side.seconds) >= 2
        assert side.seconds == sorted(side.seconds) and 0.2 < side.seconds[-1] < 4  # 0.8, on a busy machine too
        assert len(side.sample) == 40 and math.isfinite(side.held_out)
        assert side.losses[0] > side.losses[-1]
    assert as_of(RUNGS[-1].name).config != as_of(FIRST).config


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="seconds=0"):
        duel(seconds=0)
    with pytest.raises(ValueError, match="characters=-1"):
        duel(characters=-1)
