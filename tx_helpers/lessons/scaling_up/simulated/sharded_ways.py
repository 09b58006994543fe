"""The ways of cutting a layer for n ranks: what each rank holds at each step, and what it sends.

    steps_of("tensor", 4, 64)           # the steps of tensor parallelism on 4 ranks, for 64 tokens

What a rank has of a matrix is said by a form, form(rank, n) -> pieces. The layer is out = ReLU(x W₁) W₂; for "context"
it is attention, since there only attention sends anything.
"""

from collections.abc import Callable
from typing import NamedTuple

from tx_helpers.lessons.scaling_up.simulated.collectives import bytes_sent
from tx_helpers.nn.arguments import check_numbers, check_one_of


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


D, F, BYTES = 16, 64, 4  # widths, and the bytes of a number


# --- the steps --------------------------------------------------------------------------------------------------------
class Step(NamedTuple):
    """What each rank holds after a step, and what was sent in it."""

    title: str
    said: str
    held: dict[str, Form]  # name of a matrix -> its form; gradients are called "d x"
    message: str = ""  # which collective, of what
    sent: int = 0  # bytes, by each rank
    moved: tuple[str, ...] = ()  # what has just come
    both_ways: bool = False  # from every rank to every other, in place of the ring

    @property
    def backward(self) -> bool:
        """Does it belong to the backward pass?"""
        return any(name.startswith("d ") for name in self.held)


def _data(n: int, size: dict[str, int]) -> list[Step]:
    hold = {"x": rows, "W₁": whole, "W₂": whole}
    forward = hold | {"hidden": rows, "out": rows}
    back = forward | {"d out": rows, "d W₂": summand, "d hidden": rows, "d W₁": summand, "d x": rows}
    weights = size["W₁"] + size["W₂"]
    return [
        Step("hold", "Each rank has its own tokens, and all the weights.", hold),
        Step("forward", "Each rank computes its own tokens.", forward),
        Step("backward", "The gradients of the weights are those of the rank's own tokens.", back),
        Step(
            "sum the gradients",
            "Every rank gets the sum of all, and takes the same step with its optimizer.",
            back | {"d W₁": whole, "d W₂": whole},
            "all-reduce of the weights' gradients",
            _sent("all_reduce", weights, n),
            ("d W₁", "d W₂"),
        ),
    ]


def _sharded(n: int, size: dict[str, int]) -> list[Step]:
    one, two = (_sent("all_gather", size[name], n) for name in ("W₁", "W₂"))
    hold = {"x": rows, "W₁": columns, "W₂": columns}
    with_hidden = hold | {"hidden": rows}
    forward = with_hidden | {"out": rows}
    back = forward | {"d out": rows}
    half = back | {"d hidden": rows}
    last = half | {"d W₂": columns, "d x": rows}
    return [
        Step("hold", "Each rank has its own tokens, and a part of each weight.", hold),
        Step(
            *("gather W₁", "Each part travels around the ring, until all ranks have all of W₁."),
            *(hold | {"W₁": all_columns}, "all-gather of W₁", one, ("W₁",)),
        ),
        Step(
            *("hidden, then gather W₂", "W₁ has been used: its gathered parts are freed before those of W₂ come."),
            *(with_hidden | {"W₂": all_columns}, "all-gather of W₂", two, ("W₂",)),
        ),
        Step("output", "Each rank has the output of its tokens, and frees W₂.", forward),
        Step(
            *("gather W₂ again", "The backward pass needs the weights once more, the last one first."),
            *(back | {"W₂": all_columns}, "all-gather of W₂", two, ("W₂",)),
        ),
        Step(
            *("gradients of W₂ and hidden", "The gradient of W₂ is that of the rank's own tokens, for all of W₂."),
            half | {"d W₂": summand},
        ),
        Step(
            *("scatter W₂'s gradient, gather W₁", "Of the summed gradient each rank keeps the part of its weights."),
            *(half | {"d W₂": columns, "W₁": all_columns}, "reduce-scatter of W₂'s gradient, all-gather of W₁"),
            *(one + two, ("d W₂", "W₁")),
        ),
        Step("gradients of W₁ and x", "W₁ has been used again, and is freed.", last | {"d W₁": summand}),
        Step(
            *("scatter W₁'s gradient", "Each rank's optimizer changes its own part of the weights only."),
            *(last | {"d W₁": columns}, "reduce-scatter of W₁'s gradient", one, ("d W₁",)),
        ),
    ]


