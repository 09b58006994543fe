"""The state, overwritten word by word, an explorer: what a recurrent layer keeps of each word of your sentence.

    overwritten_explorer()

An untrained plain layer, h_t = tanh(x_t W + h_{t−1} U), reads a sentence. Each word has a random vector of its own.
What is left of word s after word t is measured: the sentence is read again with other words in its place, and the share
is ‖h_t − h′_t‖ / ‖h_s − h′_s‖, in the mean over these words. So a word that has just been read counts as 100 %.
"""

from functools import cache, lru_cache
from typing import NamedTuple
from zlib import crc32

import torch
from torch import Tensor

from tx_helpers.lessons.limits_of_recurrence.sentences import explore_sentence, places, short, words_of
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, GREY, INK, MEMORY, MUTED, SOURCE, card, line, setting, shape, words

STATE, RADIUS, REPLACED = 16, 0.8, 8  # numbers in the state, spectral radius of U, words tried in a word's place
SENTENCE = "Maya grew up in Nepal and moved away with her family when she was ten but she still speaks fluent"
EXAMPLES = (SENTENCE, "the keys to the old house are in my bag", "four hundred twenty one")
SIZE, LINE, CELL = 720, 58, 40


class Reading(NamedTuple):
    """The state after each word, h_0 = 0 first: (T + 1, STATE); and left (T, T): row t, what is left of each word."""

    states: Tensor
    left: Tensor


# --- compute ----------------------------------------------------------------------------------------------------------
@cache
def random_layer() -> tuple[Tensor, Tensor]:
    """W and U (STATE, STATE), random; U is scaled to its spectral radius."""
    generator = torch.Generator().manual_seed(0)
    read, carry = torch.randn(2, STATE, STATE, generator=generator, dtype=torch.float64) / STATE**0.5
    return read, carry * RADIUS / torch.linalg.eigvals(carry).abs().max()


def vector(word: str) -> Tensor:
    """The random vector (STATE,) of a word, always the same."""
    generator = torch.Generator().manual_seed(crc32(word.lower().encode()))
    return torch.randn(STATE, generator=generator, dtype=torch.float64)


def read(x: Tensor) -> Tensor:
    """The states (…, T, STATE) of the layer on word vectors (…, T, STATE)."""
    W, U = random_layer()
    h, states = torch.zeros_like(x[..., 0, :]), []
    for t in range(x.shape[-2]):
        h = torch.tanh(x[..., t, :] @ W + h @ U)
        states.append(h)
    return torch.stack(states, dim=-2)


@lru_cache(maxsize=64)
def reading(sentence: tuple[str, ...]) -> Reading:
    """The layer's states on a sentence, and what each state has left of each word."""
    x = torch.stack([vector(word) for word in sentence])
    states, left = read(x), torch.zeros(len(sentence), len(sentence), dtype=torch.float64)
    generator = torch.Generator().manual_seed(1)
    for s in range(len(sentence)):
        other = x.repeat(REPLACED, 1, 1)
        other[:, s] = torch.randn(REPLACED, STATE, generator=generator, dtype=torch.float64)
        gaps = (read(other) - states).norm(dim=-1).mean(dim=0)  # (T,), 0 before s
        left[s:, s] = gaps[s:] / gaps[s]
    return Reading(torch.cat([torch.zeros_like(states[:1]), states]), left)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_overwritten(text: str, word: int) -> Svg:
    """The sentence with what is left of each word below it; under it the state, its last value in grey outline."""
    sentence = words_of("overwritten_explorer", text)
    check_numbers("draw_overwritten", least=1, whole=True, word=word)
    now = min(word, len(sentence))
    found = reading(tuple(sentence))
    where, lines = places(sentence, width=SIZE)
    parts = [words(20, 26, "What is left of each word", font_weight="bold")]
    for number, (token, (x, row, wide)) in enumerate(zip(sentence, where, strict=True)):
        share = found.left[now - 1, number].item() if number < now else None
        drawn = _word(x, 38 + LINE * row, wide, short(token), share, chosen=number == now - 1)
        parts.append(setting("word", number + 1, drawn))
    top = 38 + LINE * lines + 22
    parts += _state(top, found.states[now - 1].tolist(), found.states[now].tolist(), sentence[now - 1])
    return card(SIZE, top + 126, parts, describe_overwritten(text, word))


def _word(x: float, y: float, wide: float, token: str, share: float | None, chosen: bool) -> list[str]:
    """A word in its box; below it a bar and its per cent. A word that is still to come is pale."""
    frame = dict(x=x, y=y, width=wide, height=24, rx=5)
    if share is None:
        return [
            shape("rect", fill="none", stroke=GREY.tint, **frame),
            words(x + wide / 2, y + 17, token, fill=MUTED, anchor="middle"),
        ]
    edge = dict(stroke=INK, stroke_width=2.5) if chosen else dict(stroke=SOURCE.full)
    said = "<1 %" if share < 0.005 else f"{100 * share:.0f} %"
    return [
        shape("rect", fill=SOURCE.tint, **edge, **frame),
        words(x + wide / 2, y + 17, token, fill=SOURCE.shade, anchor="middle"),
        shape("rect", x=x, y=y + 28, width=wide, height=6, rx=2, fill=GREY.tint),
        shape("rect", x=x, y=y + 28, width=max(wide * min(share, 1.0), 0.5), height=6, rx=2, fill=SOURCE.full),
        words(x + wide / 2, y + 47, said, size=12.5, fill=MUTED, anchor="middle"),
    ]


def _state(top: float, before: list[float], after: list[float], token: str) -> list[str]:
    """The state as bars up and down from 0; where each number stood before the word, a grey outline."""
    middle, reach = top + 62, 38
    parts = [
        words(20, top + 6, f"The state after “{short(token, 24)}”", font_weight="bold"),
        words(SIZE - 20, top + 6, "grey outline: the word before", fill=MUTED, anchor="end", size=12.5),
    ]
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        x = 40 + CELL * number
        parts.append(_up_or_down(x + 4, middle, CELL - 8, reach * new, fill=MEMORY.full, stroke=MEMORY.full))
        parts.append(_up_or_down(x, middle, CELL - 2, reach * old, fill="none", stroke=MUTED, stroke_dasharray="3 2"))
    parts.append(line(36, middle, 40 + CELL * len(after), middle, EDGE))
    parts += [
        words(30, middle + dy, sign, size=12.5, fill=MUTED, anchor="end") for dy, sign in ((-26, "1"), (34, "−1"))
    ]
    return parts


def _up_or_down(x: float, middle: float, wide: float, tall: float, **style: object) -> str:
    return shape("rect", x=x, y=middle - max(tall, 0), width=wide, height=max(abs(tall), 0.5), **style)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_overwritten(text: str, word: int) -> str:
    """After which word, what is left of the first one, and which words still have a tenth."""
    sentence = words_of("overwritten_explorer", text)
    now = min(word, len(sentence))
    row = reading(tuple(sentence)).left[now - 1, :now]
    kept = int((row >= 0.1).sum())
    first = "under 1 %" if row[0] < 0.01 else f"{100 * row[0].item():.0f} %"
    return (
        f"After word {now} of {len(sentence)}, '{sentence[now - 1]}': {first} is left of '{sentence[0]}', and a tenth "
        f"or more of {kept} of the {now} words."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def overwritten_explorer() -> Explore:
    """A sentence that can be typed, and the word up to which it has been read; Play reads on."""
    return explore_sentence(draw_overwritten, "overwritten", EXAMPLES)
