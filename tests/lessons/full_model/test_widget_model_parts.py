"""The lesson's explorer: parts of the model on a map."""

from xml.etree import ElementTree

import pytest
import torch

from drawn import SVG, texts
from parity import D, F, H, V
from toy_models import model as toy
from tx_helpers import plain
from tx_helpers.lessons.full_model.model_map import ModelMap, places
from tx_helpers.lessons.full_model.model_parts import (
    Part,
    draw,
    letters,
    names,
    parts_explorer,
    source_lines,
    spelt,
    trace,
)
from tx_helpers.nn.config import EmbeddingConfig
from tx_helpers.nn.layers import FeedForward
from tx_helpers.nn.models import EncoderDecoder, count_parameters
from tx_helpers.show.shapes import card, words

B, S, T = 2, 5, 6  # no two of the legend's sizes are the same
SOURCE_V = 17
SOURCE, TARGET = torch.randint(1, 9, (B, S)), torch.randint(1, 9, (B, T))
K = D // H
CROSS = "decoder.blocks.0.cross_attention"


@pytest.fixture(scope="module")
def model():
    return toy(EncoderDecoder, source_vocab_size=SOURCE_V, n_layers=2)


@pytest.fixture(scope="module")
def parts(model):
    return trace(model, SOURCE, TARGET)


# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_parts_of_a_decoder_block_and_their_names(model):
    found = names(model)
    assert [
        (path.removeprefix("decoder.blocks.0"), name) for path, name in found.items() if "decoder.blocks.0" in path
    ] == [
        ("", "decoder block 1"),
        (".self_attention_norm", "decoder block 1 › norm of self-attention"),
        (".self_attention", "decoder block 1 › self-attention"),
        (".cross_attention_norm", "decoder block 1 › norm of cross-attention"),
        (".cross_attention", "decoder block 1 › cross-attention"),
        (".feed_forward_norm", "decoder block 1 › norm of feed-forward"),
        (".feed_forward", "decoder block 1 › feed-forward"),
    ]
    assert [path for path in found if "blocks" not in path] == [
        *("encoder", "encoder.input.tokens", "encoder.input.positions", "encoder.norm"),
        *("decoder", "decoder.input.tokens", "decoder.input.positions", "decoder.norm", "output"),
    ]


def test_only_parts_that_are_there_are_named_and_of_many_blocks_two():
    rotary = toy(EncoderDecoder, "rotary, halves", n_layers=3, wiring="post_norm")
    found = names(rotary)
    assert not {"encoder.input.positions", "encoder.norm", "decoder.blocks.2"} & set(found)
    assert {"encoder.blocks.1", "decoder.blocks.1.feed_forward"} <= set(found)
    assert trace(rotary, SOURCE, TARGET)["decoder.blocks.1"].output == (B, T, D)


def test_shapes_of_cross_attention(parts):
    part = parts[CROSS]
    assert part.inputs == {"x": (B, T, D), "memory": (B, S, D), "mask": (B, 1, 1, S)}
    assert part.inside == {
        **{"queries": (B, H, T, K), "keys": (B, H, S, K), "values": (B, H, S, K)},
        **{"scores": (B, H, T, S), "weights": (B, H, T, S), "heads": (B, H, T, K)},
    }
    assert part.output == (B, T, D)


def test_shapes_of_the_ends(parts):
    assert parts["encoder.input.tokens"].inputs == {"input": (B, S)}
    assert parts["encoder"].output == (B, S, D)
    assert parts["decoder"].inputs == {"ids": (B, T), "memory": (B, S, D), "memory_mask": (B, 1, 1, S)}
    assert parts["decoder.blocks.1.feed_forward"].inside == {"activation": (B, T, F)}
    assert parts["output"].output == (B, T, V)


def test_parameters_are_counted_in_the_module(model, parts):
    assert parts["encoder"].parameters + parts["decoder"].parameters == count_parameters(model)
    assert parts["decoder.blocks.0.feed_forward"].parameters == 2 * D * F + F + D
    assert parts["encoder.input.positions"].parameters == 0
    assert parts["output"].parameters == V * D and parts["output"].shared == "decoder › embedding"
    untied = toy(EncoderDecoder, embedding=EmbeddingConfig(tied=False))
    assert trace(untied, SOURCE, TARGET)["output"].shared == ""


def test_a_table_that_both_sides_share_is_seen_on_each_side():
    parts = trace(toy(EncoderDecoder), SOURCE, TARGET)
    assert [parts[f"{side}.input.tokens"].output for side in ("encoder", "decoder")] == [(B, S, D), (B, T, D)]


def test_the_model_is_left_as_it_was(model):
    before = model(SOURCE, TARGET)
    trace(model, SOURCE, TARGET)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert torch.equal(model(SOURCE, TARGET), before)


def test_a_letter_only_where_the_size_means_one(model):
    assert letters(model, SOURCE, TARGET) == {B: "B", S: "S", T: "T", D: "D", H: "H", K: "K", F: "F", V: "V"}
    assert letters(model, SOURCE, TARGET[:, :S]).get(S) is None  # S = T: which of the two?
    assert letters(model, SOURCE[:1], TARGET).get(1) is None  # 1 is also an axis to be broadcast
    assert spelt((2, 1, 7), {2: "B", 7: "T"}) == "(B, 1, T) = (2, 1, 7)"
    assert spelt((3,), {3: "T"}) == "(T,) = (3,)"
    assert spelt((9, 8), {}) == "(9, 8)"


