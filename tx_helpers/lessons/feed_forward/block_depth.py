"""Depth, place of the norm, residual on or off: the gradient at every block, and how alike the tokens become.

Each stack is an untrained `ToyEncoder`; each combination is computed once, when it is first asked for. The setting
before the present one stays in the picture as a ghost, so that the two can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch

from tx_helpers.lessons.feed_forward.depth import ToyEncoder, gradient_by_block, random_rows, token_similarity
from tx_helpers.nn.blocks import (
    no_norm,
    no_norm_without_residual,
    post_norm,
    post_norm_without_residual,
    pre_norm,
    pre_norm_without_residual,
)
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

DEPTHS = (6, 12, 24)
WIRINGS = {  # (norm, residual)
    ("pre-norm", True): pre_norm,
    ("pre-norm", False): pre_norm_without_residual,
    ("post-norm", True): post_norm,
    ("post-norm", False): post_norm_without_residual,
    ("no norm", True): no_norm,
    ("no norm", False): no_norm_without_residual,
}
LIMITS = (1e-4, 1e5)  # of the gradients that are drawn
ALIKE = 0.99


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Depth:
    """gradients: of block 1 … L; similarity: mean cosine between tokens, of the input and after block 1 … L."""

    gradients: Sequence[float]
    similarity: Sequence[float]

    @property
    def ratio(self) -> float:
        """Gradient at the first block over that at the last."""
        return self.gradients[0] / self.gradients[-1]

    @property
    def alike_from(self) -> int | None:
        """The first block after which the mean cosine is above 0.99."""
        return next((block for block, cosine in enumerate(self.similarity) if cosine > ALIKE), None)


def probe(norm: str, residual: bool, depth: int, *, width: int = 32) -> Depth:
    """One untrained stack in double precision, on a batch of rows to be sorted."""
    stack = ToyEncoder(WIRINGS[norm, residual], d_model=width, n_layers=depth).double()
    ids = random_rows(16, 8, torch.Generator().manual_seed(0))
    with capture(stack, "*.hidden") as activations:
        gradients = gradient_by_block(stack, ids, ids.sort(dim=1).values)
    return Depth(gradients, [token_similarity(hidden) for hidden in activations.values()])


# --- draw -------------------------------------------------------------------------------------------------------------
class Setting(NamedTuple):
    """What the controls say."""

    norm: str
    residual: bool
    depth: int

    @property
    def words(self) -> str:
        """The setting as the text has it."""
        return f"{self.depth} blocks, {self.norm}, {'with' if self.residual else 'without'} residual"

    @property
    def label(self) -> str:
        """The setting as the legend has it."""
        return f"{self.depth}, {self.norm}, {'residual' if self.residual else 'no residual'}"


def draw(now: Setting, seen: Depth, before: Setting | None = None, ghost: Depth | None = None) -> Svg:
    """Gradients on a log scale on the left, similarity on the right; the setting before is drawn thin."""
    gradients, similarity = {}, {}
    for setting, depth in ((now, seen), (before, ghost)):
        if setting:
            name = setting.label if setting is now else f"before: {setting.label}"
            gradients[name] = range(1, setting.depth + 1), [min(max(g, LIMITS[0]), LIMITS[1]) for g in depth.gradients]
            similarity[name] = range(setting.depth + 1), depth.similarity
    style = dict(size=(380, 300), faint=[name for name in gradients if name.startswith("before")])
    left = line_chart(
        gradients,
        title="Gradient of the loss at each block",
        xlabel="block",
        ylabel="length (log scale)",
        ylim=LIMITS,
        logy=True,
        **style,
    )
    right = line_chart(
        similarity,
        title="How alike are the tokens?",
        xlabel="blocks passed",
        ylabel="mean cosine",
        ylim=(0.0, 1.0),
        legend=False,  # the left one has it, and here it would cover the lines
        **style,
    )
    return side_by_side([left, right], alt=describe(now, seen, before, ghost))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(now: Setting, seen: Depth, before: Setting | None = None, ghost: Depth | None = None) -> str:
    """The ratio of the gradients, and from which block on the tokens are alike; the same of the setting before."""
    size = f"gradient {seen.gradients[0]:.1e} at block 1 and {seen.gradients[-1]:.1e} at block {now.depth}"
    alike = f"mean cosine between tokens {seen.similarity[0]:.2f} at the start, {seen.similarity[-1]:.3f} at the end"
    text = f"{now.words}: {size}, ratio {seen.ratio:.1e}; {alike}: {_since(seen)}."
    return f"{text} Before: {before.words}: ratio {ghost.ratio:.1e}; {_since(ghost)}." if before else text


def _since(seen: Depth) -> str:
    return "never alike" if seen.alike_from is None else f"alike (above {ALIKE}) from block {seen.alike_from} on"


# --- bind -------------------------------------------------------------------------------------------------------------
def depth_explorer() -> Explore:
    """Depth, place of the norm, residual on or off; the last setting stays as a ghost."""
    seen, passed = cache(probe), []  # the settings drawn, the present one last

    def picture(depth: int, norm: str, residual: bool) -> Svg:
        now = Setting(norm, residual, depth)
        if passed[-1:] != [now]:
            passed[:] = [*passed[-1:], now]
        before = passed[0] if len(passed) == 2 else None
        return draw(now, seen(*now), before, seen(*before) if before else None)

    explore = Explore(
        picture,
        name="block-depth",
        told=True,
        depth=choice("Depth", [(f"{depth} blocks", depth) for depth in DEPTHS], 24),
        norm=choice("Norm", ["pre-norm", "post-norm", "no norm"]),
        residual=tick("Residual connections", on=True),
    )
    explore.forget = passed.clear  # a recorded picture cannot know which one a reader saw before
    return explore
