"""The lesson's explorers: their numbers against formulas, their words against the numbers."""

import re

import pytest
import torch

from tx_helpers.lessons.feed_forward import block_depth, ffn_memory, norms, stream
from tx_helpers.lessons.feed_forward.block_depth import Depth, Setting, depth_explorer
from tx_helpers.lessons.feed_forward.ffn_memory import Memory, mean_by_word, memories, written
from tx_helpers.lessons.feed_forward.norms import norm_explorer, normalise
from tx_helpers.text.data import sequence_batch
from tx_helpers.zoo.recipes import train_translator

PAIRS = [(n, en, de) for n, en, de in ((1, "one", "eins"), (2, "two", "zwei"), (21, "twenty-one", "ein und zwanzig"))]


@pytest.fixture(scope="module")
def translator():
    return train_translator(PAIRS, steps=2, progress=False)


# ------------------------------------------------------------------------------------------------------------- compute


def test_the_norms_are_those_worked_out_by_hand():
    layer, rms = normalise("LayerNorm", [1, 0, 0, 0]), normalise("RMSNorm", [3, -4, 0, 0])
    assert layer.after == pytest.approx([3**0.5, *[-(3**-0.5)] * 3], abs=1e-3)
    assert (layer.mean, layer.size) == pytest.approx((0.25, (3 / 16) ** 0.5), abs=1e-4)
    assert rms.after == pytest.approx([1.2, -1.6, 0, 0], abs=1e-4)
    assert (rms.mean, rms.size) == pytest.approx((0.0, 2.5), abs=1e-4)
    with pytest.raises(ValueError, match="kind='BatchNorm', expected one of LayerNorm, RMSNorm"):
        normalise("BatchNorm", [1, 2])


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
def test_the_size_is_that_of_the_numbers_without_epsilon(kind):
    numbers = [1.5, 1.5, 1.5, 1.5] if kind == "LayerNorm" else [0.0, 0.0, 0.0, 0.0]
    seen = normalise(kind, numbers)
    assert seen.size == 0.0 and seen.after == [0.0] * 4
    assert " 0.000 (with ε under the root: 0.003): [0.000, " in norms.describe(kind, seen)


def test_depth_tells_the_ratio_and_where_tokens_are_alike():
    seen = Depth([2.0, 1.0, 4.0], [0.3, 0.9, 0.995, 1.0])
    assert (seen.ratio, seen.alike_from) == (0.5, 2)
    assert Depth([1.0], [0.3, 0.9]).alike_from is None


def test_activations_are_averaged_word_by_word():
    activation = torch.tensor([[1.0, 0.0], [3.0, 4.0], [5.0, 6.0]])
    expected = torch.tensor([[0.0, 0.0], [5.0, 6.0], [2.0, 2.0]])
    assert torch.equal(mean_by_word(activation, torch.tensor([2, 2, 1]), 3), expected)


def test_what_a_unit_writes_is_its_value_through_norm_and_output(translator):
    model = translator.model
    values = torch.randn(64, 5)
    found = written(model, values)
    gain, table = model.decoder.norm.weight.detach().double(), model.output.weight.detach().double()
    for unit in range(5):
        value = values[:, unit].double()
        logits = table @ ((value - value.mean()) * gain)
        torch.testing.assert_close(found[:, unit], logits - logits.mean(), rtol=0, atol=1e-10)


def test_memories_hold_every_layer_and_only_decoders_write(translator):
    found = memories(translator, PAIRS)
    assert {layer: memory.writes is None for layer, memory in found.items()} == {
        "decoder.blocks.0": False,
        "decoder.blocks.1": False,
        "encoder.blocks.0": True,
        "encoder.blocks.1": True,
    }
    memory = found["encoder.blocks.0"]
    assert memory.fires.shape == (len(translator.data.source_tokenizer), 256)
    assert sorted(memory.order) == list(range(256))
    assert (memory.fires[0] == 0).all()  # padding is no word


# ---------------------------------------------------------------------------------------------------------------- draw


