"""DeepSeek-V2 and V3 (DeepSeek-AI 2024): latent attention, dense layers first, then experts with a shared one.

V2 scores experts by a softmax, V3 by a sigmoid, with a bias for the choice. Left out, and named in what is loaded: V3's
module for the token after next, which is not part of the model that writes. A checkpoint in fp8 has
`quantization_config`, which is refused.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.config import FeedForwardConfig, LayerConfig, TransformerConfig
from tx_helpers.nn.parts import Experts
from tx_helpers.zoo.parts.experts import ExpertGroups, ExpertsConfig
from tx_helpers.zoo.parts.latent import LatentConfig
from tx_helpers.zoo.public.family import TRAINING, Field, Row, flag, number
from tx_helpers.zoo.public.llama import DERIVED, FIELDS, LLAMA, ROWS, WRITTEN, checked_rope, prepare
from tx_helpers.zoo.public.mixtral import LAYER, LOSS, check_experts

Fields = Mapping[str, Any]
ATTENTION, THEIRS = "decoder.blocks.{}.self_attention", "layers.{}.self_attn"
WIDTHS = {  # ours: theirs
    "d_latent": "kv_lora_rank",
    "d_rotary": "qk_rope_head_dim",
    "d_content": "qk_nope_head_dim",
    "d_value": "v_head_dim",
}


def _prepare(fields: dict[str, Any]) -> dict[str, Any]:
    """Of YaRN's two factors, one is for queries and keys, as elsewhere, and the other for the scale of the scores."""
    fields = prepare(fields)
    rope = dict(fields["rope_parameters"])
    rope.pop("partial_rotary_factor", None)
    mscale, all_dim = rope.pop("mscale", None), rope.pop("mscale_all_dim", None)
    factor = rope.get("factor")
    check_numbers("rope_parameters", least=0, optional=True, factor=factor, mscale=mscale, mscale_all_dim=all_dim)
    if rope["rope_type"] == "yarn" and factor and mscale and all_dim and rope.get("attention_factor") is None:
        rope["attention_factor"] = _growth(factor, mscale) / _growth(factor, all_dim)
    return {**fields, "rope_parameters": rope, "mscale_all_dim": all_dim}


def _growth(factor: float, share: float) -> float:
    return 0.1 * share * math.log(factor) + 1 if factor > 1 else 1.0


def _mixer(fields: Fields, names: set[str]) -> LatentConfig:
    if fields.get("num_key_value_heads") not in (None, fields["num_attention_heads"]):
        heads = f"{fields['num_key_value_heads']}, but num_attention_heads is {fields['num_attention_heads']}"
        raise ValueError(f"num_key_value_heads is {heads}; latent attention makes keys for each head")
    missing = [theirs for theirs in WIDTHS.values() if theirs not in fields]
    if missing:
        raise ValueError(f"has no field {missing[0]!r}, expected the widths of latent attention")
    widths = {ours: fields[theirs] for ours, theirs in WIDTHS.items()}
    return LatentConfig(**widths, d_query_latent=fields.get("q_lora_rank", 1536))


def _scale(fields: Fields, names: set[str]) -> float:
    width = number(fields, "qk_nope_head_dim", least=0) + number(fields, "qk_rope_head_dim")
    scale, rope = width**-0.5, checked_rope(fields)
    if rope["rope_type"] == "default" or not fields["mscale_all_dim"]:
        return scale
    return scale * _growth(rope["factor"], fields["mscale_all_dim"]) ** 2


def _rope_scaling(config: TransformerConfig) -> dict[str, Any] | None:
    """With the share that makes the scale of the scores what it is."""
    written, mixer = WRITTEN["rope_scaling"](config), config.mixer
    growth = math.sqrt(config.attention.scale * math.sqrt(mixer.d_content + mixer.d_rotary))
    if abs(growth - 1) < 1e-9:
        return written
    if written is None or written["factor"] <= 1:
        raise ValueError(f"attention.scale={config.attention.scale} without YaRN, but the family has 1/√(C + R) then")
    return {**written, "mscale_all_dim": round((growth - 1) / (0.1 * math.log(written["factor"])), 9)}


def _with_experts(fields: Fields) -> int:
    """How many layers have experts: all but the first ones, which are dense."""
    return max(0, number(fields, "num_hidden_layers") - number(fields, "first_k_dense_replace", 0, least=0))


