"""From minutes to a model: how fast this machine trains, what fits into the time, and which size to take.

    for size in sizes_for(10, len(text), vocab_size=60):
        print(size)                                 # the one to take is marked
    measure_speed(model, rows=16, length=64)        # tokens in a second of the model that you made

A step on R rows of T tokens takes about 6 N R T operations (Kaplan et al. 2020, section 2.1). The size to take has the
smallest L(N, D) = A / N^α + B / D^β within the budget, with the numbers that the lesson on scaling up fits to its
thirty runs (all parameters, a schedule for each run). A text that is read again teaches less each time, and a model
that is too large for its text gains less by its size: both enter as "effective" numbers with the constants of
Muennighoff et al. 2023 (section 3.1; 15.4 and 5.3). These runs were on words of the little world, with models of 14,000
to 270,000 parameters, and yours is on another text: the sizes that the rule calls near are all worth a try.
"""

import math
import time
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import NamedTuple

import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.plain import GPT
from tx_helpers.text.data import TextBatch
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.losses import language_model_loss

ROWS, LENGTH = 16, 64  # of a batch
EPOCHS = 8  # readings of a text, at most: after that, more of the same teaches little
SHAPES = ((32, 2, 2), (64, 2, 4), (96, 3, 4), (128, 4, 4), (192, 6, 6))  # d_model, n_layers, n_heads; d_ff = 4 d_model
REPEATED_TOKENS, EXCESS_PARAMETERS = 15.4, 5.3  # R*_D and R*_N of Muennighoff et al. 2023
NEAR = 0.01  # of the smallest loss: the smallest model so near is taken


class Law(NamedTuple):
    """L(N, D) without its constant part, as fitted in scaling_up (`hoffmann_way().fit()`; a test compares)."""

    A: float = 11.16
    B: float = 20.03
    alpha: float = 0.431
    beta: float = 0.377

    def best_parameters(self, tokens: float) -> float:
        """The N that is best for so many new tokens: there α A / N^α = β B / D^β."""
        return (self.alpha * self.A * tokens**self.beta / (self.beta * self.B)) ** (1 / self.alpha)

    def loss(self, parameters: float, tokens: float, unique: float) -> float:
        """What size and data cost above the floor, if the tokens are `unique` ones, read again and again."""
        data = _effective(tokens, min(tokens, unique), REPEATED_TOKENS)
        size = _effective(parameters, min(parameters, self.best_parameters(unique)), EXCESS_PARAMETERS)
        return self.A / size**self.alpha + self.B / data**self.beta


LAW = Law()


def _effective(count: float, base: float, decay: float) -> float:
    """base · (1 + decay · (1 − exp(−(count / base − 1) / decay))): what exceeds `base` counts less and less."""
    return base * (1 + decay * -math.expm1(-(count / base - 1) / decay))


def feeds(characters: int) -> float:
    """The parameters for which a text, read EPOCHS times, is as long as the law asks; two digits."""
    check_numbers("feeds", least=1, whole=True, characters=characters)
    tokens = _effective(EPOCHS * characters, characters, REPEATED_TOKENS)
    return float(f"{LAW.best_parameters(tokens):.1e}")


# --- speed ------------------------------------------------------------------------------------------------------------
def measure_speed(model: nn.Module, rows: int = ROWS, length: int = LENGTH, *, steps: int = 5) -> float:
    """Tokens in a second of training, the median of some steps after two that are not counted.

    model(ids (B, T)) -> logits. Its weights stay as they are: the step of the optimizer, which is short, is left out.
    """
    check_types("measure_speed", nn.Module, model=model)
    check_numbers("measure_speed", least=1, whole=True, rows=rows, length=length, steps=steps)
    device, found = next(model.parameters()).device, []
    ids = torch.zeros(rows, length, dtype=torch.long, device=device)
    with RandomStream(0).on(device), in_mode(model, training=True):
        for _ in range(2 + steps):
            began = time.perf_counter()
            language_model_loss(model, TextBatch(ids, ids)).backward()
            model.zero_grad()
            found.append(time.perf_counter() - began)
    return rows * length / median(found[2:])


@cache
def machine_operations() -> float:
    """Operations in a second of this machine's training, measured once with the middle size: 6 N tokens in a second."""
    width, layers, heads = SHAPES[len(SHAPES) // 2]
    with RandomStream(0).on(torch.device("cpu")):
        model = GPT(64, width, heads, 4 * width, layers)
    return 6 * sum(p.numel() for p in model.parameters()) * measure_speed(model)


# --- sizes ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Size:
    """A size, what fits into the minutes, and what the law says: loss is the part above the floor that falls."""

    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    parameters: int
    steps: int
    tokens: int
    epochs: float
    limit: str  # "time", or "text": it would be read more than EPOCHS times
    loss: float
    take: bool = False

    def __str__(self) -> str:
        return (
            f"width {self.d_model:3}, {self.n_layers} blocks, {self.n_heads} heads: {self.parameters:9,} parameters, "
            f"{self.steps:7,} steps, text read {self.epochs:4.1f} times, law {self.loss:.2f}"
            + ("  <- take this one" if self.take else "")
        )

    @property
    def shape(self) -> dict[str, int]:
        """The arguments of a model beside its vocabulary: GPT(vocab_size, **size.shape)."""
        return {name: getattr(self, name) for name in ("d_model", "n_heads", "d_ff", "n_layers")}


def sizes_for(
    minutes: float,
    characters: int,
    vocab_size: int,
    speed: float | None = None,
    *,
    rows: int = ROWS,
    length: int = LENGTH,
) -> list[Size]:
    """Five sizes of `plain.GPT` and what the minutes do for each; one is marked to be taken.

    characters  tokens of the training text (of a text in characters, its length)
    speed       operations in a second of training; None: measured on this machine, once
    """
    check_numbers("sizes_for", above=0, minutes=minutes)
    check_numbers("sizes_for", least=length + 1, whole=True, characters=characters)
    check_numbers("sizes_for", least=2, whole=True, vocab_size=vocab_size)
    check_numbers("sizes_for", above=0, optional=True, speed=speed)
    operations = 60 * minutes * (machine_operations() if speed is None else speed)
    sizes = [_size(shape, operations, characters, vocab_size, rows * length) for shape in SHAPES]
    good = min(size.loss for size in sizes) * (1 + NEAR)
    taken = next(place for place, size in enumerate(sizes) if size.loss <= good)
    return [Size(**{**vars(size), "take": place == taken}) for place, size in enumerate(sizes)]


def _size(shape: tuple[int, int, int], operations: float, characters: int, vocab_size: int, batch: int) -> Size:
    width, layers, heads = shape
    with torch.device("meta"):
        model = GPT(vocab_size, width, heads, 4 * width, layers)
    parameters = sum(p.numel() for p in model.parameters())
    in_time, in_text = operations / (6 * parameters * batch), EPOCHS * characters / batch
    steps = max(1, int(min(in_time, in_text)))
    tokens = steps * batch
    loss = LAW.loss(parameters, tokens, characters)
    limit = "time" if in_time <= in_text else "text"
    return Size(width, layers, heads, 4 * width, parameters, steps, tokens, tokens / characters, limit, loss)
