"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "FlashAttention approximates attention",
        "it is exact: merged blocks are the same softmax",
        "Wrong: block by block, no output is more than",
        Break("flash_attention(9 * q", "flash_attention(8.9 * q"),
    ),
    claim(
        "Attention's time is quadratic, and FlashAttention cures it",
        "its operations stay quadratic; the memory becomes linear",
        "Half true: with twice the tokens",
        Break("flash_cost(8192, 8192, 64", "flash_cost(8192, 4096, 64"),
    ),
    claim(
        "It accepts ten million tokens, so it uses them",
        "a text is accepted at 16 times the trained length, and most needles are not found",
        "Accepting is no proof of using",
        Break('["needle"]["plain rotary"]]', '["needle"]["YaRN"]]'),
    ),
]
