"""Notebook 12's explorers in the browser."""

from explorer_cases import Case, Move

NOTEBOOK = "12_a_model_that_writes"
CASES = [
    Case(
        NOTEBOOK,
        "writer",
        (
            Move("Written so far", r"^53 of 53 .* '.', (\d\.\d\d) → \1\.$", text="One rainy morning she bo"),
            Move("Top-k", r"^1 of 53 tokens stays; .* '.', \d\.\d\d → 1\.00", keys=("Home",)),
            Move("Written so far", r"^1 of 53 tokens stays; 0\.\d\d of .* → 0\.00 nats", text="One rainy morning "),
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
