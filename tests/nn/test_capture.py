"""capture: what is recorded is what was computed, and afterwards the model is as before."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from parity import B, D, F, H, K, S, T, V, normal, randomise, tokens
from tx_helpers.nn.attention import MultiHeadAttention, additive_attention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.nn.observe import observe, observed

CONFIG = TransformerConfig(
    V, D, pad_id=0, attention=AttentionConfig(H), feed_forward=FeedForwardConfig(F), positions=PositionConfig("rotary")
)
SOURCE, TARGET = tokens(B, S), tokens(B, T, seed=1)
ATTENTION = ["queries", "keys", "values", "scores", "weights", "heads", "output"]


@pytest.fixture
def model() -> EncoderDecoder:
    return randomise(EncoderDecoder(CONFIG).double(), std=0.3)


@pytest.fixture
def decoder() -> DecoderOnly:
    return randomise(DecoderOnly(CONFIG).double(), std=0.3)


def hooks(model: nn.Module) -> list[int]:
    """How many hooks hang on all modules, of every kind there is."""
    return [
        len(value)
        for module in model.modules()
        for name, value in sorted(vars(module).items())
        if "hook" in name and hasattr(value, "__len__")
    ]


# ---------------------------------------------------------------------------------------------- names, shapes, contents


def test_wrong_arguments_are_named():
    model = nn.Linear(2, 2)
    for arguments, message in (
        ((model, 7), "capture: a pattern is 7, expected a text"),
        ((None,), "capture: model is None, expected a Module"),
    ):
        with pytest.raises(ValueError, match=message), capture(*arguments):
            pass
    with pytest.raises(ValueError, match="capture: a pattern is 3, expected a text"), capture(model, edit={3: abs}):
        pass


def test_names_are_paths_in_the_order_of_the_computation(decoder):
    with capture(decoder) as seen:
        decoder(TARGET)
    block = [f"self_attention.{name}" for name in ATTENTION] + ["feed_forward.activation", "feed_forward.output"]
    expected = ["decoder.input.hidden"]
    for i in range(2):
        expected += [f"decoder.blocks.{i}.{name}" for name in [*block, "hidden"]]
    assert list(seen) == seen.names() == expected
    assert len(seen) == len(expected)


def test_shapes_are_those_of_the_legend(model):
    with capture(model) as seen:
        model(SOURCE, TARGET)
    shapes = {name.removeprefix("decoder.blocks.1.cross_attention."): tuple(seen[name].shape) for name in seen}
    assert {name: shapes[name] for name in ATTENTION} == dict(
        queries=(B, H, T, K),
        keys=(B, H, S, K),
        values=(B, H, S, K),
        scores=(B, H, T, S),
        weights=(B, H, T, S),
        heads=(B, H, T, K),
        output=(B, T, D),
    )
    assert shapes["encoder.blocks.0.self_attention.weights"] == (B, H, S, S)
    assert shapes["decoder.blocks.0.feed_forward.activation"] == (B, T, F)
    assert shapes["decoder.input.hidden"] == (B, T, D)


def test_the_weights_are_those_that_were_used(model):
    """Every row sums to one, heads = weights @ values, and the rest of the layer follows from the heads."""
    source = SOURCE.clone()
    source[1, 4:] = 0
    with capture(model) as seen:
        logits = model(source, TARGET)
    for path in (
        "encoder.blocks.0.self_attention",
        "decoder.blocks.1.self_attention",
        "decoder.blocks.1.cross_attention",
    ):
        weights, values = seen[f"{path}.weights"], seen[f"{path}.values"]
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]).double(), rtol=0, atol=1e-12)
        torch.testing.assert_close(weights @ values, seen[f"{path}.heads"], rtol=0, atol=1e-12)
        scores = seen[f"{path}.queries"] @ seen[f"{path}.keys"].transpose(-2, -1) / K**0.5
        torch.testing.assert_close(seen[f"{path}.scores"], scores, rtol=0, atol=1e-12)
        joined = seen[f"{path}.heads"].transpose(1, 2).flatten(-2)
        output = model.get_submodule(path).output(joined)
        torch.testing.assert_close(seen[f"{path}.output"], output, rtol=0, atol=1e-12)
    assert seen["decoder.blocks.0.self_attention.weights"].triu(1).abs().max() == 0
    assert seen["decoder.blocks.0.cross_attention.weights"][1, ..., 4:].abs().max() == 0
    final = model.logits(model.decoder.norm(seen["decoder.blocks.1.hidden"]))
    torch.testing.assert_close(final, logits, rtol=0, atol=1e-12)


def test_in_training_the_weights_are_recorded_before_dropout():
    """Rows sum to one; what dropout makes of them is seen in the heads."""
    layer, x = randomise(MultiHeadAttention(D, H, dropout=0.5).double()), normal(B, T, D)
    with capture(layer) as seen:
        layer(x)
    torch.testing.assert_close(seen["weights"].sum(-1), torch.ones(B, H, T).double(), rtol=0, atol=1e-12)
    assert not torch.allclose(seen["weights"] @ seen["values"], seen["heads"])


def test_another_softmax_changes_what_is_recorded(decoder, monkeypatch):
    """There is no second calculation beside the one that is used."""
    with capture(decoder, "*.weights") as before:
        logits = decoder(TARGET)
    softmax = torch.softmax
    monkeypatch.setattr(torch, "softmax", lambda x, dim: softmax(3 * x, dim=dim))
    with capture(decoder, "*.weights", "*.heads", "*.values") as after:
        changed = decoder(TARGET)
    name = "decoder.blocks.0.self_attention.weights"
    sharper = before[name] ** 3
    sharper = sharper / sharper.sum(-1, keepdim=True)
    torch.testing.assert_close(after[name], sharper, rtol=1e-9, atol=1e-9)
    heads = after[name] @ after["decoder.blocks.0.self_attention.values"]
    torch.testing.assert_close(after["decoder.blocks.0.self_attention.heads"], heads, rtol=0, atol=1e-12)
    assert (changed - logits).abs().max() > 1e-3


def test_watching_does_not_change_the_result(model):
    expected = model(SOURCE, TARGET)
    with capture(model):
        watched = model(SOURCE, TARGET)
    torch.testing.assert_close(watched, expected, rtol=1e-12, atol=1e-12)
    with capture(model.bfloat16()):
        watched = model(SOURCE, TARGET)
    assert torch.equal(watched, model(SOURCE, TARGET))  # the same form in both cases


def test_the_layer_itself_may_be_the_model():
    layer, x = randomise(MultiHeadAttention(D, H).double()), normal(B, T, D)
    with capture(layer) as seen:
        out = layer(x)
    assert list(seen) == ATTENTION
    assert torch.equal(seen["output"], out)


def test_a_learner_s_own_module_is_captured_with_its_parts():
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = MultiHeadAttention(D, H)

        def forward(self, x: Tensor) -> Tensor:
            x = observe("before", x)
            x = self.attention(x)
            additive_attention(x, x, x, weight=torch.ones(D))
            return observe("after", x)

    mine, x = Mine(), normal(B, T, D, dtype=torch.float32)
    with capture(mine) as seen:
        mine(x)
    assert list(seen) == ["before", *[f"attention.{name}" for name in ATTENTION], "scores", "weights", "after"]
    assert torch.equal(seen["before"], x)


def test_parts_may_be_called_one_by_one(model):
    with capture(model, "*.hidden") as seen:
        memory = model.encode(SOURCE)
        assert seen.names("decoder*") == []
        model.decode(TARGET, memory)
    assert seen.names() == [
        f"{stack}.{part}.hidden" for stack in ("encoder", "decoder") for part in ("input", "blocks.0", "blocks.1")
    ]


# ------------------------------------------------------------------------------------------------------ how it is asked


def test_patterns_choose_what_is_kept(model):
    with capture(model, "*.cross_attention.weights", "encoder.input.*") as seen:
        model(SOURCE, TARGET)
    cross = [f"decoder.blocks.{i}.cross_attention.weights" for i in range(2)]
    assert seen.names() == ["encoder.input.hidden", *cross]
    assert seen.names("decoder.*") == cross
    assert seen.names("nothing*") == []


def test_history_keeps_every_run_in_order(decoder):
    with capture(decoder, "*.0.self_attention.weights") as seen, torch.no_grad():
        state = decoder.start(B)
        state.step(TARGET[:, :3])
        state.step(TARGET[:, 3:4])
        state.step(TARGET[:, 4:])
    (name,) = seen.names()
    assert [tuple(weights.shape) for weights in seen.history(name)] == [(B, H, 3, 3), (B, H, 1, 4), (B, H, 1, 5)]
    assert seen[name] is seen.history(name)[-1]
    with capture(decoder, name) as whole:
        decoder(TARGET)
    for i, weights in zip((2, 3, 4), seen.history(name), strict=True):
        torch.testing.assert_close(weights[:, :, -1], whole[name][:, :, i, : i + 1], rtol=0, atol=1e-12)


def test_an_unknown_name_says_what_there_is(decoder):
    with capture(decoder, "*.weights") as seen:
        decoder(TARGET)
    with pytest.raises(KeyError, match=r"nothing named 'weights' was observed; there is: decoder\.blocks\.0\.self"):
        seen["weights"]
    with pytest.raises(KeyError, match="'weights'"):
        seen.history("weights")
    with capture(decoder) as empty:
        pass
    with pytest.raises(KeyError, match="nothing named 'x' was observed; there is: nothing"):
        empty["x"]
    assert "weights" not in seen
    assert seen.get("weights") is None


def test_the_representation_tells_names_and_shapes():
    layer = MultiHeadAttention(D, H)
    with capture(layer, "weights", "output") as seen:
        layer(torch.ones(B, T, D))
    assert repr(seen) == "Activations(2 names: weights (2, 3, 5, 5), output (2, 5, 12))"


def test_detached_by_default_and_differentiable_if_asked(decoder):
    with capture(decoder, "*.weights") as seen:
        decoder(TARGET)
    assert not any(tensor.requires_grad for tensor in seen.values())
    with capture(decoder, "*.weights", detach=False) as seen:
        out = decoder(TARGET)
    first = seen["decoder.blocks.0.self_attention.weights"]
    gradient = torch.autograd.grad(out[:, -1, 3].sum(), first)[0]
    assert gradient.shape == first.shape
    with capture(decoder, edit={"*.0.self_attention.weights": lambda weights: weights + 1e-6 * direction}):
        direction = normal(*first.shape)
        moved = decoder(TARGET)
    slope = (moved - out)[:, -1, 3].sum() / 1e-6
    torch.testing.assert_close(slope, (gradient * direction).sum(), rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------------------------------------------------------- edit


def test_an_edit_switches_a_head_off(decoder):
    """As if the columns of that head in the output's matrix were zero."""
    name, off = "decoder.blocks.1.self_attention.heads", 2

    def without(heads: Tensor) -> Tensor:
        return heads * (torch.arange(H) != off).double()[:, None, None]

    with capture(decoder, edit={name: without}) as seen:
        edited = decoder(TARGET)
    assert seen[name][:, off].abs().max() == 0
    assert seen[name][:, 0].abs().max() > 0
    untouched = decoder(TARGET)
    decoder.decoder.blocks[1].self_attention.output.weight.data[:, off * K : (off + 1) * K] = 0
    torch.testing.assert_close(edited, decoder(TARGET), rtol=0, atol=1e-12)
    assert (edited - untouched).abs().max() > 1e-3


