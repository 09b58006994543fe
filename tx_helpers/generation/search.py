"""Writing with a trained model, one token at a time: greedy, sampled, streamed, or by beam search.

The model may have a method that starts a sequence:

    state = model.start(batch)  or, for an encoder–decoder,  model.start(source)     the source is encoded once
    state.step(ids (B, t)) -> logits (B, t, V) of these new positions, given all earlier ones
    state.select(rows)                                                       select, repeat or reorder the rows

A model without it is called with all ids so far at every step: model(ids), or model(source, ids), gives the logits.
With cached=True the state stores keys and values; with False it computes them again at every step: the same logits.
A prompt is one id with which every row begins (`tokenizer.bos_id`), the ids of one row, a list of rows, or a tensor
(B, T); rows of different lengths are padded on the left. The new ids are returned.
"""

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from tx_helpers.generation.quick import quick_step
from tx_helpers.generation.sampling import precise, repetition_penalty, sampler
from tx_helpers.nn.arguments import Function, check_numbers, check_tensors, check_types, described
from tx_helpers.nn.decoding import DecodingState, PlainDecoding
from tx_helpers.training.contexts import in_mode

Prompt = int | Sequence[int] | Sequence[Sequence[int]] | Tensor


class SupportsStep(Protocol):
    """What `model.start` returns: see the head of this file."""

    def step(self, ids: Tensor) -> Tensor: ...

    def select(self, rows: Tensor) -> None: ...


def stream(
    model: nn.Module,
    prompt: Prompt,
    *,
    source: Tensor | None = None,
    max_new_tokens: int,
    end_id: int | None = None,
    pad_id: int | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition: float = 1.0,
    cached: bool = True,
    generator: torch.Generator | None = None,
) -> Iterator[Tensor]:
    """The next ids (B,) of all rows, step by step, until every row has ended or for `max_new_tokens` steps.

    source        (B, S), for an encoder–decoder
    end_id        ends a row, which is filled with pad_id from then on (without a pad_id: with end_id)
    pad_id        also fills up shorter prompts on the left; it must be the model's own pad_id
    temperature   0: greedy, the likeliest token each time; otherwise the token is drawn, see `sampling.filter_logits`
    repetition    above 1: tokens of the row so far, prompt included, become less likely, see `repetition_penalty`
    generator     to draw from; None: torch's own
    The model runs in evaluation mode and without gradients; between the steps and afterwards it is as before.
    """
    check_numbers("generation", whole=True, optional=True, end_id=end_id)
    choose = sampler(temperature, top_k=top_k, top_p=top_p, min_p=min_p, generator=generator)
    check_numbers("generation", above=0, repetition=repetition)
    ids = _prompt_ids(model, prompt, source, max_new_tokens, pad_id)
    return _steps(model, ids, source, max_new_tokens, end_id, pad_id, choose, repetition, cached)


def generate(model: nn.Module, prompt: Prompt, **options: Any) -> Tensor:
    """All ids that `stream` yields, with the same options, as one tensor (B, N), N <= max_new_tokens."""
    return torch.stack(list(stream(model, prompt, **options)), dim=1)


class Hypothesis(NamedTuple):
    """One finished sequence of a beam search: its new ids with the end, ln P(ids | prompt, source), and its score."""

    ids: list[int]
    log_probability: float
    score: float


class Candidate(NamedTuple):
    """A continuation compared in a step of a beam search: its new ids, their ln P, and whether it is selected."""

    ids: tuple[int, ...]
    log_probability: float
    selected: bool


