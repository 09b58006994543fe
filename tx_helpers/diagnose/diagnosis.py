"""The probes in the order of the report, and `diagnose`, which runs them on a model."""

import warnings
from collections.abc import Callable
from typing import Any

from torch import nn

from tx_helpers.diagnose.examination import Examination
from tx_helpers.diagnose.probes import answers, caches, context, leaks, padding, training
from tx_helpers.diagnose.probes import data as batches
from tx_helpers.diagnose.reasons import REASONS
from tx_helpers.diagnose.report import SKIPPED, Report, Result
from tx_helpers.diagnose.subject import new_subject, short_error
from tx_helpers.diagnose.untouched import untouched
from tx_helpers.training.contexts import cpu_threads

PROBES: dict[str, Callable[[Examination], Result]] = {
    "numbers": answers.numbers,
    "repeat": answers.repeat,
    "future": leaks.future,
    "prefix": leaks.prefix,
    "neighbours": leaks.neighbours,
    "padding": padding.padding,
    "empty row": padding.empty_row,
    "context": context.context,
    "order": answers.order,
    "start": answers.start,
    "logits": answers.logits,
    "echo": answers.echo,
    "gradients": training.gradients,
    "parameters": training.parameters,
    "attention": training.attention,
    "cached": caches.cached,
    "prefill": caches.prefill,
    "reorder": caches.reorder,
    "shift": batches.shift,
    "loss": batches.loss,
}
WITHOUT_NUMBERS = {"numbers", "parameters", "shift", "loss"}  # can be probed where the logits are not finite
COMPARED = {"future", "prefix", "neighbours", "padding", "context", "order", "cached", "prefill", "reorder"}


def diagnose(
    model: Callable[..., Any],
    *,
    kind: str | None = None,
    forward: Callable[..., Any] | None = None,
    length: int = 16,
    pad_id: int | None = None,
    source_pad_id: int | None = None,
    pad_side: str = "right",
    trained: bool | None = None,
    data: Any = None,
    loss: Callable[..., Any] | None = None,
    decoding: Callable[..., Any] | None = None,
    vocab_size: int | None = None,
    source_vocab_size: int | None = None,
    threads: int | None = 1,
) -> Report:
    """Run all probes on a model and report.

    model      an `nn.Module`, or a function: ids (B, T) -> logits (B, T, V), or source (B, S), target (B, T) -> the
               same. Models of the library `transformers` are taken as they are. A function cannot be trained on a copy
               or put into evaluation mode, so pass the module where there is one
    kind       "decoder" (no look into the future), "encoder" (may see all) or "seq2seq"; None: by the arguments
    forward    forward(model, ids) or forward(model, source, target) -> logits, where the call is another one
    length     positions T to probe; halved until the model can take it
    pad_id     the id of padding, which the model must know; None: `model.config` is asked. pad_side: where it stands
    source_pad_id   the source's, where it is another one
    trained    False: what only a fresh model must keep (first loss, soft attention) is a mistake; True: it is left
               out; None: you are asked to look
    data       a batch, or a function (of the step) that makes one: (ids, target) or (source, decoder's input, target)
    loss       loss(logits (B, T, V), target (B, T)) -> scalar
    decoding   decoding(model, B or source) -> a state whose step(ids (B, t)) gives logits; None: `model.start`, or the
               cache of `transformers`
    vocab_size, source_vocab_size   how many ids there are; None: found by calling
    threads    of the CPU, as in `training.fit`: one is quickest for small models; None: as many as torch is set to

    Raises ValueError if the model fails on random ids, if it answers with something other than logits, or if its
    parameters have no values (the device meta). A probe that fails later is reported as skipped, with its error.
    """
    if pad_side not in ("left", "right"):
        raise ValueError(f"diagnose: pad_side={pad_side!r}, expected 'left' or 'right'")
    with untouched(*filter(callable, (model, forward))), cpu_threads(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model's own, which it would repeat at each of some hundred calls
        subject = new_subject(
            model,
            kind=kind,
            forward=forward,
            vocab_size=vocab_size,
            source_vocab_size=source_vocab_size,
            length=length,
            pad_id=pad_id,
            source_pad_id=source_pad_id,
        )
        subject = padding.set_apart(subject)
        exam = Examination(subject, trained=trained, pad_side=pad_side, decoding=decoding, data=data, loss=loss)
        for name in PROBES:
            exam.results[name] = _result(name, exam)
    size = f", {sum(p.numel() for p in model.parameters()):,} parameters" if isinstance(model, nn.Module) else ""
    precision = str(exam.subject.dtype).removeprefix("torch.")
    title = f"{subject.name}: {subject.kind}{size}, V = {subject.V}, {subject.T} positions, in {precision}"
    return Report(title, tuple(REASONS[name].explain(name, result) for name, result in exam.results.items()))


def _result(name: str, exam: Examination) -> Result:
    if exam.found("numbers") and name not in WITHOUT_NUMBERS:
        return Result(SKIPPED, "the logits are not finite")
    if exam.found("repeat") and name in COMPARED:
        return Result(SKIPPED, "two evaluations differ as it is")
    try:
        return PROBES[name](exam)
    except Exception as error:
        return Result(SKIPPED, f"failed with {short_error(error)}")
