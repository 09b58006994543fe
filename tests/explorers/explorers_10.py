"""Notebook 10's explorers in the browser."""

from explorer_cases import Case, Move

NOTEBOOK = "10_generation"
CASES = [
    Case(
        NOTEBOOK,
        "decoding",
        (
            Move("Step", r"^Step 2 of 8: 'tausend' 0\.44, 'hundert' 0\.41; looks most at 'th", keys=("ArrowRight",)),
            Move("Step", r"^Step 8 of 8: '<eos>' 0\.95", mouse="drag"),
            Move("Translator", r"^Step 8 of 8: '<eos>' 0\.98, .* looks most at 'thirty'", mouse="choose:journeyman"),
            Move("Number", r"^Step 6 of 6: '<eos>' .* so far: vier hundert ein und zwanzig\.$", text="421"),
        ),
    ),
    Case(
        NOTEBOOK,
        "sampling",
        (
            Move("Written so far", r"^35 of 35 .* 'tausend', 0\.44 → 0\.44\.$", text="sechs"),
            Move("Temperature", r"^35 of 35 .* 'tausend', 0\.44 → 0\.67\.$", keys=("Home",)),
            Move("Written so far", r"^35 of 35 .* 'hundert', 0\.82 → 1\.00\.$", text="sechs tausend vier"),
            Move("Min-p", r"^1 of 35 tokens stays; 0\.18 of .* entropy 0\.69 → 0\.00", mouse="drag"),
        ),
    ),
    Case(
        NOTEBOOK,
        "beams",
        (
            Move("Beams", r"^3 beams find 'sechs hundert vier und dreißig' \(wrong\), ln P -4", keys=("ArrowRight",)),
            Move("Length penalty", r"^3 beams find 'sechs tausend .* \(right\), .* score -0\.95", mouse="drag"),
            Move("Translator", r"\(right\), ln P -0\.12, score -0\.03; greedy .* \(right\)", mouse="choose:journeyman"),
            Move("Number", r"\(right\), ln P -1\.66, .*; greedy .* \(wrong\), ln P -2\.00", text="246583"),
        ),
    ),
    Case(
        NOTEBOOK,
        "cache",
        (
            Move("Tokens so far", r"^GPT-2, after 1,023 tokens: .* 0\.14 G .* 106 G without: 747 times", mouse="drag"),
            Move("Model", r"^GPT-3 175B, after 1,023 tokens", mouse="choose:GPT-3 175B"),
            Move("Rows", r"^GPT-3 175B, after 1,023 tokens: .*; 2 rows keep 9\.00 GiB", keys=("ArrowRight",)),
        ),
    ),
    Case(
        NOTEBOOK,
        "writer",
        (
            Move("Written so far", r"^53 of 53 .* 'u', 0\.[89]", text="One rainy morning she bo"),
            Move("Top-k", r"^1 of 53 tokens stays; .* 'u', 0\.[89]\d → 1\.00", keys=("Home",)),
            Move("Written so far", r"^1 of 53 tokens stays; 0\.[3-9]\d of .* → 0\.00 nats", text="One rainy morning "),
            Move("Top-k", r"^53 of 53 tokens stay; 0\.00 of", mouse="drag"),
        ),
    ),
    Case(
        NOTEBOOK,
        "writer-attention",
        (
            Move("Layer", r"^layer 2, head 1: 's' looks most at 's' \(1\.00\)", keys=("ArrowDown",)),
            Move("Head", r"^layer 2, head 3: 's' looks most at 's' \(1\.00\)", mouse="choose:3"),
            Move("Causal mask", r"^layer 2, head 3, causal mask off: 's' looks most at ", mouse="click"),
        ),
    ),
]
