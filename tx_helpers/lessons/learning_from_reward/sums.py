"""Sums with an exact checker, and two ways to answer: at once, or with the running sums written down first.

    task = Sums(6)                                  # six digits; the answer is the last digit of their sum
    prompts = task.draw(2, generator)               # (2, 7) ids: 271828=
    task.answer("271828", steps=False)              # "A8."
    task.answer("271828", steps=True)               # "290080A8.": a running sum for each digit, then the answer
    task.reward(ids, written)                       # (N,): 1 where the last digit is right, else 0

With `whole=True` the answer is the sum itself in two digits, and so is each running sum: "0209…A28.".
"""

from typing import NamedTuple

import torch
from torch import Tensor

CHARACTERS = "0123456789=A.#"
EQUALS, ANSWER, STOP, PAD = (CHARACTERS.index(one) for one in "=A.#")


class Sums(NamedTuple):
    """Sums of `terms` digits, modulo 10 or whole."""

    terms: int = 6
    whole: bool = False

    @property
    def longest(self) -> int:
        """How many tokens an answer with steps has."""
        width = 2 if self.whole else 1
        return width * (self.terms + 1) + 2

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Problems drawn at random: (count, terms + 1) ids, the digits and "="."""
        digits = torch.randint(10, (count, self.terms), generator=generator)
        return torch.cat([digits, torch.full((count, 1), EQUALS)], dim=1)

    def numbers(self, sums: Tensor) -> Tensor:
        """Sums (N, S) -> the ids that write them, (N, S) or, whole, (N, 2 S)."""
        return torch.stack([sums // 10, sums % 10], dim=-1).flatten(1) if self.whole else sums % 10

    def texts(self, prompts: Tensor, steps: Tensor) -> Tensor:
        """Prompts (N, T) with a right answer each, padded: with the running sums where `steps` (N,) says so."""
        running = prompts[:, :-1].cumsum(1)
        last = self.numbers(running[:, -1:])
        end = torch.cat([torch.full((len(prompts), 1), ANSWER), last, torch.full((len(prompts), 1), STOP)], dim=1)
        long = torch.cat([prompts, self.numbers(running), end], dim=1)
        short = torch.full_like(long, PAD)
        short[:, : prompts.shape[1] + end.shape[1]] = torch.cat([prompts, end], dim=1)
        return torch.where(steps[:, None], long, short)

    def reward(self, ids: Tensor, written: Tensor) -> Tensor:
        """1 for each row of ids (N, T) that ends in "A", the right answer and ".", with no other "A" or ".", else 0."""
        width = 2 if self.whole else 1
        truth = self.numbers(ids[:, : self.terms].sum(1, keepdim=True))  # (N, width)
        ends = prompt_length(written) + written.sum(1) - 1  # (N,) the place of each row's last token
        places = (ends[:, None] + torch.arange(-width - 1, 1)).clamp(min=0)
        wanted = torch.cat([torch.full((len(ids), 1), ANSWER), truth, torch.full((len(ids), 1), STOP)], dim=1)
        same = (ids.gather(1, places) == wanted).all(1)
        once = [((ids == one) & written).sum(1) == 1 for one in (ANSWER, STOP)]
        return (same & once[0] & once[1]).float()

    def with_steps(self, written: Tensor) -> Tensor:
        """(N,): does the row have more tokens than an answer at once needs?"""
        return written.sum(1) > (4 if self.whole else 3)

    def answer(self, digits: str, *, steps: bool) -> str:
        """The right answer to a problem, as text."""
        ids = self.texts(encode([digits + "="]), torch.tensor([steps]))
        return text(ids[0, self.terms + 1 :])


SIX, FOUR = Sums(6), Sums(4, whole=True)  # here steps are the better way; there it is the direct one


def prompt_length(written: Tensor) -> int:
    """How many tokens stand before the first one that the model wrote; the same in every row of (N, T)."""
    return int(written[0].int().argmax())


def encode(lines: list[str]) -> Tensor:
    """Texts of equal length -> ids (N, T)."""
    return torch.tensor([[CHARACTERS.index(one) for one in line] for line in lines])


def text(ids: Tensor) -> str:
    """One row of ids as text, up to its first "."."""
    whole = "".join(CHARACTERS[i] for i in ids.tolist()).rstrip("#")
    return whole[: whole.index(".") + 1] if "." in whole else whole
