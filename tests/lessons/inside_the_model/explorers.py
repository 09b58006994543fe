"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "patching": (
        Move("Cell", r"Chosen: encoder block 2, self-attention, at 'four'", keys=("ArrowDown", "ArrowDown")),
        Move("Sentences", r"^421 with one vector of 427: 'sieben'", mouse="choose:421 and 427: the unit"),
    ),
    "circuit": (
        Move("Parts kept", r"^Seed 0: 15 of 28 parts are kept", keys=("ArrowRight",)),
        Move("Trained with", r"^Seed 2: 15 of 28 parts are kept", mouse="choose:seed 2"),
    ),
}
