"""Does the average of the loss make wrong answers longer? A toy in which answers may have any length up to LONGEST.

    found = lengths_after("answers")      # [(right, wrong), …]: mean tokens at the seeds, when ENOUGH answers are right

The policy has three numbers: how likely the first token is the right one, and how likely a right and a wrong answer
ends at each further token. Only the first token counts for the reward, so the length is free, and a change of it comes
from the loss alone. It trains by `group_advantages` and `policy_loss`; lengths are the exact means under the policy.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.training.reward import MEANS, group_advantages, policy_loss

LONGEST, GROUP, GROUPS, RATE, ENOUGH, MOST = 12, 8, 32, 0.5, 0.8, 2000
SEEDS = range(3)


def mean_length(ends: Tensor) -> Tensor:
    """The mean number of tokens, the first among them, of answers that end with these chances: (N,) -> (N,)."""
    return 1 + torch.stack([(1 - ends) ** t for t in range(LONGEST)]).sum(0)


def sampled_loss(first: Tensor, ends: Tensor, mean: str, generator: torch.Generator) -> Tensor:
    """The loss of one round of answers. first (), ends (2,): logits; ends[0] is that of wrong answers."""
    count, places = GROUP * GROUPS, torch.arange(LONGEST)
    right = torch.rand(count, generator=generator) < first.detach().sigmoid()
    logits = ends[right.long()][:, None]  # (N, 1)
    stops = torch.rand(count, LONGEST, generator=generator) < logits.detach().sigmoid()
    last = torch.where(stops.any(1), stops.int().argmax(1), LONGEST - 1)[:, None]
    begins = torch.where(right, logsigmoid(first), logsigmoid(-first))[:, None]
    goes_on = torch.where((places == last) & stops, logsigmoid(logits), logsigmoid(-logits))
    goes_on = goes_on.masked_fill(places == LONGEST - 1, 0.0)  # there every answer ends
    log_p = torch.cat([begins, goes_on.masked_fill(places > last, 0.0)], dim=1)
    answer = torch.cat([torch.zeros(count, 1), torch.ones(count, 1), (places <= last).float()], dim=1).bool()
    advantages = group_advantages(right.float().view(GROUPS, GROUP)).flatten()
    return policy_loss(log_p, log_p.detach(), advantages, answer, clip=None, mean=mean, most=LONGEST + 1)


def trained_lengths(mean: str, seed: int = 0) -> tuple[float, float]:
    """Mean tokens of a right and of a wrong answer, once ENOUGH of the answers are right."""
    check_one_of("trained_lengths", MEANS, mean=mean)
    check_numbers("trained_lengths", least=0, whole=True, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    first, ends = (torch.full(size, 0.3).logit().requires_grad_() for size in ((), (2,)))
    optimizer = torch.optim.SGD([first, ends], lr=RATE)
    for _ in range(MOST):
        if first.sigmoid() >= ENOUGH:
            break
        optimizer.zero_grad()
        sampled_loss(first, ends, mean, generator).backward()
        optimizer.step()
    wrong, right = mean_length(ends.detach().sigmoid()).tolist()
    return right, wrong


def lengths_after(mean: str) -> list[tuple[float, float]]:
    """`trained_lengths` at each of SEEDS."""
    return [trained_lengths(mean, seed) for seed in SEEDS]
