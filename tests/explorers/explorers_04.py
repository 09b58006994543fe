"""Notebook 04's explorers in the browser."""

from explorer_cases import Case, Move, rises

NOTEBOOK = "04_self_attention"
CASES = [
    Case(
        NOTEBOOK,
        "three-tokens",
        (
            Move("Temperature", r"temperature 0\.9: .*'hundred' \(0\.70\)", keys=("ArrowLeft",)),
            Move("Divide by √d_k", r"not divided by √4, temperature 0\.9: .* Evenness of .* 0\.3", mouse="click"),
            Move("Temperature", r"temperature 4: .* lie up to 1\.\d\d apart", mouse="drag"),
        ),
    ),
    Case(
        NOTEBOOK,
        "query-plane",
        (
            Move("Query", r"^Query \(1\.1, 1\.1\), length 1\.56.* looks most at 'p", keys=("ArrowRight", "ArrowUp")),
            Move("Query", r"^Query \(-?0\.9, 1\.1\).* looks most at 'phone'", keys=("Shift+ArrowLeft",) * 4),
            Move("Query", r"^Query \(3\.0, 1\.1\), .* looks most at 'pear'", mouse="drag"),
            Move("Temperature", r"temperature 4: it looks most at 'pear'", mouse="drag"),
        ),
    ),
    Case(
        NOTEBOOK,
        "context",
        (
            Move("Sentence", r"moves .* to \(1\.39, 2\.34\), towards technology", text="apple phone screen"),
            Move("Sentence", r"towards neither side", text="pear apple phone"),
            Move("Divide by √d_k", r"towards neither side", mouse="click"),
            Move("Temperature", r"to \(1\.8\d, 1\.8\d\), towards neither side", mouse="drag"),
        ),
    ),
    Case(
        NOTEBOOK,
        "own-sentence",
        (
            Move("Number", r"^Block 1, head 1, .*'ninety' at .* of 2 words", text="99"),
            Move("Block", r"^Block 2, head 1, .* of 2 words", mouse="choose:2"),
            Move("Temperature", r"temperature 4: ", mouse="drag", holds=rises(r"Evenness of the weights (\d\.\d\d)")),
        ),
    ),
    Case(
        NOTEBOOK,
        "encoder-heads",
        (
            Move("Layer", r"^layer 2, head 1: 'four' looks most at", keys=("ArrowDown",)),
            Move("Head", r"^layer 2, head 3: 'four' looks most at", mouse="choose:3"),
        ),
    ),
]
