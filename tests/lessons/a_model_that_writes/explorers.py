"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "writing": (
        Move("Write", r"^Story 1 by context 256(: writing\.|, done\. )", mouse="click"),
        Move("Stop", r"^Story 1 by context 256, (stopped|done)\. left ", mouse="click", ends=True),
        Move("Left temperature", r"^Story 1 by .* left \(temperature 0\.6, ", keys=("ArrowRight",)),
        Move("Right top-p", r"; right \(temperature 1\.0, top-p 0\.05\)", keys=("Home",)),
        Move("Writer", r"^Story 1 by context 64, press Write\. ", mouse="choose:context 64"),
        Move("Beginning", r"^Story 1 by context 64, press Write\. ", text="In a big "),
        Move("Write", r"^Story 1 by context 64(: writing\.|, done\. )", keys=("Space",)),
        Move("Stop", r"^Story 1 by context 64, (stopped|done)\. .*'In a big ", keys=("Space",), ends=True),
    ),
    "writer": (
        Move("Written so far", r"^53 of 53 .* '.', (\d\.\d\d) → \1\.$", text="One rainy morning she bo"),
        Move("Top-k", r"^1 of 53 tokens stays; .* '.', \d\.\d\d → 1\.00", keys=("Home",)),
        Move("Written so far", r"^1 of 53 tokens stays; 0\.\d\d of .* → 0\.00 nats", text="One rainy morning "),
        Move("Top-k", r"^53 of 53 tokens stay; 0\.00 of", mouse="drag"),
    ),
    "writer-attention": (
        Move("Layer", r"^layer 2, head 1: 's' looks most at 's' \(1\.00\)", keys=("ArrowDown",)),
        Move("Head", r"^layer 2, head 2: 's' looks most at 's' \(1\.00\)", mouse="choose:2"),
        Move("Causal mask", r"^layer 2, head 2, causal mask off: 's' looks most at ", mouse="click"),
    ),
}
