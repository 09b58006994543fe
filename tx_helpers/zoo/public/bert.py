"""BERT (Devlin et al. 2019) and MiniLM, RoBERTa (Liu et al. 2019), DistilBERT (Sanh et al. 2019).

A checkpoint with an output layer for masked words has a dense layer and a norm before it; its names say whether it has
them. RoBERTa's first real token is at position pad_id + 1: the rows before it belong to padding, and are left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import EncoderOnly
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.parts.outputs import TransformedOutput
from tx_helpers.zoo.public.family import ACTIVATIONS, TASK, TRAINING, Family, Field, Row, activation, flag, number

BODY = {
    "encoder.input.tokens": "embeddings.word_embeddings",
    "encoder.input.segments": "embeddings.token_type_embeddings",
    "encoder.input.norm": "embeddings.LayerNorm",
    "encoder.blocks.{}.self_attention.query": "encoder.layer.{}.attention.self.query",
    "encoder.blocks.{}.self_attention.key": "encoder.layer.{}.attention.self.key",
    "encoder.blocks.{}.self_attention.value": "encoder.layer.{}.attention.self.value",
    "encoder.blocks.{}.self_attention.output": "encoder.layer.{}.attention.output.dense",
    "encoder.blocks.{}.self_attention_norm": "encoder.layer.{}.attention.output.LayerNorm",
    "encoder.blocks.{}.feed_forward.expand": "encoder.layer.{}.intermediate.dense",
    "encoder.blocks.{}.feed_forward.contract": "encoder.layer.{}.output.dense",
    "encoder.blocks.{}.feed_forward_norm": "encoder.layer.{}.output.LayerNorm",
}


def _rows(config: TransformerConfig, skip: int = 0, **head: str) -> tuple[Row, ...]:
    """Those of BERT's body, and of an output layer whose four parts have these names.

    Theirs has two output biases, which are one where the matrix is the embedding; otherwise the decoder's own is used.
    """
    bias = f"{head['decoder']}.bias"
    return (
        *(Row(ours, theirs) for ours, theirs in BODY.items()),
        Row("encoder.input.positions.table", "embeddings.position_embeddings", skip=skip),
        Row("transform.dense", head["dense"]),
        Row("transform.norm", head["norm"]),
        Row("output.weight", f"{head['decoder']}.weight"),
        Row("output.bias", head["bias"], also=(bias,)) if config.embedding.tied else Row("output.bias", bias),
    )


def _head(dense: str, default: str | None = None, name: str = "hidden_act") -> dict[str, Any]:
    """What follows from there being an output layer: its dense layer's name tells."""

    def has_head(names: set[str]) -> bool:
        return f"{dense}.weight" in names

    def transform(fields: Mapping[str, Any], names: set[str]) -> TransformedOutput | None:
        return TransformedOutput(default or ACTIVATIONS[fields.get(name, "gelu")]) if has_head(names) else None

    return {
        "embedding.output": transform,
        "embedding.tied": lambda fields, names: flag(fields, "tie_word_embeddings", True) or not has_head(names),
    }


def _with_segments(segments: Any) -> NormedInput:
    if segments == 0:
        raise ValueError("expected at least 1")
    return NormedInput(segments)


def _segments(part: Any) -> int:
    if not isinstance(part, NormedInput):
        raise TypeError("no segments")
    return part.segments


def _written(body: str, whole: str) -> dict[str, Any]:
    def architectures(config: TransformerConfig) -> list[str]:
        return [body if config.embedding.output is None else whole]

    return {"architectures": architectures, "tie_word_embeddings": lambda config: config.embedding.tied}


CONSTANTS = {
    "wiring": "post_norm",
    "positions.kind": "learned",
    "embedding.scale": False,
}
UNUSED_BIAS = "not used where the output layer has a matrix and a bias of its own"
POOLER = {
    "pooler.*": "the pooler: a dense layer over the first position, for whole sentences",
    "embeddings.position_ids": "positions are counted",
}

