"""The opening question, answered line by line: what limits GPT-3 on 1,024 H100, and what each cut buys.

    answer_so_far(3)     the first three lines; all of them: answer_so_far()

Each line is a plan of `planner`: the bytes of a GPU beside the 80 GB that it has, the days of the run, and what
the time goes to. The layout of a line is what the notebook has just built.
"""

from functools import lru_cache

from tx_helpers.lessons.scaling_up.planning.cluster import Cluster, Layout
from tx_helpers.lessons.scaling_up.planning.planner import Plan, best_layouts, plan
from tx_helpers.lessons.scaling_up.planning.published import MODELS
from tx_helpers.lessons.scaling_up.planning.workload import Training
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import BLACK
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GOLD, GREEN, GREY, MUTED, ORANGE, WHITE, bar, card, line, words

TRAINING, CHIP, COUNT = Training(3e11, 2048, 2048), "H100 SXM", 1024
LINES: dict[str, Layout | None] = {
    "one GPU": Layout(data=1),
    "1,024 copies": Layout(data=COUNT),
    "1,024 shards": Layout(data=COUNT, stage=3, recompute="full"),
    "tensor 8": Layout(data=COUNT // 8, tensor=8),
    "tensor 8, pipeline 16": Layout(data=COUNT // 128, tensor=8, pipeline=16),
    "the fastest that fits": None,
}
COLOURS = {"compute": BLUE.full, "messages": ORANGE.full, "bubble": GOLD.full, "the rest": GREY.full}
LEFT, LENGTH, ROW = 470, 300, 30


@lru_cache(maxsize=1)
def plans() -> dict[str, Plan]:
    """The plan of each line."""
    sizes = MODELS["GPT-3 175B"]
    found = {}
    for name, layout in LINES.items():
        cluster = Cluster(CHIP, layout.chips if layout else COUNT)
        best = layout or best_layouts(sizes, TRAINING, cluster, count=1)[0].layout
        found[name] = plan(sizes, TRAINING, cluster, best)
    return found


def shares(found: Plan) -> dict[str, float]:
    """What a step's time goes to."""
    spent = found.seconds
    sent = sum(spent[part] for part in ("tensor", "pipeline", "context", "experts", "data"))
    parts = {"compute": spent["compute"], "messages": sent, "bubble": spent["bubble"]}
    return {name: value / found.step for name, value in {**parts, "the rest": found.step - sum(parts.values())}.items()}


def answer_so_far(count: int = len(LINES)) -> Svg:
    """A row for each of the first `count` layouts: memory of a GPU, days, and a bar of where the time goes."""
    check_numbers("answer_so_far", least=1, most=len(LINES), whole=True, count=count)
    parts = [words(16, 28, "GPT-3: what is the limit?", size=15, font_weight="bold")]
    for x, said in ((250, "GPU memory"), (362, "the run"), (LEFT, "where the time goes")):
        parts.append(words(x, 54, said, fill=MUTED))
    for row, (name, found) in enumerate(list(plans().items())[:count]):
        y = 68 + ROW * row
        used = sum(found.memory.values()) / 1e9
        ink = (GREEN if found.fits else ORANGE).shade
        parts += [
            line(16, y - 4, 784, y - 4, EDGE),
            words(16, y + 16, name, font_weight="bold" if row == count - 1 else "normal"),
            words(250, y + 16, f"{used:,.0f} GB {'✓' if found.fits else '✗'}", fill=ink, font_weight="bold"),
            words(362, y + 16, spoken(found.days)),
        ]
        x = float(LEFT)
        for part, share in shares(found).items():
            parts.append(bar(x, y + 2, LENGTH * share, 18, COLOURS[part]) if share > 0.002 else "")
            if share > 0.1 and part != "the rest":
                middle, ink = x + LENGTH * share / 2, WHITE if part == "compute" else BLACK
                parts.append(words(middle, y + 15, f"{share:.0%}", anchor="middle", fill=ink, font_weight="bold"))
            x += LENGTH * share
    y, x = 68 + ROW * count + 6, float(LEFT)
    for part, colour in COLOURS.items():
        parts += [bar(x, y, 12, 12, colour), words(x + 16, y + 11, part, size=12.5)]
        x += 28 + 7.2 * len(part)
    parts.append(words(16, y + 11, "✓ fits (72 GiB of 80 GB may be used)   ✗ does not", fill=MUTED))
    return card(800, y + 28, parts, described(count))


def spoken(days: float) -> str:
    """Days, or years where they are many."""
    return f"{days / 365:.1f} years" if days > 1000 else f"{days:.1f} days"


def described(count: int) -> str:
    """All lines in words."""
    said = []
    for name, found in list(plans().items())[:count]:
        used, share = sum(found.memory.values()) / 1e9, shares(found)
        said.append(
            f"{name}: {used:,.0f} GB, {'fits' if found.fits else 'does not fit'}, {spoken(found.days)}, "
            f"compute {share['compute']:.0%}, messages {share['messages']:.0%}, bubble {share['bubble']:.0%}"
        )
    return f"GPT-3 on H100 with 80 GB. {'; '.join(said)}."
