"""From logits to a token: the likeliest, or one drawn from those that a filter leaves."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_ids, check_numbers, check_tensors, check_types


def filter_logits(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """The logits to draw from, (…, V) -> (…, V): divided by the temperature, and −∞ where a token is ruled out.

    The filters apply in this order, each to the result of the one before:
    temperature  logits / temperature: below 1 likely tokens become likelier, above 1 less likely
    top_k        only the k likeliest tokens (Fan et al. 2018, section 5); k > V leaves all
    top_p        only the likeliest tokens that together have probability p or more ("nucleus", Holtzman et al. 2020)
    min_p        only tokens at least min_p times as likely as the likeliest (Nguyen et al. 2024)
    At least one token stays. Of equally likely tokens the one with the lower id ranks first.
    """
    check_tensors("filter_logits", logits=(logits, "float … V"))
    check_numbers("filter_logits", above=0, temperature=temperature)
    check_numbers("filter_logits", least=1, whole=True, optional=True, top_k=top_k)
    check_numbers("filter_logits", above=0, most=1, optional=True, top_p=top_p)
    check_numbers("filter_logits", least=0, most=1, optional=True, min_p=min_p)
    largest, smallest = torch.finfo(logits.dtype).max, torch.finfo(logits.dtype).tiny
    if temperature * largest < 1e6:  # the quotient may overflow: subtract the largest first, the softmax is the same
        logits = logits - logits.amax(-1, keepdim=True)
    logits = logits / max(temperature, smallest)
    if top_k is None and top_p is None and min_p is None:
        return logits
    ranked, ids = logits.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        ranked[..., top_k:] = float("-inf")
    if top_p is not None and top_p < 1:  # with top_p = 1, a sum rounded up to 1 would rule out the last tokens
        p = ranked.softmax(-1)
        likelier = p.cumsum(-1) - p  # the probability of all likelier tokens together
        ranked = ranked.masked_fill(likelier >= top_p, float("-inf"))
    if min_p is not None:
        p = ranked.softmax(-1)
        ranked = ranked.masked_fill(p < min_p * p[..., :1], float("-inf"))
    return torch.empty_like(ranked).scatter_(-1, ids, ranked)


def repetition_penalty(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Logits (B, V) in which every token that occurs in its row of ids (B, T) is less likely, for a penalty above 1.

    z_v -> z_v / penalty where z_v > 0, z_v · penalty elsewhere, if v occurs; how often it occurs does not count.
    Source: Keskar et al. 2019 (CTRL), section 4.1, which divides in both cases; a negative logit would rise by that.
    """
    check_tensors("repetition_penalty", logits=(logits, "float B V"), ids=(ids, "int B T"))
    check_ids("repetition_penalty", logits.shape[-1], ids=ids)
    check_numbers("repetition_penalty", above=0, penalty=penalty)
    occurs = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, True)
    return torch.where(occurs, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


def sampler(
    temperature: float = 0.0,
    *,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Callable[[Tensor], Tensor]:
    """A function logits (B, V) -> ids (B,). Temperature 0: the likeliest token; else drawn after `filter_logits`."""
    check_numbers("sampler", least=0, temperature=temperature)
    check_types("sampler", (torch.Generator, type(None)), generator=generator)
    if temperature == 0:
        given = {"top_k": top_k, "top_p": top_p, "min_p": min_p}
        if filters := {name: value for name, value in given.items() if value is not None}:
            raise ValueError(
                f"sampler: temperature=0 takes the likeliest token, but {filters} is given for drawing one"
            )
        return lambda logits: logits.argmax(-1)
    filtered = partial(filter_logits, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    filtered(torch.zeros(1))  # wrong settings are refused now

    def draw(logits: Tensor) -> Tensor:
        p = filtered(precise(logits)).softmax(-1)
        return torch.multinomial(p, 1, generator=generator).squeeze(-1)

    return draw


def pick(logits: Tensor, uniform: float) -> int:
    """The id (of V) that a random number in [0, 1) draws from softmax(logits): the first at which the sum exceeds it.

    With Python's random numbers the same text is drawn on every machine. A token of probability 0 is never drawn.
    """
    check_tensors("pick", logits=(logits, "float V"))
    check_numbers("pick", least=0, uniform=uniform)
    if uniform >= 1:
        raise ValueError(f"pick: uniform={uniform}, expected a number from 0 up to, but not including, 1")
    if not len(logits):
        raise ValueError(f"pick: logits {tuple(logits.shape)}, expected at least one token")
    sums = logits.double().softmax(-1).cumsum(-1)
    return int((sums <= uniform * sums[-1]).sum())  # sums[-1], not 1: rounded, the sums may end below it


def precise(logits: Tensor) -> Tensor:
    """The logits in float32 or better, for sums of exponentials."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
