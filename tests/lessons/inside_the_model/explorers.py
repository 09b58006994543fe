"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    # steering
    "steering": (
        Move("Strength", r"^Strength 0\.5, the sense, after block 4, model 1", keys=("ArrowLeft",)),
        Move("Direction", r"^Strength 0\.5, a random direction, after block 4", mouse="choose:random"),
        Move("After block", r"a random direction, after block 1, model 1", mouse="choose:1"),
        Move("Model", r"after block 1, model 3: in a cafe", mouse="choose:3"),
    ),
}
