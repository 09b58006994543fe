"""What the browser suite does in notebook 09."""

from explorer_cases import Case, Move

CASES = [
    Case(
        "09_training",
        "schedule",
        (
            Move("Warm-up", r"^2017: .* at step 500: 50\.0% of the largest\.", keys=("ArrowRight",) * 3),
            Move("Warm-up", r"^2017: .* 0\.005000 at step 250, .* 70\.7% of the largest\.", mouse="drag"),
            Move("Schedule", r"^constant: .* 100\.0% of the largest\.", mouse="choose:constant"),
            Move("Peak", r"0\.010000 at step 250, where it is largest", keys=("ArrowDown",)),
        ),
    ),
    Case(
        "09_training",
        "trained-heads",
        (
            Move("Head", r"layer 2, head 2: 'vier' looks most at ", keys=("ArrowDown",)),
            Move("Layer", r"layer 1, head \d: ", mouse="choose:1"),
        ),
    ),
    Case(
        "09_training",
        "ablation",
        (
            Move("Right", r"no causal mask: loss 0\.0\d\d, exact match [0-4]\.\d%", mouse="choose:no causal mask"),
            Move(
                "Right", r"no positions: loss 0\.\d+, .* The lower loss translates better\.", keys=("n", "o", " ", "p")
            ),
            Move("Smooth over", r"the right model: loss 0\.\d+, exact match \d+\.\d%", keys=("ArrowLeft",)),
        ),
    ),
    Case(
        "09_training",
        "live-training",
        (
            Move("Start", r"^the right model: training, step \d+ of 70, loss", mouse="click"),
            Move("Stop", r"^the right model: (stopped at|done,) step \d+ of 70, loss", mouse="click", ends=True),
            Move("Model", r"^not started: press Start to train 'no causal mask'", mouse="choose:no causal mask"),
            Move("Start", r"^no causal mask: training, step \d+ of 70, loss", keys=("Space",)),
            Move("Stop", r"^no causal mask: (stopped at|done,) step \d+ of 70, loss", keys=("Space",), ends=True),
        ),
    ),
]
