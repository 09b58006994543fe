"""One fact in one hidden unit, built by hand: "a digit was written AND a ten comes" makes *und* likely.

    unit_explorer()

The vector x has one feature for each half of the question. The unit compares it with its key k, adds its bias b, and
writes its value where the result is above 0:

    a = ReLU(x · k + b),    logit of "und" += v a
"""

from collections.abc import Sequence
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    GREY,
    INK,
    KEY,
    MUTED,
    RESIDUAL,
    SCORE,
    VALUE,
    WEIGHT,
    bar,
    card,
    key_mark,
    line,
    shape,
    value_mark,
    words,
)

WIDTH, ROW, FIRST = 800, 54, 132  # pixels: of the drawing, from one moment to the next, down to the first one


class Moment(NamedTuple):
    """What the decoder has written, the word that comes next, and the two features of the vector there."""

    written: str
    number: int
    next_word: str
    digit: int
    ten: int


MOMENTS = (
    Moment("vier hundert ein", 421, "und", 1, 1),
    Moment("vier", 400, "hundert", 1, 0),
    Moment("vier hundert", 420, "zwanzig", 0, 1),
    Moment("vier hundert", 400, "<eos>", 0, 0),
)
NAMES = {  # the moments at which the unit fires -> the word for it
    (True, False, False, False): "this is AND",
    (True, True, True, False): "this is OR",
    (True, True, False, False): 'it looks at "a digit was written" alone',
    (True, False, True, False): 'it looks at "a ten comes" alone',
    (True,) * 4: "it always fires",
    (False,) * 4: "it never fires",
}


# --- compute ----------------------------------------------------------------------------------------------------------
class Fired(NamedTuple):
    """At each moment: x · k, with the bias, after ReLU, and what is added to the logit of "und"."""

    dots: list[float]
    scores: list[float]
    activations: list[float]
    added: list[float]


def fire(key: Sequence[float], bias: float, value: float) -> Fired:
    """The unit at the four moments; key: the weights of "a digit was written" and of "a ten comes"."""
    check_numbers("fire", bias=bias, value=value)
    dots = [key[0] * moment.digit + key[1] * moment.ten for moment in MOMENTS]
    scores = [dot + bias for dot in dots]
    activations = [max(0.0, score) for score in scores]
    return Fired(dots, scores, activations, [value * activation for activation in activations])


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(key: Sequence[float], bias: float, value: float) -> Svg:
    """A row for each moment, from the features to what is added to the logit."""
    seen = fire(key, bias, value)
    parts = [
        words(18, 28, "what is written, and the next word", fill=MUTED),
        words(299, 28, "a digit was", anchor="middle", fill=MUTED),
        words(299, 44, "written", anchor="middle", fill=MUTED),
        words(379, 28, "a ten", anchor="middle", fill=MUTED),
        words(379, 44, "comes", anchor="middle", fill=MUTED),
        words(525, 28, "x · k + b", anchor="middle", fill=MUTED),
        words(654, 28, "ReLU", anchor="middle", fill=MUTED),
        words(742, 28, 'added to "und"', anchor="middle", fill=MUTED),
        words(240, 84, "key k", anchor="end", fill=KEY.shade, font_weight="bold"),
        *(_weight(x, weight) for x, weight in zip((299, 379), key, strict=True)),
        words(525, 84, f"bias b = {_signed(bias)}", anchor="middle", font_weight="bold"),
        value_mark(704, 80),
        words(718, 84, f"v = {_signed(value)}", fill=VALUE.shade, font_weight="bold"),
        line(525, 106, 525, FIRST + 4 * ROW - 14, INK),
    ]
    longest = max(2.0, *map(abs, seen.scores))
    for row, moment in enumerate(MOMENTS):
        parts += _row(FIRST + ROW * row, moment, seen, row, 70 / longest)
    return card(WIDTH, FIRST + 4 * ROW - 4, parts, describe(key, bias, value))


def _weight(x: float, weight: float) -> str:
    """A weight of the key on its square."""
    return key_mark(x - 22, 80) + words(x - 8, 84, _signed(weight), fill=KEY.shade, font_weight="bold")


def _row(y: float, moment: Moment, seen: Fired, row: int, unit: float) -> list[str]:
    """One moment: words, features, score as a bar, activation, what is added."""
    score, fires = seen.scores[row], seen.activations[row] > 0
    start = 527 if score > 0 else 523 + unit * score
    circle = WEIGHT if fires else GREY
    after = f"(of {moment.number}) → {moment.next_word}"
    parts = [words(18, y + 8, moment.written), words(18, y + 26, after, fill=MUTED)]
    for x, on in ((299, moment.digit), (379, moment.ten)):
        colour = RESIDUAL if on else GREY
        place = dict(x=x - 16, y=y - 6, width=32, height=32, rx=5)
        parts.append(shape("rect", fill=colour.tint, stroke=colour.full, **place))
        parts.append(words(x, y + 15, str(on), anchor="middle", fill=colour.shade))
    if score:
        parts.append(bar(start, y, unit * abs(score), 20, (WEIGHT if fires else SCORE).full))
    parts.append(words(532 if score <= 0 else 518, y + 15, _signed(score), anchor="start" if score <= 0 else "end"))
    parts.append(shape("circle", cx=654, cy=y + 10, r=19, fill=circle.tint, stroke=circle.full))
    parts.append(words(654, y + 14.5, f"{seen.activations[row]:g}", anchor="middle", fill=circle.shade))
    parts.append(words(742, y + 15, _signed(seen.added[row]), anchor="middle", fill=VALUE.shade if fires else MUTED))
    return parts


def _signed(value: float) -> str:
    """A number with a real minus sign; zero has none."""
    return f"{value + 0.0:g}".replace("-", "−")


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(key: Sequence[float], bias: float, value: float) -> str:
    """Score and activation at each moment, and what the unit computes."""
    seen = fire(key, bias, value)
    said = "; ".join(
        f"{moment.written} (of {moment.number}): {_signed(dot)} + {_signed(bias)} = {_signed(score)}, fires {a:g}"
        for moment, dot, score, a in zip(MOMENTS, seen.dots, seen.scores, seen.activations, strict=True)
    ).replace("+ −", "− ")
    fires = tuple(activation > 0 for activation in seen.activations)
    name = NAMES.get(fires, f"it fires at {sum(fires)} of the 4 moments")
    return f"{said}. So {name}."


# --- bind -------------------------------------------------------------------------------------------------------------
def unit_explorer() -> Explore:
    """The unit's two weights, its bias and its value."""
    return Explore(
        lambda digit, ten, bias, value: draw((digit, ten), bias, value),
        name="one-unit",
        digit=slider('Key: "a digit was written"', -2, 2, step=0.5, start=1.0),
        ten=slider('Key: "a ten comes"', -2, 2, step=0.5, start=1.0),
        bias=slider("Bias b", -3, 3, step=0.5, start=0.0),
        value=slider('Value v for "und"', -4, 4, step=1.0, start=4.0),
    )
