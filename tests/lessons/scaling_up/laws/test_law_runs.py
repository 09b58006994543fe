"""The runs of the scaling laws: the models and texts, what a run notes, and the recorded file beside the code."""

from itertools import product

import pytest
import torch

from tx_helpers.lessons.scaling_up.laws import law_runs
from tx_helpers.lessons.scaling_up.laws.law_runs import (
    BASE_WIDTH,
    COUNT,
    LENGTHS,
    RATE_SEEDS,
    RATE_WIDTHS,
    RATES,
    WAYS,
    WIDTHS,
    Stream,
    floors,
    held_out_loss,
    held_out_texts,
    new_model,
    new_texts,
    recorded,
    train_at_rate,
    train_one,
)
from tx_helpers.nn.models import count_parameters
from tx_helpers.text.data import BOS, EOS, IGNORE, PAD
from tx_helpers.text.world import little_world
from wrong_arguments import faults

TABLE = recorded()


@pytest.fixture
def few_held_out(monkeypatch):
    """Losses are measured on 128 texts, which is quick."""
    few = held_out_texts()[:2]
    monkeypatch.setattr(law_runs, "held_out_texts", lambda: few)


def test_every_token_of_a_text_predicts_the_next_one():
    batch = new_texts(5, seed=3)
    ids = batch.input
    lengths = [len(text.split()) + 1 for text in little_world("train").texts(5, seed=3)]  # and the end
    assert ids.shape == batch.target.shape == (5, max(lengths))
    assert (batch.target != IGNORE).sum(-1).tolist() == lengths and batch.scored() == sum(lengths)
    for row, target, length in zip(ids, batch.target, lengths, strict=True):
        assert row[0] == BOS and target[length - 1] == EOS and PAD not in target
        assert torch.equal(row[1:length], target[: length - 1])


def texts_in(batch):
    return {tuple(row[row != IGNORE].tolist()) for row in batch.target}


def test_a_run_draws_new_texts_in_each_step_and_hardly_one_of_those_held_out():
    stream, again = Stream(0), Stream(0)
    first, second = stream(0), stream(1)
    assert stream.tokens == sum(int((batch.target != IGNORE).sum()) for batch in (first, second))
    assert torch.equal(again(0).target, first.target) and first.target.shape[0] == COUNT
    assert first.target.tolist() != second.target.tolist() != Stream(1)(1).target.tolist()
    held_out = set().union(*map(texts_in, held_out_texts()))
    drawn = set().union(*(texts_in(again(step)) for step in range(30)))
    assert len(drawn) > 0.95 * 30 * COUNT and len(held_out) > 1000
    assert len(drawn & held_out) < 0.02 * len(drawn)


def test_a_model_depends_on_width_and_seed_alone():
    one, same, other = new_model(8), new_model(8), new_model(8, seed=1)
    values = [torch.cat([p.flatten() for p in model.parameters()]) for model in (one, same, other)]
    assert torch.equal(values[0], values[1]) and not torch.equal(values[0], values[2])
    V = one.config.vocab_size
    assert count_parameters(new_model(16, tied=False)) - count_parameters(new_model(16)) == 16 * V


@pytest.mark.slow
def test_a_run_notes_its_losses_on_the_way(few_held_out):
    run = train_one(8, 20, on_the_way=(5, 15, 20))
    assert [steps for steps, *_ in run.on_the_way] == [5, 15]
    assert run.on_the_way[0][1] < run.on_the_way[1][1] < run.tokens
    assert run.loss < run.on_the_way[0][2]
    assert run == train_one(8, 20, on_the_way=(5, 15))
    assert run.parameters - run.without_embeddings == 8 * new_model(8).config.vocab_size


@pytest.mark.slow
def test_both_ways_are_the_same_at_the_base_width_and_differ_beyond(few_held_out):
    at_base = [train_at_rate(way, BASE_WIDTH, 0.01, steps=20) for way in WAYS]
    wider = [train_at_rate(way, 2 * BASE_WIDTH, 0.01, steps=20) for way in WAYS]
    assert at_base[0] == at_base[1] and wider[0] != wider[1]


@pytest.mark.slow
def test_the_loss_is_a_mean_over_tokens_and_never_below_the_floor():
    floor, of_held_out = floors()
    assert floor == little_world("train").entropy_per_token()
    assert of_held_out == pytest.approx(floor, rel=0.02)
    model = new_model(8)
    with torch.no_grad():
        model.output.weight.zero_()  # every token is as likely as any other
    assert held_out_loss(model) == pytest.approx(torch.tensor(float(model.config.vocab_size)).log().item())


@pytest.mark.slow
def test_the_file_fits_the_code():
    runs, about, rates = TABLE["runs"], TABLE["about"], TABLE["rates"]
    assert [(one["width"], one["steps"]) for one in runs] == [(w, s) for s, w in product(LENGTHS, WIDTHS)]
    floor, of_held_out = floors()
    assert (about["floor"], about["floor_of_held_out"]) == (round(floor, 4), round(of_held_out, 4))
    for width in WIDTHS:
        assert {one["parameters"] for one in runs if one["width"] == width} == {count_parameters(new_model(width))}
    stream = Stream(about["seed"])
    for step in range(LENGTHS[0]):
        stream(step)
    assert {one["tokens"] for one in runs if one["steps"] == LENGTHS[0]} == {stream.tokens}
    assert all(
        [steps for steps, *_ in one["on_the_way"]] == [steps for steps in law_runs.ON_THE_WAY if steps < one["steps"]]
        for one in runs
    )
    assert rates["rates"] == list(RATES) and rates["seeds"] == list(RATE_SEEDS) and rates["base_width"] == BASE_WIDTH
    assert rates["losses"]["μP"][str(BASE_WIDTH)] == rates["losses"]["one rate"][str(BASE_WIDTH)]
    for way, width in product(WAYS, RATE_WIDTHS):
        assert torch.tensor(rates["losses"][way][str(width)]).shape == (len(RATES), len(RATE_SEEDS))


def test_what_holds_of_any_such_runs():
    losses = {(one["width"], one["steps"]): one["loss"] for one in TABLE["runs"]}
    assert min(losses.values()) > TABLE["about"]["floor_of_held_out"]
    for steps in LENGTHS:
        assert losses[WIDTHS[0], steps] > losses[WIDTHS[-1], steps]
    for width in WIDTHS:
        assert losses[width, LENGTHS[0]] > losses[width, LENGTHS[-1]]
    for one in TABLE["runs"]:  # a rate that has not fallen yet costs something
        if one["steps"] == LENGTHS[-1]:
            way = {steps: loss for steps, _, loss in one["on_the_way"]}
            assert all(way[steps] > losses[one["width"], steps] for steps in LENGTHS[:-1])


@pytest.mark.slow
def test_a_run_made_again_has_the_recorded_loss():
    run = train_one(16, 300)
    found = next(one for one in TABLE["runs"] if (one["width"], one["steps"]) == (16, 300))
    assert run.loss == pytest.approx(found["loss"], rel=0.03)
    assert (run.parameters, run.tokens) == (found["parameters"], found["tokens"])


def test_wrong_arguments_are_named(few_held_out):
    assert faults(lambda width, seed: new_model(width, seed=seed), {"width": 8, "seed": 0}) == []
    with pytest.raises(ValueError, match="new_model: width=12, expected a multiple of 8"):
        new_model(12)
    with pytest.raises(ValueError, match="train_one: steps=19, expected at least 20"):
        train_one(8, 19)
    with pytest.raises(ValueError, match="train_at_rate: way='x', expected"):
        train_at_rate("x", 16, 0.01)
