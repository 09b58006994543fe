"""The claims that the notebook tests."""

from claims import Break, claim

ATTENTIVE = Break(
    '"GRU with attention": train(new_gru, attention=True)', '"GRU with attention": train(new_gru, attention=False)'
)

CLAIMS = [
    claim(
        "What is lost cannot be made longer",
        "the far word's part of a gradient could be; but it comes in one sum with the near words, and is drowned there",
        "far.norm() > 0",
        Break("far, near = parts[50]", "far, near = parts[1]"),
        Break("near = parts[50], parts[:50]", "near = parts[50], parts[45:50]"),
    ),
    claim(
        "An LSTM forgets after twenty words",
        "the plain one does not learn it in 500 steps; with its forget gates open it does",
        "opened.share > 0.8 and plain.share < 0.3",
        Break('"LSTM, forget bias 3", noise=20)', '"LSTM", noise=20)'),
        Break('plain = learn_language("LSTM", noise=20)', 'plain = learn_language("LSTM", noise=5)'),
    ),
    claim(
        "One state cannot tell he from she across a long sentence",
        "it can, if short sentences are among those it learns from; looking back learns it without them, and sooner",
        "assert mixed > 0.9",
        Break(
            "pronouns = {name: learn_pronoun(name) for name in PRONOUN_RUNS}",
            'pronouns = {name: learn_pronoun("GRU, all lengths") for name in PRONOUN_RUNS}',
        ),
    ),
    claim(
        "LSTM and GRU cure vanishing gradients",
        "untrained they do not; with the forget gate set open it comes through",
        'arrives["GRU"]) < 1e-8 and gain',
        Break(
            'layers["LSTM, forget bias 3"] = new_layer("lstm", 32, 32)',
            'layers["LSTM, forget bias 3"] = layers["LSTM"]',
        ),
        Break('layers["LSTM, forget bias 3"], 3.0)', 'layers["LSTM, forget bias 3"], 0.0)'),
    ),
    claim(
        "Forgetting is the vanishing gradient",
        "a state can keep the first word for good while its gradient is practically zero",
        "assert h.item() * first > 0.9",
        Break("h = torch.tanh(3 * h)", "h = torch.tanh(0.5 * h)"),
        Break("range(100):\n        h = torch.tanh(3", "range(2):\n        h = torch.tanh(3"),
    ),
    claim(
        "Transformers train 5 to 10 times faster than RNNs",
        "it depends on machine and length; from slower to hundreds of times faster, by work and steps in a row",
        "factors[1024][-1] > 100",
        Break("ideal_time(recurrent, T, P) /", "ideal_time(recurrent, 4, P) /"),
        Break("/ ideal_time(attention, 4, P)", "/ ideal_time(attention, T, P)"),
        Break("multiplications(at_once, x, x, x)", "multiplications(at_once, x[:, :8], x[:, :8], x[:, :8])"),
        Break("machines = (16, 10_000, 10**9)", "machines = (10**9, 10**9)"),
    ),
    claim(
        "An RNN need not take its steps one after the other",
        "each step needs the state of the one before",
        "12 words, 12 calls in a row",
        Break("_, h = layer(x[:, t : t + 1], h)", "_, h = layer(x[:, t : t + 1])"),
    ),
    claim(
        "Transformers handle longer sequences more efficiently",
        "in work less: it grows with the square of the length; in steps in a row more",
        "long[2] / short[2] == 256",
        Break("lambda x: (x @ x.T).softmax(-1) @ x", "lambda x: (x @ x[:64].T).softmax(-1) @ x[:64]"),
        Break("for t in range(n))", "for t in range(n) for _ in range(n))"),
    ),
    claim(
        "Attention was invented with the Transformer",
        "additive attention mended recurrent translators three years before",
        "assert gained > 0.4",
        ATTENTIVE,
    ),
    claim(
        "Sequence to sequence with attention keeps all drawbacks of the RNN",
        "it is rid of the bottleneck and keeps the steps in a row",
        "len(calls) == target.shape[1]",
        Break(
            '"GRU, one vector": train(new_gru, attention=False)',
            '"GRU, one vector": train(new_gru, attention=True)',
        ),
        Break("calls.append(1)", "calls.extend([1, 1])"),
    ),
    claim(
        "RNNs are of no use now",
        "a small one learns to classify in 100 steps, and its state does not grow with the text",
        "assert known > 0.95 and state == 32",
        Break("    optimizer.step()\nknown", "    pass\nknown"),
        Break('Recaller("gru", keys=2', 'Recaller("gru", 64, keys=2'),
    ),
]
