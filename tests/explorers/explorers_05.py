"""Notebook 05's explorers in the browser."""

from explorer_cases import Case, Move

NOTEBOOK = "05_multi_head_attention"
CASES = [
    Case(
        NOTEBOOK,
        "split-heads",
        (
            Move(
                "Number to follow",
                r"Number 10, entry \(1, 4\) of 'hundred', lands in head 1, row 'hun",
                keys=("ArrowRight",),
            ),
            Move(
                "Way",
                r"view alone: Number 10, .* row 'four', column 1 \(another word's row\)",
                mouse="choose:view alone",
            ),
            Move("Heads H", r"^H = 3, .* lands in head 1, row 'twenty'.* 12 of 18 numbers", mouse="choose:3"),
            Move("Heads H", r"^H = 1, .* 0 of 18 numbers", mouse="choose:1"),
        ),
    ),
    Case(
        NOTEBOOK,
        "all-heads",
        (
            Move("Head", r"layer 1, head 2: ", keys=("ArrowDown",)),
            Move("Layer", r"layer 2, head \d: ", mouse="choose:2"),
        ),
    ),
    Case(
        NOTEBOOK,
        "head-removal",
        (
            Move(
                "decoder block 1 self-attention, head 3",
                r"^1 of 24 heads removed \(decoder block 1 self-att",
                mouse="click",
            ),
            Move(
                "decoder block 1 self-attention, head 3",
                r"^2 of 24 .* head 2; .* head 3\)",
                keys=("ArrowLeft", "Enter"),
            ),
            Move("Number", r"^2 of 24 .* 45 → '", text="45"),
        ),
    ),
]
