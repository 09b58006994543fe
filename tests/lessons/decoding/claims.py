"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "A bigger beam is better",
        "it finds likelier texts; whether more of them are right depends on the model",
        "assert all(row[8][0] > row[1][0]",
        Break("search(one, texts, k)", "search(one, texts, 9 - k)"),
        Break("search(one, texts, k)", "search(one, texts, 1)"),
    ),
    claim(
        "No mask is needed at inference",
        "with a cache none; recomputing the prefix it is needed from two layers on",
        "changed[1][0] < 1e-12",
        Break("model.decoder.causal = False", "pass"),
        Break("step_by_step(model.start(2), ids)", "model(ids)"),
    ),
    claim(
        "Top-p beats top-k",
        "at equal variety, yes; a low temperature beats both",
        'share["top-k"] < share["top-p"] < share["temperature"]',
        Break('{"top_p": p} for p in (0.1,', '{"temperature": 1 + p} for p in (0.1,'),
        Break('{"temperature": tau} for tau in', '{"temperature": 1.5, "min_p": 1 - tau / 1.01} for tau in'),
    ),
    claim(
        "Temperature 0 is a mode of its own",
        "it is the limit: sampling becomes greedy",
        "list(same.values()) == sorted(same.values())",
        Break("chance(*lesson, temperature=tau)", "chance(*lesson, temperature=1 + tau)"),
    ),
    claim(
        "Latency grows quadratically, and FlashAttention cures it",
        "with a cache along a straight line; FlashAttention does the same multiplications",
        "assert growth[1] == 2 * growth[0]",
        Break("state.step(torch.ones(1, 1, dtype=torch.long))", "state.step(torch.ones(1, T, dtype=torch.long))"),
        Break("scores = sum(seen[name]", "scores = T * sum(seen[name]"),
    ),
]
