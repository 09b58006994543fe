"""The quick step of a decoder computes what the modules compute, and stands back where it could not."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from parity import tokens
from toy_models import POSITIONS, close, model
from tx_helpers.generation.quick import quick_step
from tx_helpers.generation.search import begin, generate
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, NormConfig
from tx_helpers.nn.layers import FeedForward
from tx_helpers.nn.models import DecoderOnly

PARTS = {
    "as it comes": {},
    "shared heads, normed": dict(attention=AttentionConfig(4, n_kv_heads=2, qk_norm=True, bias=False)),
    "gated, RMSNorm": dict(feed_forward=FeedForwardConfig(gated=True, bias=False), norm=NormConfig("rms")),
}
QUICK = [name for name in POSITIONS if name not in ("t5", "alibi")]


def without_padding(positions: str, **changes) -> DecoderOnly:
    return model(DecoderOnly, positions, pad_id=None, d_model=24, **({"attention": AttentionConfig(4)} | changes))


@pytest.mark.parametrize("parts", list(PARTS))
@pytest.mark.parametrize("positions", QUICK)
def test_each_step_gives_the_modules_logits(positions, parts):
    built, ids = without_padding(positions, **PARTS[parts]), tokens(3, 7)
    assert quick_step(built.decoder) is not None
    expected, state = built(ids), begin(built, 3)
    with torch.no_grad():
        found = [state.step(ids[:, :2]), *(state.step(ids[:, t : t + 1]) for t in range(2, 7))]
    close(torch.cat(found, dim=1), expected, 1e-12)
    with torch.no_grad():
        state.rewind(4)
        state.select(torch.tensor([2, 0]))
        close(state.step(ids[[2, 0], 4:5]), expected[[2, 0], 4:5], 1e-12)


def test_a_weight_that_changes_while_a_text_is_written_is_seen():
    built, ids = without_padding(QUICK[0]), tokens(1, 4)
    state = begin(built, 1)
    with torch.no_grad():
        state.step(ids[:, :3])
        expected = begin(built, 1)
        expected.step(ids[:, :3])
        built.decoder.blocks[0].self_attention.query.weight.mul_(0.5)
        state._short, quick = None, state._short
        by_modules = state.step(ids[:, 3:])
        state.rewind(3)
        state._short = quick
        close(state.step(ids[:, 3:]), by_modules, 1e-12)


def _hang_a_hook(network, seen):
    network.register_forward_hook(lambda *_: seen.append("hook"))


def _put_a_forward(network, seen):
    forward = network.forward
    network.forward = lambda x: seen.append("forward") or forward(x)


def _watch_every_module(_network, seen):
    return nn.modules.module.register_module_forward_pre_hook(lambda *_: seen.append("every"))


def _train(network, seen):
    network.train()
    seen.append("no dropout here, so nothing else to see")


@pytest.mark.parametrize("change", [_hang_a_hook, _put_a_forward, _watch_every_module, _train])
def test_what_is_hung_on_between_two_steps_is_called(change):
    built, ids, seen = without_padding(QUICK[0]), tokens(1, 5), []
    expected, state = built(ids), begin(built, 1)
    with torch.no_grad():
        state.step(ids[:, :3])
        assert state._short(ids[:, 3:4], 3, state.caches) is not None
        state.rewind(3)
        close(state.step(ids[:, 3:4]), expected[:, 3:4], 1e-12)
        handle = change(built.decoder.blocks[1].feed_forward, seen)
        close(state.step(ids[:, 4:]), expected[:, 4:], 1e-12)
        state.rewind(4)
        assert seen and state._short(ids[:, 4:], 4, state.caches) is None
    if handle is not None:
        handle.remove()


def test_capture_sees_a_step_in_the_middle_of_a_text():
    built, ids = without_padding(QUICK[0]), tokens(1, 5)
    state = begin(built, 1)
    with torch.no_grad():
        for t in range(4):
            state.step(ids[:, t : t + 1])
        with capture(built) as seen:
            state.step(ids[:, 4:])
        assert any("weights" in path for path in seen)


def test_weights_that_count_no_changes_are_left_to_the_modules():
    with torch.inference_mode():
        built = without_padding(QUICK[0])
    assert quick_step(built.decoder) is None
    assert generate(built, [1, 2], max_new_tokens=3).shape == (1, 3)


@pytest.mark.parametrize("hang", ["hook", "forward", "part", "training", "half"])
def test_an_unusual_part_is_left_to_the_modules(hang):
    built = without_padding(QUICK[0])
    network = built.decoder.blocks[0].feed_forward
    if hang == "hook":
        network.register_forward_hook(lambda *_: None)
    elif hang == "forward":
        network.forward = lambda x: x
    elif hang == "part":
        built.decoder.blocks[0].self_attention.query = nn.Sequential(built.decoder.blocks[0].self_attention.query)
    elif hang == "half":
        built.half()
    else:
        built.train()
    assert quick_step(built.decoder) is None


class Twice(nn.Embedding):
    """A table that gives twice its rows."""

    def forward(self, ids):
        return 2 * super().forward(ids)


def _exchange_tokens(built, _patch):
    built.decoder.input.tokens = Twice.from_pretrained(built.decoder.input.tokens.weight, freeze=False).eval()


def _exchange_places(built, _patch):
    places = built.decoder.input.positions
    places.table = Twice.from_pretrained(places.table.weight, freeze=False).eval()


def _limit_norms(built, _patch):
    built.decoder.input.tokens.max_norm = 0.1


def _remove_a_block(built, _patch):
    built.decoder.blocks = built.decoder.blocks[:1].eval()


def _patch_a_class(kind, name):
    def change(_built, patch):
        old = getattr(kind, name)
        patch.setattr(kind, name, lambda self, *given, **options: 2 * old(self, *given, **options))

    return change


def _put_split(built, patch):
    attention = built.decoder.blocks[0].self_attention
    patch.setattr(attention, "split", lambda x, n: -MultiHeadAttention.split(attention, x, n), raising=False)


CHANGES = {
    "another table of tokens": _exchange_tokens,
    "another table of positions": _exchange_places,
    "a table that limits its norms": _limit_norms,
    "one block fewer": _remove_a_block,
    "FeedForward.forward": _patch_a_class(FeedForward, "forward"),
    "Linear.forward": _patch_a_class(nn.Linear, "forward"),
    "LayerNorm.forward": _patch_a_class(nn.LayerNorm, "forward"),
    "MultiHeadAttention.values": _patch_a_class(MultiHeadAttention, "values"),
    "split of one attention": _put_split,
}
NOTICED = CHANGES.keys() - {"a table that limits its norms"}  # while a text is written, only before it


@pytest.mark.parametrize(
    ("change", "when"),
    [*((change, "before") for change in CHANGES), *((change, "between") for change in sorted(NOTICED))],
)
def test_what_was_exchanged_is_computed(change, when, monkeypatch):
    built, ids = without_padding("learned"), tokens(1, 5)
    with torch.no_grad():
        states = [begin(built, 1), begin(built, 1)]
        if when == "between":
            _ = [state.step(ids[:, :3]) for state in states]
        CHANGES[change](built, monkeypatch)
        if when == "before":
            _ = [state.step(ids[:, :3]) for state in states]
        states[1]._short = None
        close(states[0].step(ids[:, 3:4]), states[1].step(ids[:, 3:4]), 1e-12)


def test_a_copied_state_computes_with_its_own_weights():
    built, ids = without_padding("learned"), tokens(1, 4)
    with torch.no_grad():
        state = begin(built, 1)
        before = state.step(ids[:, :3])
        other = deepcopy(state)
        for weight in other.stack.parameters():
            weight.mul_(3)
        expected = other.stack(ids[:, :4], caches=None)
        assert before.shape[1] == 3 and other._short is None
        other.rewind(0)
        close(other.step(ids[:, :4]), other.logits(expected), 1e-12)
        assert state._short(ids[:, 3:], 3, state.caches) is not None


@pytest.mark.parametrize("positions", ["t5", "alibi"])
def test_what_needs_a_bias_is_left_to_the_modules(positions):
    if positions in POSITIONS:
        assert quick_step(without_padding(positions).decoder) is None


def test_a_compiled_model_writes_what_the_model_writes():
    torch.compiler.reset()
    built = without_padding(QUICK[0])
    expected = generate(built, [1, 2], max_new_tokens=5)
    assert torch.equal(generate(torch.compile(built, backend="eager"), [1, 2], max_new_tokens=5), expected)
