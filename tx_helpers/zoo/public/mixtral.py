"""Mixtral (Jiang et al. 2024) and Qwen 3's mixtures: Mistral and Qwen 3 with experts in place of the feed-forward.

A file holds each expert by itself; the library transformers puts those of a layer together when it loads them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.public.family import TRAINING, Field, Row, flag, number
from tx_helpers.zoo.public.llama import FIELDS, MISTRAL, QWEN3, ROWS, with_windows

Fields = Mapping[str, Any]
LAYER = "decoder.blocks.{}.feed_forward"
NOT_DENSE = tuple(row for row in ROWS if not row.ours.startswith(f"{LAYER}."))
LOSS = {"output_router_logits": "what is returned", "router_aux_loss_coef": TRAINING}


def _rows(router: str, expert: str, gate: str, contract: str, expand: str) -> tuple[Row, ...]:
    names = {"gate": gate, "expand": expand, "contract": contract}
    experts = [Row(f"{LAYER}.experts.{{}}.{ours}", f"{expert}.{theirs}") for ours, theirs in names.items()]
    return (*NOT_DENSE, Row(f"{LAYER}.router.logits", router), *experts)


def _experts(counts: tuple[str, ...], default: ExpertsConfig) -> Callable[[Fields, set[str]], ExpertsConfig]:
    """`counts`: the names under which the number of experts may stand."""

    def derive(fields: Fields, names: set[str]) -> ExpertsConfig:
        experts = ExpertsConfig(
            next((fields[name] for name in counts if name in fields), default.n_experts),
            fields.get("num_experts_per_tok", default.top_k),
            normalised=fields.get("norm_topk_prob", default.normalised),
        )
        check_experts(experts.n_experts, number(fields, "num_hidden_layers"), names)
        return experts

    return derive


def check_experts(n_experts: int, layers: int, names: set[str]) -> None:
    """There are no more experts than tensors: a wrong number would take all memory, even without weights."""
    if n_experts * layers > len(names):
        raise ValueError(
            f"{n_experts} experts in each of {layers} layers, but the checkpoint has {len(names)} tensors in all"
        )


def written_experts(config: TransformerConfig) -> ExpertsConfig:
    """The experts of a config, or a ValueError."""
    experts = config.feed_forward.experts
    if not isinstance(experts, ExpertsConfig):
        raise ValueError(f"feed_forward.experts={experts} in the model, but the family has experts")
    return experts


MIXTRAL = replace(
    MISTRAL,
    name="mixtral",
    architectures=("MixtralModel", "MixtralForCausalLM"),
    fields=FIELDS | {"sliding_window": Field("attention.window", None), "rms_norm_eps": Field("norm.eps", 1e-5)},
    rows=lambda config: _rows(
        "layers.{}.block_sparse_moe.gate", "layers.{}.block_sparse_moe.experts.{}", "w1", "w2", "w3"
    ),
    derived=MISTRAL.derived | {"feed_forward.experts": _experts(("num_local_experts",), ExpertsConfig(8, 2))},
    written=MISTRAL.written
    | {
        "num_local_experts": lambda config: written_experts(config).n_experts,
        "num_experts_per_tok": lambda config: written_experts(config).top_k,
    },
    ignored=MISTRAL.ignored | LOSS | {"router_jitter_noise": TRAINING},
)


def _all_or_none(config: TransformerConfig, fields: Fields) -> TransformerConfig:
    """The window is that of all layers, as in the library, which does not ask for `max_window_layers` here."""
    if not flag(fields, "use_sliding_window", False):
        return config
    return with_windows(config, [True] * config.n_layers, fields.get("sliding_window", 4096))


QWEN3_MOE = replace(
    QWEN3,
    name="qwen3_moe",
    architectures=("Qwen3MoeModel", "Qwen3MoeForCausalLM"),
    fields={name: field for name, field in QWEN3.fields.items() if name != "intermediate_size"}
    | {"moe_intermediate_size": Field("feed_forward.d_ff"), "head_dim": Field("attention.d_head", None)},
    rows=lambda config: _rows("layers.{}.mlp.gate", "layers.{}.mlp.experts.{}", "gate_proj", "down_proj", "up_proj"),
    derived=QWEN3.derived
    | {"feed_forward.experts": _experts(("num_experts", "num_local_experts"), ExpertsConfig(128, 8, normalised=False))},
    layered=_all_or_none,
    written={name: write for name, write in QWEN3.written.items() if name not in ("max_window_layers", "layer_types")}
    | {
        "num_experts": lambda config: written_experts(config).n_experts,
        "num_experts_per_tok": lambda config: written_experts(config).top_k,
        "norm_topk_prob": lambda config: written_experts(config).normalised,
    },
    expected=QWEN3.expected | {"decoder_sparse_step": (1,), "mlp_only_layers": ([], None)},
    ignored=QWEN3.ignored
    | LOSS
    | {
        **{"intermediate_size": "of layers without experts", "num_local_experts": "read by `derived`"},
        **dict.fromkeys(("max_window_layers", "layer_types"), "the window is in all layers or in none"),
    },
)