BERT = Family(
    name="bert",
    model=EncoderOnly,
    architectures=("BertModel", "BertForPreTraining", "BertForMaskedLM"),
    prefix="bert.",
    head=("cls.",),
    output="cls.predictions.decoder.weight",
    default_pad=0,
    fields={
        "vocab_size": Field("vocab_size"),
        "hidden_size": Field("d_model"),
        "num_hidden_layers": Field("n_layers"),
        "num_attention_heads": Field("attention.n_heads"),
        "intermediate_size": Field("feed_forward.d_ff"),
        "hidden_act": activation("feed_forward.activation", "gelu"),
        "max_position_embeddings": Field("context_length"),
        "type_vocab_size": Field("embedding.input", NormedInput(2), _with_segments, _segments),
        "layer_norm_eps": Field("norm.eps", 1e-12),
        "hidden_dropout_prob": Field("dropout", 0.1),
    },
    constants=CONSTANTS,
    rows=lambda config: _rows(
        config,
        dense="cls.predictions.transform.dense",
        norm="cls.predictions.transform.LayerNorm",
        decoder="cls.predictions.decoder",
        bias="cls.predictions.bias",
    ),
    derived=_head("cls.predictions.transform.dense"),
    written=_written("BertModel", "BertForMaskedLM"),
    expected={"position_embedding_type": ("absolute",)},
    ignored={
        "attention_probs_dropout_prob": TRAINING,
        **dict.fromkeys(("directionality", "pooler_type", "pooler_fc_size", "pooler_num_attention_heads"), TASK),
        **dict.fromkeys(("pooler_num_fc_layers", "pooler_size_per_head"), TASK),
    },
    left_out={
        **POOLER,
        "cls.seq_relationship.*": "the output layer for next sentences",
        "cls.predictions.bias": UNUSED_BIAS,
    },
)


def _context(fields: Mapping[str, Any], names: set[str]) -> int:
    return number(fields, "max_position_embeddings") - number(fields, "pad_token_id", 1, least=0) - 1


def _rows_of_positions(config: TransformerConfig) -> int:
    if config.pad_id is None:
        raise ValueError("pad_id=None in the model, but the family counts positions from its id of padding")
    return config.context_length + config.pad_id + 1


ROBERTA = replace(
    BERT,
    name="roberta",
    architectures=("RobertaModel", "RobertaForMaskedLM"),
    prefix="roberta.",
    head=("lm_head.",),
    output="lm_head.decoder.weight",
    default_pad=1,
    fixed_pad=True,
    fields={name: field for name, field in BERT.fields.items() if name != "max_position_embeddings"},
    rows=lambda config: _rows(
        config,
        skip=config.pad_id + 1,
        dense="lm_head.dense",
        norm="lm_head.layer_norm",
        decoder="lm_head.decoder",
        bias="lm_head.bias",
    ),
    derived=_head("lm_head.dense", "gelu") | {"context_length": _context},
    written=_written("RobertaModel", "RobertaForMaskedLM") | {"max_position_embeddings": _rows_of_positions},
    left_out={**POOLER, "lm_head.bias": UNUSED_BIAS},
)

DISTILBERT_NAMES = {
    "encoder.layer": "transformer.layer",
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}


def _distilbert_rows(config: TransformerConfig) -> tuple[Row, ...]:
    head = dict(
        dense="vocab_transform", norm="vocab_layer_norm", decoder="vocab_projector", bias="vocab_projector.bias"
    )
    rows = []
    for row in _rows(config, **head):
        theirs = row.theirs
        for bert, distilbert in DISTILBERT_NAMES.items():
            theirs = theirs.replace(bert, distilbert)
        rows.append(row._replace(theirs=theirs, also=()))
    return tuple(rows)


DISTILBERT = replace(
    BERT,
    name="distilbert",
    architectures=("DistilBertModel", "DistilBertForMaskedLM"),
    prefix="distilbert.",
    head=("vocab_",),
    output="vocab_projector.weight",
    fields={
        "vocab_size": Field("vocab_size"),
        "dim": Field("d_model"),
        "n_layers": Field("n_layers"),
        "n_heads": Field("attention.n_heads"),
        "hidden_dim": Field("feed_forward.d_ff"),
        "activation": activation("feed_forward.activation", "gelu"),
        "max_position_embeddings": Field("context_length"),
        "dropout": Field("dropout", 0.1),
    },
    constants=CONSTANTS | {"norm.eps": 1e-12, "embedding.input": NormedInput()},
    rows=_distilbert_rows,
    derived=_head("vocab_transform", name="activation"),
    written=_written("DistilBertModel", "DistilBertForMaskedLM"),
    expected={},
    ignored={
        "sinusoidal_pos_embds": "the table of positions is in the file",
        "tie_weights_": "repeats tie_word_embeddings",
        "qa_dropout": TRAINING,
        "seq_classif_dropout": TRAINING,
    },
    left_out=POOLER,
)
