"""Copying models at three seeds, with their rivals: one layer, more and fewer heads, other positions. Recorded.

    at_seeds("recall")                                  # the model of the notebook, at each seed
    at_seeds("without", "1.2", variant="one layer")     # without layer 1, head 2
    rivals_picture()

"one layer, wider" and "one layer, feed-forward" have as many parameters as the two layers (39 thousand).
"""

from pathlib import Path
from typing import Any

from tx_helpers.lessons.inside_the_model.induction import (
    SEEDS,
    Copying,
    learn_copying,
    looking_back,
    recall,
    unseen_rows,
    without,
)
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.training.experiment import Experiment

VARIANTS: dict[str, dict[str, Any]] = {
    "two layers": {},
    "one head in a layer": dict(heads=1),
    "four heads in a layer": dict(heads=4),
    "one layer": dict(layers=1, steps=900),
    "one layer, wider": dict(layers=1, width=88, steps=900),
    "one layer, feed-forward": dict(layers=1, d_ff=128, steps=900),
    "no positions": dict(positions="none", steps=900),
    "short token vectors": dict(scale=False, steps=900),
}
LENGTHS = (5, 12, 20)  # of blocks; in training 8 to 16


def measure(run: Copying) -> dict[str, Any]:
    """The curves of a run; at its end the recall by length, without each head and layer, and where layer 1 is moved.

    moved  for each b of 0 … 3, where layer 1 looks b letters back: the shares of answers 0 … 3 letters ahead
    """
    model, test = run.model, unseen_rows()
    edits = {}
    for layer, block in enumerate(model.decoder.blocks, start=1):
        heads = range(1, block.self_attention.n_heads + 1)
        edits |= {str(layer): without(layer)} | {f"{layer}.{head}": without(layer, head) for head in heads}
    return {
        "steps": list(run.models),
        "curves": {name: [round(value, 3) for value in values] for name, values in run.curves.items()},
        "recall": round(recall(model, test), 3),
        "lengths": [round(recall(model, unseen_rows(length=length)), 3) for length in LENGTHS],
        "without": {name: round(recall(model, test, edit), 3) for name, edit in edits.items()},
        "moved": [[round(recall(model, test, looking_back(b), ahead=a), 3) for a in range(4)] for b in range(4)],
    }


def train_all() -> dict[str, Any]:
    """What `measure` finds for all variants, at all seeds."""
    seeds = {}
    for seed in SEEDS:
        seeds[str(seed)] = {name: measure(learn_copying(seed=seed, **how)) for name, how in VARIANTS.items()}
    return {"seeds": seeds}


RECORDED = Experiment(
    Path(__file__).with_name("induction.json"),
    train_all,
    "4 minutes",
    {"trained": SEEDS, "variants": VARIANTS, "lengths": LENGTHS},
)


def rivals_picture() -> Svg:
    """The recall of the variants: the mean of the seeds and their range."""
    lines, bands, told = {}, {}, []
    for name in VARIANTS:
        if "head" not in name:
            curves = at_seeds("curves", "recall", variant=name)
            columns = list(zip(*curves, strict=True))
            lines[name] = (at_seeds("steps", variant=name)[0], [sum(values) / len(values) for values in columns])
            bands[name] = (list(map(min, columns)), list(map(max, columns)))
            told.append(f"{name} {', '.join(f'{curve[-1]:.2f}' for curve in curves)}")
    look = dict(size=(760, 340), title="Recall at three seeds", xlabel="step", ylabel="recall")
    chart = line_chart(lines, bands=bands, ylim=(0, 1.6), yticks=(0, 0.2, 0.4, 0.6, 0.8, 1), **look)
    return side_by_side([chart], alt=f"Recall at the last step, seed by seed: {'; '.join(told)}.")


def at_seeds(*path: str | int, variant: str = "two layers") -> list[Any]:
    """A recorded value of a variant at each seed: at_seeds("without", "1.2"), at_seeds("moved", 2, 2)."""
    found = []
    for seed in RECORDED.read()["seeds"].values():
        value = seed[variant]
        for key in path:
            value = value[key]
        found.append(value)
    return found
