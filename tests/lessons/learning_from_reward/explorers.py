"""What the browser suite does in the notebook."""

from explorer_cases import Move

MOVES = {
    "group-pushes": (
        Move("Problem", r"^Problem 752725= 4 of 8 answers are right", keys=("ArrowDown",)),
        Move("Divide by the deviation", r"advantage \+0\.\d\d for a right one", mouse="click"),
    ),
    "baseline": (
        Move("Baseline", r"^Baseline −0\.45, 16 samples: ", keys=("ArrowRight",)),
        Move("Samples", r"^Baseline −0\.45, 256 samples: ", mouse="choose:256"),
    ),
    "right-at-k": (
        Move("k", r"^k = 2: 0\.\d\d before reward", keys=("ArrowRight",)),
        Move("Task", r"ahead from k = 4 on", mouse="choose:sum of four"),
    ),
    "checkers": (
        Move("Answer", r"^1475=A\. is paid", text="A."),
        Move("Answer", r"^1475=A17\. is paid", text="A17."),
    ),
    "reward-runs": (
        Move("Curve", r"; length \d", keys=("ArrowDown",)),
        Move("Run", r"^four: right 0\.\d\d at first", mouse="choose:four"),
    ),
}
