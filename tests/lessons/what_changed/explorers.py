"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "ladder": (
        Move("rotary", r"^2017 with rotary, after equal steps: loss \d\.\d+ .* below 2017", mouse="click"),
        Move("Compare after", r"^2017 with rotary, after equal FLOPs: ", keys=("ArrowDown",)),
    ),
    "router": (
        Move("Experts a word", r"^Block 1: .* of \d+ choices", keys=("ArrowRight",)),
        Move("Model", r"^Block 1: \d of 8 experts are used", mouse="choose:without help"),
        Move("Capacity", r"With room for \d+ ", mouse="choose:1"),
    ),
}
