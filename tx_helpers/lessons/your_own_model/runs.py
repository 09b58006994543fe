"""Your model against counting, at three seeds: its loss on unseen text every hundred steps, beside n-grams. Recorded.

    RECORDED.read()["seeds"]["0"]      # {"steps": […], "model": […], "ngrams": {"1": …, …}}, nats per character
    rivals_picture()

A seed draws the stories, the held-out tenth of them, the first weights and the batches.
"""

import math
from pathlib import Path
from typing import Any

from tx_helpers.lessons.your_own_model.rivals import Ngram, known_floor
from tx_helpers.lessons.your_own_model.sets import story_text
from tx_helpers.plain import GPT
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.text.stories import END
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.recipes import WRITER_CONTEXT, Writer, train_writer

SEEDS, STEPS, EVERY, ORDERS = (0, 1, 2), 1400, 100, (1, 2, 3, 4, 5, 6, 8, 10, 12)
SIZE = dict(d_model=96, n_heads=4, d_ff=384, n_layers=3)
CHECKED = 8_000  # characters of the unseen text on which the loss is measured


def train_all() -> dict[str, Any]:
    """The losses of all seeds."""
    return {"seeds": {str(seed): train_one(seed) for seed in SEEDS}}


def train_one(seed: int, steps: int = STEPS, every: int = EVERY) -> dict[str, Any]:
    """Train on the stories of a seed; the loss on unseen ones after 0, `every` … steps, and that of each n-gram."""
    parts = [f"{one}{END}" for one in story_text(seed=seed).split(END) if one.strip()]
    train = "".join(one for place, one in enumerate(parts) if place % 10)
    unseen = "".join(parts[::10])[:CHECKED]

    def evaluate(writer: Writer) -> dict[str, float]:
        return {"unseen": round(writer.loss(unseen), 4)}

    made = train_writer(
        train,
        new_model=lambda tokenizer: GPT(len(tokenizer), **SIZE),
        steps=steps,
        seed=seed,
        evaluate=evaluate,
        every=every,
        progress=False,
    )
    found = made.run.evaluations
    return {
        "steps": [each["step"] for each in found],
        "model": [each["unseen"] for each in found],
        "ngrams": {str(order): round(in_windows(Ngram(order).fit(train), unseen), 4) for order in ORDERS},
    }


def in_windows(gram: Ngram, text: str) -> float:
    """The n-gram's loss in the windows in which the model is measured: none sees what stands before its window."""
    starts = range(0, len(text) - 1, WRITER_CONTEXT)
    windows = [text[start : start + WRITER_CONTEXT + 1] for start in starts]
    surprises = [-math.log(gram.p(one[at], one[:at])) for one in windows for at in range(1, len(one))]
    return sum(surprises) / len(surprises)


RECORDED = Experiment(
    Path(__file__).with_suffix(".json"),
    train_all,
    "8 minutes",
    {"trained": SEEDS, "steps": STEPS, "size": SIZE, "orders": ORDERS},
)


def overtaken(run: dict[str, Any]) -> tuple[int, str]:
    """The first measured step at which the model is better than every n-gram (0: never), and the best n."""
    best = min(run["ngrams"], key=run["ngrams"].__getitem__)
    ahead = (step for step, loss in zip(run["steps"], run["model"], strict=True) if loss < run["ngrams"][best])
    return next(ahead, 0), best


def rivals_picture() -> Svg:
    """Left: the model's loss over its steps, with the best n-gram and the floor. Right: the n-grams by their order."""
    runs = list(RECORDED.read()["seeds"].values())
    steps = runs[0]["steps"]
    columns = list(zip(*(run["model"] for run in runs), strict=True))
    counted = [[run["ngrams"][str(order)] for run in runs] for order in ORDERS]
    floor, best = known_floor(), min(min(values) for values in counted)
    model = {"your model": (steps, [sum(values) / len(values) for values in columns])}
    grams = {"n-gram": (ORDERS, [sum(values) / len(values) for values in counted])}
    shared = dict(size=(390, 300), ylabel="nats per character", ylim=(0, 3.0))
    left = line_chart(
        model,
        title="Your model over its steps",
        xlabel="step",
        bands={"your model": (list(map(min, columns)), list(map(max, columns)))},
        levels={"best n-gram": best, "floor": floor},
        **shared,
    )
    right = line_chart(
        grams,
        title="Counting",
        xlabel="n",
        xticks=ORDERS,
        bands={"n-gram": (list(map(min, counted)), list(map(max, counted)))},
        levels={"floor": floor},
        dots=True,
        **shared,
    )
    return side_by_side([left, right], alt=describe(runs, floor))


def describe(runs: list[dict[str, Any]], floor: float) -> str:
    """The numbers of the picture, in words."""
    ends = ", ".join(f"{run['model'][-1]:.2f}" for run in runs)
    crossings = ", ".join(str(overtaken(run)[0]) for run in runs)
    bests = ", ".join(f"n = {overtaken(run)[1]} {min(run['ngrams'].values()):.2f}" for run in runs)
    return (
        f"Three seeds. After {runs[0]['steps'][-1]} steps the model has {ends} nats per character, "
        f"the best n-gram {bests}, the floor is {floor:.2f}. The model is ahead from step {crossings} on."
    )
