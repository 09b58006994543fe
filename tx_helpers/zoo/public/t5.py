"""T5 (Raffel et al. 2020), its version 1.1 and Flan-T5.

Version 1.1 has gates, an output layer that is not the embedding, and no factor D^−½ before it. The library transformers
once said the last two by `tie_word_embeddings` being false; today `scale_decoder_outputs` says the second, and a
tensor lm_head.weight in the file the first.
"""

from collections.abc import Mapping
from typing import Any

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.zoo.parts.outputs import ScaledOutput
from tx_helpers.zoo.public.family import Family, Field, Row, flag, number

FEED_FORWARDS = {  # feed_forward_proj: our activation, gated
    "relu": ("relu", False),
    "gelu": ("gelu", False),
    "silu": ("silu", False),
    "gated-relu": ("relu", True),
    "gated-gelu": ("gelu_tanh", True),
    "gated-silu": ("silu", True),
}
ATTENTION = {"query": "q", "key": "k", "value": "v", "output": "o"}


def _rows(config: TransformerConfig) -> tuple[Row, ...]:
    rows = [
        Row("encoder.input.tokens", "shared", also=("encoder.embed_tokens", "decoder.embed_tokens")),
        Row("output", "lm_head"),
    ]
    for stack, feed in (("encoder", 1), ("decoder", 2)):
        ours, theirs = f"{stack}.blocks.{{}}", f"{stack}.block.{{}}.layer"
        for one, its in ATTENTION.items():
            rows.append(Row(f"{ours}.self_attention.{one}", f"{theirs}.0.SelfAttention.{its}"))
            rows.append(Row(f"{ours}.cross_attention.{one}", f"{theirs}.1.EncDecAttention.{its}"))
        dense = f"{theirs}.{feed}.DenseReluDense"
        rows += [
            Row(f"{stack}.bias.table", f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias"),
            Row(f"{stack}.norm", f"{stack}.final_layer_norm"),
            Row(f"{ours}.self_attention_norm", f"{theirs}.0.layer_norm"),
            Row(f"{ours}.cross_attention_norm", f"{theirs}.1.layer_norm"),
            Row(f"{ours}.feed_forward_norm", f"{theirs}.{feed}.layer_norm"),
            Row(f"{ours}.feed_forward.gate", f"{dense}.wi_0"),
            Row(f"{ours}.feed_forward.expand", f"{dense}.{'wi_1' if config.feed_forward.gated else 'wi'}"),
            Row(f"{ours}.feed_forward.contract", f"{dense}.wo"),
        ]
    return tuple(rows)


def _feed_forward(fields: Mapping[str, Any]) -> tuple[str, bool]:
    kind = fields.get("feed_forward_proj", "relu")
    if not isinstance(kind, str) or kind not in FEED_FORWARDS:
        raise ValueError(f"feed_forward_proj is {str(kind)[:60]!r}, expected one of {', '.join(FEED_FORWARDS)}")
    return FEED_FORWARDS[kind]


def _write_feed_forward(config: TransformerConfig) -> str | None:
    kind = (config.feed_forward.activation, config.feed_forward.gated)
    return next((name for name, ours in FEED_FORWARDS.items() if ours == kind), None)


def _scaled(fields: Mapping[str, Any]) -> bool:
    return flag(fields, "scale_decoder_outputs", flag(fields, "tie_word_embeddings", True))


T5 = Family(
    name="t5",
    model=EncoderDecoder,
    architectures=("T5Model", "T5WithLMHeadModel", "T5ForConditionalGeneration"),
    prefix="",
    head=(),
    output="lm_head.weight",
    default_pad=0,
    fields={
        "vocab_size": Field("vocab_size"),
        "d_model": Field("d_model"),
        "d_kv": Field("attention.d_head"),
        "d_ff": Field("feed_forward.d_ff"),
        "num_layers": Field("n_encoder_layers"),
        "num_heads": Field("attention.n_heads"),
        "relative_attention_num_buckets": Field("positions.buckets", 32),
        "relative_attention_max_distance": Field("positions.max_distance", 128),
        "layer_norm_epsilon": Field("norm.eps", 1e-6),
        "dropout_rate": Field("dropout", 0.1),
    },
    constants={
        "attention.bias": False,
        "attention.scale": 1.0,
        "feed_forward.bias": False,
        "positions.kind": "t5",
        "norm.kind": "rms",
        "embedding.scale": False,
        "embedding.tied": True,
    },
    rows=_rows,
    derived={
        "n_layers": lambda fields, names: fields.get("num_decoder_layers") or fields["num_layers"],
        "feed_forward.activation": lambda fields, names: _feed_forward(fields)[0],
        "feed_forward.gated": lambda fields, names: _feed_forward(fields)[1],
        "embedding.output": lambda fields, names: (
            ScaledOutput(number(fields, "d_model") ** -0.5) if _scaled(fields) else None
        ),
    },
    written={
        "num_decoder_layers": lambda config: config.n_layers,
        "feed_forward_proj": _write_feed_forward,
        "tie_word_embeddings": lambda config: config.embedding.output is not None,
    },
    expected={"is_encoder_decoder": (True,)},
    ignored={
        "scale_decoder_outputs": "read by `derived`",
        "dense_act_fn": "repeats feed_forward_proj",
        "is_gated_act": "repeats feed_forward_proj",
        "n_positions": "of the data: distances have no limit",
    },
    left_out={
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": "trained by nobody, and used nowhere",
    },
)
