"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    # induction
    claim(
        "In-context learning needs a large model",
        "two layers of attention copy a block that is new to them, one layer of as many parameters does not",
        "Wrong for copying",
        Break("copying = learn_copying(seed=0)", "copying = learn_copying(layers=1, seed=0)"),
        Break("learn_copying(layers=1, width=88, seed=0)", "learn_copying(width=56, seed=0)"),
    ),
]
