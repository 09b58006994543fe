"""What the browser suite does in the notebook."""

from explorer_cases import Move, rises

MOVES = {
    "attention-stepper": (
        Move("Next", r"^Step 2 of 11\. The query of 'hundred'.* \(1, 0, −1, 1\)", keys=("Enter",)),
        Move("Next", r"^Step 3 of 11\. The keys", mouse="click"),
        Move("Step", r"^Step 7 of 11\. .* = 0\.$", keys=("ArrowRight",) * 4),
        Move("Step", r"^Step 11 of 11\. Every word has asked: 'four' looks most at 'hundred'", mouse="drag"),
        Move("Temperature", r"'hundred' looks most at 'four' \(0\.42\)", mouse="drag"),
        Move("Divide by √d_k", r"'hundred' looks most at 'four' \(0\.51\)", keys=("Space",)),
        Move("Start again", r"^Step 1 of 11", mouse="click"),
        Move("Sentence (up to 6 words)", r"^Step 1 of 10\. .*'hundred', which is \(0, 1, 0\)", text="four hundred"),
        Move("Who asks", r"'four', which is \(1, 0, 0\)", mouse="choose:four"),
    ),
    "query-plane": (
        Move("Query", r"^Query \(1\.1, 1\.1\), length 1\.56.* looks most at 'p", keys=("ArrowRight", "ArrowUp")),
        Move("Query", r"^Query \(-?0\.9, 1\.1\).* looks most at 'phone'", keys=("Shift+ArrowLeft",) * 4),
        Move("Query", r"^Query \(3\.0, 1\.1\), .* looks most at 'pear'", mouse="drag"),
        Move("Temperature", r"temperature 4: it looks most at 'pear'", mouse="drag"),
    ),
    "context": (
        Move("Sentence", r"moves .* to \(1\.53, 2\.28\), towards technology", text="apple phone screen"),
        Move("Sentence", r"towards neither side", text="pear apple phone"),
        Move("Temperature", r"to \(1\.8\d, 1\.8\d\), towards neither side", mouse="drag"),
    ),
    "own-sentence": (
        Move("Number", r"^Block 1, head 1, .*'ninety' at .* of 2 words", text="99"),
        Move("Block", r"^Block 2, head 1, .* of 2 words", mouse="choose:2"),
        Move("Temperature", r"temperature 4: ", mouse="drag", holds=rises(r"Evenness of the weights (\d\.\d\d)")),
    ),
}
