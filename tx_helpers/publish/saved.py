"""A trained model as one file that can be shared: weights, configuration, tokenizer and card, as safetensors.

    save_model("mine.safetensors", model, tokenizer, {"Trained on": "my own letters"})
    model, tokenizer, card = load_model("mine.safetensors")

It can carry no code. `python -m tx_helpers publish mine.safetensors mine.html` makes the page of it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.publish.page import LARGEST, checked_card, subject_of
from tx_helpers.text.tokenizers import Tokenizer
from tx_helpers.training.checkpoints import check_weights, save_tensors
from tx_helpers.widgets.machine_data import Known, course_model
from tx_helpers.zoo.parts.inputs import NormedInput, TokenShift
from tx_helpers.zoo.parts.outputs import BiasedOutput, ScaledOutput
from tx_helpers.zoo.public.files import open_tensors
from tx_helpers.zoo.recipe_file import with_values
from tx_helpers.zoo.recipes import Translator, Writer

FORMAT = "tx_helpers model"
KINDS: dict[str, type[Known]] = {kind.__name__: kind for kind in (EncoderDecoder, DecoderOnly)}
PARTS = {part.__name__: part for part in (TokenShift, NormedInput, BiasedOutput, ScaledOutput)}


class Saved(NamedTuple):
    """What a file holds: one of the course's models, ready to write; two tokenizers of an encoder–decoder."""

    model: EncoderDecoder | DecoderOnly
    tokenizer: Any
    card: dict[str, str]


def save_model(
    path: str | Path,
    model: nn.Module | Writer | Translator,
    tokenizer: Any = None,
    card: Mapping[str, str] | None = None,
    *,
    context: int | None = None,
) -> None:
    """Write what `publish` can make a page of; the arguments are its own. A learner's model becomes the course's.

    context: how many tokens the model reads at once, where its config does not say
    """
    check_numbers("save_model", least=2, whole=True, optional=True, context=context)
    subject = subject_of(model, tokenizer, "save_model")
    try:
        known = course_model(subject, LARGEST)
    except ValueError as error:
        raise ValueError(str(error).replace("machine:", "save_model:", 1)) from None
    both = isinstance(subject, Translator)
    used = [*subject.data[:2]] if isinstance(subject, Translator) else [subject.tokenizer]
    config = replace(known.config, context_length=known.config.context_length or context)
    facts = {
        "what": FORMAT,
        "kind": "EncoderDecoder" if both else "DecoderOnly",
        "config": json.dumps(_plain(config)),
        "tokenizers": json.dumps([one.as_json() for one in used]),
        "card": json.dumps(dict(checked_card(card, "save_model"))),
    }
    save_tensors(path, known.state_dict(), facts)


def load_model(path: str | Path) -> Saved:
    """Read what `save_model` wrote. Raises ValueError for a file that is missing, damaged or another program's."""
    file = Path(path)
    with open_tensors(file) as opened:
        facts, names = opened.metadata() or {}, opened.keys()
        state = {name: opened.get_tensor(name).clone() for name in names}
    if facts.get("what") != FORMAT:
        raise ValueError(f"{file}: has weights alone, expected a file that save_model wrote")
    try:
        values = json.loads(facts["config"])
        if max(values["n_layers"], values.get("n_encoder_layers", 0)) > len(state):
            raise ValueError(f"{len(state)} tensors for {values['n_layers']} layers")
        with torch.device("meta"):
            model = KINDS[facts["kind"]](_config(values))
        check_weights(model, state)
        model.load_state_dict(state, assign=True)
        tokenizers = [Tokenizer.from_json(text, "its tokenizer") for text in json.loads(facts["tokenizers"])]
        card = checked_card(json.loads(facts["card"]), "load_model")
        subject_of(model, tuple(tokenizers) if len(tokenizers) > 1 else tokenizers[0], "load_model")
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError, ValueError) as error:
        raise ValueError(
            f"{file}: is damaged ({type(error).__name__}: {error}), expected as save_model wrote it"
        ) from error
    return Saved(model.eval(), tuple(tokenizers) if len(tokenizers) > 1 else tokenizers[0], dict(card))


def _plain(config: Any) -> dict[str, Any]:
    """A configuration as JSON values, without those that are None or empty; its parts bear their name."""
    values = {}
    for name, value in asdict(config).items():
        one = getattr(config, name)
        if type(one).__name__ in PARTS:
            value = {"part": type(one).__name__, **value}
        elif isinstance(value, dict):
            value = _plain(one)
        if value is not None and value != ():
            values[name] = value
    return values


def _config(values: dict[str, Any]) -> TransformerConfig:
    """The inverse of `_plain`; ValueError or TypeError for anything else."""
    embedding = values.get("embedding", {})
    for place in ("input", "output"):
        if place in embedding:
            part = dict(embedding[place])
            embedding[place] = PARTS[part.pop("part")](**part)
    return with_values(TransformerConfig(values["vocab_size"]), values, "its config", "load_model")