def _tensor(n: int, size: dict[str, int]) -> list[Step]:
    hold = {"x": whole, "W₁": columns, "W₂": rows}
    forward = hold | {"hidden": columns, "out": summand}
    back = forward | {"out": whole, "d out": whole, "d W₂": rows, "d hidden": columns, "d W₁": columns, "d x": summand}
    return [
        Step("hold", "Each rank has all tokens, columns of W₁, and the same rows of W₂.", hold),
        Step("forward", "A hidden unit needs one column of W₁ and one row of W₂, so its rank has both.", forward),
        Step(
            *("sum the outputs", "Every rank gets the sum of all."),
            *(forward | {"out": whole}, "all-reduce of the output", _sent("all_reduce", size["out"], n), ("out",)),
        ),
        Step("backward", "The weights' gradients are whole at once; that of x lacks the other ranks' units.", back),
        Step(
            *("sum the gradients of x", "Every rank passes the sum to the layer before."),
            *(back | {"d x": whole}, "all-reduce of x's gradient", _sent("all_reduce", size["x"], n), ("d x",)),
        ),
    ]


def _sequence(n: int, size: dict[str, int]) -> list[Step]:
    rest, there = _sent("all_gather", size["x"], n), {"x": all_rows, "W₁": columns, "W₂": rows}
    forward = there | {"hidden": columns, "out": summand}
    back = forward | {"out": rows, "d out": all_rows}
    last = back | {"d W₂": rows, "d hidden": columns, "d W₁": columns, "d x": summand}
    return [
        Step("hold", "As in tensor, but between the layers each rank has only its own tokens.", there | {"x": rows}),
        Step("gather x", "All ranks get all tokens.", there, "all-gather of x", rest, ("x",)),
        Step("forward", "A hidden unit needs one column of W₁ and one row of W₂, so its rank has both.", forward),
        Step(
            *("sum and scatter the outputs", "Of the sum each rank keeps the rows of its own tokens."),
            *(forward | {"out": rows}, "reduce-scatter of the output", rest, ("out",)),
        ),
        Step(
            *("gather the output's gradient", "The mirror image of the step before."),
            *(back, "all-gather of the output's gradient", rest, ("d out",)),
        ),
        Step("backward", "The weights' gradients are whole at once; that of x lacks the other ranks' units.", last),
        Step(
            *("sum and scatter the gradients of x", "Each rank keeps the rows of its own tokens."),
            *(last | {"d x": rows}, "reduce-scatter of x's gradient", rest, ("d x",)),
        ),
    ]


