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
    "windows": (
        Move("Place", r"^Next comes the friend, .* context 64 writes “", mouse="choose:friend"),
        Move("Story", r"^Next comes the friend, .* context 256 writes “", keys=("ArrowRight",)),
    ),
    "heads-look": (
        Move("Head", r"Layer 1, head 1 puts \d+% of its attention there", mouse="choose:layer 1, head 1"),
        Move("Place", r"^Next comes the lost thing, ", mouse="choose:lost thing"),
        Move("Story", r"^Next comes the lost thing, ", keys=("ArrowRight",)),
    ),
}
