"""Llama 2 and 3 (Touvron et al. 2023, Dubey et al. 2024), Mistral (Jiang et al. 2023), Qwen 2 and 3: one shape.

They differ in where there is a bias, in QK-norm, in a window on what each position sees, and in the rotation's
wavelengths. The library transformers keeps all of them with the rotary layout "half".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import LayerConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.parts.yarn import WavelengthStretch, Yarn
from tx_helpers.zoo.public.family import Family, Field, Row, activation, flag, number

Fields = Mapping[str, Any]
SLIDING, FULL = "sliding_attention", "full_attention"
ROWS = (
    Row("decoder.input.tokens", "embed_tokens"),
    *(
        Row(f"decoder.blocks.{{}}.self_attention.{ours}", f"layers.{{}}.self_attn.{theirs}")
        for ours, theirs in {
            "query": "q_proj",
            "key": "k_proj",
            "value": "v_proj",
            "output": "o_proj",
            "query_norm": "q_norm",
            "key_norm": "k_norm",
        }.items()
    ),
    Row("decoder.blocks.{}.self_attention_norm", "layers.{}.input_layernorm"),
    Row("decoder.blocks.{}.feed_forward.gate", "layers.{}.mlp.gate_proj"),
    Row("decoder.blocks.{}.feed_forward.expand", "layers.{}.mlp.up_proj"),
    Row("decoder.blocks.{}.feed_forward.contract", "layers.{}.mlp.down_proj"),
    Row("decoder.blocks.{}.feed_forward_norm", "layers.{}.post_attention_layernorm"),
    Row("decoder.norm", "norm"),
    Row("output", "lm_head"),
)
STRETCH = {  # fields of rope_parameters where rope_type is "llama3": ours
    "factor": "factor",
    "low_freq_factor": "low",
    "high_freq_factor": "high",
    "original_max_position_embeddings": "context",
}
YARN = {  # the same for "yarn"; of these, the first two are always there
    "factor": "factor",
    "original_max_position_embeddings": "context",
    "beta_fast": "fast",
    "beta_slow": "slow",
    "attention_factor": "attention_factor",
    "truncate": "whole",
}
ROPE = {  # rope_type -> what else it needs
    **{"default": (), "linear": ("factor",), "llama3": tuple(STRETCH)},
    "yarn": ("factor", "original_max_position_embeddings"),
}


def prepare(fields: dict[str, Any]) -> dict[str, Any]:
    """`rope_theta` and `rope_scaling` of older versions become `rope_parameters`."""
    fields = dict(fields)
    older = {name: fields.pop(name) for name in ("rope_theta", "rope_scaling") if name in fields}
    rope = {"rope_theta": older.get("rope_theta", 10000.0), **mapping("rope_scaling", older.get("rope_scaling"))}
    rope |= mapping("rope_parameters", fields.get("rope_parameters"))
    if older.get("rope_theta", rope["rope_theta"]) != rope["rope_theta"]:
        raise ValueError(f"rope_theta is {older['rope_theta']}, but rope_parameters say {rope['rope_theta']}")
    kind = rope.pop("type", "default")
    return {**fields, "rope_parameters": {"rope_type": kind, **rope}}


def mapping(name: str, value: Any) -> dict[str, Any]:
    """A field of config.json that must be an object, if it is there at all."""
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name} is {str(value)[:60]}, expected an object")
    return value or {}


def checked_rope(fields: Fields) -> dict[str, Any]:
    """`rope_parameters`, checked: exactly the fields that its type has."""
    rope = fields["rope_parameters"]
    kind = rope["rope_type"]
    if not isinstance(kind, str) or kind not in ROPE:
        raise ValueError(f"rope_type is {str(kind)[:60]!r}, expected one of {', '.join(ROPE)}")
    given = {name for name, value in rope.items() if value is not None}
    wanted = {"rope_type", "rope_theta", *ROPE[kind]}
    given = given - (YARN.keys() - wanted) if kind == "yarn" else given
    if different := sorted(given ^ wanted):
        word = "missing" if different[0] in wanted else "not understood"
        needs = ", ".join(sorted(wanted))
        raise ValueError(f"rope_parameters: {different[0]!r} is {word} where rope_type is {kind!r}, expected {needs}")
    return rope


def _interpolation(fields: Fields, names: set[str]) -> float:
    rope = checked_rope(fields)
    return rope["factor"] if rope["rope_type"] == "linear" else 1.0


def _stretch(fields: Fields, names: set[str]) -> WavelengthStretch | Yarn | None:
    rope = checked_rope(fields)
    if rope["rope_type"] == "yarn":
        return Yarn(**{ours: rope[theirs] for theirs, ours in YARN.items() if rope.get(theirs) is not None})
    if rope["rope_type"] != "llama3":
        return None
    return WavelengthStretch(**{ours: rope[theirs] for theirs, ours in STRETCH.items()})


def _rope_scaling(config: TransformerConfig) -> dict[str, Any] | None:
    stretch, interpolation = config.positions.stretch, config.positions.interpolation
    if isinstance(stretch, Yarn):
        fields = {theirs: getattr(stretch, ours) for theirs, ours in YARN.items()}
        return {"rope_type": "yarn", **{name: value for name, value in fields.items() if value is not None}}
    if stretch is not None:
        return {"rope_type": "llama3", **{theirs: getattr(stretch, ours) for theirs, ours in STRETCH.items()}}
    return None if interpolation == 1 else {"rope_type": "linear", "factor": interpolation}


def slides(fields: Fields, usual: Callable[[int], bool]) -> list[bool]:
    """Which layers have the window: by `layer_types`, and where that is missing, by the family's rule for layer i."""
    n_layers, kinds = fields["num_hidden_layers"], fields.get("layer_types")
    if kinds is None:
        return [usual(i) for i in range(n_layers)]
    if not isinstance(kinds, list) or len(kinds) != n_layers or not all(kind in (SLIDING, FULL) for kind in kinds):
        raise ValueError(f"layer_types is {str(kinds)[:80]}, expected {n_layers} times {SLIDING!r} or {FULL!r}")
    return [kind == SLIDING for kind in kinds]


