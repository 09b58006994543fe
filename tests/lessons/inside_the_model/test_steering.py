"""Steering by a direction, and the recorded findings."""

import pytest
import torch

from tx_helpers.lessons.inside_the_model.steering import (
    SEEDS,
    STEERING,
    STRENGTHS,
    Effect,
    draw,
    mean_difference,
    measure,
    sense_direction,
    states,
    steered,
    steering_explorer,
)
from tx_helpers.lessons.inside_the_model.world_decoder import beginnings, biased, chance, plain_loss, trained
from tx_helpers.nn.capture import capture
from tx_helpers.text.world import little_world
from tx_helpers.zoo.world_models import world_model

SAID = ("tasted", "paid")


def test_a_direction_is_the_way_from_one_mean_to_the_other():
    first, second = torch.tensor([[0.0, 0.0], [2.0, 4.0]]), torch.tensor([[5.0, 5.0]])
    assert mean_difference(first, second).tolist() == [4.0, 3.0]
    with pytest.raises(ValueError, match="mean_difference"):
        mean_difference(first, second[0])


@pytest.mark.slow
def test_beginnings_end_where_the_world_says_one_of_the_words():
    for tale, word in (("cafe", "tasted"), ("job", "paid")):
        rows = beginnings(tale, SAID, 8)
        assert len(rows) == 8
        assert all(little_world("train").next_words(" ".join(row)).keys() == {word} for row in rows)
    with pytest.raises(ValueError, match="count"):
        beginnings("cafe", SAID, 0)


@pytest.mark.slow
def test_states_are_those_of_the_last_word_whatever_stands_behind():
    model, rows = world_model("decoder"), beginnings("cafe", SAID, 4)
    together = states(model, 1, rows)
    for row, state in zip(rows, together, strict=True):
        torch.testing.assert_close(states(model, 1, [row])[0], state, atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="block"):
        states(model, 4, rows)


@pytest.mark.slow
def test_the_direction_flips_the_word_and_a_random_one_does_not():
    model = world_model("decoder")
    way, other = (sense_direction(model, 3, random=random) for random in (False, True))
    torch.testing.assert_close(way.norm(), other.norm())
    plain, with_sense, with_random = (measure(model, steered(3, s * w)) for s, w in ((0, way), (1, way), (1, other)))
    assert plain.tasted > 0.95 and with_sense.paid > 0.9 and with_random.paid < 0.1
    assert with_sense.loss < plain.loss + 0.2
    assert measure(model, start="job").paid > 0.95
    assert plain.loss == pytest.approx(plain_loss(model))  # the edits are gone


@pytest.mark.slow
def test_chance_is_the_mean_over_beginnings():
    model, rows = world_model("decoder"), beginnings("cafe", SAID, 2)
    each = [chance(model, [row], ("tasted",)) for row in rows]
    assert chance(model, rows, ("tasted",)) == pytest.approx(sum(each) / 2, abs=1e-5)
    with biased(model, {"paid": 100.0}):
        assert chance(model, rows, ("paid",)) > 0.99
    assert chance(model, rows, ("tasted",)) == pytest.approx(sum(each) / 2, abs=1e-5)
    with capture(model, "none", edit=steered(3, torch.full((96,), 50.0))):
        assert chance(model, rows, ("tasted",)) < 0.5


def test_what_is_recorded_is_what_the_notebook_says():
    found = STEERING.read()
    one, none = STRENGTHS.index(1.0), STRENGTHS.index(0.0)
    for seed in SEEDS:
        last = [Effect(*effect) for effect in found["sense"][seed][3]]
        rival = [Effect(*effect) for effect in found["random"][seed][3]]
        assert last[one].paid > 0.95 and rival[one].paid < 0.05
        assert abs(last[one].firm - last[none].firm) < 0.1
        assert last[one].loss - last[none].loss < 0.1
        assert all(Effect(*row[none]).tasted > 0.95 for row in found["sense"][seed])
        assert Effect(*found["bias"][seed]).paid > 0.95
        assert Effect(*found["prompt"][seed]).loss == last[none].loss


def test_only_the_models_of_the_record_can_be_had():
    with pytest.raises(ValueError, match="seed"):
        trained(3)


def test_the_explorer_says_what_is_recorded(as_stored):
    explorer = steering_explorer()
    assert "after block 4, model 1: in a cafe p(paid) = 1.00 and p(tasted) = 0.00" in explorer.summary
    explorer.set(way="random")
    assert "a random direction" in explorer.summary and "p(paid) = 0.00" in explorer.summary
    explorer.set(model=2, strength=0.0)
    assert explorer.summary.startswith("Strength 0, a random direction, after block 4, model 3")
    picture = draw(Effect(0.75, 0.2, 0.55, 0.9), Effect(0.0, 1.0, 0.5, 0.6), "Strength 1")
    assert picture.alt == (
        "Strength 1: in a cafe p(paid) = 0.75 and p(tasted) = 0.20; in the third tale p(firm) = 0.55, without it 0.50; "
        "the loss on other texts goes from 0.60 to 0.90."
    )
    as_stored(steering=picture)