class BeamStep(NamedTuple):
    """A step of a beam search, as `beam_search(…, watch=…)` shows it.

    written          (B, beams, n): the new ids of the hypotheses so far
    log_probability  (B, beams·V): ln P of every hypothesis followed by every token, −∞ if the hypothesis is not open
    places           (B,): how many of these continuations are selected: the likeliest ones
    """

    written: Tensor
    log_probability: Tensor
    places: Tensor

    def candidates(self, row: int = 0) -> list[Candidate]:
        """The continuations of a row that are selected and the two best that are not, likeliest first."""
        beams, count = self.written.shape[1], int(self.places[row])
        V = self.log_probability.shape[1] // beams
        best, index = self.log_probability[row].topk(min(count + 2, beams * V))
        ids = [(*self.written[row, i // V].tolist(), i % V) for i in index.tolist()]
        found = [Candidate(*one, rank < count) for rank, one in enumerate(zip(ids, best.tolist(), strict=True))]
        return [candidate for candidate in found if candidate.log_probability > float("-inf")]


def beam_search(
    model: nn.Module,
    prompt: Prompt,
    *,
    source: Tensor | None = None,
    beams: int = 4,
    length_penalty: float = 0.6,
    max_new_tokens: int,
    end_id: int,
    pad_id: int | None = None,
    cached: bool = True,
    watch: Callable[[BeamStep], None] | None = None,
) -> list[list[Hypothesis]]:
    """For each row, `beams` hypotheses, best first: the likeliest sequences that a search of this width finds.

    At every step each open hypothesis is continued by every token, and the likeliest continuations are selected, as
    many as there are places. One that ends keeps its place, so the beam narrows as hypotheses end (Sutskever et al.
    2014, section 3.2). The search is over when all have ended or after `max_new_tokens` steps; hypotheses that are
    still open then count as ended. So one beam is greedy decoding, and enough beams are an exhaustive search.

    length_penalty  α of the score, see `ranked`
    watch           is called at each step, before its selection
    """
    check_numbers("beam_search", least=1, whole=True, beams=beams)
    check_numbers("beam_search", least=0, length_penalty=length_penalty)
    check_numbers("beam_search", least=0, whole=True, end_id=end_id)
    check_types("beam_search", (Function, type(None)), watch=watch)
    ids = _prompt_ids(model, prompt, source, max_new_tokens, pad_id)
    B, device = ids.shape[0], ids.device
    rows = torch.arange(B, device=device)
    ended: list[list[Hypothesis]] = [[] for _ in range(B)]
    with _evaluating(model):
        state = begin(model, B, source, cached=cached)
        logits = precise(state.step(ids)[:, -1])
        V = _check_vocabulary(logits, end_id, pad_id)
        state.select(rows.repeat_interleave(beams))
        logits = logits.repeat_interleave(beams, dim=0)  # (B·beams, V)
        written = ids.new_empty(B, beams, 0)
        total = logits.new_full((B, beams), float("-inf"))  # ln P of the open ones; −∞: the place is empty
        total[:, 0] = 0.0
        for length in range(1, max_new_tokens + 1):
            continued = (total[..., None] + logits.log_softmax(-1).view(B, beams, V)).flatten(1)  # (B, beams·V)
            places = torch.tensor([beams - len(hypotheses) for hypotheses in ended], device=device)
            if watch is not None:
                watch(BeamStep(written, continued, places))
            total, best = continued.topk(beams)  # (B, beams), likeliest first
            came_from, token = best // V, best % V
            written = torch.cat([written[rows[:, None], came_from], token[..., None]], dim=-1)
            has_place = torch.arange(beams, device=device) < places[:, None]
            total = total.masked_fill(~has_place, float("-inf"))
            done = (total > float("-inf")) & ((token == end_id) | (length == max_new_tokens))
            for b, k in done.nonzero().tolist():
                ended[b].append(Hypothesis(written[b, k].tolist(), total[b, k].item(), 0.0))
            total = total.masked_fill(done, float("-inf"))
            if (total == float("-inf")).all():
                break
            state.select((rows[:, None] * beams + came_from).flatten())
            logits = precise(state.step(token.view(-1, 1))[:, -1])
    return [ranked(hypotheses, length_penalty) for hypotheses in ended]


def ranked(hypotheses: Iterable[Hypothesis], length_penalty: float) -> list[Hypothesis]:
    """Hypotheses with the score of this length penalty, best first.

    score = ln P / lp,  lp = ((5 + length) / (5 + 1))^α  with α = length_penalty; the end counts in the length. Without
    the penalty (α = 0) every further token lowers the score, so short sequences win.
    Source: Wu et al. 2016 (GNMT), eq. 14, without coverage.
    """
    scored = [h._replace(score=h.log_probability / ((5 + len(h.ids)) / 6) ** length_penalty) for h in hypotheses]
    return sorted(scored, key=lambda one: one.score, reverse=True)


def _steps(
    model: nn.Module,
    ids: Tensor,
    source: Tensor | None,
    max_new_tokens: int,
    end_id: int | None,
    pad_id: int | None,
    choose: Callable[[Tensor], Tensor],
    repetition: float,
    cached: bool,
) -> Iterator[Tensor]:
    """The loop of `stream`: feed ids (B, t), choose new ids (B,) from the last logits (B, V), yield and feed them."""
    modules = list(model.modules())
    with _evaluating(modules):
        state = begin(model, ids.shape[0], source, cached=cached)
    so_far, ended = ids, torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)
    for step in range(max_new_tokens):
        with _evaluating(modules):
            logits = state.step(ids)[:, -1]
            if step == 0:
                _check_vocabulary(logits, end_id, pad_id)
            new = choose(logits if repetition == 1 else repetition_penalty(precise(logits), so_far, repetition))
        if end_id is not None:
            new = new.masked_fill(ended, end_id if pad_id is None else pad_id)
            ended |= new == end_id
        yield new
        if ended.all():
            return
        ids = new[:, None]
        so_far = so_far if repetition == 1 else torch.cat([so_far, ids], dim=1)


@contextmanager
def _evaluating(model: nn.Module | Sequence[nn.Module]) -> Iterator[None]:
    with in_mode(model, training=False), torch.no_grad():
        yield


def begin(model: nn.Module, batch: int, source: Tensor | None = None, *, cached: bool = True) -> SupportsStep:
    """What `model.start` gives, with the quick way of a single token where the model has it."""
    start = getattr(model, "start", None)
    wrapped = getattr(model, "module", model)  # by DataParallel, whose own forward takes anything
    inputs = inspect.signature(start or wrapped.forward).parameters
    needed = [name for name, one in inputs.items() if one.default is one.empty]
    takes_source = "source" in needed if start else len(needed) > 1
    call = f"{type(model).__name__}.start" if start else type(model).__name__
    if source is not None and not takes_source:
        raise ValueError(f"generation: a source is given, but {call} takes none")
    if source is None and takes_source:
        raise ValueError(f"generation: source=None, but {call} needs a source (B, S)")
    source = None if source is None else source.to(next(model.parameters()).device)
    if start is None:
        return PlainDecoding(model, batch=batch, source=source)
    state = start(batch if source is None else source, cached=cached)
    if isinstance(state, DecodingState):
        state.shortcut = quick_step
    return state


def _prompt_ids(
    model: nn.Module, prompt: Prompt, source: Tensor | None, max_new_tokens: int, pad_id: int | None
) -> Tensor:
    """The prompt as ids (B, T) on the model's device, one row for each row of the source."""
    check_types("generation", nn.Module, model=model)
    check_numbers("generation", least=1, whole=True, max_new_tokens=max_new_tokens)
    check_numbers("generation", whole=True, optional=True, pad_id=pad_id)
    if source is not None:
        check_tensors("generation", source=(source, "int B S"))
    if isinstance(prompt, Tensor):
        ids = prompt.reshape(1, -1) if prompt.dim() < 2 else prompt
    else:
        ids = _pad_left(_rows(prompt), model, pad_id, source)
    check_tensors("generation", prompt=(ids, "int B T"))
    if ids.numel() == 0:
        raise ValueError(f"generation: prompt of shape {tuple(ids.shape)}, expected at least one id in each row")
    if source is not None:
        if ids.shape[0] not in (1, source.shape[0]):
            raise ValueError(
                f"generation: {len(ids)} prompts for {len(source)} rows of the source, expected 1 or {len(source)}"
            )
        ids = ids.expand(source.shape[0], -1)
    return ids.to(next(model.parameters()).device)


def _rows(prompt: int | Sequence[int] | Sequence[Sequence[int] | Tensor]) -> list[list[int]]:
    """The ids of each row."""
    if isinstance(prompt, int | Integral):
        return [[int(prompt)]]
    try:
        rows = list(prompt)
        nested = rows and isinstance(rows[0], Sequence | Tensor)
        return [_row(row) for row in rows] if nested else [_row(rows)]
    except TypeError as error:
        expected = "expected an id, ids, a list of such rows, or a tensor (B, T)"
        raise ValueError(f"generation: prompt is {described(prompt)}, {expected} ({error})") from error


def _row(ids: object) -> list[int]:
    if not isinstance(ids, Iterable):
        raise TypeError(f"{described(ids)} is no list of ids")
    return [operator.index(i) for i in ids]


def _pad_left(rows: list[list[int]], model: nn.Module, pad_id: int | None, source: Tensor | None) -> Tensor:
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    if min(lengths) == 0:
        raise ValueError(f"generation: prompts of lengths {lengths}, expected at least one id in each")
    if min(lengths) < longest:
        prompts, name = f"generation: prompts of lengths {lengths}", type(model).__name__
        if source is not None or not hasattr(model, "start"):
            raise ValueError(f"{prompts}, but {name} takes its target as it comes; expected one length")
        known = getattr(getattr(model, "config", None), "pad_id", pad_id)
        if pad_id is None or known != pad_id:
            raise ValueError(f"{prompts} need padding: pad_id={pad_id}, but {name} knows {known}; expected the same id")
    return torch.tensor([[pad_id] * (longest - len(row)) + row for row in rows])


def _check_vocabulary(logits: Tensor, *ids: int | None) -> int:
    """The size V of the vocabulary, which must hold the special ids."""
    V = logits.shape[-1]
    for special in ids:
        if special is not None and not 0 <= special < V:
            raise ValueError(f"generation: the special id {special} is outside the vocabulary, expected 0 to {V - 1}")
    return V
