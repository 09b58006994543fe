"""The explorer of pipeline schedules: numbers by hand, a box for each pass, the words, and the explorer."""

import pytest

from tx_helpers.lessons.scaling_up.simulated.pipeline_schedule import (
    CHUNKS,
    MICROBATCHES,
    RANKS,
    describe,
    divides,
    draw,
    pipeline_explorer,
    run,
    waiting,
)
from tx_helpers.lessons.scaling_up.simulated.schedules import bubble, bubble_by_formula

# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_schedules_side_by_side():
    found = {name: run(name, 4, 8) for name in CHUNKS}
    assert {name: (one.time, one.messages, max(one.kept)) for name, one in found.items()} == {
        "GPipe": (33, 48, 8),
        "1F1B": (33, 48, 4),
        "interleaved, 2 stages": (28.5, 112, 5.5),
        "interleaved, 4 stages": (26.25, 240, 4.75),
    }
    assert {one.work for one in found.values()} == {24}


@pytest.mark.parametrize("name", CHUNKS)
@pytest.mark.parametrize("backward", [1, 3])
def test_every_setting_has_the_bubble_of_the_formula(name, backward):
    for ranks in RANKS:
        for microbatches in MICROBATCHES:
            if divides(name, ranks, microbatches):
                found = run(name, ranks, microbatches, backward)
                share = bubble_by_formula(ranks, microbatches, CHUNKS[name])
                assert bubble(found.spans) == pytest.approx(share)
                assert found.work / found.time == pytest.approx(1 - share)


@pytest.mark.parametrize("name", CHUNKS)
def test_what_waits_at_each_moment(name):
    found = run(name, 4, 8)
    for rank in range(4):
        moments = waiting(found, rank)
        assert [time for time, _ in moments] == sorted({time for time, _ in moments})
        assert max(now for _, now in moments) == found.kept[rank] and moments[-1][1] == 0


def test_what_waits_by_hand():
    """Two ranks, three microbatches. Rank 0: F0 at 0, F1 at 1, B0 from 4 to 6, F2 at 6, B1 to 9, B2 to 12."""
    assert waiting(run("1F1B", 2, 3), 0) == [(0, 1), (1, 2), (6, 2), (9, 1), (12, 0)]


def test_what_is_refused():
    with pytest.raises(ValueError, match="run: name='FIFO', expected one of"):
        run("FIFO", 2, 2)
    with pytest.raises(ValueError, match="run: backward=0, expected more than 0"):
        run("GPipe", 2, 2, 0)
    with pytest.raises(ValueError, match="interleaved: 2 microbatches, expected a multiple of the 4 ranks"):
        run("interleaved, 2 stages", 4, 2)


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """A box for each pass at its time, a thick edge around one microbatch's; what a rank keeps."""
    as_stored(
        all=draw("GPipe", 2, 4),
        followed=draw("1F1B", 2, 4, follow=1),
        beyond=draw("1F1B", 2, 4, follow=15),
        interleaved=draw("interleaved, 2 stages", 2, 4),
        one=draw("GPipe", 8, 1),
    )
    assert draw("GPipe", 8, 16).svg.count("rotate") == 8 * 6  # forward passes of two digits stand upright


# --- bind ------------------------------------------------------------------------------------------------------------


def test_controls_redraw():
    explorer = pipeline_explorer()
    assert explorer.summary == describe("GPipe", 4, 8)
    explorer.set(schedule="interleaved, 2 stages", ranks=8, microbatches=16, backward=3)
    assert explorer.summary == describe("interleaved, 2 stages", 8, 16, 3) and explorer.error == ""
    explorer.set(microbatches=4)
    said = "interleaved, 2 stages: needs a multiple of the 8 ranks as microbatches, but there are 4."
    assert (explorer.summary, explorer.error) == (said, "")


def test_pages_offer_every_schedule():
    recording = pipeline_explorer().record()
    assert recording.settings == len(CHUNKS) * len(RANKS) * len(MICROBATCHES) * 2 and len(recording.data) < 115_000
