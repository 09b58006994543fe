"""Probes of decoding with a cache: piece by piece the logits must be those of the full sequence."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tx_helpers.diagnose.examination import Examination, moves
from tx_helpers.diagnose.probes.leaks import longest, of_length
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import Ids, Subject, logits_of, parameter_names
from tx_helpers.diagnose.versions import movement
from tx_helpers.diagnose.watch import attention_weights, softmaxes


class LibraryCache:
    """Decoding with the cache of the library `transformers`."""

    def __init__(self, subject: Subject, ids: Ids):
        self.model, self.source = subject.model, ids[:-1]
        self.past: Any = None
        self.read = ids[-1][:, :0]
        masked = not self.source and "attention_mask" in parameter_names(subject.model)
        self.hidden = subject.pad_id if masked else None

    def step(self, ids: Tensor) -> Tensor:
        """The next ids (B, t) -> their logits (B, t, V)."""
        self.read = torch.cat([self.read, ids], dim=1)
        names = ("input_ids", "decoder_input_ids")
        arguments = dict(zip(names, (*self.source, ids), strict=False))
        if self.hidden is not None:
            arguments["attention_mask"] = (self.read != self.hidden).long()
        answer = self.model(**arguments, past_key_values=self.past, use_cache=True)
        self.past = answer.past_key_values
        return logits_of(answer)

    def select(self, rows: Tensor) -> None:
        """Reorder the rows of the batch."""
        self.past.reorder_cache(rows)
        self.source, self.read = tuple(x[rows] for x in self.source), self.read[rows]


def begin_decoding(exam: Examination, subject: Subject, ids: Ids) -> Any:
    """A state with `step(ids (B, t)) -> logits`, perhaps with `select(rows)`; None where no cache is known."""
    first = ids[0] if subject.kind == "seq2seq" else ids[0].shape[0]
    if exam.decoding is not None:
        return exam.decoding(subject.model, first)
    if hasattr(subject.model, "start"):
        return subject.model.start(first)
    known = {"input_ids", "past_key_values", "use_cache"} <= parameter_names(subject.model)
    return LibraryCache(subject, ids) if known and subject.forward is None else None


def _without_cache(exam: Examination) -> Result | None:
    """Why the probes of this file have nothing to do."""
    if exam.subject.kind == "encoder":
        return Result(SKIPPED, "an encoder does not decode")
    if begin_decoding(exam, exam.subject, exam.subject.inputs(0)) is None:
        return Result(SKIPPED, "no cache known: say decoding=")
    return None


def _in_pieces(exam: Examination, subject: Subject, ids: Ids, lengths: list[int]) -> Tensor:
    """The logits of as many tokens as the lengths say, fed in pieces of these lengths."""
    state = begin_decoding(exam, subject, ids)
    pieces = ids[-1][:, : sum(lengths)].split(lengths, dim=1)
    logits = torch.cat([state.step(piece.contiguous()) for piece in pieces], dim=1)
    expected = (*ids[-1][:, : sum(lengths)].shape, subject.V)
    if logits.shape[:2] != expected[:2]:
        raise ValueError(f"the cache gave logits {tuple(logits.shape)}, expected {expected}")
    return logits


@torch.no_grad()
def cached(exam: Examination) -> Result:
    """Fed piece by piece with a cache: the same logits as all at once, also after padding at the left."""
    skipped = _without_cache(exam)
    if skipped:
        return skipped
    T = exam.subject.T
    one_by_one = [T // 2] + [1] * (T - T // 2)

    def differences(subject: Subject, lengths: list[int]) -> Tensor:  # (B, T, V)
        ids = subject.inputs(0)
        return _in_pieces(exam, subject, ids, lengths) - subject(*ids)

    def differ(lengths: list[int]) -> Callable[[Subject], float]:
        return lambda subject: movement(differences(subject, lengths), torch.zeros(()))

    share, subject = exam.largest(differ([T // 2, 1, 2, *[1] * (T - T // 2 - 3)]), exam.loose)
    if subject is None:
        return _after_padding(exam) or Result(RIGHT, "they do", share)
    single, _ = exam.largest(differ(one_by_one), exam.loose)
    if single <= exam.loose:
        return Result(LOOK, "they do token by token, and not for a later piece of two tokens", share, ("pieces",))
    apart = differences(subject, one_by_one).abs().amax(dim=(0, 2)) / exam.scale(subject)  # (T,)
    t = int((apart > exam.loose).nonzero()[0]) if (apart > exam.loose).any() else 0
    figure = moves(share, "differ")
    if exam.found("future"):
        return Result(WRONG, figure, share, ("leak", *_cache_causes(exam, subject)))
    causes = _cache_causes(exam, subject)
    if t < T // 2:  # in the first piece, before which the cache is empty
        causes = ("lost", *(key for key in causes if key != "lost"))
    return Result(WRONG, f"{figure}, first at position {t}", share, causes)


def _cache_causes(exam: Examination, subject: Subject) -> tuple[str, ...]:
    """By the first attention's weights of a new token, beside those of the same query without a cache."""
    ids, n = subject.inputs(0), subject.T // 2
    state = begin_decoding(exam, subject, ids)
    state.step(ids[-1][:, :n])
    with softmaxes(subject.model) as found:
        state.step(ids[-1][:, n : n + 1])
    layers = attention_weights(subject, ids, {subject.T})
    if not found or not layers or found[0].weights.dim() < 3:
        return "position", "mask", "order", "rotary", "shared"
    weights = found[0].weights[..., -1, :]  # (…, S)
    expected = layers[0].weights[..., n, : n + 1]
    if weights.shape != expected.shape:
        return "lost", "order", "shared"
    if not torch.equal(weights > 0, expected > 0):
        return "mask", "position", "order"
    if movement(weights, expected) <= 1e-6:
        return "order", "shared"  # the queries and keys are right, so the values are not
    if movement(weights.sort().values, expected.sort().values) <= 1e-6:
        return "order", "rotary", "shared"
    if movement(_pattern(weights), _pattern(expected)) <= 1e-6:
        return "rotary", "order", "position"
    return "position", "rotary", "order", "shared"


