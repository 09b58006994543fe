"""Who influences whom: the Jacobian of untrained attention under right and wrong masks, and its explorer.

    influence(run, x)[i, j] = ‖∂ run(x)_i / ∂ x_j‖        the Frobenius norm of a (D, D) block, (T, T) in all

It is 0 where no path leads from input j to output i, whatever the weights are. A masking here is a function
scores (…, T, T) -> weights (…, T, T). RIGHT holds those that do what their names say, WRONG holds failed attempts at a
causal mask.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors, described
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import Block
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import FeedForward
from tx_helpers.nn.masks import sliding_window_mask
from tx_helpers.nn.observe import listening, observe
from tx_helpers.show.charts import GRID, LEFT, TOP, Panel, heading, shaded_cell, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, MUTED, ORANGE, WEIGHT, card, percent, shape, words
from tx_helpers.training.contexts import RandomStream

TINY = 1e-12  # in double precision: below it there is no influence
FRAME = dict(fill="none", stroke=ORANGE.full, stroke_width=2.5, stroke_linecap="square")  # around what is forbidden
MARKS = [(BLUE.full, share**0.25, f"{share:g}") for share in (1e-4, 0.1, 1)]
STEP = 62  # from one mark of a scale to the next
COLUMNS, SMALL, GAP = 3, 22, 14  # of several maps: how many stand side by side, their cells, the room between them

Scale = Sequence[tuple[str, float, str]]  # a colour, its opacity, and what it means


def influence_map(influence: Tensor, names: Sequence[str], *, title: str, forbidden: Tensor | None = None) -> Panel:
    """Influence (T, T), output by input, as shades: the fourth root of the share of the largest, so that little shows.

    forbidden (T, T): what no output may read; it is framed, and what comes from there all the same is orange.
    """
    across = "input (shade: share of the largest)"
    return _map(influence, names, title=title, across=across, forbidden=forbidden, scale=_scale(forbidden))


def influence_maps(maps: Mapping[str, Tensor], *, forbidden: Tensor, alt: str) -> Svg:
    """Several maps by their titles, (T, T) each, three side by side, with numbers for words and one scale below."""
    names = [str(place) for place in range(len(forbidden))]
    panels = [
        _map(influence, names, title=title, across="input", forbidden=forbidden, cell=SMALL)
        for title, influence in maps.items()
    ]
    wide, high = (length + GAP for length in panels[0].size)
    parts = [
        f'<g transform="translate({GAP + wide * (n % COLUMNS)},{GAP + high * (n // COLUMNS)})">{panel.body}</g>'
        for n, panel in enumerate(panels)
    ]
    bottom = GAP + high * (-(-len(panels) // COLUMNS))
    said = "Shade: share of the largest influence"
    parts += [words(GAP + LEFT, bottom + 11, said, size=12), *_marks(_scale(forbidden), GAP + LEFT + 240, bottom)]
    return card(GAP + wide * min(COLUMNS, len(panels)), bottom + 28, parts, alt)


def share_table(
    values: Tensor,
    names: Sequence[str],
    *,
    title: str,
    across: str,
    down: str,
    forbidden: Tensor | None,
    scale: Scale = (),
    colour: str = WEIGHT.full,
    numbers: bool = False,
    cell: int = 36,
) -> Panel:
    """A (T, T) matrix of shares as shades, on request with its numbers, its scale below; forbidden cells framed."""
    size, long = len(names), max(map(len, names)) > 2
    left, top = (84, TOP + 54) if long else (LEFT, TOP + 18)
    middle, bottom = left + size * cell / 2, top + size * cell
    turned = f"translate(12,{top + size * cell // 2}) rotate(-90)"
    parts = [
        heading(middle, title),
        words(middle, bottom + 18, across, anchor="middle", size=12),
        words(0, 0, down, anchor="middle", size=12, transform=turned),
    ]
    for i, row in enumerate(values.tolist()):
        at = left + cell * (i + 0.5)
        place = dict(transform=f"translate({at:.0f},{top - 6}) rotate(-45)") if long else dict(anchor="middle")
        parts.append(words(*((0, 0) if long else (at, top - 6)), names[i], size=12, **place))
        parts.append(words(left - 8, top + cell * (i + 0.5) + 4, names[i], anchor="end", size=12))
        for j, share in enumerate(row):
            nothing = not numbers and share <= TINY**0.25
            leaks = not (numbers or nothing) and forbidden is not None and bool(forbidden[i, j])
            fill = GREY.tint if nothing else ORANGE.full if leaks else colour
            style = dict(colour=fill, edge=ORANGE.full if leaks else GRID)
            text, x, y = f"{share:.2f}" if numbers else "", left + cell * j, top + cell * i
            parts.append(shaded_cell(x, y, cell, 1 if nothing else share, text, **style))
            if nothing:
                parts.append(words(x + cell / 2 - 1.5, y + cell / 2 + 2.5, "0", size=11, anchor="middle", fill=MUTED))
    if forbidden is not None:
        parts.append(shape("path", d=_outline(forbidden, left, top, cell), **FRAME))
    parts += _marks(scale, left, bottom + 30)
    width = max(left + size * cell + 30 * long, left + STEP * len(scale))
    return Panel((width, bottom + (50 if scale else 24)), "".join(parts))


def _map(influence: Tensor, names: Sequence[str], **options: Any) -> Panel:
    return share_table((influence / influence.max()) ** 0.25, names, down="output", colour=BLUE.full, **options)


def _scale(forbidden: Tensor | None) -> Scale:
    return [(GREY.tint, 1, "0, none"), *MARKS, *([] if forbidden is None else [(ORANGE.full, 1, "leak")])]


def _marks(scale: Scale, left: float, top: float) -> list[str]:
    parts = []
    for n, (fill, opacity, said) in enumerate(scale):
        place = dict(x=left + STEP * n, y=top, width=14, height=14, rx=3)
        parts.append(shape("rect", fill=fill, **place, fill_opacity=round(opacity, 3), stroke=MUTED))
        parts.append(words(left + STEP * n + 19, top + 11, said, size=11))
    return parts


def _outline(mask: Tensor, left: float, top: float, cell: float) -> str:
    """The path around the cells of a mask: every edge between a cell in it and one that is not."""
    wide = torch.nn.functional.pad(mask.int(), (1, 1, 1, 1))
    down, across = wide.diff(dim=0)[:, 1:-1].nonzero().tolist(), wide.diff(dim=1)[1:-1].nonzero().tolist()
    flat = [f"M{left + cell * j - 1.5:g},{top + cell * i - 1.5:g}h{cell}" for i, j in down]
    return "".join(flat + [f"M{left + cell * j - 1.5:g},{top + cell * i - 1.5:g}v{cell}" for i, j in across])


T, D, H, DEEPEST = 8, 16, 2, 4  # of the explorer's stacks
Masking = Callable[[Tensor], Tensor]


# --- maskings -----------------------------------------------------------------------------------------------------
def masked_softmax(scores: Tensor, allowed: Tensor, fill: float = float("-inf")) -> Tensor:
    """The right way: fill first, softmax after; a row that may look at nothing gets zeros (with a fill of −∞)."""
    weights = scores.masked_fill(~allowed, fill).softmax(-1)
    return weights.masked_fill(~allowed, 0.0) if fill == float("-inf") else weights


def _causal(scores: Tensor, shift: int = 0) -> Tensor:
    """Query t may see the keys up to t + shift."""
    return torch.ones(scores.shape[-2:], dtype=torch.bool).tril(shift)


def _window(scores: Tensor) -> Tensor:
    return masked_softmax(scores, sliding_window_mask(scores.shape[-1], window=3))


def _two_texts(scores: Tensor) -> Tensor:
    """Causal, and the first half of the row and the second do not see each other."""
    first = torch.arange(scores.shape[-1]) < scores.shape[-1] // 2
    return _causal(scores) & (first[:, None] == first)


def _prefix(scores: Tensor) -> Tensor:
    """Causal, and the first three positions are open to all. Source: Raffel et al. 2020 (T5), section 3.2.1."""
    return _causal(scores) | (torch.arange(scores.shape[-1]) < 3)


def _renormalised(scores: Tensor) -> Tensor:
    kept = scores.softmax(-1) * _causal(scores)
    return kept / kept.sum(-1, keepdim=True)


def _over_the_queries(scores: Tensor) -> Tensor:
    return scores.masked_fill(~_causal(scores), float("-inf")).softmax(-2)


RIGHT: dict[str, Masking] = {
    "causal": lambda scores: masked_softmax(scores, _causal(scores)),
    "window of 3": _window,
    "after the softmax, rows divided by their sums": _renormalised,
    "none, as in an encoder": lambda scores: scores.softmax(-1),
    "two texts in one row": lambda scores: masked_softmax(scores, _two_texts(scores)),
    "prefix of 3": lambda scores: masked_softmax(scores, _prefix(scores)),
}
WRONG: dict[str, Masking] = {
    "no mask": RIGHT["none, as in an encoder"],
    "one too far": lambda scores: masked_softmax(scores, _causal(scores, 1)),
    "transposed": lambda scores: masked_softmax(scores, _causal(scores).mT),
    "inverted": lambda scores: masked_softmax(scores, ~_causal(scores)),
    "diagonal excluded, −1e9": lambda scores: masked_softmax(scores, _causal(scores, -1), -1e9),
    "scores multiplied by 0": lambda scores: (scores * _causal(scores)).softmax(-1),
    "fill too weak, −10": lambda scores: masked_softmax(scores, _causal(scores), -10.0),
    "after the softmax": lambda scores: scores.softmax(-1) * _causal(scores),
    "softmax over the queries": _over_the_queries,
}


FOR_ENCODERS = ("none, as in an encoder",)  # of RIGHT: nothing is forbidden there
NOT_CAUSAL_ALONE = {"two texts in one row": _two_texts, "prefix of 3": _prefix}  # of RIGHT: what they allow instead


def forbidden_by(masking: str, scores: Tensor) -> Tensor | None:
    """What no output may read under one of RIGHT or of the attempts at a causal mask, (T, T); None: nothing."""
    return None if masking in FOR_ENCODERS else ~NOT_CAUSAL_ALONE.get(masking, _causal)(scores)


# --- compute ----------------------------------------------------------------------------------------------------------
def influence(run: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """How strongly does output i depend on input j? x (S, D) -> run(x) (T, F); -> (T, S), output by input.

    Attention runs in its eager form here, since something listens to it: PyTorch's fused kernel cannot take all rows
    of the Jacobian at once.
    """
    check_tensors("influence", x=(x, "float S D"))
    if not x.numel():
        raise ValueError(f"influence: x of shape {tuple(x.shape)}, expected (S, D) with at least one of each")
    if not callable(run):
        raise ValueError(f"influence: run is {described(run)}, expected a function of x")
    with listening(lambda _name, _tensor: None):
        jacobian = torch.autograd.functional.jacobian(run, x, vectorize=True)  # (T, F, S, D)
    if jacobian.dim() != 4:
        raise ValueError(f"influence: the Jacobian is {tuple(jacobian.shape)}, expected (T, F, S, D) from x (S, D)")
    return jacobian.square().sum(dim=(1, 3)).sqrt()


def through(blocks: Iterable[nn.Module], *memory: Tensor, **options: Any) -> Callable[[Tensor], Tensor]:
    """A stack's blocks as a function of one sequence, x (T, D) -> (T, D); options are those of the blocks."""

    def run(x: Tensor) -> Tensor:
        x = x[None]
        for block in blocks:
            x = block(x, *memory, **options)
        return x[0]

    return run


