"""Memory and FLOPs by formula, against tensors and products that are counted."""

import pytest
import torch

from tx_helpers.lessons.scaling_up.real.measured import measured_activations, measured_flops, measured_state
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, NormConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly, count_parameters
from tx_helpers.text.data import TextBatch
from tx_helpers.training.costs import activations, flops, memory, parameters_by_part, sent
from tx_helpers.training.loop import Run
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, muon
from tx_helpers.training.parallel import Parallel, prepare_blocks
from tx_helpers.zoo.presets import gpt2

B, T, V = 3, 32, 101
MODERN = dict(positions=PositionConfig("rotary"), norm=NormConfig("rms"))
GATED = FeedForwardConfig(d_ff=112, activation="silu", gated=True, bias=False)
CONFIGS = {
    "2017": TransformerConfig(V, 48, 3),
    "gpt2": gpt2(dropout=0.0, d_model=48, n_layers=3, vocab_size=V, attention=AttentionConfig(4)),
    "llama": TransformerConfig(V, 48, 3, attention=AttentionConfig(4, bias=False), feed_forward=GATED, **MODERN),
    "qwen": TransformerConfig(V, 48, 2, attention=AttentionConfig(4, 2, qk_norm=True), feed_forward=GATED, **MODERN),
    "wide heads": TransformerConfig(V, 48, 2, attention=AttentionConfig(6, d_head=16)),
    "relu2": TransformerConfig(V, 48, 2, feed_forward=FeedForwardConfig(activation="relu2")),
}
by_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
by_checkpointing = pytest.mark.parametrize("checkpointing", [False, True])


def plain_sgd(model: DecoderOnly) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1)


def prepared(config: TransformerConfig, checkpointing: bool) -> tuple[DecoderOnly, TextBatch]:
    model = DecoderOnly(config)
    prepare_blocks(model, Parallel(checkpointing=checkpointing))
    ids = torch.randint(0, V, (B, T + 1))
    return model, TextBatch(ids[:, :-1], ids[:, 1:])


@by_config
@by_checkpointing
def test_activations(config, checkpointing):
    """In all, and in each block alone."""
    model, batch = prepared(config, checkpointing)
    kept = measured_activations(model, batch, language_model_loss)
    assert activations(model, B, T, checkpointing=checkpointing) == pytest.approx(kept, rel=0.03)
    assert sum(activations(model, B, T, checkpointing=checkpointing).values()) == pytest.approx(
        sum(kept.values()), rel=0.02
    )


@by_config
@by_checkpointing
def test_flops(config, checkpointing):
    model, batch = prepared(config, checkpointing)
    counted = measured_flops(model, batch, language_model_loss)
    assert flops(model, B, T, checkpointing=checkpointing) == pytest.approx(counted, rel=0.02)


@pytest.mark.parametrize(("name", "make"), [("adamw", adamw), ("muon", muon), ("sgd", plain_sgd)])
def test_weights_gradients_and_optimizer(name, make):
    model, batch = prepared(CONFIGS["qwen"], False)
    run = Run(model, lambda step: batch, loss=language_model_loss, optimizer=make(model))
    run.train_step()
    found, counted = memory(model, B, T, optimizer=name), measured_state(run)
    assert counted == {"weights": found.weights, "gradients": found.gradients, "optimizer": found.optimizer}
    assert found.activations == sum(activations(model, B, T).values())
    assert found.total == sum(counted.values()) + found.activations


def test_what_is_measured_changes_nothing():
    model, batch = prepared(CONFIGS["gpt2"], False)
    run = Run(model, lambda step: batch, loss=language_model_loss, optimizer=plain_sgd(model))
    with pytest.raises(ValueError, match=r"measured_state: <Run: 0 steps> has no gradients"):
        measured_state(run)
    run.train_step()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    first = measured_activations(model, batch, language_model_loss)
    measured_flops(model, batch, language_model_loss)
    assert measured_activations(model, batch, language_model_loss) == first
    assert all(torch.equal(p.grad, before) for p, before in zip(model.parameters(), gradients, strict=True))


def test_processes_share_all_but_the_activations():
    model = DecoderOnly(CONFIGS["2017"])
    one, four = memory(model, B, T), memory(model, B, T, shard=4)
    assert (four.weights, four.gradients, four.optimizer) == (one.weights // 4, one.gradients // 4, one.optimizer // 4)
    assert four.activations == one.activations
    matrices = 4 * 3 * 12 * 48 * 48  # bytes of those in the three blocks; embeddings, norms and biases stay whole
    assert memory(model, B, T, tensor=2).weights == one.weights - matrices // 2


def test_gpt2_on_the_meta_device_by_part():
    """The numbers that are known of GPT-2: 124,439,808 parameters, of which 38,597,376 + 786,432 in embeddings."""
    with torch.device("meta"):
        model = DecoderOnly(gpt2(dropout=0.0))
    parts = parameters_by_part(model)
    assert sum(parts.values()) == count_parameters(model) == 124_439_808
    assert parts == {
        "embeddings": 50257 * 768 + 1024 * 768,
        "attention": 12 * (4 * 768 * 768 + 4 * 768),
        "feed-forward": 12 * (8 * 768 * 768 + 5 * 768),
        "norms": 25 * 2 * 768,
        "output": 0,
        "other": 0,
    }
    tokens = 8 * 1024
    assert flops(model, 8, 1024) / tokens == pytest.approx(6 * 124e6 + 12 * 12 * 768 * 1024, rel=0.01)


def test_bytes_that_processes_send():
    model = DecoderOnly(CONFIGS["2017"])  # three blocks; V = 101 is filled up to 102 for two shards
    weights = 4 * count_parameters(model)
    embedding, norm = 4 * V * 48, 4 * 2 * 48
    assert sent(model, B, T, data=2) == {"all-reduce": weights}
    whole = weights + 4 * 48
    assert sent(model, B, T, shard=2) == {
        "all-gather": 2 * whole - (embedding + 4 * 48) - norm,
        "reduce-scatter": whole,
    }
    assert sent(model, B, T, tensor=2) == {"all-reduce": 4 * 3 * 6 * B * T * 48}
    with pytest.raises(ValueError, match="costs: data=2, shard=2, tensor=1, expected one of them"):
        sent(model, B, T, data=2, shard=2)


def test_what_the_formulas_do_not_cover_is_named():
    model, two_stacks = DecoderOnly(CONFIGS["2017"]), EncoderDecoder(CONFIGS["2017"])
    with pytest.raises(ValueError, match="costs: rows=0"):
        memory(model, 0, T)
    with pytest.raises(ValueError, match="costs: optimizer='lion', expected one of adamw, muon, sgd"):
        memory(model, B, T, optimizer="lion")
    for formula in (flops, memory, activations):
        with pytest.raises(ValueError, match="costs: block 3 is a DecoderBlock of MultiHeadAttention and FeedForward"):
            formula(two_stacks, B, T)
    assert activations(EncoderOnly(CONFIGS["2017"]), B, T) == activations(DecoderOnly(CONFIGS["2017"]), B, T)
