"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "clock-hands": (
        Move("Query position m", r"^Query at 8, key at 2: m − n = 6, .* 5\.\d\d of 8", keys=("ArrowLeft",)),
        Move("Key position n", r"^Query at 8, key at 7: m − n = 1, ", keys=("Shift+ArrowRight",)),
        Move("Move both by", r"^Query at 38, key at 37: m − n = 1, ", mouse="drag"),
        Move("Key ahead by a", r"m − n = 1, .* together 7\.\d\d of 8", keys=("ArrowLeft",)),
    ),
    "bias-by-distance": (
        Move("Head h", r"^Head 1 of 4, 64 keys .* ALiBi adds −0\.25 .* nearest 12;", keys=("ArrowLeft",)),
        Move("Keys", r"^Head 1 of 4, \d{2,3} keys .* ALiBi .* nearest 12;", mouse="drag"),
    ),
    "stretched-clocks": (
        Move("Length of the text", r"used on 128, as trained: 5 of 8 .* 2\.0 times", keys=("ArrowRight",)),
        Move("Stretched by", r"used on 128, NTK scaling: 4 of 8", mouse="choose:NTK scaling"),
    ),
}
