"""What the browser suite does in notebook 07."""

from explorer_cases import Case, Move

NOTEBOOK = "07_feed_forward"
CASES = [
    Case(
        NOTEBOOK,
        "activations",
        (
            Move("Input x", r"ReLU at x = -0\.9: value 0\.000, slope 0\.000: no gradient flows", keys=("ArrowRight",)),
            Move("Function f", r"GELU at x = -0\.9: value -0\.166, slope -0\.\d+: a gradient", mouse="choose:GELU"),
            Move("Input x", r"GELU at x = 4\.0: value 4\.000, slope 1\.00\d", mouse="drag"),
            Move("Gated: times a second branch", r"GELU\(x\) times -1 at x = 4\.0: value -4\.000", mouse="click"),
            Move("Second branch u", r"GELU\(x\) times -0\.75 at x = 4\.0: value -3\.000", keys=("ArrowRight",)),
        ),
    ),
    Case(
        NOTEBOOK,
        "ffn-memory",
        (
            Move("Unit, by selectivity", r"^Unit \d+ of decoder block 1: .*; it raises ", keys=("ArrowRight",)),
            Move("Feed-forward of", r"of encoder block 1: .* it writes into", mouse="choose:encoder block 1"),
            Move("Unit, by selectivity", r"^Unit \d+ of encoder block 1: on at", mouse="drag"),
        ),
    ),
    Case(
        NOTEBOOK,
        "block-depth",
        (
            Move("Residual connections", r"24 blocks, pre-norm, without .* alike .* from block [23] on", mouse="click"),
            Move("Depth", r"^12 blocks, pre-norm, without residual", mouse="choose:12 blocks"),
            Move("Residual connections", r"^12 blocks, pre-norm, with residual: .* never alike", keys=("Space",)),
            Move("Norm", r"^12 blocks, post-norm, with residual", mouse="choose:post-norm"),
        ),
    ),
    Case(
        NOTEBOOK,
        "norms",
        (
            Move("Add to all", r"LayerNorm of \[1\.50, 0\.50, .* \[1\.732, -0\.577, ", keys=("ArrowRight",)),
            Move("Norm", r"RMSNorm of \[1\.50, 0\.50, .* \[1\.732, 0\.577, ", mouse="choose:RMSNorm"),
            Move("Multiply all by", r"RMSNorm of \[3\.50, 0\.50, ", mouse="drag"),
        ),
    ),
]
