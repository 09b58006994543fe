"""The ladder: each rung changes what it says and nothing else, and its costs are what PyTorch counts."""

import ast
import importlib
from dataclasses import asdict, fields, is_dataclass

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from notebook_frame import ROOT
from tx_helpers.lessons.what_changed import ladder
from tx_helpers.lessons.what_changed.costs import cache_bytes_per_token, flops_per_token, step_flops
from tx_helpers.lessons.what_changed.ladder import (
    CONTEXT,
    FIRST,
    ROWS,
    Recipe,
    as_of,
    changed,
    ladder_model,
    ladder_text,
    recipes,
    schedule_of,
    train,
    with_changes,
    without,
)
from tx_helpers.lessons.what_changed.rungs import BESIDE, RUNGS
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.nn.parts import Input, Mixer, Output
from tx_helpers.training.loop import Run
from tx_helpers.training.losses import text_loss

V = 53
EVERY = {f"{group}/{name}": recipe for group, named in recipes().items() for name, recipe in named.items()}
each_rung = pytest.mark.parametrize("rung", RUNGS + BESIDE, ids=lambda rung: rung.name)


def flat(part, path="") -> dict:
    """Every field of a recipe and its config, by its path; a part that is handed in is one value."""
    found = {}
    for field in fields(part):
        value, name = getattr(part, field.name), f"{path}{field.name}"
        whole = not is_dataclass(value) or isinstance(value, Input | Output | Mixer)
        found |= {name: value} if whole else flat(value, f"{name}.")
    return found


def differences(one: Recipe, two: Recipe) -> set[str]:
    a, b = flat(one), flat(two)
    return {name for name in a if a[name] != b[name]}


def test_a_rung_changes_its_own_fields_and_no_others():
    names = [FIRST, *(rung.name for rung in RUNGS)]
    for rung, below, name in zip(RUNGS, names, names[1:], strict=False):
        assert differences(as_of(below), as_of(name)) == set(rung.change), name
    for rung in RUNGS + BESIDE:
        moved = differences(as_of(FIRST), with_changes(rung.name))
        assert moved <= set(rung.change) and moved, rung.name


def test_today_without_a_change_differs_in_its_fields_alone():
    today = as_of(RUNGS[-1].name)
    for rung in RUNGS:
        assert differences(today, without(rung.name)) <= set(rung.change)
    assert set(recipes()["without"]) == {rung.name for rung in RUNGS} - {"SwiGLU"}, "ReLU² replaces SwiGLU"


def test_the_first_rung_is_the_decoder_of_2017_and_the_last_has_all_the_writer_uses():
    first, today = flat(as_of(FIRST)), flat(as_of(RUNGS[-1].name))
    expected = {"config.wiring": "post_norm", "config.norm.kind": "layer", "config.positions.kind": "sinusoidal"}
    expected |= {"config.feed_forward.activation": "relu", "config.attention.bias": True, "optimizer": "adam"}
    expected |= {"config.embedding.tied": True, "config.embedding.scale": True, "schedule": "inverse_sqrt"}
    assert {name: first[name] for name in expected} == expected
    from tx_helpers.zoo.recipes import writer_config

    plain, writer = asdict(DecoderOnly(as_of(FIRST).config).config), asdict(writer_config(V))
    ladder_now = asdict(as_of(RUNGS[-1].name).config)
    for part in ("attention", "feed_forward", "positions", "embedding", "init"):
        for name, value in writer[part].items():
            if value != plain[part][name] and name != "std":
                assert ladder_now[part][name] == value, f"the writer has {part}.{name}={value}"
    assert today["optimizer"] == "muon" and today["schedule"] == "linear" and today["weight_decay"] == 0.1


@each_rung
def test_a_rung_names_lines_and_a_test_that_are_there(rung):
    module, _, name = rung.code.rpartition(".")
    assert callable(getattr(importlib.import_module(f"tx_helpers.{module}"), name))
    file, _, test = rung.parity.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert rung.why.endswith(".") and len(rung.why.split()) <= 25
    assert rung.lines.count("\n") + 1 == len(rung.change)


@pytest.mark.parametrize("name", EVERY)
def test_costs_are_what_pytorch_counts(name):
    """One training step with the attention written out: the counter does not know the fused kernel of a CPU."""
    recipe = EVERY[name]
    model = ladder_model(recipe, V)
    for block in model.decoder.blocks:
        block.self_attention.attend = eager_attention
    text = ladder_text()
    options = ladder.training(recipe, model, steps=4, text=text)
    run = Run(model, options.pop("batches"), **options)
    with FlopCounterMode(display=False) as counter:
        run.train_step()
    assert counter.get_total_flops() == pytest.approx(step_flops(recipe, V), rel=0.02)
    assert flops_per_token(recipe, V) * ROWS * CONTEXT == step_flops(recipe, V)


def test_the_cache_is_what_decoding_keeps():
    for name in (FIRST, "grouped queries"):
        model, recipe = ladder_model(as_of(name), V), as_of(name)
        state = model.start(1)
        state.step(torch.arange(5)[None])
        kept = sum(cache.self_attention.keys.nbytes + cache.self_attention.values.nbytes for cache in state.caches)
        assert kept == 5 * cache_bytes_per_token(recipe.config, bytes_each=4)


def test_schedules_rise_to_one_and_only_today_s_ends_near_zero():
    old, new = schedule_of(as_of(FIRST), 200), schedule_of(as_of("decay to zero"), 200)
    for factor in (old, new):
        factors = [factor(step) for step in range(200)]
        assert max(factors) == pytest.approx(1.0, abs=0.01) and factors.index(max(factors)) in (19, 20)
    assert old(199) == pytest.approx((20 / 200) ** 0.5)
    assert new(199) < 0.01


@pytest.mark.slow
def test_training_depends_on_the_seed_alone():
    one, same, other = (train(as_of("bfloat16"), steps=3, seed=seed) for seed in (0, 0, 1))
    assert one.losses == same.losses != other.losses
    assert one.held_out == same.held_out


def test_the_loss_of_a_text_is_that_of_every_character_but_the_first():
    model, ids = ladder_model(as_of(FIRST), V).eval(), ladder_text().held_out[: 3 * CONTEXT + 8]
    total = 0.0
    with torch.no_grad():
        for start in range(0, len(ids) - 1, CONTEXT):
            window = ids[start : start + CONTEXT + 1]
            logits = model(window[None, :-1])[0]
            total += torch.nn.functional.cross_entropy(logits, window[1:], reduction="sum").item()
    assert text_loss(model, ids, CONTEXT) == pytest.approx(total / (len(ids) - 1), rel=1e-5)


def test_wrong_names_are_named():
    with pytest.raises(ValueError, match="ladder: name='rotatory', expected"):
        as_of("rotatory")
    with pytest.raises(ValueError, match="with_changes: name='x', expected"):
        with_changes("x")
    with pytest.raises(ValueError, match="Recipe: optimizer='sgd', expected"):
        changed(Recipe(), {"optimizer": "sgd"})
