"""The claims that notebook 08 tests."""

from claims import Break, Claim

HERE = "08_full_model"

CLAIMS = [
    Claim(
        "Multi-head attention costs H times as much as one head",
        "the same parameters and operations; only the weights take H times the room",
        HERE,
        "len(set(parameters)) == len(set(flops)) == 1",
        (
            Break("MultiHeadAttention(64, n_heads)", "MultiHeadAttention(64, n_heads, d_head=64)"),
            Break('watched["weights"].numel()', 'watched["weights"].mean(1).numel()'),
        ),
    ),
    Claim(
        "The original Transformer reads in one direction",
        "only its decoder does",
        HERE,
        "on_encoder.min() > 0.01",
        (Break("through(model.encoder.blocks)", "through(model.decoder.blocks, memory[1:])"),),
    ),
    Claim(
        "Self-attention is permutation-invariant",
        "equivariant: the outputs move along with the words",
        HERE,
        "equivariant < 1e-12 and invariant > 0.1",
        (
            Break("attention(x), attention(x[:, order])", "attention(x), attention(x[:, order], causal=True)"),
            Break("order = torch.tensor([3, 0, 4, 1, 2])", "order = torch.arange(5)"),
        ),
    ),
    Claim(
        "At every step the decoder has the source encoded again",
        "the encoder and the memory's keys are computed once",
        HERE,
        '"keys of the memory": 1}',
        (Break("state = model.start(batch.source)", "state = model.start(batch.source, cached=False)"),),
    ),
    Claim(
        "The norms keep the stream at one size",
        "post-norm does; in pre-norm it grows",
        HERE,
        "pre[-1] > 2 * pre[0]",
        (
            Break("wiring=wiring", 'wiring="post_norm"'),
            Break("wiring=wiring", 'wiring="pre_norm"'),
        ),
    ),
    Claim(
        "A Transformer is mostly attention",
        "feed-forward has more parameters in each of them",
        HERE,
        "value > 1.3 for value in ratio.values()",
        (
            Break(
                'DecoderOnly(gpt2("gpt2-xl"))',
                'DecoderOnly(gpt2("gpt2-xl", feed_forward=type(config.feed_forward)(d_ff=1600)))',
            ),
        ),
    ),
]
