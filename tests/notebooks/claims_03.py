"""The claims that notebook 03 tests."""

from claims import Break, Claim

HERE = "03_positional_encodings"

CLAIMS = [
    Claim(
        "The dot product of sinusoidal positions falls with distance",
        "it depends on the distance alone, but rises again from 5 to 6 at width 64",
        HERE,
        "assert first_rise ==",
        (
            Break("base ** (-2 * i / width)", "base ** (-4 * i / width)"),
            Break("products = encode(torch.arange(200), D)", "products = -encode(torch.arange(200), D)"),
        ),
    ),
    Claim(
        "The model sees the nearness in the dot product",
        "after random projections the correlation with the distance is about 0",
        HERE,
        "abs(mean) < 0.03",
        (Break("(place @ a) @ (place @ b).T", "(place @ a) @ (place @ a).T"),),
    ),
    Claim(
        "cos(1) = 0, so the terms of far positions are near 0",
        "cos(π/2) = 0; the far terms swing and cancel",
        HERE,
        "assert size > 0.6 and summed < 0.25",
        (
            Break("from math import cos, sin", "from math import sin\ncos = sin"),
            Break("(torch.arange(500, 1500)[:, None] * omega", "(0 * torch.arange(500, 1500)[:, None] * omega"),
        ),
    ),
    Claim(
        "Odd dimensions, 0, 2, 4 …, take the cosine",
        "even ones the sine, odd ones the cosine",
        HERE,
        "row[1::2].tolist() == [1, 1, 1, 1]",
        (Break("sinusoidal(torch.tensor([0]), 8)[0]", "sinusoidal(torch.tensor([0]), 8)[0].roll(1)"),),
    ),
    Claim(
        "Sinusoids extrapolate to longer sequences",
        "beyond the trained length they are worse than no positions; ALiBi stays level",
        HERE,
        "Wrong: beyond the trained length the sinusoidal model",
        (
            Break('models["ALiBi"] = train(', 'models["ALiBi"] = models["sinusoidal"] = train('),
            Break('models["ALiBi"] = train(PositionConfig("alibi"))', 'models["ALiBi"] = models["rotary"]'),
        ),
        slow=True,
    ),
    Claim(
        "Sinusoidal and learned positions work equally well",
        "after a short training learned ones are behind inside; beyond the length both fail, sinusoids more",
        HERE,
        '0.05 < gap < 0.4 and rise["learned"] > 0.2',
        (
            Break('models["ALiBi"] = train(', 'models["ALiBi"] = models["learned"] = train('),
            Break('models["ALiBi"] = train(PositionConfig("alibi"))', 'models["learned"] = models["sinusoidal"]'),
        ),
        slow=True,
    ),
    Claim(
        "T5's bias is negative far away, positive nearby, and is added twice",
        "learned, of any sign, added once",
        HERE,
        "near.max() < -0.2 and asked_for > 0.3",
        (
            Break("TextBatch(row[:, 5:], row[:, :-5])", "TextBatch(row[:, 5:], row[:, 4:-1])"),
            Break('models["T5"].decoder.bias(64, 64).detach()', '2 * models["T5"].decoder.bias(64, 64).detach()'),
        ),
        slow=True,
    ),
]
