"""A sentence that a learner types: its words, their places in a drawing of several lines, the explorer's controls."""

from collections.abc import Callable, Sequence

import ipywidgets as widgets

from tx_helpers.nn.arguments import check_types
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg

MOST = 28  # words of a sentence that can be typed
LEFT, LETTER = 20, 7.6  # pixels: the margin, and the width of a letter


def words_of(where: str, text: str) -> list[str]:
    """The words of a text. ValueError if there are none or more than `MOST`."""
    check_types(where, str, text=text or " ")
    found = text.split()
    if not 1 <= len(found) <= MOST:
        raise ValueError(f"{where}: a sentence of {len(found)} words, expected 1 to {MOST}")
    return found


def places(sentence: Sequence[str], *, width: float, left: float = LEFT) -> tuple[list[tuple[float, int, float]], int]:
    """(left edge, line, width) of each word, broken into lines; and the number of lines."""
    x, line, found = left, 0, []
    for token in sentence:
        wide = min(max(40, 14 + LETTER * len(token)), width - left - 16)
        if x + wide > width - 16:
            x, line = left, line + 1
        found.append((x, line, wide))
        x += wide + 4
    return found, line + 1


def short(token: str, most: int = 40) -> str:
    """A word that fits into its box."""
    return token if len(token) <= most else f"{token[: most - 1]}…"


def explore_sentence(draw: Callable[[str, int], Svg], name: str, examples: Sequence[str]) -> Explore:
    """draw(text, word): a sentence that can be typed, at first `examples[0]`, and the word read last; Play reads on."""
    first = examples[0]
    text = widgets.Text(first, description="Sentence", continuous_update=False, layout={"width": "100%"})
    word = slider("Word", 1, len(first.split()))

    def fit(change: dict) -> None:
        word.max = max(1, min(len(change["new"].split()), MOST))

    text.observe(fit, "value")
    recorded = {"text": examples, "word": range(1, len(first.split()) + 1)}
    return Explore(draw, name=name, recorded=recorded, text=text, word=word, play=play_button(word))
