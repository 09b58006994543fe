"""What the browser suite does in the notebook."""

from explorer_cases import Move, rises

MOVES = {
    "fusing": (
        Move(
            "Merges",
            r"After 1 merge \(the newest piece is 'en'\): t en, t en s, .* t \+ en, 11 times",
            keys=("ArrowRight",),
        ),
        Move("Merges", r"After 5 merges .*: ten, ten s, hen, men, o ften\.", mouse="drag"),
    ),
    "merges": (
        Move(
            "Merges",
            r"Merge 2 joins '␣' and 'a' to '␣a'\. The text takes 57 tokens, 61 ",
            keys=("ArrowRight",) * 2,
        ),
        Move("Merges", r"Merge 50,000 joins .* The text takes 15 tokens, 61 without a merge\.", mouse="drag"),
        Move("Text", r"Merge 50,000 .* The text takes 1 tokens?, 4 without", text="tiny"),
    ),
    "tokens": (
        Move(
            "Text",
            r"^6 characters: GPT-2 5 tokens; words 2 tokens, 1 unknown; characters 6 tokens, 1 unk",
            text="fox ☃!",
        ),
        Move("Text", r"^17 characters: GPT-2 6 tokens; ", text="unbelievable 狐 Zoe"),
    ),
    "embeddings": (
        Move("Step", r"Step 2: nearest to 'one' are .* \d+ of 27 words", keys=("ArrowRight",)),
        Move("Step", r"Step 80: nearest to 'one' are .* words have", mouse="drag", holds=rises(r"(\d+) of 27 words")),
        Move("Word", r"Step 80: nearest to 'two' are ", keys=("ArrowDown",)),
    ),
    "directions": (
        Move("Arrow of pair", r"animal → sound: the arrow cat → purrs finds 7 of 7 words", keys=("ArrowRight",)),
        Move("Relation", r"one → many: the arrow orange → oranges finds \d of 7 words", mouse="choose:one → many"),
    ),
}
