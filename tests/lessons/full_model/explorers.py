"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "parts": (
        Move(
            "decoder block 1 › feed-forward",
            r"^decoder block 1 › feed-forward receives x \(B, T, D\) = .* returns .* 33,088 parameters, 13\.\d%",
            mouse="click",
        ),
        Move(
            "decoder block 1 › feed-forward",  # from there on to the frame of the next block
            r"^decoder block 2 receives x .* memory \(B, S, D\) = \(2, 5, 64\), .* 66,752 parameters",
            keys=("ArrowRight", "Enter"),
        ),
        Move(
            "Part",
            r"^encoder › positions receives .* and returns \(B, S, D\) = \(2, 5, 64\); no parameters",
            mouse="choose:encoder › positions",
        ),
        Move("Part", r"^encoder block 1 receives x \(B, S, D\) .* 49,984 parameters", keys=("ArrowDown",)),
    ),
    "machine": (
        Move(
            "cross-attention of decoder block 2, head 1: in use",
            r"the intact machine says '.+' .*; without head 1 in the cross-attention of decoder block 2 it says ",
            mouse="click",
        ),
        Move(
            "cross-attention of decoder block 2, head 1: removed",
            r"without heads 1 and 2 in the cross-attention of decoder block 2 it says ",
            keys=("ArrowRight", "Enter"),
        ),
        Move("All norms", r"without any of the 10 norms it says ", mouse="click"),
        Move("Reset", r"^'four hundred twenty one' becomes '.+'\. After ", keys=("Space",)),
        Move(
            "stream of encoder block 1: twenty",
            r"with the vector of '.+' after encoder block 1 in place of that of 'twenty' it says ",
            keys=("Enter", "ArrowDown"),
        ),
        Move("norm of the feed-forward of encoder block 1", r"without the norm of the feed-forward of", mouse="click"),
    ),
}
