"""Two changes at once in the model of 2017, and two ways to keep fewer keys and values: what the ladder does not have.

    recorded()["losses"]["rotary + Muon"]     # the validation loss of three seeds, after equally many steps
    recipes()                                 # {name: recipe}, as they are trained

Trained as the ladder is (`ladder.train`), so each entry compares with the ladder's entries seed by seed. The pairs are
those of the five changes that gain most alone, and *Muon + decay to zero*. *multi-query* and *latents* are changes to
2017 with rotary positions, and both keep 32 numbers of a token in a layer, where 2017 keeps 128.
"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from tx_helpers.lessons.what_changed.ladder import ABOUT, Recipe, changed, train, with_changes
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.parts.latent import LatentConfig

USEFUL = ("rotary", "Muon", "SwiGLU", "own output", "ReLU²")
SEEDS = range(3)
KEPT = {"multi-query": {"config.attention.n_kv_heads": 1}, "latents": {"config.mixer": LatentConfig(24, 8)}}


def recipes() -> dict[str, Recipe]:
    """{"rotary + Muon": its recipe}; ReLU² replaces SwiGLU, so that these two make no pair."""
    pairs = [pair for pair in (*combinations(USEFUL, 2), ("Muon", "decay to zero")) if pair != ("SwiGLU", "ReLU²")]
    found = {" + ".join(pair): with_changes(*pair) for pair in pairs}
    rotary = with_changes("rotary")
    return found | {f"rotary + {name}": changed(rotary, change) for name, change in KEPT.items()}


def measure(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The content whenever one more model is trained: {"about": {…}, "losses": {name: [a loss of each seed]}}."""
    table = begun or {"about": {}, "losses": {}}
    for name, recipe in recipes().items():
        losses = table["losses"].setdefault(name, [])
        for seed in SEEDS[len(losses) :]:
            losses.append(round(train(recipe, seed=seed).held_out, 4))
            yield table


RECORDED = Experiment(Path(__file__).with_suffix(".json"), measure, "4 minutes", ABOUT)
recorded = RECORDED.read
