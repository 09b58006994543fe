"""One text and five objectives of pretraining: what goes in, what is scored, and who may see whom.

    objectives_explorer()

A row is a position: its input on the left, its target on the right, and between them the positions that it may see.

    next token         position t sees s ≤ t
    masked words       all positions see each other; so they do for the next sentence
    prefix             position t sees s ≤ t, and the whole prefix
    spans cut out      the encoder's positions see each other; the decoder's see all of them and their own past

The functions that make input and target are those of `training/objectives.py`: what is drawn is what a model gets.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.masks import causal_mask
from tx_helpers.show.controls import choice, slider, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import legend
from tx_helpers.show.shapes import (
    BLUE,
    EDGE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    WEIGHT,
    Colour,
    box,
    card,
    line,
    shape,
    words,
)
from tx_helpers.text.data import BOS, EOS, IGNORE
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import (
    CLS,
    EXAMPLES,
    MASK,
    SENTINELS,
    SEP,
    word_ids,
    words_of,
    world_id,
    world_tokenizer,
)
from tx_helpers.training.objectives import (
    causal,
    halves,
    masked,
    next_sentence,
    prefix,
    prefix_mask,
    span_corruption,
)

NAMES = {
    "next token (GPT)": "causal",
    "masked words (BERT)": "masked",
    "next sentence (BERT)": "next sentence",
    "spans cut out (T5)": "spans",
    "prefix": "prefix",
}
RECORDED = {"text": EXAMPLES, "share": [0.15, 0.3, 0.5], "seed": [0, 1, 2, 3]}  # for pages without a kernel
ASIDE = 12  # words of another text's sentence, at most
WIDE, LEFT, TOP = 96, 116, 84  # pixels: a word's box, and where the table of who sees whom begins
NARROWEST = 520


# --- compute ----------------------------------------------------------------------------------------------------------
class Example(NamedTuple):
    """Inputs and targets as words, None where nothing is scored; who sees whom (n, n); where the decoder begins.

    decoder: n where there is one stack alone.
    """

    inputs: list[str]
    targets: list[str | None]
    sees: Tensor
    decoder: int

    @property
    def scored(self) -> list[str]:
        return [target for target in self.targets if target is not None]


def unknown_words(text: str) -> list[str]:
    """The words of a text that the little world does not have."""
    tokenizer = world_tokenizer()
    return [word for word in dict.fromkeys(words_of(text)) if tokenizer.encode(word) == [tokenizer.unknown_id]]


def example(text: str, objective: str, share: float = 0.15, seed: int = 0) -> Example:
    """The text under one of the objectives. `share` of its words is hidden, where words are; `seed` draws which."""
    check_one_of("objectives", NAMES.values(), objective=objective)
    check_numbers("objectives", above=0, less_than=1, share=share)
    check_numbers("objectives", whole=True, seed=seed)
    ids = torch.tensor(world_tokenizer().encode(" ".join(words_of(text))))
    framed = torch.tensor([BOS, *ids, EOS])
    drawn = torch.Generator().manual_seed(seed)
    if objective == "causal":
        return _as_words(*causal(framed), causal_mask(len(ids) + 1))
    if objective == "prefix":
        length = 1 + len(ids) - max(1, round(share * len(ids)))  # <bos> and the words that are given
        return _as_words(*prefix(framed, length), prefix_mask(len(ids) + 1, length))
    if objective == "spans":
        return _spans(ids, share, drawn)
    cls, sep = world_id(CLS), world_id(SEP)
    if objective == "masked":
        special = dict(mask_id=world_id(MASK), words=word_ids(), keep=(cls, sep))
        made = masked(torch.tensor([cls, *ids, sep]), rate=share, generator=drawn, **special)
    else:
        first, second = halves(ids)
        follows = bool(torch.rand((), generator=drawn) < 0.5)
        special = dict(cls_id=cls, sep_id=sep, yes_id=world_id("yes"), no_id=world_id("no"))
        made = next_sentence(first, second if follows else stranger(seed), follows, **special)
    return _as_words(*made, torch.ones(len(made[0]), len(made[0]), dtype=torch.bool))


def _spans(ids: Tensor, share: float, drawn: torch.Generator) -> Example:
    source, spans = span_corruption(ids, sentinels=[*map(world_id, SENTINELS)], rate=share, generator=drawn)
    S, T = len(source), len(spans) + 1
    sees = torch.zeros(S + T, S + T, dtype=torch.bool)
    sees[:, :S] = True
    sees[S:, S:] = causal_mask(T)
    inputs = torch.cat([source, torch.tensor([BOS]), spans])
    targets = torch.cat([torch.full((S,), IGNORE), spans, torch.tensor([EOS])])
    return _as_words(inputs, targets, sees)._replace(decoder=S)


def stranger(seed: int) -> Tensor:
    """The last sentence of a text of the little world, or as much of it as there is room for."""
    text = next(little_world().texts(1, seed=seed))
    return torch.tensor(world_tokenizer().encode(text.split(" . ")[-1])[-ASIDE:])


def _as_words(inputs: Tensor, targets: Tensor, sees: Tensor) -> Example:
    tokens = world_tokenizer().tokens
    said = [None if target == IGNORE else tokens[target] for target in targets.tolist()]
    return Example([tokens[token] for token in inputs.tolist()], said, sees, len(inputs))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(text: str, objective: str, share: float = 0.15, seed: int = 0) -> Svg:
    """A row for each position: its input, the positions that it sees, and its target."""
    one = example(text, objective, share, seed)
    count = len(one.inputs)
    cell = min(26.0, max(20.0, 560 / count))
    right = LEFT + cell * count + 8
    parts = [
        words(12, TOP - 10, "goes in", font_weight="bold"),
        words(right, TOP - 10, "is scored", font_weight="bold"),
    ]
    for place, (word, target) in enumerate(zip(one.inputs, one.targets, strict=True)):
        y, decodes = TOP + cell * place, place >= one.decoder
        turned = f"translate({LEFT + cell * (place + 0.5):.1f},{TOP - 8}) rotate(-50)"
        parts.append(words(0, 0, word, size=12, fill=MUTED, transform=turned))
        parts.append(box(12, y + 1, WIDE, cell - 3, word, _colour(word, ORANGE if decodes else BLUE)))
        for other, seen in enumerate(one.sees[place].tolist()):
            fill = {"fill": (GREEN if decodes and other < one.decoder else WEIGHT).full} if seen else {"fill": "none"}
            size = dict(width=cell - 3, height=cell - 3, rx=3)
            parts.append(shape("rect", x=LEFT + cell * other, y=y + 1, stroke=EDGE, **size, **fill))
        if target is None:
            parts.append(words(right + WIDE / 2, y + cell / 2 + 3, "–", fill=MUTED, anchor="middle"))
        else:
            parts.append(box(right, y + 1, WIDE, cell - 3, target, _colour(target, ORANGE)))
    if one.decoder < count:
        y, x = TOP + cell * one.decoder - 1, LEFT + cell * one.decoder - 1.5
        parts += [line(12, y, right + WIDE, y, INK), line(x, TOP, x, TOP + cell * count, INK)]
    bottom = TOP + cell * count + 12
    other = {"decoder sees encoder": GREEN.full} if one.decoder < count else {}
    fills = {"sees": WEIGHT.full} | other | {"may not see": "none"}
    parts += legend(12, bottom, {name: dict(rx=3, stroke=EDGE, fill=fill) for name, fill in fills.items()})
    return card(max(right + WIDE + 12, NARROWEST), bottom + 30, parts, describe(one, text, objective))


def _colour(word: str, otherwise: Colour) -> Colour:
    """Special tokens are pink, words have the colour of their role."""
    return PINK if word.startswith("<") else otherwise


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(one: Example, text: str, objective: str) -> str:
    """What is scored, how much a position sees, and the words that the world does not know."""
    count, scored = len(one.inputs), one.scored
    name = next(name for name, known in NAMES.items() if known == objective)
    quoted = ", ".join(f"'{word}'" for word in scored[:6]) + ", …" * (len(scored) > 6)
    missing = ", ".join(f"'{word}'" for word in unknown_words(text))
    sight = one.sees.sum(1).double().mean().item()
    parts = [
        f"{name[0].upper()}{name[1:]}: {len(scored)} of {count} positions are scored{': ' * bool(scored)}{quoted}."
    ]
    parts.append(f"A position sees {sight:.1f} of {count} on average.")
    if objective == "masked":
        parts += [_stand_in(word, target) for word, target in zip(one.inputs, one.targets, strict=True)]
    if missing:
        parts.append(f"The little world has no {missing}: <unk>.")
    return " ".join(part for part in parts if part)


def _stand_in(word: str, target: str | None) -> str:
    if target is None or word == MASK:
        return ""
    return f"'{target}' stays." if word == target else f"'{word}' stands in for '{target}'."


# --- bind -------------------------------------------------------------------------------------------------------------
def objectives_explorer(text: str = EXAMPLES[0]) -> Explore:
    """Type a text of the little world, and choose an objective, the share of words that it hides, and a draw."""
    words_of(text)
    return Explore(
        draw,
        name="objectives",
        told=True,
        recorded=RECORDED | {"text": list(dict.fromkeys([text, *EXAMPLES]))},
        text=typed("Text", text, width=640),
        objective=choice("Objective", NAMES),
        share=slider("Hidden share", 0.05, 0.6, step=0.05, start=0.15),
        seed=slider("Draw", 0, 20),
    )


# --- print ------------------------------------------------------------------------------------------------------------
def show_pair(name: str, inputs: Tensor, target: Tensor) -> None:
    """Print both rows (T,), word below word; what is not scored is a dot."""
    tokens = world_tokenizer().tokens
    above = [tokens[token] for token in inputs.tolist()]
    below = ["·" if token == IGNORE else tokens[token] for token in target.tolist()]
    widths = [max(map(len, pair)) for pair in zip(above, below, strict=True)]
    for title, row in ((name, above), ("", below)):
        print(f"{title:8}", *(word.ljust(width) for word, width in zip(row, widths, strict=True)))