def _pattern(weights: Tensor) -> Tensor:
    """The weights without that of the new token itself, so that they sum to 1."""
    return weights[..., :-1] / weights[..., :-1].sum(dim=-1, keepdim=True)


def _after_padding(exam: Examination) -> Result | None:
    """The same where the first piece begins with padding, more in each row: with a cache and without."""
    pad_id = exam.subject.pad_id
    if pad_id is None or exam.subject.kind != "decoder" or exam.found("padding"):
        return None

    def differ(subject: Subject) -> float:
        ids = subject.inputs(0)[0].clone()
        for b in range(len(ids)):
            ids[b, :b] = pad_id
        pieces = _in_pieces(exam, subject, (ids,), [subject.T // 2] + [1] * (subject.T - subject.T // 2))
        return movement(pieces[ids != pad_id], subject(ids)[ids != pad_id])

    share, subject = exam.largest(differ, exam.loose)
    if subject is None:
        return None
    return Result(WRONG, f"they do without padding; after padding {moves(share, 'differ')}", share, ("padding",))


@torch.no_grad()
def prefill(exam: Examination) -> Result:
    """A first piece of every length that matters, then token by token: the same logits as without a cache."""
    skipped = _without_cache(exam)
    if skipped:
        return skipped
    if exam.found("cached"):
        return Result(SKIPPED, "the probe cached finds a mistake already")
    length, T = longest(exam.subject), exam.subject.T
    window = _window(exam.subject, length)
    firsts = [1, 3, T // 2, T - 3] if window is None else [1, window - 1, window, window + 1, 2 * window]
    shares, above = {}, None
    for first in sorted({min(max(first, 1), length - 1) for first in firsts}):
        total = min(max(first, window or 0) + 3, length)

        def differ(subject: Subject, first: int = first, total: int = total) -> float:
            ids = of_length(subject, length)
            pieces = _in_pieces(exam, subject, ids, [first] + [1] * (total - first))
            return movement(pieces, subject(*ids)[:, :total])

        shares[first], subject = exam.largest(differ, exam.loose)
        above = above or subject
    share = max(shares.values())
    if above is None:
        figure = "they do" if window is None else f"they do, before and after the window of {window} is full"
        return Result(RIGHT, figure, share)
    wrong = [first for first, value in shares.items() if value > exam.loose]
    causes = ("first", "window")
    if window is not None:
        causes = ("longer", "window") if min(wrong) > window else ("window", "longer")
    figure = f"{moves(share, 'differ')} after a first piece of {', '.join(map(str, wrong))}"
    return Result(WRONG, figure if window is None else f"{figure} tokens; the window is {window}", share, causes)


def _window(subject: Subject, length: int) -> int | None:
    """The fewest keys that a layer lets the last query see, where these are not all."""
    layers = attention_weights(subject, of_length(subject, length), {length})
    counts = []
    for layer in layers:
        visible = layer.weights[..., -1, :] > 0  # (…, S)
        counts.append(int(visible.flatten(0, -2).any(dim=0).sum()))
    return min((count for count in counts if count < length), default=None)


@torch.no_grad()
def reorder(exam: Examination) -> Result:
    """After the first piece the rows change places: the next logits are those of the reordered ids."""
    skipped = _without_cache(exam)
    if skipped:
        return skipped
    for other in ("cached", "neighbours"):
        if exam.found(other):
            return Result(SKIPPED, f"the probe {other} finds a mistake already")
    state = begin_decoding(exam, exam.subject, exam.subject.inputs(0))
    if not hasattr(state, "select"):
        return Result(SKIPPED, "the decoding state has no method select(rows)")
    rows = torch.tensor([2, 0, 0])

    def differ(subject: Subject) -> float:
        ids, n = subject.inputs(0), subject.T // 2
        state = begin_decoding(exam, subject, ids)
        state.step(ids[-1][:, :n])
        state.select(rows.to(ids[-1].device))
        ids = tuple(x[rows.to(x.device)] for x in ids)
        steps = [state.step(ids[-1][:, t : t + 1]) for t in range(n, subject.T)]
        return movement(torch.cat(steps, dim=1), subject(*ids)[:, n:])

    share, subject = exam.largest(differ, exam.loose)
    if subject is None:
        return Result(RIGHT, "it does", share)
    return Result(WRONG, f"it does not: {moves(share, 'differ')}", share)
