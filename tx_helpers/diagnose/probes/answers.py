"""Probes of a model's answers: finite, repeatable, dependent on the order, no better than chance on random tokens."""

import math

import torch
from torch import Tensor

from tx_helpers.diagnose.examination import TOO_COARSE, Examination, moves
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import Ids, Subject
from tx_helpers.diagnose.untouched import held_modules
from tx_helpers.diagnose.versions import COARSE, EQUAL_SHAPES, movement
from tx_helpers.diagnose.watch import attention_weights, first_broken, first_to_move, no_fast_path, random_operations


@torch.no_grad()
def numbers(exam: Examination) -> Result:
    """NaN or infinity among the logits, in the model's own precision?"""
    subject, ids = exam.own, exam.own.inputs(0)
    bad = ~subject(*ids).isfinite().all(dim=-1)  # (B, T)
    if not bad.any():
        return Result(RIGHT, "all of them", 0.0)
    share = bad.double().mean().item()
    positions = sorted({t for _, t in bad.nonzero().tolist()})
    where = "all positions" if len(positions) == subject.T else f"positions {', '.join(map(str, positions))}"
    layers = attention_weights(subject, ids)
    broken = next((layer for layer in layers if layer.weights.isnan().any()), None)

    masks = ("masked row", "axis") if broken is None or broken.axis == -1 else ("axis", "masked row")
    causes: tuple[str, ...] = (
        (*masks, "size", "diverged") if broken is not None or not layers else ("size", *masks, "diverged")
    )
    parameters = [parameter for module in held_modules(subject.model) for parameter in module.parameters()]
    with no_fast_path():
        without_kernel = subject(*ids)
    if any(not parameter.isfinite().all() for parameter in parameters):
        causes = ("diverged", *masks, "size")
    elif without_kernel.isfinite().all():
        causes = ("kernel", *causes)
    place = first_broken(subject, ids)
    if broken is not None:
        place = f"{broken.module or 'the forward'}: the first softmax with NaN"
    return Result(WRONG, f"{share:.0%} of the rows hold NaN or infinity ({where})", share, causes, place)


@torch.no_grad()
def repeat(exam: Examination) -> Result:
    """The same ids twice, with others in between."""
    subject, ids, others = exam.own, exam.own.inputs(0), exam.own.inputs(3)
    first = subject(*ids)
    subject(*others)
    second = subject(*ids)
    share = 0.0 if torch.equal(first, second) else movement(first, second) / max(exam.scale(subject), 1e-30)
    if share <= EQUAL_SHAPES.get(subject.dtype, 1e-5):
        return Result(RIGHT, "they do", 0.0)
    causes = ("memory", "dropout", "random")
    if torch.equal(_from_one_seed(subject, others, ids), _from_one_seed(subject, ids, ids)):
        with random_operations(subject.model) as operations:
            subject(*ids)
        dropout = any("dropout" in name or "bernoulli" in name for name in operations) or not operations
        causes = ("dropout", "random", "memory") if dropout else ("random", "dropout", "memory")
    return Result(WRONG, moves(share, "differ"), share, causes, first_to_move(subject, ids, ids, columns=subject.T))


