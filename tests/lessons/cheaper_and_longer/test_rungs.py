"""Each rung writes the same text; what is recorded names all rungs, and the picture tells their shares."""

import pytest
import torch

from tx_helpers.lessons.cheaper_and_longer.rungs import (
    PRODUCTS,
    QUICKEST,
    CopiedCache,
    measure_both,
    measure_rungs,
    parts,
    recorded,
    rung_model,
    rungs,
    rungs_picture,
)
from tx_helpers.nn.models import count_parameters


def test_each_rung_writes_the_same_text():
    model = rung_model()
    assert 3.1e6 < count_parameters(model) < 3.3e6
    texts = [write(12) for name, write in rungs(model).items() if name != PRODUCTS]
    assert all(torch.equal(text, texts[0]) for text in texts) and len(texts[0]) == 12


def test_a_copied_cache_holds_what_was_appended():
    cache, part = CopiedCache(), torch.randn(1, 2, 3, 4)
    cache.append(part, part)
    keys, values = cache.append(2 * part, part)
    assert len(cache) == 6 and torch.equal(keys, torch.cat([part, 2 * part], dim=-2)) and values.shape == keys.shape


def test_all_shares_are_measured_in_one_run():
    shares = measure_rungs(tokens=2, rounds=1, others={"nothing": lambda tokens: None})
    assert set(shares) == {"nothing", *rungs(rung_model())} and shares[PRODUCTS] == 1
    with pytest.raises(ValueError, match="tokens=0"):
        measure_rungs(tokens=0)


def test_the_parts_of_a_step_and_the_rest_are_all_of_it():
    speeds, shares = measure_both(tokens=4, rounds=2)
    assert set(speeds) == set(rungs(rung_model())) and set(shares) == {PRODUCTS, *parts(rung_model()), "the rest"}
    assert sum(shares.values()) == pytest.approx(1) and min(shares[name] for name in parts(rung_model())) > 0
    assert shares[PRODUCTS] == pytest.approx(speeds[QUICKEST])  # one measurement, said twice
    with pytest.raises(ValueError, match="tokens=0"):
        measure_both(tokens=0)


def test_the_model_is_no_child_of_inference_mode(monkeypatch):
    made = []
    place = "tx_helpers.lessons.cheaper_and_longer.rungs.rungs"
    monkeypatch.setattr(place, lambda model: made.append(model) or rungs(model))
    measure_both(tokens=1, rounds=1)
    assert not any(weight.is_inference() for weight in made[0].parameters())


def test_the_record_names_all_rungs_and_the_picture_tells_them():
    record = recorded()
    assert {"transformers' Llama", "transformers' GPT-2", *rungs(rung_model())} == set(record["shares"])
    assert f"no modules, checked once {record['shares']['no modules, checked once']:.0%}" in repr(rungs_picture(record))
