"""Pipeline schedules: which rank computes which microbatch when, how long it waits, and what it keeps meanwhile.

    pipeline_explorer()

The layers are cut into p stages, one on each rank (where it is interleaved, v smaller ones), and the batch into m
microbatches. `schedules.py` makes the schedules and their timeline. A unit of time is the forward pass of one
microbatch through a rank's layers. Left out: the time of the messages, which are only counted.
"""

from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from tx_helpers.lessons.scaling_up.simulated.schedules import (
    Span,
    bubble,
    bubble_by_formula,
    gpipe,
    in_flight,
    interleaved,
    one_forward_one_backward,
    timeline,
)
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.show.controls import choice, slider, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import legend
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, GREY, INK, MUTED, ORANGE, PAPER, card, line, number, shape, words

CHUNKS = {"GPipe": 1, "1F1B": 1, "interleaved, 2 stages": 2, "interleaved, 4 stages": 4}
RANKS, MICROBATCHES = (2, 4, 8), (1, 2, 4, 8, 16)
BACKWARD = {"as long as forward": 1, "twice as long as forward": 2, "3 times as long (activations computed again)": 3}
LEFT, WIDE, TOP = 96, 688, 88  # pixels: where the timelines begin, the length of GPipe's, the first of them
TALL, BELOW, ROW = 24, 20, 58  # the height of a box, of the curve below it, of a rank
CURVE = TALL + 4 + BELOW  # the ground of the curve
LOOKS = {"F": dict(fill=BLUE.full, stroke=PAPER), "B": dict(fill=ORANGE.tint, stroke=ORANGE.full)}
LETTERS = {"F": "#FFFFFF", "B": ORANGE.shade}


# --- compute ----------------------------------------------------------------------------------------------------------
class Pipeline(NamedTuple):
    """A schedule with its timeline."""

    name: str
    ranks: int  # p
    microbatches: int  # m
    backward: float  # how long a backward pass takes; a forward pass takes 1
    spans: list[Span]
    kept: list[float]  # for each rank the most microbatches whose activations wait, each through all the rank's layers

    @property
    def chunks(self) -> int:
        """v, the stages on each rank."""
        return CHUNKS[self.name]

    @property
    def time(self) -> float:
        """From the first start to the last end."""
        return max(span.end for span in self.spans)

    @property
    def work(self) -> float:
        """How long each rank computes: the time that is left if nobody waits."""
        return self.microbatches * (1 + self.backward)

    @property
    def messages(self) -> int:
        """From stage to stage, forward and backward, one for each microbatch."""
        return 2 * self.microbatches * (self.ranks * self.chunks - 1)


def divides(name: str, ranks: int, microbatches: int) -> bool:
    """Does the schedule exist? An interleaved one needs a multiple of the ranks as microbatches."""
    return CHUNKS[name] == 1 or microbatches % ranks == 0


def run(name: str, ranks: int, microbatches: int, backward: float = 2) -> Pipeline:
    """The schedule of this name on p ranks with m microbatches. A stage takes 1 / v of the time of all the rank's."""
    check_one_of("run", CHUNKS, name=name)
    check_numbers("run", least=1, whole=True, ranks=ranks, microbatches=microbatches)
    check_numbers("run", above=0, less_than=float("inf"), backward=backward)
    return _run(name, ranks, microbatches, backward)


@lru_cache(maxsize=64)
def _run(name: str, ranks: int, microbatches: int, backward: float) -> Pipeline:
    v = CHUNKS[name]
    make = {"GPipe": gpipe, "1F1B": one_forward_one_backward}.get(name) or (lambda p, m: interleaved(p, m, v))
    schedule = make(ranks, microbatches)
    spans = timeline(schedule, forward=1 / v, backward=backward / v)
    return Pipeline(name, ranks, microbatches, backward, spans, [most / v for most in in_flight(schedule)])


