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
    "group-film": (
        Move("Picture", r"^Update 10, problem 185373=", keys=("ArrowRight",)),
        Move("Picture", r"^Update 40, problem 185373=", mouse="drag"),
    ),
    "reward-dials": (
        Move("Rate", r"^0\.004 · 16 · 0\.0: done, step 40 of 40", keys=("ArrowRight",)),
        Move("Group", r"^0\.004 · 64 · 0\.0: done", mouse="drag"),
    ),
}
