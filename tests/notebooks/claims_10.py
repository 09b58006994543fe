"""The claims that notebook 10 tests."""

from claims import Break, Claim

HERE = "10_generation"

CLAIMS = [
    Claim(
        "A bigger beam is better",
        "it finds likelier texts; with a weak model they are worse",
        HERE,
        "hit[40][-1] < hit[40][0]",
        (
            Break("search(after[steps], texts, k) for", "search(after[steps], texts, 1) for"),
            Break(
                "max(row, key=lambda one: score(one, alpha)) for row in rows", "row[0]._replace(ids=[]) for row in rows"
            ),
        ),
        slow=True,
    ),
    Claim(
        "It writes fluently, so it keeps track of the story",
        "the right kind of word, the right one only by guessing",
        HERE,
        "one < guess + 0.15 for one, guess",
        (
            Break("one = mean([word == match.group(1)", "one = mean([match.group(1) == match.group(1)"),
            Break("writer.tokenizer.decode(row)).group() for", "writer.tokenizer.decode(row)).group()[::-1] for"),
        ),
        slow=True,
    ),
    Claim(
        "No mask is needed at inference",
        "with a cache none; recomputing the prefix it is needed from two layers on",
        HERE,
        "changed[1][0] < 1e-12",
        (
            Break("model.decoder.causal = False", "pass"),
            Break("step_by_step(model.start(2), ids)", "model(ids)"),
        ),
    ),
    Claim(
        "Top-p beats top-k",
        "at equal variety, yes; a low temperature beats both",
        HERE,
        'share["top-k"] < share["top-p"] < share["temperature"]',
        (
            Break('{"top_p": p} for p in (0.1,', '{"temperature": 1 + p} for p in (0.1,'),
            Break('{"temperature": tau} for tau in', '{"temperature": 1.5, "min_p": 1 - tau / 1.01} for tau in'),
        ),
        slow=True,
    ),
    Claim(
        "Temperature 0 is a mode of its own",
        "it is the limit: sampling becomes greedy",
        HERE,
        "list(same.values()) == sorted(same.values())",
        (Break("chance(*lesson, temperature=tau)", "chance(*lesson, temperature=1 + tau)"),),
        slow=True,
    ),
    Claim(
        "The likeliest text is the best text",
        "greedy stories are likelier than real ones, and worse",
        HERE,
        "assert of_greedy < of_real < of_sampled",
        (
            Break('surprise(rows["greedy"])', 'surprise(rows["temperature 0.7"])'),
            Break('surprise(rows["temperature 1"])', 'surprise(rows["greedy"])'),
        ),
        slow=True,
    ),
    Claim(
        "GPT has no way to process a prompt without an encoder",
        "the prompt runs through the same causal stack and fills its cache",
        HERE,
        "assert kept == [prompt.shape[1]] * 4",
        (
            Break('changed[0, 0] = tokenizer.encode("T")[0]', 'changed[0, 0] = tokenizer.encode("O")[0]'),
            Break("at_once = whole.step(prompt)", "at_once = whole.step(prompt[:, -1:])"),
        ),
        slow=True,
    ),
]
