"""The explorer of a layer on several ranks: pieces, bytes by formula and counted, drawing, words, controls."""

import pytest
import torch

from tx_helpers.lessons.scaling_up.simulated.ranks import simulate
from tx_helpers.lessons.scaling_up.simulated.sharded_count import parts_of, sent_counted, train
from tx_helpers.lessons.scaling_up.simulated.sharded_layer import (
    RANKS,
    TOKENS,
    describe,
    draw,
    sharding_explorer,
    step_of,
)
from tx_helpers.lessons.scaling_up.simulated.sharded_ways import (
    BYTES,
    WAYS,
    D,
    F,
    arrived,
    blocks,
    columns,
    holds,
    most_held,
    routed,
    routed_units,
    rows,
    sent_by_formula,
    shapes_of,
    steps_of,
    summand,
)

RING = "context (ring attention)"
by_way = pytest.mark.parametrize("way", WAYS)

# --- compute ---------------------------------------------------------------------------------------------------------


def test_forms_by_hand():
    """The second of two ranks."""
    assert rows(1, 2) == [(0.5, 0, 0.5, 1, 1, False)] and columns(1, 2) == [(0, 0.5, 1, 0.5, 1, False)]
    assert routed(1, 2) == [(0.25, 0, 0.25, 1, 0, False), (0.75, 0, 0.25, 1, 1, False)]
    assert [piece[:4] for piece in routed_units(1, 2)] == [(0.25, 0.5, 0.25, 0.5), (0.75, 0.5, 0.25, 0.5)]
    assert [piece.owner for piece in arrived(3)(1, 4)] == [1, 0, 3]
    assert [piece[:4] for piece in blocks(2)(1, 4)] == [(0.25, 0.25, 0.25, 0.25), (0.25, 0, 0.25, 0.25)]
    assert summand(1, 2) == [(0, 0, 1, 1, 1, True)]


@by_way
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("tokens", TOKENS)
def test_the_bytes_counted_are_those_of_the_formula(way, ranks, tokens):
    assert sent_counted(way, ranks, tokens) == sent_by_formula(way, ranks, tokens)


def test_the_bytes_in_all_by_hand():
    weights, tokens = 2 * D * F * BYTES, 64 * D * BYTES
    assert sum(sent_by_formula("data", 4, 64)) == 2 * 3 / 4 * weights
    assert sum(sent_by_formula("sharded (FSDP)", 4, 64)) == 3 * 3 / 4 * weights
    assert sum(sent_by_formula("tensor", 4, 64)) == sum(sent_by_formula("sequence", 4, 64)) == 4 * 3 / 4 * tokens
    assert sum(sent_by_formula("expert", 4, 64)) == 3 / 4 * 16 * (4 * D * BYTES + 8)
    assert sum(sent_by_formula(RING, 4, 64)) == 2 * 3 * 2 * tokens / 4


