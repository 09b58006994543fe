"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
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
}
