"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Sinusoids extrapolate to longer sequences",
        "beyond the trained length they are worse than no positions; ALiBi stays level",
        "Wrong: beyond the trained length the sinusoidal model",
        Break('models["ALiBi"] = train(', 'models["ALiBi"] = models["sinusoidal"] = train('),
        Break('models["ALiBi"] = train(PositionConfig("alibi"))', 'models["ALiBi"] = models["rotary"]'),
    ),
    claim(
        "Sinusoidal and learned positions work equally well",
        "after a short training learned ones are behind inside; beyond the length both fail, sinusoids more",
        "0.05 < gap < 0.4",
        Break('models["ALiBi"] = train(', 'models["ALiBi"] = models["learned"] = train('),
        Break('models["ALiBi"] = train(PositionConfig("alibi"))', 'models["learned"] = models["sinusoidal"]'),
    ),
    claim(
        "T5's bias is negative far away, positive nearby, and is added twice",
        "learned, of any sign, added once",
        "near.max() < -0.2 and asked_for > 0.3",
        Break("TextBatch(row[:, 5:], row[:, :-5])", "TextBatch(row[:, 5:], row[:, 4:-1])"),
        Break('models["T5"].decoder.bias(64, 64).detach()', '2 * models["T5"].decoder.bias(64, 64).detach()'),
    ),
    claim(
        "Fixed positions do not extrapolate",
        "sinusoids and rotary do not, ALiBi does, and it is fixed, too",
        'assert fixed == ["sinusoidal", "rotary", "ALiBi"]',
        Break('models["ALiBi"] = train(PositionConfig("alibi"))', 'models["ALiBi"] = models["sinusoidal"]'),
        Break('models["ALiBi"] = train(', 'models["ALiBi"] = models["T5"] = train('),
    ),
    claim(
        "Rotary is better than sinusoids",
        "inside the trained length; far beyond it, without stretching, both fail",
        'assert inside_gain > 0.3 and min(rise["rotary"], rise["sinusoidal"]) > 0.5',
        Break('models["rotary"] = train(', 'models["rotary"] = models["sinusoidal"] = train('),
        Break('models["rotary"] = train(PositionConfig("rotary"))', 'models["rotary"] = models["none"]'),
    ),
    claim(
        "T5 divides by √d_k",
        "it does not; its queries start smaller by that factor",
        "assert 0.5 < undivided.std() < 2",
        Break(
            "import t5 as published_t5",
            "import t5, transformer_2017\n\n\ndef published_t5(**sizes):\n"
            "    return t5(**sizes, attention=transformer_2017().attention)",
        ),
        Break(" - small.encoder.bias(32, 32).detach()", ""),
    ),
    claim(
        "T5's bias overfits",
        "64 numbers are too few to learn texts by heart; a learned table can",
        "assert known < -0.03 and new < 0.05",
        Break("of_t5.decoder.bias.table.weight, lr=0.1", "of_t5.decoder.input.tokens.weight, lr=0.1"),
        Break(
            "of_rows.decoder.input.positions.table.weight, lr=0.02",
            "of_rows.decoder.input.positions.table.weight, lr=0",
        ),
    ),
]
