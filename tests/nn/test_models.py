"""The three models: nothing leaks, every part of the config counts, bad input is named.

Parity with PyTorch and with the library `transformers` is in test_parity_torch and test_parity_pretrained, decoding
piece by piece in test_decoding.
"""

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from parity import DEVICES, B, D, F, H, S, T, V, normal, properties, randomise, tokens
from toy_models import CONTEXT, PAD, POSITIONS, close, config, configs, every_position, feed, model, seeds
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly, count_parameters
from tx_helpers.zoo.parts.inputs import NormedInput, TokenShift
from tx_helpers.zoo.parts.outputs import BiasedOutput, ScaledOutput, TransformedOutput

# -------------------------------------------------------------------------------------------------------- nothing leaks


@properties
@given(configs, seeds, st.integers(1, T - 1))
def test_no_look_into_the_future(config, seed, t):
    """Other ids from position t on, padding among them, and every logit before t keeps its bits."""
    ids = tokens(B, T, seed=seed)
    changed = torch.cat([ids[:, :t], tokens(B, T - t, seed=seed + 1, low=0)], dim=1)
    decoder = randomise(DecoderOnly(config).double(), seed, std=0.3)
    assert torch.equal(decoder(ids)[:, :t], decoder(changed)[:, :t])
    both, source = randomise(EncoderDecoder(config).double(), seed, std=0.3), tokens(B, S, seed=seed + 2)
    assert torch.equal(both(source, ids)[:, :t], both(source, changed)[:, :t])
    close(decoder(ids[:, :t]), decoder(ids)[:, :t])  # and the prefix alone gives the same
    close(both(source, ids[:, :t]), both(source, ids)[:, :t])


@every_position
def test_what_may_be_seen_is_seen(positions):
    """The tests of leaks would pass a model that looks at nothing."""
    ids, source = tokens(B, T), tokens(B, S, seed=1)
    decoder, encoder, both = (model(kind, positions) for kind in (DecoderOnly, EncoderOnly, EncoderDecoder))

    def moved(run, ids: Tensor, place: int) -> list[bool]:
        changed = ids.clone()
        changed[:, place] = ids[:, place] % (V - 1) + 1
        return (run(changed) - run(ids)).abs().amax(dim=(0, 2)).gt(1e-6).tolist()

    assert moved(decoder, ids, 2) == [False, False, True, True, True]
    assert moved(encoder, ids, 2) == [True] * T
    assert moved(lambda ids: both(source, ids), ids, 2) == [False, False, True, True, True]
    assert moved(lambda source: both(source, ids), source, S - 1) == [True] * T


@properties
@given(configs, seeds, st.integers(1, 4), st.sampled_from(["left", "right"]))
def test_the_amount_of_padding_does_not_matter(config, seed, amount, side):
    ids, padding = tokens(B, T, seed=seed), torch.full((B, amount), PAD)
    padded = torch.cat([padding, ids] if side == "left" else [ids, padding], dim=1)
    real = slice(amount, None) if side == "left" else slice(T)
    for kind in (DecoderOnly, EncoderOnly):
        model = randomise(kind(config).double(), seed, std=0.3)
        close(model(padded)[:, real], model(ids))
    both, target = randomise(EncoderDecoder(config).double(), seed, std=0.3), tokens(B, 4, seed=seed + 1)
    close(both(padded, target), both(ids, target))
    close(both(ids, torch.cat([target, padding], dim=1))[:, :4], both(ids, target))


@every_position
@pytest.mark.parametrize("side", ["left", "right"])
def test_what_stands_at_the_padding_does_not_matter(side, positions):
    """Another vector for the pad id, and every real position keeps its bits."""
    ids = tokens(B, S)
    ids[1, slice(0, 3) if side == "left" else slice(S - 3, S)] = PAD
    real, target = ids != PAD, tokens(B, T, seed=1)
    changes = dict(embedding=EmbeddingConfig(tied=False, input=TokenShift(2)))
    for kind in (DecoderOnly, EncoderOnly, EncoderDecoder):
        built = model(kind, positions, **changes)
        run = (lambda: built(ids, target)) if kind is EncoderDecoder else (lambda: built(ids)[real])  # noqa: B023
        before = run()
        stack = built.decoder if kind is DecoderOnly else built.encoder
        with torch.no_grad():
            stack.input.tokens.weight[PAD] += normal(D, seed=5)
        assert torch.equal(run(), before)


