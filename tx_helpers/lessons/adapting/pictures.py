"""Pictures of what models write, and of one pair in DPO.

written([("who has a cat ?", {"goes on": "and a dog", "answers": "mia"})], alt=…)
pair_picture(*now, *before, beta=0.1)      # ln p of the better and of the worse answer, in nats, now and in the copy
"""

import math
from collections.abc import Mapping, Sequence

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.charts import Panel
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Bar, Text, bars, stacked
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, ORANGE

WIDTH = 760


def written(texts: Sequence[tuple[str, Mapping[str, str]]], *, alt: str) -> Svg:
    """Each prompt in bold, and below it what was written behind it: who -> the text, each in a colour of its own."""
    check_types("written", Sequence, texts=texts)
    rows: list[Text | Panel] = []
    for asked, answers in texts:
        rows.append(Text(asked, bold=True))
        colours = (BLUE.shade, GREEN.shade, INK)
        rows += [Text(f"{who}: {said}", colour) for (who, said), colour in zip(answers.items(), colours, strict=False)]
        rows.append(Panel((1, 2), ""))
    return stacked(rows, width=WIDTH, alt=alt)


def pair_picture(better: float, worse: float, copy_better: float, copy_worse: float, *, beta: float) -> Svg:
    """Two bars each for the model and its copy, −ln p of both answers in nats; below, the margin and σ(β · margin)."""
    check_numbers("pair_picture", most=0, better=better, worse=worse, copy_better=copy_better, copy_worse=copy_worse)
    check_numbers("pair_picture", above=0, beta=beta)
    gained, lost = better - copy_better, worse - copy_worse
    share = 1 / (1 + math.exp(-beta * (gained - lost)))
    found = {
        "better, copy": Bar(-copy_better, f"ln p = {copy_better:.1f}", GREY.full),
        "better, model": Bar(-better, f"ln p = {better:.1f}, a change of {gained:+.1f}", GREEN.full),
        "worse, copy": Bar(-copy_worse, f"ln p = {copy_worse:.1f}", GREY.full),
        "worse, model": Bar(-worse, f"ln p = {worse:.1f}, a change of {lost:+.1f}", ORANGE.full),
    }
    margin = (
        f"margin = {gained:+.1f} − ({lost:+.1f}) = {gained - lost:.1f} nats, β · margin = {beta * (gained - lost):.2f}"
    )
    loss = f"σ = {share:.2f}, loss −ln σ = {-math.log(share):.2f}"
    return stacked(
        [
            Text("One unseen pair: the shorter a bar, the more probable the answer", bold=True),
            bars(found, names=120, length=360, room=240),
            Text(margin),
            bars({"σ(β · margin)": Bar(share, loss, BLUE.full)}, names=120, length=360, room=240, full=1),
        ],
        width=WIDTH,
        alt=f"ln p of the better answer {copy_better:.1f} in the copy, {better:.1f} in the model; of the worse one "
        f"{copy_worse:.1f} and {worse:.1f}; {margin}; {loss}",
    )
