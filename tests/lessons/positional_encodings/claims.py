"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "The dot product of sinusoidal positions falls with distance",
        "it depends on the distance alone, but rises again from 5 to 6 at width 64",
        "assert first_rises ==",
        Break(
            "products = sinusoidal(torch.arange(200), width,",
            "products = sinusoidal(torch.arange(200), width, base=50.0,",
        ),
        Break("products = sinusoidal(torch.arange(200)", "products = -sinusoidal(torch.arange(200)"),
    ),
    claim(
        "The model sees the nearness in the dot product",
        "after random projections the correlation with the distance is about 0",
        "abs(mean) < 0.03",
        Break("(place @ a) @ (place @ b).T", "(place @ a) @ (place @ a).T"),
    ),
    claim(
        "cos(1) = 0, so the terms of far positions are near 0",
        "cos(π/2) = 0; the far terms swing and cancel",
        "assert size > 0.6 and summed < 0.25",
        Break("from math import cos, sin", "from math import sin\ncos = sin"),
        Break("(torch.arange(500, 1500)[:, None] * omega", "(0 * torch.arange(500, 1500)[:, None] * omega"),
    ),
    claim(
        "Odd dimensions, 0, 2, 4 …, take the cosine",
        "even ones the sine, odd ones the cosine",
        "row[1::2].tolist() == [1, 1, 1, 1]",
        Break("sinusoidal(torch.tensor([0]), 8)[0]", "sinusoidal(torch.tensor([0]), 8)[0].roll(1)"),
    ),
    claim(
        "Fast columns are for neighbours, slow ones for far words",
        "fast ones name the exact place, slow ones the region; the slowest add nothing in a text of 512",
        'assert share["fast"][0] > share["slow"][0] + 0.2',
        Break('"fast": waves < 20', '"fast": waves < 200'),
        Break('"slow": waves >= 20', '"slow": waves >= 0'),
        Break('"below 1,000": waves < 1000', '"below 1,000": waves < 20'),
    ),
    claim(
        "Learned positions are the modern choice",
        "of six well-known models those of 2018 and 2019 alone",
        'assert years == [2018, 2019] and choice[2023] == choice[2024] == "rotary"',
        Break('2023: llama("7b")', "2023: gpt2()"),
        Break("2019: gpt2()", "2019: transformer_2017()"),
    ),
]
