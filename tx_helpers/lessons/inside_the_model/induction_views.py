"""Induction in pictures: the explorer of a training run, and what was recorded at three seeds.

induction_explorer(run)           run = learn_copying(seed=0)
RECORDED.read()["seeds"]["0"]["two layers"]["recall"]      # and the same of seven rivals
rivals_picture()
"""

from functools import cache

from torch import Tensor

from tx_helpers.lessons.inside_the_model.induction import (
    LETTERS,
    WORD,
    Copying,
    Edits,
    ids_of,
    looking_back,
    run_with,
    without,
)
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.charts import Panel, heading, line_chart, side_by_side
from tx_helpers.show.controls import choice, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.pixels import pixel_image, transparent_to
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREEN, GREY, MUTED, ORANGE, WEIGHT, shape, words

# --- compute ----------------------------------------------------------------------------------------------------------
LEARNED = "as learned"
BACK = {"at itself": 0, "1 letter back": 1, "2 letters back": 2, "3 letters back": 3}
LOOKS: dict[str, Edits] = {LEARNED: {}, **{name: looking_back(by) for name, by in BACK.items()}, "nowhere": without(1)}
CELL, EDGE = 17, 46  # pixels of the map
GOLD = transparent_to(WEIGHT.full)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(run: Copying, step: int, layer: int, head: int, looks: str, seen: tuple[Tensor, str]) -> Svg:
    """The map of one head on the word written twice, with what the model says next; beside it the run's curves.

    seen  the weights of the head (T, T), and the letters said next
    """
    alt = describe(run, step, layer, head, looks, seen)
    return side_by_side([_map(layer, head, seen), _curves(run, step)], alt=alt, gap=10)


def _map(layer: int, head: int, seen: tuple[Tensor, str]) -> Panel:
    weights, said = seen
    text, length = WORD * 2, len(WORD)
    size, top = CELL * len(text), EDGE
    parts = [heading(EDGE + size / 2 - 20, f"Attention of layer {layer}, head {head}")]
    parts.append(words(EDGE + size + 8, top - 7, "says next", size=12.5, fill=MUTED))
    levels = (weights.clamp(0, 1) * 255).round().numpy()
    parts.append(pixel_image(levels, GOLD, x=EDGE, y=top, width=size, height=size))
    parts.append(shape("rect", x=EDGE, y=top, width=size, height=size, fill="none", stroke=GREY.full))
    half = top + CELL * length
    parts.append(shape("path", d=f"M{EDGE},{half}h{size}M{EDGE + CELL * length},{top}v{size}", stroke=GREY.full))
    for t, letter in enumerate(text):
        middle, baseline = EDGE + CELL * (t + 0.5), top + CELL * (t + 0.5) + 4.5
        parts.append(words(middle, top - 6, letter, anchor="middle"))
        parts.append(words(EDGE - 8, baseline, letter, anchor="end"))
        if (t >= length) if layer > 1 else (0 < t < length):  # what the score of this layer is a mean of
            place = dict(x=EDGE + CELL * (t - length + 1 if layer > 1 else t - 1), y=top + CELL * t)
            parts.append(shape("rect", **place, width=CELL, height=CELL, fill="none", stroke=ORANGE.full))
        if t >= length:
            on = _places_on(said, t)
            ink = GREEN.shade if on == 1 else ORANGE.shade
            parts.append(words(EDGE + size + 10, baseline, said[t], fill=ink, font_weight="bold"))
            parts.append(
                words(EDGE + size + 26, baseline, "–" if on is None else f"+{on}", fill=ink, font_weight="bold")
            )
    parts.append(
        words(
            EDGE + size / 2,
            top + size + 18,
            "column: the letter looked at; framed: what the score counts",
            anchor="middle",
            fill=MUTED,
        )
    )
    return Panel((EDGE + size + 66, top + size + 26), "".join(parts))


def _places_on(said: str, t: int) -> int | None:
    """How many places on in the word stands the letter said at t? None: it is not in the word."""
    return (WORD.index(said[t]) - t) % len(WORD) if said[t] in WORD else None


def _curves(run: Copying, step: int) -> Panel:
    steps = list(run.models)
    shown = {"recall": "recall"}
    for name in run.curves:
        if name.startswith(("previous 1", "induction 2")):
            shown[name] = f"{name[:-4]}, layer {name[-3]}, head {name[-1]}"
    lines = {label: (steps, run.curves[name]) for name, label in shown.items()}
    look = dict(size=(322, 412), xlabel="step", ylabel="", xlim=(0, steps[-1]), ylim=(0, 1.45))
    return line_chart(lines, title="Recall and scores", at=step, yticks=(0, 0.2, 0.4, 0.6, 0.8, 1), **look)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(run: Copying, step: int, layer: int, head: int, looks: str, seen: tuple[Tensor, str]) -> str:
    """The two scores of the head on the drawn word, and what the model says in the second copy."""
    weights, said = seen
    length = len(WORD)
    before = weights.diagonal(-1)[: length - 1].mean().item()
    after_match = weights.diagonal(1 - length)[1:].mean().item()
    places = [_places_on(said, t) for t in range(length, 2 * length)]
    far = f", {places.count(BACK[looks])} are {BACK[looks]} on" if BACK.get(looks, 1) != 1 else ""
    return (
        f"Step {step}, layer 1 looks {looks}. Layer {layer}, head {head}: weight {before:.2f} on the letter before "
        f"(first copy), {after_match:.2f} on the letter after the last match (second copy). "
        f"Reading {WORD} again, the model says {said[length:]}: {places.count(1)} of {length} are the next letter{far}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def induction_explorer(run: Copying) -> Explore:
    """The step of training, the head that is looked at, and where layer 1 is made to look."""
    check_types("induction_explorer", Copying, run=run)
    ids = ids_of(WORD * 2)

    @cache
    def seen_at(step: int, looks: str) -> tuple[str, dict[str, Tensor]]:
        said, seen = run_with(run.models[step], ids, LOOKS[looks])
        return "".join(LETTERS[i] for i in said[0]), {name: seen[name][0] for name in seen}

    def picture(step: int, head: str, looks: str) -> Svg:
        layer, number = map(int, head.split("."))
        said, weights = seen_at(step, looks)
        chosen = weights[f"decoder.blocks.{layer - 1}.self_attention.weights"][number - 1]
        return draw(run, step, layer, number, looks, (chosen, said))

    heads = [
        (layer, head)
        for layer, block in enumerate(run.model.decoder.blocks, start=1)
        for head in range(1, block.self_attention.n_heads + 1)
    ]
    return Explore(
        picture,
        name="induction",
        step=stops("Training step", list(run.models), list(run.models)[-1]),
        head=choice("Attention of", {f"layer {one}, head {two}": f"{one}.{two}" for one, two in heads}, "2.1"),
        looks=choice("Layer 1 looks", list(LOOKS)),
    )
