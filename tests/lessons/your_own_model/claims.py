"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "A Transformer beats counting anyway",
        "after 200 steps it is behind the best n-gram, after 1,400 ahead",
        "Wrong at 200 steps, right at 1,400",
        Break('run["model"][1] for', 'run["model"][-1] for'),
        Break("min(run", "max(run"),
    ),
]
