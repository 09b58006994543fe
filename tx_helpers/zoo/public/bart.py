"""BART (Lewis et al. 2020) and Marian, the OPUS-MT translators (Tiedemann and Thottingal 2020).

Both have the wiring of 2017. BART learns its positions, in tables whose first two rows are unused, and has a norm after
the embedding; Marian computes sinusoids, all sines before all cosines, and may have two vocabularies.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.parts.outputs import BiasedOutput
from tx_helpers.zoo.public.family import TRAINING, Family, Field, Row, activation, flag, number

ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
UNUSED = 2  # rows of BART's tables of positions
SHARED = ("encoder.embed_tokens", "decoder.embed_tokens")


def _rows(config: TransformerConfig) -> tuple[Row, ...]:
    if config.source_vocab_size is None:
        # Where the output is a matrix of its own, the library takes `shared` for a third one that nothing reads.
        rows = [Row("encoder.input.tokens", "shared", also=SHARED, copied=not config.embedding.tied)]
    else:
        rows = [Row("encoder.input.tokens", SHARED[0]), Row("decoder.input.tokens", SHARED[1])]
    rows += [Row("output.weight", "lm_head.weight"), Row("output.bias", "final_logits_bias", wrapped=True)]
    for stack in ("encoder", "decoder"):
        ours, theirs = f"{stack}.blocks.{{}}", f"{stack}.layers.{{}}"
        rows += [Row(f"{ours}.self_attention.{one}", f"{theirs}.self_attn.{its}") for one, its in ATTENTION.items()]
        rows += [Row(f"{ours}.cross_attention.{one}", f"{theirs}.encoder_attn.{its}") for one, its in ATTENTION.items()]
        rows += [
            Row(f"{stack}.input.positions.table", f"{stack}.embed_positions", skip=UNUSED),
            Row(f"{stack}.input.norm", f"{stack}.layernorm_embedding"),
            Row(f"{ours}.self_attention_norm", f"{theirs}.self_attn_layer_norm"),
            Row(f"{ours}.cross_attention_norm", f"{theirs}.encoder_attn_layer_norm"),
            Row(f"{ours}.feed_forward.expand", f"{theirs}.fc1"),
            Row(f"{ours}.feed_forward.contract", f"{theirs}.fc2"),
            Row(f"{ours}.feed_forward_norm", f"{theirs}.final_layer_norm"),
        ]
    return tuple(rows)


BART = Family(
    name="bart",
    model=EncoderDecoder,
    architectures=("BartModel", "BartForConditionalGeneration"),
    prefix="model.",
    head=("lm_head.", "final_logits_bias"),
    output="lm_head.weight",
    default_pad=1,
    fields={
        "vocab_size": Field("vocab_size"),
        "d_model": Field("d_model"),
        "encoder_layers": Field("n_encoder_layers"),
        "num_hidden_layers": Field("n_encoder_layers", None),
        "decoder_layers": Field("n_layers"),
        "encoder_attention_heads": Field("attention.n_heads"),
        "decoder_attention_heads": Field("attention.n_heads"),
        "encoder_ffn_dim": Field("feed_forward.d_ff"),
        "decoder_ffn_dim": Field("feed_forward.d_ff"),
        "activation_function": activation("feed_forward.activation", "gelu"),
        "max_position_embeddings": Field("context_length"),
        "scale_embedding": Field("embedding.scale", False),
        "dropout": Field("dropout", 0.1),
        "tie_word_embeddings": Field("embedding.tied", True),
    },
    constants={"wiring": "post_norm", "positions.kind": "learned", "embedding.input": NormedInput()},
    rows=_rows,
    derived={"embedding.output": lambda fields, names: BiasedOutput() if "final_logits_bias" in names else None},
    expected={
        "is_encoder_decoder": (True,),
        "normalize_before": (False,),
        "normalize_embedding": (True,),
        "add_final_layer_norm": (False,),
        "add_bias_logits": (False,),
        "static_position_embeddings": (False,),
    },
    ignored={
        "encoder_layerdrop": TRAINING,
        "decoder_layerdrop": TRAINING,
        "extra_pos_embeddings": "repeats the two unused rows of positions",
    },
    left_out={"*.version": "a label"},
)


def _shared(fields: Mapping[str, Any]) -> bool:
    return flag(fields, "share_encoder_decoder_embeddings", True)


def _target_words(fields: Mapping[str, Any], names: set[str]) -> int:
    source = number(fields, "vocab_size")
    words = fields.get("decoder_vocab_size") or source
    if _shared(fields) and words != source:
        raise ValueError(f"decoder_vocab_size={words} and vocab_size={source}, though embeddings are shared")
    return words


MARIAN = replace(
    BART,
    name="marian",
    architectures=("MarianModel", "MarianMTModel"),
    default_pad=58100,
    fields={name: field for name, field in BART.fields.items() if name != "vocab_size"},
    constants={"wiring": "post_norm", "positions.kind": "sinusoidal_halves"},
    derived=BART.derived
    | {
        "vocab_size": _target_words,
        "source_vocab_size": lambda fields, names: None if _shared(fields) else fields["vocab_size"],
    },
    written={
        "vocab_size": lambda config: config.source_vocab_size or config.vocab_size,
        "decoder_vocab_size": lambda config: config.vocab_size,
        "share_encoder_decoder_embeddings": lambda config: config.source_vocab_size is None,
    },
    expected=BART.expected
    | {
        "normalize_embedding": (False,),
        "static_position_embeddings": (True,),
        "add_bias_logits": (False, True),  # the bias is in the file either way
    },
    ignored=BART.ignored | {"extra_pos_embeddings": "sinusoids have no unused rows"},
    left_out={
        "encoder.embed_positions.weight": "sinusoids are computed",
        "decoder.embed_positions.weight": "sinusoids are computed",
    },
)
