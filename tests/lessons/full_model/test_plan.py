"""The drawing of the whole beside each class: what is lit, what is written, and what it says."""

import pytest
from torch import nn

from tx_helpers import plain
from tx_helpers.lessons.full_model.plan import CLASSES, PANEL, SIZE, building_plan, frames, is_lit, is_written

NAMED = [name for name in CLASSES if name != "GPT"]


def test_the_plan_has_the_classes_of_the_model():
    assert all(issubclass(getattr(plain, name), nn.Module) for name in CLASSES)
    assert {frame.kind for frame in frames()} == {*NAMED, "norm", "memory", "output"} - {"Transformer"}


@pytest.mark.parametrize(
    ("following", "lit"),
    [("Embedding", 2), ("Attention", 3), ("FeedForward", 2), ("Block", 7), ("Encoder", 6), ("Decoder", 7), ("GPT", 7)],
)
def test_the_part_that_is_written_next_is_lit_wherever_it_stands(following, lit):
    drawn = building_plan(following)
    assert drawn.svg.count('stroke-width="2.5"') == lit + 2  # two streams
    assert f">Next: {following}<" in drawn.svg and f"Lit: {following}, " in drawn.alt


def test_the_whole_is_lit_at_the_end():
    assert all(is_lit(frame, "Transformer") for frame in frames())
    assert [frame.side for frame in frames(gpt=True) if is_lit(frame, "GPT")] == ["Decoder"] * 7


@pytest.mark.parametrize("following", CLASSES)
def test_what_is_written_is_ticked_and_the_rest_has_a_broken_frame(following):
    drawn, done = building_plan(following), CLASSES[: CLASSES.index(following)]
    places = list(frames(gpt=following == "GPT"))
    assert drawn.svg.count(" ✓<") == sum(is_written(frame, done) for frame in places)
    broken = [frame for frame in places if not is_written(frame, done) and not is_lit(frame, following)]
    assert drawn.svg.count('stroke-dasharray="5 4"') == len(broken)
    assert drawn.alt.endswith(f"Written so far: {', '.join(done) or 'none'}.")


def test_a_norm_and_the_memory_come_with_their_stack():
    done = CLASSES[: CLASSES.index("Decoder")]
    assert {
        (frame.kind, frame.side) for frame in frames() if frame.kind not in CLASSES and is_written(frame, done)
    } == {
        ("norm", "Encoder"),
        ("memory", "Encoder"),
    }


@pytest.mark.parametrize("gpt", [False, True])
def test_no_part_leaves_its_stack_nor_lies_below_the_words(gpt):
    stacks = {frame.side: frame for frame in frames(gpt) if frame.kind == frame.side}
    for frame in frames(gpt):
        outer = stacks[frame.side]
        assert outer.x <= frame.x and frame.x + frame.width <= outer.x + outer.width < PANEL
        assert frame.y + frame.height <= SIZE[1]
        if frame.kind not in ("memory", "output"):
            assert outer.y <= frame.y and frame.y + frame.height <= outer.y + outer.height


def test_an_unknown_class_is_named():
    with pytest.raises(ValueError, match="building_plan: following"):
        building_plan("Translator")
