"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "few-labels": (
        Move("Labelled texts", r"^From 30 labels: .* Labels for 80%: ", keys=("ArrowDown",)),
        Move("Labelled texts", r"^From 1,000 labels: ", mouse="choose:1,000"),
        Move("Needed", r"^From 1,000 labels: .* Labels for 100%: from scratch ", mouse="drag"),
        Move("A dot for each seed", r"^From 1,000 labels: ", keys=("Space",)),
    ),
}
