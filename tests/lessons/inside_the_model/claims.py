"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Attention shows what the model looks at",
        "half true: where it reads, not what it takes from there",
        "Half true: it shows where the model reads",
        Break(
            'scores["attention, last block"], scores["patching"]', 'scores["patching"], scores["attention, last block"]'
        ),
    ),
    # induction
    claim(
        "In-context learning needs a large model",
        "two layers of attention copy a block that is new to them, one layer of as many parameters does not",
        "Wrong for copying",
        Break("copying, test = learn_copying(seed=0)", "copying, test = learn_copying(steps=40, seed=0)"),
        Break("learn_copying(layers=1, width=88, seed=0)", "learn_copying(width=56, seed=0)"),
    ),
    # steering
    claim(
        "The feed-forward layers store the facts",
        "one feed-forward layer carries the fact alone, but so does an attention layer, and every block can be edited",
        "Half right: the last feed-forward layer is enough",
        Break("patched(decoder, fact)", 'patched(decoder, ("dog", "dog"))'),
        Break("update=editing.rank_one", "update=lambda W, k, v, C: W"),
    ),
    # features
    claim(
        "One unit, one feature",
        "after block 1 the best FFN unit for a word has a mean F1 of 0.61, the best code of an autoencoder 0.9",
        "Wrong for most words after decoder block 1",
        Break("table = words_table()", "table = {name: [0.9] * 3 for name in words_table()}"),
    ),
]
