"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "RMSNorm means pre-norm",
        "two choices; RMSNorm trains as well in a post-norm model",
        "Wrong: RMSNorm in a post-norm model",
        Break('with_changes("RMSNorm")', 'with_changes("RMSNorm", "pre-norm")'),
    ),
    claim(
        "Learned positions are modern",
        "at least as old as sinusoids, and worse here; rotary ones are better",
        "Wrong: they are at least as old as sinusoids",
        Break('("alone", "learned positions"), ("alone", "rotary")', '("alone", "rotary"), ("alone", "rotary")'),
    ),
]
