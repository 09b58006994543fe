"""StableLM 2 (Bellagente et al. 2024) and Phi-3 (Abdin et al. 2024): Llama's shape, where a part of each head turns.

StableLM has LayerNorm, and turns a quarter of each head. Phi-3 has queries, keys and values in one matrix, and both
branches of the gate in another. Left out: its "longrope", which has a factor for each frequency; a checkpoint with it
is refused by name.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.zoo.public.family import Field, Row, number
from tx_helpers.zoo.public.llama import CONSTANTS, DERIVED, FIELDS, LLAMA, ROWS, WRITTEN, prepare


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

BLOCK = "decoder.blocks.{}"
FUSED = tuple(f"{BLOCK}.{name}" for name in ("self_attention.query", "self_attention.key", "self_attention.value"))
GATED = (f"{BLOCK}.feed_forward.gate", f"{BLOCK}.feed_forward.expand")


def _rows(config: TransformerConfig) -> tuple[Row, ...]:
    H, G, K = config.attention.n_heads, config.attention.n_kv_heads or config.attention.n_heads, config.d_head
    starts, total = (0, H * K, (H + G) * K), (H + 2 * G) * K
    both = enumerate(GATED)
    return (
        *(row for row in ROWS if row.ours not in (*FUSED, *GATED)),
        *(
            Row(ours, "layers.{}.self_attn.qkv_proj", cut=(at, total, 1))
            for ours, at in zip(FUSED, starts, strict=True)
        ),
        *(Row(ours, "layers.{}.mlp.gate_up_proj", part=(k, 2)) for k, ours in both),
    )


PHI3 = replace(
    LLAMA,
    name="phi3",
    architectures=("Phi3Model", "Phi3ForCausalLM"),
    fields={name: field for name, field in FIELDS.items() if name != "head_dim"}
    | {"rms_norm_eps": Field("norm.eps", 1e-5), "sliding_window": Field("attention.window", None)},
    constants=CONSTANTS,
    rows=_rows,
    prepare=lambda fields: STABLELM.prepare({"partial_rotary_factor": 1.0, **fields}),
    derived=STABLELM.derived,
    written=STABLELM.written,
    expected={"attention_bias": (False,)},
    default_pad=32000,
    ignored={
        "rope_parameters": "read by `derived`",
        "original_max_position_embeddings": "of longrope alone",
        "auto_map": "a label",
        **dict.fromkeys(("embd_pdrop", "resid_pdrop"), "used in training alone"),
    },
)
