"""The explorer of the first notebook: translate a number and see which English word each German word looked at.

    translation_explorer(number_translator())

The weights are those of the translation itself, recorded by `capture` while the words were written; nothing is computed
a second time. A number is translated once (20 to 50 ms); another block or head is a look at the same recording.
"""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.capture import capture
from tx_helpers.show.controls import choice, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.grid import NUMBERS
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import INK, MUTED, SOURCE, SPECIAL, TARGET, WEIGHT, box, card, curve, words
from tx_helpers.text.data import BOS, EOS, PAD
from tx_helpers.text.number_words import LIMIT, english, german
from tx_helpers.zoo.recipes import Translator

MEAN = "mean of all heads"
ALL = -1  # the head that stands for all: a dropdown takes an option None for "nothing chosen"
NO_DIGIT = {"hundert", "tausend", "und", "<eos>"}  # words that stand for no unit and no ten
LINE_FROM = 0.05  # weaker lines are not drawn
WIDTH, HEIGHT, TOP, BOTTOM, BOX = 800, 300, 74, 222, 34


# --- compute ----------------------------------------------------------------------------------------------------------
class Translation(NamedTuple):
    """A translated number: English words (S), German ones with <eos> (T), and who looked at whom.

    weights (L, H, T, S): of the cross-attention in each of the L decoder blocks, with H heads.
    """

    number: int
    source: list[str]
    target: list[str]
    weights: Tensor

    @property
    def text(self) -> str:
        """The German words, without signs such as <eos>."""
        return " ".join(word for word in self.target if not word.startswith("<"))

    @property
    def right(self) -> bool:
        """Is every word right?"""
        return self.text == german(self.number)


def translated(translator: Translator, number: int) -> Translation:
    """Translate greedily, and record what each word looked at.

    Raises ValueError if the number is not a whole one from 0 to 999,999.
    """
    source, target = translator.data.source_tokenizer, translator.data.target_tokenizer
    text = english(number)
    options = dict(max_new_tokens=32, end_id=EOS, pad_id=PAD)
    with capture(translator.model, "decoder.*.cross_attention.weights") as seen:
        ids = generate(translator.model, BOS, source=torch.tensor([source.encode(text)]), **options)
    steps = [torch.cat(seen.history(name), dim=2)[0] for name in seen]  # a (H, T, S) for each block
    return Translation(number, source.split(text), [target.tokens[i] for i in ids[0]], torch.stack(steps))


def looks(translation: Translation, block: int, head: int = ALL) -> Tensor:
    """The weights (T, S) of one head of one block, both counted from 0, or the mean over the heads."""
    L, H = translation.weights.shape[:2]
    if not 0 <= block < L or not ALL <= head < H:
        raise ValueError(f"looks: block={block}, head={head}, but there are {L} blocks with {H} heads, counted from 0")
    heads = translation.weights[block]
    return heads.mean(dim=0) if head == ALL else heads[head]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(translation: Translation, weights: Tensor, where: str) -> Svg:
    """English words above in blue, German ones below in orange, and golden lines as strong as the weights (T, S)."""
    source, target, rows = translation.source, translation.target, weights.tolist()
    keys, queries = _places(len(source), 120), _places(len(target), 96)
    wide, narrow = min(110, 752 / len(source) - 6), min(88, 752 / len(target) - 6)
    sign = "✓ right" if translation.right else f"✗ wrong: {german(translation.number)}"
    parts = [
        words(24, 32, f"{translation.number:,} → {translation.text}", size=17, font_weight="bold"),
        words(WIDTH - 24, 58, sign, fill=INK, anchor="end", font_weight="bold"),
        words(24, 58, f"cross-attention, {where}", fill=MUTED),
    ]
    lines = sorted((weight, t, s) for t, row in enumerate(rows) for s, weight in enumerate(row) if weight >= LINE_FROM)
    for weight, t, s in lines:  # the strongest on top; in the shade, since plain gold is too pale for a line
        parts.append(curve(keys[s], TOP + BOX, queries[t], BOTTOM, stroke=WEIGHT.shade, weight=weight))
    for s, word in enumerate(source):
        parts.append(box(keys[s] - wide / 2, TOP, wide, BOX, word, SOURCE))
    for t, (word, row) in enumerate(zip(target, rows, strict=True)):
        strongest = max(row)
        colour = SPECIAL if word.startswith("<") else TARGET
        parts.append(box(queries[t] - narrow / 2, BOTTOM, narrow, BOX, word, colour, size=12))
        parts.append(words(queries[t], BOTTOM + BOX + 18, f"{strongest:.2f}", size=12, fill=MUTED, anchor="middle"))
    note = "below each word: its strongest weight"
    parts.append(words(WIDTH - 24, HEIGHT - 10, note, size=11, fill=MUTED, anchor="end"))
    return card(WIDTH, HEIGHT, parts, describe(translation, weights))


def _places(number: int, step: float) -> list[float]:
    """The middles of `number` words in a row, around the middle of the card."""
    step = min(step, 752 / number)
    return [WIDTH / 2 + step * (place - (number - 1) / 2) for place in range(number)]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(translation: Translation, weights: Tensor) -> str:
    """The translation, whether it is right, and where each unit and each ten looked most."""
    result = "right" if translation.right else f"wrong: it should be {german(translation.number)}"
    strongest, best = weights.max(dim=-1)
    looked = []
    for word, s, weight in zip(translation.target, best.tolist(), strongest.tolist(), strict=True):
        key = translation.source[s]
        place = f", word {s + 1}" if translation.source.count(key) > 1 else ""
        if word not in NO_DIGIT:
            looked.append(f"'{word}' at '{key}'{place} ({weight:.2f})")
    text = f"{translation.number:,} → {translation.text}, {result}."
    return f"{text} Looks most: {', '.join(looked)}." if looked else text


# --- bind -------------------------------------------------------------------------------------------------------------
def translation_explorer(translator: Translator, number: int = 421) -> Explore:
    """Type a number, choose block and head: the translation, and which word looked where."""
    check_types("translation_explorer", Translator, translator=translator)
    check_numbers("translation_explorer", least=0, most=999_999, whole=True, number=number)
    config = translator.model.config
    translate = lru_cache(maxsize=64)(lambda number: translated(translator, number))

    def picture(number: int, block: int, head: int) -> Svg:
        if not 0 <= number < LIMIT:
            raise ValueError(f"{number:,} is out of reach: type a whole number from 0 to {LIMIT - 1:,}.")
        translation = translate(number)
        where = f"decoder block {block + 1}, {MEAN if head == ALL else f'head {head + 1}'}"
        return draw(translation, looks(translation, block, head), where)

    blocks = [(f"block {i + 1}", i) for i in range(config.n_layers)]
    heads = [(MEAN, ALL), *((f"head {i + 1}", i) for i in range(config.attention.n_heads))]
    return Explore(
        picture,
        name="translation",
        recorded={"number": NUMBERS},
        number=typed("Number", number, width=200),
        block=choice("Block", blocks, blocks[-1][1], width=200),
        head=choice("Head", heads, width=280),
    )
