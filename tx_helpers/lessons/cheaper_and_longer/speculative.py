"""Speculative decoding: a small model drafts some tokens, the large one checks them all in a single pass.

    x ~ q:  keep it with probability min(1, p(x) / q(x)),  otherwise draw from  r = max(0, p − q) / Σ max(0, p − q)

What is written has the large model's distribution p exactly, whatever the draft q is:
    q(x) min(1, p(x)/q(x))  +  P(not kept) r(x)  =  min(p(x), q(x))  +  (p(x) − min(p(x), q(x)))  =  p(x)
because P(not kept) = 1 − Σ min(p, q) = Σ max(0, p − q). The draft only decides how many passes the large model needs.
Source: Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2.

Shapes: n drafted tokens; drafted (…, n), q (…, n, V), p (…, n + 1, V): the large model's distribution at each drafted
token, and at the one after them.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.generation.sampling import filter_logits, precise
from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.nn.cache import WindowCache
from tx_helpers.nn.decoding import DecodingState
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.training.contexts import in_mode


def acceptance_rate(p: Tensor, q: Tensor) -> Tensor:
    """The probability that a token drafted from q is accepted, Σ min(p, q): (…, V), (…, V) -> (…)."""
    check_tensors("acceptance_rate", p=(p, "float … V"))
    check_tensors("acceptance_rate", q=(q, _form("float", *p.shape)))
    return torch.minimum(p, q).sum(dim=-1)


def verify(drafted: Tensor, q: Tensor, p: Tensor, uniforms: Tensor) -> tuple[Tensor, Tensor]:
    """How many drafted tokens are kept (…), and the distribution (…, V) to draw the next token from.

    uniforms (…, n) in [0, 1) decide. The first token that is not kept ends the draft, and the next is drawn from r; if
    all are kept, from the last row of p. Source: Leviathan et al. 2023, algorithm 1.
    """
    _check_verify(drafted, q, p, uniforms)
    n = drafted.shape[-1]
    of_drafted = drafted[..., None]
    p_drafted = p[..., :n, :].gather(-1, of_drafted).squeeze(-1)
    q_drafted = q.gather(-1, of_drafted).squeeze(-1)
    keep = uniforms * q_drafted < p_drafted  # uniform < p/q, without a division
    count = keep.long().cumprod(dim=-1).sum(dim=-1)  # up to the first that is not kept
    q = F.pad(q, (0, 0, 0, 1))  # nothing is drafted after the last: q = 0 there, and r is p
    at = count[..., None, None].expand(*count.shape, 1, p.shape[-1])
    p_next, q_next = p.gather(-2, at).squeeze(-2), q.gather(-2, at).squeeze(-2)
    rest = (p_next - q_next).clamp(min=0)
    total = rest.sum(dim=-1, keepdim=True)
    return count, torch.where(total > 0, rest / total.clamp(min=torch.finfo(p.dtype).tiny), p_next)


def expected_tokens(acceptance_rate: float, ahead: int) -> float:
    """Tokens for each pass of the large model, if each of `ahead` drafted ones is kept with this probability.

    (1 − a^(n+1)) / (1 − a) = 1 + a + … + aⁿ. Source: Leviathan et al. 2023, eq. 1.
    """
    check_numbers("expected_tokens", least=0, most=1, acceptance_rate=acceptance_rate)
    check_numbers("expected_tokens", least=0, whole=True, ahead=ahead)
    return sum(acceptance_rate**i for i in range(ahead + 1))


def expected_speed_up(acceptance_rate: float, ahead: int, cost: float) -> float:
    """How many times faster, if a pass of the draft takes `cost` times as long as one of the large model.

    (1 − a^(n+1)) / ((1 − a)(n · cost + 1)). Source: Leviathan et al. 2023, theorem 3.8.
    """
    check_numbers("expected_speed_up", least=0, cost=cost)
    return expected_tokens(acceptance_rate, ahead) / (ahead * cost + 1)


def break_even(acceptance_rate: float, ahead: int) -> float:
    """The cost of a draft's pass, in passes of the large model, at which `expected_speed_up` is 1."""
    check_numbers("break_even", least=1, whole=True, ahead=ahead)
    return (expected_tokens(acceptance_rate, ahead) - 1) / ahead


class Dice:
    """Chance for a loop that is written by hand: dice.draw(weights (V,)) -> token, dice.flip(chance) -> bool."""

    def __init__(self, seed: int = 0):
        check_numbers("Dice", least=0, whole=True, seed=seed)
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, weights: Tensor) -> int:
        """A token, drawn with these weights."""
        return int(torch.multinomial(weights, 1, generator=self.generator))

    def flip(self, chance: float) -> bool:
        """True with this probability."""
        return torch.rand(1, generator=self.generator).item() < chance


class Written(NamedTuple):
    """What was written, and what it took."""

    ids: Tensor  # (1, N): the new ids
    passes: int  # of the large model
    drafted: int  # tokens that the draft model proposed
    accepted: int  # of these


