"""The softmax in one pass: scores arrive in blocks, and three numbers are kept up to date.

    online_softmax_explorer()

Of a block of scores s with their values v, after the largest score m, the sum l and the output o so far:

    m' = max(m, max s)    l' = l · e^(m − m') + Σ e^(s − m')    o' = (l · e^(m − m') · o + Σ e^(s − m') · v) / l'

`zoo/parts/flash.py` does the same with whole matrices. Source: Milakov & Gimelshein 2018; Dao et al. 2022.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.controls import choice, slider, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    EDGE,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    WEIGHT,
    bar,
    card,
    line,
    setting,
    shape,
    words,
)

SCORES = (1.0, 0.0, 2.0, 1.5, -1.0, 1.0, 3.0, 0.5, 2.0, 0.0, 2.5, 1.0)
VALUES = (4.0, 1.0, 2.0, 3.0, 5.0, 0.0, 1.0, 4.0, 2.0, 6.0, 3.0, 0.0)
HUGE = 7  # the place, counted from 0, of the score that can be made huge
HUGE_SCORES = (SCORES[HUGE], 5.0, 20.0, 1000.0)
SIZES = (1, 2, 3, 4, 6, 12)  # of a block
SAME = 1e-12  # a smaller gap is rounding
LEFT, COLUMN, TOP, TALL = 92, 54, 48, 96  # pixels: where the scores begin, the width of one; the bars
NUMBERS = TOP + TALL + 96  # where the table of the blocks begins
PLACES = (92, 206, 304, 556, 736)  # right edges of its columns


# --- compute ----------------------------------------------------------------------------------------------------------
class Step(NamedTuple):
    """After a block: what it holds, the three numbers that are kept, and what each score read so far counts."""

    block: slice
    largest: float  # m
    factor: float  # e^(m before − m now), which multiplies the sum so far; 0 for the first block
    added: float  # what the block adds to the sum
    total: float  # l
    output: float  # o
    shares: list[float]  # e^(s − m) of each score so far, as the sum holds it


def read_blocks(scores: Sequence[float], values: Sequence[float], size: int, rescale: bool = True) -> list[Step]:
    """A step for each block of `size` scores. Without `rescale` the sum so far stays as it was: that is wrong."""
    check_types("read_blocks", Sequence, scores=scores, values=values)
    numbers = {f"scores[{i}]": score for i, score in enumerate(scores)}
    check_numbers("read_blocks", **numbers, **{f"values[{i}]": value for i, value in enumerate(values)})
    check_numbers("read_blocks", least=1, whole=True, size=size)
    if len(scores) != len(values):
        raise ValueError(f"read_blocks: {len(scores)} scores, but {len(values)} values")
    largest, total, output, shares, steps = -math.inf, 0.0, 0.0, [], []
    for start in range(0, len(scores), size):
        block = slice(start, min(start + size, len(scores)))
        larger = max(largest, *scores[block])
        factor = math.exp(largest - larger) if rescale or not steps else 1.0
        new = [math.exp(score - larger) for score in scores[block]]
        weighted = total * factor * output + sum(e * v for e, v in zip(new, values[block], strict=True))
        total = total * factor + sum(new)
        output, largest = weighted / total, larger
        shares = [share * factor for share in shares] + new
        steps.append(Step(block, largest, factor, sum(new), total, output, shares))
    return steps


def plain(scores: Sequence[float], values: Sequence[float]) -> Step:
    """All scores in one block: the softmax as it is always written."""
    return read_blocks(scores, values, len(scores))[0]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(scores: Sequence[float], values: Sequence[float], size: int, step: int, rescale: bool = True) -> Svg:
    """The scores with a bar for what each counts so far; below a line of three numbers for each block, and the truth.

    An outline is a bar as it was before this block's largest score. step counts from 1.
    """
    steps = read_blocks(scores, values, size, rescale)
    check_numbers("draw", least=1, most=len(steps), whole=True, step=step)
    now, before = steps[step - 1], steps[step - 2].shares if step > 1 else []
    parts = [words(16, 26, f"Block {step} of {len(steps)} is read", size=15, font_weight="bold")]
    note = f"all earlier bars × {short(now.factor)}" if now.factor < 1 and before else ""
    note = note if rescale else "the factor is left out"
    parts += [words(740, 26, note, fill=ORANGE.shade, anchor="end")] * bool(note)
    floor = TOP + TALL
    parts += [
        words(16, floor - 4, "eˢ⁻ᵐ", size=15),
        words(16, floor + 25, "score s"),
        words(16, floor + 51, "value v"),
        line(LEFT, floor, LEFT + COLUMN * len(scores), floor, INK),
    ]
    for number, one in enumerate(steps, start=1):
        parts.append(setting("step", number, _block(one, scores, values, read=number <= step, now=number == step)))
    for place, share in enumerate(now.shares):
        x, tall = LEFT + COLUMN * place + 13, TALL * share
        if place < len(before) and before[place] > share:
            old = TALL * before[place]
            outline = dict(fill="none", stroke=ORANGE.full, stroke_dasharray="4 3")
            parts.append(shape("rect", x=x, y=floor - old, width=28, height=old, **outline))
        parts.append(bar(x, floor - tall, 28, tall, WEIGHT.full))
    parts += _numbers(steps, step, plain(scores, values))
    high = NUMBERS + 24 * (len(steps) + 1) + 24
    return card(760, high, parts, describe(scores, values, size, step, rescale))


def _block(one: Step, scores: Sequence[float], values: Sequence[float], read: bool, now: bool) -> list[str]:
    """The scores of a block and their values; pale before they are read, framed as they are read."""
    x, floor, wide = LEFT + COLUMN * one.block.start, TOP + TALL, COLUMN * (one.block.stop - one.block.start)
    edge = dict(stroke=ORANGE.full, stroke_width=2.5) if now else dict(stroke=EDGE)
    parts = [shape("rect", x=x + 2, y=floor + 6, width=wide - 4, height=54, rx=6, fill=GREY.tint, **edge)]
    for place in range(one.block.start, one.block.stop):
        middle, shown = LEFT + COLUMN * (place + 0.5), dict(size=14, anchor="middle")
        score, value = (short(scores[place]), short(values[place])) if read else ("?", "?")
        parts.append(words(middle, floor + 25, score, **shown))
        parts.append(words(middle, floor + 51, value, fill=GREEN.shade if read else INK, **shown))
    return parts


def _numbers(steps: Sequence[Step], step: int, truth: Step) -> list[str]:
    """A line for each block that has been read, and one for all scores at once; orange: a factor, a wrong end."""
    heads = ("block", "largest m", "factor", "sum l", "output")
    parts = [words(x, NUMBERS, head, fill=MUTED, anchor="end") for x, head in zip(PLACES, heads, strict=True)]
    for row, one in enumerate(steps[:step], start=1):
        y, bold = NUMBERS + 24 * row, {"font_weight": "bold"} if row == step else {}
        factor, total = ("–", "") if row == 1 else (short(one.factor), f"{_sum(steps[row - 2], one)} = ")
        texts = (str(row), short(one.largest), factor, total + short(one.total), short(one.output))
        wrong = row == len(steps) and abs(one.output - truth.output) > SAME
        warned = {2: row > 1 and one.factor < 1, 4: wrong}
        for column, (x, text) in enumerate(zip(PLACES, texts, strict=True)):
            look = {"fill": ORANGE.shade} if warned.get(column) else {}
            parts.append(words(x, y, text, size=14, anchor="end", **bold, **look))
    y = NUMBERS + 24 * (len(steps) + 1) + 4
    parts.append(line(16, y - 20, PLACES[-1], y - 20, EDGE))
    texts = ("all at once", short(truth.largest), "–", short(truth.total), short(truth.output))
    parts += [
        words(x, y, text, size=14, fill=GREEN.shade, anchor="end", font_weight="bold")
        for x, text in zip(PLACES, texts, strict=True)
    ]
    return parts


def _sum(before: Step, now: Step) -> str:
    """How the sum came about."""
    return f"{short(before.total)} × {short(now.factor)} + {short(now.added)}"


def short(number: float) -> str:
    """Three digits or so, and a power of ten for what is very small; minus as −."""
    if 0 < abs(number) < 0.001:
        digits, power = f"{number:.0e}".split("e")
        return f"{digits}e{int(power)}".replace("-", "−")
    return f"{number:.3f}".rstrip("0").rstrip(".").replace("-", "−")


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(scores: Sequence[float], values: Sequence[float], size: int, step: int, rescale: bool = True) -> str:
    """The three numbers after this block, what happened to the sum, and how far the output is from the softmax's."""
    steps, truth = read_blocks(scores, values, size, rescale), plain(scores, values)
    now = steps[step - 1]
    so_far = plain(scores[: now.block.stop], values[: now.block.stop])
    said = [f"After block {step} of {len(steps)}: largest score {short(now.largest)}, "]
    if step == 1:
        said.append(f"sum {short(now.total)}, ")
    else:
        said.append(f"sum {_sum(steps[step - 2], now)} = {short(now.total)}, ")
    said.append(f"output {short(now.output)}.")
    gap = abs(now.output - so_far.output)
    equal = "the same (gap below 1e-12)" if gap < SAME else f"{short(so_far.output)}, a gap of {short(gap)}"
    said.append(f" Softmax of the {now.block.stop} scores read so far, all at once: {equal}.")
    if step < len(steps):
        said.append(f" Of all {len(scores)} scores: {short(truth.output)}.")
    if not rescale:
        said.append(" The factor was left out.")
    return "".join(said)


# --- bind -------------------------------------------------------------------------------------------------------------
def online_softmax_explorer() -> Explore:
    """Choose the size of a block and step through the blocks; one score can be made huge, the factor left out."""
    step = slider("Blocks read", 1, 4)

    def picture(size: int, step_: int, huge: float, rescale: bool) -> Svg:
        step.max = math.ceil(len(SCORES) / size)
        scores = (*SCORES[:HUGE], huge, *SCORES[HUGE + 1 :])
        return draw(scores, VALUES, size, min(step_, step.max), rescale)

    return Explore(
        lambda step, **others: picture(step_=step, **others),
        name="online-softmax",
        recorded={"step": list(range(1, len(SCORES) + 1))},
        size=choice("Block size", SIZES, 3),
        step=step,
        play=play_button(step, pause=1.0),
        huge=choice(f"Score {HUGE + 1}", [(f"{score:g}", score) for score in HUGE_SCORES]),
        rescale=tick("Multiply the sum so far by the factor", on=True),
    )
