"""Parts that a config can have and the models of 2017 to 2020 have not: each holds what every model holds.

One entry in `PARTS`, and a part is tested in whole models: nothing leaks, padding does not matter, cached = uncached,
PyTorch's tools work, half precision works, and who cannot carry it says so.
"""

from dataclasses import replace
from operator import attrgetter

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from parity import B, F, S, T, randomise, tokens
from toy_models import CONTEXT, PAD, close, config, feed, model
from tx_helpers.lessons.cheaper_and_longer.mixers import DeltaRule, LinearAttention, StateSpace
from tx_helpers.lessons.decoding.cache_costs import costs
from tx_helpers.lessons.what_changed.token_values import TokenValues
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    LayerConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.widgets.machine_data import machine_data
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.parts.inputs import TokenShift
from tx_helpers.zoo.parts.latent import LatentConfig
from tx_helpers.zoo.parts.outputs import CappedOutput
from tx_helpers.zoo.parts.softmaxes import CappedScores, LearnedSink
from tx_helpers.zoo.parts.yarn import Yarn
from tx_helpers.zoo.presets import gpt2
from tx_helpers.zoo.public.save import save_pretrained

SIGMOID = ExpertsConfig(4, 3, shared=1, score="sigmoid", normalised=False, scale=0.5, biased=True, capacity_factor=0.5)
PARTS: dict[str, tuple[str, dict]] = {  # name: what refuses it calls it, changes to the config
    "experts": ("feed_forward.experts", dict(feed_forward=FeedForwardConfig(F, "silu", experts=ExpertsConfig(5, 2)))),
    "soft cap of scores": ("attention.attend", dict(attention=AttentionConfig(3, attend=CappedScores(0.7)))),
    "soft cap of logits": ("embedding.output", dict(embedding=EmbeddingConfig(output=CappedOutput(1.5)))),
    "partial rotary": ("positions.d_rotary", dict(positions=PositionConfig("rotary", base=50.0, d_rotary=2))),
    "yarn": ("positions.stretch", dict(positions=PositionConfig("rotary", base=50.0, stretch=Yarn(4.0, 6, fast=2.0)))),
    "value embeddings": ("mixer", dict(mixer=TokenValues())),
    "sandwich": ("wiring", dict(wiring="sandwich")),
    "rms plus one": ("norm.kind", dict(norm=NormConfig("rms_plus_one"))),
    "experts, sigmoid": (
        "feed_forward.experts",
        dict(feed_forward=FeedForwardConfig(F, gated=True, experts=SIGMOID), wiring="post_norm"),
    ),
    "learned sink": ("attention.attend", dict(attention=AttentionConfig(3, attend=LearnedSink()))),
    "latent": (
        "mixer",
        dict(mixer=LatentConfig(7, 4, d_content=5, d_value=6, d_query_latent=9), positions=PositionConfig("rotary")),
    ),
    "latent, plain": ("mixer", dict(mixer=LatentConfig(7, 4), positions=PositionConfig("alibi"))),
    "own layers": (
        "layers",
        dict(
            layers=(
                LayerConfig(AttentionConfig(2, d_head=6, n_kv_heads=1), positions=PositionConfig("rotary", base=50.0)),
                LayerConfig(feed_forward=FeedForwardConfig(F + 2, "silu"), positions=PositionConfig("none")),
            ),
            positions=PositionConfig("rotary"),
        ),
    ),
    "window": ("attention.window", dict(attention=AttentionConfig(3, window=2))),
    "linear attention": ("mixer", dict(mixer=LinearAttention(chunk=3))),
    "delta rule": ("mixer", dict(mixer=DeltaRule(chunk=3))),
    "gated delta rule": ("mixer", dict(mixer=DeltaRule(gated=True, d_head=5, chunk=4))),
    "state space": ("mixer", dict(mixer=StateSpace(d_state=5))),
    "hybrid": (
        "layers",
        dict(
            attention=AttentionConfig(3, window=3),
            layers=(LayerConfig(mixer=DeltaRule(gated=True, chunk=2)), LayerConfig()),
            embedding=EmbeddingConfig(input=TokenShift(1)),
        ),
    ),
}
CAUSAL_ALONE = ("linear attention", "delta rule", "gated delta rule", "state space", "hybrid")
each_part = pytest.mark.parametrize("part", PARTS)


