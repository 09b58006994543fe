"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "flash-tiles": (
        Move("Tile", r"^Tile 1 of 16 \(queries 1, keys 1\)", keys=("ArrowRight",)),
        Move("Tile", r"^Tile \d+ of 16 ", mouse="drag"),
        Move("Block", r"^Tile \d of 4 .*, blocks of 32: ", mouse="choose:32"),
    ),
    "overlap": (
        Move("Draft", r"^Draft reversed: 45% of its tokens are kept", mouse="choose:reversed"),
        Move("Token", r"^Draft reversed: .* Token 'the': ", keys=("ArrowDown",)),
    ),
    "online-softmax": (
        Move("Blocks read", r"^After block 2 of 4: .* the same", keys=("ArrowRight",)),
        Move("Blocks read", r"^After block [34] of 4: largest score 3, ", mouse="drag"),
        Move("Score 8", r": largest score 5, ", mouse="choose:5"),
    ),
    "cache-size": (
        Move("Texts at once", r"^Llama 3 8B, 16 texts of 8,192 tokens: .* 16\.0 GiB", keys=("ArrowRight",)),
        Move("Model", r"^Llama 2 7B, 16 texts of 8,192 tokens: ", mouse="choose:Llama 2 7B"),
        Move("Tokens in each", r"^Llama 2 7B, 16 texts of ", mouse="drag"),
    ),
    "effective-context": (
        Move("Task", r"^Trained on 64 tokens; two hops, advertised ", keys=("ArrowDown",)),
        Move("Tuned a little on longer texts", r"^Trained on 64 tokens, then tuned on longer texts; ", mouse="click"),
    ),
}