def test_an_edit_may_put_in_what_another_run_had(decoder):
    """Activation patching: with all of a block's hidden states from another run, the logits are that run's."""
    other = tokens(B, T, seed=7)
    name = "decoder.blocks.1.hidden"
    with capture(decoder, name) as seen:
        expected = decoder(other)
    with capture(decoder, name, edit={name: lambda _: seen[name]}):
        torch.testing.assert_close(decoder(TARGET), expected, rtol=0, atol=1e-12)


def test_edits_follow_patterns_in_order_and_are_recorded_only_where_asked(decoder):
    with capture(
        decoder, "*.1.*.weights", edit={"*.weights": lambda w: w * 0 + 1, "*.1.*.weights": lambda w: w * 5}
    ) as seen:
        decoder(TARGET)
    assert seen.names() == ["decoder.blocks.1.self_attention.weights"]
    assert torch.equal(seen["decoder.blocks.1.self_attention.weights"], torch.full((B, H, T, T), 5.0).double())


# ------------------------------------------------------------------------------------------------------ leaves no trace


def test_the_model_is_as_before(model):
    attributes = {name: set(vars(module)) for name, module in model.named_modules()}
    state = {name: value.clone() for name, value in model.state_dict().items()}
    expected, none = model(SOURCE, TARGET), hooks(model)
    assert sum(none) == 0
    assert len(none) > 100
    with capture(model) as seen:
        assert sum(hooks(model)) > 0
        assert observed()
        model(SOURCE, TARGET)
    recorded = len(seen)
    assert hooks(model) == none
    assert {name: set(vars(module)) for name, module in model.named_modules()} == attributes
    assert torch.equal(model(SOURCE, TARGET), expected)
    assert len(seen) == recorded
    assert len(seen.history("decoder.input.hidden")) == 1
    assert not observed()
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())


