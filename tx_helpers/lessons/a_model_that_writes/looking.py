"""A text with one head's attention behind its characters, as the model is about to write what comes next.

    draw_readings([Reading("lost thing: layer 4, head 1", "… The ", weights, word="bell")], near=54)

The weights are the last row of softmax(QKᵀ / √d_k): one number for each character of the text.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.capture import capture
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import MONO, MUTED, WEIGHT, card, shape, words
from tx_helpers.text.data import evaluation_windows
from tx_helpers.zoo.shipped import Writer

COLUMNS, ROW, ADVANCE, LEFT = 88, 24, 7.8, 24  # characters a line, and the size of a character


@torch.no_grad()
def last_row(writer: Writer, text: str, start: int) -> tuple[str, Tensor]:
    """The story up to `start`, as much as the writer sees, and each head's weights on it: (layers, H, S)."""
    view = text[start - writer.context + 10 : start]
    with capture(writer.model, "*.self_attention.weights") as seen:
        writer.model(torch.tensor([writer.tokenizer.encode(view)]))
    weights = torch.stack([seen[name][0, :, -1] for name in seen.names("*weights")])
    story = max(view.rfind("\n\n") + 2, 0) if "\n\n" in view else 0
    return view[story:], weights[..., story:]


@torch.no_grad()
def loss_by_place(writer: Writer, text: str) -> Tensor:
    """The mean loss (T,) in nats at each place of the writer's windows; the last, shorter window is left out."""
    ids = torch.tensor(writer.tokenizer.encode(text))
    windows = evaluation_windows(ids, writer.context)[:-1]
    losses = [cross_entropy(writer.model(w.input).transpose(1, 2), w.target, reduction="none") for w in windows]
    return torch.cat(losses).mean(0)


class Reading(NamedTuple):
    """What one head reads: a title, the text, its weight on each character, and the word that comes next."""

    title: str
    text: str
    weights: Sequence[float]
    word: str

    @property
    def on_word(self) -> float:
        """The share on the places where the word stands already, each with the character before it."""
        places, at = set(), self.text.find(self.word)
        while at >= 0:
            places |= set(range(max(at - 1, 0), at + len(self.word)))
            at = self.text.find(self.word, at + 1)
        return float(sum(self.weights[place] for place in places))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_readings(readings: Sequence[Reading], *, near: int) -> Svg:
    """Each text with gold behind what the head attends to; a line below the newest `near` characters."""
    check_numbers("draw_readings", least=0, whole=True, near=near)
    parts, y = [], 30
    for reading in readings:
        if len(reading.weights) != len(reading.text):
            raise ValueError(
                f"draw_readings: {len(reading.weights)} weights for {len(reading.text)} characters, expected as many"
            )
        parts.append(words(LEFT, y, reading.title, font_weight="bold"))
        at = 0
        for text in lines(reading.text):
            y += ROW
            for x, place in enumerate(range(at, at + len(text))):
                cell = dict(x=LEFT + x * ADVANCE, width=ADVANCE)
                if (share := min(float(reading.weights[place]) * 2, 1.0)) > 0.02:
                    parts.append(
                        shape("rect", y=y - 15, height=20, fill=WEIGHT.full, fill_opacity=round(share, 2), **cell)
                    )
                if place >= len(reading.text) - near:
                    parts.append(shape("rect", y=y + 5, height=1.5, fill=MUTED, **cell))
            shown = text.replace(" ", "\N{NO-BREAK SPACE}")
            style = dict(size=13, font_family=MONO, textLength=round(len(text) * ADVANCE, 1), lengthAdjust="spacing")
            parts.append(words(LEFT, y, shown, **style))
            at += len(text)
        y += 44
    parts.append(words(LEFT, y - 14, f"gold: attention · underlined: the newest {near} characters", fill=MUTED))
    return card(2 * LEFT + COLUMNS * ADVANCE, y + 4, parts, describe_readings(readings))


def lines(text: str) -> list[str]:
    """The text in lines of at most COLUMNS characters, cut behind spaces where there are any."""
    found = []
    while text:
        end = len(text) if len(text) <= COLUMNS else text.rfind(" ", 0, COLUMNS) + 1 or COLUMNS
        found.append(text[:end])
        text = text[end:]
    return found


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_readings(readings: Sequence[Reading]) -> str:
    """How much of each head's attention lies on the word that comes next."""
    told = [f"{each.title}, before {each.word!r}: {each.on_word:.0%} on this word" for each in readings]
    return f"Gold behind a story's characters shows where a head looks. {'; '.join(told)}."