def _from_one_seed(subject: Subject, before: Ids, ids: Ids) -> Tensor:
    """The logits after other ids, all random numbers from a fixed seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        subject(*before)
        return subject(*ids)


@torch.no_grad()
def order(exam: Examination) -> Result:
    """The tokens before the last one in reverse order (the source's of a sequence-to-sequence model): must move."""

    def reversed_ids(subject: Subject) -> Ids:
        first, *target = subject.inputs(0)
        if target:
            return first.flip(1), *target
        return (torch.cat([first[:, :-1].flip(1), first[:, -1:]], dim=1),)

    def moved(subject: Subject) -> float:
        return movement(subject(*subject.inputs(0))[:, -1], subject(*reversed_ids(subject))[:, -1])

    share = max(exam.share(subject, moved(subject)) for subject in exam.versions)
    causes = ("never", "equal", "rotary")
    if share <= exam.loose:
        if exam.subject.dtype in COARSE:
            return Result(SKIPPED, TOO_COARSE)
        return Result(WRONG, "it does not: any order gives the same", share, causes)
    subject = exam.versions[min(1, len(exam.versions) - 1)]
    alike, compared = _positions_alike(subject)
    if alike and alike == compared:
        figure = "only from the second layer on, by the causal mask: the first attention knows no positions"
        return Result(LOOK, figure, share, (*causes, "meant"))
    if alike:
        places = ", ".join(map(str, alike))
        figure = f"not everywhere: the first attention cannot tell positions {places} from the ones after them"
        return Result(WRONG, figure, share, ("alike", *causes), values={"alike": places})
    return Result(RIGHT, "it does", share)


def _positions_alike(subject: Subject) -> tuple[list[int], list[int]]:
    """Positions t whose tokens may change places with those at t + 1: the first attention's weights go with them.

    The weights are those of the query at t + 2. Also returned: the positions that could be compared.
    """
    ids = [x[:1] for x in subject.inputs(0)]
    S = ids[0].shape[1]
    rows = S + 1  # not S, so that mixed-up axes do not fit by chance; the last rows stay as they are
    ids[0] = ids[0].repeat(rows, 1)  # row t: the tokens at t and t + 1 change places
    for t in range(S - 1):
        ids[0][t, [t, t + 1]] = ids[0][t, [t + 1, t]]
    ids[1:] = [x.repeat(rows, 1) for x in ids[1:]]
    layers = attention_weights(subject, tuple(ids), {S})
    if not layers or len(layers[0].weights) != rows:
        return [], []
    weights = layers[0].weights.view(rows, -1, *layers[0].weights.shape[-2:])  # (rows, H, queries, keys)
    alike, compared = [], []
    for t in range(S - 2):
        before, after = weights[-1, :, t + 2, t : t + 2], weights[t, :, t + 2, t : t + 2]  # (H, 2)
        difference = (before[:, 0] - before[:, 1]).abs().max().item()
        if difference > 1e-6 and before.max() > 1e-3:
            compared.append(t)
            if movement(before.flip(-1), after) <= 1e-4 * difference:
                alike.append(t)
    return alike, compared


MORE_AT_FIRST = 1.5  # nats above ln V; measured in fresh models: right ones (51) at most 0.81


@torch.no_grad()
def start(exam: Examination) -> Result:
    """The loss on random tokens against ln V, which no model can beat and an untrained one should have."""
    subject = exam.subject
    ids = subject.inputs(4, rows=8)
    log_p = subject(*ids).double().log_softmax(dim=-1)  # (B, T, V)
    uniform = math.log(log_p.shape[-1])
    if subject.kind != "encoder":
        known = -log_p[:, :-1].gather(-1, ids[-1][:, 1:, None]).mean().item()
        if known < 0.5 * uniform:
            figure = f"{known:.2f} on the random tokens that follow; ln V is {uniform:.2f}"
            return Result(WRONG, figure, known, ("leak",))
    expected = -log_p.mean().item()  # over all V next tokens alike: at least ln V
    figure = f"{expected:.2f}, ln V is {uniform:.2f}"
    if exam.trained or expected <= min(2 * uniform, uniform + MORE_AT_FIRST):
        return Result(RIGHT, figure + (" (the model is trained)" if exam.trained else ""), expected)
    if exam.trained is None:
        return Result(LOOK, figure, expected, ("trained", "large", "scale"))
    return Result(WRONG if expected > 2 * uniform else LOOK, figure, expected, ("large", "scale"))


@torch.no_grad()
def logits(exam: Examination) -> Result:
    """Are the logits probabilities already?"""
    answer = exam.subject(*exam.subject.inputs(0)).double()
    sums = answer.sum(dim=-1)
    if answer.min() < 0 or movement(sums, torch.ones_like(sums)) >= 1e-3:
        return Result(RIGHT, "they are", 0.0)
    least = math.log(math.e + answer.shape[-1] - 1) - 1
    where = "the last lines of the forward"
    return Result(WRONG, "no: all are ≥ 0 and each row sums to 1", 1.0, where=where, values={"least": least})


@torch.no_grad()
def echo(exam: Examination) -> Result:
    """Does the model answer with the token that it has just read?"""
    if exam.subject.kind == "encoder":
        return Result(SKIPPED, "an encoder may well name the token that it reads")
    ids = exam.subject.inputs(5, rows=8)
    answer, read = exam.subject(*ids).double(), ids[-1][..., None]
    p = answer.softmax(dim=-1).gather(-1, read).mean().item()
    named = (answer.argmax(dim=-1, keepdim=True) == read).double().mean().item()
    if named < 0.9 or (
        not exam.trained and p < 0.5
    ):  # with a tied output a fresh model names it, but is not sure of it
        return Result(RIGHT, "it does", p)
    figure = f"it names the token just read at {named:.0%} of the positions, though random tokens seldom come twice"
    if exam.trained:
        return Result(WRONG, figure, named, ("unshifted",))
    return Result(LOOK, figure, named, ("tied",) if exam.trained is False else ())