def test_hooks_of_others_stay(model):
    calls = []
    mine = model.decoder.register_forward_hook(lambda *_: calls.append(1))
    with capture(model):
        model(SOURCE, TARGET)
    model(SOURCE, TARGET)
    assert len(calls) == 2
    mine.remove()


def test_an_edit_that_returns_nothing_is_named(decoder):
    with (
        pytest.raises(
            ValueError, match=r"the edit of 'decoder\.blocks\.0\.self_attention\.weights' returned None, expected"
        ),
        capture(decoder, edit={"*.0.self_attention.weights": lambda weights: None}),
    ):
        decoder(TARGET)
    assert sum(hooks(decoder)) == 0


def test_an_edit_that_matches_nothing_is_named(decoder):
    """A typing error would pass for a head that does not matter."""
    edit = {"*.weights": lambda weights: weights, "*.heights": lambda weights: weights * 0}
    with pytest.raises(ValueError, match=r"capture: nothing was observed that matches the edits '\*\.heights'$"):  # noqa: SIM117
        with capture(decoder, edit=edit):
            decoder(TARGET)
    assert sum(hooks(decoder)) == 0
    assert not observed()


def failing(tensor: Tensor) -> Tensor:
    raise RuntimeError("in the middle")


@pytest.mark.parametrize("place", ["decoder.blocks.1.cross_attention.weights", "encoder.input.hidden"])
def test_an_exception_inside_leaves_everything_clean(model, place):
    none, expected = hooks(model), model(SOURCE, TARGET)
    with pytest.raises(RuntimeError, match="in the middle"), capture(model, edit={place: failing}):
        model(SOURCE, TARGET)
    assert hooks(model) == none
    assert not observed()
    assert torch.equal(model(SOURCE, TARGET), expected)
    with capture(model) as fresh:
        model(SOURCE, TARGET)
    assert fresh.names()[:2] == ["encoder.input.hidden", "encoder.blocks.0.self_attention.queries"]


