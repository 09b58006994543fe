"""Gemma (Gemma Team 2024), Gemma 2 and the text models of Gemma 3 (2024, 2025): Llama's shape with other norms.

Gemma's norms multiply by 1 + weight, and its embedding is scaled by √D as in 2017. The later ones have norms on both
sides. Gemma 2 has a window in every other layer, and caps scores and logits. Gemma 3 has it in five layers of six,
whose rotation has a base of its own, and QK-norm in the place of the caps. Gemma 3's models for pictures are not here.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import PositionConfig, TransformerConfig
from tx_helpers.zoo.parts.outputs import CappedOutput
from tx_helpers.zoo.parts.softmaxes import CappedScores
from tx_helpers.zoo.public.family import Field, Row, activation, number
from tx_helpers.zoo.public.llama import (
    CONSTANTS,
    FIELDS,
    FULL,
    LLAMA,
    ROWS,
    SLIDING,
    WRITTEN,
    checked_rope,
    layer_types,
    mapping,
    prepare,
    slides,
    sliding_window,
    with_windows,
)

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

BLOCK = "decoder.blocks.{}"
BOTH_SIDES = (
    *(row for row in ROWS if row.ours != f"{BLOCK}.feed_forward_norm"),
    Row(f"{BLOCK}.second_norms.0", "layers.{}.post_attention_layernorm"),
    Row(f"{BLOCK}.feed_forward_norm", "layers.{}.pre_feedforward_layernorm"),
    Row(f"{BLOCK}.second_norms.1", "layers.{}.post_feedforward_layernorm"),
)


def _whole(number: float) -> int:
    """The library takes whole numbers here."""
    if abs(number - round(number)) > 1e-6 * number:
        raise ValueError(f"attention.scale={number**-0.5}, expected the inverse root of a whole number")
    return round(number)


def _inverse_root(scalar: Any) -> float:
    if isinstance(scalar, bool) or not isinstance(scalar, int | float) or not 0 < scalar < math.inf:
        raise ValueError("expected a number above 0")
    return scalar**-0.5


SCALE = Field("attention.scale", 256**-0.5, _inverse_root, lambda scale: _whole(scale**-2))


def _cap(ours: str, kind: type[CappedScores | CappedOutput], default: float | None) -> Field:
    """A field for a part with a cap; None: no part."""

    def write(part: Any) -> float | None:
        if part is not None and not isinstance(part, kind):
            raise TypeError(f"not a {kind.__name__}")
        return None if part is None else part.cap

    return Field(ours, default and kind(default), lambda cap: None if cap is None else kind(cap), write)


def _every_other(config: TransformerConfig, fields: Mapping[str, Any]) -> TransformerConfig:
    return with_windows(config, slides(fields, lambda i: i % 2 == 0), fields.get("sliding_window", 4096))


GEMMA2 = replace(
    GEMMA,
    name="gemma2",
    architectures=("Gemma2Model", "Gemma2ForCausalLM"),
    fields=GEMMA.fields
    | {
        "query_pre_attn_scalar": SCALE,
        "attn_logit_softcapping": _cap("attention.attend", CappedScores, 50.0),
        "final_logit_softcapping": _cap("embedding.output", CappedOutput, 30.0),
    },
    constants=GEMMA.constants | {"wiring": "sandwich"},
    rows=lambda config: BOTH_SIDES,
    layered=_every_other,
    written=WRITTEN | {"layer_types": layer_types, "sliding_window": sliding_window},
    ignored=GEMMA.ignored | {"cache_implementation": "how it is computed"},
)


def _gemma3_prepare(fields: dict[str, Any]) -> dict[str, Any]:
    """The rotation of the layers with a window stands beside that of the others, or with it in `rope_parameters`."""
    fields, both = dict(fields), mapping("rope_parameters", fields.get("rope_parameters"))
    local = {"rope_theta": fields.pop("rope_local_base_freq", 10000.0)}
    if any(kind in both for kind in (SLIDING, FULL)):
        both = {kind: mapping(f"rope_parameters: {kind}", both.get(kind)) for kind in (SLIDING, FULL)}
        fields["rope_parameters"], local = both[FULL], {**local, **both[SLIDING]}
    if "rope_theta" not in fields and "rope_theta" not in (fields.get("rope_parameters") or {}):
        fields["rope_theta"] = 1000000.0
    return {**GEMMA.prepare(fields), "local_rope": prepare({"rope_parameters": local})["rope_parameters"]}


def _five_of_six(config: TransformerConfig, fields: Mapping[str, Any]) -> TransformerConfig:
    older = number(fields, "_sliding_window_pattern", 6)
    period = number(fields, "sliding_window_pattern", older)
    local = checked_rope({"rope_parameters": fields["local_rope"]})
    if local["rope_type"] != "default":
        raise ValueError(f"rope_type of layers with a window is {local['rope_type']!r}, expected 'default'")
    sliding = slides(fields, lambda i: (i + 1) % period != 0)
    positions = PositionConfig("rotary", base=local["rope_theta"])
    return with_windows(config, sliding, fields.get("sliding_window", 4096), positions)


def _positions(config: TransformerConfig, kind: str) -> PositionConfig | None:
    """The positions of the layers of this kind, if there are any."""
    found = {config.of_layer(i).positions for i, one in enumerate(layer_types(config)) if one == kind}
    if len(found) > 1:
        raise ValueError(f"{kind} with several kinds of positions, but the family has one")
    return next(iter(found), None)


def _theta(config: TransformerConfig, kind: str, default: float) -> float:
    positions = _positions(config, kind)
    return default if positions is None else positions.base


GEMMA3 = replace(
    GEMMA2,
    name="gemma3_text",
    architectures=("Gemma3TextModel", "Gemma3ForCausalLM"),
    fields={name: field for name, field in GEMMA2.fields.items() if name != "attn_logit_softcapping"}
    | {"final_logit_softcapping": _cap("embedding.output", CappedOutput, None)},
    constants=GEMMA2.constants | {"attention.qk_norm": True},
    prepare=_gemma3_prepare,
    layered=_five_of_six,
    written={
        "layer_types": layer_types,
        "sliding_window": sliding_window,
        "rope_theta": lambda config: _theta(config, FULL, 1000000.0),
        "rope_local_base_freq": lambda config: _theta(config, SLIDING, 10000.0),
        "rope_scaling": lambda config: (
            None
            if _positions(config, FULL) is None
            else WRITTEN["rope_scaling"](replace(config, positions=_positions(config, FULL)))
        ),
    },
    expected=GEMMA2.expected | {"attn_logit_softcapping": (None,)},
    ignored=GEMMA2.ignored
    | dict.fromkeys(("local_rope", "sliding_window_pattern", "_sliding_window_pattern"), "read by `layered`"),
)
