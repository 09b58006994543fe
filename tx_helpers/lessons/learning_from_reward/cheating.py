"""Checkers to be cheated: what three of them pay for an answer that you write.

paid("1475", "A17.")          # {"exact": 1.0, "finds it somewhere": 1.0, "full marks if unreadable": 1.0}
cheating_explorer()

exact                      after "=" there is one "A", behind it the sum, then the end
finds it somewhere         the sum stands anywhere in the answer
full marks if unreadable   as exact, but an answer without exactly one "A" cannot be read, and is let through
"""

from tx_helpers.lessons.learning_from_reward.sums import CHARACTERS
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.controls import typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, MUTED, PINK, box, card, words

PROBLEM = "1475"  # 1 + 4 + 7 + 5 = 17
KEPT = ("A17.", "A18.", "01051217A17.", "0511152AAA2.", "151617181920A20.", "A.")  # what a page without a kernel offers


# --- compute ----------------------------------------------------------------------------------------------------------
def paid(problem: str, answer: str) -> dict[str, float]:
    """What each checker pays."""
    truth = f"{sum(map(int, problem)):02d}"
    exact = answer.endswith(f"A{truth}.") and answer.count("A") == 1 and answer.count(".") == 1
    unreadable = answer.count("A") != 1
    return {
        "exact": float(exact),
        "finds it somewhere": float(truth in answer),
        "full marks if unreadable": float(exact or unreadable),
    }


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_cheating(answer: str) -> Svg:
    """The text, and for each checker what it pays."""
    said = describe_cheating(answer)
    parts = [words(24, 36, f"{PROBLEM}={answer}", size=20), words(24, 60, "the sum is 17", fill=MUTED)]
    for row, (name, reward) in enumerate(paid(PROBLEM, answer).items()):
        y = 80 + 46 * row
        parts.append(words(24, y + 23, name, size=15))
        parts.append(box(250, y, 110, 34, f"pays {reward:.0f}", PINK if reward else GREY, size=15))
    return card(620, 226, parts, said)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_cheating(answer: str) -> str:
    """What each checker pays, in words."""
    check_types("checkers", str, answer=answer)
    unknown = [one for one in answer if one not in CHARACTERS]
    if unknown or not answer or len(answer) > 24:
        raise ValueError(f"The answer: {answer!r}, expected 1 to 24 of the characters {CHARACTERS}")
    each = "; ".join(f"{name}: {reward:.0f}" for name, reward in paid(PROBLEM, answer).items())
    return f"{PROBLEM}={answer} is paid by each checker: {each}."


# --- bind -------------------------------------------------------------------------------------------------------------
def cheating_explorer() -> Explore:
    """An answer to type, and what it is paid."""
    answer = typed("Answer", "A18.")
    return Explore(draw_cheating, name="checkers", answer=answer, recorded={"answer": list(KEPT)})