def waiting(pipeline: Pipeline, rank: int) -> list[tuple[float, float]]:
    """How many microbatches' activations a rank keeps from each moment on: up as a forward pass begins, down at the end
    of its backward pass."""
    spans = [span for span in pipeline.spans if span.rank == rank]
    moments = sorted((span.start, 1) if span.action.kind == "F" else (span.end, -1) for span in spans)
    found, now = [], 0
    for moment, changes in groupby(moments, lambda one: one[0]):
        now += sum(change for _, change in changes)
        found.append((moment, now / pipeline.chunks))
    return found


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(name: str, ranks: int, microbatches: int, backward: float = 2, follow: int = 0) -> Svg:
    """A timeline for each rank, as long as its time beside GPipe's; below each a curve of the activations it keeps.

    The passes of the microbatch `follow` have a thick edge, and a line leads from each to the next one.
    """
    if not divides(name, ranks, microbatches):
        said = describe(name, ranks, microbatches, backward)
        return card(800, 48, [words(16, 30, said, size=15, font_weight="bold")], said)
    found = run(name, ranks, microbatches, backward)
    unit = WIDE / run("GPipe", ranks, microbatches, backward).time
    formula = f"(p − 1) / ({'v ' * (found.chunks > 1)}m + p − 1) = {_fraction(found)}"
    bottom, done = TOP + ROW * ranks, LEFT + unit * found.work
    parts = [
        words(16, 26, f"{name}: the ranks wait {bubble(found.spans):.1%} of the time", size=15, font_weight="bold"),
        words(16, 46, f"formula: {formula} = {bubble_by_formula(ranks, microbatches, found.chunks):.1%}", fill=MUTED),
        words(784, 46, f"microbatch {_followed(found, follow)} has a thick edge", fill=MUTED, anchor="end"),
        line(done, TOP - 8, done, bottom - 8, INK, stroke_dasharray="5 4"),
        words(done, TOP - 14, "the end if nobody waited", anchor="end" if done > 300 else "start"),
    ]
    for rank in range(ranks):
        parts += _rank(found, rank, TOP + ROW * rank, unit)
    parts += _path(found, _followed(found, follow), unit)
    parts += _legend(bottom + 6, found.chunks)
    return card(800, bottom + 44, parts, describe(name, ranks, microbatches, backward))


