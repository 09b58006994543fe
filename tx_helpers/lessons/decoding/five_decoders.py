"""Explorer: one number, five decoders side by side, each word shaded by the probability that the model gives it.

    five_decoders_explorer({"apprentice": apprentice}, translator="apprentice", number=6437)

Model and source are the same in all five columns. In the three that draw, the n-th word is drawn with the n-th random
number of the seed (Python's, which are the same on every machine). p is the model's own probability (temperature 1,
all tokens), whatever the rule of the column is. The bluer a word, the more of a surprise it was.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ipywidgets as widgets
import torch
from torch import Tensor, nn

from tx_helpers.generation.sampling import filter_logits, pick
from tx_helpers.generation.search import beam_search, generate
from tx_helpers.lessons.decoding.decoding_steps import LONGEST, choices
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.explore import STYLE, Explore
from tx_helpers.show.grid import NUMBERS
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, MUTED, ORANGE, shape, words
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.number_words import english, german
from tx_helpers.training.contexts import in_mode
from tx_helpers.zoo.recipes import Translator

DRAWN = {"temperature 0.5": {"temperature": 0.5}, "top-k 3": {"top_k": 3}, "top-p 0.8": {"top_p": 0.8}}
NAMES = ("greedy", *DRAWN, "4 beams")
COLUMN, BOX, ROW = 146, 130, 28  # of the picture: a column, a word's box, and the step from one to the next


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Written:
    """What a decoder wrote: its words with the end, and the model's own probability of each."""

    words: list[str]
    p: list[float]

    @property
    def log_probability(self) -> float:
        """ln P of the text."""
        return sum(map(math.log, self.p))

    @property
    def text(self) -> str:
        """The words without the end."""
        return " ".join(word for word in self.words if word != "<eos>")


def five_texts(translator: Translator, text: str, seed: int, *, longest: int = LONGEST) -> dict[str, Written]:
    """Decoder -> what it writes for the text."""
    model, names = translator.model, translator.data.target_tokenizer.tokens
    source = torch.tensor([translator.data.source_tokenizer.encode(text)])
    options = {"source": source, "max_new_tokens": longest, "end_id": EOS}
    with in_mode(model, training=False), torch.no_grad():
        found = {"greedy": generate(model, BOS, **options)[0].tolist()}
        found |= {name: _drawn(model, source, seed, longest, rule) for name, rule in DRAWN.items()}
        found[NAMES[-1]] = beam_search(model, BOS, beams=4, length_penalty=0.0, **options)[0][0].ids
        return {name: Written([names[i] for i in ids], _p(model, source, ids)) for name, ids in found.items()}


def _drawn(model: nn.Module, source: Tensor, seed: int, longest: int, rule: dict) -> list[int]:
    state, ids, uniform = model.start(source), [], random.Random(seed).random
    while len(ids) < longest and EOS not in ids:
        logits = state.step(torch.tensor([ids[-1:] or [BOS]]))[0, -1].double()
        ids.append(pick(filter_logits(logits, **rule), uniform()))
    return ids


def _p(model: nn.Module, source: Tensor, ids: list[int]) -> list[float]:
    p = model(source, torch.tensor([[BOS, *ids[:-1]]]))[0].softmax(-1)
    return p[range(len(ids)), ids].tolist()


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(found: Mapping[str, Written], right: str) -> Svg:
    """A column for each decoder, a box for each word, and below whether the text is right, and its ln P."""
    longest = max(len(one.words) for one in found.values())
    likeliest = max(found, key=lambda name: found[name].log_probability)
    parts = []
    for place, (name, one) in enumerate(found.items()):
        x = COLUMN * place
        parts.append(words(x, 14, name, font_weight="bold"))
        for row, (word, p) in enumerate(zip(one.words, one.p, strict=True)):
            parts += _word(x, 26 + ROW * row, word, p)
        y = 48 + ROW * longest
        good = one.text == right
        parts.append(words(x, y, "✓ right" if good else "✗ wrong", fill=(GREEN if good else ORANGE).shade))
        weight = "bold" if name == likeliest else "normal"
        parts.append(words(x, y + 20, f"ln P {one.log_probability:z.2f}", font_weight=weight, size=12))
    size = (COLUMN * len(found), 74 + ROW * longest)
    return side_by_side([Panel(size, "".join(parts))], alt=describe(found, right))


def _word(x: float, y: float, word: str, p: float) -> list[str]:
    box = dict(x=x, y=y, width=BOX, height=ROW - 4, rx=4)
    opacity = round(0.6 * (1 - p), 2)
    return [
        shape("rect", **box, fill=BLUE.full, fill_opacity=opacity),
        shape("rect", **box, fill="none", stroke=EDGE),
        words(x + 6, y + 16, word),
        words(x + BOX - 6, y + 16, f"{p:.2f}", anchor="end", size=12, fill=MUTED if opacity < 0.2 else "#000000"),
    ]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(found: Mapping[str, Written], right: str) -> str:
    """Who is right, the likeliest text, and every ln P."""
    good = [name for name, one in found.items() if one.text == right]
    best = max(found.values(), key=lambda one: one.log_probability)
    alike = [name for name, one in found.items() if one.text == best.text]
    figures = ", ".join(f"{name} {one.log_probability:z.2f}" for name, one in found.items())
    return (
        f"{len(good)} of {len(found)} right{': ' if good else ''}{listed(good)}; "
        f"the likeliest text, by {listed(alike)}: {best.text!r}; ln P: {figures}."
    )


def listed(names: Sequence[str]) -> str:
    """ "greedy", "greedy and top-k 3", "greedy, top-k 3 and 4 beams"."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


# --- bind -------------------------------------------------------------------------------------------------------------
def five_decoders_explorer(translators: Mapping[str, Translator], *, translator: str, number: int) -> Explore:
    """Choose a number, a translator and a seed, and compare what five decoders write."""
    texts_of = lru_cache(maxsize=64)(lambda name, number, seed: five_texts(translators[name], english(number), seed))

    def picture(number: int, translator: str, seed: int) -> Svg:
        return draw(texts_of(translator, number, seed), german(number))

    return Explore(
        picture,
        name="five-decoders",
        recorded={"number": NUMBERS[3::4], "seed": [*range(11), 30]},
        **choices(translators, translator, number),
        seed=widgets.IntSlider(1, min=0, max=30, description="Seed", style=STYLE),
    )
