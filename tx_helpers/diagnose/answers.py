"""Probes of what a model answers: finite, the same twice, by the order of the tokens, no better than chance on chance.

The figures are in the units of `exam`: 1 is what a change of all tokens does.
"""

import math

import torch

from tx_helpers.diagnose.exam import COARSE, EQUAL_SHAPES, TOO_COARSE, Exam, movement, moves
from tx_helpers.diagnose.findings import LOOK, RIGHT, SKIPPED, WRONG, Finding
from tx_helpers.diagnose.subject import Ids, Subject
from tx_helpers.diagnose.untouched import held_modules
from tx_helpers.diagnose.watch import attention_weights, first_broken, first_to_move, no_fast_path


@torch.no_grad()
def numbers(exam: Exam) -> Finding:
    """NaN or infinity among the logits, in the model's own precision?"""
    logits = exam.own(*exam.own.inputs(0))
    question = "Are all logits finite?"
    bad = ~logits.isfinite().all(dim=-1)  # (B, T)
    if not bad.any():
        return Finding("numbers", question, RIGHT, "all of them", 0.0)
    places = sorted({t for _, t in bad.nonzero().tolist()})
    where = "all positions" if len(places) == logits.shape[1] else f"positions {', '.join(map(str, places))}"
    layers = attention_weights(exam.own, exam.own.inputs(0))
    broken = next((seen for seen in layers if seen.weights.isnan().any()), None)
    axis = "the softmax runs over the wrong axis, along which all is −∞ (over the heads: dim=1 instead of -1)"
    row = "a row of the scores is masked entirely, and the softmax of nothing but −∞ is 0/0: "
    row += "a mask inverted, or one that also excludes the diagonal"
    diverged = "parameters that are NaN themselves, after a training that diverged"
    other = "numbers too large for the precision (float16 ends at 65,504), a root or logarithm of 0, or 0/0"
    masks = (row, axis) if broken is None or broken.axis == -1 else (axis, row)
    causes = (*masks, other, diverged) if broken is not None or not layers else (other, *masks, diverged)
    held = [parameter for module in held_modules(exam.own.model) for parameter in module.parameters()]
    with no_fast_path():
        without_kernel = exam.own(*exam.own.inputs(0))
    if any(not parameter.isfinite().all() for parameter in held):
        causes = (diverged, *masks, other)
    elif without_kernel.isfinite().all():
        kernel = (
            "a mask of numbers, which PyTorch adds in training, while its fused kernel for evaluation hides all that "
        )
        causes = (kernel + "is not 0: hand over a boolean mask, True where nothing may be seen", *causes)
    return Finding(
        "numbers",
        question,
        WRONG,
        f"{bad.double().mean():.0%} of the rows hold NaN or infinity ({where})",
        bad.double().mean().item(),
        causes,
        f"{broken.module or 'the forward'}: the first softmax with NaN"
        if broken is not None
        else first_broken(exam.own, exam.own.inputs(0)),
        advice="print the mask of 4 positions: row t is what t may see, and its diagonal is open",
    )


@torch.no_grad()
def repeat(exam: Exam) -> Finding:
    """The same ids twice, with others in between."""
    subject, ids = exam.own, exam.own.inputs(0)
    question = "Do two evaluations of the same ids agree?"
    first = subject(*ids)
    subject(*subject.inputs(3))
    second = subject(*ids)
    share = movement(first, second) / max(exam.scale(subject), 1e-30) if not torch.equal(first, second) else 0.0
    if share <= EQUAL_SHAPES.get(subject.dtype, 1e-5):
        return Finding("repeat", question, RIGHT, "they do", 0.0)
    chance = (
        "dropout works during evaluation: no model.eval(), or F.dropout without training=self.training",
        "random numbers in the forward pass that are meant for training",
    )
    memory = "the model keeps something from call to call: a cache that is not emptied, statistics that are updated"
    return Finding(
        "repeat",
        question,
        WRONG,
        moves(share, "differ"),
        share,
        (*chance, memory) if _only_chance(subject, ids, subject.inputs(3)) else (memory, *chance),
        first_to_move(subject, ids, ids, columns=subject.T),
        "call model.eval() before every evaluation, and model.train() after it",
    )


def _only_chance(subject: Subject, ids: Ids, others: Ids) -> bool:
    """From one seed, are the logits the same after other ids and after the same ones?"""
    answers = []
    for before in (others, ids):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            subject(*before)
            answers.append(subject(*ids))
    return torch.equal(*answers)


