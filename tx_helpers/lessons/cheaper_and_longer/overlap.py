"""Two distributions over each other: what a draft's token is kept for, and what must be drawn again.

    overlap_explorer()

A draft draws token x from q, the large model has p. Where the bars overlap, min(p, q), a drafted token is kept; where p
rises above q, it is missing, and is drawn instead of what q had too much of. The two areas are equal.
Leviathan et al. 2023, section 2.3.
"""

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import INK, MUTED, PINK, card, line, setting, shape, words

TOKENS = ("a", "the", "its", "one", "no")
LARGE = (0.5, 0.2, 0.15, 0.1, 0.05)
DRAFTS = {
    "good": (0.4, 0.25, 0.15, 0.1, 0.1),
    "flat": (0.2, 0.2, 0.2, 0.2, 0.2),
    "reversed": (0.05, 0.1, 0.15, 0.2, 0.5),
}
SLOT, BASE, TALL = 108, 226, 340


# --- compute ----------------------------------------------------------------------------------------------------------
def overlap(draft: str) -> tuple[Tensor, Tensor, Tensor]:
    """(p, q, what is kept of q), each (5,), for a draft in DRAFTS."""
    check_one_of("overlap_explorer", tuple(DRAFTS), draft=draft)
    p, q = torch.tensor([LARGE, DRAFTS[draft]], dtype=torch.float64)
    return p, q, torch.minimum(p, q)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_overlap(draft: str, token: str) -> Svg:
    """For each token a bar of p and one of q at the same place; their overlap is filled, what p has more is dotted."""
    p, q, kept = (each.tolist() for each in overlap(draft))
    parts = [
        words(20, 24, "filled: drafted and kept, min(p, q)", fill=PINK.shade),
        words(20, 44, "dotted: missing, drawn again, p − q"),
        words(600, 24, "— p, the large model", anchor="end"),
        words(600, 44, "- - q, the draft", fill=MUTED, anchor="end"),
    ]
    for place, name in enumerate(TOKENS):
        x, chosen = 44 + SLOT * place, name == token
        bar = [
            shape("rect", x=x, y=BASE - TALL * kept[place], width=76, height=TALL * kept[place], fill=PINK.tint),
            _outline(x, p[place], 76, stroke=INK, stroke_width=2),
            _outline(x - 5, q[place], 86, stroke=MUTED, stroke_width=2, stroke_dasharray="6 4"),
            words(x + 38, BASE + 20, name, anchor="middle", font_weight="bold" if chosen else None),
        ]
        if p[place] > q[place]:
            rows = range(int(TALL * q[place]) + 6, int(TALL * p[place]) - 2, 8)
            bar += [line(x + 6, BASE - up, x + 70, BASE - up, INK, stroke_dasharray="1 5") for up in rows]
        if chosen:
            share = kept[place] / q[place]
            bar.append(words(x + 38, BASE + 40, f"kept: {share:.0%}", anchor="middle", fill=PINK.shade))
        parts.append(setting("token", name, bar))
    parts.append(line(30, BASE, 590, BASE, INK))
    return card(620, 280, parts, describe_overlap(draft, token))


def _outline(x: float, share: float, width: float, **style: object) -> str:
    return shape("rect", x=x, y=BASE - TALL * share, width=width, height=TALL * share, fill="none", **style)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_overlap(draft: str, token: str) -> str:
    """How much of the draft is kept, and what becomes of one token."""
    check_one_of("overlap_explorer", TOKENS, token=token)
    p, q, kept = (each[TOKENS.index(token)].item() for each in overlap(draft))
    missing = f"p has {p - q:.2f} more, which is drawn again" if p > q else "p has no more of it to draw again"
    return (
        f"Draft {draft}: {overlap(draft)[2].sum():.0%} of its tokens are kept. Token {token!r}: the draft has "
        f"{q:.2f}, the large model {p:.2f}; if drafted it is kept with {kept / q:.0%}; {missing}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def overlap_explorer() -> Explore:
    """A draft, and the token that is looked at; a click on a bar chooses it."""
    draft = choice("Draft", list(DRAFTS), "good")
    token = choice("Token", TOKENS, "a")
    return Explore(draw_overlap, name="overlap", told=True, draft=draft, token=token)
