"""`publish`: a page that holds a model and computes with it, in one file. The scripts are those of the machine."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types, described
from tx_helpers.nn.models import count_parameters
from tx_helpers.publish.packing import in_whole_numbers, inert, opening, packed
from tx_helpers.text.data import BOS, EOS, PairData
from tx_helpers.text.tokenizers import Tokenizer
from tx_helpers.widgets.machine_data import EVERY, LIMIT, SCRIPT, Known, course_model, packed_model
from tx_helpers.widgets.scripts import FOLDER, joined
from tx_helpers.zoo.recipes import Translator, Writer

LARGEST = 30_000_000  # parameters: 60 MB in float16, and some fifty milliseconds a token
WEIGHTS = ("float32", "float16", "int8")
HERE = Path(__file__).parent
ENGINE = ("tensors", "positions", "transformer", "tokenizers", "decode", "view_make")
WRITER = joined(*(FOLDER / "machine" / f"{name}.js" for name in ENGINE), HERE / "writer.js")
STYLES = {
    "decoder_only": (HERE / "writer.css").read_text("utf-8"),
    "encoder_decoder": (FOLDER / "machine" / "view.css").read_text("utf-8"),
}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{css}</style>
</head>
<body>
<h1>{title}</h1>
<main id="stage"><p>The model is being unpacked. It needs JavaScript, and no network.</p></main>
{card}
<script type="application/json" id="model">{model}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Chat:
    """How a chat page wraps a question: the model reads before + question + after, and answers up to `stop`.

    turns: the model reads the earlier questions and answers, too.
    """

    before: str = ""
    after: str = "\n"
    stop: str = "\n"
    turns: bool = False

    def __post_init__(self) -> None:
        _check_texts("Chat", before=self.before, after=self.after, stop=self.stop)
        check_types("Chat", bool, turns=self.turns)


class Loss(NamedTuple):
    """What rounded weights cost: the largest difference of logits, and by how much the loss rises, in nats a token."""

    logits: float
    loss: float


@dataclass(frozen=True)
class Published:
    """A page that was written; `loss` is that of its rounded weights, None in float32."""

    path: Path
    bytes: int
    parameters: int
    weights: str
    loss: Loss | None

    def __repr__(self) -> str:
        said = f"{self.path.name}: {self.parameters:,} parameters in {self.weights}, {self.bytes / 1e6:.1f} MB"
        if self.loss is None:
            return said
        return f"{said}; rounding moves logits by at most {self.loss.logits:.2g}, the loss by {self.loss.loss:+.2g}"


def publish(
    model: nn.Module | Writer | Translator,
    tokenizer: Tokenizer | tuple[Tokenizer, Tokenizer] | None,
    path: str | Path,
    *,
    title: str = "My model",
    card: Mapping[str, str] | None = None,
    prompt: str = "",
    chat: Chat | None = None,
    weights: str = "float16",
    context: int = LIMIT,
    texts: Iterable | None = None,
) -> Published:
    """Write ONE file that opens without a server and without a network: one types, the model writes.

    model      a DecoderOnly, an EncoderDecoder, a Writer, a Translator, or a model of the classes that you write
    tokenizer  of characters, words, byte pairs or word pieces; (source's, target's) of an encoder–decoder; None for a
               Writer or a Translator, which have theirs
    card       name -> text, the model card, below the model
    prompt     what stands in the text field at first
    chat       a chat page for a decoder-only model
    weights    "float32", "float16", or "int8", with one scale for each row of a matrix
    context    how many tokens the model reads at once, where its config does not say: as many as it was trained on
    texts      to measure what rounding costs; (source, target) of an encoder–decoder; None: what the model writes
    Raises ValueError for a model or a tokenizer that a page cannot compute, by its name.
    """
    _check_texts("publish", title=title, prompt=prompt)
    check_types("publish", (Chat, type(None)), chat=chat)
    check_one_of("publish", WEIGHTS, weights=weights)
    check_numbers("publish", least=2, whole=True, context=context)
    subject = subject_of(model, tokenizer)
    try:
        rebuilt = course_model(subject, LARGEST)
        spec, data = packed_model(rebuilt, subject, half=weights == "float16", kinds=EVERY, limit=context)
    except ValueError as error:
        raise ValueError(str(error).replace("machine:", "publish:", 1)) from None
    if chat and spec["source"]:
        raise ValueError("publish: chat is for a decoder-only model, but this one has an encoder; expected None")
    numbers = np.frombuffer(data, "<f2" if weights == "float16" else "<f4").astype("<f4")
    told: dict[str, Any] = {"spec": spec}
    if weights != "int8":
        told["weights"] = packed(data, 2 if weights == "float16" else 4)
    else:
        shapes = sorted({one["offset"]: tuple(one["shape"]) for one in spec["tensors"].values()}.items())
        whole, rest, numbers = in_whole_numbers(shapes, numbers)
        told |= {"whole": packed(whole, 1), "weights": packed(rest, 4)}
    reader = subject.data.source_tokenizer if isinstance(subject, Translator) else subject.tokenizer
    told |= {"state": {"text": _first(reader, spec, prompt)}, "chat": chat and vars(chat)}
    page = _page(told, title, checked_card(card))
    Path(path).write_bytes(page.encode("utf-8", errors="backslashreplace"))  # half a surrogate pair as \\ud800
    loss = None if weights == "float32" else _loss(rebuilt, spec, numbers, subject, texts)
    return Published(Path(path), Path(path).stat().st_size, count_parameters(subject.model), weights, loss)


def _check_texts(where: str, **texts: object) -> None:
    """Check that each is a text, which may be empty."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"{where}: {name} is {described(text)}, expected a str")


