"""What the browser suite does in notebook 01."""

from explorer_cases import Case, Move

CASES = [
    Case(
        "01_limits_of_recurrence",
        "spectral-radius",
        (
            Move("Spectral radius", r"Spectral radius 0\.60: .* It vanishes\.", keys=("ArrowLeft",) * 4),
            Move("Spectral radius", r"Spectral radius 1\.60: .* It explodes\.", mouse="drag"),
        ),
    ),
    Case(
        "01_limits_of_recurrence",
        "path-length",
        (
            Move("Distance", r"9 places apart, kernel 3: recurrence 9, convolution 5,", keys=("ArrowRight",)),
            Move("Distance", r"512 places apart, kernel 3: recurrence 512, .* attention 1\.", mouse="drag"),
            Move("Kernel width", r"512 places apart, kernel 4: .* attention 1\.", keys=("ArrowRight",)),
        ),
    ),
]
