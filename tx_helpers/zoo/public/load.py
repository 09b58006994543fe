"""Public checkpoints in our own models.

    loaded = load_pretrained("some/folder")                  # config.json, model.safetensors, tokenizer.json
    loaded = load_pretrained("openai-community/gpt2", revision="607a30d7…", download=True)
    loaded.model(ids)                                        # DecoderOnly, EncoderOnly or EncoderDecoder

`families` has a table for each family. All is checked by names and shapes before a number is read; then the model is
made without memory (on the meta device) and filled tensor by tensor, each read once.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import TransformerModel
from tx_helpers.zoo.public.families import FAMILIES
from tx_helpers.zoo.public.family import Family, Row, tensors_of
from tx_helpers.zoo.public.files import Entry, read_tensor
from tx_helpers.zoo.public.folder import CONFIG, Source, find

WRAPPERS = re.compile(r"(?:module\.|_orig_mod\.)*")  # of DistributedDataParallel and torch.compile, before all names
SPECIAL = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")


@dataclass(frozen=True)
class Pretrained:
    """A loaded checkpoint.

    model      in evaluation mode
    tokenizer  of the library tokenizers; of Marian `sentence_pieces.SentencePieces`; None where the folder has neither
    family     `model_type` of config.json
    ids        special ids as the checkpoint has them: {"eos_token_id": 50256, …}
    left_out   their tensors that our model does not need -> why
    source     the folder; for one of the hub, its commit and the sha256 of its files
    """

    model: TransformerModel
    config: TransformerConfig
    tokenizer: Any
    family: str
    ids: dict[str, int | list[int]]
    left_out: dict[str, str]
    source: Source


def load_pretrained(
    path_or_id: str | Path,
    *,
    dtype: torch.dtype | None = None,
    pad_id: int | str | None = "config",
    tokenizer: bool = True,
    revision: str | None = None,
    download: bool = False,
    ignore: Collection[str] = (),
) -> Pretrained:
    """Load a checkpoint in the format of the library transformers into our own model.

    path_or_id  a folder, or an id of the hub that is in the local cache, or is fetched with download=True
    dtype       of the model; None: that of the file, the widest if there are several. What must not be rounded (the
                bias for DeepSeek-V3's choice of experts) stays in float32 either way
    pad_id      of the model; "config": the checkpoint's own, unless that is also the id of its beginning or end
    tokenizer   False leaves the tokenizer out
    revision    a commit, tag or branch of the hub; only a commit is the same checkpoint tomorrow
    ignore      fields of config.json to pass over, since you know that they do not change the numbers
    An encoder without an output layer of its own (`config.embedding.output` is None) gives hidden states,
    model.encode(ids); its logits mean nothing.

    Raises ValueError for a checkpoint that is damaged or foreign, or that holds what our models do not have. It names
    the file and both sides.
    """
    check_types("load_pretrained", (str, Path), path_or_id=path_or_id)
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise ValueError(f"load_pretrained: dtype={dtype!r}, expected a torch.dtype of floating-point numbers, or None")
    source = find(path_or_id, revision=revision, download=download)
    where = str(source.folder / CONFIG)
    family = _family(source.fields, where)
    fields = {name: value for name, value in source.fields.items() if name not in ignore}
    entries = _short_names(family, source.entries)
    config = family.read_config(fields, set(entries), where)
    if pad_id != "config":
        if family.fixed_pad and pad_id != config.pad_id:
            raise ValueError(f"load_pretrained: pad_id={pad_id!r}, but positions of {family.name} need {config.pad_id}")
        config = replace(config, pad_id=pad_id)
    if config.embedding.tied and _has_its_own_output(family, config, entries):
        config = replace(config, embedding=replace(config.embedding, tied=False))
    if config.embedding.tied and family.output in entries and not _embedding_names(family, config) & set(entries):
        entries[min(_embedding_names(family, config))] = entries[family.output]  # the one of the two names that is kept
    model = _empty(family.model, config, where)
    taken, left_out = _match(family, model, entries, source.folder)
    words = source.tokenizer if tokenizer else None
    _fill(model, taken, dtype)
    ids = {name: fields[name] for name in SPECIAL if fields.get(name) is not None}
    return Pretrained(model.eval(), config, words, family.name, ids, left_out, source)


def _family(fields: Mapping[str, Any], where: str) -> Family:
    kind, classes = fields.get("model_type"), fields.get("architectures")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ValueError(f"{where}: model_type is {str(kind)[:60]!r}, expected one of {', '.join(FAMILIES)}")
    family = FAMILIES[kind]
    if classes is not None and not (isinstance(classes, list) and set(map(str, classes)) <= set(family.architectures)):
        expected = " or ".join(family.architectures)
        raise ValueError(f"{where}: architectures is {str(classes)[:80]}, expected {expected}")
    return family


def _short_names(family: Family, entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Without the prefixes that only some checkpoints have, and with the names of today."""
    found: dict[str, Entry] = {}
    wrapped = next(match[0] for name in entries or [""] if (match := WRAPPERS.match(name)) is not None)
    wrapped = wrapped if all(name.startswith(wrapped) for name in entries) else ""
    for name, entry in entries.items():
        short = name.removeprefix(wrapped).removeprefix(family.prefix)
        for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
            short = short.replace(old, new)
        if short in found:
            raise ValueError(f"{entry.file}: tensors {found[short].name!r} and {name!r} are the same one")
        found[short] = entry
    return found


def _has_its_own_output(family: Family, config: TransformerConfig, entries: Mapping[str, Entry]) -> bool:
    """Is there an output matrix that is not the embedding, though config.json ties them? (They stay apart.)"""
    if family.output not in entries:
        return False
    output = entries[family.output]
    return any(not _equal(entries[name], output) for name in _embedding_names(family, config) if name in entries)


def _embedding_names(family: Family, config: TransformerConfig) -> set[str]:
    """The names under which the embedding that may be tied, the decoder's, can be in a file."""
    row = [row for row in family.rows(config) if row.ours.endswith("input.tokens")][-1]
    return {f"{name}.weight" for name in (row.theirs, *row.also)}


def _equal(one: Entry, other: Entry) -> bool:
    """Equal to the bit: NaN is equal to itself here."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    tensors = (read_tensor(entry).reshape(-1).view(torch.uint8) for entry in (one, other))
    return torch.equal(*tensors)


def _empty(kind: type[TransformerModel], config: TransformerConfig, where: str) -> TransformerModel:
    try:
        with torch.device("meta"):
            return kind(config)
    except (RuntimeError, OverflowError, TypeError, ValueError) as error:  # sizes beyond all bounds, or unfit
        raise ValueError(f"{where}: no model of these sizes can be made ({str(error)[:200]})") from error


def _match(
    family: Family, model: TransformerModel, entries: Mapping[str, Entry], folder: Path
) -> tuple[list[tuple[list[str], Row, Entry]], dict[str, str]]:
    """For each parameter the tensor that holds it, all shapes checked; and the tensors that are not needed."""
    taken, used, left_out = [], set(), {}
    for names, shape, row in family.sources(model):
        found = [name for name in (row.theirs, *row.also) if name in entries]
        if not found:
            raise ValueError(
                f"{folder}: has no tensor {row.theirs!r}, expected {row.their_shape(shape)} for {names[0]}"
            )
        for name in found:
            entry, expected = entries[name], row.their_shape(shape)
            if entry.shape != expected:
                raise ValueError(
                    f"{entry.file}: tensor {entry.name!r} has shape {entry.shape}, but {CONFIG} makes it {expected}"
                )
            if not entry.dtype.is_floating_point:
                raise ValueError(f"{entry.file}: tensor {entry.name!r} is of {entry.dtype}, expected floating point")
        for name in found[1:]:
            if not _equal(entries[found[0]], entries[name]):
                raise ValueError(f"{entries[name].file}: tensors {found[0]!r} and {name!r} differ, expected the same")
            left_out[name] = f"is {found[0]} again"
        used.update(found)
        taken.append((names, row, entries[found[0]]))
    if model.config.embedding.tied and family.output in entries.keys() - used:
        left_out[family.output] = "is the embedding again"
    for name in entries.keys() - used - left_out.keys():
        patterns = {pattern.format(n_layers=model.config.n_layers): why for pattern, why in family.left_out.items()}
        reasons = [why for pattern, why in patterns.items() if fnmatchcase(name, pattern)]
        if not reasons:
            entry = entries[name]
            raise ValueError(
                f"{entry.file}: tensor {entry.name!r} {entry.shape} is not understood: "
                f"our {type(model).__name__} of the family {family.name} has nothing like it"
            )
        left_out[name] = reasons[0]
    return taken, dict(sorted(left_out.items()))


def _fill(model: nn.Module, taken: list[tuple[list[str], Row, Entry]], dtype: torch.dtype | None) -> None:
    """Give each parameter its numbers, one tensor after the other."""
    if dtype is None:
        dtype = reduce(torch.promote_types, (entry.dtype for _, row, entry in taken if not row.float32))
    shapes = {name: tensor.shape for name, tensor in tensors_of(model).items()}
    for names, row, entry in taken:
        value = torch.empty(shapes[names[0]], dtype=_dtype_of(dtype, row))
        value.copy_(row.take(read_tensor(entry), tuple(value.shape)))
        parameter = nn.Parameter(value)
        for name in names:
            module, _, leaf = name.rpartition(".")
            place = model.get_submodule(module)
            setattr(place, leaf, value if leaf in dict(place.named_buffers(recurse=False)) else parameter)


def _dtype_of(dtype: torch.dtype, row: Row) -> torch.dtype:
    """The dtype of one parameter in a model of this dtype."""
    return torch.promote_types(dtype, torch.float32) if row.float32 else dtype
