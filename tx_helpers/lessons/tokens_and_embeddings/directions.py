"""The explorer of directions: is the step from one word to another the same for other words?"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.tokens_and_embeddings.embeddings import cosines, principal_axes
from tx_helpers.nn.arguments import check_tensors, check_types
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, GREY, INK, MUTED, PINK, arrow, bar, card, line, shape, words

Pair = tuple[str, str]


def _pairs(text: str) -> list[Pair]:
    return [(pair.split()[0], pair.split()[1]) for pair in text.split(",")]


RELATIONS = {  # of the little world
    "animal → sound": _pairs(
        "dog barks, cat purrs, horse neighs, duck quacks, hen clucks, goat bleats, donkey brays, pig grunts"
    ),
    "animal → food": _pairs(
        "dog bones, cat fish, horse hay, duck bread, hen corn, goat leaves, donkey carrots, pig potatoes"
    ),
    "one → many": _pairs(
        "apple apples, orange oranges, pear pears, plum plums, lemon lemons, lime limes, cherry cherries, peach peaches"
    ),
    "number → next": _pairs("one two, two three, three four, four five, five six, six seven, seven eight, eight nine"),
}
WIDTH, HEIGHT, MIDDLE = 780, 410, 470  # pixels; the map ends in the middle
RULES = {"b − a + c": "the arrow", "c": "no arrow: nearest to c", "b + c": "the sum b + c"}


# --- compute ----------------------------------------------------------------------------------------------------------
class Measured(NamedTuple):
    """Of a relation: how alike its arrows are, of how many questions, and how many each rule answers."""

    alike: float
    questions: int
    right: dict[str, int]


def nearest_word(unit: Tensor, vector: Tensor, left_out: Sequence[int]) -> int:
    """The row of the table of unit vectors (V, D) that has the largest cosine with the vector (D)."""
    likeness = unit @ vector
    likeness[list(left_out)] = -torch.inf
    return int(likeness.argmax())


def by_rule(rule: str, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """What the rule looks for: a is to b as c is to this vector."""
    return {"b − a + c": b - a + c, "c": c, "b + c": b + c}[rule]


def measure(table: Tensor, ids: Mapping[str, int], pairs: Sequence[Pair]) -> Measured:
    """All questions "a is to b as c is to …?" of two pairs (a, b) and (c, d); the words a, b and c are no answers.

    table (V, D); its rows are made equally long. Pairs that share a word ask nothing. The arrows' likeness is the mean
    cosine of any two differences b − a.
    """
    check_tensors("measure", table=(table, "float V D"))
    check_types("measure", Mapping, ids=ids)
    unit = table / table.norm(dim=1, keepdim=True)
    rows = [(ids[a], ids[b]) for a, b in pairs]
    arrows = torch.stack([unit[b] - unit[a] for a, b in rows])
    number = len(rows)
    alike = (cosines(arrows).sum().item() - number) / (number * (number - 1))
    right, questions = dict.fromkeys(RULES, 0), 0
    for (a, b), (c, d) in permutations(rows, 2):
        if len({a, b, c, d}) == 4:
            questions += 1
            for rule in RULES:
                right[rule] += nearest_word(unit, by_rule(rule, unit[a], unit[b], unit[c]), (a, b, c)) == d
    return Measured(alike, questions, right)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(
    table: Tensor, tokens: Sequence[str], relation: str, pairs: Sequence[Pair], measured: Measured, arrow_of: int
) -> Svg:
    """The pairs' arrows in the plane in which their words differ most, and where the chosen arrow leads the others."""
    ids = {token: i for i, token in enumerate(tokens)}
    unit = table / table.norm(dim=1, keepdim=True)
    names = list(dict.fromkeys(word for pair in pairs for word in pair))
    points = unit[[ids[name] for name in names]]
    mean, axes = principal_axes(points)
    flat = (points - mean) @ axes
    low, high = flat.amin(dim=0), flat.amax(dim=0)
    places = {
        name: (78 + x * (MIDDLE - 170), HEIGHT - 34 - y * (HEIGHT - 84))
        for name, (x, y) in zip(names, ((flat - low) / (high - low)).tolist(), strict=True)
    }
    parts = [words(14, 26, f"{relation}: arrows in the plane", size=14, font_weight="bold")]
    chosen = pairs[arrow_of]
    for name, (left, height) in _labels(places).items():
        x, y = places[name]
        style = dict(font_weight="bold", fill=PINK.shade) if name in chosen else {}
        side = dict(anchor="end") if x < MIDDLE / 2 else {}
        parts.append(line(left, height, x, y, MUTED, stroke_width=0.7, stroke_dasharray="1 3"))
        parts.append(words(left + (-4 if side else 4), height + 4, name, size=12.5, **side, **style))
        parts.append(shape("circle", cx=x, cy=y, r=3.5, fill=PINK.full if name in chosen else INK))
    for number, (a, b) in enumerate(pairs):
        parts.append(arrow(*places[a], *places[b], PINK.full if number == arrow_of else MUTED, gap=6))
    parts.append(line(MIDDLE, 14, MIDDLE, HEIGHT - 14, EDGE))
    parts += _found(unit, tokens, ids, pairs, arrow_of) + _totals(measured)
    return card(WIDTH, HEIGHT, parts, describe(unit, tokens, relation, pairs, measured, arrow_of))


