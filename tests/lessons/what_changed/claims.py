"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "SwiGLU is better",
        "than ReLU; than ReLU² only in today's model",
        "It depends. In the model of 2017",
        Break('(("without", "ReLU²"), ("rungs", "bfloat16"))', '(("rungs", "bfloat16"), ("without", "ReLU²"))'),
    ),
    claim(
        "RMSNorm means pre-norm",
        "two choices; RMSNorm trains as well in a post-norm model",
        "Wrong: RMSNorm in a post-norm model",
        Break('with_changes("RMSNorm")', 'with_changes("RMSNorm", "pre-norm")'),
    ),
    claim(
        "Rotary positions are better than sinusoids",
        "for every seed, within the trained length",
        "It holds here: a lower loss for every seed",
        Break('(("rungs", "rotary"), ("rungs", "RMSNorm"))', '(("rungs", "RMSNorm"), ("rungs", "rotary"))'),
    ),
    claim(
        "Learned positions are modern",
        "at least as old as sinusoids, and worse here; rotary ones are better",
        "Wrong: they are at least as old as sinusoids",
        Break('("alone", "learned positions"), ("alone", "rotary")', '("alone", "rotary"), ("alone", "rotary")'),
    ),
]
