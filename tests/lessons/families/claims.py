"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "GPT is exclusively generative",
        "fine-tuned, a decoder classifies",
        "assert share > 0.6",
        Break('play(family, "sentiment", steps=30)', 'play(family, "sentiment", steps=1)'),
    ),
    claim(
        "BERT cannot write",
        "trained with all shares of masks, an encoder writes most texts right",
        "assert trained_more > rival + 0.2",
        Break('table["possible"]["any"]', 'table["possible"]["15%"]'),
    ),
    claim(
        'In "king" the attention looks at "royal" and "man"',
        "for most words the largest weight of each single head lies elsewhere",
        "looked.max() < 0.6 * counted",
        Break("looked += found", "looked += 1"),
    ),
]
