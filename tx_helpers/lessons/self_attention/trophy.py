"""What does "it" mean? A sentence, two nouns, one adjective that decides, and an attention that looks twice.

    toy = train_trophy()                                    # one attention per look, one query: that of "it"
    toy.exact(held_out=True)                                # share of sentences with new pairs of nouns
    draw_trophy(toy, [("trophy", "suitcase", "big"), ("trophy", "suitcase", "small")])

"The trophy does not fit into the suitcase because it is too big": "it" is the trophy; with "small" it is the suitcase
(a sentence of Levesque, Davis and Morgenstern 2012). Here is x = E[word] + P[position]. Only "it" asks, so that one
can follow it: for each look, it ← it + softmax(it W_Q (x W_K)ᵀ / √d_k) x W_V. The noun whose vector in E fits it best
is the answer. With `even` all weights are 1/S, trained in the same way: a mean of the words in place of attention.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    GREY,
    INK,
    MUTED,
    QUERY,
    RESIDUAL,
    WEIGHT,
    arrow,
    bar,
    box,
    card,
    curve,
    line,
    words,
)

NOUNS = ("trophy", "suitcase", "cup", "box", "book", "bag", "ball", "drawer")
BIG = ("big", "large", "wide", "tall", "long", "huge")
SMALL = ("small", "tiny", "narrow", "low", "short", "little")
FRAME = ("the", "does", "not", "fit", "into", "because", "it", "is", "too")
VOCABULARY = (*NOUNS, *BIG, *SMALL, *FRAME)
IT, LENGTH = 9, 13  # the place of "it", and the number of words


# --- compute ----------------------------------------------------------------------------------------------------------
def sentence(first: str, second: str, adjective: str) -> list[str]:
    """The 13 words."""
    return f"the {first} does not fit into the {second} because it is too {adjective}".split()


class Exam(NamedTuple):
    """All sentences, which noun is meant in each, and whether its pair of nouns is kept from the training."""

    ids: Tensor  # (B, S)
    meant: Tensor  # (B,) numbers of nouns
    held_out: Tensor  # (B,) truth values


def exam() -> Exam:
    """8 · 7 pairs of nouns with 12 adjectives; a seventh of the pairs is held out."""
    pairs = [(a, b, c) for a in NOUNS for b in NOUNS if a != b for c in (*BIG, *SMALL)]
    ids = torch.tensor([[VOCABULARY.index(word) for word in sentence(*pair)] for pair in pairs])
    meant = torch.tensor([NOUNS.index(a if c in BIG else b) for a, b, c in pairs])
    held_out = torch.tensor([(NOUNS.index(a) - NOUNS.index(b)) % len(NOUNS) == 3 for a, b, _ in pairs])
    return Exam(ids, meant, held_out)


class Looked(NamedTuple):
    """What happened to "it": where it looked, and its vector before, between and after."""

    weights: list[Tensor]  # (B, S) for each look
    stream: list[Tensor]  # (B, D), one more than looks


class Trophy:
    """The model: E (V, D), P (S, D), and W_Q, W_K, W_V (D, D) for each look."""

    def __init__(self, *, looks: int, even: bool, width: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)

        def draw(*shape: int, size: float) -> Tensor:
            return (size * torch.randn(*shape, generator=generator)).requires_grad_()

        self.even = even
        self.E, self.P = draw(len(VOCABULARY), width, size=0.5), draw(LENGTH, width, size=0.5)
        self.matrices = [[draw(width, width, size=width**-0.5) for _ in "QKV"] for _ in range(looks)]

    def look(self, ids: Tensor) -> Looked:
        """Sentences (B, S) -> where "it" looked, and what became of it."""
        x = self.E[ids] + self.P  # (B, S, D)
        stream, weights = [x[:, IT]], []
        for W_Q, W_K, W_V in self.matrices:
            scores = (stream[-1] @ W_Q)[:, None] @ (x @ W_K).mT / W_Q.shape[-1] ** 0.5  # (B, 1, S)
            a = torch.full_like(scores, 1 / LENGTH) if self.even else scores.softmax(-1)
            weights.append(a[:, 0])
            stream.append(stream[-1] + (a @ (x @ W_V))[:, 0])  # it + update
        return Looked(weights, stream)

    def nouns(self, it: Tensor) -> Tensor:
        """How well each noun fits a vector (B, D): probabilities (B, 8)."""
        return (it @ self.E[: len(NOUNS)].T).softmax(-1)

    @torch.no_grad()
    def exact(self, *, held_out: bool) -> float:
        """Share of right nouns, for the pairs of nouns that were held out or for the others."""
        ids, meant, apart = exam()
        found = self.nouns(self.look(ids).stream[-1]).argmax(-1) == meant
        return found[apart == held_out].double().mean().item()


def train_trophy(*, looks: int = 2, even: bool = False, seed: int = 6, steps: int = 200) -> Trophy:
    """Train on 128 sentences a step, none of them held out, with Adam (about two seconds)."""
    toy = Trophy(looks=looks, even=even, width=16, seed=seed)
    adam = torch.optim.Adam([toy.E, toy.P, *(W for trio in toy.matrices for W in trio)], lr=1e-2)
    ids, meant, apart = exam()
    ids, meant = ids[~apart], meant[~apart]
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        chosen = torch.randint(len(ids), (128,), generator=generator)
        fit = toy.nouns(toy.look(ids[chosen]).stream[-1])
        adam.zero_grad()
        torch.nn.functional.nll_loss(fit.clamp_min(1e-30).log(), meant[chosen]).backward()
        adam.step()
    return toy


# --- draw -------------------------------------------------------------------------------------------------------------
@torch.no_grad()
def draw_trophy(toy: Trophy, cases: Sequence[tuple[str, str, str]]) -> Svg:
    """For each sentence: the looks of "it" as gold lines, and beside them its vector, to which each look adds."""
    parts, told = [], []
    for n, (first, second, adjective) in enumerate(cases):
        tokens = sentence(first, second, adjective)
        seen = toy.look(torch.tensor([[VOCABULARY.index(word) for word in tokens]]))
        fits = [dict(zip(NOUNS, toy.nouns(it)[0].tolist(), strict=True)) for it in seen.stream]
        parts += _looks(24 + 276 * n, tokens, [w[0].tolist() for w in seen.weights])
        parts += _stream(24 + 276 * n, (first, second), fits)
        told.append(describe_trophy(tokens, [w[0] for w in seen.weights], fits[-1]))
    return card(792, 276 * len(cases) + 16, parts, " ".join(told))


def _looks(top: float, tokens: list[str], looks: list[list[float]]) -> list[str]:
    """The sentence once for each look, in two lines: above it asks, below stand the words that are looked at."""
    parts = []
    places = _places(tokens)
    asks = places[IT]
    for n, weights in enumerate(looks):
        y = top + 122 * n
        parts.append(words(8, y + 8, f"{('First', 'Second', 'Third')[n]} look", font_weight="bold"))
        parts.append(box(asks - 14, y, 28, 24, "it", QUERY))
        for place, token, weight in zip(places, tokens, weights, strict=True):
            if weight > 0.02:
                parts.append(curve(asks, y + 24, place, y + 78, stroke=WEIGHT.shade, weight=weight))
            bold = "bold" if weight > 0.2 else None
            parts.append(words(place, y + 94, token, size=12.5, anchor="middle", font_weight=bold))
            if weight > 0.2:
                parts.append(words(place, y + 110, f"{weight:.2f}", size=12.5, fill=WEIGHT.shade, anchor="middle"))
    return parts


def _places(tokens: list[str]) -> list[float]:
    """The middle of each word in a line of text."""
    places, left = [], 8.0
    for token in tokens:
        width = 6.4 * len(token)
        places.append(left + width / 2)
        left += width + 7
    return places


def _stream(top: float, pair: tuple[str, str], fits: list[dict[str, float]]) -> list[str]:
    """The vector of "it" as a line from top to bottom, and at each station how well the two nouns fit it."""
    x, parts = 556, []
    parts.append(words(x + 24, top + 8, "what “it” stands for by then", size=12.5, fill=MUTED))
    last = len(fits) - 1
    parts.append(line(x, top + 22, x, top + 232, RESIDUAL.full, stroke_width=4))
    for n, fit in enumerate(fits):
        y = top + 34 + 88 * n
        for m, noun in enumerate(pair):
            parts += [words(x + 78, y + 14 + 22 * m, noun, size=12.5, anchor="end")]
            parts += [bar(x + 84, y + 2 + 22 * m, 90 * fit[noun], 16, GREY.full, stroke=INK)]
            parts += [
                words(
                    x + 180 if fit[noun] > 0.9 else x + 92 + 90 * fit[noun],
                    y + 14 + 22 * m,
                    f"{fit[noun]:.2f}",
                    size=12.5,
                )
            ]
        if n < last:
            parts += [arrow(x - 52, y + 66, x, y + 66, RESIDUAL.full, gap=4)]
            parts += [words(x - 56, y + 70, "added", size=12.5, fill=RESIDUAL.shade, anchor="end")]
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_trophy(tokens: list[str], looks: Sequence[Tensor], fit: dict[str, float]) -> str:
    """Where "it" looks first and second, and what it then stands for."""
    seen = " then ".join(f"{tokens[int(w.argmax())]!r} ({w.max():.2f})" for w in looks)
    best = max(fit, key=fit.__getitem__)
    return f"'{' '.join(tokens)}': 'it' looks most at {seen}, and stands for {best!r} ({fit[best]:.2f})."
