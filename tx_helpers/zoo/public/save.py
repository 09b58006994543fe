"""Our own models in the format of the library transformers.

    save_pretrained(model, "some/folder")                    # config.json and model.safetensors
    transformers.AutoModelForCausalLM.from_pretrained("some/folder")       # the same logits

A model can be written if its config is one of a family's: a `DecoderOnly` with learned positions and LayerNorm is a
GPT-2, one with rotary positions, RMSNorm and gates is a Llama.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.models import EncoderDecoder, TransformerModel
from tx_helpers.training.checkpoints import save_tensors
from tx_helpers.zoo.public.families import FAMILIES
from tx_helpers.zoo.public.family import Family, Row, give, tensors_of
from tx_helpers.zoo.public.folder import CONFIG, TOKENIZER, WEIGHTS


def save_pretrained(
    model: TransformerModel,
    folder: str | Path,
    *,
    family: str | None = None,
    tokenizer: Any = None,
    ids: Mapping[str, int] | None = None,
) -> Path:
    """Write config.json and model.safetensors, each file whole or not at all. Returns the folder.

    family     one of `families.FAMILIES`; None: the first that has a model like this one
    tokenizer  of the library tokenizers, to be written as tokenizer.json
    ids        further fields of config.json: {"bos_token_id": 1, "eos_token_id": 2}

    Raises ValueError for a model that no family has, naming what differs. Nothing is written then.
    """
    check_types("save_pretrained", TransformerModel, model=model)
    chosen, fields = _chosen(model, family)
    fields |= {"dtype": str(next(model.parameters()).dtype).removeprefix("torch."), **_ids(model, ids or {})}
    tensors = to_theirs(chosen, model)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = {name: folder / f".{name}.{os.getpid()}.unfinished" for name in (WEIGHTS, CONFIG, TOKENIZER)}
    try:
        save_tensors(unfinished[WEIGHTS], tensors)
        unfinished[CONFIG].write_text(json.dumps(fields, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        if tokenizer is not None:
            unfinished[TOKENIZER].write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
        for name, file in unfinished.items():
            if file.exists():
                os.replace(file, folder / name)
    finally:
        for file in unfinished.values():
            file.unlink(missing_ok=True)
    return folder


def _ids(model: TransformerModel, given: Mapping[str, int]) -> dict[str, int | None]:
    """All special ids: transformers would put those of the published models where one is missing."""
    ids: dict[str, int | None] = {"bos_token_id": None, "eos_token_id": None}
    if isinstance(model, EncoderDecoder):
        ids |= {"decoder_start_token_id": model.config.pad_id, "forced_eos_token_id": None}
    return ids | given


def to_theirs(
    family: Family, model: TransformerModel, tensors: Mapping[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """Tensors by our names (the model's own; gradients) as tensors by theirs."""
    return {name: give(parts) for name, parts in _parts(family, model, tensors).items()}


def _chosen(model: TransformerModel, family: str | None) -> tuple[Family, dict[str, Any]]:
    if family is not None and family not in FAMILIES:
        raise ValueError(f"save_pretrained: family={family!r}, expected one of {', '.join(FAMILIES)}")
    if family is not None and not isinstance(model, FAMILIES[family].model):
        expected = FAMILIES[family].model.__name__
        raise ValueError(f"save_pretrained: the model is a {type(model).__name__}, but {family} is for {expected}")
    reasons = []
    for one in [FAMILIES[family]] if family else FAMILIES.values():
        if isinstance(model, one.model):
            try:
                return one, one.write_config(model.config)
            except ValueError as error:
                reasons.append(str(error).removeprefix("save_pretrained: the family "))
    raise ValueError(f"save_pretrained: no family has this {type(model).__name__}: {'; '.join(reasons)}")


def _parts(
    family: Family, model: TransformerModel, tensors: Mapping[str, Tensor] | None = None
) -> dict[str, list[tuple[Row, Tensor]]]:
    """Their full name -> the parameters of ours that make it up."""
    values = tensors_of(model) if tensors is None else tensors
    parts: dict[str, list[tuple[Row, Tensor]]] = {}
    for names, _, row in family.sources(model):
        value = next((values[name] for name in names if name in values), None)
        if value is None:  # gradients, of which a buffer has none
            continue
        for theirs in (row.theirs, *(row.also if row.copied else ())):
            parts.setdefault(family.full_name(theirs), []).append((row, value))
    return parts
