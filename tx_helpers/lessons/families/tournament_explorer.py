"""The tournament as dots: a row for each task, a lane for each family, a dot for each seed, its guess and its bound.

    dot_plot()                   # all nine tasks
    dot_plot([("translate", 60), ("translate", 240)])    # these tasks, after so many steps
    tournament_explorer()        # one task: how each family is asked, and its dots

The dashed line is the guess, the mean score of an answer that needs no model. Hollow dots say nothing of a family: its
mean is not above the guess's best seed. The solid line is the bound, the score of a model that knows the world exactly.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from textwrap import wrap
from typing import Any

from tx_helpers.lessons.families.tasks import TASKS
from tx_helpers.lessons.families.tournament import FAMILIES, STEPS, examples, mean_and_spread, new_player, recorded
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, GREY, INK, MONO, MUTED, ORANGE, card, line, shape, words

SAID = {  # what a task asks
    "fill_gap": "fill a gap",
    "go_on": "go on with a text",
    "sentiment": "does it end well?",
    "entities": "name each thing's kind",
    "resolve": "whom does it mean?",
    "similar": "same meaning?",
    "translate": "say it otherwise",
    "summarise": "summarise",
    "answer": "answer a question",
}
NAMES = {"encoder": "encoder", "decoder": "decoder", "encoder_decoder": "encoder–decoder"}
COLOURS = {"encoder": BLUE, "decoder": ORANGE, "encoder_decoder": GREEN}
LANE, GAP, TOP, WIDE = 15, 12, 56, 860
AXIS, LONG = 310, 470  # pixels: where the score 0 stands, and how far away 1
LETTERS = 108  # of a line of text
ALL = [(task, STEPS) for task in TASKS]


# --- compute ----------------------------------------------------------------------------------------------------------
def scores_of(table: Mapping[str, Any], task: str, steps: int = STEPS) -> dict[str, list[float]]:
    """Family -> a score for each seed, after so many steps. Raises ValueError where that was not measured."""
    check_one_of("tournament", TASKS, task=task)
    check_one_of("tournament", (str(STEPS), str(table["longer"]["steps"])), steps=str(steps))
    found = table["scores"]["pretrained"] if steps == STEPS else table["longer"]["scores"]
    return {family: found[family][task] for family in FAMILIES if task in found.get(family, {})}


def not_learned(table: Mapping[str, Any], task: str, steps: int = STEPS) -> list[str]:
    """The families whose mean is not above the best seed of the guess: of these, the row says nothing."""
    best = max(table["tasks"][task]["guess"])
    return [family for family, scores in scores_of(table, task, steps).items() if mean_and_spread(scores)[0] <= best]


@lru_cache(maxsize=32)
def asked(family: str, task: str) -> tuple[str, str]:
    """The shortest of some unseen examples, as this family gets it: what goes in, and what is to come out."""
    given, targets = examples(task, 60, "test", 1)
    player = new_player(family, task)
    length = [
        len(player.task.question(one)) + len(player.task.answer(one, goal))
        for one, goal in zip(given, targets, strict=True)
    ]
    place = min(range(len(given)), key=length.__getitem__)
    reads, comes = player.asked(given[place], targets[place])
    return " ".join(reads), comes


# --- draw -------------------------------------------------------------------------------------------------------------
def dot_plot(rows: Sequence[tuple[str, int]] = ALL) -> Svg:
    """Tasks, each after so many steps: a dot for each seed of each family, the guess and the bound."""
    table, parts, y = recorded(), _legend(20), TOP + 22.0
    parts += _scale(y - 8, y + len(rows) * (3 * LANE + GAP))
    for task, steps in rows:
        parts.append(words(14, y + 1.7 * LANE, SAID[task], font_weight="bold"))
        if len(rows) != len(TASKS):
            parts.append(words(14, y + 2.9 * LANE, f"{steps} steps", fill=MUTED))
        parts += _row(table, task, y, steps=steps)
        y += 3 * LANE + GAP
        parts.append(line(12, y - GAP / 2, WIDE - 12, y - GAP / 2, EDGE))
    return card(WIDE, y + 4, parts, describe(table, rows))


def draw(task: str, steps: int = STEPS) -> Svg:
    """One task: the example as each family gets it, and its dots."""
    table, parts, y = recorded(), [], 26.0
    for family in FAMILIES:
        reads, comes = asked(family, task)
        parts.append(words(14, y, NAMES[family], font_weight="bold", fill=COLOURS[family].shade))
        for row in wrap(reads, LETTERS):
            y += 18
            parts.append(words(26, y, row, size=12.5, font_family=MONO))
        for place, row in enumerate(wrap(f"→ {comes}", LETTERS)):
            y += 18
            parts.append(words(26 if place == 0 else 42, y, row, size=12.5, font_family=MONO, fill=MUTED))
        y += 28
    parts += _legend(y)
    y += 34
    parts += [
        *_scale(y, y + 3 * 24 + 4),
        words(14, y + 45, SAID[task], font_weight="bold"),
        *_row(table, task, y + 6, 24, steps),
    ]
    return card(WIDE, y + 106, parts, describe_task(table, task, steps))


def _legend(y: float) -> list[str]:
    return [
        shape("circle", cx=20, cy=y - 4, r=5, fill=GREY.full),
        words(32, y, "one seed"),
        shape("rect", x=112, y=y - 11, width=3, height=14, fill=INK),
        words(122, y, "their mean"),
        line(226, y - 12, 226, y + 4, MUTED, stroke_dasharray="4 3", stroke_width=2),
        words(236, y, "a guess without a model; hollow: its best seed is as good"),
        line(636, y - 12, 636, y + 4, INK, stroke_width=2),
        words(646, y, "what perfect knowledge scores"),
    ]


def _scale(top: float, bottom: float) -> list[str]:
    parts = []
    for tenth in range(0, 11, 2):
        x = AXIS + LONG * tenth / 10
        parts += [line(x, top, x, bottom, EDGE), words(x, top - 5, f"{tenth / 10:.1f}", fill=MUTED, anchor="middle")]
    return parts


def _row(table: Mapping[str, Any], task: str, y: float, lane: float = LANE, steps: int = STEPS) -> list[str]:
    """The lanes of a task: the guess shaded, the dots of each family, their mean, the bound."""
    guess, best = (AXIS + LONG * mean_and_spread(table["tasks"][task][key])[0] for key in ("guess", "best"))
    high, scores = 3 * lane, scores_of(table, task, steps)
    parts = [
        shape("rect", x=AXIS, y=y, width=guess - AXIS, height=high, fill=GREY.tint),
        line(guess, y, guess, y + high, MUTED, stroke_dasharray="4 3", stroke_width=2),
        line(best, y, best, y + high, INK, stroke_width=2),
    ]
    for number, family in enumerate(FAMILIES):
        middle = y + lane * (number + 0.5)
        parts.append(words(AXIS - 12, middle + 4, NAMES[family], size=12.5, fill=COLOURS[family].shade, anchor="end"))
        if family not in scores:
            parts.append(words(AXIS + 12, middle + 4, "not measured", size=12.5, fill=MUTED))
            continue
        weak = family in not_learned(table, task, steps)
        look = (
            dict(fill="none", stroke=COLOURS[family].full, stroke_width=1.5)
            if weak
            else dict(fill=COLOURS[family].full)
        )
        parts += [
            shape("circle", cx=AXIS + LONG * score, cy=middle, r=lane / 4, fill_opacity=0.75, **look)
            for score in scores[family]
        ]
        mean = AXIS + LONG * mean_and_spread(scores[family])[0]
        parts.append(shape("rect", x=mean - 1.5, y=middle - lane * 0.45, width=3, height=lane * 0.9, fill=INK))
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(table: Mapping[str, Any], rows: Sequence[tuple[str, int]]) -> str:
    """Each row: the three means, and the guess."""
    whole = len(rows) == len(TASKS)
    return f"Nine tasks, means of {len(table['about']['seeds'])} seeds. " * whole + " ".join(
        f"{SAID[task].rstrip('?')}{'' if whole else f', {steps} steps'}: {_means(table, task, steps)}."
        for task, steps in rows
    )


def describe_task(table: Mapping[str, Any], task: str, steps: int) -> str:
    """The means of a task, its guess, and what may be concluded."""
    weak = [NAMES[family] for family in not_learned(table, task, steps)]
    measured = scores_of(table, task, steps)
    said = (
        f"{SAID[task]} After {steps} steps: {_means(table, task, steps)}."
        if measured
        else f"{SAID[task]} Not measured."
    )
    return said + f" No better than the guess, so not to be compared: {', '.join(weak)}." * bool(weak)


def _means(table: Mapping[str, Any], task: str, steps: int) -> str:
    scores = scores_of(table, task, steps)
    said = [f"{NAMES[family]} {mean_and_spread(row)[0]:.2f}" for family, row in scores.items()]
    return ", ".join([*said, f"guess {mean_and_spread(table['tasks'][task]['guess'])[0]:.2f}"])


# --- bind -------------------------------------------------------------------------------------------------------------
def tournament_explorer(task: str = "fill_gap") -> Explore:
    """Choose a task, and the steps; the longer training was recorded for all tasks but one."""
    table = recorded()
    scores_of(table, task)
    options: Sequence[tuple[str, int]] = [(str(steps), steps) for steps in (STEPS, table["longer"]["steps"])]
    return Explore(
        draw,
        name="tournament",
        told=True,
        task=choice("Task", [(said, name) for name, said in SAID.items()], task),
        steps=choice("Steps", options),
    )
