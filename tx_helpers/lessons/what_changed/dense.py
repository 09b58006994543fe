"""Experts beside dense models: one that computes as much for a token, and one with as many parameters in all.

    recorded()["models"]["experts"]     # {"loss": [of each seed], "parameters": in all, "active": those of one token}

All are decoders of the little world (`specialists`), trained on the same texts for equally many steps. The experts are
8 gated networks of width 64 in each block, of which a token uses one, with the bias; the dense models have one network,
of width 64 or 512. The loss is that on texts about combinations which no training text has.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tx_helpers.lessons.what_changed.specialists import BLOCKS, EXPERTS, WIDTH, train_specialists
from tx_helpers.nn.models import count_parameters
from tx_helpers.training.experiment import Experiment

SEEDS, STEPS = range(3), 240
MODELS = {"experts": (EXPERTS, WIDTH), "as much computing": (1, WIDTH), "as many parameters": (1, EXPERTS * WIDTH)}


def measure(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The file's content, whenever one more model is trained."""
    table = begun or {"about": {}, "models": {}}
    for seed in SEEDS:
        for name, (n_experts, width) in MODELS.items():
            row = table["models"].setdefault(name, {"loss": []})
            if len(row["loss"]) > seed:
                continue
            found = train_specialists(n_experts=n_experts, width=width, steps=STEPS, seed=seed)
            row["loss"].append(round(found.loss, 4))
            row["parameters"] = count_parameters(found.model)
            row["active"] = row["parameters"] - BLOCKS * 3 * (n_experts - 1) * WIDTH * width
            yield table


RECORDED = Experiment(Path(__file__).with_suffix(".json"), measure, "2 minutes", {"steps": STEPS, "seeds": list(SEEDS)})
recorded = RECORDED.read
