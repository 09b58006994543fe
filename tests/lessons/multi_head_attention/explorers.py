"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "two-keys": (
        Move("Start", r"^one head: (training|done), step \d+ of 200, \d+% of 500", mouse="click"),
        Move("Stop", r"^one head: (stopped at|done,) step \d+ of 200, ", mouse="click", ends=True),
        Move("Layer", r"^not started: press Start to train 'two heads'", mouse="choose:two heads"),
        Move("Start", r"^two heads: (training|done), step \d+ of 200, \d+% of 500", keys=("Space",)),
        Move("Stop", r"^two heads: (stopped at|done,) step \d+ of 200, ", keys=("Space",), ends=True),
    ),
    "pronoun": (
        Move("soft", r"because it was soft': it points at 'mat' \(1\.00\), right\.", mouse="click"),
        Move("Sentence", r"^'the rug lay .* points at 'rug' \(1\.00\), right\.", keys=("ArrowDown",)),
        Move("Remove", r", without head 1 and head 2 of block 1: it points at ", mouse="choose:both heads of block 1"),
    ),
    "split-heads": (
        Move(
            "Number to follow",
            r"Number 10, entry \(1, 4\) of 'hundred', lands in head 2, row 'hun",
            keys=("ArrowRight",),
        ),
        Move(
            "Way",
            r"view alone: Number 10, .* row 'four', column 1 \(another word's row\)",
            mouse="choose:view alone",
        ),
        Move("Heads H", r"^H = 3, .* lands in head 2, row 'twenty'.* 12 of 18 numbers", mouse="choose:3"),
        Move("Heads H", r"^H = 1, .* 0 of 18 numbers", mouse="choose:1"),
    ),
    "all-heads": (
        Move("Layer", r"layer 1, head 1: ", mouse="choose:1"),
        Move("Head", r"layer 1, head 2: ", keys=("ArrowDown",)),
    ),
    "head-removal": (
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
}
