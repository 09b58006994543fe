"""A chart whose lines carry their names at their right ends, in place of a legend that needs empty room."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from tx_helpers.show.charts import BOTTOM, COLOURS, RIGHT, TOP, Panel, line_chart
from tx_helpers.show.shapes import line, words

LINE = 17  # pixels from one name to the next


def named_chart(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    size: tuple[int, int],
    ylim: tuple[float, float],
    logy: bool = False,
    room: int = 150,
    **options: Any,
) -> Panel:
    """`line_chart` of lines that all end at the right edge; `room` pixels of the width are for their names."""
    width, height = size[0] - room, size[1]
    panel = line_chart(lines, size=(width, height), ylim=ylim, logy=logy, legend=False, **options)
    scale = np.log10 if logy else np.asarray
    low, high = scale(ylim[0]), scale(ylim[1])
    inside = height - TOP - BOTTOM
    ends = [height - BOTTOM - float((scale(ys[-1]) - low) / (high - low)) * inside for _, ys in lines.values()]
    parts, free = [], float(TOP)
    for name, end, colour in sorted(zip(lines, ends, cycle(COLOURS), strict=False), key=lambda one: one[1]):
        at = max(end, free)
        parts.append(line(width - RIGHT + 6, end, width - RIGHT + 22, at, stroke=colour, stroke_width=2.2))
        parts.append(words(width - RIGHT + 27, at + 4, name, size=12))
        free = at + LINE
    return Panel(size, panel.body + "".join(parts))
