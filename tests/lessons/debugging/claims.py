"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "The padding mask is a detail: without it the model translates as well",
        "not with other padding than it was trained with",
        'assert lost["no padding mask"] > 5',
        Break("torch.full((len(held.source), extra), PAD)", "torch.full((len(held.source), 0), PAD)"),
        Break("name: with_more_padding(name)", 'name: with_more_padding("the right model")'),
    ),
    claim(
        "Without the root training fails",
        "not at d_k = 16: it is slower, but it trains",
        "share > 0.55 and loss < 0.4",
        Break("share, loss = share_right(undivided)", 'share, loss = exact["no positions"]'),
        Break("smooth(undivided.run.losses", 'smooth(trained["no cross-attention"].run.losses'),
    ),
]