@torch.no_grad()
def speculate(
    large: DecoderOnly,
    draft: DecoderOnly,
    prompt: Tensor,
    *,
    max_new_tokens: int,
    ahead: int = 4,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Written:
    """Write with the large model, `ahead` tokens drafted before each of its passes. The prompt is one row, (1, T).

    temperature 0: the likeliest tokens, the same as greedy decoding writes; otherwise drawn, with the temperature
    applied to both models. Both keep their caches and forget what was drafted in vain.
    """
    check_tensors("speculate", prompt=(prompt, "int 1 T"))
    if not prompt.shape[1]:
        raise ValueError(f"speculate: a prompt of shape {tuple(prompt.shape)}, expected (1, T) with T >= 1")
    check_types("speculate", (torch.Generator, type(None)), generator=generator)
    check_numbers("speculate", least=0, temperature=temperature)
    check_numbers("speculate", least=1, whole=True, max_new_tokens=max_new_tokens, ahead=ahead)
    _check_models(large, draft)
    distribution = partial(_distribution, temperature=temperature)
    ids, end = prompt, prompt.shape[1] + max_new_tokens
    passes = drafted_in_all = kept_in_all = 0
    with in_mode(large, training=False), in_mode(draft, training=False):
        state, draft_state = large.start(), draft.start()
        _keep_what_is_drafted(state, ahead)
        _keep_what_is_drafted(draft_state, ahead)
        while ids.shape[1] < end:
            n = min(ahead, end - ids.shape[1] - 1)  # each pass adds one token of the large model's own
            extended, q = _draft(draft_state, ids, n, distribution, generator)
            logits = state.step(extended[:, state.ids.shape[1] :])  # all that the large model has not seen
            p = distribution(logits[0, -n - 1 :])  # (n + 1, V)
            uniforms = torch.rand(n, generator=generator, dtype=p.dtype, device=p.device)
            count, following = verify(extended[0, ids.shape[1] :], torch.stack(q) if q else p[:0], p, uniforms)
            following = torch.multinomial(following, 1, generator=generator)
            kept = extended[:, : ids.shape[1] + int(count)]
            ids = torch.cat([kept, following[None]], dim=1)
            for each in (state, draft_state):
                each.rewind(min(kept.shape[1], each.ids.shape[1]))
            passes, drafted_in_all, kept_in_all = passes + 1, drafted_in_all + n, kept_in_all + int(count)
    return Written(ids[:, prompt.shape[1] :], passes, drafted_in_all, kept_in_all)


def _keep_what_is_drafted(state: DecodingState, ahead: int) -> None:
    """The cache of a layer with a window drops what the window has left; the last `ahead` may be taken back."""
    for of_block in getattr(state, "caches", None) or ():
        cache = of_block.self_attention
        if isinstance(cache, WindowCache):
            cache.spare = max(cache.spare, ahead)


def _draft(
    state: DecodingState,
    ids: Tensor,
    n: int,
    distribution: Callable[[Tensor], Tensor],
    generator: torch.Generator | None,
) -> tuple[Tensor, list[Tensor]]:
    """The ids with n more, (1, T + n), drawn one by one from the draft model, and the n distributions (V,)."""
    q = []
    for _ in range(n):
        logits = state.step(ids[:, state.ids.shape[1] :])
        q.append(distribution(logits[0, -1]))
        ids = torch.cat([ids, torch.multinomial(q[-1], 1, generator=generator)[None]], dim=1)
    return ids, q


def _distribution(logits: Tensor, *, temperature: float) -> Tensor:
    """Logits (…, V) -> probabilities; with temperature 0 all of it on the likeliest token."""
    logits = precise(logits)
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    return filter_logits(logits, temperature=temperature).softmax(dim=-1)


def _check_verify(drafted: Tensor, q: Tensor, p: Tensor, uniforms: Tensor) -> None:
    check_tensors("verify", drafted=(drafted, "int … n"), p=(p, "float … m V"))
    *rows, n = drafted.shape
    V = p.shape[-1]
    check_tensors("verify", p=(p, _form("float", *rows, n + 1, V)), q=(q, _form("float", *rows, n, V)))
    check_tensors("verify", uniforms=(uniforms, _form("float", *rows, n)))
    if drafted.numel() and not (drafted.min() >= 0 and drafted.max() < V):
        raise ValueError(f"verify: drafted ids {drafted.min()} … {drafted.max()}, expected ids of V={V} tokens")


def _check_models(large: DecoderOnly, draft: DecoderOnly) -> None:
    check_types("speculate", DecoderOnly, large=large, draft=draft)
    if large.config.vocab_size != draft.config.vocab_size:
        sizes = f"{large.config.vocab_size} tokens of the large model, {draft.config.vocab_size} of the draft"
        raise ValueError(f"speculate: {sizes}; expected one vocabulary")


def _form(kind: str, *sizes: int) -> str:
    return " ".join([kind, *map(str, sizes)])