def pairs(*kinds: type) -> pytest.MarkDecorator:
    """Each part in each of these models that can carry it."""
    both = [(part, kind) for part in PARTS for kind in kinds if kind is DecoderOnly or part not in CAUSAL_ALONE]
    return pytest.mark.parametrize(("part", "kind"), both)


each_pair = pairs(DecoderOnly, EncoderOnly, EncoderDecoder)
each_decoder = pairs(DecoderOnly, EncoderDecoder)
# For what takes long: each part in a decoder, and for `make thorough` in the largest model that can carry it.
once = pytest.mark.parametrize(
    ("part", "kind"),
    [
        *((part, DecoderOnly) for part in PARTS),
        *(pytest.param(part, EncoderDecoder, marks=pytest.mark.thorough) for part in PARTS if part not in CAUSAL_ALONE),
    ],
)


def built(kind: type, part: str, dtype: torch.dtype = torch.float64, seed: int = 0) -> nn.Module:
    made = kind(config(**PARTS[part][1])).to(dtype)
    for name, buffer in made.named_buffers():
        buffer.copy_(torch.linspace(0, 0.3, len(buffer)))
        assert name.endswith("router.bias")
    return randomise(made, seed, std=0.3).eval()


def inputs(kind: type, batch: int = B, T: int = T) -> tuple[torch.Tensor, ...]:
    source, target = tokens(batch, S), tokens(batch, T, seed=1)
    source[1:, 4:] = PAD
    return (source, target) if kind is EncoderDecoder else (target,)


@each_part
def test_the_part_changes_what_the_model_computes(part):
    made, plain = built(DecoderOnly, part), model(DecoderOnly)
    assert not torch.allclose(made(tokens(B, T)), plain(tokens(B, T)))


@each_part
def test_no_look_into_the_future(part):
    made, ids = built(DecoderOnly, part), tokens(B, S)
    changed = torch.cat([ids[:, :4], tokens(B, S - 4, seed=1)], dim=1)
    close(made(ids)[:, :4], made(changed)[:, :4], 1e-12)
    assert not torch.allclose(made(ids)[:, 4:], made(changed)[:, 4:])
    close(made(ids[:, :4]), made(ids)[:, :4], 1e-12)


@each_part
def test_padding_and_other_rows_do_not_matter(part):
    ids, padding = tokens(B, T), torch.full((B, 3), PAD)
    for kind in (DecoderOnly, EncoderOnly) if part not in CAUSAL_ALONE else (DecoderOnly,):
        made = built(kind, part)
        whole = made(ids)
        close(made(torch.cat([padding, ids], dim=1))[:, 3:], whole)
        close(made(torch.cat([ids, padding], dim=1))[:, :T], whole)
        close(made(ids[1:]), whole[1:])


@each_decoder
@pytest.mark.parametrize("chunks", [[1] * 9, [9], [2, 1, 5, 1], [4, 5], [7, 1, 1]], ids=str)
def test_cached_is_uncached_is_whole(part, kind, chunks):
    made, ids, source = built(kind, part), tokens(B, 9), tokens(B, S, seed=1)
    if kind is DecoderOnly:
        ids[0, :3] = PAD
    before = () if kind is DecoderOnly else (source,)
    with torch.no_grad():
        whole = made(*before, ids)
        for cached in (True, False):
            close(feed(made.start(*before or (B,), cached=cached), ids, chunks), whole)


@each_part
def test_rows_of_a_cache_can_be_selected(part):
    made, ids, rows = built(DecoderOnly, part), tokens(3, 6), torch.tensor([2, 0, 2])
    with torch.no_grad():
        state = made.start(3)
        feed(state, ids, [4, 2])
        state.select(rows)
        more = tokens(3, 2, seed=3)
        close(state.step(more), made(torch.cat([ids[rows], more], dim=1))[:, 6:])


@pytest.mark.slow
@once
def test_it_compiles_whole(part, kind):
    torch.compiler.reset()
    made = built(kind, part)
    close(torch.compile(made, fullgraph=True, backend="eager")(*inputs(kind)), made(*inputs(kind)), 1e-12)


