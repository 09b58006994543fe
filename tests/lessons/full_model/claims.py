"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Simple and modular, but no inherent understanding of time or causality",
        "attention alone has none; a causal mask is enough to give the order away",
        'notices["open"] < 1e-4 and notices["causal"] > 0.01',
        Break('("open", torch.ones(5, 5, dtype=torch.bool))', '("open", causal)'),
        Break('("causal", causal)', '("causal", causal | True)'),
    ),
    claim(
        "At every step the decoder has the source encoded again",
        "the encoder and the memory's keys are computed once",
        '"keys of the memory": 1}',
        Break("translator.model.start(source)", "translator.model.start(source, cached=False)"),
    ),
    claim(
        "The norms keep the stream at one size",
        "post-norm does; in pre-norm it grows",
        "pre[-1] > 2 * pre[0]",
        Break("wiring=wiring", 'wiring="post_norm"'),
        Break("wiring=wiring", 'wiring="pre_norm"'),
    ),
    claim(
        "A Transformer is mostly attention",
        "feed-forward has more parameters in each of them",
        "value > 1.3 for value in ratio.values()",
        Break(
            'DecoderOnly(gpt2("gpt2-xl"))',
            'DecoderOnly(gpt2("gpt2-xl", feed_forward=type(gpt2().feed_forward)(d_ff=1600)))',
        ),
    ),
]
