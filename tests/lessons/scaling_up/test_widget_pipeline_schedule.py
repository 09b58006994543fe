"""The explorer of pipeline schedules: numbers by hand, a box for each pass, the words, and the explorer."""

import re

import pytest

from drawn import elements, texts
from tx_helpers.lessons.scaling_up.pipeline_schedule import (
    CHUNKS,
    LEFT,
    MICROBATCHES,
    RANKS,
    WIDE,
    describe,
    divides,
    draw,
    pipeline_explorer,
    run,
    waiting,
)
from tx_helpers.lessons.scaling_up.schedules import bubble, bubble_by_formula
from tx_helpers.show.shapes import BLUE, ORANGE

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


@pytest.mark.parametrize("name", CHUNKS)
def test_each_pass_is_a_box_at_its_time(name):
    picture, found = draw(name, 2, 4), run(name, 2, 4)
    unit = WIDE / run("GPipe", 2, 4).time
    boxes = []
    for group in elements(picture.svg, "g"):
        if group.get("fill") in (BLUE.full, ORANGE.tint):
            kind = "F" if group.get("fill") == BLUE.full else "B"
            boxes += [(kind, float(box.get("x")), float(box.get("width"))) for box in group if box.tag.endswith("rect")]
    spans = sorted(found.spans, key=lambda span: (span.rank, span.action.kind == "B", span.start))
    for box, span in zip(boxes, spans, strict=True):
        expected = (LEFT + unit * span.start, unit * (span.end - span.start))
        assert box[0] == span.action.kind and box[1:] == pytest.approx(expected, abs=0.01)


def test_numbers_stay_where_boxes_are_narrow():
    wide, narrow = (draw("GPipe", *sizes).svg for sizes in ((2, 2), (8, 16)))
    inside = [[one.text for one in elements(svg, "text") if one.get("stroke") == "none"] for svg in (wide, narrow)]
    assert inside[0] == ["0", "1", "1", "0"] * 2 and "rotate" not in wide
    assert (
        len(inside[1]) == 8 * 2 * 16 and narrow.count("rotate") == 8 * 6
    )  # forward passes of two digits stand upright
    assert all(float(size) >= 12.5 for size in re.findall(r'font-size="([\d.]+)"', wide + narrow))


def test_a_microbatch_is_followed_through_all_its_passes():
    for follow, microbatch in ((1, 1), (15, 3)):
        picture, found = draw("1F1B", 2, 4, follow=follow), run("1F1B", 2, 4)
        unit = WIDE / run("GPipe", 2, 4).time
        passes = sorted((span for span in found.spans if span.action.microbatch == microbatch), key=lambda s: s.start)
        edges = [one for one in elements(picture.svg, "rect") if one.get("stroke-width") == "2.4"]
        expected = [pytest.approx(LEFT + unit * span.start, abs=0.01) for span in passes]
        assert [float(edge.get("x")) for edge in edges] == expected and len(edges) == 4
        assert f"microbatch {microbatch} has a thick edge" in texts(picture.svg)


def test_the_picture_says_what_a_rank_keeps():
    picture = draw("interleaved, 2 stages", 4, 8)
    assert [said for said in texts(picture.svg) if " of 8" in said] == [f"≤ {n:g} of 8" for n in (5.5, 4.5, 3.5, 2.5)]
    assert "formula: (p − 1) / (v m + p − 1) = 3 / 19 = 15.8%" in texts(picture.svg)


def test_the_words():
    assert describe("1F1B", 4, 8) == (
        "1F1B, 4 ranks, 8 microbatches: the ranks wait 27.3% of the time (formula: 3 / 11 = 27.3%); rank 0 keeps the "
        "activations of up to 4 microbatches, rank 3 of 1. The batch takes 33 units of time, 24 without waiting, and "
        "48 messages. GPipe: 27.3%, 8 microbatches, 33 units, 48 messages."
    )
    assert describe("GPipe", 8, 1) == (
        "GPipe, 8 ranks, 1 microbatch: the ranks wait 87.5% of the time (formula: 7 / 8 = 87.5%); every rank keeps the "
        "activations of up to 1 microbatch. The batch takes 24 units of time, 3 without waiting, and 14 messages."
    )


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
