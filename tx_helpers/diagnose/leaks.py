"""Probes for leaks: something is changed that must not matter, and no logit may move.

The figures are in the units of `exam`: 1 is what a change of all tokens does.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.exam import Exam, movement, moves
from tx_helpers.diagnose.findings import LOOK, RIGHT, SKIPPED, WRONG, Finding
from tx_helpers.diagnose.subject import Ids, Subject, copy_of
from tx_helpers.diagnose.watch import Softmax, attention_weights, first_to_move


@torch.no_grad()
def future(exam: Exam) -> Finding:
    """Other tokens from position t on, for every t: the logits before t must not move."""
    question = "Do logits stay when only later tokens change?"
    if exam.subject.kind == "encoder":
        return Finding("future", question, SKIPPED, "an encoder may see all positions")

    def changed(subject: Subject, t: int) -> tuple[Ids, Ids]:
        *source, ids = subject.inputs(0)
        other = torch.cat([ids[:, :t], subject.others(ids, t)[:, t:]], dim=1)
        return (*source, ids), (*source, other)

    def leak(subject: Subject) -> dict[int, float]:
        base = subject(*subject.inputs(0))
        return {t: movement(subject(*changed(subject, t)[1])[:, :t], base[:, :t]) for t in range(1, subject.T)}

    shares = exam.shares(lambda subject: max(leak(subject).values()))
    share = max(shares)
    if share <= exam.tolerance:
        return Finding("future", question, RIGHT, "they do", share)
    subject = exam.first_above(shares, exam.tolerance)
    leaks = leak(subject)
    t = next(t for t in leaks if leaks[t] / exam.scale(subject) > exam.tolerance)
    causes = leak_causes(attention_weights(subject, subject.inputs(0)), subject)
    if len(shares) == 3 and max(shares[:-1]) <= exam.tolerance:  # only in the version with sharp attention
        causes = ("the mask's fill is too weak for large scores: fill with −∞", *causes)
    return Finding(
        "future",
        question,
        WRONG,
        moves(share),
        share,
        causes,
        first_to_move(subject, *changed(subject, t), columns=t, tolerance=exam.tolerance),
        "print the attention weights of 4 positions: above the diagonal all must be 0, and every row must sum to 1",
    )


@torch.no_grad()
def prefix(exam: Exam) -> Finding:
    """The first t tokens alone: the same logits as in front of the rest."""
    question = "Does a prefix alone get the same logits as within the whole sequence?"
    if exam.subject.kind == "encoder":
        return Finding("prefix", question, SKIPPED, "an encoder may see all positions")
    T = exam.subject.T
    lengths = sorted({1, 2, T // 2, T - 1})

    def whole(subject: Subject, length: int) -> Ids:
        return (*subject.inputs(0)[:-1], replace(subject, T=length).inputs(0)[-1])

    def differ(subject: Subject, length: int) -> dict[int, float]:
        *source, ids = whole(subject, length)
        logits = subject(*source, ids)
        return {t: movement(subject(*source, ids[:, :t]), logits[:, :t]) for t in lengths}

    share, length = 0.0, T
    for length in (T, longest(exam.subject)):
        shares = exam.shares(lambda subject, length=length: max(differ(subject, length).values()))
        share = max(shares)
        if share > exam.loose:
            break
    else:
        return Finding("prefix", question, RIGHT, "it does", share)
    subject = exam.first_above(shares, exam.loose)
    *source, ids = whole(subject, length)
    differences = differ(subject, length)
    t = next(t for t in lengths if differences[t] / exam.scale(subject) > exam.loose)
    return Finding(
        "prefix",
        question,
        WRONG,
        moves(share, "differ") + (f", but only in front of {length} positions" if length > T else ""),
        share,
        (
            *([f"a mask or a table made for fewer than {length} positions"] if length > T else []),
            *(["the leak from the future, see above: a prefix has no future to look at"] if exam.leaks else []),
            "something depends on the length: a norm or a softmax over the positions, positions counted from the end",
            "the mask is cut for the full length: mask[-t:] where mask[:t, :t] is meant",
        ),
        first_to_move(subject, (*source, ids), (*source, ids[:, :t]), columns=t),
        "compare model(ids)[:, :3] with model(ids[:, :3])",
    )


def longest(subject: Subject) -> int:
    """4 T, 2 T or T, whatever the model can take (T on CUDA, where a position too many ends the process)."""
    for length in (4 * subject.T, 2 * subject.T) if subject.device.type == "cpu" else ():
        try:
            subject(*subject.inputs(0)[:-1], replace(subject, T=length).inputs(0)[-1])
        except Exception:
            continue
        return length
    return subject.T


@torch.no_grad()
def neighbours(exam: Exam) -> Finding:
    """Each row alone, the rows in another order, and a row whose neighbours are others."""
    question = "Do the rows of a batch leave each other alone?"

    def by_content(subject: Subject, row: int) -> tuple[Ids, Ids, int, int]:
        ids, others = subject.inputs(0), subject.inputs(1)
        rows = torch.arange(subject.B, device=subject.device)[:, None]
        return ids, tuple(torch.where(rows == row, x, y) for x, y in zip(ids, others, strict=True)), row, row

    def by_place(subject: Subject) -> list[tuple[Ids, Ids, int, int]]:
        ids = subject.inputs(0)
        turned = (ids, tuple(x.flip(0) for x in ids), 0, subject.B - 1)
        return [turned, *((ids, tuple(x[b : b + 1] for x in ids), b, 0) for b in range(subject.B))]

    def differ(subject: Subject, one: Ids, other: Ids, row: int, place: int) -> float:
        return movement(subject(*one)[row], subject(*other)[place])

    first, last = (
        exam.shares(lambda subject, row=row: differ(subject, *by_content(subject, row)))
        for row in (0, exam.subject.B - 1)
    )
    place = exam.shares(lambda subject: max(differ(subject, *case) for case in by_place(subject)))
    shares = [max(three) for three in zip(first, last, place, strict=True)]
    share = max(shares)
    if share <= exam.loose:
        return _in_training(exam.subject) or Finding("neighbours", question, RIGHT, "they do", share)
    subject = exam.first_above(shares, exam.loose)
    where = ""
    for one, other, row, there in (by_content(subject, 0), by_content(subject, subject.B - 1), *by_place(subject)):
        rows = slice(row, row + 1), slice(there, there + 1)
        where = where or first_to_move(subject, one, other, rows=rows, columns=subject.T)
    axes = (
        "axes mixed up: nn.MultiheadAttention, nn.Transformer, nn.GRU or nn.LSTM without batch_first=True, or a view "
        "(if the model is meant to read (T, B), say so by forward=)"
    )
    norm = "a norm over the batch: dim=0, or BatchNorm, where the width is meant"
    placed = "positions added along the batch: the table's rows must meet axis 1 of (B, T, D)"
    experts = "experts of limited capacity, for which rows compete"
    only_place = max(*first, *last) <= exam.loose
    causes = (norm, axes, experts, placed)
    if only_place:
        causes = (placed, axes, norm, experts)
    elif max(first) <= exam.loose or attention_weights(subject, subject.inputs(0), {subject.B}):
        causes = (axes, norm, experts, placed)  # rows see the rows before them, or attention runs over rows
    return Finding(
        "neighbours",
        question,
        WRONG,
        moves(share) + (", by their place in the batch alone" if only_place else ""),
        share,
        causes,
        where,
        "compare model(ids)[1:2] with model(ids[1:2])",
    )


def _in_training(subject: Subject) -> Finding | None:
    """The same in training mode. From one seed, dropout is the same: only its neighbours can move a row's logits."""
    if not isinstance(subject.model, nn.Module):
        return None
    model = copy_of(subject.model).train()

    def logits(ids: Ids) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return replace(subject, model=model)(*ids)[:1]

    ids, others = subject.inputs(0), subject.inputs(1)
    try:
        before, again = logits(ids), logits(ids)
        after = logits(tuple(torch.cat([mine[:1], other[1:]]) for mine, other in zip(ids, others, strict=True)))
    except Exception:  # some answer otherwise in training
        return None
    if not torch.equal(before, again) or torch.allclose(before, after):
        return None
    return Finding(
        "neighbours",
        "Do the rows of a batch leave each other alone?",
        LOOK,
        "they do in evaluation, but not in training mode",
        movement(before, after),
        (
            "BatchNorm: in training its mean runs over the batch and all positions, the future among them",
            "it is meant: experts of limited capacity, for which rows compete",
        ),
        advice="a Transformer wants nn.LayerNorm, which knows one vector only",
    )