def test_the_source_is_the_forward_without_its_docstring():
    assert source_lines(plain.FeedForward) == [
        "def forward(self, x):",
        "    return self.contract(self.expand(x).relu())",
    ]
    lines = source_lines(plain.Attention)
    assert lines[0] == "def forward(self, x, memory, mask):" and lines[-1] == "    return self.output(heads)"
    assert not [line for line in lines if '"""' in line]


def test_the_source_is_the_learners_own(model):
    class Block(plain.Block):
        def forward(self, *given):
            return super().forward(*given)

    own = plain.Transformer(9, 9, D, H, F, n_layers=2)
    own.encoder.blocks[0].__class__ = Block
    parts = trace(model, SOURCE, TARGET, own)
    written = {path: part.written for path, part in parts.items()}
    assert (
        written["encoder.blocks.0"] is written["encoder.blocks.0.feed_forward_norm"] is Block
    )  # PyTorch's stands there
    assert written["encoder.input.tokens"] is written["encoder.input.positions"] is plain.Embedding
    assert written["encoder.norm"] is plain.Encoder and written["output"] is plain.Transformer
    assert "return super().forward(*given)" in texts(draw(parts["encoder.blocks.0"], {}, 1).svg)


def test_ours_stands_in_for_a_source_that_is_nowhere():
    made = {"nn": torch.nn}
    exec("class Encoder(nn.Module):\n    def forward(self):\n        pass", made)
    assert source_lines(made["Encoder"]) == source_lines(plain.Encoder)


def test_a_long_source_is_cut_and_says_so(monkeypatch):
    whole = source_lines(plain.Encoder)
    monkeypatch.setattr("tx_helpers.lessons.full_model.model_parts.MOST_LINES", 2)
    assert source_lines(plain.Encoder) == [*whole[:2], "… and 3 more lines"]


# --- draw ------------------------------------------------------------------------------------------------------------


def test_the_card_says_what_goes_in_and_what_comes_out(as_stored, model, parts):
    as_stored(cross=draw(parts[CROSS], letters(model, SOURCE, TARGET), count_parameters(model)))


def test_everything_on_the_card_lies_within_it(model, parts):
    letter = letters(model, SOURCE, TARGET)
    for part in parts.values():
        root = ElementTree.fromstring(draw(part, letter, 1000).svg)
        width, height = (float(root.get(name)) for name in ("width", "height"))
        for text in root.iter(f"{SVG}text"):
            x, y = float(text.get("x")), float(text.get("y"))
            mono = 0.61 * float(text.get("font-size")) * len(text.text)
            reach = x + mono if text.get("font-family") and text.get("text-anchor") == "start" else x
            assert x > 0 and reach < width and 0 < y < height, (part.name, text.text)


@pytest.mark.parametrize("hostile", ["<img src=x onerror=alert(1)>", "</svg><script>alert(1)</script>", "\0\"'&"])
def test_no_text_becomes_markup(hostile):
    picture = card(100, 50, [words(1, 1, hostile)], alt=hostile)
    root = ElementTree.fromstring(picture.markup())
    assert [element.tag.split("}")[1] for element in root.iter()] == ["svg", "style", "rect", "text"]
    assert texts(picture.markup()) == [hostile.replace("\0", "")]
    drawn = draw(Part(hostile, FeedForward(D, F), plain.FeedForward, {hostile: (1,)}, {}, (1,)), {}, 1)
    assert "<script" not in drawn.markup() and "<img" not in drawn.markup()


# --- the map ---------------------------------------------------------------------------------------------------------


def test_every_part_has_its_place_and_none_covers_another(model):
    found = places(names(model))
    assert sorted(place["value"] for place in found) == sorted(names(model))
    box = {p["value"]: (p["x"], p["y"], p["x"] + p["width"], p["y"] + p["height"]) for p in found}
    for a, (ax, ay, ar, ab) in box.items():
        for b, (bx, by, br, bb) in box.items():
            inside = b.startswith(f"{a}.") and ax <= bx and ay + 20 <= by and br <= ar and bb <= ab
            outside = br <= ax or ar <= bx or bb <= ay or ab <= by
            assert a == b or inside or outside or a.startswith(f"{b}."), (a, b)
    order = [place["value"] for place in found]  # a frame is drawn before what stands in it
    assert all(order.index(path) > order.index(path.rpartition(".")[0]) for path in order if path.count(".") == 3)


def test_the_map_and_the_list_move_together(model):
    explorer = parts_explorer(model, SOURCE, TARGET)
    plan, choice = explorer.controls["plan"], explorer.controls["part"]
    assert isinstance(plan, ModelMap) and plan.value == choice.value == CROSS
    plan.value = "encoder.norm"  # what a click does
    assert choice.value == "encoder.norm" and explorer.summary.startswith(
        "encoder › last norm receives input (B, S, D)"
    )
    choice.value = "output"
    assert plan.value == "output" and explorer.summary.endswith(f"{V * D:,} parameters, those of decoder › embedding.")
    assert explorer.error == ""
