"""The way from a text file to a page, as a picture: seven stops, and what each of them gives.

route_picture()
"""

from itertools import pairwise

from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, GREY, INK, MUTED, ORANGE, arrow, box, card, words

STOPS = (  # name, what you do there, what it gives
    ("text", "choose a file", "200,000 characters", GREY),
    ("look", "ask the data doctor", "copies, leaks, odd letters", ORANGE),
    ("size", "say your minutes", "width, layers, steps", BLUE),
    ("train", "your own classes", "a loss on unseen text", BLUE),
    ("rivals", "count n-grams", "what your model is worth", ORANGE),
    ("card", "write down limits", "an honest label", GREEN),
    ("page", "publish", "one file to send", GOLD),
)
WIDE, HIGH, APART, LEFT, ROWS = 150, 50, 46, 24, (52, 186)
FIRST_ROW = 4  # stops in the first row; the others stand below it


def route_picture() -> Svg:
    """The seven stops in two rows, joined by arrows."""
    parts, places = [], []
    for number, (name, do, gives, colour) in enumerate(STOPS):
        row, column = divmod(number, FIRST_ROW)
        x, y = LEFT + (WIDE + APART) * column + row * (WIDE + APART) / 2, ROWS[row]
        places.append((x, y))
        parts += [
            box(x, y, WIDE, HIGH, f"{number + 1} {name}", colour, size=17),
            words(x + WIDE / 2, y - 12, do, anchor="middle", fill=MUTED),
            words(x + WIDE / 2, y + HIGH + 20, gives, anchor="middle", fill=INK),
        ]
    for (x, y), (next_x, next_y) in pairwise(places):
        if y == next_y:
            parts.append(arrow(x + WIDE, y + HIGH / 2, next_x, next_y + HIGH / 2, INK, gap=3))
    said = "; ".join(f"{number}. {name}: {do}, {gives}" for number, (name, do, gives, _) in enumerate(STOPS, 1))
    return card(2 * LEFT + FIRST_ROW * WIDE + 3 * APART, ROWS[1] + HIGH + 40, parts, f"Seven stops: {said}.")
