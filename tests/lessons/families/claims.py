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
        "BERT understands, GPT generates",
        "after 240 steps the decoder understands as well; the encoder writes worst",
        'least["decoder", "go_on"] > max(long["encoder"]["go_on"]) + 0.3',
        Break("least = {(family, task): min(found)", "least = {(family, task): min(found) - 0.5"),
    ),
    claim(
        "Three shapes are in use",
        "since 2022 nearly all of the timeline's models are decoder-only",
        "decoders[0] > 0.7 * len(since)",
        Break("model.year >= 2022", "model.year < 2022"),
        Break("model.year < 2022]", "model.year >= 2022 and model.shape != UNKNOWN]"),
    ),
    claim(
        'In "king" the attention looks at "royal" and "man"',
        "for most words the largest weight of each single head lies elsewhere",
        "looked.max() < 0.6 * counted",
        Break("looked += found", "looked += 1"),
    ),
]
