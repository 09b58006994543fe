"""Do the steps carry the answer, and what do more tokens buy?

    follow(model, at=3)          # {"follows": 0.97, "repairs": 0.01, "other": 0.02}
    hinted(base)                 # right and tokens, when the first step is written for the model
    ways(base, model)            # name -> [(tokens a problem, right), …]

`follow` gives the model a problem with right steps up to `at`, and there a wrong one: the running sum plus 1 to 9. If
the answer is wrong by just as much, it follows the step; if it is right, the model has repaired the slip.
"""

from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.learning_from_reward.runs import answers, right_counts
from tx_helpers.lessons.learning_from_reward.sums import ANSWER, SIX, STOP, Sums
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.training.reward import right_at_k, sample_answers

NUMBERS = (1, 2, 4, 8, 16, 32, 64)  # of answers to a problem


class Bought(NamedTuple):
    """What a way to answer costs and gives: tokens written a problem, and the share of right answers."""

    tokens: float
    right: float


def follow(model: nn.Module, *, at: int, count: int = 256, seed: int = 0) -> dict[str, float]:
    """What becomes of the answer to six digits if step `at` (1 to 5) is changed: shares of follows, repairs, other."""
    check_numbers("follow", least=1, most=SIX.terms - 1, whole=True, at=at)
    generator = torch.Generator().manual_seed(seed)
    prompts = SIX.draw(count, generator)
    shift = torch.randint(1, 10, (count,), generator=generator)
    running = prompts[:, :-1].cumsum(1) % 10
    steps = running[:, :at].clone()
    steps[:, -1] = (steps[:, -1] + shift) % 10
    said = _last_digits(model, torch.cat([prompts, steps], dim=1), generator)
    truth = running[:, -1]
    follows, repairs = said == (truth + shift) % 10, said == truth
    shares = {"follows": follows, "repairs": repairs, "other": ~(follows | repairs)}
    return {name: share.float().mean().item() for name, share in shares.items()}


def hinted(model: nn.Module, *, count: int = 512, seed: int = 0) -> Bought:
    """One answer whose first step, a copy of the first digit, is written for the model."""
    generator = torch.Generator().manual_seed(seed)
    prompts = SIX.draw(count, generator)
    begun = torch.cat([prompts, prompts[:, :1]], dim=1)
    sampled = sample_answers(model, begun, stop=STOP, max_new=SIX.longest + 3, generator=generator)
    right = _digits(sampled.ids, sampled.answer) == prompts[:, :-1].sum(1) % 10
    return Bought(1 + sampled.answer.sum(1).float().mean().item(), right.float().mean().item())


def ways(base: nn.Module, trained: nn.Module, task: Sums = SIX, *, count: int = 64) -> dict[str, list[Bought]]:
    """Tokens against right: votes and the best of n answers of the base model, a hint, and reward."""
    most = NUMBERS[-1]
    sampled = answers(base, task, count=count, each=most, seed=3)
    digits = _digits(sampled.ids, sampled.answer).view(count, most)
    truth = (sampled.ids[::most, : task.terms].sum(1) % 10).tolist()
    right = task.reward(sampled.ids, sampled.answer).view(count, most).sum(1)
    length = sampled.answer.sum(1).float().mean().item()
    once = right_counts(trained, task, count=256, each=1).float().mean().item()
    after = answers(trained, task, count=256, seed=3).answer.sum(1).float().mean().item()
    votes = {n: [majority(row[:n]) for row in digits.tolist()] for n in NUMBERS}
    return {
        "majority of n": [
            Bought(n * length, sum(map(int.__eq__, votes[n], truth)) / count) for n in NUMBERS
        ],
        "best of n by the checker": [Bought(n * length, right_at_k(right, most, n).mean().item()) for n in NUMBERS],
        "a hint": [hinted(base)],
        "after reward": [Bought(after, once)],
    }  # fmt: skip


def majority(said: list[int]) -> int:
    """The answer that most give, of equally many the first; −1, an answer without a digit, does not vote."""
    counted = Counter(one for one in said if one >= 0)
    return counted.most_common(1)[0][0] if counted else -1


def draw_ways(found: dict[str, list[Bought]]) -> Svg:
    """Right against tokens, on a logarithmic axis."""
    lines = {name: ([one.tokens for one in row], [one.right for one in row]) for name, row in found.items()}
    said = "; ".join(f"{name} {row[-1].right:.2f} with {row[-1].tokens:.0f} tokens" for name, row in found.items())
    panel = line_chart(
        lines, size=(640, 320), title="What tokens buy", xlabel="tokens written for a problem", ylabel="right",
        xlim=(2.5, 4000), ylim=(0, 1.02), logx=True, xticks=(3, 10, 30, 100), dots=True,
    )  # fmt: skip
    return side_by_side([panel], alt=f"Right against tokens: {said}.")


def _last_digits(model: nn.Module, begun: Tensor, generator: torch.Generator) -> Tensor:
    sampled = sample_answers(model, begun, stop=STOP, max_new=SIX.longest, generator=generator)
    return _digits(sampled.ids, sampled.answer)


def _digits(ids: Tensor, written: Tensor) -> Tensor:
    """The digit behind the first "A" that was written, or −1: (N, T) -> (N,)."""
    marks = (ids == ANSWER) & written
    places = marks.int().argmax(1, keepdim=True)
    said = ids.gather(1, (places + 1).clamp(max=ids.shape[1] - 1))[:, 0]
    return said.masked_fill(~marks.any(1) | (said > 9), -1)
