"""A family of checkpoints as a table: which field of config.json, and which tensor, is which part of our model.

    fields     "n_embd" is our d_model; also read backwards, to write a config.json
    constants  what the family always has in our config: GPT-2's positions are learned
    expected   fields that must have one of these values, because we have nothing else
    ignored    fields that change nothing in what the model computes, each with the reason
    rows       "ln_f" is our decoder.norm

A field or a tensor that stands in no table is an error: nothing is ignored silently.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import TransformerModel
from tx_helpers.zoo.public.config_paths import at, build, differences, resolved

REQUIRED = object()
TRAINING, TASK, GENERATION = "used in training alone", "of another task's output layer", "an option of generation"
IGNORED = {  # fields of all families
    **dict.fromkeys(("transformers_version", "_name_or_path", "torch_dtype", "dtype", "architectures"), "a label"),
    **dict.fromkeys(("finetuning_task", "tokenizer_class", "model_type", "transformers.js_config"), "a label"),
    **dict.fromkeys(("unsloth_version", "unsloth_fixed", "_attn_implementation_autoset"), "a label"),
    **dict.fromkeys(("_flash_attn_2_enabled", "_attn_implementation"), "how it is computed"),
    **dict.fromkeys(("remove_invalid_values", "suppress_tokens", "begin_suppress_tokens"), GENERATION),
    **dict.fromkeys(("use_cache", "output_past", "output_attentions", "output_hidden_states"), "what is returned"),
    **dict.fromkeys(("return_dict", "use_return_dict", "torchscript", "chunk_size_feed_forward"), "how it is computed"),
    **dict.fromkeys(("initializer_range", "initializer_factor", "init_std", "gradient_checkpointing"), TRAINING),
    **dict.fromkeys(("attention_dropout", "activation_dropout", "classifier_dropout", "classif_dropout"), TRAINING),
    **dict.fromkeys(("id2label", "label2id", "num_labels", "_num_labels", "problem_type"), TASK),
    **dict.fromkeys(("bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_bos_token_id"), GENERATION),
    **dict.fromkeys(("unk_token_id", "sep_token_id", "cls_token_id", "mask_token_id"), "an id of the tokenizer"),
    **dict.fromkeys(("forced_eos_token_id", "bad_words_ids", "num_beams", "max_length", "min_length"), GENERATION),
    **dict.fromkeys(("length_penalty", "no_repeat_ngram_size", "early_stopping", "do_sample"), GENERATION),
    **dict.fromkeys(("task_specific_params", "prefix", "temperature", "top_k", "top_p"), GENERATION),
    **dict.fromkeys(("num_return_sequences", "repetition_penalty", "force_bos_token_to_be_generated"), GENERATION),
}
EXPECTED = {  # fields of all families: the values that ours is right for
    "add_cross_attention": (False, None),
    "is_decoder": (False, None),
    "pruned_heads": ({}, None),
    "tie_encoder_decoder": (False, None),
    "is_encoder_decoder": (False,),
}
ACTIVATIONS = {  # names in transformers and ours; where ours has several names, the first is written
    **{"relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"},
    **{"gelu_fast": "gelu_tanh", "silu": "silu", "swish": "silu", "sigmoid": "sigmoid", "relu2": "relu2"},
}


def same(value: Any) -> Any:
    """No conversion."""
    return value


def number(fields: Mapping[str, Any], name: str, default: Any = REQUIRED, *, least: float = 1) -> int:
    """A field of config.json that must be a whole number; the ValueError names it and both sides."""
    value = fields.get(name, default)
    if value is REQUIRED:
        raise ValueError(f"has no field {name!r}, expected a whole number")
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"field {name!r} is {str(value)[:60]}, expected a whole number of at least {least}")
    return value


def flag(fields: Mapping[str, Any], name: str, default: bool) -> bool:
    """A field of config.json that must be true or false: the text "false" would count as true."""
    value = fields.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"field {name!r} is {str(value)[:60]}, expected true or false")
    return value


class Field(NamedTuple):
    """A field of config.json: its path in `TransformerConfig`, its value where it is missing, and any conversion."""

    ours: str
    default: Any = REQUIRED
    read: Callable[[Any], Any] = same
    write: Callable[[Any], Any] = same


def activation(ours: str, default: Any = REQUIRED) -> Field:
    """A field that names an activation function."""

    def read(name: str) -> str:
        if not isinstance(name, str) or name not in ACTIVATIONS:
            raise ValueError(f"expected one of {', '.join(ACTIVATIONS)}")
        return ACTIVATIONS[name]

    return Field(ours, default, read, lambda name: next(theirs for theirs, ours in ACTIVATIONS.items() if ours == name))


class Row(NamedTuple):
    """A module of ours, or one parameter, and the module or tensor of theirs that holds it.

    {} is the block's number, and a second {} that of an expert.

    part        (k, n): ours is the k-th of n equal parts of their outputs, as where queries, keys and values are fused
    cut         (start, total, n): theirs is n pieces of `total` outputs, and in each ours begins at `start`: for parts
                that are not equal, or lie side by side by head
    transposed  their matrices lie (inputs, outputs)
    skip        rows of theirs before the first of ours
    wrapped     theirs has one more dimension, of length 1, in front
    also        other names under which the same tensor may be in a file; copied: it is written under these, too
    float32     is never loaded in less than float32, whatever the rest of the model is in
    """

    ours: str
    theirs: str
    part: tuple[int, int] = (0, 1)
    transposed: bool = False
    skip: int = 0
    wrapped: bool = False
    also: tuple[str, ...] = ()
    cut: tuple[int, int, int] | None = None
    copied: bool = False
    float32: bool = False

    def their_shape(self, ours: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of their tensor, of which ours is one or a part."""
        first, *rest = ours
        shape = (first * self.part[1] + self.skip, *rest)
        if self.cut is not None:
            _, total, n = self.cut
            shape = (total * n, *rest)
        shape = shape[::-1] if self.transposed else shape
        return (1, *shape) if self.wrapped else shape

    @property
    def whole(self) -> bool:
        """Are the numbers of ours those of theirs, in the same order?"""
        return self.part == (0, 1) and not self.transposed and not self.skip and self.cut is None

    def take(self, theirs: Tensor, ours: tuple[int, ...]) -> Tensor:
        """Ours, of this shape, from theirs."""
        if self.cut is not None:
            start, total, n = self.cut
            return theirs.unflatten(0, (n, total))[:, start : start + ours[0] // n].flatten(0, 1)
        whole = theirs.squeeze(0) if self.wrapped else theirs
        whole = whole.T if self.transposed and whole.dim() == 2 else whole
        k, n = self.part
        length = (len(whole) - self.skip) // n
        return whole[self.skip + k * length : self.skip + (k + 1) * length]


def give(parts: list[tuple[Row, Tensor]]) -> Tensor:
    """Theirs, put together from its parts in ours: the opposite of `Row.take`."""
    row = parts[0][0]
    if row.cut is not None:
        inner = sorted(parts, key=lambda part: part[0].cut or ())
        return torch.cat([tensor.unflatten(0, (one.cut[2], -1)) for one, tensor in inner], dim=1).flatten(0, 1)
    tensors = [tensor for _, tensor in sorted(parts, key=lambda part: part[0].part)]
    if row.skip:
        tensors.insert(0, tensors[0].new_zeros(row.skip, *tensors[0].shape[1:]))
    whole = torch.cat(tensors) if len(tensors) > 1 else tensors[0]
    whole = whole.T if row.transposed and whole.dim() == 2 else whole
    return whole.unsqueeze(0) if row.wrapped else whole


@dataclass(frozen=True)
class Family:
    """See the head of this file.

    name           `model_type` of config.json
    architectures  their classes whose checkpoints these are; the last is written
    prefix         what stands before the names of tensors where theirs has an output layer; not before those of `head`
    default_pad    the id of padding where config.json has none; fixed_pad: it cannot be another one
    prepare        brings fields of older versions into the present form
    derived        path of ours -> function of (fields, names of the tensors)
    layered        (our config so far, their fields) -> our config, where blocks differ
    written        field -> function of our config: fields that `fields` alone cannot write
    output         the name of the output layer's matrix; it may be the embedding's
    left_out       pattern of tensor names, where {n_layers} is ours, -> why they are not needed
    """

    name: str
    model: type[TransformerModel]
    architectures: tuple[str, ...]
    prefix: str
    head: tuple[str, ...]
    output: str
    fields: Mapping[str, Field]
    constants: Mapping[str, Any]
    rows: Callable[[TransformerConfig], tuple[Row, ...]]
    default_pad: int | None = None
    fixed_pad: bool = False
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = dict
    derived: Mapping[str, Callable[[Mapping[str, Any], set[str]], Any]] = field(default_factory=dict)
    layered: Callable[[TransformerConfig, Mapping[str, Any]], TransformerConfig] = lambda config, fields: config
    written: Mapping[str, Callable[[TransformerConfig], Any]] = field(default_factory=dict)
    expected: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def read_config(self, given: dict[str, Any], names: set[str], where: str) -> TransformerConfig:
        """Our config from theirs. `names` are those of the tensors: some say nowhere else what they have."""
        try:
            theirs = self.prepare(given)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        known = {*self.fields, *self.written, *self.expected, *EXPECTED, *self.ignored, *IGNORED, "pad_token_id"}
        for name, value in theirs.items():
            if name not in known and value is not None:
                unknown = f"{where}: field {name!r} is {str(value)[:60]}, which {self.name} here does not know"
                raise ValueError(f"{unknown}; if it changes no numbers, load with ignore=({name!r},)")
        for name, allowed in {**EXPECTED, **self.expected}.items():
            value = theirs.get(name, allowed[0])
            if not any(type(value) is type(one) and value == one for one in allowed):
                wanted = " or ".join(map(repr, allowed))
                raise ValueError(f"{where}: field {name!r} is {str(value)[:60]}, expected {wanted}")
        values: dict[str, Any] = {"pad_id": pad_id(theirs, self.default_pad), **self.constants}
        given_by: dict[str, str] = {}
        for name, (ours, default, read, _) in self.fields.items():
            if name not in theirs:
                if default is REQUIRED:
                    raise ValueError(f"{where}: has no field {name!r}, expected one for {ours}")
                values.setdefault(ours, default)
                continue
            try:
                value = read(theirs[name])
            except ValueError as error:
                raise ValueError(f"{where}: field {name!r} is {str(theirs[name])[:60]}, {error}") from None
            if ours in given_by and value != values[ours]:
                raise ValueError(f"{where}: {given_by[ours]} is {values[ours]!r}, but {name} is {value!r}")
            values[ours], given_by[ours] = value, name
        try:
            check_layers(values, names)
            values |= {path: derive(theirs, names) for path, derive in self.derived.items()}
            check_layers(values, names)
            return self.layered(build(values), theirs)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{where}: {error}") from error

    def write_config(self, config: TransformerConfig) -> dict[str, Any]:
        """Their fields for our config. Raises ValueError where the family has no such model, naming both sides."""
        ours = resolved(config)
        written: dict[str, Any] = {"model_type": self.name, "architectures": [self.architectures[-1]]}
        where = f"save_pretrained: the family {self.name}"
        for name, field_ in self.fields.items():
            try:
                written[name] = field_.write(at(ours, field_.ours))
            except (StopIteration, TypeError) as error:
                value = at(ours, field_.ours)
                raise ValueError(f"{where}: {field_.ours}={value!r} has no counterpart in {name!r}") from error
        try:
            written |= {name: write(ours) for name, write in self.written.items()}
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
        written["pad_token_id"] = config.pad_id
        names = self.names(ours)
        again = resolved(self.read_config(written, names, where))
        if self.output in names:  # a matrix of its own: `load_pretrained` sees it in the file
            again = replace(again, embedding=replace(again.embedding, tied=False))
        for path, (mine, its) in differences(ours, again).items():
            raise ValueError(f"{where}: {path}={mine!r} in the model, but the family has {its!r}")
        return written

    def sources(self, model: TransformerModel) -> Iterator[tuple[list[str], tuple[int, ...], Row]]:
        """For each tensor of ours: its names (several if it is shared), its shape and its row, numbers filled in."""
        for names, shape, row in self._rows_of(model):
            if row is None:
                raise ValueError(f"{self.name} has nothing for {names[0]!r} of our {type(model).__name__}")
            yield names, shape, row

    def _rows_of(self, model: TransformerModel) -> Iterator[tuple[list[str], tuple[int, ...], Row | None]]:
        rows = {row.ours: row for row in self.rows(model.config)}
        shared: dict[int, list[str]] = {}
        parameters = tensors_of(model)
        for name, parameter in parameters.items():
            shared.setdefault(id(parameter), []).append(name)
        for group in shared.values():
            row = next(filter(None, (_row(rows, name) for name in group)), None)
            yield group, tuple(parameters[group[0]].shape), row

    def names(self, config: TransformerConfig) -> set[str]:
        """The names of their tensors for a model of this config."""
        with torch.device("meta"):
            return {row.theirs for _, _, row in self._rows_of(self.model(config)) if row}

    def full_name(self, name: str) -> str:
        """The name with the prefix that it has in a checkpoint with an output layer."""
        return name if name.startswith(self.head) else self.prefix + name


def tensors_of(model: TransformerModel) -> dict[str, Tensor]:
    """All that a checkpoint holds, shared tensors under each of their names: parameters, and buffers that are saved."""
    return {**model.state_dict(keep_vars=True), **dict(model.named_parameters(remove_duplicate=False))}


def pad_id(theirs: Mapping[str, Any], default: int | None) -> int | None:
    """The id that our model masks everywhere: theirs, unless a text may hold it as its beginning or its end."""
    pad = theirs.get("pad_token_id", default)
    ends = theirs.get("eos_token_id")
    ends = ends if isinstance(ends, list) else [ends]
    return None if pad in (*ends, theirs.get("bos_token_id"), -1) else pad


def check_layers(values: Mapping[str, Any], names: set[str]) -> None:
    """There are no more layers than tensors: a wrong number would take all memory, even without weights."""
    for path in ("n_layers", "n_encoder_layers"):
        layers = values.get(path)
        if isinstance(layers, int) and layers > len(names):
            raise ValueError(f"{layers} layers, but the checkpoint has {len(names)} tensors")


def _row(rows: Mapping[str, Row], name: str) -> Row | None:
    """The row of a parameter, or of its module, with block, expert and the parameter's name filled in."""
    numbers = re.findall(r"\b(?:blocks|experts)\.(\d+)", name)
    pattern = re.sub(r"\b(blocks|experts)\.\d+", r"\1.{}", name)
    module, _, leaf = pattern.rpartition(".")
    row, ending = (rows[pattern], "") if pattern in rows else (rows.get(module), f".{leaf}")
    if row is None:
        return None
    return row._replace(
        ours=name,
        theirs=row.theirs.format(*numbers) + ending,
        also=tuple(other.format(*numbers) + ending for other in row.also),
    )