def _experts(fields: Fields, names: set[str], score: str, groups: ExpertGroups | None) -> ExpertsConfig:
    n_experts = number(fields, "n_routed_experts")
    check_experts(n_experts, _with_experts(fields), names)
    return ExpertsConfig(
        n_experts,
        number(fields, "num_experts_per_tok"),
        shared=fields.get("n_shared_experts") or 0,
        score=score,
        normalised=flag(fields, "norm_topk_prob", score == "sigmoid"),
        scale=fields.get("routed_scaling_factor", 1.0),
        biased=score == "sigmoid",
        groups=groups,
    )


def _v2_experts(fields: Fields, names: set[str]) -> ExpertsConfig | None:
    if not _with_experts(fields):
        return None
    in_groups = fields.get("topk_method", "greedy") == "group_limited_greedy"
    groups = ExpertGroups(number(fields, "n_group"), number(fields, "topk_group")) if in_groups else None
    return _experts(fields, names, "softmax", groups)


def _v3_experts(fields: Fields, names: set[str]) -> ExpertsConfig | None:
    if not _with_experts(fields):
        return None
    n, kept = number(fields, "n_group", 8), number(fields, "topk_group", 4)
    return _experts(fields, names, "sigmoid", None if n == 1 else ExpertGroups(n, kept, best=2))


def _written_experts(config: TransformerConfig) -> Experts:
    """The experts of a config. Where all layers are dense the fields say nothing, but the library wants them."""
    return config.feed_forward.experts or ExpertsConfig(1, 1, normalised=False)


def _layers(fields: Fields, names: set[str]) -> int:
    """The layers of the model that writes. A layer after them must be the module that predicts the token after next."""
    n = number(fields, "num_hidden_layers")
    if any(name.startswith(f"layers.{n}.") for name in names) and f"layers.{n}.eh_proj.weight" not in names:
        raise ValueError(f"num_hidden_layers is {n}, but the checkpoint has a layer {n} that is no prediction module")
    return n


def _layout(interleaved: Any) -> str:
    if not isinstance(interleaved, bool):
        raise ValueError("expected true or false")
    return "interleaved" if interleaved else "half"


def _dense_first(config: TransformerConfig, fields: Fields) -> TransformerConfig:
    dense = config.n_layers - _with_experts(fields)
    feed = replace(config.feed_forward, d_ff=number(fields, "intermediate_size"), experts=None)
    layers = [LayerConfig(feed_forward=feed) if i < dense else LayerConfig() for i in range(config.n_layers)]
    return replace(config, layers=tuple(layers))


def _dense(config: TransformerConfig) -> list[FeedForwardConfig]:
    """The feed-forward networks of the layers without experts, which must be the first ones, and alike."""
    each = [config.of_layer(i).feed_forward for i in range(config.n_layers)]
    dense = [feed for feed in each if feed.experts is None]
    if each[: len(dense)] != dense or any(feed != dense[0] for feed in dense):
        raise ValueError(
            "layers without experts differ, or stand behind one with experts; "
            "expected the same network in the first layers"
        )
    return dense


def _rows(config: TransformerConfig) -> tuple[Row, ...]:
    w, H = config.mixer.widths, config.attention.n_heads
    both, of_head = w["d_latent"] + w["d_rotary"], w["d_content"] + w["d_value"]
    down, up, latent = f"{THEIRS}.kv_a_proj_with_mqa", f"{THEIRS}.kv_b_proj", w["d_query_latent"] is not None
    experts = {"gate": "gate_proj", "expand": "up_proj", "contract": "down_proj"}
    return (
        *(row for row in ROWS if not row.ours.startswith(f"{ATTENTION}.")),
        Row(f"{ATTENTION}.compress_query", f"{THEIRS}.q_a_proj"),
        Row(f"{ATTENTION}.query_norm", f"{THEIRS}.q_a_layernorm"),
        Row(f"{ATTENTION}.query", f"{THEIRS}.{'q_b_proj' if latent else 'q_proj'}"),
        Row(f"{ATTENTION}.compress", down, cut=(0, both, 1)),
        Row(f"{ATTENTION}.rotary_key", down, cut=(w["d_latent"], both, 1)),
        Row(f"{ATTENTION}.latent_norm", f"{THEIRS}.kv_a_layernorm"),
        Row(f"{ATTENTION}.key", up, cut=(0, of_head, H)),
        Row(f"{ATTENTION}.value", up, cut=(w["d_content"], of_head, H)),
        Row(f"{ATTENTION}.output", f"{THEIRS}.o_proj"),
        Row(f"{LAYER}.router.logits", "layers.{}.mlp.gate"),
        Row(f"{LAYER}.router.bias", "layers.{}.mlp.gate.e_score_correction_bias", float32=True),
        *(Row(f"{LAYER}.shared.{ours}", f"layers.{{}}.mlp.shared_experts.{its}") for ours, its in experts.items()),
        *(Row(f"{LAYER}.experts.{{}}.{ours}", f"layers.{{}}.mlp.experts.{{}}.{its}") for ours, its in experts.items()),
    )


