"""The claims that notebook 12 tests."""

from claims import Break, Claim

HERE = "12_a_model_that_writes"

CLAIMS = [
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
