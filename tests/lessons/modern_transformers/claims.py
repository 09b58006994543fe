"""The claims that notebook 15 tests."""

from claims import Break, Claim

HERE = "15_modern_transformers"

CLAIMS = [
    Claim(
        "FlashAttention approximates attention",
        "it is exact: merged blocks are the same softmax",
        HERE,
        "Wrong: block by block, no output is more than",
        (Break("flash_attention(9 * q", "flash_attention(8.9 * q"),),
    ),
    Claim(
        "Attention's time is quadratic, and FlashAttention cures it",
        "its operations stay quadratic; the memory becomes linear",
        HERE,
        "Half true: with twice the tokens",
        (Break("flash_cost(8192, 8192, 64", "flash_cost(8192, 4096, 64"),),
    ),
    Claim(
        "SwiGLU is better",
        "than ReLU; than ReLU² only in today's model",
        HERE,
        "It depends. In the model of 2017",
        (Break('(("without", "ReLU²"), ("rungs", "bfloat16"))', '(("rungs", "bfloat16"), ("without", "ReLU²"))'),),
    ),
    Claim(
        "RMSNorm means pre-norm",
        "two choices; RMSNorm trains as well in a post-norm model",
        HERE,
        "Wrong: RMSNorm in a post-norm model",
        (Break('with_changes("RMSNorm")', 'with_changes("RMSNorm", "pre-norm")'),),
    ),
    Claim(
        "Rotary positions are better than sinusoids",
        "for every seed, within the trained length",
        HERE,
        "It holds here: a lower loss for every seed",
        (Break('(("rungs", "rotary"), ("rungs", "RMSNorm"))', '(("rungs", "RMSNorm"), ("rungs", "rotary"))'),),
    ),
    Claim(
        "Learned positions are modern",
        "at least as old as sinusoids, and worse here; rotary ones are better",
        HERE,
        "Wrong: they are at least as old as sinusoids",
        (Break('("alone", "learned positions"), ("alone", "rotary")', '("alone", "rotary"), ("alone", "rotary")'),),
    ),
    Claim(
        "It accepts ten million tokens, so it uses them",
        "a text is accepted at 16 times the trained length, and most needles are not found",
        HERE,
        "Accepting is no proof of using",
        (Break('["needle"]["plain rotary"]]', '["needle"]["YaRN"]]'),),
    ),
]