def _labels(places: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Where each point's label begins: outside of all arrows, at its point's height or below the label above it."""
    found: dict[str, tuple[float, float]] = {}
    for left in (True, False):
        side = {name: place for name, place in places.items() if (place[0] < MIDDLE / 2) is left}
        lowest, outside = 40.0, (min if left else max)([x for x, _ in side.values()], default=0) + (-12 if left else 12)
        for name, (_, y) in sorted(side.items(), key=lambda item: item[1][1]):
            lowest = max(y, lowest + 14)
            found[name] = outside, lowest
    return found


def _answers(unit: Tensor, tokens: Sequence[str], ids: Mapping[str, int], pairs: Sequence[Pair], arrow_of: int):
    """For every other pair (c, d): c, the word to which the chosen arrow leads from c, and d."""
    a, b = (ids[word] for word in pairs[arrow_of])
    for c, d in pairs:
        if len({*pairs[arrow_of], c, d}) == 4:
            vector = by_rule("b − a + c", unit[a], unit[b], unit[ids[c]])
            yield c, tokens[nearest_word(unit, vector, (a, b, ids[c]))], d


def _found(
    unit: Tensor, tokens: Sequence[str], ids: Mapping[str, int], pairs: Sequence[Pair], arrow_of: int
) -> list[str]:
    a, b = pairs[arrow_of]
    parts = [words(MIDDLE + 16, 26, f"{b} − {a} + … =", size=14, font_weight="bold", fill=PINK.shade)]
    for row, (c, got, d) in enumerate(_answers(unit, tokens, ids, pairs, arrow_of)):
        y = 52 + 24 * row
        parts.append(words(MIDDLE + 86, y, c, anchor="end", size=14))
        verdict = f"{got}  ✓" if got == d else f"{got}  ✗ ({d})"
        parts.append(words(MIDDLE + 98, y, "→ " + verdict, size=14, fill=INK if got == d else MUTED))
    return parts


def _totals(measured: Measured) -> list[str]:
    top = 262
    title = f"all {measured.questions} questions: right answers by"
    parts = [words(MIDDLE + 16, top, title, size=14, font_weight="bold")]
    for row, (rule, name) in enumerate(RULES.items()):
        y, right = top + 14 + 42 * row, measured.right[rule]
        length = 200 * right / measured.questions
        parts.append(words(MIDDLE + 16, y + 13, f"{name}" if rule != "b − a + c" else "the arrow: b − a + c", size=13))
        parts.append(bar(MIDDLE + 16, y + 18, length, 14, (PINK if row == 0 else GREY).full))
        parts.append(words(MIDDLE + 24 + length, y + 30, str(right), size=13))
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(
    unit: Tensor, tokens: Sequence[str], relation: str, pairs: Sequence[Pair], measured: Measured, arrow_of: int
) -> str:
    """What the chosen arrow answers, and what all arrows of the relation do beside two rules without an arrow."""
    ids = {token: i for i, token in enumerate(tokens)}
    a, b = pairs[arrow_of]
    answers = list(_answers(unit, tokens, ids, pairs, arrow_of))
    right = sum(got == d for _, got, d in answers)
    shares = ", ".join(f"{name} {measured.right[rule]}" for rule, name in RULES.items())
    return (
        f"{relation}: the arrow {a} → {b} finds {right} of {len(answers)} words. Of all {measured.questions} questions "
        f"are answered by {shares}. Two arrows have a cosine of {measured.alike:.2f} on average."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def directions_explorer(
    table: Tensor, tokens: Sequence[str], relations: Mapping[str, Sequence[Pair]] = RELATIONS
) -> Explore:
    """Choose a relation and one of its arrows, and see where the arrow leads from the other words.

    table (V, D): a row for each of the tokens;  relations: name -> pairs of tokens
    """
    sizes = check_tensors("directions_explorer", table=(table, "float V D"))
    check_types("directions_explorer", Sequence, tokens=tokens)
    check_types("directions_explorer", Mapping, relations=relations)
    if len(tokens) != sizes["V"]:
        raise ValueError(f"directions_explorer: {len(tokens)} tokens for {sizes['V']} rows, expected one for each")
    table = table.detach().double()
    ids = {token: i for i, token in enumerate(tokens)}
    measured = {name: measure(table, ids, pairs) for name, pairs in relations.items()}
    fewest = min(len(pairs) for pairs in relations.values())

    def picture(relation: str, arrow_of: int) -> Svg:
        return draw(table, tokens, relation, relations[relation], measured[relation], arrow_of - 1)

    arrow_of = slider("Arrow of pair", 1, fewest)
    return Explore(picture, name="directions", told=True, relation=list(relations), arrow_of=arrow_of)
