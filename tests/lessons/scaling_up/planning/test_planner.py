"""Plans: memory by hand and against `training.costs`, bytes against simulated ranks, the best layout."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import properties
from tx_helpers.lessons.scaling_up.planning.cluster import Assumptions, Cluster, Layout, members_inside, why_not
from tx_helpers.lessons.scaling_up.planning.hardware import CHIPS
from tx_helpers.lessons.scaling_up.planning.layout_costs import kept_by_a_block, memory, waiting
from tx_helpers.lessons.scaling_up.planning.planner import best_layouts, layouts, needed_mfu, plan
from tx_helpers.lessons.scaling_up.planning.workload import Training, sizes_of
from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, all_reduce, reduce_scatter
from tx_helpers.lessons.scaling_up.simulated.ranks import simulate
from tx_helpers.lessons.scaling_up.simulated.schedules import bubble_by_formula, in_flight, interleaved
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, NormConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.training import costs
from tx_helpers.zoo.parts.experts import ExpertsConfig
from wrong_arguments import faults


def sized(n_layers, d_model, n_heads, vocab_size=50_257, **network):
    feed_forward = FeedForwardConfig(bias=False, **network)
    heads = AttentionConfig(n_heads, bias=False)
    norm = NormConfig("rms")
    return sizes_of(
        TransformerConfig(vocab_size, d_model, n_layers, attention=heads, feed_forward=feed_forward, norm=norm)
    )


SMALL = sized(12, 768, 12)
MIXED = sized(12, 768, 12, d_ff=512, gated=True, experts=ExpertsConfig(8, 2))
TRAINING = Training(1e9, 1024, 64)
EIGHT = Cluster("A100 80GB", 8)
TWO_NODES = Cluster("H100 SXM", 16)


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("optimizer", "states"), [("adamw", 8), ("sgd", 0)])
def test_memory_is_that_of_the_formulas_that_walk_through_a_model(optimizer, states):
    """In float32, one chip. The walk also counts the sums of the softmax and of the norms: less than 1 % here."""
    config = TransformerConfig(
        *(101, 48, 3),
        attention=AttentionConfig(6, bias=False),
        feed_forward=FeedForwardConfig(activation="gelu", bias=False),
    )
    model = DecoderOnly(config)
    expected = costs.memory(model, 2, 32, optimizer=optimizer)
    numbers = Training(1e6, 32, 2, weight=4, gradient=4, optimizer=states, activation=4)
    found = memory(sizes_of(config), numbers, Layout(rows=2))
    for part in ("weights", "gradients", "optimizer"):
        assert found[part] == pytest.approx(getattr(expected, part), rel=0.01)  # the walk counts the norms' biases
    assert found["activations"] == pytest.approx(expected.activations, rel=0.02)


def test_a_block_keeps_what_korthikanti_counts():
    """s b h (34 + 5 a s / h) / t bytes, with dropout; 34 s b h / t where the scores are computed again."""
    s, b, h, a = 2048, 2, 12_288, 96
    sizes, training = sized(96, h, a, 51_200), Training(300e9, s, 64, dropout=True)
    for t in (1, 8):
        layout = Layout(tensor=t, rows=b)
        assert kept_by_a_block(sizes, training, layout, scores=True) == s * b * h * (34 + 5 * a * s / h) / t
        assert kept_by_a_block(sizes, training, layout, scores=False) == 34 * s * b * h / t


def test_what_each_stage_of_zero_divides():
    """Rajbhandari et al. 2020, figure 1: (2 + 2 + 12) Ψ, and over 8 what the stage shares."""
    training = replace(TRAINING, gradient=2)
    psi = SMALL.parameters
    for stage, expected in enumerate([(2, 2, 12), (2, 2, 12 / 8), (2, 2 / 8, 12 / 8), (2 / 8 + 2 / 12, 2 / 8, 12 / 8)]):
        found = memory(SMALL, training, Layout(data=8, stage=stage))
        assert [found[part] / psi for part in ("weights", "gradients", "optimizer")] == pytest.approx(expected)


@given(
    pipeline=st.integers(1, 6),
    groups=st.integers(1, 4),
    chunks=st.integers(1, 4),
)
@properties
def test_the_first_rank_keeps_what_the_schedule_keeps(pipeline, groups, chunks):
    microbatches = groups * pipeline
    assert waiting(pipeline, microbatches, chunks) == in_flight(interleaved(pipeline, microbatches, chunks))[0]


@given(
    sizes=st.sampled_from([SMALL, MIXED]),
    way=st.sampled_from(["data", "tensor", "pipeline", "context", "expert"]),
    stage=st.integers(0, 3),
    recompute=st.sampled_from(["none", "selective", "full"]),
)
@properties
def test_more_shards_never_need_more_memory(sizes, way, stage, recompute):
    way = "data" if way == "expert" and sizes is SMALL else way
    totals = []
    for n in (1, 2, 4):
        layout = Layout(**{"data": 4, "stage": stage, "recompute": recompute} | {way: n})
        totals.append(sum(memory(sizes, TRAINING, layout).values()))
    assert totals == sorted(totals, reverse=True)
    for higher in range(stage + 1, 4):
        more = memory(sizes, TRAINING, Layout(data=4, stage=higher, recompute=recompute))
        assert sum(more.values()) <= sum(
            memory(sizes, TRAINING, Layout(data=4, stage=stage, recompute=recompute)).values()
        )


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("all_reduce", lambda rank: all_reduce(rank, torch.ones(24))),
        ("all_gather", lambda rank: all_gather(rank, torch.ones(24 // rank.count))),
        ("reduce_scatter", lambda rank: reduce_scatter(rank, list(torch.ones(24).tensor_split(rank.count)))),
    ],
)
@pytest.mark.parametrize("n", [2, 4])
def test_a_collective_takes_as_long_as_the_simulated_ranks_send_bytes(name, call, n):
    """24 floats of 4 bytes; inside a node over the links, and with one rank in a node over the network."""
    sent = sum(simulate(call, count=n).bytes_sent()) / n
    inside, apart = Cluster(CHIPS["A100 80GB"], 8), Cluster(CHIPS["A100 80GB"], 8, node=1)
    assert inside.seconds(name, 96, n, 1) == pytest.approx(sent / inside.chip.link)
    assert apart.seconds(name, 96, n, 1) == pytest.approx(sent / apart.chip.network)


def test_across_nodes_a_collective_has_two_levels():
    chip = TWO_NODES.chip
    assert [members_inside(*group) for group in ((16, 1, 8), (2, 8, 8), (4, 4, 8), (6, 1, 4))] == [8, 1, 2, 3]
    by_hand = 2 * 7 / 8 * 1e9 / chip.link + 2 * 1 / 2 * 1e9 / 8 / chip.network
    assert TWO_NODES.seconds("all_reduce", 1e9, 16, 1) == pytest.approx(by_hand)


def test_the_time_of_a_step_by_hand():
    """Eight chips, each with the whole model; the all-reduce hides behind two thirds of a microbatch."""
    assumed = Assumptions(matmul=0.5, bandwidth=1.0)
    found = plan(SMALL, TRAINING, EIGHT, Layout(data=8, rows=8), assumed)
    tokens, T = 8 * 1024, 1024
    weights, scores = SMALL.met + SMALL.vocab * 768, 12 * 4 * T * 768
    compute = tokens * (6 * weights + 1.75 * scores) / (312e12 * 0.5)
    assert found.seconds["compute"] == pytest.approx(compute)
    sent = 2 * 7 / 8 * 4 * SMALL.parameters / 300e9
    assert found.seconds["data"] == pytest.approx(max(0, sent - 2 / 3 * compute), rel=1e-6)
    assert found.seconds["optimizer"] == pytest.approx(2 * 18 * SMALL.parameters / 2039e9)
    assert found.step == sum(found.seconds.values())
    assert {part for part, seconds in found.seconds.items() if not seconds} >= {
        "tensor",
        "pipeline",
        "context",
        "experts",
    }


def test_the_tensors_messages():
    """Four all-reduces of N D in each block and microbatch; six with full recomputation; half in parallel blocks."""
    once = 12 * 8 * 2 * 3 / 4 * 1024 * 768 * 2 / 300e9 / 0.8
    for sizes, recompute, times in (
        (SMALL, "selective", 4),
        (SMALL, "full", 6),
        (replace(SMALL, parallel=True), "none", 2),
    ):
        found = plan(sizes, TRAINING, EIGHT, Layout(data=2, tensor=4, rows=4, recompute=recompute))
        assert found.seconds["tensor"] == pytest.approx(times * 4 * once)


@given(pipeline=st.sampled_from([2, 4]), chunks=st.sampled_from([1, 2]), rows=st.sampled_from([1, 2, 4]))
@properties
def test_the_bubble_is_that_of_the_schedules(pipeline, chunks, rows):
    layout = Layout(data=8 // pipeline, pipeline=pipeline, chunks=chunks, rows=rows)
    found = plan(SMALL, TRAINING, EIGHT, layout)
    parts = found.seconds
    whole = sum(parts[part] for part in parts if part not in ("data", "optimizer"))
    expected = bubble_by_formula(pipeline, layout.microbatches(TRAINING), chunks)
    assert parts["bubble"] / whole == pytest.approx(expected)


def test_the_experts_messages():
    """N D to 2 of the experts of 4 chips and back, forward and backward, in each block; then over two nodes."""
    found = plan(MIXED, TRAINING, EIGHT, Layout(data=8, expert=4))
    a_layer = 4 * 1024 * 768 * 2
    assert found.seconds["experts"] == pytest.approx(8 * 12 * a_layer * 2 * 3 / 4 / 300e9 / 0.8)
    apart = plan(MIXED, TRAINING, Cluster("A100 80GB", 8, node=2), Layout(data=8, expert=4))
    assert apart.seconds["experts"] == pytest.approx(8 * 12 * a_layer * 2 * 1 / 2 / 25e9 / 0.8)


def test_attention_hides_the_ring_if_the_parts_are_long():
    hidden, shown = (
        plan(SMALL, Training(1e9, length, 2), TWO_NODES, Layout(data=2, context=8)).seconds["context"]
        for length in (131_072, 1024)
    )
    assert hidden == 0 < shown


# --- plans ------------------------------------------------------------------------------------------------------------


def test_a_plans_figures_belong_together():
    found = plan(SMALL, TRAINING, EIGHT, Layout(data=8, rows=8), Assumptions(watts=500, dollars=2, pue=1.2, carbon=0.5))
    assert found.fits and found.tokens_per_second == pytest.approx(64 * 1024 / found.step)
    assert found.days * 86_400 == pytest.approx(1e9 / found.tokens_per_second)
    assert found.chip_hours == pytest.approx(found.days * 24 * 8) and found.dollars == pytest.approx(
        2 * found.chip_hours
    )
    assert found.kwh == pytest.approx(found.chip_hours * 0.5 * 1.2) and found.carbon == pytest.approx(0.5 * found.kwh)
    assert found.mfu == pytest.approx(SMALL.flops(1024) * found.tokens_per_second / 8 / 312e12)
    assert needed_mfu(SMALL, TRAINING, EIGHT, found.days) == pytest.approx(found.mfu)
    assert found.causal_mfu < found.mfu < 1 and found.bubble == 0


def test_hfu_counts_what_is_computed_again():
    """Four passes in place of three, but for the output layer, which is not recomputed, and the masked scores."""
    full = plan(SMALL, TRAINING, EIGHT, Layout(data=8, recompute="full"))
    scores, matrices = 2 * 1024 * SMALL.score_width, 2 * SMALL.met
    output = 2 * SMALL.vocab * 768
    expected = (4 * matrices + 2.25 * scores + 3 * output) / (3 * (matrices + scores + output))
    assert full.hfu / full.mfu == pytest.approx(expected)
    none = plan(SMALL, TRAINING, EIGHT, Layout(data=8, recompute="none"))
    assert none.hfu == pytest.approx(none.mfu)


def test_what_nobody_publishes_is_none():
    found = plan(SMALL, TRAINING, Cluster("TPU v5p", 8), Layout(data=8))
    assert found.kwh is None and found.carbon is None and found.dollars > 0
    assert plan(SMALL, TRAINING, Cluster("V100", 8), Layout(data=8)).dollars is None


@pytest.mark.parametrize("training", [TRAINING, replace(TRAINING, weight=4, gradient=2)])
def test_the_best_layout_is_the_fastest_that_fits(training):
    """Of all stages, too: where the weights are the larger numbers, not even the optimizer's are shared."""
    many = Cluster(CHIPS["RTX 4090"]._replace(memory=3 * 2**30), 8, node=2)
    best = best_layouts(SMALL, training, many, count=3)
    everything = [
        plan(SMALL, training, many, replace(layout, stage=stage))
        for layout in layouts(SMALL, training, many)
        for stage in range(4)
    ]
    fitting = [one for one in everything if one.fits]
    assert 100 < len(fitting) < len(everything)
    assert best[0].step == min(one.step for one in fitting)
    assert [one.step for one in best] == sorted(one.step for one in best)


