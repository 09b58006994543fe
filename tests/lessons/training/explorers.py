"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "schedule": (
        Move("Schedule", r"^2017, at most 0\.005: ", keys=("ArrowDown",)),
        Move("Schedule", r"^warm-up, stable, decay, at most 0\.005: ", mouse="choose:warm-up, stable, decay"),
        Move("Largest rate", r"^warm-up, stable, decay, at most 0\.01: ", keys=("ArrowDown",)),
    ),
    "learning-rate": (
        Move("Start", r"^0\.0001: training, step \d+ of 60, loss", mouse="click"),
        Move("Stop", r"^0\.0001: (stopped at|done,) step \d+ of 60, loss", mouse="click", ends=True),
        Move("Rate", r"^not started: press Start to train '0\.001'", keys=("ArrowRight",)),
        Move("Start", r"^0\.001: (training|done), step \d+ of 60, loss", keys=("Space",)),
    ),
}
