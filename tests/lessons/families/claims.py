"""The claims that the notebook tests."""

from claims import Break, claim

GUESSING = Break("play(family, task, steps=40).score", "play(family, task, steps=1).score")
OTHER = '{"decoder": "encoder_decoder", "encoder_decoder": "decoder"}.get(family, family)'
SWAPPED = Break("mean[family, task] =", f"mean[{OTHER}, task] =")

CLAIMS = [
    claim(
        "GPT is exclusively generative",
        "fine-tuned, a decoder classifies",
        "assert share > 0.8",
        GUESSING,
    ),
    claim(
        "BERT understands, GPT generates",
        "the encoder leads where each word needs an answer; they classify equally well",
        'mean["decoder", "resolve"] - guess["resolve"]) > 0.15',
        Break('mean["encoder", task] - mean["decoder", task]', 'mean["decoder", task] - mean["encoder", task]'),
    ),
    claim(
        "Three families dominate",
        "since 2022 nearly all of the drawing's models are decoder-only",
        "decoders[0] > 0.7 * len(since)",
        Break("int(year) >= 2022", "int(year) < 2022"),
        Break("int(year) < 2022", "int(year) >= 2022"),
    ),
    claim(
        "Decoder-only, because generation is the task",
        "which of them writes better depends on the task",
        'ahead["summarise"] > 0.03',
        SWAPPED,
    ),
]
