"""Mixture of experts against the library transformers: Mixtral's layer and its loss, DeepSeek-V3's, Qwen 3's."""

import pytest
import torch
import transformers
from torch import Tensor, nn
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3MoE
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock, load_balancing_loss_func
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock

from parity import TOLERANCE, Pair, assert_same_model, both_precisions, normal
from tx_helpers.zoo.parts.experts import MixtureOfExperts, Routing, balance_loss

B, T, D, F, E, k = 2, 7, 10, 6, 5, 3


def pairs_of_experts(ours: MixtureOfExperts, theirs: nn.Module) -> list[Pair]:
    """Theirs keeps all experts in two tensors: (E, 2F, D), gates above expansions, and (E, D, F)."""
    pairs = [Pair(ours.router.logits.weight, theirs.gate.weight)]
    for i, expert in enumerate(ours.experts):

        def pick(x: Tensor, i: int = i, part: slice = slice(None)) -> Tensor:
            return x[i, part]

        for part, one in ((slice(F), expert.gate), (slice(F, None), expert.expand)):
            both = theirs.experts.gate_up_proj
            pairs.append(Pair(one.weight, both, lambda x, pick=pick, part=part: pick(x, part=part)))
        pairs.append(Pair(expert.contract.weight, theirs.experts.down_proj, pick))
    return pairs


def mixtral() -> tuple[nn.Module, nn.Module, list[Pair]]:
    config = transformers.MixtralConfig(
        hidden_size=D, intermediate_size=F, num_local_experts=E, num_experts_per_tok=k, num_attention_heads=2
    )
    ours, theirs = MixtureOfExperts(D, F, E, k), MixtralSparseMoeBlock(config)
    return ours, theirs, pairs_of_experts(ours, theirs)


def qwen3(normalised: bool) -> tuple[nn.Module, nn.Module, list[Pair]]:
    config = transformers.Qwen3MoeConfig(
        **dict(hidden_size=D, moe_intermediate_size=F, num_experts=E, num_experts_per_tok=k, num_attention_heads=2),
        norm_topk_prob=normalised,
    )
    ours, theirs = MixtureOfExperts(D, F, E, k, normalised=normalised), Qwen3MoeSparseMoeBlock(config)
    return ours, theirs, pairs_of_experts(ours, theirs)


def deepseek() -> tuple[nn.Module, nn.Module, list[Pair]]:
    config = transformers.DeepseekV3Config(
        **dict(hidden_size=D, moe_intermediate_size=F, n_routed_experts=E, num_experts_per_tok=k, n_shared_experts=2),
        **dict(n_group=1, topk_group=1, routed_scaling_factor=2.5, norm_topk_prob=True, num_attention_heads=2),
        num_key_value_heads=2,
    )
    ours = MixtureOfExperts(D, F, E, k, shared=2, score="sigmoid", scale=2.5, biased=True)
    theirs = DeepseekV3MoE(config)
    theirs.gate.e_score_correction_bias.copy_(normal(E, seed=4))
    ours.router.bias.copy_(normal(E, seed=4))
    pairs, shared = pairs_of_experts(ours, theirs), theirs.shared_experts
    pairs += [Pair(ours.shared.gate.weight, shared.gate_proj.weight)]
    pairs += [Pair(ours.shared.expand.weight, shared.up_proj.weight)]
    return ours, theirs, [*pairs, Pair(ours.shared.contract.weight, shared.down_proj.weight)]


@both_precisions
@pytest.mark.parametrize(
    "make",
    [mixtral, lambda: qwen3(True), lambda: qwen3(False), deepseek],
    ids=["mixtral", "qwen3", "qwen3-not-normalised", "deepseek-v3"],
)
def test_outputs_and_gradients_are_the_library_s(make, dtype):
    ours, theirs, pairs = make()
    ours, theirs = ours.to(dtype), theirs.to(dtype)

    def run_theirs(x: Tensor) -> Tensor:
        out = theirs(x)
        return out[0] if isinstance(out, tuple) else out

    x = normal(B, T, D, dtype=dtype)
    assert_same_model(ours, theirs, pairs, ours, run_theirs, x, tolerance=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("padded", [False, True])
def test_the_pooled_loss_is_mixtral_s(padded):
    logits = tuple(normal(B, T, E, seed=seed, dtype=torch.float32) for seed in range(3))
    real = torch.ones(B, T, dtype=torch.bool)
    if padded:
        real[0, 4:] = False
    scores = [one.softmax(-1) for one in logits]
    routings = [Routing(one, one.topk(k).indices, one) for one in scores]
    flat = tuple(one.flatten(0, 1) for one in logits)
    theirs = load_balancing_loss_func(flat, E, k, real.long() if padded else None)
    ours = balance_loss(routings, pooled=True, real=real if padded else None)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
