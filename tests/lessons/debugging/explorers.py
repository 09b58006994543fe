"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "ablation": (
        Move("Right", r"no causal mask: loss 0\.0\d\d, exact match [0-4]\.\d%", mouse="choose:no causal mask"),
        Move("Right", r"no positions: loss 0\.\d+, .* The lower loss translates better\.", keys=("n", "o", " ", "p")),
        Move("Smooth over", r"the right model: loss 0\.\d+, exact match \d+\.\d%", keys=("ArrowLeft",)),
    ),
    "machine": (
        Move("Back", r"^Step \d+ of \d+\. Block 2, feed-forward: ", mouse="click"),
        Move("Translate", r"^'seven thousand twelve' becomes '", text="seven thousand twelve"),
        Move("Temperature", r"^'seven thousand twelve' becomes '", keys=("ArrowRight",) * 5),
    ),
    "live-training": (
        Move("Start", r"^the right model: training, step \d+ of 70, loss", mouse="click"),
        Move("Stop", r"^the right model: (stopped at|done,) step \d+ of 70, loss", mouse="click", ends=True),
        Move("Model", r"^not started: press Start to train 'no causal mask'", mouse="choose:no causal mask"),
        Move("Start", r"^no causal mask: training, step \d+ of 70, loss", keys=("Space",)),
        Move("Stop", r"^no causal mask: (stopped at|done,) step \d+ of 70, loss", keys=("Space",), ends=True),
    ),
    "probe": (
        Move("Model", r"^mask one too far: .* 2 of them do, .* 13 of 28", mouse="choose:mask one too far"),
        Move("Which one", r"position 3; positions 1 to 2 must not move, and 2 of them do", keys=("ArrowLeft",)),
        Move("Change", r"^mask one too far: 3 × <pad> .* 0 of 64", mouse="choose:padding behind the source"),
        Move("Model", r"^padding not masked: 3 × <pad> .* 64 of 64", mouse="choose:padding not masked"),
        Move("Change", r"^padding not masked: 'four hundred twenty-one' .* 0 of 64", keys=("a", " ", "n")),
    ),
}
