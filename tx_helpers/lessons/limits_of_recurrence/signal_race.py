"""The signal race: how far a word's information has come after each step, in three architectures.

    signal_race_explorer()

Nothing is asserted here. Real layers with random weights read a text twice, once with another first word; wherever the
outputs differ the first word's information has arrived. Source of the question: Vaswani et al. 2017, table 1.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import torch
from torch import Tensor, nn

from tx_helpers.lessons.limits_of_recurrence.recurrent import new_layer
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, card, number, shape, words

WIDTH, FARTHEST = 4, 32  # of the vectors; the largest distance that can be drawn
SIZE, LEFT, ROW = 720, 186, 92
SHOWN = ("recurrence", "convolution", "attention")  # a dilated convolution is measured, too, but not drawn


# --- compute ----------------------------------------------------------------------------------------------------------
def arrivals(distance: int, kernel: int = 3) -> dict[str, list[int]]:
    """For each architecture the word that the first word's information has reached after 0, 1, 2 … steps.

    Each list ends where the word `distance` places on is reached, so its length less one is the number of steps needed.
    A step is one word for the recurrent layer, and one layer for the others; convolutions look back only, and the
    dilated ones leave gaps of 1, k, k² ….
    """
    check_numbers("arrivals", least=1, most=FARTHEST, whole=True, distance=distance)
    check_numbers("arrivals", least=2, whole=True, kernel=kernel)
    return _arrivals(distance, kernel)


@cache
def _arrivals(distance: int, kernel: int) -> dict[str, list[int]]:
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        text = torch.randn(1, distance + 1, WIDTH, dtype=torch.float64).repeat(2, 1, 1)
        text[1, 0] += 1.0  # the same text with another first word
        states = new_layer("rnn", WIDTH, WIDTH).double()(text)[0]
        recurrence = [_reached(states[:, : step + 1]) for step in range(distance + 1)]  # step t has made the state t
        return {
            "recurrence": recurrence,
            "convolution": _climb(text, lambda layer, x: _convolve(x, kernel, 1)),
            "dilated convolution": _climb(text, lambda layer, x: _convolve(x, kernel, kernel**layer)),
            "attention": _climb(text, lambda layer, x: _attend(x)),
        }


def _reached(outputs: Tensor) -> int:
    """The last place at which the two rows of (2, T, D) differ."""
    return int((outputs[0] != outputs[1]).any(-1).nonzero().max())


def _climb(x: Tensor, layer: Callable[[int, Tensor], Tensor]) -> list[int]:
    """What is reached in the text itself, after one layer, after two …, until it is the last word."""
    reached = [_reached(x)]
    while reached[-1] < x.shape[1] - 1:
        x = layer(len(reached) - 1, x)
        reached.append(_reached(x))
    return reached


def _convolve(x: Tensor, kernel: int, dilation: int) -> Tensor:
    padded = nn.functional.pad(x.transpose(1, 2), ((kernel - 1) * dilation, 0))
    weight = torch.randn(WIDTH, WIDTH, kernel, dtype=x.dtype)
    return torch.conv1d(padded, weight, dilation=dilation).transpose(1, 2)


def _attend(x: Tensor) -> Tensor:
    return nn.MultiheadAttention(WIDTH, 1, batch_first=True).double()(x, x, x, need_weights=False)[0]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_race(step: int, distance: int, kernel: int) -> Svg:
    """A row of words for each architecture: those that know of the first word are filled, and arcs show its way."""
    parts = []
    for row, name in enumerate(SHOWN):
        reached = arrivals(distance, kernel)[name]
        top = 62 + ROW * row
        came = reached[: step + 1]
        label = f"arrived after {len(reached) - 1}" if came[-1] == distance else f"{came[-1]} of {distance} words"
        parts += [
            words(24, top - 4, name.capitalize(), font_weight="bold"),
            words(24, top + 15, label, fill=BLUE.shade if came[-1] == distance else MUTED),
        ]
        parts += [_arc(_place(a, distance), _place(b, distance), top) for a, b in pairwise(came)]
        for place in range(distance + 1):
            knows = place <= came[-1]
            fill, edge = (BLUE.full, BLUE.full) if knows else (GREY.tint, GREY.full)
            parts.append(shape("circle", cx=_place(place, distance), cy=top, r=6.5, fill=fill, stroke=edge))
    bottom = 62 + ROW * (len(SHOWN) - 1) + 34
    parts.append(words(LEFT - 7, bottom, "first word", size=12, fill=MUTED))
    parts.append(words(SIZE - 22, bottom, f"{distance} words on", size=12, fill=MUTED, anchor="end"))
    return card(SIZE, bottom + 14, parts, describe_race(step, distance, kernel))


def _place(word: int, distance: int) -> float:
    return LEFT + (SIZE - LEFT - 30) * word / distance


def _arc(start: float, end: float, y: float) -> str:
    """A hop from one word to another: the longer, the higher."""
    top = y - 9 - min(34, 0.35 * (end - start))
    middle, bend, y = number((start + end) / 2), number(2 * top - y + 8), number(y - 8)
    path = f"M{number(start)},{y} Q{middle},{bend} {number(end)},{y}"
    return shape("path", d=path, fill="none", stroke=INK, stroke_width=1.6)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_race(step: int, distance: int, kernel: int) -> str:
    """How far the first word has come in each architecture, or after how many steps it arrived."""
    came = []
    for name in SHOWN:
        reached = arrivals(distance, kernel)[name]
        now, needed = reached[: step + 1][-1], len(reached) - 1
        came.append(f"{name} arrived after {needed}" if now == distance else f"{name} {now} of {distance}")
    return f"After step {step}, kernel width {kernel}: {', '.join(came)}."


# --- bind -------------------------------------------------------------------------------------------------------------
def signal_race_explorer() -> Explore:
    """Steps of the race, distance of the two words, and width of the kernel; Play goes through the steps."""
    step = slider("Step", 0, 16, start=1)
    distance = slider("Distance", 4, FARTHEST, start=16)
    distance.observe(lambda change: setattr(step, "max", change["new"]), "value")
    kernel = slider("Kernel width", 2, 9, start=3)
    play = play_button(step)
    recorded = {"step": range(FARTHEST + 1), "distance": [4, 8, 12, 16, 17, 24, 32, FARTHEST]}
    controls = dict(step=step, play=play, distance=distance, kernel=kernel)
    return Explore(draw_race, name="signal-race", recorded=recorded, **controls)
