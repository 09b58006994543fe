"""Probes of padding: it must not move the logits at real tokens, and a row of nothing else must do no harm.

The figures are in the units of `exam`: 1 is what a change of all tokens does.
"""

import torch

from tx_helpers.diagnose.exam import Exam, movement, moves
from tx_helpers.diagnose.findings import LOOK, RIGHT, SKIPPED, WRONG, Finding
from tx_helpers.diagnose.subject import Ids, Subject
from tx_helpers.diagnose.watch import attention_weights, first_to_move


@torch.no_grad()
def padding(exam: Exam) -> Finding:
    """Three ids of padding more, at the side where padding stands: the logits at the real tokens must not move."""
    question = "Does padding leave the real tokens alone?"
    if exam.subject.pad_id is None:
        return Finding("padding", question, SKIPPED, "say which id is padding: pad_id=")
    side = exam.pad_side

    def longer(subject: Subject) -> tuple[Ids, Ids]:
        ids = subject.inputs(0)
        pads = ids[0].new_full((subject.B, 3), subject.pad_id)
        padded = torch.cat([ids[0], pads] if side == "right" else [pads, ids[0]], dim=1)
        return ids, (padded, *ids[1:])

    def differ(subject: Subject) -> float:
        ids, padded = longer(subject)
        logits, T = subject(*padded), subject.T
        if subject.kind != "seq2seq":
            logits = logits[:, :T] if side == "right" else logits[:, -T:]
        return movement(subject(*ids), logits)

    shares = exam.shares(differ)
    share = max(shares)
    if share <= exam.loose:
        return Finding("padding", question, RIGHT, f"it does, at the {side}", share)
    subject = exam.first_above(shares, exam.loose)
    ids, padded = longer(subject)
    comparable = subject.kind == "seq2seq" or side == "right"
    return Finding(
        "padding",
        question,
        WRONG,
        f"{moves(share)} when three ids of padding are added at the {side}",
        share,
        padding_causes(subject, padded),
        first_to_move(subject, ids, padded, columns=subject.T) if comparable else "",
        "compare the logits of a short row alone with those beside a long one",
    )


def padding_causes(subject: Subject, padded: Ids) -> tuple[str, ...]:
    """Why padding has influence, judged by the attention weights on it (where padding is in the past, or no mask)."""
    missing = "the padding mask is missing in an attention layer (the cross-attention needs the source's mask, too)"
    inverted = "the padding mask is inverted: nn.MultiheadAttention's True hides, the course's True shows"
    other = (
        "padding counts as a position: at the left, real tokens must still be numbered from 0",
        "padding enters a mean or a norm over the positions",
    )
    nothing = "a row at padding sees nothing, and −∞ makes it NaN, which the next layer spreads: give it zeros"
    pads = padded[0][0] == subject.pad_id  # (S + 3,): the same in all rows
    real_rows = ~pads if subject.kind != "seq2seq" else slice(None)
    seen = attention_weights(subject, padded, {subject.T, len(pads)})
    for layer in (layer for layer in seen if layer.weights.shape[-1] == len(pads)):
        at = f", in {layer.module or 'the forward'}"
        if layer.weights.isnan().any():
            return (nothing + at, missing, inverted)
        weights = layer.weights.flatten(0, -3)
        weights = weights[:, real_rows] if weights.shape[1] == len(pads) else weights
        if weights[..., pads].max() > 1e-9:
            mostly = weights[..., ~pads].max() < 1e-6
            return (inverted + at, missing + at, *other) if mostly else (missing + at, inverted + at, *other)
    return (*other, missing, inverted) if seen else (missing, inverted, *other)


@torch.no_grad()
def empty_row(exam: Exam) -> Finding:
    """One row of the batch is nothing but padding: is anything NaN?"""
    question = "Does a row of nothing but padding do harm?"
    subject = exam.subject
    if subject.pad_id is None:
        return Finding("empty row", question, SKIPPED, "say which id is padding: pad_id=")
    ids = subject.inputs(0)
    blank = ids[0].clone()
    blank[0] = subject.pad_id
    bad = ~subject(blank, *ids[1:]).isfinite().all(dim=-1)  # (B, T)
    if not bad.any():
        return Finding("empty row", question, RIGHT, "it does not", 0.0)
    return Finding(
        "empty row",
        question,
        WRONG if bad[1:].any() else LOOK,
        "it makes NaN" + (", in other rows, too" if bad[1:].any() else " of itself"),
        bad.double().mean().item(),
        (
            "all of its keys are masked by −∞, and the softmax of that is 0/0; harmless only if there is no such row, "
            "because a NaN in one row makes every gradient NaN",
        ),
        advice="set the weights of a fully masked row to 0, or fill with a large finite number",
    )
