"""Find the classic mistakes in anybody's Transformer, without reading its code.

    from tx_helpers.diagnose import diagnose

    print(diagnose(model))                           ids (B, T) -> logits (B, T, V)
    print(diagnose(model, kind="encoder"))           the same, and every position may see every other
    print(diagnose(model))                           source (B, S), target (B, T) -> logits (B, T, V): two arguments

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
implementation at equal weights, as the notebooks do.
"""

from tx_helpers.diagnose.diagnosis import PROBES, diagnose

__all__ = ["PROBES", "diagnose"]
