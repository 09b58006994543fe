"""Which pieces of a matrix a rank holds: form(rank, n) -> pieces.

columns(1, 4)       # of 4 ranks the second one's columns
"""

from collections.abc import Callable
from typing import NamedTuple


class Piece(NamedTuple):
    """A rectangle of a matrix, as shares of its height and width."""

    top: float
    left: float
    tall: float
    wide: float
    owner: int | None  # whose piece it is; None: the same on all ranks
    unfinished: bool = False  # a sum that lacks what the other ranks add


Form = Callable[[int, int], list[Piece]]


def rows(rank: int, n: int) -> list[Piece]:
    """The rank's rows."""
    return [Piece(rank / n, 0, 1 / n, 1, rank)]


def columns(rank: int, n: int) -> list[Piece]:
    """The rank's columns."""
    return [Piece(0, rank / n, 1, 1 / n, rank)]


def whole(rank: int, n: int) -> list[Piece]:
    """All of it, the same on every rank."""
    return [Piece(0, 0, 1, 1, None)]


def summand(rank: int, n: int) -> list[Piece]:
    """All of it, but only what this rank adds to the sum."""
    return [Piece(0, 0, 1, 1, rank, unfinished=True)]


def all_rows(rank: int, n: int) -> list[Piece]:
    """The rows of all ranks."""
    return [piece for other in range(n) for piece in rows(other, n)]


def all_columns(rank: int, n: int) -> list[Piece]:
    """The columns of all ranks."""
    return [piece for other in range(n) for piece in columns(other, n)]


def routed(rank: int, n: int) -> list[Piece]:
    """The tokens of all ranks that chose this rank's expert."""
    return [Piece(other / n + rank / n**2, 0, 1 / n**2, 1, other) for other in range(n)]


def routed_units(rank: int, n: int) -> list[Piece]:
    """The hidden units of this rank's expert for those tokens."""
    return [piece._replace(left=rank / n, wide=1 / n) for piece in routed(rank, n)]


def arrived(count: int) -> Form:
    """The rows of this rank and of those before it on the ring, `count` in all."""
    return lambda rank, n: [piece for step in range(count) for piece in rows((rank - step) % n, n)]


def blocks(count: int) -> Form:
    """Of the rank's rows the columns that belong to what has arrived."""
    return lambda rank, n: [
        Piece(rank / n, (rank - step) % n / n, 1 / n, 1 / n, (rank - step) % n) for step in range(count)
    ]


def begun(rank: int, n: int) -> list[Piece]:
    """The rank's rows, which are not yet whole."""
    return [piece._replace(unfinished=True) for piece in rows(rank, n)]
