"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "few-labels": (
        Move("Labelled texts", r"^From 30 labels, equal steps: .* Labels for 95%: ", keys=("ArrowDown",)),
        Move("Labelled texts", r"^From 1,000 labels, equal steps: ", mouse="choose:1,000"),
        Move("Needed", r"^From 1,000 labels, .* Labels for 100%: from scratch ", mouse="drag"),
        Move("A dot for each seed", r"^From 1,000 labels, ", keys=("Space",)),
    ),
    "drift": (
        Move("β", r"^β = 0\.5, before ", keys=("ArrowDown",)),
        Move("β", r"^β = 2, before ", mouse="choose:2"),
    ),
    "forgetting": (
        Move("Way", r"^a third of the rate, before ", keys=("ArrowDown",)),
        Move("Way", r"^one old text in ten, before ", mouse="choose:one old text in ten"),
        Move("Upwards", r"^one old text in ten, before ", keys=("ArrowDown",)),
    ),
}
