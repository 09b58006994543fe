"""Recurrent layers in the place of attention. What holds for every part of a config is in test_modern_parts."""

import pytest
import torch

from parity import B, H, T, normal, randomise, tokens
from toy_models import PAD, close, config, feed
from tx_helpers.lessons.cheaper_and_longer.linear import delta_recurrent, positive_features, quadratic
from tx_helpers.lessons.cheaper_and_longer.mixers import DeltaRule, LinearAttention, StateSpace
from tx_helpers.nn.config import AttentionConfig, InitConfig, LayerConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.nn.parts import Mixer
from tx_helpers.zoo.parts.latent import LatentConfig

D = 12
MIXERS = {
    "linear": LinearAttention(chunk=3),
    "delta": DeltaRule(d_head=5, chunk=3),
    "gated delta": DeltaRule(gated=True, chunk=3),
    "state space": StateSpace(d_state=5, expand=1),
}
each = pytest.mark.parametrize("name", MIXERS)


def layer(name: str) -> torch.nn.Module:
    return randomise(MIXERS[name].new(TransformerConfig(9, D, attention=AttentionConfig(H))).double())


def heads_of(made: torch.nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    parts = (made.query(x), made.key(x), made.value(x))
    return [part.unflatten(-1, (H, -1)).transpose(1, 2) for part in parts]


def joined(made: torch.nn.Module, heads: torch.Tensor) -> torch.Tensor:
    return made.output(made.norm(heads).transpose(1, 2).flatten(-2))


def test_linear_attention_is_its_quadratic_form():
    made, x = layer("linear"), normal(B, T, D)
    q, k, v = heads_of(made, x)
    close(made(x), joined(made, quadratic(positive_features(q), positive_features(k), v)), 1e-5)


@pytest.mark.parametrize("name", ["delta", "gated delta"])
def test_the_delta_rule_is_its_recurrence(name):
    made, x = layer(name), normal(B, T, D)
    q, k, v = heads_of(made, x)
    q, k = (part / part.norm(dim=-1, keepdim=True) for part in (q, k))
    beta = torch.sigmoid(made.strength(x)).transpose(1, 2)
    log_decay = None
    if name == "gated delta":
        rate = torch.log1p(torch.exp(made.forget(x))) * made.log_rate.exp()
        log_decay = -rate.transpose(1, 2)
    close(made(x), joined(made, delta_recurrent(q, k, v, beta, log_decay)[0]), 1e-9)


@each
def test_the_state_is_as_large_after_a_long_text_as_after_a_short_one(name):
    made = randomise(DecoderOnly(config(mixer=MIXERS[name], context_length=None)).double()).eval()
    state, sizes = made.start(B), []
    with torch.no_grad():
        for length in (1, 30):
            state.step(tokens(B, length))
            sizes.append([part.shape for part in state.caches[0].self_attention.state])
    assert sizes[0] == sizes[1]
    with pytest.raises(ValueError, match=r"StateCache.rewind: length=3, but a recurrent state cannot go back"):
        state.rewind(3)


@each
def test_other_masks_are_refused(name):
    x = normal(B, T, D)
    with pytest.raises(ValueError, match=r"Layer: a mask of shape \(5, 5\); a recurrent layer takes padding alone"):
        layer(name)(x, mask=torch.ones(T, T, dtype=torch.bool))


@each
@pytest.mark.parametrize("kind", [EncoderOnly, EncoderDecoder])
def test_an_encoder_refuses_it(kind, name):
    with pytest.raises(ValueError, match="a recurrent mixer sees the past alone, but the stack is an encoder's"):
        kind(config(mixer=MIXERS[name]))


def test_a_hybrid_s_softmax_layers_keep_their_window_and_its_others_have_none():
    layers = (LayerConfig(mixer=DeltaRule(gated=True)), LayerConfig(), LayerConfig(AttentionConfig(H)))
    made = DecoderOnly(config(attention=AttentionConfig(H, window=2), layers=layers, n_layers=3, context_length=None))
    made, ids = randomise(made.double(), std=0.3).eval(), tokens(B, 20)
    ids[0, :4] = PAD
    with torch.no_grad():
        close(feed(made.start(B), ids, [7, 1, 1, 5, 6]), made(ids))
    kinds = [type(cache.self_attention).__name__ for cache in made.start(B).caches]
    assert kinds == ["StateCache", "WindowCache", "KVCache"]


def test_a_layer_s_own_attention_takes_the_place_of_the_config_s_mixer():
    layers = (LayerConfig(), LayerConfig(AttentionConfig(H)), LayerConfig(AttentionConfig(H), mixer=LinearAttention()))
    made = DecoderOnly(config(mixer=DeltaRule(), layers=layers, n_layers=3))
    kinds = [type(block.self_attention).__name__ for block in made.decoder.blocks]
    assert kinds[1] == "MultiHeadAttention"
    assert kinds[0] != kinds[1] != kinds[2] != kinds[0]


@each
def test_zero_residual_begins_as_the_identity(name):
    made = DecoderOnly(config(mixer=MIXERS[name], init=InitConfig(residual="zero")))
    assert all(not block.self_attention.output.weight.any() for block in made.decoder.blocks)
    if hasattr(made.decoder.blocks[0].self_attention, "first_values") and name != "delta":
        torch.manual_seed(0)
        bias = made.decoder.blocks[0].self_attention
        bias = (bias.forget if name == "gated delta" else bias.step_size).bias
        assert (bias > -7).all()
        assert (bias < -2).all(), "the model's initial values left the gate's as they were drawn"


def test_a_mixer_without_a_module_says_so():
    with pytest.raises(NotImplementedError, match=r"Mixer.new"):
        DecoderOnly(config(mixer=Mixer()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LinearAttention(chunk=0), "LinearAttention: chunk=0, expected at least 1"),
        (lambda: DeltaRule(d_head=0), "DeltaRule: d_head=0, expected at least 1"),
        (lambda: StateSpace(d_state=0), "StateSpace: d_state=0, expected at least 1"),
        (lambda: LatentConfig(0, 4), "LatentConfig: d_latent=0, expected at least 1"),
        (
            lambda: DecoderOnly(config(d_model=14, mixer=DeltaRule())),
            "DeltaRuleLayer: d_model=14 is not divisible by n_heads=3",
        ),
    ],
)
def test_bad_values_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
