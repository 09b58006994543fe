"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "rotary-angle": (
        Move("Query position m", r"cosine of that, 0\.730\. .* m − n = 4", keys=("ArrowRight",)),
        Move("Key position n", r"cosine of that, 0\.920\. .* m − n = 3", keys=("ArrowRight",)),
        Move("Move both by", r"^Query at 7 turned by 140°, key at 4 .* 0\.920\. .* m − n = 3", keys=("ArrowRight",)),
        Move("Angle per position", r"37° − 270° = −233°", mouse="drag"),
    ),
    "bias-by-distance": (
        Move("Head h", r"^Head 2 of 4, 64 keys .* ALiBi adds −0\.06 .* nearest 44;", keys=("ArrowRight",)),
        Move("Keys", r"^Head 2 of 4, \d{2,3} keys .* ALiBi .* nearest 4[78];", mouse="drag"),
    ),
    "stretched-clocks": (
        Move("Length of the text", r"used on 128, as trained: 5 of 8 .* 2\.0 times", keys=("ArrowRight",)),
        Move("Stretched by", r"used on 128, NTK scaling: 4 of 8", mouse="choose:NTK scaling"),
    ),
}
