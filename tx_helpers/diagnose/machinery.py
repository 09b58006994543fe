"""Probes of the machinery: do the parameters learn, are they all known, is attention soft, does the cache agree?"""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.exam import Exam, movement, moves, next_token_loss
from tx_helpers.diagnose.findings import LOOK, RIGHT, SKIPPED, WRONG, Finding
from tx_helpers.diagnose.subject import Ids, Subject, copy_of, subject_options
from tx_helpers.diagnose.watch import attention_weights, softmaxes

NONE, ZERO = "none at all", "exactly 0"
STEPS = 6  # a zero-initialised output and a zero-initialised projection before it hide what is behind them for two


def gradients(exam: Exam) -> Finding:
    """A few steps of training on a copy: does every parameter get a gradient, sooner or later?"""
    question = "Does every parameter get a gradient?"
    if not isinstance(exam.subject.model, nn.Module):
        return Finding("gradients", question, SKIPPED, "a function; hand over the nn.Module")
    copied = replace(exam.subject, model=copy_of(exam.subject.model))
    named = {name: p for name, p in copied.model.named_parameters() if p.requires_grad}
    frozen = [name for name, p in copied.model.named_parameters() if not p.requires_grad]
    if not named:
        return Finding("gradients", question, SKIPPED, "no parameter asks for one (requires_grad)")
    reached: dict[str, float] = {}
    optimizer = torch.optim.Adam(named.values(), lr=1e-3)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = next_token_loss(copied, copied.inputs(200 + step))
        if not loss.requires_grad:
            break
        loss.backward()
        for name, parameter in named.items():
            if parameter.grad is not None:
                reached[name] = max(reached.get(name, 0.0), parameter.grad.abs().nan_to_num(nan=math.inf).max().item())
        optimizer.step()
    unused = [name for name in named if name not in reached]
    zero = [name for name, largest in reached.items() if largest == 0]
    broken = [name for name, largest in reached.items() if largest == math.inf]
    equal = [name for name in reached if reached[name] > 0 and _is_one_row(named[name])]
    faults = ((unused, NONE), (zero, ZERO), (broken, "NaN or infinity"), (equal, "the same in all rows"))
    told = [f"{what} for {_some(names)}" for names, what in faults if names]
    if not told:
        apart = f"; frozen (requires_grad=False): {_some(frozen)}" if frozen else ""
        return Finding("gradients", question, RIGHT, f"all {len(named)} do within {STEPS} steps{apart}", 0.0)
    causes = {
        NONE: "made in __init__ and not used in the forward, or cut off by detach(), .data or no_grad",
        ZERO: "two factors that both begin at 0 (W_q = W_k = 0: each waits for the other for ever), a ReLU that "
        "is never open, an output that is multiplied by 0, or an expert that no token chose",
        "NaN or infinity": "the root or the logarithm of 0, or a fully masked row hidden in the forward alone",
        "the same in all rows": "a matrix filled with one number: its rows get one gradient, and stay one row for ever",
    }
    inputs = subject_options(exam.subject)
    optional = [f"it is meant: used with other inputs only ({_some(inputs)})"] if inputs and faults[0][0] else []
    return Finding(
        "gradients",
        question,
        LOOK if optional and len(told) == 1 else WRONG,
        "; ".join(told),
        float(len(unused) + len(zero) + len(broken) + len(equal)),
        (*(causes[what] for names, what in faults if names), *optional),
        _some([*unused, *zero, *broken, *equal]),
        "after loss.backward() print the names of parameters whose .grad is None or all 0",
    )


def _is_one_row(parameter: Tensor) -> bool:
    """Are all rows of a matrix the same, after steps that should have told them apart?"""
    return parameter.dim() == 2 and len(parameter) > 1 and bool((parameter == parameter[:1]).all())


def parameters(exam: Exam) -> Finding:
    """Walk the graph of the loss: is every tensor that it trains among `model.parameters()`?"""
    question = "Does model.parameters() have all that the logits depend on?"
    subject = exam.own
    if not isinstance(subject.model, nn.Module):
        return Finding("parameters", question, SKIPPED, "a function; hand over the nn.Module")
    known = {id(parameter) for parameter in subject.model.parameters()}
    lost = [tensor for tensor in leaves(next_token_loss(subject, subject.inputs(0))) if id(tensor) not in known]
    if not lost:
        return Finding("parameters", question, RIGHT, f"all {len(known)}", 0.0)
    return Finding(
        "parameters",
        question,
        WRONG,
        f"it lacks {len(lost)} tensors with {sum(tensor.numel() for tensor in lost):,} numbers",
        float(len(lost)),
        (
            "layers kept in a Python list or dict: no optimizer trains them, .to(device) and state_dict leave them out",
            "tensors with requires_grad=True that are not nn.Parameter",
        ),
        f"tensors of shape {', '.join(sorted({str(tuple(tensor.shape)) for tensor in lost}))}",
        "use nn.ModuleList, nn.ModuleDict and nn.Parameter, and count the parameters against the formula",
    )


