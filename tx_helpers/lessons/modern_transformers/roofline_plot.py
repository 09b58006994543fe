"""The roofline as a picture: how fast an operation can be, by its operations for each byte, and how fast it was."""

from collections.abc import Sequence

import numpy as np

from tx_helpers.lessons.modern_transformers.roofline import Row
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show
from tx_helpers.training.machine_speed import Machine


def roofline_picture(machine: Machine, rows: Sequence[Row]) -> Picture:
    """Both axes are logarithmic. A point lies under the roof min(P, M · intensity), unless the fast memory helps it."""
    check_types("roofline_picture", Machine, machine=machine)
    check_types("roofline_picture", Sequence, rows=rows)
    figure, axis = new_figure(7.5, 4.2)
    low = min([0.1, *(row.cost.per_byte / 2 for row in rows)])
    high = max([8 * machine.ridge, *(row.cost.per_byte * 8 for row in rows)])
    x = np.array([low, machine.ridge, high])
    axis.plot(x, [machine.roof(one) / 1e9 for one in x], "-", color=COLOURS[-1], linewidth=1.6)
    for number, row in enumerate(rows):
        colour, y = COLOURS[number % (len(COLOURS) - 1)], row.reached / 1e9
        axis.plot([row.cost.per_byte], [y], "os^Dv<>"[number % 7], color=colour, markersize=8, label=row.name)
    axis.axvline(machine.ridge, color="#555555", linewidth=1, linestyle=(0, (1, 1)))
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set(xlabel="operations for each byte", ylabel="billion operations in a second")
    axis.set(title="The roofline of this machine, one thread")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return show(figure, _alt(machine, rows))


def _alt(machine: Machine, rows: Sequence[Row]) -> str:
    sides = {"memory": [], "multiplications": []}
    for row in rows:
        sides["memory" if row.cost.per_byte < machine.ridge else "multiplications"].append(row.name)
    limits = " ".join(f"Limited by {limit}: {'; '.join(names) or 'none'}." for limit, names in sides.items())
    return f"A slanted roof that becomes flat, and a point for each of {len(rows)} operations. {limits}"