@properties
@given(configs, seeds)
def test_a_row_does_not_depend_on_the_other_rows(config, seed):
    ids, source = tokens(3, T, seed=seed, low=0), tokens(3, S, seed=seed + 1, low=0)
    ids[:, -1] = source[:, -1] = 1  # no row is all padding
    others, other_sources = tokens(3, T, seed=seed + 2, low=0), tokens(3, S, seed=seed + 3, low=0)
    others[1], other_sources[1] = ids[1], source[1]
    for kind in (DecoderOnly, EncoderOnly):
        model = randomise(kind(config).double(), seed, std=0.3)
        assert torch.equal(model(ids)[1], model(others)[1])
        close(model(ids)[[2, 0, 1]], model(ids[[2, 0, 1]]))
        close(model(ids)[1:2], model(ids[1:2]))
    both = randomise(EncoderDecoder(config).double(), seed, std=0.3)
    assert torch.equal(both(source, ids)[1], both(other_sources, others)[1])
    close(both(source, ids)[1:2], both(source[1:2], ids[1:2]))


@every_position
@pytest.mark.parametrize("kind", [DecoderOnly, EncoderOnly, EncoderDecoder])
def test_a_row_of_padding_alone_gives_finite_logits_and_gradients(kind, positions):
    ids = tokens(B, T)
    ids[1] = PAD
    built = model(kind, positions)
    for watched in (False, True):
        built.zero_grad()
        inputs = (ids, tokens(B, 4, seed=1)) if kind is EncoderDecoder else (ids,)
        if watched:
            with capture(built):
                out = built(*inputs)
        else:
            out = built(*inputs)
        assert out.isfinite().all()
        out.square().mean().backward()
        assert all(parameter.grad.isfinite().all() for parameter in built.parameters())


def test_without_positions_a_model_is_blind_to_order_and_with_any_scheme_it_is_not():
    ids, order = tokens(B, T), torch.tensor([3, 0, 4, 1, 2])
    for positions in POSITIONS:
        encoder = model(EncoderOnly, positions)
        blind = torch.allclose(encoder(ids[:, order]), encoder(ids)[:, order], rtol=1e-9, atol=1e-9)
        assert blind == (positions == "none"), positions


@pytest.mark.parametrize("kind", [DecoderOnly, EncoderOnly])
def test_a_mask_of_one_s_own_is_obeyed_beside_the_padding(kind):
    ids, built = tokens(B, T), model(kind, pad_id=None)
    real = torch.tensor([[True] * T, [True, True, True, False, False]])
    changed = ids.masked_fill(~real, 7)
    mask = real[:, None, None]
    assert torch.equal(built(ids, mask=mask)[real], built(changed, mask=mask)[real])
    assert torch.equal(built(ids, mask=mask)[real], model(kind)(ids.masked_fill(~real, PAD))[real])
    own = model(kind)(ids.masked_fill(~real, PAD), mask=torch.eye(T, dtype=torch.bool))
    alone = model(kind)(ids[:, :1])
    close(own[:, 0], alone[:, 0])  # both masks at once: position 0 sees itself alone


# ---------------------------------------------------------------------------------------- what the config says is built


def test_the_whole_is_its_parts():
    source, target, built = tokens(B, S), tokens(B, T, seed=1), model(EncoderDecoder)
    source[1, 4:] = PAD
    logits = built.decode(target, built.encode(source), memory_mask=built.source_mask(source))
    assert torch.equal(built(source, target), logits)
    assert model(EncoderDecoder, pad_id=None).source_mask(source) is None
    encoder = model(EncoderOnly)
    assert torch.equal(encoder(source), encoder.logits(encoder.encode(source)))


def test_the_output_is_tied_as_asked():
    hidden = normal(B, T, D)
    for tied in (True, False):
        built = model(DecoderOnly, embedding=EmbeddingConfig(tied=tied))
        assert (built.output.weight is built.decoder.input.tokens.weight) == tied
        close(built.logits(hidden), hidden @ built.output.weight.T)
    shared, apart = model(EncoderDecoder), model(EncoderDecoder, source_vocab_size=V + 2)
    assert shared.encoder.input.tokens.weight is shared.decoder.input.tokens.weight
    assert shared.encoder.input.tokens.weight is not apart.encoder.input.tokens.weight
    assert apart.encoder.input.tokens.num_embeddings == V + 2
    assert apart.decoder.input.tokens.weight is apart.output.weight
    assert count_parameters(apart) == count_parameters(shared) + (V + 2) * D


