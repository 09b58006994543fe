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
        Move("Forward", r"^Step 2 of \d+\. Each of the 5 words becomes a vector of D = 64 numbers", mouse="click"),
        Move("End", r"^'six thousand seven hundred five' becomes '.+'\. After '.*' comes '", keys=("Enter",)),
        Move("Positions", r"the intact machine says '.+' \(\d\.\d\d\); without positions it says ", mouse="click"),
        Move(
            "Translate", r"^After '.+' the intact .* without positions it says ", text="seven thousand six hundred five"
        ),
    ),
}