def test_the_words_of_a_unit_name_what_fires_it_and_what_it_writes():
    fires = torch.tensor([[0.1], [2.0], [1.0], [0.0]])
    writes = torch.tensor([[0.5], [-0.7], [0.2], [-0.1]])
    memory = Memory("decoder.blocks.1", "abcd", "wxyz", fires, torch.tensor([0.25]), writes)
    assert ffn_memory.describe(memory, 0) == (
        "Unit 0 of decoder block 2: on at 25% of positions; fired most by b 2.0, c 1.0, a 0.1; "
        "it raises w, y and lowers x, z."
    )
    silent = Memory("encoder.blocks.0", "abcd", "wxyz", 0 * fires, torch.tensor([0.0]), None)
    assert "fired most by no word; it writes into the encoder's memory." in ffn_memory.describe(silent, 0)


def test_what_is_drawn_and_said(as_stored):
    """A verdict holds both answers, the setting before stays as a ghost; bars go up and down with their numbers."""
    now, before, seen = (
        Setting("pre-norm", False, 2),
        Setting("post-norm", True, 3),
        Depth([2.0, 4.0], [0.3, 0.5, 0.999]),
    )
    as_stored(
        depth=block_depth.draw(now, seen),
        ghost=block_depth.draw(now, seen, before, Depth([1.0, 2.0, 4.0], [0.3, 0.4, 0.5, 0.6])),
        layer=norms.draw("LayerNorm", normalise("LayerNorm", [2.0, -1.0, 0.5]), factor=2.0),
        rms=norms.draw("RMSNorm", normalise("RMSNorm", [1, 1, 1]), 6),
    )


def test_the_ghost_is_the_last_setting_and_drawing_again_keeps_it():
    depth = depth_explorer()
    assert "Before" not in depth.summary
    depth.set(residual=False)
    assert "Before: 24 blocks, pre-norm, with residual" in depth.summary
    depth.redraw()
    assert "Before: 24 blocks, pre-norm, with residual" in depth.summary
    depth.set(depth=6)
    assert "Before: 24 blocks, pre-norm, without residual" in depth.summary


def test_the_way_of_layernorm_leads_to_the_plane_and_then_to_the_sphere():
    seen = normalise("LayerNorm", [2.5, 0.0, 1.0])
    plane, end = norms.on_the_way(seen, norms.STEPS), norms.on_the_way(seen, 2 * norms.STEPS)
    assert norms.on_the_way(seen, 0).tolist() == seen.before
    assert plane.sum() == pytest.approx(0, abs=1e-12)
    assert plane - seen.before == pytest.approx([-7 / 6] * 3, abs=1e-12)  # along (1, 1, 1)
    assert end.tolist() == pytest.approx(seen.after, abs=1e-12)
    assert (end @ end, plane @ end) == pytest.approx((3, (3 * plane @ plane) ** 0.5), abs=1e-3)  # only longer
    assert norms.describe("LayerNorm", seen, norms.STEPS) == (
        "LayerNorm of [2.50, 0.00, 1.00]: in the plane of mean 0: mean 0.000, length 1.780."
    )


def test_x_is_dragged_in_the_plane_of_the_screen_and_by_its_bars():
    seen, onto = normalise("LayerNorm", [2.0, 0.0, 1.0]), norms.view(-30.0)
    drawn = norms.draw("LayerNorm", seen, factor=2.0).svg
    tip = {name: (float(x), float(y)) for name, x, y in re.findall(r"(x\d):(\S+):(\S+?)[ \"]", drawn)[:3]}
    right, down = (onto @ [2 * tip[name][n] for name in ("x1", "x2", "x3")] for n in (0, 1))
    assert right * norms.UNIT == pytest.approx([1, 0], abs=1e-3)  # one pixel, times the factor 2
    assert down * norms.UNIT == pytest.approx([0, -1], abs=1e-3)
    assert re.findall(r'data-drags="(\w+):0.00000:(\S+)"', drawn) == [(f"x{n}", "-0.02193") for n in (1, 2, 3)]


def test_a_drag_moves_sliders_by_their_steps_and_not_beyond_their_ends():
    explored = norm_explorer()
    explored._clicked(None, {"drags": None}, [])
    explored._clicked(None, {"drags": {"x1": -0.26, "turn": 7.4}}, [])
    assert (explored.values["x1"], explored.values["turn"]) == (2.2, -25)
    explored._clicked(None, {"drags": {"x1": 9.0, "turn": 0.0}}, [])  # since it was taken
    assert (explored.values["x1"], explored.values["turn"]) == (3.0, -30)


