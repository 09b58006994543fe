"""What the browser suite does in the notebook."""

from explorer_cases import Move, rises

MOVES = {
    "merges": (
        Move(
            "Merges",
            r"Merge 2 joins 'h' and 'e' to 'he'\. The text takes \d+ tokens, 61 ",
            keys=("ArrowRight",) * 2,
        ),
        Move("Merges", r"Merge 509 joins .* The text takes 22 tokens, 61 without a merge\.", mouse="drag"),
    ),
    "tokens": (
        Move(
            "Text",
            r"^6 characters: characters 6 tokens, 1 unknown; words 2 tokens, 1 unknown; byte pairs \d tokens; ",
            text="fox ☃!",
        ),
        Move("Show", r"^6 characters: characters 6 tokens", mouse="choose:ids"),
        Move("Show", r"^6 characters: characters 6 tokens", keys=("ArrowUp",)),
    ),
    "embeddings": (
        Move("Step", r"Step 2: nearest to 'one' are .* \d+ of 27 words", keys=("ArrowRight",)),
        Move("Step", r"Step 80: nearest to 'one' are .* words have", mouse="drag", holds=rises(r"(\d+) of 27 words")),
        Move("Word", r"Step 80: nearest to 'two' are ", keys=("ArrowDown",)),
    ),
}
