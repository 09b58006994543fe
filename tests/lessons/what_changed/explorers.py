"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "muon": (
        Move("Iterations", r"Muon's after 1 iterations", keys=("ArrowRight",)),
        Move("Angle", r"gradient 1\.00 and 0\.10; Adam's first step 1\.00 and 1\.00", mouse="drag"),
        Move("Weak direction", r"gradient 1\.00 and 0\.\d\d", keys=("ArrowRight",)),
    ),
    "ladder": (
        Move(
            "rotary: positions turn queries and keys (−0.58)",
            r"^2017 with rotary, after equal steps: loss \d\.\d+ .* below 2017",
            mouse="click",
        ),
        Move("Compare after", r"^2017 with rotary, after equal FLOPs: ", keys=("ArrowDown",)),
    ),
    "router": (
        Move("Experts a word", r"^Block 1: .* of \d+ choices", keys=("ArrowRight",)),
        Move("Model", r"^Block 1: \d of 8 experts are used", mouse="choose:without help"),
        Move("Capacity", r"With room for \d+ ", mouse="choose:1"),
    ),
}
