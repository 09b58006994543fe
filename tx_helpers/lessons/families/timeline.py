"""Families by maker and year: click a name, and one dated sentence with its source says what was new about it.

    timeline_explorer()

A row for each maker, a column for each year; a chip is a model, its look the shape. Below stands the chosen model's
sentence, with its day, its source, and the notebook of the course that builds the news. `timeline_models` holds all of
them.
"""

from tx_helpers.exercises.course import LESSONS
from tx_helpers.lessons.families.timeline_models import BOTH, DECODER, ENCODER, MODELS, UNKNOWN, Model
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import legend
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, GREY, INK, MUTED, ORANGE, PAPER, card, line, setting, shape, words

YEARS = range(2017, 2027)
LOOKS = {  # fill, edge, letters, radius, dashes
    ENCODER: (BLUE.tint, BLUE.full, BLUE.shade, 0, None),
    DECODER: (ORANGE.tint, ORANGE.full, ORANGE.shade, 10, None),
    BOTH: (GREEN.tint, GREEN.full, GREEN.shade, 6, None),
    UNKNOWN: (PAPER, GREY.full, MUTED, 6, "3 3"),
}
LEFT, TOP, COLUMN, CHIP, GAP, WIDE = 92, 66, 78, 23, 7, 884
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
MONTHS += ("November", "December")


# --- compute ----------------------------------------------------------------------------------------------------------
def model_named(name: str) -> Model:
    """The model of this name. Raises ValueError naming all of them."""
    check_one_of("timeline", [model.name for model in MODELS], model=name)
    return next(model for model in MODELS if model.name == name)


def dated(day: str) -> str:
    """ "2018-10" -> "October 2018"; "2022-11-30" -> "30 November 2022"."""
    year, month, *rest = day.split("-")
    return " ".join([*(str(int(number)) for number in rest), MONTHS[int(month) - 1], year])


def built_in(model: Model) -> str:
    """Where the course builds the news."""
    lesson = LESSONS[model.lesson]
    return f"Notebook {lesson.number} {lesson.title}: {model.built}."


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(model: str) -> Svg:
    """All models, the chosen one framed, and its sentence below."""
    chosen = model_named(model)
    looks = {
        name: dict(fill=fill, stroke=stroke, rx=radius, stroke_dasharray=dash)
        for name, (fill, stroke, _, radius, dash) in LOOKS.items()
    }
    parts = legend(LEFT, 12, looks)
    for place, year in enumerate(YEARS):
        parts.append(words(LEFT + COLUMN * (place + 0.5), TOP - 10, str(year), fill=MUTED, anchor="middle"))
    y = TOP
    for maker in dict.fromkeys(model.maker for model in MODELS):
        parts += [line(12, y, WIDE - 12, y, EDGE), words(12, y + 20, maker, font_weight="bold")]
        rows, drawn = _row(maker, y + GAP / 2, chosen)
        parts += drawn
        y += CHIP * rows + GAP
    parts += [line(12, y, WIDE - 12, y, EDGE), *_sentence(chosen, y + 26)]
    return card(WIDE, y + 84, parts, describe(chosen))


def _row(maker: str, top: float, chosen: Model) -> tuple[int, list[str]]:
    """The chips of a maker, those of a year below each other; and how many are the most in one year."""
    taken, parts = dict.fromkeys(YEARS, 0), []
    for model in sorted((each for each in MODELS if each.maker == maker), key=lambda each: each.day):
        fill, stroke, ink, radius, dash = LOOKS[model.shape]
        x, y = LEFT + COLUMN * (model.year - YEARS[0]) + 1, top + CHIP * taken[model.year] + 1
        frame = dict(stroke=INK, stroke_width=2.5) if model is chosen else dict(stroke=stroke, stroke_dasharray=dash)
        size = 12 if len(model.name) > 8 else 13
        chip = [
            shape("rect", x=x, y=y, width=COLUMN - 3, height=CHIP - 3, rx=radius, fill=fill, **frame),
            words(x + (COLUMN - 3) / 2, y + 14.5, model.name, size=size, fill=ink, anchor="middle"),
        ]
        parts.append(setting("model", model.name, chip))
        taken[model.year] += 1
    return max(taken.values()), parts


def _sentence(model: Model, y: float) -> list[str]:
    name = (
        f"{model.name}, {model.maker}, {dated(model.day)}"
        if model.maker != "others"
        else f"{model.name}, {dated(model.day)}"
    )
    return [
        words(12, y, name, size=15, font_weight="bold"),
        words(12, y + 22, model.news, size=15),
        words(12, y + 44, f"Source: {_source(model)}.  {built_in(model)}", fill=MUTED),
    ]


def _source(model: Model) -> str:
    """A number alone is a paper's on arXiv."""
    return f"arXiv {model.source}" if model.source[0].isdigit() else model.source


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(model: Model) -> str:
    """The model, its day, its shape, its sentence, its source, and where the course builds it."""
    return (
        f"{model.name} ({model.maker}, {dated(model.day)}; {model.shape}): {model.news} Source: {_source(model)}. "
        f"{built_in(model)}"
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def timeline_explorer(model: str = "original") -> Explore:
    """Click a model in the drawing, or choose it by its name."""
    model_named(model)
    return Explore(
        draw,
        name="timeline",
        model=choice("Model", [each.name for each in MODELS], model),
    )
