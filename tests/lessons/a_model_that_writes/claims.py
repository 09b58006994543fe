"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "It writes fluently, so it keeps track of the story",
        "the right kind of word; which one it knows depends on context and fact",
        "fluent > 0.9 and forgot < 0.25",
        Break("one = sum(word == place.word", "one = sum(place.word == place.word"),
        Break("of_kind = sum(word in known(kind)", "of_kind = sum(word[::-1] in known(kind)"),
    ),
    claim(
        "It processes whole sequences in parallel",
        "to learn and to read, in one pass; to write, one pass a token",
        "assert learning == 1 and writing == 100",
        Break("far.model(known_text[:, :200])", "[far.model(known_text[:, :n]) for n in (1, 2)]"),
        Break("max_new_tokens=100", "max_new_tokens=1"),
    ),
    claim(
        "The likeliest text is the best text",
        "greedy stories are likelier than real ones, and worse",
        "assert of_greedy < of_real < of_sampled",
        Break('surprise(rows["greedy"])', 'surprise(rows["temperature 0.7"])'),
        Break('surprise(rows["temperature 1"])', 'surprise(rows["greedy"])'),
    ),
    claim(
        "GPT has no way to process a prompt without an encoder",
        "the prompt runs through the same causal stack and fills its cache",
        "assert kept == [asked.shape[1]] * 4",
        Break('changed[0, 0] = tokenizer.encode("T")[0]', 'changed[0, 0] = tokenizer.encode("O")[0]'),
        Break("at_once = whole.step(asked)", "at_once = whole.step(asked[:, -1:])"),
    ),
]
