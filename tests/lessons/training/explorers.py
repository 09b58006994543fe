"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "schedule": (
        Move("Warm-up", r"^2017: .* at step 500: 50\.0% of the largest\.", keys=("ArrowRight",) * 3),
        Move("Warm-up", r"^2017: .* 0\.005000 at step 250, .* 70\.7% of the largest\.", mouse="drag"),
        Move("Schedule", r"^constant: .* 100\.0% of the largest\.", mouse="choose:constant"),
        Move("Peak", r"0\.010000 at step 250, where it is largest", keys=("ArrowDown",)),
    ),
    "learning-rate": (
        Move("Start", r"^0\.00001: training, step \d+ of 60, loss", mouse="click"),
        Move("Stop", r"^0\.00001: (stopped at|done,) step \d+ of 60, loss", mouse="click", ends=True),
        Move("Rate", r"^not started: press Start to train '0\.003'", keys=("ArrowRight",) * 3),
        Move("Start", r"^0\.003: (training|done), step \d+ of 60, loss", keys=("Space",)),
    ),
    "trained-heads": (
        Move("Head", r"layer 2, head 2: 'vier' looks most at ", keys=("ArrowDown",)),
        Move("Layer", r"layer 1, head \d: ", mouse="choose:1"),
    ),
}
