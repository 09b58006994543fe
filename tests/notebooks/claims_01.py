"""The claims that notebook 01 tests."""

from claims import Break, Claim

HERE = "01_limits_of_recurrence"

CLAIMS = [
    Claim(
        "LSTM and GRU cure vanishing gradients",
        "untrained they do not; with the forget gate set open it comes through",
        HERE,
        'arrives["GRU"]) < 1e-8 and gain',
        (
            Break('"LSTM": untrained("lstm"),', '"LSTM": untrained("lstm", bias=3.0),'),
            Break('untrained("lstm", bias=3.0)', 'untrained("lstm", bias=0.0)'),
        ),
    ),
    Claim(
        "Transformers train 5 to 10 times faster than RNNs",
        "it depends on machine and length; from slower to hundreds of times faster, by work and steps in a row",
        HERE,
        "factors[16][-1] < 5 and factors[1024][-1] > 100",
        (
            Break("ideal_time(recurrent, T, P) /", "ideal_time(recurrent, 4, P) /"),
            Break("/ ideal_time(attention, 4, P)", "/ ideal_time(attention, T, P)"),
            Break("multiplications(at_once, x, x, x)", "multiplications(at_once, x[:, :8], x[:, :8], x[:, :8])"),
            Break("machines = (16, 10_000, 10**9)", "machines = (10**9, 10**9)"),
        ),
    ),
    Claim(
        "An RNN need not take its steps one after the other",
        "each step needs the state of the one before",
        HERE,
        "12 words, 12 calls in a row",
        (Break("_, h = layer(x[:, t : t + 1], h)", "_, h = layer(x[:, t : t + 1])"),),
    ),
    Claim(
        "Attention was invented with the Transformer",
        "additive attention mended recurrent translators three years before",
        HERE,
        "assert gained > 0.4",
        (Break("train(attention=True)", "train(attention=False)"),),
        slow=True,
    ),
]