def leaves(loss: Tensor) -> list[Tensor]:
    """The trainable tensors that a loss was computed from."""
    found, seen, todo = [], set(), [loss.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo += [before for before, _ in node.next_functions]
    return found


@torch.no_grad()
def attention(exam: Exam) -> Finding:
    """The entropy of the attention weights, as a share of even weights'; and over which axis they sum."""
    question = "Is attention soft, and does it sum to 1 over the keys?"
    subject = exam.subject
    layers = [seen for seen in attention_weights(subject, subject.inputs(0))]
    if not layers:
        return Finding("attention", question, SKIPPED, "no softmax to be seen: a function of one's own, or compiled")
    odd = next((seen for seen in layers if seen.axis != -1), None)
    if odd is not None:
        return Finding(
            "attention",
            question,
            LOOK,
            f"a softmax runs over dim={odd.axis} of {tuple(odd.weights.shape)}",
            float(odd.axis),
            ("over the queries (dim=-2) or the heads (dim=-3), where (B, H, T, S) asks for the keys, dim=-1",),
            odd.module,
            "weights.sum(dim=-1) must be 1 everywhere",
        )
    softness = {f"{n}: {seen.module}": evenness(seen.weights) for n, seen in enumerate(layers)}
    softness = {name: value for name, value in softness.items() if value is not None}
    if not softness:
        return Finding("attention", question, SKIPPED, "no query sees enough keys to tell")
    name, least = min(softness.items(), key=lambda pair: pair[1])
    figure = f"entropy {least:.2f} of the largest possible, in the sharpest of {len(layers)} layers"
    if exam.trained or least >= SOFT:
        return Finding("attention", question, RIGHT, figure, least)
    return Finding(
        "attention",
        question,
        LOOK if exam.trained is None else WRONG,
        figure,
        least,
        (
            *(
                ()
                if exam.trained is False
                else ("the model is trained, and its heads are sharp: then say trained=True",)
            ),
            "the scores are not divided by √K, or multiplied by it: they grow with the width K of a head",
            "queries and keys are large: embeddings of deviation 1 or more without a norm before the attention",
        ),
        name.partition(": ")[2],
        "print the deviation of the scores before the softmax: about 1 in a fresh model",
    )


SOFT = 0.6  # measured in fresh models: right ones (33, three lengths) at least 0.76, without √K (K = 16) 0.40


def evenness(weights: Tensor) -> float | None:
    """Mean over rows of entropy / ln n, n the keys that a row sees; 1: even, 0: one key has all. None: n < 4 always."""
    seen = weights > 0
    n = seen.sum(dim=-1)
    entropy = -torch.where(seen, weights * weights.clamp(min=1e-45).log(), 0.0).sum(dim=-1)
    share = entropy / n.clamp(min=2).log()
    return share[n >= 4].mean().item() if (n >= 4).any() else None


@torch.no_grad()
def cached(exam: Exam) -> Finding:
    """Fed piece by piece with a cache: the same logits as all at once."""
    question = "Do cached and uncached logits agree?"
    subject = exam.subject
    if subject.kind == "encoder" or begin_decoding(exam, subject, subject.inputs(0)) is None:
        why = "an encoder does not decode" if subject.kind == "encoder" else "no cache known: say decoding="
        return Finding("cached", question, SKIPPED, why)

    def differ(subject: Subject) -> tuple[Tensor, Tensor]:
        ids = subject.inputs(0)
        feed = begin_decoding(exam, subject, ids)
        T = subject.T
        lengths = [T // 2, 1, 2, *[1] * (T - T // 2 - 3)]
        pieces = torch.cat([feed(piece) for piece in ids[-1].split(lengths, dim=1)], dim=1)
        whole = subject(*ids)
        if pieces.shape != whole.shape:
            raise ValueError(f"the cache gave logits {tuple(pieces.shape)}, expected {tuple(whole.shape)}")
        return pieces, whole

    shares = exam.shares(lambda subject: movement(*differ(subject)))
    share = max(shares)
    if share <= exam.loose:
        return Finding("cached", question, RIGHT, "they do", share)
    subject = exam.first_above(shares, exam.loose)
    pieces, whole = differ(subject)
    apart = [movement(pieces[:, t], whole[:, t]) / exam.scale(subject) > exam.loose for t in range(subject.T)]
    t = apart.index(True)
    early = t < subject.T // 2 and not exam.leaks  # in the first piece, before which the cache is empty
    positions = "the position of a new token starts at 0 again: add the number of tokens that are in the cache"
    mask = "the causal mask is aligned top-left: with S > T keys the last query must see all of them"
    return Finding(
        "cached",
        question,
        WRONG,
        moves(share, "differ") + ("" if exam.leaks else f", first at position {t}"),
        share,
        (
            *(["the first piece is read wrongly: the cache is not empty at first, or loses tokens"] if early else []),
            *(["the leak from the future, see above: a cache has no future to look at"] if exam.leaks else []),
            *((mask, positions) if _blind_to_itself(exam, subject) else (positions, mask)),
            "keys are cached before rotary turns them by their own position, or turned twice",
            "the cache is filled in another order, or shared between layers or calls",
        ),
        advice="feed one token at a time, and find the first position that differs",
    )


def _blind_to_itself(exam: Exam, subject: Subject) -> bool:
    """Does the query of a single new token fail to see its own key, the last one?"""
    ids = subject.inputs(0)
    feed = begin_decoding(exam, subject, ids)
    feed(ids[-1][:, :4])
    with softmaxes(subject.model) as seen:
        feed(ids[-1][:, 4:5])
    return any((softmax.weights[..., -1] == 0).all() for softmax in seen if softmax.weights.shape[-2:] == (1, 5))


def begin_decoding(exam: Exam, subject: Subject, ids: Ids) -> Callable[[Tensor], Tensor] | None:
    """A function that is fed pieces (B, t) and gives their logits; None where the model has no cache that we know."""
    first = ids[0] if subject.kind == "seq2seq" else ids[0].shape[0]
    if exam.decoding is not None:
        return exam.decoding(subject.model, first).step
    if hasattr(subject.model, "start"):
        return subject.model.start(first).step
    return subject.library_cache(ids)


def _some(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