@by_way
def test_on_all_ranks_together_it_is_the_layer_of_one(way):
    """Forward and backward; the parts are cut as the first step says, in the order of the ranks."""
    ranks, tokens = 4, 16
    parts = parts_of(way, ranks, tokens)
    run = simulate(lambda rank, *own: train(way, rank, *own), *parts)
    first = steps_of(way, ranks, tokens)[0].held
    shapes = shapes_of(way, tokens)
    full = [
        torch.randn(shapes[name], generator=torch.Generator().manual_seed(seed)).requires_grad_()
        for seed, name in enumerate(first)
    ]
    if way == RING:
        q, kv = full
        out = torch.softmax(q @ kv[:, :D].T / D**0.5, -1) @ kv[:, D:]
    else:
        x, one, two = full
        hidden = torch.relu(x @ one)
        if way == "expert":
            units, place = torch.arange(F) * ranks // F, torch.arange(tokens) % (tokens // ranks)
            hidden = hidden * (units == (place * ranks // (tokens // ranks))[:, None])
        out = hidden @ two
    out.pow(2).sum().backward()
    found = run.results if steps_of(way, ranks, tokens)[0].held.get("x") is rows or way == RING else run.results[:1]
    close = dict(rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(torch.cat(found), out.detach(), **close)
    for whole, cut, (name, form) in zip(full, parts, first.items(), strict=True):
        gradients = [part.grad.T if name in ("W₁", "W₂") else part.grad for part in cut]
        if form is rows or form is columns:
            together = torch.cat(gradients, dim=0 if form is rows else 1)
        else:  # every rank has all of it; the loss of a mean is that of the sum, divided
            together = gradients[0] * (ranks if way == "data" else 1)
        torch.testing.assert_close(together, whole.grad, **close)


@by_way
def test_every_step_fits(way):
    steps = steps_of(way, 4, 64)
    for step in steps:
        assert bool(step.sent) == bool(step.message) == bool(step.moved), step.title
        assert {name.removeprefix("d ") for name in step.held} <= WAYS[way][1].keys()
        assert set(step.moved) <= step.held.keys()
    last = steps[-1].held
    for name, form in last.items():
        held = [form(rank, 4) for rank in range(4)]
        assert not any(piece.unfinished for own in held for piece in own), name
        area = sum(piece.tall * piece.wide for own in held for piece in own)
        assert area >= (1 / 4 if way == "expert" and "hidden" in name else 1), name  # an expert does not see all tokens


def test_what_a_rank_holds():
    start = {way: holds(way, steps_of(way, 4, 64)[0], 4, 64) for way in WAYS}
    x, weights = 64 * D * BYTES, 2 * D * F * BYTES
    assert start == {
        "data": x / 4 + weights,
        "sharded (FSDP)": (x + weights) / 4,
        "tensor": x + weights / 4,
        "sequence": (x + weights) / 4,
        "expert": (x + weights) / 4,
        RING: 3 * x / 4,
    }
    most = {way: most_held(way, 4, 16) for way in WAYS}
    assert most["sharded (FSDP)"] < most["data"] and most["sequence"] < most["tensor"]


def test_what_is_refused():
    with pytest.raises(ValueError, match="steps_of: way='pipeline', expected one of"):
        steps_of("pipeline", 2, 16)
    with pytest.raises(ValueError, match=r"sent_counted: 8 tokens, .* on 4 ranks, expected equal pieces"):
        sent_counted("data", 4, 8)
    with pytest.raises(ValueError, match="step_of: step=0"):
        step_of("data", 4, 16, 0)


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """Pieces in their owners' colours, summands dashed, all ways below."""
    as_stored(
        gathered=draw("sharded (FSDP)", 4, 64, 2),
        summands=draw("tensor", 2, 16, 2),
        summed=draw("tensor", 4, 64, 3),
        quiet=draw("sharded (FSDP)", 4, 64, 1),
        **{way.split()[0]: draw(way, 2, 16, 99) for way in WAYS},
    )
    assert all(f"{sum(sent_counted(way, 2, 16)):,}" in draw(way, 2, 16, 99).svg for way in WAYS)


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_last_step_follows_the_way():
    explorer = sharding_explorer()
    assert explorer.summary == describe("data", 4, 64, 1)
    explorer.set(way="sharded (FSDP)")
    explorer.set(step=9, ranks=2)
    assert explorer.summary == describe("sharded (FSDP)", 2, 64, 9)
    explorer.set(way=RING)
    assert explorer.values["step"] == 4 and explorer.summary == describe(RING, 2, 64, 4) and explorer.error == ""


@pytest.mark.slow
def test_pages_offer_every_step():
    recording = sharding_explorer().record()
    counted = sum(len(steps_of(way, ranks, 64)) for way in WAYS for ranks in RANKS) * len(TOKENS)
    assert recording.frames == counted and len(recording.data) < 60_000
