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
        "Half of it: with twice the tokens",
        (Break("flash_cost(8192, 8192, 64", "flash_cost(8192, 4096, 64"),),
    ),
]