def test_a_small_model_needs_neither_tensor_nor_pipeline():
    found = best_layouts(SMALL, TRAINING, EIGHT)[0].layout
    assert found.data == 8 and found.tensor == found.pipeline == 1


def test_a_model_that_fits_nowhere_has_no_layout():
    huge = sized(96, 12_288, 96)
    assert best_layouts(huge, TRAINING, EIGHT) == []


def test_experts_are_spread_where_a_chip_cannot_hold_them():
    many = sized(24, 2048, 16, d_ff=4096, gated=True, experts=ExpertsConfig(64, 2))
    found = best_layouts(many, Training(1e9, 2048, 64), Cluster("H100 SXM", 16))[0]
    assert found.fits and found.layout.expert > 1


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (Layout(data=4), "4 chips in the layout, but 8 in the cluster"),
        (Layout(tensor=8), "12 heads cannot be cut into tensor=8 equal parts"),
        (Layout(pipeline=8, chunks=2), "pipeline=8 with chunks=2 for 12 layers"),
        (Layout(data=8, rows=16), "a batch of 64 cannot be cut into data·rows=128 equal parts"),
        (Layout(data=8, chunks=2), "chunks=2 without a pipeline"),
        (Layout(pipeline=4, data=2, rows=16, chunks=2), "2 microbatches are no multiple of pipeline=4, which chunks=2"),
        (Layout(data=8, expert=2), "expert=2, but the model has no experts"),
    ],
)
def test_a_layout_that_cannot_be_is_named(layout, said):
    assert why_not(SMALL, TRAINING, EIGHT, layout).startswith(said)
    with pytest.raises(ValueError, match="plan: "):
        plan(SMALL, TRAINING, EIGHT, layout)