CHANGES = {
    "no residual": dict(wiring="pre_norm_without_residual"),
    "post-norm": dict(wiring="post_norm"),
    "RMSNorm": dict(norm=NormConfig("rms")),
    "epsilon": dict(norm=NormConfig(eps=0.5)),
    "QK-norm": dict(attention=AttentionConfig(H, qk_norm=True)),
    "window": dict(attention=AttentionConfig(H, window=2)),
    "no bias of the output": dict(attention=AttentionConfig(H, output_bias=False)),
    "transform before the output": dict(embedding=EmbeddingConfig(output=TransformedOutput("gelu"))),
    "sines before cosines": dict(positions=PositionConfig("sinusoidal_halves")),
    "attention scale": dict(attention=AttentionConfig(H, scale=1.0)),
    "activation": dict(feed_forward=FeedForwardConfig(F, "relu2")),
    "embedding unscaled": dict(embedding=EmbeddingConfig(scale=False)),
    "embedding normed": dict(embedding=EmbeddingConfig(input=NormedInput())),
    "token shift": dict(embedding=EmbeddingConfig(input=TokenShift(2))),
    "output scaled": dict(embedding=EmbeddingConfig(output=ScaledOutput(0.5))),
    "base": dict(positions=PositionConfig(base=100.0)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_choice_changes_the_computation(change):
    """The same values in all parameters that both models have, and other logits."""
    plain, changed = model(DecoderOnly), model(DecoderOnly, **CHANGES[change])
    state = changed.state_dict()
    known = {name: value for name, value in plain.state_dict().items() if name in state}
    changed.load_state_dict(state | known)
    assert (changed(tokens(B, T)) - plain(tokens(B, T))).abs().max() > 1e-3


def test_dropout_acts_everywhere_in_training_and_nowhere_in_evaluation():
    built, ids = model(EncoderDecoder, dropout=0.5), (tokens(B, S), tokens(B, T))
    assert torch.equal(built(*ids), model(EncoderDecoder)(*ids))
    built.train()
    assert not torch.allclose(built(*ids), built(*ids))
    dropouts = [name for name, module in built.named_modules() if isinstance(module, nn.Dropout)]
    assert all(module.p == 0.5 for module in built.modules() if isinstance(module, nn.Dropout))
    assert len(dropouts) == 2 * (1 + 2 * 2)  # in each stack: embedding, and in each block sub-layers and feed-forward
    assert all(block.self_attention.dropout == 0.5 for block in (*built.encoder.blocks, *built.decoder.blocks))
    assert all(block.cross_attention.dropout == 0.5 for block in built.decoder.blocks)


# -------------------------------------------------------------------------------------------------------- first values


def fresh(kind: type = DecoderOnly, seed: int = 0, **changes) -> nn.Module:
    torch.manual_seed(seed)
    return kind(config(vocab_size=200, d_model=96, feed_forward=FeedForwardConfig(), **changes))


def test_first_values_come_from_torch_s_generator():
    one, same, other = fresh(), fresh(), fresh(seed=1)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.output.weight, other.output.weight)


@pytest.mark.parametrize("kind", [DecoderOnly, EncoderOnly, EncoderDecoder])
@pytest.mark.parametrize("init", ["xavier", "normal", "fan_in"])
def test_first_values_are_spread_as_asked(init, kind):
    built = fresh(kind, init=InitConfig(init, std=0.05), embedding=EmbeddingConfig(tied=False, output=BiasedOutput()))
    for name, module in built.named_modules():
        if isinstance(module, nn.Linear):
            fan_out, fan_in = module.weight.shape
            expected = {"xavier": math.sqrt(2 / (fan_in + fan_out)), "normal": 0.05, "fan_in": fan_in**-0.5}[init]
            assert module.weight.std().item() == pytest.approx(expected, rel=0.05), name
            if init == "xavier":
                assert module.weight.abs().max() <= math.sqrt(6 / (fan_in + fan_out))
            assert module.bias is None or torch.equal(module.bias, torch.zeros(fan_out)), name
        elif isinstance(module, nn.Embedding):
            expected = 96**-0.5 if init == "xavier" else 0.05
            assert module.weight.std().item() == pytest.approx(expected, rel=0.05), name


def test_fan_in_makes_up_for_scores_that_are_not_divided_and_keeps_the_position_bias_small_as_in_t5():
    """Queries start 1/√K times smaller where the scale is 1, and not otherwise."""
    divided, plain = (
        fresh(
            positions=PositionConfig("t5", buckets=128, max_distance=256),
            init=InitConfig("fan_in", std=1.0),
            attention=AttentionConfig(4, scale=scale),
        )
        for scale in (None, 1.0)
    )
    one, other = divided.decoder.blocks[0].self_attention, plain.decoder.blocks[0].self_attention
    torch.testing.assert_close(other.query.weight, one.query.weight * 24**-0.5, rtol=1e-6, atol=0)
    torch.testing.assert_close(other.key.weight, one.key.weight, rtol=0, atol=0)
    for built in (divided, plain):
        assert built.decoder.bias.table.weight.std().item() == pytest.approx(96**-0.5, rel=0.1)
        assert built.decoder.input.tokens.weight.std().item() == pytest.approx(1.0, rel=0.05)


def test_residual_matrices_start_scaled_as_in_gpt_2():
    """1/√(2 · layers) on what writes into the residual stream, on nothing else."""
    plain, scaled = (
        fresh(n_layers=3, init=InitConfig("normal", residual=residual)) for residual in ("plain", "scaled")
    )
    for (name, one), other in zip(plain.named_parameters(), scaled.parameters(), strict=True):
        factor = 6**-0.5 if name.endswith(("attention.output.weight", "contract.weight")) else 1.0
        torch.testing.assert_close(other, one * factor, rtol=1e-6, atol=0)


@pytest.mark.parametrize("gated", [True, False])
def test_residual_matrices_may_start_at_zero_so_that_a_block_is_the_identity(gated):
    feed_forward = FeedForwardConfig(F, gated=gated)
    built = EncoderDecoder(config(init=InitConfig(residual="zero"), feed_forward=feed_forward))
    with capture(built, "*.hidden") as seen:
        built(tokens(B, S), tokens(B, T))
    for stack in ("encoder", "decoder"):
        for block in range(2):
            assert torch.equal(seen[f"{stack}.blocks.{block}.hidden"], seen[f"{stack}.input.hidden"])


# -------------------------------------------------------------------------------------------------- devices, precisions


NEAR = {torch.float64: 1e-6, torch.float32: 1e-4, torch.bfloat16: 0.35}


@every_position
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", NEAR, ids=["float64", "float32", "bfloat16"])
def test_models_follow_device_and_precision(dtype, device, positions):
    """Whole, and cached: near the numbers of float64 on the CPU."""
    ids, source = tokens(B, T), tokens(B, S, seed=1)
    ids[1, 0] = source[1, 5:] = PAD
    for kind in (EncoderOnly, DecoderOnly, EncoderDecoder):
        exact = model(kind, positions)
        inputs = (source, ids) if kind is EncoderDecoder else (ids,)
        expected = exact(*inputs)
        built = copy.deepcopy(exact).to(device, dtype)
        inputs = [x.to(device) for x in inputs]
        outputs = [built(*inputs)]
        if kind is not EncoderOnly:
            state = built.start(B) if kind is DecoderOnly else built.start(inputs[0])
            outputs.append(feed(state, inputs[-1], [2, 3]))
        for out in outputs:
            assert (out.shape, out.dtype, out.device.type) == ((B, T, V), dtype, device)
            close(out.cpu().double(), expected, NEAR[dtype])


@every_position
def test_models_work_on_the_meta_device(positions):
    """Where there are shapes and no numbers: a hidden transfer to the CPU would fail here."""
    with torch.device("meta"):
        both, decoder = EncoderDecoder(config(positions)).bfloat16(), DecoderOnly(config(positions, n_layers=1))
    source, target = tokens(B, S).to("meta"), tokens(B, T).to("meta")
    outputs = [(both(source, target), torch.bfloat16), (feed(decoder.start(B), target, [2, 3]), torch.float32)]
    for out, dtype in outputs:
        assert (out.shape, out.dtype, out.device.type) == ((B, T, V), dtype, "meta")


@every_position
@pytest.mark.parametrize("device", DEVICES)
def test_models_run_under_autocast(device, positions):
    ids = tokens(B, T).to(device)
    ids[1, 0] = PAD
    built = model(DecoderOnly, positions, attention=AttentionConfig(H, qk_norm=True), dtype=torch.float32).to(device)
    with torch.autocast(device, torch.bfloat16):
        logits = built(ids)
        logits.float().square().mean().backward()
    close(logits.float(), built(ids), 0.35)
    assert all(parameter.grad.dtype == torch.float32 for parameter in built.parameters())


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: model(DecoderOnly)(torch.tensor([[1, V]])), "model: ids 1 … 11, but the vocabulary has 11"),
        (lambda: model(EncoderOnly)(torch.tensor([[-1, 2]])), "model: ids -1 … 2, but the vocabulary has 11"),
        (
            lambda: model(EncoderDecoder, source_vocab_size=20)(tokens(B, S), torch.full((B, T), 15)),
            "model: ids 15 … 15, but the vocabulary has 11",
        ),
        (
            lambda: model(EncoderDecoder, source_vocab_size=5)(torch.full((B, S), 7), tokens(B, T)),
            "model: ids 7 … 7, but the vocabulary has 5",
        ),
        (lambda: model(DecoderOnly)(tokens(B, CONTEXT + 1)), "model: a sequence of 17 ids, but context_length is 16"),
        (lambda: model(EncoderOnly, "alibi")(tokens(1, 17)), "model: a sequence of 17 ids, but context_length is 16"),
        (lambda: model(DecoderOnly)(tokens(T)), r"model: ids of shape \(5,\), expected int \(B, T\)"),
        (lambda: model(DecoderOnly)(tokens(B, 0)), r"model: ids of shape \(2, 0\), expected \(B, T\)"),
        (lambda: model(EncoderOnly)(tokens(0, T)), r"model: ids of shape \(0, 5\), expected \(B, T\)"),
        (lambda: model(EncoderDecoder)(tokens(B, 0), tokens(B, T)), r"model: ids of shape \(2, 0\)"),
        (lambda: model(DecoderOnly)(normal(B, T)), r"model: ids is a tensor of torch.float64, expected int \(B, T\)"),
        (lambda: model(DecoderOnly)(tokens(B, T) > 3), r"model: ids is a tensor of torch.bool, expected int \(B, T\)"),
        (
            lambda: model(EncoderDecoder)(tokens(3, S), tokens(B, T)),
            r"MultiHeadAttention: memory of shape \(3, 7, 12\), expected float \(B, S, 12\) with B = 2",
        ),
        (
            lambda: model(EncoderDecoder).decode(
                tokens(B, T), normal(B, S, D), memory_mask=torch.ones(B, 1, 1, T, dtype=torch.bool)
            ),
            r"attention: a mask of shape \(2, 1, 1, 5\) for scores of shape \(2, 3, 5, 7\)",
        ),
        (
            lambda: model(DecoderOnly)(tokens(B, T), mask=torch.ones(S, S, dtype=torch.bool)),
            r"combine_masks: masks of shape \(2, 1, 1, 5\) and \(7, 7\)",
        ),
        (lambda: model(DecoderOnly)(tokens(B, T), mask=torch.ones(T, T)), "combine_masks: a mask of torch.float32"),
        (lambda: model(EncoderDecoder).start(tokens(B, 0)), r"model: ids of shape \(2, 0\)"),
        (lambda: model(EncoderDecoder).start(tokens(S)), r"model: ids of shape \(7,\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_ids_of_32_bits_are_welcome():
    built, ids = model(DecoderOnly), tokens(B, T)
    assert torch.equal(built(ids.int()), built(ids))
    with torch.no_grad():
        close(feed(built.start(B), ids.int(), [2, 3]), built(ids))


def test_a_sequence_as_long_as_the_context_is_welcome():
    for positions in POSITIONS:
        assert model(DecoderOnly, positions)(tokens(B, CONTEXT)).shape == (B, CONTEXT, V)


def test_a_stack_may_be_cut_short():
    """Notebooks take blocks away from a copy of a trained model."""
    ids, cut = tokens(B, T), model(DecoderOnly)
    cut.decoder.blocks = cut.decoder.blocks[:1]
    expected = cut.decoder.norm(cut.decoder.blocks[0](cut.decoder.input(ids, torch.arange(T), 0), causal=True))
    close(cut(ids), cut.output(expected), 1e-12)
    close(feed(cut.start(B), ids, [1] * T), cut(ids))
