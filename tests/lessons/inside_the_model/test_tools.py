"""Interventions: the parts of a model, what replaces them, and hooks for any module."""

import pytest
import torch
from torch import nn

from machine_view_page import PAIRS, translator
from tx_helpers.lessons.inside_the_model.tools import (
    Part,
    edited,
    exact,
    mean_activations,
    parts_of,
    put,
    score,
    without,
)
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import PAD, sequence_batch


@pytest.fixture(scope="module")
def small():
    return translator()


@pytest.fixture(scope="module")
def batch(small):
    return sequence_batch(small.data.encode(PAIRS))


def logits(model, batch, edits=None):
    with capture(model, "*.none", edit=edits), torch.no_grad():
        return model(batch.source, batch.decoder_input)


def test_parts_are_all_heads_and_all_feed_forward_layers(small):
    parts = parts_of(small.model)
    config = small.model.config
    n = config.n_layers
    assert len(parts) == 3 * n * config.attention.n_heads + 2 * n == len(set(parts))
    assert str(Part("decoder.blocks.0.cross_attention", 2)) == "decoder block 1 cross-attention, head 3"
    assert str(Part("encoder.blocks.1.feed_forward")) == "encoder block 2 feed-forward"
    with capture(small.model) as seen, torch.no_grad():
        small.model(torch.tensor([[3, 4]]), torch.tensor([[1]]))
    assert {part.name for part in parts} <= set(seen)


def test_a_head_of_zeros_is_one_whose_columns_of_the_output_are_zero(small, batch):
    part = Part("decoder.blocks.0.cross_attention", 1)
    by_edit = logits(small.model, batch, without([part]))
    attention = small.model.get_submodule(part.path)
    K, before = attention.d_head, attention.output.weight.detach().clone()
    with torch.no_grad():
        attention.output.weight[:, K : 2 * K] = 0
    by_hand = logits(small.model, batch)
    with torch.no_grad():
        attention.output.weight.copy_(before)
    torch.testing.assert_close(by_edit, by_hand)
    assert not torch.allclose(by_edit, logits(small.model, batch), atol=1e-4)


def test_means_are_those_of_the_words_without_padding(small, batch):
    means = mean_activations(small.model, batch)
    assert list(means) == parts_of(small.model)
    assert (batch.source == PAD).any()
    with capture(small.model, "*.heads", "*.output") as seen, torch.no_grad():
        small.model(batch.source, batch.decoder_input)
    for part, ids in (
        (Part("encoder.blocks.1.feed_forward"), batch.source),
        (Part("decoder.blocks.0.self_attention", 1), batch.target),
    ):
        x = seen[part.name] if part.head is None else seen[part.name][:, part.head]
        rows = [x[b, t] for b in range(len(ids)) for t in range(ids.shape[1]) if ids[b, t] != PAD]
        torch.testing.assert_close(means[part], torch.stack(rows).mean(0))


def test_parts_are_replaced_and_no_others(small, batch):
    parts = [Part("encoder.blocks.0.self_attention", 0), Part("encoder.blocks.0.feed_forward")]
    means = mean_activations(small.model, batch)
    with capture(small.model, "*") as whole, torch.no_grad():
        small.model(batch.source, batch.decoder_input)
    with capture(small.model, "*", edit=without(parts, means)) as seen, torch.no_grad():
        small.model(batch.source, batch.decoder_input)
    heads, was = seen[parts[0].name], whole[parts[0].name]
    torch.testing.assert_close(heads[:, 0], means[parts[0]].expand_as(heads[:, 0]))
    torch.testing.assert_close(heads[:, 1:], was[:, 1:])
    torch.testing.assert_close(seen[parts[1].name], means[parts[1]].expand_as(seen[parts[1].name]))
    with capture(small.model, "*", edit=without(parts[:1], "resample")) as seen, torch.no_grad():
        small.model(batch.source, batch.decoder_input)
    torch.testing.assert_close(seen[parts[0].name][1:, 0], was[:-1, 0])


def test_one_vector_is_put():
    x, other = torch.arange(24.0).view(2, 3, 4), -torch.ones(2, 3, 4)
    expected = x.clone()
    expected[:, 2] = -1
    assert torch.equal(put(other, at=2)(x), expected)
    assert torch.equal(put(-torch.ones(4), at=2)(x), expected)
    assert x.min() == 0  # as it was
    with pytest.raises(ValueError, match=r"put: at=3, but the activation has 3 positions"):
        put(other, at=3)(x)


def test_a_sentence_is_right_if_all_its_words_are(small, batch):
    out = logits(small.model, batch)
    right = [
        all(out[b, t].argmax() == word for t, word in enumerate(row) if word != PAD)
        for b, row in enumerate(batch.target.tolist())
    ]
    log_p = [
        sum(out[b, t].log_softmax(-1)[word].item() for t, word in enumerate(row) if word != PAD)
        for b, row in enumerate(batch.target.tolist())
    ]
    assert score(small.model, batch) == pytest.approx((sum(right) / len(right), sum(log_p) / len(log_p)), abs=1e-5)
    planted = batch._replace(target=torch.where(batch.target == PAD, PAD, out.argmax(-1)))
    assert exact(small.model, planted) == 1


@pytest.mark.parametrize("fill", ["mean", "noise"])
def test_an_unknown_filling_is_named(fill):
    with pytest.raises(ValueError, match=f"without: fill='{fill}', expected 'zero', 'resample'"):
        without([], fill)


# ------------------------------------------------------------------------------------------------------ any nn.Module
def test_hooks_change_what_capture_changes(small, batch):
    change = put(torch.ones(small.model.config.d_model), at=1)
    expected = logits(small.model, batch, {"encoder.blocks.0.hidden": change})
    with edited(small.model, {"encoder.blocks.0": change}) as seen, torch.no_grad():
        found = small.model(batch.source, batch.decoder_input)
    torch.testing.assert_close(found, expected)
    assert (seen["encoder.blocks.0"][:, 1] == 1).all()
    torch.testing.assert_close(logits(small.model, batch), logits(small.model, batch))
    assert not any(module._forward_hooks for module in small.model.modules())


def test_a_module_that_is_not_there_is_named():
    with (
        pytest.raises(ValueError, match=r"edited: '7' is none of the model's 2 modules"),
        edited(nn.Sequential(nn.Linear(2, 2)), {"7": torch.zeros_like}),
    ):
        pass


def test_a_gpt2_of_the_library_transformers_is_patched():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=13, n_positions=8, n_embd=12, n_layer=2, n_head=3)
    model = transformers.GPT2LMHeadModel(config).eval()
    clean, other = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 2, 9, 4]])
    with torch.no_grad():
        with edited(model, {"transformer.h.1": lambda x: x}) as seen:
            wanted = model(other).logits
        with edited(model, {"transformer.h.1": put(seen["transformer.h.1"], at=3)}):
            found = model(clean).logits
        was = model(clean).logits
    torch.testing.assert_close(found[:, 3], wanted[:, 3])
    torch.testing.assert_close(found[:, :3], was[:, :3])
