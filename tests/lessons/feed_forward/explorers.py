"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
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
        Move("x2", r"RMSNorm of \[3\.00, [12]\.\d0, 3\.50\]: on the way", mouse="pull:x2:0:-40"),  # its bar
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
        Move("In training on", r"^Each feature is on in 1 of 2: ", keys=("ArrowRight",)),
        Move("Now on", r"With 1 and 3 on, the reading is ", mouse="choose:1 and 3"),
        Move("In training on", r"^Each feature is on in 1 of 20: 5 of 5 features are kept", mouse="drag"),
    ),
    "stream": (
        Move("Position", r"^After 'tausend vier hundert' comes 'sieben'\. The stream says: ", keys=("ArrowRight",)),
        Move("Leave out", r"feed-forward 2 'sieben'", mouse="choose:self-attention 2"),
        Move("Position", r"^After '.* dreißig' comes '<eos>'", mouse="drag"),
    ),
}
