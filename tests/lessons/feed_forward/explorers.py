"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "activations": (
        Move("Input x", r"ReLU at x = -0\.9: value 0\.000, slope 0\.000: no gradient flows", keys=("ArrowRight",)),
        Move("Function f", r"GELU at x = -0\.9: value -0\.166, slope -0\.\d+: a gradient", mouse="choose:GELU"),
        Move("Input x", r"GELU at x = 4\.0: value 4\.000, slope 1\.00\d", mouse="drag"),
        Move("Gated: times a second branch", r"GELU\(x\) times -1 at x = 4\.0: value -4\.000", mouse="click"),
        Move("Second branch u", r"GELU\(x\) times -0\.75 at x = 4\.0: value -3\.000", keys=("ArrowRight",)),
    ),
    "ffn-memory": (
        Move("Unit, by selectivity", r"^Unit \d+ of decoder block 1: .*; it raises ", keys=("ArrowRight",)),
        Move("Feed-forward of", r"of encoder block 1: .* it writes into", mouse="choose:encoder block 1"),
        Move("Unit, by selectivity", r"^Unit \d+ of encoder block 1: on at", mouse="drag"),
    ),
    "block-depth": (
        Move("Residual connections", r"24 blocks, pre-norm, without .* alike .* from block [23] on", mouse="click"),
        Move("Depth", r"^12 blocks, pre-norm, without .* Before: 24 blocks, pre-norm", mouse="choose:12 blocks"),
        Move("Residual connections", r"^12 blocks, pre-norm, with residual: .* never alike", keys=("Space",)),
        Move("Norm", r"^12 blocks, post-norm, with residual", mouse="choose:post-norm"),
    ),
    "norms": (
        Move("Add to all", r"LayerNorm of \[3\.00, 0\.50, .* \[1\.298, -1\.136, ", keys=("ArrowRight",)),
        Move("Norm", r"RMSNorm of \[3\.00, 0\.50, .*, the length √3\.", mouse="choose:RMSNorm"),
        Move("On the way", r"on the way to the sphere: mean 1\.\d+, length 3\.\d+", keys=("Home",)),
        Move("x3", r"RMSNorm of \[3\.00, 0\.50, 3\.50\]: on the way", mouse="drag"),
    ),
    "hinges": (
        Move("Unit 2, slope", r"\+1 at x = −2, −0\.5 at x = 0\..*\(not met\)", keys=("ArrowLeft",)),
        Move("Target", r"from the target, a step: .*\(not met\)", mouse="choose:a step"),
        Move("Unit 3, slope", r"−0\.5 at x = 0, \+3 at x = 2", mouse="drag"),
    ),
    "one-unit": (
        Move("Bias b", r"2 − 1 = 1, fires 1; .* So this is AND\.", keys=("ArrowLeft", "ArrowLeft")),
        Move("Bias b", r"it always fires\.", mouse="drag"),
    ),
    "superposition": (
        Move("Features n", r"^6 features in 2 dimensions, spread apart: largest overlap", keys=("ArrowRight",)),
        Move("Directions", r"^6 features in 2 dimensions, random: ", mouse="choose:random"),
        Move("Features n", r"^50 features in 2 dimensions, random: .* 0% with 1 on", mouse="drag"),
    ),
}
