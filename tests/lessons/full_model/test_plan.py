"""The plan of the eight classes: what is written, what is next, and what stands in what."""

import pytest
from torch import nn

from tx_helpers import plain
from tx_helpers.lessons.full_model.plan import CLASSES, building_plan, frames


def test_the_plan_has_the_classes_of_the_model():
    assert all(issubclass(getattr(plain, name), nn.Module) for name in CLASSES)
    assert {name for name, *_ in frames()} == set(CLASSES)


@pytest.mark.parametrize("following", CLASSES)
def test_what_is_written_is_filled_and_what_is_next_has_a_thick_frame(following):
    drawn, names = building_plan(following), [name for name, *_ in frames()]
    done = CLASSES[: CLASSES.index(following)]
    assert drawn.svg.count("✓") == sum(name in done for name in names)
    assert drawn.svg.count('stroke-width="4"') == names.count(following)
    assert drawn.svg.count('stroke-dasharray="5 4"') == sum(name not in done and name != following for name in names)
    assert drawn.alt.endswith(f"Written so far: {', '.join(done) or 'none'}. Next: {following}.")


def test_no_frame_leaves_the_one_around_it():
    boxes = [(x, y, x + width, y + height) for _, _, x, y, width, height in frames()]
    gpt = [name for name, *_ in frames()].index("GPT")
    for outer, *inner in (boxes[:gpt], boxes[gpt:]):
        for x, y, right, bottom in inner:
            assert outer[0] < x and outer[1] < y and right < outer[2] and bottom < outer[3] - 16  # room for the output


def test_an_unknown_class_is_named():
    with pytest.raises(ValueError, match="building_plan: following"):
        building_plan("Translator")