def _widths_written(config: TransformerConfig) -> LatentConfig:
    if not isinstance(config.mixer, LatentConfig):
        raise ValueError(f"mixer={config.mixer!r} in the model, but the family has a LatentConfig")
    return config.mixer


DEEPSEEK_V2 = replace(
    LLAMA,
    name="deepseek_v2",
    architectures=("DeepseekV2Model", "DeepseekV2ForCausalLM"),
    fields={
        name: field
        for name, field in FIELDS.items()
        if name not in ("num_key_value_heads", "head_dim", "intermediate_size")
    }
    | {"moe_intermediate_size": Field("feed_forward.d_ff")},
    constants=LLAMA.constants | {"feed_forward.bias": False, "positions.layout": "interleaved"},
    rows=_rows,
    prepare=_prepare,
    derived=DERIVED | {"mixer": _mixer, "attention.scale": _scale, "feed_forward.experts": _v2_experts},
    layered=_dense_first,
    written={
        "rope_theta": WRITTEN["rope_theta"],
        **{theirs: (lambda config, ours=ours: _widths_written(config).widths[ours]) for ours, theirs in WIDTHS.items()},
        "q_lora_rank": lambda config: _widths_written(config).d_query_latent,
        "rope_scaling": _rope_scaling,
        "num_key_value_heads": lambda config: config.attention.n_heads,
        "first_k_dense_replace": lambda config: len(_dense(config)),
        "intermediate_size": lambda config: next(iter(_dense(config)), config.feed_forward).d_ff,
        "n_routed_experts": lambda config: _written_experts(config).n_experts,
        "num_experts_per_tok": lambda config: _written_experts(config).top_k,
        "n_shared_experts": lambda config: _written_experts(config).shared,
        "norm_topk_prob": lambda config: _written_experts(config).normalised,
        "routed_scaling_factor": lambda config: _written_experts(config).scale,
        "topk_method": lambda config: "group_limited_greedy" if _written_experts(config).groups else "greedy",
        "n_group": lambda config: getattr(_written_experts(config).groups, "n", None),
        "topk_group": lambda config: getattr(_written_experts(config).groups, "kept", None),
    },
    expected={
        "attention_bias": (False,),
        "mlp_bias": (False,),
        "moe_layer_freq": (1,),
        "scoring_func": ("softmax",),
        "topk_method": ("greedy", "group_limited_greedy", None),
        "norm_topk_prob": (False,),
    },
    ignored={
        **LLAMA.ignored,
        **LOSS,
        **dict.fromkeys(("aux_loss_alpha", "seq_aux"), TRAINING),
        **dict.fromkeys(("head_dim", "qk_head_dim"), "follow from other widths"),
        **{"mscale_all_dim": "read by `derived`", "ep_size": "how it is computed", "auto_map": "a label"},
    },
)

DEEPSEEK_V3 = replace(
    DEEPSEEK_V2,
    name="deepseek_v3",
    architectures=("DeepseekV3Model", "DeepseekV3ForCausalLM"),
    constants={path: value for path, value in DEEPSEEK_V2.constants.items() if path != "positions.layout"},
    fields=DEEPSEEK_V2.fields
    | {
        "rope_interleave": Field(
            "positions.layout",
            "interleaved",
            _layout,
            lambda ours: ours == "interleaved",
        )
    },
    derived=DEEPSEEK_V2.derived | {"feed_forward.experts": _v3_experts, "n_layers": _layers},
    written={name: write for name, write in DEEPSEEK_V2.written.items() if name != "topk_method"}
    | {
        "n_group": lambda config: getattr(_written_experts(config).groups, "n", 1),
        "topk_group": lambda config: getattr(_written_experts(config).groups, "kept", 1),
    },
    expected={
        "attention_bias": (False,),
        "moe_layer_freq": (1,),
        "scoring_func": ("sigmoid",),
        "topk_method": ("noaux_tc",),
    },
    ignored=DEEPSEEK_V2.ignored | {"num_nextn_predict_layers": "read by `left_out`: the tensors tell"},
    left_out=DEEPSEEK_V2.left_out
    | {"layers.{n_layers}.*": "of the module that predicts the token after next, beside the model that writes"},
)
