"""What a parameter takes in memory, by the precision in which its numbers are kept.

    bytes_by_mode(1000)     {mode: {what is kept: bytes a parameter}}, measured on tensors of that many numbers
    draw_modes()            the same as bars, side by side

Sources: Micikevicius et al. 2018 (a precise weight beside one of 16 bits); Rajbhandari et al. 2020, section 3.1 (16
bytes); Korthikanti et al. 2022 (18, since gradients of 16 bits are summed in 32).
"""

import torch

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, MUTED, ORANGE, PINK, card, line, shape, words

HALF, FULL = torch.bfloat16, torch.float32
MODES: dict[str, dict[str, tuple[torch.dtype, ...]]] = {
    "all in float32": {"weight": (FULL,), "gradient": (FULL,), "AdamW's two means": (FULL, FULL)},
    "mixed": {"weight": (HALF,), "gradient": (HALF,), "precise weight": (FULL,), "AdamW's two means": (FULL, FULL)},
    "mixed, gradients summed in float32": {
        "weight": (HALF,),
        "gradient": (FULL,),
        "precise weight": (FULL,),
        "AdamW's two means": (FULL, FULL),
    },
    "all in bfloat16": {"weight": (HALF,), "gradient": (HALF,), "AdamW's two means": (HALF, HALF)},
}
COLOURS = {"weight": BLUE, "gradient": ORANGE, "precise weight": PINK, "AdamW's two means": GREEN}
LEFT, BYTE, ROW = 290, 24, 34


def bytes_by_mode(parameters: int = 1000) -> dict[str, dict[str, float]]:
    """For each mode the bytes of each kind of number, counted on tensors and divided by the parameters."""
    check_numbers("bytes_by_mode", least=1, whole=True, parameters=parameters)
    return {
        mode: {
            kind: sum(torch.empty(parameters, dtype=dtype).nbytes for dtype in kept) / parameters
            for kind, kept in kinds.items()
        }
        for mode, kinds in MODES.items()
    }


def draw_modes() -> Svg:
    """A bar for each mode, a piece for each kind of number, its bytes inside."""
    modes = bytes_by_mode()
    parts = [words(16, 28, "Bytes for each parameter", size=15, font_weight="bold")]
    for row, (mode, kinds) in enumerate(modes.items()):
        y, x = 44 + ROW * row, float(LEFT)
        parts.append(words(LEFT - 12, y + 18, mode, anchor="end"))
        for kind, size in kinds.items():
            colour, wide = COLOURS[kind], BYTE * size
            parts.append(shape("rect", x=x, y=y, width=wide - 1, height=26, rx=2, fill=colour.tint, stroke=colour.full))
            parts.append(words(x + wide / 2, y + 18, f"{size:g}", anchor="middle", fill=colour.shade))
            x += wide
        parts.append(words(x + 8, y + 18, f"{sum(kinds.values()):g} bytes", font_weight="bold"))
    y = 44 + ROW * len(modes) + 14
    parts.append(line(16, y - 8, 784, y - 8, EDGE))
    x = 16.0
    for kind, colour in COLOURS.items():
        parts.append(shape("rect", x=x, y=y, width=14, height=14, fill=colour.tint, stroke=colour.full))
        parts.append(words(x + 20, y + 12, kind, fill=MUTED))
        x += 40 + 7.6 * len(kind)
    said = "; ".join(f"{mode} {sum(kinds.values()):g}" for mode, kinds in modes.items())
    return card(800, y + 30, parts, f"Bytes for each parameter: {said}.")