@pytest.mark.slow
@once
def test_it_is_exported_with_dynamic_lengths(part, kind):
    made = built(kind, part)
    least = 3 if part == "window" else 2  # a program for a text of two tokens would leave the window out
    lengths = tuple({1: torch.export.Dim(f"length{n}", min=least, max=CONTEXT)} for n in range(len(inputs(kind))))
    fixed = part in CAUSAL_ALONE  # the number of chunks depends on the length, so a program has one length
    program = torch.export.export(made, inputs(kind), dynamic_shapes=None if fixed else lengths)
    others = inputs(kind) if fixed else inputs(kind, T=T + 1)
    close(program.module()(*others), made(*others), 1e-12)


@each_pair
def test_vmap_runs_an_ensemble(part, kind):
    ensemble, ids = [built(kind, part), built(kind, part, seed=5)], inputs(kind)
    parameters, buffers = stack_module_state(ensemble)
    out = vmap(lambda p, b: functional_call(ensemble[0], (p, b), ids))(parameters, buffers)
    close(out, torch.stack([one(*ids) for one in ensemble]), 1e-9)


@each_pair
def test_it_is_made_on_the_meta_device_and_filled(part, kind):
    made = built(kind, part, torch.float32)
    with torch.device("meta"):
        empty = kind(made.config)
        assert empty(*(ids.to("meta") for ids in inputs(kind))).shape == (B, T, made.config.vocab_size)
    empty = empty.to_empty(device="cpu").eval()
    empty.load_state_dict(made.state_dict())
    assert torch.equal(empty(*inputs(kind)), made(*inputs(kind)))


@each_pair
def test_every_parameter_gets_a_gradient_and_training_lowers_the_loss(part, kind):
    torch.manual_seed(0)
    made, ids = kind(config(**PARTS[part][1])).train(), inputs(kind, batch=16)
    optimizer, losses = torch.optim.Adam(made.parameters(), lr=0.02), []
    seen: dict[str, bool] = {}
    for _ in range(12):
        loss = nn.functional.cross_entropy(made(*ids).flatten(0, 1), ids[-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        for name, parameter in made.named_parameters():
            seen[name] = seen.get(name, False) or bool(parameter.grad.any())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert [name for name, moved in seen.items() if not moved and "key.bias" not in name] == []


@each_part
def test_half_precision_stays_near(part):
    made = built(DecoderOnly, part, torch.float32)
    expected, ids = made(tokens(B, T)), tokens(B, T)
    out = made.bfloat16()(ids)
    assert out.dtype == torch.bfloat16
    assert out.isfinite().all()
    assert (out.float() - expected).abs().median() < 0.1 * expected.abs().max()


@each_part
def test_who_cannot_carry_it_says_so_by_name(part, tmp_path):
    """A GPT-2 with this part alone is no GPT-2."""
    name, made = PARTS[part][0], built(DecoderOnly, part, torch.float32)
    base = gpt2(vocab_size=11, d_model=12, n_layers=2, context_length=CONTEXT, attention=AttentionConfig(3))
    group, leaf = name.rpartition(".")[::2]
    value = attrgetter(name)(made.config)
    if name.startswith("positions.") or part == "own layers":
        base = replace(base, positions=PositionConfig("rotary"))
    alone = {group: replace(getattr(base, group), **{leaf: value})} if group else {leaf: value}
    with pytest.raises(ValueError, match=f"save_pretrained: no family has .*gpt2: ({name}|positions.kind)="):
        save_pretrained(DecoderOnly(replace(base, **alone)), tmp_path, family="gpt2")
    with pytest.raises(ValueError, match=f"machine: {name}=.*, which the page does not compute"):
        machine_data(made)


@pytest.mark.parametrize(
    "part", [part for part, (name, _) in PARTS.items() if name in ("feed_forward.experts", "mixer", "layers")]
)
def test_costs_are_not_counted_wrongly(part):
    made: TransformerConfig = config(**PARTS[part][1])
    with pytest.raises(ValueError, match=f"costs: {PARTS[part][0]}=.*, which it does not count"):
        costs(made, 10)
