"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "mask": (
        Move("query 1 vier, key 1 vier", r"^35 of 64 cells allowed\. Every row sums to 1\.00", mouse="click"),
        Move(
            "query 1 vier, key 1 vier",  # on to the left, and <bos> is forbidden, too
            r"^34 of 64 cells allowed\. Fully masked: query 1 vier \(its weights are 0\)",
            keys=("ArrowLeft", " "),
        ),
        Move("Fill", r"1 vier \(its weights sum to 1\.00, all on masked keys\)", mouse="choose:−1e9"),
        Move("Fill", r"query 1 vier \(its weights are NaN\)", keys=("ArrowUp",)),
        Move("Undo all clicks", r"^36 of 64 cells allowed\. Every row", mouse="click"),
        Move("Padding", r"^33 of 64 cells allowed", keys=(" ",)),
        Move("Window", r"^30 of 64 cells allowed", keys=("ArrowLeft", "ArrowLeft")),
        Move("Causal", r"^45 of 64 cells allowed", mouse="click"),
        Move("Length", r"^41 of 49 cells allowed", keys=("ArrowLeft",)),
    ),
    "leak": (
        Move("Mask", r"^one too far, 1 block: 7 of 28 later inputs", mouse="choose:wrong: one too far"),
        Move("Blocks", r"^one too far, 2 blocks: 13 of 28 later .* output 0 ← inputs 1, 2", keys=("ArrowRight",)),
        Move("Blocks", r"^one too far, 4 blocks: 22 of 28 later inputs", mouse="drag"),
        Move("Mask", r"^transposed, 4 blocks: all 28 later inputs come through", keys=("ArrowDown",)),
        Move("Mask", r"^causal, 4 blocks: no leak\.", mouse="choose:right: causal"),
        Move("Mask", r"^two texts in one row, 4 blocks: 0 of 44 forbidden", mouse="choose:right: two texts in one row"),
        Move("Mask", r"^prefix of 3, 4 blocks: 0 of 25 forbidden", keys=("ArrowDown",)),
    ),
}
