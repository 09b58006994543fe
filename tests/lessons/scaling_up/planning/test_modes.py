"""Bytes by mode: against a list written by hand, and against a training in float32."""

import pytest

from drawn import texts
from tx_helpers.lessons.scaling_up.planning.modes import bytes_by_mode, draw_modes


def test_the_bytes_by_hand():
    sums = {mode: sum(kinds.values()) for mode, kinds in bytes_by_mode(7).items()}
    assert sums == {
        "all in float32": 16,
        "mixed": 16,
        "mixed, gradients summed in float32": 18,
        "all in bfloat16": 8,
    }
    assert bytes_by_mode()["mixed"] == {"weight": 2, "gradient": 2, "precise weight": 4, "AdamW's two means": 8}
    with pytest.raises(ValueError, match="bytes_by_mode: parameters=0"):
        bytes_by_mode(0)


def test_the_drawing_has_every_number():
    said = texts(draw_modes().svg)
    assert [one for one in said if one.endswith("bytes")] == ["16 bytes", "16 bytes", "18 bytes", "8 bytes"]
    assert "mixed, gradients summed in float32 18" in draw_modes().alt
