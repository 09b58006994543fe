"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "The same word has always the same token",
        "a space before it or a capital makes it another",
        "len({tuple(form) for form in forms}) == 4",
        Break("gpt2.split(form) for", "gpt2.split(form.strip()) for"),
    ),
    claim(
        "A token is about four characters",
        "for GPT-2 in English; less in German, half a character in Chinese",
        '3.5 < each["the stories"] < 5',
        Break("texts = {", "gpt2.ranks = {}\ntexts = {"),
        Break("len(text) / len(gpt2.encode(text))", "len(tale) / len(gpt2.encode(tale))"),
    ),
    claim(
        "Rows that do not occur stay where they are",
        "with plain descent; Adam and weight decay move them",
        'moved["gradient descent"] == 0',
        Break("drift(torch.optim.Adam)", "drift(torch.optim.SGD)"),
        Break("drift(torch.optim.SGD, weight_decay=0.1)", "drift(torch.optim.SGD)"),
        Break("drift(torch.optim.SGD),", "drift(torch.optim.SGD, momentum=0.9),"),
    ),
    claim(
        "Merges find the parts that words are made of",
        "with few merges; with many they reach across the boundaries",
        "share[200] < 0.7",
        Break("ours = [cuts(apply_merges(word, ranks)) for word in WHOLE[::30]]", "ours = true"),
        Break("kept(long[:n])", "kept(long[:20])"),
    ),
    claim(
        "A larger vocabulary is always better",
        "each doubling saves less, and rare pieces are hardly seen",
        "saved[1] < saved[0] / 2 and rare > 50",
        Break("sizes = (384, 768, 1536)", "sizes = (384, 400, 1536)"),
        Break("BytePairTokenizer.train(tale, vocab_size=size)", "BytePairTokenizer.train(tale, vocab_size=260)"),
    ),
    claim(
        "Separate vocabularies are typical",
        "one shared vocabulary translates as well; it saves half the table within one language, nothing between two",
        "assert min(exact.values()) >= 0.9",
        Break('{"source_vocab_size": None} if shared', "{} if shared"),
        Break("steps=120", "steps=24"),
    ),
    claim(
        "Near vectors mean the same",
        "near is what can be exchanged for each other",
        "seven @ three > 0.7 > seven @ seventeen",
        Break("history[80] / history[80].norm", "history[0] / history[0].norm"),
        Break("losses.append(loss.item())", "losses.append(loss.item()); E.data.fill_(1.0)"),
    ),
]
