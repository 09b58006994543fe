"""What each German word looked at, in the trained translator: figures/translator_attention.svg

The weights are read from a real forward pass of `number_translator()`, which is trained first if none is cached.
"""

from collections.abc import Sequence

from canvas import BLUE, GOLD, GREEN, GREY, INK, MUTED, ORANGE, SMALL, WIDTH, Canvas, save

SENTENCE = "four hundred twenty-one"
LOOKS = [  # of the English words, in turn: stroke, fill, colour
    (BLUE.full, BLUE.tint, BLUE.shade),
    (GOLD.shade, GOLD.tint, GOLD.shade),
    (GREEN.full, GREEN.tint, GREEN.shade),
    (ORANGE.full, ORANGE.tint, ORANGE.shade),
]
SHOWN = 0.05  # lines of less weight are left out
TOP, BOTTOM, HEIGHT = 108, 296, 40


def draw() -> Canvas:
    return picture(*measured(SENTENCE))


def measured(sentence: str) -> tuple[list[str], list[str], list[list[float]]]:
    """Source words, target words, and the weights (T, S) of the last block's cross-attention, mean over the heads."""
    import torch

    from tx_helpers.nn.capture import capture
    from tx_helpers.zoo.recipes import number_translator

    translator = number_translator()
    source, target = translator.data.source_tokenizer, translator.data.target_tokenizer
    translation = translator.translate(sentence)
    with torch.no_grad(), capture(translator.model, "decoder.*.cross_attention.weights") as seen:
        translator.model(torch.tensor([source.encode(sentence)]), torch.tensor([target.encode(translation, bos=True)]))
    weights = seen[seen.names()[-1]][0].mean(0)  # (H, T, S) -> (T, S)
    return source.split(sentence), [*target.split(translation), "<eos>"], weights.tolist()


def picture(
    english: Sequence[str], german: Sequence[str], weights: Sequence[Sequence[float]], written: int | None = None
) -> Canvas:
    """Words above, words below, and between them lines as strong as the weights (T, S); the first `written` words."""
    best = [max(range(len(english)), key=row.__getitem__) for row in weights]
    canvas = Canvas(
        "translator_attention",
        390,
        title=f"What each German word looked at when the translator wrote '{' '.join(german[:-1])}'",
        description=in_words(english, german, weights, best),
    )
    canvas.heading(
        "What each German word looked at",
        "Cross-attention of the trained translator: last decoder block, mean over its heads.",
    )
    canvas.text(28, TOP - 8, "English", size=SMALL, colour=MUTED)
    canvas.text(28, BOTTOM + HEIGHT + 38, "German", size=SMALL, colour=MUTED)
    keys, queries = places(len(english), 150), places(len(german), 112)
    rows = list(enumerate(weights))[:written]
    lines = [(weight, t, s) for t, row in rows for s, weight in enumerate(row) if weight >= SHOWN]
    for weight, t, s in sorted(lines):
        stroke = LOOKS[s % len(LOOKS)][0]
        start, end = (keys[s], TOP + HEIGHT), (queries[t], BOTTOM)
        canvas.curve(start, end, colour=stroke, thickness=1.5 + 6 * weight, opacity=0.15 + 0.75 * weight)
    for s, word in enumerate(english):
        stroke, fill, colour = LOOKS[s % len(LOOKS)]
        canvas.box(keys[s] - 65, TOP, 130, HEIGHT, word, fill=fill, stroke=stroke, colour=colour, size=16, radius=8)
    for t, word in list(enumerate(german))[:written]:
        weight = weights[t][best[t]]
        stroke, fill, colour = LOOKS[best[t] % len(LOOKS)] if weight > 0.6 else (GREY.full, GREY.tint, INK)
        canvas.box(
            queries[t] - 51, BOTTOM, 102, HEIGHT, word, fill=fill, stroke=stroke, colour=colour, size=16, radius=8
        )
        canvas.text(queries[t], BOTTOM + HEIGHT + 18, f"{weight:.2f}", size=SMALL, colour=MUTED, anchor="middle")
    canvas.text(
        WIDTH - 28,
        BOTTOM + HEIGHT + 38,
        "below each word: its strongest weight",
        size=SMALL,
        colour=MUTED,
        anchor="end",
    )
    return canvas


def places(number: int, step: float) -> list[float]:
    """The middles of words in a row, around the middle of the card."""
    step = min(step * 1.13, (WIDTH - 80) / number)
    return [WIDTH / 2 + step * (place - (number - 1) / 2) for place in range(number)]


def in_words(english, german, weights, best) -> str:
    looked = [f"{german[t]} at {english[s]} ({weights[t][s]:.2f})" for t, s in enumerate(best)]
    crossing = [
        f"the lines of {german[t]} and {german[u]} cross"
        for t in range(len(german))
        for u in range(t + 1, len(german))
        if best[t] > best[u] and min(weights[t][best[t]], weights[u][best[u]]) > 0.6
    ]
    said = (
        f"The English words {', '.join(english)} stand above the German words {', '.join(german)}. Lines join them, "
        f"the stronger the greater the weight. Most looked at: {', '.join(looked)}."
    )
    return f"{said} Unit and ten swap places: {', '.join(crossing)}." if crossing else said


if __name__ == "__main__":
    save(draw())
