"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    # features
    "dictionary": (
        Move("L1 weight", r"^40 columns, L1 0\.1: \d+ of 20 features found", keys=("ArrowRight",)),
        Move("Columns", r"^80 columns, L1 0\.1: ", keys=("ArrowRight",)),
        Move("L1 weight", r"^80 columns, L1 0\.8: ", mouse="drag"),
    ),
}
