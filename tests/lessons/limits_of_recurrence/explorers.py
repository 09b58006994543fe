"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "spectral-radius": (
        Move("Spectral radius", r"Spectral radius 0\.60: .* It vanishes\.", keys=("ArrowLeft",) * 4),
        Move("Spectral radius", r"Spectral radius 1\.60: .* It explodes\.", mouse="drag"),
    ),
    "overwritten": (
        Move("Word", r"After word 2 of 20, 'grew': \d\d % is left of 'Maya'", keys=("ArrowRight",)),
        Move("Word", r"After word 5 of 20, 'Nepal': ", mouse="point:word=5"),
        Move("Play", r"After word 20 of 20, 'fluent': under 1 % is left of 'Maya'", mouse="click"),
    ),
    "he-or-she": (
        Move("Word", r"After word 2 of 21, 'put'\. .*GRU that looks back: she \d+ %\.", keys=("ArrowRight",)),
        Move("Play", r"After word 21 of 21, 'because'\. .*: she (9\d|100) %\. Looking back", mouse="click"),
    ),
    "signal-race": (
        Move("Step", r"After step 2, .*: recurrence 2 of 16, convolution 4 of 16, attention", keys=("ArrowRight",)),
        Move("Play", r"After step 16, .*: recurrence arrived after 16, convolution arrived", mouse="click"),
        Move("Distance", r"recurrence 16 of 17, convolution arrived after 9,", keys=("ArrowRight",)),
        Move("Kernel width", r"kernel width 9: .* convolution arrived after 3, attention", mouse="drag"),
    ),
}