def test_after_an_exception_that_was_caught_inside_the_names_are_still_right(model):
    with capture(model) as seen:
        with pytest.raises(ValueError, match="vocabulary"):
            model(SOURCE, torch.full((B, T), V))
        with pytest.raises(ValueError, match="shape"):
            model(SOURCE[:, :0], TARGET)
        assert seen.names("decoder*") == []
        other = MultiHeadAttention(D, H)
        other(torch.ones(B, T, D))  # of no part of the model, whatever was under way when the exception came
        assert all(len(seen.history(name)) == 1 for name in seen)
        model(SOURCE, TARGET)
    with capture(model) as expected:
        model(SOURCE, TARGET)
    assert set(seen) == set(expected)
    assert torch.equal(seen["decoder.blocks.0.hidden"], expected["decoder.blocks.0.hidden"])


def test_an_exception_in_the_block_but_outside_the_model_leaves_it_clean(model):
    with pytest.raises(ZeroDivisionError), capture(model):
        1 / 0  # noqa: B018
    assert sum(hooks(model)) == 0
    assert not observed()


def test_a_capture_that_begins_inside_a_forward_disturbs_nothing(model):
    """The hooks of modules already entered then fire on the way out only."""
    inside = capture(model, "*.hidden")
    begin = model.decoder.input.register_forward_pre_hook(lambda *_: begin.remove() or seen.append(inside.__enter__()))
    other, seen = model.decoder.register_forward_hook(lambda *_: None), []
    expected = model(SOURCE, TARGET)
    inside.__exit__(None, None, None)
    other.remove()
    assert seen[0].names()[:1] == ["decoder.blocks.0.hidden"]
    torch.testing.assert_close(model(SOURCE, TARGET), expected, rtol=0, atol=1e-12)
    assert sum(hooks(model)) == 0


