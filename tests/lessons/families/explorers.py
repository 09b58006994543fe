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
    "tournament": (
        Move(
            "Task",
            r"^same meaning\? After 60 steps: .* not to be compared: encoder, decoder",
            mouse="choose:same meaning?",
        ),
        Move("Steps", r"^same meaning\? After 240 steps: encoder 0\.47", keys=("ArrowDown",)),
        Move("Task", r"^say it otherwise After 240 steps: encoder 0\.28, decoder 0\.71", keys=("ArrowDown",)),
    ),
    "unmasking": (
        Move("Passes", r"^Pass 0 of 8, the surest first, training 0: \? ", keys=("ArrowDown",)),
        Move("Pass", r"^Pass 1 of 8, the surest first, training 0: ", keys=("ArrowRight",)),
        Move("Order", r"^Pass 1 of 8, random ones, training 0: ", mouse="choose:random ones"),
        Move("Training", r"^Pass 1 of 8, random ones, training 1: ", keys=("ArrowDown",)),
    ),
}