def test_the_circle_is_in_the_plane_and_on_the_sphere_and_the_view_keeps_lengths():
    points = norms.circle()
    assert abs(points.sum(1)).max() < 1e-12
    assert abs((points**2).sum(1) - 3).max() < 1e-12
    onto = norms.view(-30.0)
    assert abs(onto @ onto.T - [[1, 0], [0, 1]]).max() < 1e-12
    assert onto[:, 2] == pytest.approx([0, 0.9397], abs=1e-4)  # x3 goes straight up, seen from 20 degrees above


@pytest.mark.parametrize("vector", [(2.5, 0.0, 1.0), (-9.0, 9.0, -9.0), (0.0, 0.0, 0.0)])
def test_the_drawing_in_space_stays_in_its_panel(vector):
    for kind in norms.KINDS:
        body = norms.in_space(kind, normalise(kind, vector), 2 * norms.STEPS, -30.0).body
        spots = re.findall(r'points="([^"]+)"', body) + [
            f"{x},{y}" for x, y in re.findall(r'x2="(\S+)" y2="(\S+)"', body)
        ]
        xs, ys = zip(*(map(float, spot.split(",")) for spot in " ".join(spots).split()), strict=True)
        assert 0 <= min(xs) <= max(xs) <= norms.SPACE[0]
        assert 20 <= min(ys) <= max(ys) <= norms.SPACE[1]


def test_the_stream_is_the_sum_of_what_was_added_and_ends_in_the_logits(translator):
    found = stream.run(translator, PAIRS)
    assert found.parts[3] == "decoder.blocks.1.self_attention"
    torch.testing.assert_close(found.states[3], found.states[0] + found.updates[:3].sum(0))
    batch = sequence_batch(translator.data.encode([pair[-2:] for pair in PAIRS]))
    with torch.no_grad():
        logits = translator.model(batch.source, batch.decoder_input)
    torch.testing.assert_close(found.said[-1], logits.softmax(-1))
    left_out = stream.run(translator, PAIRS, "decoder.blocks.0.feed_forward")
    assert left_out.updates[2].abs().max() == 0
    torch.testing.assert_close(left_out.states[2], left_out.states[3])


def test_the_share_that_is_right_and_the_lengths_leave_padding_out():
    said = torch.tensor([[[[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.9, 0.1, 0.0]]]])  # (1, B, T, V)
    states = torch.tensor([[[[3.0, 4.0], [0.0, 1.0], [9.0, 9.0]]]])
    found = stream.Stream(["a"], states, states, said, torch.tensor([[2, 1, 0]]))
    assert found.right() == [0.5]
    assert found.lengths() == ([3.0], [3.0])


def test_the_stream_is_drawn_with_what_it_says(translator):
    drawn = stream.stream_drawing(translator, PAIRS)
    assert drawn.svg.count(">self-attention<") == drawn.svg.count(">feed-forward<") == 2
    explored = stream.stream_explorer(translator, PAIRS[2])
    assert explored.summary.startswith("After 'ein und zwanzig' comes '<eos>'. The stream says: embedding ")
    explored.set(without="decoder.blocks.1.cross_attention", position=1)
    assert explored.error == ""
    assert explored.summary.startswith("After '<bos>' comes 'ein'.")
    assert explored._bundle["image/svg+xml"].count("left out") == 1


# ---------------------------------------------------------------------------------------------------------------- bind


def test_the_explorers_answer_their_questions():
    normed = norm_explorer()
    assert "[1.298, -1.136, -0.162]. The mean is now 0.000, the length √3." in normed.summary
    normed.set(shift=1.0)
    assert "[1.298, -1.136, -0.162]" in normed.summary
    normed.set(move=6)
    assert "on the way to the plane: mean 1.083" in normed.summary
    normed.set(kind="RMSNorm", move=24)
    assert "[1.460, 0.417, 0.834]. The mean is now 0.904, the length √3." in normed.summary
    depth = depth_explorer()
    assert "never alike" in depth.summary
    depth.set(residual=False)
    assert re.search(r"from block [23] on", depth.summary)
