"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "gap-filler": (
        Move("Text", r"^Hidden is 'cat'\. encoder: .* exact: not a text of the world\.", text="lucy has a cat ."),
        Move("Hidden word", r"^Hidden is '\.'\. encoder: '\.' ", keys=("ArrowRight",)),
        Move("Text", r"^Hidden is 'dog'\. encoder: ", text="mia lost a tall dog today ."),
        Move("Hidden word", r"^Hidden is '\.'\. encoder: ", mouse="drag"),
    ),
    "objectives": (
        Move(
            "Objective",
            r"^Masked words \(BERT\): \d of 11 .* sees 11\.0 of 11 ",
            mouse="choose:masked words (BERT)",
        ),
        Move("Text", r"^Masked words .* no 'zebra': <unk>\.$", text="Tom lost a zebra ."),
        Move("Hidden share", r"^Masked words .* sees 7\.0 of 7 ", mouse="drag"),
        Move("Objective", r"^Next sentence \(BERT\): 1 of \d+ .* scored: '(yes|no)'", keys=("ArrowDown",)),
        Move("Objective", r"^Spans cut out \(T5\): \d+ of \d+ .* scored: '<x0>'", keys=("ArrowDown",)),
    ),
}