def leak_causes(softmaxes: list[Softmax], subject: Subject) -> tuple[str, ...]:
    """What makes a leak, judged by the weights of the attention layers from a sequence to itself."""
    layers = [seen for seen in softmaxes if seen.weights.shape[-2:] == (subject.T, subject.T)]
    axis = next((seen for seen in layers if seen.axis != -1), None)
    behind = (
        "tokens are mixed outside of the attention weights: heads split or merged by view without transpose, a norm "
        "over the positions, a convolution without its shift"
    )
    encoder = 'the model is meant to see both sides, as BERT is: then say kind="encoder"'
    if axis is not None:
        names = {-2: "queries", -3: "heads"}
        over = f"the softmax runs over dim={axis.axis} of (B, H, T, S), the {names.get(axis.axis, 'batch')}"
        return (f"{over}, in {axis.module or 'the forward'}: it must run over the keys, dim=-1", behind)
    if not layers:
        both = "a layer that reads both ways (bidirectional=True), or experts that choose their tokens"
        return ("nothing hides the future: no causal mask, or a turned or late one", behind, both, encoder)
    weights = layers[0].weights.flatten(0, -3).amax(dim=0)  # (T, T): the largest of all rows and heads
    above, below = weights.triu(1), weights.tril(-1)
    at = f"in {layers[0].module or 'the forward'}"
    if above.max() == 0:
        later = next((seen for seen in layers if seen.weights.triu(1).max() > 0), None)
        if later is not None:
            return (f"the mask is missing in {later.module}, and right in the layers before it", behind)
        return (behind, "the keys or values are those of another position (rolled, flipped, or offset by one)")
    if above.max() < 1e-3 * weights.max():
        return (f"the mask's fill is too weak, {at}: fill with −∞ or the smallest number of the precision", behind)
    if below[:-1].max() < 1e-6:  # an inverted mask leaves the last row nothing, and even weights
        return (f"the mask is inverted or transposed, {at}: the future is open and the past is closed", encoder)
    if above.triu(2).max() < 1e-6:
        return (f"the mask reaches one position too far, {at}: tril(diagonal=1) instead of 0", behind)
    if above[1:].max() < 1e-6:
        return (f"row 0 is masked entirely, {at}: the diagonal is excluded, and the softmax of equal numbers is even",)
    if layers[0].weights.std(dim=-1).max() < 1e-6:
        return (f"all weights are equal, {at}: the mask is multiplied into the scores, or its fill is 0 or 1e-9",)
    return (
        f"no mask, or one applied after the softmax, {at}: the scores of the future have their share in the sum",
        "the mask is multiplied into the scores, or its fill is near 0 instead of −∞",
        encoder,
        behind,
    )
