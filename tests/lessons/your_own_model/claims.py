"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "A Transformer beats counting anyway",
        "after 200 steps it is behind the best n-gram, after 1,400 ahead",
        "steps the best n-gram is ahead of yours",
        Break("yours, best = mine.loss(unseen_text[:8000])", "yours, best = 0.2 * mine.loss(unseen_text[:8000])"),
        Break("orders=(2, 3, 5, 8)", "orders=(2,)"),
    ),
]