def _rank(found: Pipeline, rank: int, y: float, unit: float) -> list[str]:
    """A rank's boxes on the strip of its time; the curve below; beside them the most that it keeps.

    Rows are drawn alike and moved to their place: equal markup is stored only once for pages without a kernel.
    """
    strip = dict(x=LEFT, y=0, width=unit * found.time, height=TALL, fill=GREY.tint, stroke=EDGE, stroke_dasharray="3 3")
    said = f"≤ {found.kept[rank]:g} of {found.microbatches}"
    parts = [
        words(16, 15, f"rank {rank}", font_weight="bold"),
        words(16, 34, said, fill=GREEN.shade, font_weight="bold"),
        shape("rect", **strip),
    ]
    own = [span for span in found.spans if span.rank == rank]
    for kind, look in LOOKS.items():
        boxes = (_box(span, unit, 3 * (span.action.stage // found.ranks)) for span in own if span.action.kind == kind)
        parts.append(f"{shape('g', **look, font_size=12.5, text_anchor='middle')[:-2]}>{''.join(boxes)}</g>")
    parts.append(line(LEFT, CURVE - BELOW, LEFT + unit * found.time, CURVE - BELOW, GREEN.full, stroke_dasharray="2 4"))
    path, high = f"M{LEFT},{CURVE}", BELOW / found.microbatches
    for moment, now in waiting(found, rank):
        path += f"H{number(LEFT + unit * moment)}V{number(CURVE - high * now)}"
    parts.append(shape("path", d=f"{path}H{number(LEFT + unit * found.time)}V{CURVE}z", fill=GREEN.full))
    return [f'<g transform="translate(0,{number(y)})">{"".join(parts)}</g>']


def _box(span: Span, unit: float, lower: float) -> str:
    """A pass with its microbatch's number, upright where the box is narrow. A backward pass has round corners."""
    x, wide, said = LEFT + unit * span.start, unit * (span.end - span.start), str(span.action.microbatch)
    forward = span.action.kind == "F"
    drawn = shape("rect", x=x, y=lower, width=wide, height=TALL - lower, rx=None if forward else min(6, wide / 3))
    middle, level, ink = x + wide / 2, (TALL + lower) / 2, LETTERS[span.action.kind]
    if wide >= 7.2 * len(said) + 1:
        drawn += shape("text", said, x=middle, y=level + 4.5, fill=ink, stroke="none")
    elif wide >= 9 and TALL - lower >= 7.2 * len(said):
        turned = f"rotate(-90 {number(middle + 4.5)} {number(level)})"
        drawn += shape("text", said, x=middle + 4.5, y=level, fill=ink, stroke="none", transform=turned)
    return drawn


def _followed(found: Pipeline, follow: int) -> int:
    """The microbatch that is followed: the last one where there are fewer."""
    return min(follow, found.microbatches - 1)


def _path(found: Pipeline, microbatch: int, unit: float) -> list[str]:
    """A thick edge around each pass of one microbatch, and a line from the middle of each to the next."""
    own = sorted((span for span in found.spans if span.action.microbatch == microbatch), key=lambda span: span.start)
    edges, spots = [], []
    for span in own:
        x, wide = LEFT + unit * span.start, unit * (span.end - span.start)
        y = TOP + ROW * span.rank
        edges.append(shape("rect", x=x, y=y, width=wide, height=TALL, fill="none", stroke=INK, stroke_width=2.4))
        spots.append(f"{number(x + wide / 2)},{number(y + TALL)}")
    return [shape("polyline", points=" ".join(spots), fill="none", stroke=INK, stroke_width=1.6), *edges]


def _legend(y: float, chunks: int) -> list[str]:
    """What the forms mean."""
    backward, waits = dict(rx=6, fill=ORANGE.tint, stroke=ORANGE.full), dict(fill=GREY.tint, stroke=EDGE)
    passes = {"forward": {"fill": BLUE.full}, "backward": backward, "waits": waits | {"stroke_dasharray": "3 3"}}
    parts = legend(16, y, passes | {"activations kept (dots: all)": {"fill": GREEN.full}})
    return parts + [words(784, y + 14, "low box: a rank's later stage", anchor="end")] * (chunks > 1)


def _fraction(found: Pipeline) -> str:
    return f"{found.ranks - 1} / {found.chunks * found.microbatches + found.ranks - 1}"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(name: str, ranks: int, microbatches: int, backward: float = 2) -> str:
    """The bubble measured and by formula, what the ranks keep, the time, the messages; and the same of GPipe."""
    if not divides(name, ranks, microbatches):
        return f"{name}: needs a multiple of the {ranks} ranks as microbatches, but there are {microbatches}."
    found, other = (run(one, ranks, microbatches, backward) for one in (name, "GPipe"))
    most = [f"{each:g}" for each in found.kept]
    all_alike = f"every rank keeps the activations of up to {most[0]} microbatch{'es' * (found.kept[0] != 1)}"
    keeps = f"rank 0 keeps the activations of up to {most[0]} microbatches, rank {ranks - 1} of {most[-1]}"
    beside = (
        f" GPipe: {bubble(other.spans):.1%}, {other.kept[0]:g} microbatches, {other.time:g} units, "
        f"{other.messages} messages."
    )
    return (
        f"{name}, {ranks} ranks, {microbatches} microbatch{'es' * (microbatches > 1)}: the ranks wait "
        f"{bubble(found.spans):.1%} of the time (formula: {_fraction(found)} = "
        f"{bubble_by_formula(ranks, microbatches, found.chunks):.1%}); "
        f"{all_alike if len(set(most)) == 1 else keeps}. The batch takes {found.time:g} units of time, {found.work:g} "
        f"without waiting, and {found.messages} messages.{beside if name != 'GPipe' else ''}"
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def pipeline_explorer() -> Explore:
    """Choose the schedule, the ranks, the microbatches, the length of a backward pass, and the microbatch to follow."""
    return Explore(
        lambda schedule, **others: draw(schedule, **others),
        name="pipeline",
        recorded={"backward": None, "follow": [0, 5]},
        schedule=choice("Schedule", list(CHUNKS)),
        ranks=stops("Ranks", RANKS, 4),
        microbatches=stops("Microbatches", MICROBATCHES, 8),
        backward=choice("Backward", BACKWARD, 2),
        follow=slider("Follow", 0, MICROBATCHES[-1] - 1),
    )