# ------------------------------------------------------------------------------------ several captures, several threads


def test_of_two_nested_captures_the_inner_one_records(decoder):
    with capture(decoder, "*.hidden") as outer:
        decoder(TARGET)
        with capture(decoder, "*.weights") as inner:
            decoder(TARGET)
        assert len(inner) == 2
        assert [len(outer.history(name)) for name in outer] == [1, 1, 1]
        decoder(TARGET)
    assert [len(outer.history(name)) for name in outer] == [2, 2, 2]
    assert [len(inner.history(name)) for name in inner] == [1, 1]
    assert sum(hooks(decoder)) == 0


def test_another_model_is_not_recorded(decoder, model):
    with capture(decoder) as seen:
        model(SOURCE, TARGET)
        assert len(seen) == 0
        decoder(TARGET)
    assert len(seen) == 1 + 2 * 10


def test_another_thread_is_not_recorded_and_does_not_disturb(decoder):
    """Both run the same model, step by step in turns: the other one is inside a layer while this one reports."""
    expected_ids, turn = tokens(B, T, seed=9), threading.Barrier(2, timeout=20)
    taking_turns = threading.local()

    def wait(*_):
        if getattr(taking_turns, "on", False):
            turn.wait()

    for block in decoder.decoder.blocks:
        block.feed_forward.register_forward_pre_hook(wait)
        block.self_attention.register_forward_hook(wait)

    def run(ids: Tensor) -> Tensor:
        taking_turns.on = True
        try:
            return decoder(ids)
        finally:
            taking_turns.on = False

    expected = decoder(expected_ids)
    with capture(decoder) as alone:
        decoder(TARGET)
    with capture(decoder) as seen, ThreadPoolExecutor(1) as pool:
        other = pool.submit(run, expected_ids)
        run(TARGET)
        assert torch.equal(other.result(), expected)
    assert list(seen) == list(alone)
    assert all(len(seen.history(name)) == 1 for name in seen)
    assert all(torch.equal(seen[name], alone[name]) for name in seen)


def test_two_threads_may_capture_the_same_model_at_once(decoder):
    ids, start = [tokens(B, T, seed=seed) for seed in range(4)], threading.Barrier(4, timeout=20)

    def watch(ids: Tensor) -> list[Tensor]:
        start.wait()
        with capture(decoder, "*.hidden") as seen:
            start.wait()
            for _ in range(5):
                decoder(ids)
            start.wait()
        return [seen.history(name) for name in seen]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(watch, ids))
    for histories, own in zip(results, ids, strict=True):
        with capture(decoder, "*.hidden") as alone:
            decoder(own)
        assert [len(history) for history in histories] == [5, 5, 5]
        for name, history in zip(alone, histories, strict=True):
            assert all(torch.equal(tensor, alone[name]) for tensor in history)
    assert sum(hooks(decoder)) == 0
