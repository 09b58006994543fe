"""Memory and FLOPs by formula, against tensors and products that are counted."""

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tx_helpers.config import AttentionConfig, FeedForwardConfig, NormConfig, PositionConfig, TransformerConfig
from tx_helpers.models import DecoderOnly, EncoderDecoder, EncoderOnly, count_parameters
from tx_helpers.presets import gpt2
from tx_helpers.text.data import TextBatch
from tx_helpers.training.costs import activations, flops, memory, parameters_by_part, sent
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, muon
from tx_helpers.training.parallel import Parallel, blocks_of, prepare_blocks

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


def prepared(config: TransformerConfig, checkpointing: bool) -> tuple[DecoderOnly, TextBatch]:
    model = DecoderOnly(config)
    prepare_blocks(model, Parallel(checkpointing=checkpointing))
    ids = torch.randint(0, V, (B, T + 1))
    return model, TextBatch(ids[:, :-1], ids[:, 1:])


class Kept:
    """A context that sums the bytes of all storages which the graph keeps, but for those of the parameters."""

    def __init__(self, model):
        self.known = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
        self.bytes, self.alive = 0, []
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self._note, lambda tensor: tensor)

    def _note(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.known:
            self.known.add(storage.data_ptr())
            self.bytes += storage.nbytes()
            self.alive.append(tensor)  # else its place may be given to another
        return tensor


@by_config
@by_checkpointing
def test_activations(config, checkpointing):
    model, batch = prepared(config, checkpointing)
    kept = Kept(model)
    with kept.hooks:
        language_model_loss(model, batch)
    assert sum(activations(model, B, T, checkpointing=checkpointing).values()) == pytest.approx(kept.bytes, rel=0.02)


def test_activations_by_block():
    """The first block alone, and what is around the blocks."""
    model, batch = prepared(CONFIGS["gpt2"], False)
    kept, block = Kept(model), blocks_of(model)[0]
    block.register_forward_pre_hook(lambda *_: kept.hooks.__enter__())
    block.register_forward_hook(lambda *_: kept.hooks.__exit__(None, None, None))
    language_model_loss(model, batch)
    assert activations(model, B, T)["block 0"] == pytest.approx(kept.bytes, rel=0.02)


@by_config
@by_checkpointing
def test_flops(config, checkpointing):
    model, batch = prepared(config, checkpointing)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        language_model_loss(model, batch).backward()
    assert flops(model, B, T, checkpointing=checkpointing) == pytest.approx(counter.get_total_flops(), rel=0.02)


@pytest.mark.parametrize(("name", "make"), [("adamw", adamw), ("muon", muon)])
def test_weights_gradients_and_optimizer(name, make):
    model, batch = prepared(CONFIGS["qwen"], False)
    made = make(model)
    optimizers = made if isinstance(made, list) else [made]
    language_model_loss(model, batch).backward()
    for optimizer in optimizers:
        optimizer.step()
    states = [value for o in optimizers for state in o.state.values() for value in state.values() if value.dim()]
    found = memory(model, B, T, optimizer=name)
    assert found.weights == sum(parameter.nbytes for parameter in model.parameters())
    assert found.gradients == sum(parameter.grad.nbytes for parameter in model.parameters())
    assert found.optimizer == sum(value.nbytes for value in states)
    assert found.total == found.weights + found.gradients + found.optimizer + found.activations


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
