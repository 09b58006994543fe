"""Find the classic mistakes in anybody's Transformer, without reading its code.

    from tx_helpers.diagnose import diagnose

    diagnose(model)                                  ids (B, T) -> logits (B, T, V)
    diagnose(model, kind="encoder")                  the same, and every position may see every other
    diagnose(model)                                  source (B, S), target (B, T) -> logits (B, T, V): two arguments

A third of the mistakes that people make in a Transformer give a *lower* loss than the right code: the model reads the
answers. So the loss cannot find them. A **probe** does: it changes something that must not matter, and looks whether
the logits move; or something that must matter, and looks whether they stay. It takes a few forward passes, works on
untrained models, and knows nothing of the code.

    probe        what is done                                             what it finds
    numbers      one forward pass                                         NaN: a fully masked row, a wrong axis
    repeat       the same ids twice                                       dropout without eval(), a cache that stays
    future       other tokens from position t on                          a mask that is missing, turned, late, weak
    prefix       the first t tokens alone, and in front of more           all that depends on the length
    neighbours   other rows in the batch                                  a norm or positions along the batch, BatchNorm
    padding      more padding, also by row (pad_id)                       a padding mask that is missing or inverted
    empty row    a row of nothing but padding (pad_id)                    NaN from a softmax over nothing
    context      other tokens where it should matter, one by one          what sees its own token alone; a lost source;
                                                                          ids that are read as one
    order        the tokens in another order                              positions that never arrive, or are alike
    start        the loss on random tokens against ln V                   first logits too large; answers known before
    logits       do they sum to 1?                                        a softmax before the cross-entropy
    echo         is the answer the token just read?                       trained on targets that are not shifted
    gradients    a few steps of training, on a copy                       what never learns: unused, 0 or even for ever
    parameters   the graph of the loss                                    layers in a Python list
    attention    the softmaxes of a forward pass                          scores not divided by √K; a wrong axis
    cached       decoding piece by piece                                  positions and masks that forget the cache
    prefill      first pieces shorter and longer than the window          a window whose cache and prefill disagree
    reorder      other rows after the first piece                         a cache that does not follow beam search
    shift        a batch (data)                                           targets not shifted, or twice
    loss         the loss function (loss): does it fall as it should?     a second softmax; a lost position; padding

Read the report from its top: one mistake often makes later probes fail, too. "look" is a result that is right in some
models and a mistake in others; the list of causes says which.

Nothing about the model changes, not even if a probe raises: copies are probed, and parameters, buffers, gradients,
modes, attributes and random states are as before. (A function is called as it is: lists and counters of its own go on.
Of an iterator, `data` takes one batch.) A million parameters take two or three seconds of a core; the copies, most of
them in float64, about 15 times the model's memory.

**What no probe can see** from outside, because the wrong model is a possible one: a scale of the scores other than
1/√K as long as attention stays soft; positions with another formula, or none in a deep causal model (the mask gives
order, so the result is "look"); a norm with another deviation or epsilon, a missing residual connection or
non-linearity (another function, but a valid one); a bottleneck (cross-attention to one vector that knows the full
source); what is frozen or untied, which others do on purpose (the probe gradients names what is frozen); what shows
only beyond four times `length`; and all that stands in the training loop (no zero_grad). For those: parity with a known
implementation at equal weights, as in notebooks 03 to 08.
"""

import warnings
from collections.abc import Callable
from typing import Any

from torch import nn

from tx_helpers.diagnose.probes import COMPARED, PROBES, WITHOUT_NUMBERS
from tx_helpers.diagnose.reasons import REASONS
from tx_helpers.diagnose.report import SKIPPED, Report, Result
from tx_helpers.diagnose.run import Run
from tx_helpers.diagnose.subject import new_subject, short_error
from tx_helpers.diagnose.untouched import untouched
from tx_helpers.training.contexts import cpu_threads


def diagnose(
    model: Callable,
    *,
    kind: str | None = None,
    forward: Callable | None = None,
    length: int = 16,
    pad_id: int | None = None,
    pad_side: str = "right",
    trained: bool | None = None,
    data: Any = None,
    loss: Callable | None = None,
    decoding: Callable | None = None,
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
        )
        run = Run(subject, trained=trained, pad_side=pad_side, decoding=decoding, data=data, loss=loss)
        for name in PROBES:
            run.results[name] = _result(name, run)
    size = f", {sum(p.numel() for p in model.parameters()):,} parameters" if isinstance(model, nn.Module) else ""
    precision = str(run.subject.dtype).removeprefix("torch.")
    title = f"{subject.name}: {subject.kind}{size}, V = {subject.V}, {subject.T} positions, in {precision}"
    return Report(title, tuple(REASONS[name].explain(name, result) for name, result in run.results.items()))


def _result(name: str, run: Run) -> Result:
    if run.found("numbers") and name not in WITHOUT_NUMBERS:
        return Result(SKIPPED, "the logits are not finite")
    if run.found("repeat") and name in COMPARED:
        return Result(SKIPPED, "two evaluations differ as it is")
    try:
        return PROBES[name](run)
    except Exception as error:
        return Result(SKIPPED, f"failed with {short_error(error)}")