def with_windows(
    config: TransformerConfig, sliding: Sequence[bool], window: int | None, positions: PositionConfig | None = None
) -> TransformerConfig:
    """The config whose blocks have the window, and those positions of their own, where `sliding` is True."""
    if any(sliding) and window is None:
        raise ValueError(f"sliding_window is None, but {sum(sliding)} layers have a window")
    own = LayerConfig(attention=replace(config.attention, window=window), positions=positions)
    return replace(config, layers=tuple(own if one else LayerConfig() for one in sliding))


def layer_types(config: TransformerConfig) -> list[str]:
    """The field of that name."""
    windows = (config.of_layer(i).attention.window for i in range(config.n_layers))
    return [FULL if window is None else SLIDING for window in windows]


def sliding_window(config: TransformerConfig) -> int | None:
    """The field of that name: the one window that layers have, or None."""
    found = {config.of_layer(i).attention.window for i in range(config.n_layers)} - {None}
    if len(found) > 1:
        raise ValueError(f"windows of {' and '.join(map(str, sorted(found)))} positions, but the family has one")
    return next(iter(found), None)


def _qwen_windows(config: TransformerConfig, fields: Fields) -> TransformerConfig:
    on, first = flag(fields, "use_sliding_window", False), number(fields, "max_window_layers", 28, least=0)
    sliding = slides(fields, lambda i: i >= first)
    return with_windows(config, [one and on for one in sliding], fields.get("sliding_window", 4096))


FIELDS = {
    "vocab_size": Field("vocab_size"),
    "hidden_size": Field("d_model"),
    "intermediate_size": Field("feed_forward.d_ff"),
    "num_hidden_layers": Field("n_layers"),
    "num_attention_heads": Field("attention.n_heads"),
    "num_key_value_heads": Field("attention.n_kv_heads", None),
    "head_dim": Field("attention.d_head", None),
    "hidden_act": activation("feed_forward.activation", "silu"),
    "max_position_embeddings": Field("context_length"),
    "rms_norm_eps": Field("norm.eps", 1e-6),
    "tie_word_embeddings": Field("embedding.tied", False),
}
CONSTANTS = {
    "attention.bias": False,
    "feed_forward.gated": True,
    "feed_forward.bias": False,
    "positions.kind": "rotary",
    "norm.kind": "rms",
    "embedding.scale": False,
}
DERIVED = {
    "positions.base": lambda fields, names: checked_rope(fields)["rope_theta"],
    "positions.interpolation": _interpolation,
    "positions.stretch": _stretch,
}
WRITTEN = {  # as all versions of the library understand it
    "rope_theta": lambda config: config.positions.base,
    "rope_scaling": _rope_scaling,
}
LLAMA = Family(
    name="llama",
    model=DecoderOnly,
    architectures=("LlamaModel", "LlamaForCausalLM"),
    prefix="model.",
    head=("lm_head",),
    output="lm_head.weight",
    fields=FIELDS | {"attention_bias": Field("attention.bias", False), "mlp_bias": Field("feed_forward.bias", False)},
    constants={path: value for path, value in CONSTANTS.items() if not path.endswith("bias")},
    rows=lambda config: ROWS,
    prepare=prepare,
    derived=DERIVED,
    written=WRITTEN,
    expected={"rope_interleaved": (False,)},
    ignored={
        "rope_parameters": "read by `derived`",
        "pretraining_tp": "changes rounding alone",
        "is_llama_config": "a label",
        "max_sequence_length": "repeats max_position_embeddings",
    },
    left_out={"layers.*.self_attn.rotary_emb.inv_freq": "the frequencies of the rotation are computed"},
)

MISTRAL = replace(
    LLAMA,
    name="mistral",
    architectures=("MistralModel", "MistralForCausalLM"),
    fields=FIELDS | {"sliding_window": Field("attention.window", 4096)},
    constants=CONSTANTS,
    expected={},
    ignored={"rope_parameters": "read by `derived`"},
)

QWEN2 = replace(
    LLAMA,
    name="qwen2",
    architectures=("Qwen2Model", "Qwen2ForCausalLM"),
    fields=FIELDS,
    constants=CONSTANTS | {"attention.bias": True, "attention.output_bias": False},
    layered=_qwen_windows,
    written=WRITTEN
    | {
        "use_sliding_window": lambda config: sliding_window(config) is not None,
        "sliding_window": sliding_window,
        "max_window_layers": lambda config: config.n_layers if sliding_window(config) is None else 0,
        "layer_types": layer_types,
    },
    expected={"use_mrope": (False,)},
    ignored={"rope_parameters": "read by `derived`"},
)

QWEN3 = replace(
    QWEN2,
    name="qwen3",
    architectures=("Qwen3Model", "Qwen3ForCausalLM"),
    fields=FIELDS | {"attention_bias": Field("attention.bias", False), "head_dim": Field("attention.d_head", 128)},
    constants={path: value for path, value in CONSTANTS.items() if path != "attention.bias"}
    | {"attention.qk_norm": True},
)
