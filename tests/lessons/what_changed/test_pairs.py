"""Pairs of changes, latents, and experts beside dense models: what was trained, and what the records hold."""

import pytest

from tx_helpers.lessons.what_changed import dense, pairs
from tx_helpers.lessons.what_changed.ladder import ladder_model, train, with_changes
from tx_helpers.lessons.what_changed.specialists import specialist_config
from tx_helpers.nn.models import DecoderOnly, count_parameters
from tx_helpers.training.costs import cache_width


def test_every_recipe_is_another_one_and_was_trained():
    found = pairs.recipes()
    assert len(found) == 12 and found["rotary + Muon"] == with_changes("rotary", "Muon")
    assert all(one != other for name, one in found.items() for also, other in found.items() if name != also)
    losses = pairs.recorded()["losses"]
    assert list(losses) == list(found) and {len(each) for each in losses.values()} == {len(pairs.SEEDS)}


def test_multi_query_and_latents_keep_equally_many_numbers():
    widths = {name: cache_width(recipe.config) for name, recipe in pairs.recipes().items()}
    assert widths["rotary + multi-query"] == widths["rotary + latents"] == 32 and widths["rotary + Muon"] == 128
    sizes = {name: count_parameters(ladder_model(pairs.recipes()[f"rotary + {name}"])) for name in pairs.KEPT}
    assert sizes["multi-query"] < sizes["latents"] < count_parameters(ladder_model(with_changes("rotary")))


def test_the_dense_rivals_are_as_large_as_they_say():
    found = dense.recorded()["models"]
    assert list(found) == list(dense.MODELS) and {len(row["loss"]) for row in found.values()} == {len(dense.SEEDS)}
    for name, (n_experts, width) in dense.MODELS.items():
        model = DecoderOnly(specialist_config(n_experts, width=width, biased=n_experts > 1))
        assert found[name]["parameters"] == count_parameters(model)
    experts, small, large = (found[name] for name in dense.MODELS)
    assert 0 <= experts["active"] - small["parameters"] < 1100 > experts["parameters"] - large["parameters"] >= 0
    assert small["active"] == small["parameters"]


def test_a_record_goes_on_where_it_stopped(monkeypatch):
    trained = []
    monkeypatch.setattr(pairs, "train", lambda recipe, seed: trained.append(seed) or train(recipe, steps=2))
    monkeypatch.setattr(pairs, "recipes", lambda: {"rotary": with_changes("rotary")})
    *_, table = pairs.measure({"about": {}, "losses": {"rotary": [1.0]}})
    assert trained == [1, 2] and table["losses"]["rotary"][0] == 1.0


@pytest.mark.thorough
def test_the_largest_pair_comes_back():
    assert train(with_changes("rotary", "Muon"), seed=0).held_out == pytest.approx(
        pairs.recorded()["losses"]["rotary + Muon"][0], abs=0.06
    )
