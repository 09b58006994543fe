"""Gemma (Gemma Team 2024) and StableLM 2 (Bellagente et al. 2024): Llama's shape with other norms.

Gemma's norms multiply by 1 + weight, and its embedding is scaled by √D as in 2017. StableLM has LayerNorm, and turns a
quarter of each head.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.zoo.public.family import Field, activation, number
from tx_helpers.zoo.public.llama import CONSTANTS, DERIVED, FIELDS, LLAMA, WRITTEN, prepare

ACTIVATION = activation("feed_forward.activation", "gelu_tanh")
TANH = "gelu_pytorch_tanh"  # the same as "gelu_new", but for rounding


def _gemma_prepare(fields: dict[str, Any]) -> dict[str, Any]:
    """The activation had two names; the first files say "gelu" and mean its approximation, as the library does."""
    fields = prepare(fields)
    newer = fields.pop("hidden_activation", None)
    if newer is not None or fields.get("hidden_act") == "gelu":
        fields["hidden_act"] = newer or TANH
    return fields


GEMMA = replace(
    LLAMA,
    name="gemma",
    architectures=("GemmaModel", "GemmaForCausalLM"),
    fields=FIELDS
    | {
        "attention_bias": Field("attention.bias", False),
        "hidden_act": ACTIVATION._replace(write=lambda ours: TANH if ours == "gelu_tanh" else ACTIVATION.write(ours)),
        "head_dim": Field("attention.d_head", 256),
        "tie_word_embeddings": Field("embedding.tied", True),
    },
    constants={path: value for path, value in CONSTANTS.items() if path != "attention.bias"}
    | {"norm.kind": "rms_plus_one", "embedding.scale": True},
    prepare=_gemma_prepare,
    expected={"use_bidirectional_attention": (False, None)},
    ignored={"rope_parameters": "read by `derived`"},
)


def _stablelm_prepare(fields: dict[str, Any]) -> dict[str, Any]:
    """The share of a head that turns stands beside `rope_parameters` in older files, and within them in newer ones."""
    fields = prepare(fields)
    rope = dict(fields["rope_parameters"])
    share = rope.pop("partial_rotary_factor", fields.get("partial_rotary_factor", 0.25))
    return {**fields, "rope_parameters": rope, "partial_rotary_factor": share}


def _d_rotary(fields: Mapping[str, Any], names: set[str]) -> int | None:
    share = fields["partial_rotary_factor"]
    width = number(fields, "hidden_size") // number(fields, "num_attention_heads")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise ValueError(f"partial_rotary_factor is {str(share)[:60]}, expected a number above 0 and at most 1")
    return None if int(width * share) == width else int(width * share)


def _share(config: TransformerConfig) -> float:
    return (config.positions.d_rotary or config.d_head) / config.d_head


STABLELM = replace(
    LLAMA,
    name="stablelm",
    architectures=("StableLmModel", "StableLmForCausalLM"),
    fields={name: field for name, field in FIELDS.items() if name not in ("rms_norm_eps", "head_dim")}
    | {"layer_norm_eps": Field("norm.eps", 1e-5), "use_qkv_bias": Field("attention.bias", False)},
    constants={path: value for path, value in CONSTANTS.items() if path != "attention.bias"}
    | {"norm.kind": "layer", "attention.output_bias": False},
    prepare=_stablelm_prepare,
    derived=DERIVED | {"positions.d_rotary": _d_rotary},
    written=WRITTEN | {"partial_rotary_factor": _share},
    expected={"use_parallel_residual": (False,), "qk_layernorm": (False,)},
    ignored={"rope_parameters": "read by `derived`", "hidden_dropout": "used in training alone"},
)