def reach(mask: Tensor, depth: int) -> Tensor:
    """Which inputs can reach which outputs through `depth` layers of a mask (T, T) with residuals: (M or 1)^depth."""
    check_tensors("reach", mask=(mask, "bool T T"))
    check_numbers("reach", least=0, whole=True, depth=depth)
    step = (mask | torch.eye(len(mask), dtype=torch.bool, device=mask.device)).double()
    return torch.linalg.matrix_power(step, depth) > 0


def attention_by(masking: Masking) -> Callable[..., Tensor]:
    """An attention function, for `MultiHeadAttention(attend=…)`, that masks in this way."""

    def attend(q: Tensor, k: Tensor, v: Tensor, **_options) -> Tensor:
        weights = masking(q @ k.mT / q.shape[-1] ** 0.5)
        return observe("weights", weights) @ v

    return attend


def stack(masking: Masking, depth: int, *, width: int = D, n_heads: int = H, seed: int = 0) -> nn.Sequential:
    """Untrained pre-norm blocks in double precision, the same for every masking. (1, T, D) -> (1, T, D)"""
    new_norm = partial(nn.LayerNorm, width)
    with RandomStream(seed).on(torch.device("cpu")):
        blocks = [
            Block(MultiHeadAttention(width, n_heads), FeedForward(width, 4 * width), new_norm) for _ in range(depth)
        ]
    for block in blocks:
        block.self_attention.attend = attention_by(masking)
    return nn.Sequential(*blocks).double()


