"""The probe `context`: does each part of the input matter, down to single tokens, positions and ids?

The figures are in the units of `exam`: 1 is what a change of all tokens does.
"""

import math
from functools import partial

import torch
from torch import Tensor

from tx_helpers.diagnose.exam import COARSE, TOO_COARSE, Exam, movement
from tx_helpers.diagnose.findings import LOOK, RIGHT, SKIPPED, WRONG, Finding
from tx_helpers.diagnose.subject import Subject
from tx_helpers.diagnose.watch import attention_weights


@torch.no_grad()
def context(exam: Exam) -> Finding:
    """Does all that is read matter: the tokens before the last position, those after the first, the source, each id?"""
    question = "Does each part of the input matter?"
    kind = exam.subject.kind

    def parts(subject: Subject) -> dict[str, float]:
        ids = subject.inputs(0)
        other = subject.others(ids[-1])
        base = subject(*ids)
        before = torch.cat([other[:, :-1], ids[-1][:, -1:]], dim=1)
        moved = {"earlier tokens": movement(subject(*ids[:-1], before)[:, -1], base[:, -1])}
        if kind == "encoder":
            after = torch.cat([ids[-1][:, :1], other[:, 1:]], dim=1)
            moved["later tokens"] = movement(subject(after)[:, 0], base[:, 0])
        if kind == "seq2seq":
            for s in range(subject.S):
                source = ids[0].clone()
                source[:, s] = subject.others(ids[0], source=True)[:, s]
                moved[f"source position {s}"] = movement(subject(source, ids[1]), base)
        return moved

    moved: dict[str, float] = {}
    live = [subject for subject in exam.versions if exam.scale(subject) > 0]
    for subject in live:
        for name, share in parts(subject).items():
            moved[name] = max(moved.get(name, 0.0), share / exam.scale(subject))
    deaf = [name for name, share in moved.items() if share <= exam.loose]
    least = min(moved.values(), default=0.0)
    if exam.subject.dtype in COARSE:
        return Finding("context", question, *((SKIPPED, TOO_COARSE) if deaf else (RIGHT, "all of it does", least)))
    if moved and not deaf:
        return _single_tokens(exam, live) or Finding("context", question, RIGHT, "all of it does", least)
    if not moved or "earlier tokens" in deaf:
        found = "earlier tokens do not: each answer depends on its own token alone" if moved else "nothing does"
    elif len(deaf) == sum(name.startswith("source") for name in moved):
        found = "the source does not"
    else:
        found = f"{', '.join(deaf)}: no influence"
    return Finding(
        "context",
        question,
        WRONG,
        found,
        least,
        (
            "the output of an attention layer is not used: a forgotten sum, a result overwritten",
            "the mask closes what should be open (inverted, or the diagonal alone is left)",
            "cross-attention is given the target in place of the memory",
            "an encoder runs with a causal mask",
        ),
        advice="print the attention weights: every row must reach what its position may see",
    )


def _single_tokens(exam: Exam, live: list[Subject]) -> Finding | None:
    """What is found token by token, where the parts of the input all matter: ids, positions, a one-eyed encoder."""
    found, question = partial(Finding, "context"), "Does each part of the input matter?"
    alike = _alike(live[0], exam.tolerance * exam.scale(live[0]))
    if len(alike) > 1 and alike == _ids_to_compare(live[0]).tolist():
        return found(
            question,
            WRONG,
            "the token just read does not: its logits do not change with it",
            0.0,
            (
                "the logits come one position late: the input is shifted inside of the model, or the output is rolled",
                "the diagonal is masked, and no residual connection carries the token itself",
            ),
            advice="change the last id alone, and look at the last logits",
        )
    if alike:
        return found(
            question,
            WRONG,
            f"ids {', '.join(map(str, alike[:6]))}{' …' if len(alike) > 6 else ''} are read as if they were one",
            0.0,
            (
                "ids are cut or wrapped on their way to the embedding: clamp, %, an integer type that is too small",
                "rows of the embedding are equal: it was filled with one number",
            ),
            advice="compare the logits of [[0, 1, 2]] and [[0, 1, 3]]",
        )
    skipped = _gap(live)
    if skipped:
        return found(
            question,
            LOOK,
            f"positions {', '.join(map(str, skipped))} have no influence on the last, and earlier ones have",
            0.0,
            (
                "keys are lost on their way: attention is given one position only, or every second one",
                "it is meant: strided attention, or convolutions with gaps",
            ),
            advice="print the last row of the attention weights",
        )
    layers = attention_weights(exam.subject, exam.subject.inputs(0), {exam.subject.S})
    if exam.subject.kind == "seq2seq" and layers and all(seen.weights.triu(1).max() == 0 for seen in layers):
        return found(
            question,
            LOOK,
            "yes, but no source token sees a later one",
            0.0,
            (
                f"the encoder runs with the decoder's causal mask, in {layers[0].module or 'the forward'}",
                "it is meant: the source is read in one direction",
            ),
            advice="give the encoder no mask but that of the padding",
        )
    return None


def _ids_to_compare(subject: Subject) -> Tensor:
    """Some two dozen ids, the last two among them."""
    allowed = subject.allowed(subject.V)
    return allowed[[*torch.linspace(0, len(allowed) - 1, 24).long().tolist(), -2]].unique()


def _alike(subject: Subject, tolerance: float) -> list[int]:
    """The ids that stand for the same: the last token is each of some ids in turn, and the logits are equal."""
    ids, chosen = subject.inputs(0), _ids_to_compare(subject)
    answers = []
    for some in chosen.split(subject.B):  # a row for each id
        rows = [x[:1].repeat(len(some), 1) for x in ids]
        rows[-1][:, -1] = some.to(rows[-1].device)
        answers.append(subject(*rows)[:, [0, -1]].flatten(1))
    answers = torch.cat(answers).double()
    distances = torch.cdist(answers, answers, p=math.inf).fill_diagonal_(math.inf)
    return chosen[(distances.amin(dim=1) <= tolerance).cpu()].tolist()


def _gap(live: list[Subject]) -> list[int]:
    """Positions without influence on the last logits though an earlier one has some: so it is not with a window."""
    heard = set()
    for subject in live:
        *source, ids = subject.inputs(0)
        base, other = subject(*source, ids)[:, -1], subject.others(ids)
        for t in range(subject.T - 1):
            changed = torch.where(torch.arange(subject.T, device=ids.device) == t, other, ids)
            if movement(subject(*source, changed)[:, -1], base) > 0:
                heard.add(t)
    return [t for t in range(min(heard, default=0), live[0].T - 1) if t not in heard]
