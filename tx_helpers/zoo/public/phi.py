"""Phi-3 (Abdin et al. 2024): Llama's shape, with queries, keys and values in one matrix, and both branches of the gate.

Left out: its "longrope", which has a factor for each frequency; a checkpoint with it is refused by name.
"""

from dataclasses import replace

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.zoo.public.family import Field, Row
from tx_helpers.zoo.public.gemma import STABLELM
from tx_helpers.zoo.public.llama import CONSTANTS, FIELDS, LLAMA, ROWS

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