def _expert(n: int, size: dict[str, int]) -> list[Step]:
    own = size["x"] // n
    once, numbers = (_sent("all_to_all", part, n) for part in (own, own // D // BYTES * 8))
    hold = {"x": rows, "W₁": columns, "W₂": rows}
    there = hold | {"x": routed}
    forward = there | {"hidden": routed_units, "out": routed}
    back = forward | {"out": rows, "d out": routed}
    last = back | {"d W₂": rows, "d hidden": routed_units, "d W₁": columns, "d x": routed}
    return [
        Step("hold", "Each rank has its own tokens, and one expert: F / n hidden units.", hold),
        Step(
            *("tokens to their experts", "Here each expert is chosen equally often, so all ranks get equally many."),
            *(there, "all-to-all of x and the experts' numbers", once + numbers, ("x",), True),
        ),
        Step("forward", "Each expert computes its units, for the tokens that chose it and for no others.", forward),
        Step(
            *("results to their tokens", "Every token travels back to its rank."),
            *(forward | {"out": rows}, "all-to-all of the output", once, ("out",), True),
        ),
        Step(
            *("gradients to the experts", "The gradients take the ways of the tokens, in reverse."),
            *(back, "all-to-all of the output's gradient", once, ("d out",), True),
        ),
        Step("backward", "The gradients of an expert's weights are whole at once.", last),
        Step(
            *("gradients to their tokens", "Every token's gradient travels back."),
            *(last | {"d x": rows}, "all-to-all of x's gradient", once, ("d x",), True),
        ),
    ]


def _context(n: int, size: dict[str, int]) -> list[Step]:
    piece, hold = size["k, v"] // n, {"q": rows, "k, v": rows}
    steps = [
        Step("hold", "Attention, with the sequence cut: each rank has its own tokens' q, k and v.", hold),
        Step(
            "own keys",
            "The online softmax begins with the rank's own keys.",
            hold | {"scores": blocks(1), "out": begun},
        ),
    ]
    for count in range(2, n + 1):
        held = {"q": rows, "k, v": arrived(count), "scores": blocks(count), "out": begun if count < n else rows}
        said = "Every rank's queries meet the keys that have come, and the online softmax goes on."
        steps.append(Step("pass k and v on", said, held, "k and v to the next rank", piece, ("k, v",)))
    back = held | {"d out": rows, "d scores": blocks(n), "d q": rows, "d k, v": rows}
    said = "A piece's gradient goes back around the ring, and every rank adds its part."
    message = f"gradients of k and v to the rank before, {n - 1} time{'s' * (n > 2)}"
    return [*steps, Step("backward", said, back, message, (n - 1) * piece, ("d k, v",))]


def _sent(collective: str, size: int, n: int) -> int:
    return round(bytes_sent(collective, size, n))


# --- the ways ---------------------------------------------------------------------------------------------------------
FFN = {"x": ("N", "D"), "W₁": ("D", "F"), "hidden": ("N", "F"), "W₂": ("F", "D"), "out": ("N", "D")}
ATTENTION = {"q": ("N", "D"), "k, v": ("N", "2D"), "scores": ("N", "N"), "out": ("N", "D")}
WAYS = {
    "data": (_data, FFN),
    "sharded (FSDP)": (_sharded, FFN),
    "tensor": (_tensor, FFN),
    "sequence": (_sequence, FFN),
    "expert": (_expert, FFN),
    "context (ring attention)": (_context, ATTENTION),
}


def shapes_of(way: str, tokens: int) -> dict[str, tuple[int, int]]:
    """The shape of each matrix."""
    long = {"N": tokens, "D": D, "F": F, "2D": 2 * D}
    return {name: (long[a], long[b]) for name, (a, b) in WAYS[way][1].items()}


def steps_of(way: str, ranks: int, tokens: int) -> list[Step]:
    """The steps of a layer's forward and backward pass on n ranks."""
    check_cut("steps_of", way, ranks, tokens)
    size = {name: BYTES * a * b for name, (a, b) in shapes_of(way, tokens).items()}
    return WAYS[way][0](ranks, size)


def pieces(step: Step, name: str, rank: int, ranks: int) -> list[Piece]:
    """The pieces of a matrix that a rank holds after a step; none if it holds nothing of it."""
    return step.held[name](rank, ranks) if name in step.held else []


def holds(way: str, step: Step, ranks: int, tokens: int) -> int:
    """Bytes that a rank holds after a step, gradients too; all ranks hold the same."""
    shapes, numbers = shapes_of(way, tokens), 0.0
    for name in step.held:
        height, width = shapes[name.removeprefix("d ")]
        numbers += sum(height * one.tall * width * one.wide for one in pieces(step, name, 0, ranks))
    return BYTES * round(numbers)


def most_held(way: str, ranks: int, tokens: int) -> int:
    """The most bytes that a rank holds at once."""
    return max(holds(way, step, ranks, tokens) for step in steps_of(way, ranks, tokens))


def sent_by_formula(way: str, ranks: int, tokens: int) -> tuple[int, int]:
    """Bytes that a rank sends forward and backward, by the formulas of the steps."""
    steps = steps_of(way, ranks, tokens)
    backward = sum(step.sent for step in steps if step.backward)
    return sum(step.sent for step in steps) - backward, backward


def check_cut(where: str, way: str, ranks: int, tokens: int) -> None:
    """A ValueError unless the way exists, and the layer can be cut into equal pieces."""
    check_one_of(where, WAYS, way=way)
    check_numbers(where, least=2, whole=True, ranks=ranks)
    check_numbers(where, least=1, whole=True, tokens=tokens)
    if F % ranks or D % ranks or tokens % ranks**2:
        raise ValueError(
            f"{where}: {tokens} tokens, width {D}, hidden width {F} on {ranks} ranks, expected equal pieces"
        )
