"""Runs whose losses follow a known law exactly: a table like tx_helpers/lessons/scaling_up/laws.json."""

from typing import Any

from tx_helpers.lessons.scaling_up.laws.law import Law

PLANTED = Law(E=0.5, A=20.0, B=2000.0, alpha=0.5, beta=0.8)
LENGTHS = (100, 200, 400, 800)
RATES = {
    "steps": 20,
    "rates": [0.125, 0.25, 0.5],
    "losses": {
        "one rate": {"16": [[3.0, 3.2], [2.0, 2.0], [2.5, 2.5]], "32": [[1.5, 1.7], [1.75, 1.95], [4.0, 4.0]]},
        "μP": {"16": [[3.0, 3.2], [2.0, 2.0], [2.5, 2.5]], "32": [[2.0, 2.0], [1.5, 1.5], [2.0, 2.0]]},
    },
}


def planted(worse: float = 0.3) -> dict[str, Any]:
    """Four sizes and four lengths; on the way of the longest the loss is larger; the embedding is a quarter of N."""
    runs = []
    for width in (8, 16, 32, 64):
        parameters = 100 * width
        for steps in LENGTHS:
            way = [[s, 500 * s, worse + float(PLANTED.loss(parameters, 500 * s))] for s in LENGTHS if s < steps]
            loss = float(PLANTED.loss(parameters, 500 * steps))
            sizes = {"parameters": parameters, "without_embeddings": 75 * width, "tokens": 500 * steps}
            runs.append({"width": width, "steps": steps, **sizes, "loss": loss, "on_the_way": way})
    return {"about": {"floor": 0.5}, "runs": runs, "rates": RATES}
