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
    # induction
    "induction": (
        Move("Training step", r"^Step 280, layer 1 looks as learned\. Layer 2, head 1: ", keys=("ArrowLeft",)),
        Move("Attention of", r"Layer 1, head 2: weight \d", mouse="choose:layer 1, head 2"),
        Move(
            "Layer 1 looks",
            r"looks 2 letters back\. .* are the next letter, \d+ are 2 on",
            mouse="choose:2 letters back",
        ),
        Move("Training step", r"^Step 300, layer 1 looks 2 letters back", mouse="drag"),
    ),
    # steering
    "steering": (
        Move("Strength", r"^Strength 0\.5, the sense, after block 4, model 1", keys=("ArrowLeft",)),
        Move("Direction", r"^Strength 0\.5, a random direction, after block 4", mouse="choose:random"),
        Move("After block", r"a random direction, after block 1, model 1", mouse="choose:1"),
        Move("Model", r"after block 1, model 3: in a cafe", mouse="choose:3"),
    ),
    # features
    "dictionary": (
        Move("L1 weight", r"^40 columns, L1 0\.1: \d+ of 20 features found", keys=("ArrowRight",)),
        Move("Columns", r"^80 columns, L1 0\.1: ", keys=("ArrowRight",)),
        Move("L1 weight", r"^80 columns, L1 0\.8: ", mouse="drag"),
    ),
}
