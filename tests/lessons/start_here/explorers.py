"""What the browser suite does in the notebook.

The weights are those of a training, which may differ a little elsewhere: what is asked of them is where a word looks.
"""

from explorer_cases import Move

MOVES = {
    "translation": (
        Move("Number", r"^13 → dreizehn, right\. Looks most: 'dreizehn' at 'thirteen' \(\d\.\d\d\)\.$", text="13"),
        Move(
            "Number",
            r"^45 → fünf und vierzig, right\. Looks most: 'fünf' at 'five' \(.*\), 'vierzig' at 'forty' \(.*\)\.$",
            text="45",
        ),
        Move("Number", r"^46 → sechs und vierzig, right\. .*'sechs' at 'six'", keys=("ArrowUp",)),
        Move("Block", r"^46 → sechs und vierzig, right\.", mouse="choose:block 1"),
        Move("Head", r"^46 → sechs und vierzig, right\.", keys=("ArrowDown",)),
    ),
    "machine": (
        Move("Back", r"^Step \d+ of \d+\. Block 2, feed-forward: .* \d+ of F = 256 units are active", mouse="click"),
        Move("Forward", r"^'four hundred twenty one' becomes '.+'\. After '.*' comes '", keys=("Enter",)),
        Move("Positions", r"the intact machine says '.+' \(\d\.\d\d\); without positions it says ", mouse="click"),
        Move("Translate", r"^After '.+' the intact .* without positions it says ", text="one hundred twenty-four"),
    ),
    "three-attentions": (
        Move("Attention", r"^Decoder self-attention, layer 1, head 1: .*<bos>", mouse="choose:Decoder self-attention"),
        Move("Layer", r"^Decoder self-attention, layer 2, head 1: ", keys=("ArrowDown",)),
    ),
    "softmax": (
        Move("Temperature", r"temperature 0\.9: probabilities 0\.696, 0\.229, 0\.075", keys=("ArrowLeft",)),
        Move("Temperature", r"temperature 4: probabilities 0\.419, 0\.326, 0\.254; .* 41\.9%", mouse="drag"),
        Move("Logit 1", r"Softmax of 4, 1, 0 at temperature 4: probabilities 0\.543, .* 54\.3%", mouse="drag"),
    ),
}
