"""What the probes share: the versions of a model that they look at, and the unit in which they measure.

A movement of the logits is measured in the model's own unit: the root mean square by which they move when all ids are
replaced. So 0.3 says "three tenths of what a change of everything does", for logits of any size.

Three versions are looked at, and the largest movement counts: the model as it is; after a few steps on random ids,
where parts that are 0 at first take part; and then with its matrices made larger, so that attention is sharp, and a
mask that is nearly closed opens.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tx_helpers.diagnose.report import WRONG, Result
from tx_helpers.diagnose.subject import Subject
from tx_helpers.diagnose.versions import (
    EQUAL_SHAPES,
    OTHER_SHAPES,
    after_steps,
    in_float64,
    in_precision_of,
    is_finite,
    with_larger_matrices,
)

TOO_COARSE = "half precision is too coarse to tell; pass the nn.Module"
A_FUNCTION = "a function; pass the nn.Module"


@dataclass
class Examination:
    """One call of `diagnose`: the model, the options, and the results so far."""

    own: Subject  # in its own precision
    trained: bool | None = None
    pad_side: str = "right"
    decoding: Callable[..., Any] | None = None
    data: Any = None
    loss: Callable[..., Any] | None = None
    results: dict[str, Result] = field(default_factory=dict)  # by probe
    _scales: dict[int, float] = field(default_factory=dict)
    _in_own: dict[int, Subject] = field(default_factory=dict)  # versions in the model's own precision

    def found(self, probe: str) -> bool:
        """Has this probe found a mistake?"""
        return probe in self.results and self.results[probe].state == WRONG

    @cached_property
    def versions(self) -> list[Subject]:
        """The model as it is, in the best precision; after some steps; after these and with larger matrices."""
        if self.found("numbers"):
            return [self.own]
        best = in_float64(self.own)
        stepped = after_steps(best)
        if stepped is None:
            return [best]
        return [best, *filter(is_finite, (stepped, with_larger_matrices(stepped)))]

    @property
    def subject(self) -> Subject:
        """The model as it is, in the best precision."""
        return self.versions[0]

    @property
    def tolerance(self) -> float:
        """The largest movement that is rounding, where the shapes are equal."""
        return EQUAL_SHAPES.get(self.subject.dtype, 1e-5)

    @property
    def loose(self) -> float:
        """The same where the shapes differ."""
        return OTHER_SHAPES.get(self.subject.dtype, 1e-3)

    def scale(self, subject: Subject) -> float:
        """How far the logits move, root mean square, when all ids are replaced; computed once."""
        if id(subject) not in self._scales:
            difference = subject(*subject.inputs(1)) - subject(*subject.inputs(2))
            self._scales[id(subject)] = difference.square().mean().sqrt().item()
        return self._scales[id(subject)]

    def share(self, subject: Subject, moved: float) -> float:
        """A movement in units of the scale; 0 where nothing moves the logits at all."""
        return moved / self.scale(subject) if self.scale(subject) > 0 else 0.0

    def largest(self, measure: Callable[[Subject], float], limit: float) -> tuple[float, Subject | None]:
        """The largest movement of all versions, and the first version (the most like the model) above the limit.

        What the model's own precision does not show, too, comes from the change of precision, and does not count.
        """
        shares, above = [], None
        for subject in self.versions:
            share = self.share(subject, measure(subject))
            if share > limit and not self._own_shows(subject, measure, limit):
                share = limit
            if share > limit:
                above = above or subject
            shares.append(share)
        return max(shares), above

    def _own_shows(self, subject: Subject, measure: Callable[[Subject], float], limit: float) -> bool:
        """Does the version move by more than rounding in the model's own precision, too?"""
        own = self._in_own.setdefault(id(subject), in_precision_of(self.own, subject))
        rounding = EQUAL_SHAPES if limit == self.tolerance else OTHER_SHAPES
        return own is subject or self.share(own, measure(own)) > rounding.get(own.dtype, 1e-3)


def moves(share: float, verb: str = "move") -> str:
    """A movement in words."""
    return f"they {verb} {share:.2g} times as far as when all tokens change" if share < math.inf else "they become NaN"