class Leak(NamedTuple):
    """Weights of the first block, mean over the heads, (T, T) query by key; influence (T, T), output by input."""

    weights: Tensor
    influence: Tensor

    @property
    def future(self) -> list[tuple[int, int]]:
        """(output, input) of every influence from a later position."""
        return [(i, j) for i, j in (self.influence > TINY).nonzero().tolist() if j > i]


@cache
def leak(masking: str, depth: int) -> Leak:
    """What one of RIGHT or WRONG does in a stack of `depth` blocks."""
    blocks = stack((RIGHT | WRONG)[masking], depth)
    x = torch.randn(T, D, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with capture(blocks, "0.*weights") as seen, torch.no_grad():
        blocks(x[None])
    weights = seen[seen.names()[0]][0].mean(0)
    return Leak(weights, influence(through(blocks), x))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(masking: str, depth: int) -> Svg:
    """Left: the weights, which may look innocent. Right: the influence. The frame is around what no output may read."""
    seen, places = leak(masking, depth), [str(place) for place in range(T)]
    forbidden = forbidden_by(masking, seen.weights)
    texts = dict(title="Weights of the first block", across="looks at (key)", down="query", numbers=True)
    scale = [(WEIGHT.full, share, f"{share:g}") for share in (0, 0.5, 1)]
    left = share_table(seen.weights, places, scale=scale, forbidden=forbidden, **texts)
    right = influence_map(seen.influence, places, title=f"Influence through {blocks_of(depth)}", forbidden=forbidden)
    return side_by_side([left, right], alt=describe(masking, depth, seen))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(masking: str, depth: int, seen: Leak) -> str:
    """Which outputs depend on which later inputs, and what the rows of weights sum to."""
    possible, where = T * (T - 1) // 2, f"{masking}, {blocks_of(depth)}"
    low, high = seen.weights.sum(-1).min(), seen.weights.sum(-1).max()
    sums = f"Rows of weights sum to {low:.2f}{f' … {high:.2f}' if high - low > 0.005 else ''}."
    if masking in NOT_CAUSAL_ALONE:
        closed, comes = forbidden_by(masking, seen.weights), seen.influence > TINY
        return (
            f"{where}: {int((comes & closed).sum())} of {int(closed.sum())} forbidden influences come through, and "
            f"{int((comes & ~closed).sum())} of {int((~closed).sum())} allowed ones. {sums}"
        )
    if not seen.future:
        past = int((seen.influence.tril(-1) > TINY).sum())
        return (
            f"{where}: no leak. No output depends on a later input; {past} of {possible} earlier inputs come through. "
            f"{sums}"
        )
    share = max(seen.influence[i, j] for i, j in seen.future) / seen.influence.max()
    result = "as it should be in an encoder" if masking in RIGHT else f"the strongest {percent(share)} of the largest"
    if len(seen.future) == possible:
        return f"{where}: all {possible} later inputs come through, {result}. {sums}"
    sources = {i: [j for row, j in seen.future if row == i] for i, _ in seen.future}
    named = "; ".join(f"output {i} ← input{'s' * (len(js) > 1)} {_run(js)}" for i, js in sources.items())
    return f"{where}: {len(seen.future)} of {possible} later inputs come through, {result}: {named}. {sums}"


def blocks_of(depth: int) -> str:
    """The depth in words: "1 block", "3 blocks"."""
    return f"{depth} block{'s' * (depth > 1)}"


def _run(places: list[int]) -> str:
    """[3, 4, 5] -> "3 … 5"."""
    return f"{places[0]} … {places[-1]}" if len(places) > 2 else ", ".join(map(str, places))


# --- bind -------------------------------------------------------------------------------------------------------------
def leak_explorer() -> Explore:
    """Choose a masking, right or wrong, and the depth: which later inputs does an output depend on?"""
    names = {f"right: {name}": name for name in RIGHT} | {f"wrong: {name}": name for name in WRONG}
    return Explore(lambda mask, blocks: draw(mask, blocks), name="leak", told=True, mask=names, blocks=(1, DEEPEST))