@torch.no_grad()
def order(exam: Exam) -> Finding:
    """The tokens before the last one in reverse order (the source's of a sequence-to-sequence model): must move."""
    question = "Does the order of the tokens matter?"
    kind = exam.subject.kind

    def turned(subject: Subject) -> tuple[Ids, Ids]:
        ids = subject.inputs(0)
        if kind == "seq2seq":
            return ids, (ids[0].flip(1), ids[1])
        return ids, (torch.cat([ids[0][:, :-1].flip(1), ids[0][:, -1:]], dim=1),)

    def moved(subject: Subject) -> float:
        one, other = turned(subject)
        return movement(subject(*one)[:, -1], subject(*other)[:, -1])

    share = max(exam.shares(moved))
    if share <= exam.loose and exam.subject.dtype in COARSE:
        return Finding("order", question, SKIPPED, TOO_COARSE)
    causes = (
        "positions are never added, or added and then overwritten",
        "the position table is all zero, or all its rows are equal",
        "rotary: queries and keys are rotated by one angle at all positions",
    )
    advice = "compare the last logits of 'a b c' and 'b a c'"
    if share <= exam.loose:
        return Finding("order", question, WRONG, "it does not: any order gives the same", share, causes, advice=advice)
    subject = exam.versions[min(1, len(exam.versions) - 1)]
    if not _first_attention_is_blind(subject, *turned(subject)):
        return Finding("order", question, RIGHT, "it does", share)
    return Finding(
        "order",
        question,
        LOOK,
        "only from the second layer on, by the causal mask: the first attention knows no positions",
        share,
        (*causes, "it is meant: causal models learn without positions, too, only worse (NoPE)"),
        advice=advice,
    )


def _first_attention_is_blind(subject: Subject, one: Ids, other: Ids) -> bool:
    """Do the first layer's weights of the last query follow the tokens wherever they stand?"""
    S = one[0].shape[1]
    firsts = [
        next((seen.weights for seen in attention_weights(subject, ids) if seen.weights.shape[-2:] == (S, S)), None)
        for ids in (one, other)
    ]
    if any(first is None for first in firsts):
        return False
    a, b = (first[..., -1, :-1] for first in firsts)
    uneven = a.std(dim=-1).max().item()
    return uneven > 1e-6 and movement(a.flip(-1), b) <= 1e-4 * uneven


@torch.no_grad()
def start(exam: Exam) -> Finding:
    """The loss on random tokens against ln V, which nobody can beat and the untrained model should have."""
    question = "Is the loss on random tokens about ln V?"
    subject = exam.subject
    ids = subject.inputs(4, rows=8)
    log_p = subject(*ids).double().log_softmax(dim=-1)  # (B, T, V)
    V = log_p.shape[-1]
    expected = -log_p.mean().item()  # over all V next tokens alike: at least ln V
    figure = f"{expected:.2f}, ln V is {math.log(V):.2f}"
    if subject.kind != "encoder":
        known = -log_p[:, :-1].gather(-1, ids[-1][:, 1:, None])
        if known.mean() < 0.5 * math.log(V):
            return Finding(
                "start",
                question,
                WRONG,
                f"{known.mean():.2f} on the random tokens that follow; ln V is {math.log(V):.2f}",
                known.mean().item(),
                ("the model sees the token that it is asked for: a leak from the future",),
                advice="read the verdict of the probes future and prefix",
            )
    if exam.trained or expected <= 2 * math.log(V):
        return Finding("start", question, RIGHT, figure + (" (the model is trained)" if exam.trained else ""), expected)
    return Finding(
        "start",
        question,
        LOOK if exam.trained is None else WRONG,
        figure,
        expected,
        (
            *(() if exam.trained is False else ("the model is trained, and sure of itself: then say trained=True",)),
            "the first logits are too large: their deviation σ costs about σ²/2; nn.Embedding begins with deviation 1, "
            "which is too much for a tied output",
            "a scale at the output (√D) that belongs to the input",
        ),
        advice="print logits.std() of the fresh model: it should be near 1 or below",
    )


@torch.no_grad()
def logits(exam: Exam) -> Finding:
    """Are the logits probabilities already?"""
    question = "Are the logits free of a softmax?"
    answer = exam.subject(*exam.subject.inputs(0)).double()
    sums = answer.sum(dim=-1)
    if answer.min() >= 0 and movement(sums, torch.ones_like(sums)) < 1e-3:
        return Finding(
            "logits",
            question,
            WRONG,
            "no: all are ≥ 0 and each row sums to 1",
            1.0,
            (
                "a softmax at the model's end: the loss applies another one, starts at ln V, and can hardly fall "
                f"(not below {math.log(math.e + answer.shape[-1] - 1) - 1:.2f} here)",
            ),
            "the last lines of the forward",
            "return the logits themselves; F.cross_entropy wants those",
        )
    return Finding("logits", question, RIGHT, "they are", 0.0)


@torch.no_grad()
def echo(exam: Exam) -> Finding:
    """Does the model answer with the token that it has just read?"""
    question = "Does it do more than repeat the token it reads?"
    if exam.subject.kind == "encoder":
        return Finding("echo", question, SKIPPED, "an encoder may well name the token that it reads")
    ids = exam.subject.inputs(5, rows=8)
    p = exam.subject(*ids).double().softmax(dim=-1).gather(-1, ids[-1][..., None]).mean().item()
    if p < 0.9:
        return Finding("echo", question, RIGHT, "it does", p)
    return Finding(
        "echo",
        question,
        LOOK if exam.trained is None else WRONG,
        f"it gives the token just read {p:.0%}, though random tokens seldom come twice",
        p,
        (
            "trained on targets that are not shifted: it was asked for what it reads, and the loss fell to 0",
            "an untrained model with a tied output and large embeddings, whose stream still holds its own token",
        ),
        advice="hand over the batches: diagnose(model, data=batches) compares inputs and targets",
    )
