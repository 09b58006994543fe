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
        "the encoder leads where each word needs an answer; they classify equally well",
        'mean["decoder", "resolve"] - guess["resolve"]) > 0.15',
        Break('mean["encoder", task] - mean["decoder", task]', 'mean["decoder", task] - mean["encoder", task]'),
    ),
    claim(
        "Three shapes are in use",
        "since 2022 nearly all of the timeline's models are decoder-only",
        "decoders[0] > 0.7 * len(since)",
        Break("model.year >= 2022", "model.year < 2022"),
        Break("model.year < 2022]", "model.year >= 2022 and model.shape != UNKNOWN]"),
    ),
    claim(
        "Decoder-only, because generation is the task",
        "which of them writes better depends on the task",
        'gain["summaries, 60 steps"] > 0.03',
        Break("for name, (one, two) in ahead.items()", "for name, (two, one) in ahead.items()"),
        Break(
            '(long["decoder"]["translate"], long["encoder_decoder"]["translate"])',
            '(short["decoder"]["summarise"], short["encoder_decoder"]["summarise"])',
        ),
    ),
    claim(
        'In "king" the attention looks at "royal" and "man"',
        "for most words the largest weight lies elsewhere",
        "looked < 0.5 * counted",
        Break("looked += (one.weights[place, 1:].argmax() + 1 == own).item()", "looked += 1"),
    ),
]
