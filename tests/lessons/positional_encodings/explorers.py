"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "clocks": (
        Move("Position p", r"^Position 21: .* all eight clocks, no other position looks", keys=("ArrowRight",)),
        Move("Read from", r"^Position 21: .* the six slow ones, 14 other positions", mouse="choose:the six slow ones"),
    ),
    "two-in-one": (
        Move("Width D", r"^Width 8: .* typically 0\.35\. .* 26% of the words", keys=("ArrowRight",)),
        Move("Width D", r"^Width (128|256|512): .* 100% of the words", mouse="drag"),
    ),
    "positions-heatmap": (
        Move("Width D", r"by 68 dimensions\..* neighbours \(they differ by 1\.\d\d\)", keys=("ArrowRight",)),
        Move("Base", r"34 of 34 pairs make a full turn.* 44 apart", mouse="choose:1"),
        Move("Length T", r"^Heatmap of 200 positions", mouse="drag"),
    ),
    "two-positions": (
        Move("Position n", r"distance 6: dot product 23\.56, more than the 23\.50", keys=("ArrowRight",)),
        Move("Position m", r"distance 5: dot product 23\.50, less than the 23\.93", keys=("ArrowRight",)),
        Move("Width D", r"distance 5: dot product 189\.60, less", mouse="choose:512"),
    ),
}
