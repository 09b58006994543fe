"""Who influences whom: the Jacobian of untrained attention under right and wrong masks, and its explorer.

    influence(run, x)[i, j] = ‖∂ run(x)_i / ∂ x_j‖        the Frobenius norm of a (D, D) block, (T, T) in all

It is 0 where no path leads from input j to output i, whatever the weights are. A masking here is a function
scores (…, T, T) -> weights (…, T, T). RIGHT holds those that do what their names say, WRONG holds failed attempts at a
causal mask.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.masking.leak_maps import TINY, influence_map, share_table
from tx_helpers.nn.arguments import check_numbers, check_tensors, described
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import EncoderBlock
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import FeedForward
from tx_helpers.nn.masks import sliding_window_mask
from tx_helpers.nn.observe import listening, observe
from tx_helpers.show.charts import side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import WEIGHT, percent
from tx_helpers.training.contexts import RandomStream

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
            EncoderBlock(MultiHeadAttention(width, n_heads), FeedForward(width, 4 * width), new_norm)
            for _ in range(depth)
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
    forbidden = None if masking in FOR_ENCODERS else ~_causal(seen.weights)
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
    return Explore(lambda mask, blocks: draw(mask, blocks), name="leak", mask=names, blocks=(1, DEEPEST))
