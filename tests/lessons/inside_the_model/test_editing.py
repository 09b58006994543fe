"""Where a fact is, and what an edit of it changes."""

import pytest
import torch

from tx_helpers.lessons.inside_the_model.editing import (
    EDITING,
    fine_tuned,
    keys,
    rank_one,
    rank_one_edit,
    replaced,
    second_moment,
)
from tx_helpers.lessons.inside_the_model.facts import FACTS, PLACES, SOUND, measure, patched, places_of, rows_of
from tx_helpers.text.world import little_world
from tx_helpers.zoo.world_models import world_model

DOG = FACTS[0]


def test_a_change_of_rank_one_gives_the_value_and_spares_the_common_keys():
    draw = torch.Generator().manual_seed(0)
    W, k, v = (torch.randn(size, generator=draw).double() for size in ((3, 5), (5,), (3,)))
    others = torch.randn(400, 5, generator=draw).double() * torch.tensor([3.0, 1, 1, 0.3, 0.1]).double()
    C = others.T @ others / len(others)
    ours, plain = rank_one(W, k, v, C), rank_one(W, k, v, torch.eye(5).double())
    torch.testing.assert_close(ours @ k, v)
    torch.testing.assert_close(plain @ k, v)
    assert torch.linalg.matrix_rank(ours - W) == 1
    moved, moved_plain = (((new - W) @ others.T).square().sum() for new in (ours, plain))
    assert moved < 0.5 * moved_plain
    with pytest.raises(ValueError, match="rank_one"):
        rank_one(W, k, v, C[:4])


def test_beginnings_of_a_fact_are_the_worlds_and_their_places_right():
    for paraphrase in (False, True):
        rows = rows_of("dog", paraphrase=paraphrase)
        assert all(set(little_world().next_words(" ".join(row))) >= {"barks"} for row in rows)
        assert all(row[at - 1] == "dog" for row, at in zip(rows, places_of(DOG, "subject", rows), strict=True))
        assert all(row[at - 1] == "it" for row, at in zip(rows, places_of(DOG, "last", rows), strict=True))
    assert not set(rows_of("dog")) & set(rows_of("dog", paraphrase=True))
    with pytest.raises(ValueError, match="place"):
        places_of(DOG, "first", rows)


@pytest.mark.slow
def test_patching_finds_the_fact_at_the_last_word_only():
    found = patched(world_model("decoder"), DOG)
    assert all(max(found[f"{kind} at subject"]) < 0.05 for kind in ("self_attention", "feed_forward"))
    assert found["self_attention at last"][0] > 0.9 and found["feed_forward at last"][3] > 0.9


@pytest.mark.slow
def test_an_edit_at_the_last_word_works_and_is_undone_behind_the_block():
    model = world_model("decoder")
    before, weight = measure(model, DOG), model.decoder.blocks[2].feed_forward.contract.weight.clone()
    assert before.fact < 0.05 and before.neighbours > 0.95
    W = rank_one_edit(model, DOG, 2, "last")
    assert torch.linalg.matrix_rank((W - weight).double(), rtol=1e-4) == 1
    with replaced(model, 2, W):
        assert measure(model, DOG).fact > 0.8
    torch.testing.assert_close(model.decoder.blocks[2].feed_forward.contract.weight, weight, atol=0, rtol=0)
    with pytest.raises(ValueError, match="block"):
        rank_one_edit(model, DOG, 4, "last")


@pytest.mark.slow
def test_the_learners_own_update_is_taken():
    model, seen = world_model("decoder"), []

    def update(W, k, v, C):
        seen.append((W.shape, k.shape, v.shape, C.shape))
        return W

    assert torch.equal(
        rank_one_edit(model, DOG, 1, "last", update=update), model.decoder.blocks[1].feed_forward.contract.weight
    )
    assert seen == [((96, 384), (384,), (96,), (384, 384))]


@pytest.mark.slow
def test_fine_tuning_is_a_rival_with_success_and_leaves_the_model_as_it_was():
    model = world_model("decoder")
    weight = model.decoder.blocks[3].feed_forward.contract.weight.clone()
    with replaced(model, 3, fine_tuned(model, DOG, 3)):
        assert measure(model, DOG).fact > 0.9
    torch.testing.assert_close(model.decoder.blocks[3].feed_forward.contract.weight, weight, atol=0, rtol=0)


@pytest.mark.slow
def test_the_second_moment_is_that_of_the_words_and_no_padding():
    model, rows = world_model("decoder"), [("ada", "has", "a", "dog", "."), ("tom",)]
    k = keys(model, 0, rows)
    assert k.shape == (2, 6, 384)
    torch.testing.assert_close(keys(model, 0, rows[1:])[0], k[1, :2], atol=1e-4, rtol=1e-4)
    C = second_moment(model, 0, texts=20)
    torch.testing.assert_close(C, C.T)
    assert torch.linalg.eigvalsh(C.double()).min() > 0


def test_the_record_has_every_fact_and_every_way():
    runs = EDITING.read()["runs"]
    assert {tuple(one["fact"]) for one in runs} == set(FACTS) and {one["seed"] for one in runs} == {0, 1, 2}
    ways = {*(f"rank one at {place}" for place in PLACES), "C = I at last", "fine-tuning"}
    for one in runs:
        assert one["edits"].keys() == ways and one["before"][0] < 0.05 < 0.95 < one["before"][2]
        assert max(one["patched"]["feed_forward at subject"]) < 0.05
    assert len(set(SOUND.values())) == 8
