"""A training run planned: does it fit on the chips, where does a step's time go, how long does it take, at what cost?

    planner_explorer()

    days = tokens / (batch / seconds of a step)

`planner` computes it, with the assumptions of `cluster`. Bars show the memory of a chip and the seconds
of a step by part. Below stands what the run costs, and the MFU with which it would end in 30 days. Where a layout
cannot be used, the picture says why. A tick finds the fastest layout that fits.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import ipywidgets as widgets

from tx_helpers.lessons.scaling_up.planning.cluster import RECOMPUTED, Cluster, Layout, why_not
from tx_helpers.lessons.scaling_up.planning.hardware import CHIPS
from tx_helpers.lessons.scaling_up.planning.planner import Plan, best_layouts, needed_mfu, plan
from tx_helpers.lessons.scaling_up.planning.published import MODELS
from tx_helpers.lessons.scaling_up.planning.workload import ModelSizes, Training, sizes_of
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, TransformerConfig
from tx_helpers.show.controls import choice, filled_by, powers, slider, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Text, stacked, title, waterfall
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, GREY, MUTED, ORANGE, PINK, gibi
from tx_helpers.zoo.published import PUBLISHED

OWN = "one of your own"
CHOSEN = MODELS | {name: sizes_of(PUBLISHED[name]) for name in ("Llama 3 8B", "GPT-2 XL")}
HEAD = 128  # K of a model of one's own; its vocabulary is GPT-2's
TOKENS = {"10 billion": 1e10, "300 billion": 3e11, "1 trillion": 1e12, "15 trillion": 1.5e13}
LENGTHS = (1024, 2048, 8192, 131_072)
BATCHES = {"1 million tokens": 2**20, "4 million tokens": 2**22, "16 million tokens": 2**24}
NAMES = {part: f"{part} messages" for part in ("tensor", "pipeline", "context", "data")} | {
    "experts": "expert messages",
    "optimizer": "optimizer step",
    "memory-bound": "memory-bound work",
}
MESSAGES = ("tensor messages", "pipeline messages", "context messages", "expert messages", "data messages")
FILLS = dict.fromkeys(MESSAGES, ORANGE.full) | {
    **{"weights": BLUE.full, "gradients": ORANGE.full, "optimizer": GREEN.full, "activations": PINK.full},
    **{"compute": BLUE.full, "memory-bound work": GREY.full, "bubble": GOLD.full, "optimizer step": GREEN.full},
}
DEADLINE = 30  # days
LEFT, LENGTH = 152, 440  # pixels: where the bars begin, and the room for them


# --- compute ----------------------------------------------------------------------------------------------------------
class Choice(NamedTuple):
    """What is planned: a model, what it reads, and on what."""

    name: str
    sizes: ModelSizes
    training: Training
    chip: str
    count: int

    @property
    def cluster(self) -> Cluster:
        """The chips."""
        return Cluster(self.chip, self.count)


def own_sizes(layers: int, width: int) -> ModelSizes:
    """A gated model with heads of 128, and the vocabulary of GPT-2."""
    heads = width // HEAD
    attention = AttentionConfig(heads, d_head=width // heads, bias=False)
    network = FeedForwardConfig(8 * width // 3, gated=True, bias=False)
    config = TransformerConfig(50_257, width, layers, attention=attention, feed_forward=network)
    return sizes_of(config)


@lru_cache(maxsize=256)
def fastest(choice: Choice) -> Plan | None:
    """The plan of the fastest layout that fits, if one does."""
    return next(iter(best_layouts(choice.sizes, choice.training, choice.cluster, count=1)), None)


def planned(choice: Choice, layout: Layout | None) -> Plan | str:
    """The plan of this layout, or of the fastest one if it is None; or why there is none, in words."""
    if layout is None:
        return fastest(choice) or f"No layout of {choice.name} fits on {choice.count:,} {choice.chip}."
    reason = why_not(choice.sizes, choice.training, choice.cluster, layout)
    return f"This layout cannot be used: {reason}." if reason else plan(*choice[1:3], choice.cluster, layout)


def parts_of_a_step(found: Plan) -> dict[str, float]:
    """Seconds by part, as the picture names them."""
    return {NAMES.get(part, part): value for part, value in found.seconds.items()}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(choice: Choice, layout: Layout | None = None) -> Svg:
    """Above the memory of a chip, part after part, against what it has; below the seconds of a step; then the bill."""
    found, alt = planned(choice, layout), describe(choice, layout)
    if isinstance(found, str):
        return stacked([title(titled(choice)), found], width=760, alt=alt)
    used, room = sum(found.memory.values()), found.room
    verdict, colour = ("fits", GREEN) if found.fits else ("does not fit", ORANGE)
    rows = [
        title(titled(choice)),
        Text(str(found.layout), MUTED),
        Text(f"Memory of a chip: {gibi(used)} of {gibi(room)}, {verdict}", colour.shade, bold=True),
        waterfall(found.memory, FILLS, gibi, names=LEFT, length=LENGTH, limit=room),
        Text(f"A step: {spoken(found.step)}", bold=True),
        waterfall(parts_of_a_step(found), FILLS, spoken, names=LEFT, length=LENGTH),
        Text(bill(found), bold=True),
        needed(found),
    ]
    return stacked(rows, width=760, alt=alt)


def titled(choice: Choice) -> str:
    """The model, its size and the chips."""
    size = choice.sizes.parameters
    name = choice.name if choice.name in MODELS else f"{choice.name}, {size / 1e9:,.3g} billion parameters"
    return f"{name} on {choice.count:,} {choice.chip}"


def spoken(seconds: float) -> str:
    """Seconds with two digits or more: 0.42 ms, 31 ms, 0.42 s, 31.0 s, 1,200 s."""
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"


def bill(found: Plan) -> str:
    """MFU, days, rent, energy and carbon; what nobody publishes is left out."""
    said = [f"MFU {found.mfu:.0%}", f"{_digits(found.days)} days", f"{_digits(found.chip_hours)} chip-hours"]
    if found.dollars is not None:
        said.append(f"${_digits(found.dollars)}")
    if found.kwh is not None:
        said += [f"{_digits(found.kwh / 1000)} MWh", f"{_digits(found.carbon / 1000)} t of CO2e"]
    return ", ".join(said)


def needed(found: Plan) -> str:
    """The MFU with which the run ends in `DEADLINE` days, whatever the layout."""
    share = needed_mfu(found.sizes, found.training, found.cluster, DEADLINE)
    impossible = ", which no chip reaches" if share > 1 else ""
    return f"To end in {DEADLINE} days, the run needs MFU {share:.0%}{impossible}"


def _digits(number: float) -> str:
    if number >= 1e6:
        return f"{number / 1e6:,.3g} million"
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(choice: Choice, layout: Layout | None = None) -> str:
    """Does it fit, what takes the most memory and the most time, and what does the run cost?"""
    found = planned(choice, layout)
    if isinstance(found, str):
        return f"{titled(choice)}. {found}"
    largest = max(found.memory, key=found.memory.get)
    rest = {part: value for part, value in parts_of_a_step(found).items() if part != "compute"}
    second = max(rest, key=rest.get)
    used, share = sum(found.memory.values()), found.seconds["compute"] / found.step
    verdict = "It fits" if found.fits else "It does not fit"
    return (
        f"{titled(choice)}, {found.layout}. {verdict}: {gibi(used)} of the {gibi(found.room)} that may be used, "
        f"{largest} above all. A step takes {spoken(found.step)}: compute {share:.0%}, then {second} "
        f"{rest[second] / found.step:.0%}. The run: {bill(found)}. {needed(found)}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def planner_explorer(model: str = "GPT-3 175B", chip: str = "H100 SXM") -> Explore:
    """Choose how the work is laid out; behind "More controls" the model, the text that it reads, and the chips."""
    check_one_of("planner_explorer", CHOSEN, model=model)
    check_one_of("planner_explorer", CHIPS, chip=chip)
    begin = CHOSEN[model]
    name = choice("Model", [*CHOSEN, OWN], model, **NARROW)
    own = {
        "layers": slider("Layers", 1, 160, start=begin.layers, **NARROW),
        "width": slider("Width", 128, 20_480, step=128, start=begin.width, **NARROW),
    }
    published = {known: {key: getattr(sizes, key) for key in own} for known, sizes in CHOSEN.items()}
    filled_by(name, published, own, OWN)

    def picture(
        model: str,
        layers: int,
        width: int,
        tokens: float,
        length: int,
        batch: int,
        chip: str,
        count: int,
        best: bool,
        more: bool,
        **ways: Any,
    ) -> Svg:
        sizes = CHOSEN[model] if model in CHOSEN else own_sizes(layers, width)
        choice = Choice(model, sizes, Training(tokens, length, batch // length), chip, count)
        if best:
            return draw(choice)
        cut = ways["tensor"] * ways["pipeline"] * ways["context"]
        return draw(choice, Layout(data=max(1, count // cut), **ways))

    more = tick("More controls")
    explorer = Explore(
        picture,
        name="planner",
        recorded=RECORDED,
        tensor=powers("Tensor", 6, **NARROW),
        pipeline=powers("Pipeline", 6, **NARROW),
        stage=slider("ZeRO stage", 0, 3, **NARROW),
        best=tick("The fastest layout that fits"),
        more=more,
        model=name,
        **own,
        tokens=choice("Tokens", TOKENS, 3e11, **NARROW),
        batch=choice("Batch", BATCHES, 2**22, **NARROW),
        length=choice("Sequence", {f"{n:,} tokens": n for n in LENGTHS}, 2048, **NARROW),
        chip=choice("Chip", list(CHIPS), chip, **NARROW),
        count=powers("Chips", 14, 1024, **NARROW),
        chunks=powers("Stages of a rank", 3, **NARROW),
        context=powers("Context", 4, **NARROW),
        expert=powers("Expert", 6, **NARROW),
        rows=powers("Texts at once", 3, **NARROW),
        recompute=choice("Recompute", {said: way for way, said in RECOMPUTED.items()}, "selective", **NARROW),
    )
    _behind(more, [explorer.controls[key] for key in explorer.controls if key not in FIRST])
    return explorer


NARROW = {"width": 346}
FIRST = ("tensor", "pipeline", "stage", "best", "more")  # what is seen at first; the others are behind "More controls"
RECORDED = {
    "tensor": [1, 2, 4, 8],
    "pipeline": [1, 2, 4, 8, 16],
    "stage": [0, 1, 2, 3],
    "model": ["GPT-3 175B", "Llama 3 405B", "DeepSeek-V3"],
    **dict.fromkeys(("more", "chip", "count", "layers", "width", "tokens", "batch", "length")),
    **dict.fromkeys(("chunks", "context", "expert", "rows", "recompute")),
}


def _behind(more: widgets.Checkbox, others: Sequence[widgets.Widget]) -> None:
    """The others are seen only while `more` is ticked."""

    def shown(_=None) -> None:
        for control in others:
            control.layout.display = None if more.value else "none"

    more.observe(shown, "value")
    shown()