def test_other_layouts_that_cannot_be():
    assert why_not(SMALL, TRAINING, Cluster("A100 80GB", 4, node=2), Layout(tensor=4)).startswith(
        "tensor=4, but a node has 2"
    )
    assert why_not(SMALL, replace(TRAINING, length=1000), Cluster("A100 80GB", 16), Layout(context=16)).startswith(
        "1000 tokens"
    )
    assert why_not(MIXED, TRAINING, Cluster("A100 80GB", 6), Layout(data=2, pipeline=3, expert=4)).startswith(
        "data=2 cannot"
    )
    assert why_not(MIXED, TRAINING, Cluster("A100 80GB", 16), Layout(data=16, expert=16)).startswith(
        "expert=16 parts of 8"
    )


def test_layouts_are_said_in_words():
    assert str(Layout()) == "one chip, ZeRO stage 0, recompute the scores of attention"
    assert str(Layout(4, 1, 8, 2, 3, 1, 2, 4, "full")) == (
        "tensor 8, pipeline 2, data 4, stages of a rank 3, experts 2, texts at once 4, ZeRO stage 1, "
        "recompute every block"
    )


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (plan, dict(sizes=SMALL, training=TRAINING, cluster=EIGHT, layout=Layout(data=8), assumed=Assumptions())),
        (needed_mfu, dict(sizes=SMALL, training=TRAINING, cluster=EIGHT, days=3.0)),
        (best_layouts, dict(sizes=SMALL, training=TRAINING, cluster=EIGHT, count=2)),
        (Layout, dict(data=2, stage=1, rows=3, recompute="full")),
        (Cluster, dict(chip="V100", count=4, node=2)),
        (Assumptions, dict(matmul=0.5, pue=1.1, carbon=0.4, watts=300.0)),
    ],
)
def test_a_wrong_argument_is_named(call, arguments):
    assert faults(call, arguments) == []


def test_nothing_takes_no_time():
    found = plan(SMALL, TRAINING, EIGHT, Layout(data=8))
    assert all(math.isfinite(seconds) and seconds >= 0 for seconds in found.seconds.values())
