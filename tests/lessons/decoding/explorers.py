"""What the browser suite does in the notebook."""

from explorer_cases import Move, no_less, rises

FOUND = r"'[^']*' \((?:right|wrong)\), ln P -?\d+\.\d\d, score -?\d+\.\d\d"  # a hypothesis, and its figures
SHARPER = r"(\d\.\d\d) → (\d\.\d\d)\.$"  # of the likeliest token, before the temperature and after
MOVES = {
    "decoding": (
        Move("Step", r"^Step 2 of \d+: '[^']+' [01]\.\d\d, '[^']+' 0\.\d\d; looks most at ", keys=("ArrowRight",)),
        Move("Step", r"^Step (\d+) of \1: ", mouse="drag"),
        Move("Translator", r"of 8: .* so far: sechs", mouse="choose:trained"),
        Move("Number", r"^Step \d of 6: .* so far: vier", text="421"),
    ),
    "sampling": (
        Move("Written so far", r"^35 of 35 .* '[^']+', (\d\.\d\d) → \1\.$", text="sechs"),
        Move("Temperature", r"^35 of 35 ", keys=("Home",), holds=no_less(SHARPER)),
        Move("Written so far", r"^35 of 35 ", text="sechs tausend vier", holds=no_less(SHARPER)),
        Move("Min-p", r"^1 of 35 tokens stays; 0\.\d\d of .* entropy \d\.\d\d → 0\.00", mouse="drag"),
    ),
    "beams": (
        Move("Beams", rf"^3 beams find {FOUND}; greedy {FOUND}\.$", keys=("ArrowRight",)),
        Move(
            "Length penalty",
            rf"^3 beams find {FOUND}; greedy ",
            mouse="drag",
            holds=rises(r"score (-?\d\.\d\d); gr"),
        ),
        Move("Translator", r"\(right\), ln P -?0\.\d\d, score -?0\.\d\d; greedy .* \(right\)", mouse="choose:trained"),
        Move("Number", r"^3 beams find 'zwei hundert sechs und vierzig tausend .*' \(right\)", text="246583"),
    ),
    "cache": (
        Move("Tokens so far", r"^GPT-2, after 1,023 tokens: .* 0\.14 G .* 106 G without: 747 times", mouse="drag"),
        Move("Model", r"^GPT-3 175B, after 1,023 tokens", mouse="choose:GPT-3 175B"),
        Move("Rows", r"^GPT-3 175B, after 1,023 tokens: .*; 2 rows keep 9\.00 GiB", keys=("ArrowRight",)),
        Move("Machine", r"640 GiB are enough: room for 69 rows\.$", mouse="choose:640 GiB"),
    ),
}
