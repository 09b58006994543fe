"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "The dot product of sinusoidal positions falls with distance",
        "it depends on the distance alone, but rises again from 5 to 6 at width 64",
        "assert first_rises ==",
        Break(
            "sinusoidal(torch.arange(200), width,",
            "sinusoidal(torch.arange(200), width, base=50.0,",
        ),
        Break("sinusoidal(torch.arange(200)", "-sinusoidal(torch.arange(200)"),
    ),
    claim(
        "The model sees the nearness in the dot product",
        "after random projections the correlation with the distance is about 0",
        "abs(mean) < 0.03",
        Break("(place @ a) @ (place @ b).T", "(place @ a) @ (place @ a).T"),
    ),
    claim(
        "The terms of far positions are near 0",
        "they swing between −1 and 1, and cancel",
        "assert size > 0.6 and summed < 0.25",
        Break("(torch.arange(500, 1500)[:, None] * omega", "(0 * torch.arange(500, 1500)[:, None] * omega"),
        Break(
            "(torch.arange(500, 1500)[:, None] * omega",
            "(torch.pi / 2 + 0 * torch.arange(500, 1500)[:, None] * omega",
        ),
    ),
    claim(
        "A model needs positions to know the order of its words",
        "a seventh of its answers is right without them and without a mask; with a causal mask nearly all are",
        'assert 0.11 < models["no positions"].right() < 0.18',
        Break('train_queue("none", seed=0), "sinusoids"', 'train_queue("sinusoids", seed=0), "sinusoids"'),
        Break('"sinusoids": train_queue("sinusoids", seed=0)', '"sinusoids": train_queue("none", seed=0)'),
    ),
    claim(
        "Without positions there is no order",
        "a causal mask tells it",
        'assert torch.equal(masked[0][0], masked[1][0]) and models["causal mask"].right() > 0.9',
        Break('train_queue("none", causal=True, seed=0)', 'train_queue("none", seed=0)'),
        Break("dtype=torch.bool).triu(1)", "dtype=torch.bool).tril(-1)"),
    ),
    claim(
        "Positions are added because joining them wastes width",
        "given time, added and joined answer alike; the factor √D slows a narrow model down",
        'assert max(right["added, loud"]) < 0.5',
        Break('dict(positions="sinusoids"),', 'dict(positions="sinusoids", size=0.25),'),
        Break("dict(joined=4, size=16**-0.5),", 'dict(positions="none"),'),
        Break("steps=600", "steps=200"),
    ),
    claim(
        "Sinusoids work on any length",
        "twice as long as in training, they are worse than no positions with a causal mask",
        'assert beyond["causal mask"] > beyond["sinusoids"] + 0.3',
        Break('train_queue("none", causal=True, seed=0)', 'train_queue("sinusoids", seed=0)'),
        Break('train_queue("learned", seed=0)', 'train_queue("none", causal=True, seed=0)'),
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