def subject_of(model: Any, tokenizer: Any, operation: str = "publish") -> Writer | Translator:
    """Model and tokenizer together; ValueError where the tokenizer is no tokenizer, or not as many as are needed."""
    if tokenizer is None and isinstance(model, Writer | Translator):
        return model
    model = getattr(model, "model", model)
    both = isinstance(getattr(model, "encoder", None), nn.Module)
    given: list[Any] = list(tokenizer) if both and isinstance(tokenizer, tuple | list) else [tokenizer]
    if len(given) != 1 + both or not all(isinstance(one, Tokenizer) for one in given):
        expected = "(source's, target's)" if both else "a tokenizer of tx_helpers.text"
        raise ValueError(f"{operation}: tokenizer is {described(tokenizer)}, expected {expected}")
    return Translator(model, PairData(given[0], given[1], [])) if both else Writer(model, given[0])


def checked_card(card: Mapping[str, str] | None, operation: str = "publish") -> Mapping[str, str]:
    """The card, where it is one: name -> text."""
    check_types(operation, (Mapping, type(None)), card=card or None)
    for name, text in (card or {}).items():
        _check_texts(f"{operation}: card", name=name, text=text)
    return card or {}


def _first(tokenizer: Tokenizer, spec: dict, prompt: str) -> str:
    """The text at first, which must be readable; an encoder needs one."""
    ids = tokenizer.encode(prompt)
    if not spec["source"]:
        return prompt
    source = spec["source"]
    if len(ids) > source["limit"]:
        raise ValueError(f"publish: a prompt of {len(ids)} tokens, expected at most {source['limit']}")
    return prompt if ids else tokenizer.decode(range(source["specials"], min(source["specials"] + 4, len(tokenizer))))


def _page(told: dict, title: str, card: Mapping[str, str]) -> str:
    kind = told["spec"]["kind"]
    script, policy = opening(WRITER if kind == "decoder_only" else SCRIPT)
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>\n" for name, text in card.items())
    return PAGE.format(
        policy=policy,
        title=escape(title),
        css=(HERE / "page.css").read_text("utf-8") + STYLES[kind],
        card=f"<section>\n<h2>Model card</h2>\n<dl>\n{rows}</dl>\n</section>" if rows else "",
        model=inert(told),
        script=script,
    )


@torch.no_grad()
def _loss(model: Known, spec: dict, numbers: np.ndarray, subject: Writer | Translator, texts: Iterable | None) -> Loss:
    """What these numbers in the place of the model's weights change."""
    rounded = deepcopy(model)
    state = {}
    for name, one in spec["tensors"].items():
        part = numbers[one["offset"] :][: int(np.prod(one["shape"]))]
        state[name] = torch.from_numpy(part.reshape(one["shape"]).copy())
    rounded.load_state_dict(state)
    most, losses = 0.0, []
    for *source, target in _written(model, spec) if texts is None else _read(subject, spec, texts):
        pair = [one(*source, target[:, :-1])[0] for one in (model, rounded)]
        most = max(most, (pair[0] - pair[1]).abs().max().item())
        losses.append([cross_entropy(logits, target[0, 1:], reduction="none") for logits in pair])
    before, after = (torch.cat(parts).mean().item() for parts in zip(*losses, strict=True))
    return Loss(most, after - before)


def _written(model: Known, spec: dict) -> Iterable[tuple[Tensor, ...]]:
    """Texts of the model itself, drawn at temperature 1: for an encoder–decoder, what it makes of random sources."""
    generator = torch.Generator().manual_seed(0)
    target, source = spec["target"], spec["source"]
    options = {"max_new_tokens": min(target["limit"], 64) - 1, "temperature": 1.0, "generator": generator}
    for _ in range(4):
        if not source:
            first = torch.tensor([[_random(generator, target)]])
            yield (torch.cat([first, generate(model, first, **options)], dim=1),)
            continue
        read = torch.tensor([[_random(generator, source) for _ in range(min(8, source["limit"]))]])
        written = generate(model, BOS, source=read, end_id=EOS, **options)
        yield read, torch.cat([torch.tensor([[BOS]]), written], dim=1)


def _random(generator: torch.Generator, side: dict) -> int:
    size, specials = len(side["tokens"]), side["specials"]
    return int(torch.randint(min(specials, size - 1), size, (), generator=generator))


def _read(subject: Writer | Translator, spec: dict, texts: Iterable) -> Iterable[tuple[Tensor, ...]]:
    """Given texts, each cut to what fits."""
    limit = spec["target"]["limit"]
    if isinstance(subject, Writer):
        for text in [texts] if isinstance(texts, str) else texts:
            yield (torch.tensor([subject.tokenizer.encode(text)[:limit]]),)
    else:
        for source, target in subject.data.encode(texts):
            yield torch.tensor([source[:limit]]), torch.tensor([[BOS, *target, EOS][:limit]])
