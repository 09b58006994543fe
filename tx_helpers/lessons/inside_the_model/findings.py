"""What was measured at translators of three seeds: attributions, circuits, lenses and probes.

`python -m tx_helpers record inside_the_model/findings` trains them and measures again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from tx_helpers.lessons.inside_the_model.attribution import METHODS, known_sentences, last_heads
from tx_helpers.lessons.inside_the_model.circuit import one_by_one, search
from tx_helpers.lessons.inside_the_model.patching import patch_grid
from tx_helpers.lessons.inside_the_model.reading import probe_neighbours, read_stream
from tx_helpers.lessons.inside_the_model.tools import Part, exact, mean_activations, parts_of, without
from tx_helpers.text.data import SequenceBatch, sequence_batch
from tx_helpers.text.number_words import number_pairs
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.recipes import Translator, train_translator

SEEDS, SENTENCES, LEAST = (0, 1, 2), 200, 8
PATCHED = 421, 431  # with one vector of the second, the first says its ten


def batch_of(translator: Translator, pairs: list[Any]) -> SequenceBatch:
    """Pairs as one batch of the translator's ids."""
    return sequence_batch(translator.data.encode(pairs))


def measure(translator: Translator) -> dict[str, Any]:
    """All that the notebook shows of one translator, from held-out numbers; lenses and probes are fitted on others."""
    pairs, model = number_pairs(), translator.model
    known = known_sentences(translator, pairs.held_out[:SENTENCES])
    unseen = batch_of(translator, pairs.held_out[SENTENCES : 3 * SENTENCES])
    test, fit = batch_of(translator, pairs.held_out[:500]), batch_of(translator, pairs.train[1000:3000])
    means = mean_activations(model, batch_of(translator, pairs.train[:1000]))
    scores = {name: method(model, known).detach() for name, method in METHODS.items()}
    gone, steps = [], []
    for part, match in search(model, known.batch, means, keep=LEAST):
        gone.append(part)
        steps.append({"part": list(part), "found": match, "unseen": exact(model, unseen, without(gone, means))})
    return {
        "parts": [list(part) for part in parts_of(model)],
        "whole": {"found": exact(model, known.batch), "unseen": exact(model, unseen)},
        "attribution": {name: [known.right(score), known.share(score)] for name, score in scores.items()},
        "one head": [known.right(head) for head in last_heads(model, known)],
        "joint": known.joint(scores["attention, last block"], scores["patching"]),
        "patching": _patched(translator, means),
        "alone": [[*part, match] for part, match in one_by_one(model, known.batch, means).items()],
        "search": steps,
        "lens": read_stream(translator, fit, test),
        "probe": probe_neighbours(translator, fit, test)._asdict(),
    }


def _patched(translator: Translator, means: Mapping[Part, Tensor]) -> dict[str, float]:
    """p(other ten) with the last position's stream patched after block 1 and after block 2; and after block 1, when the
    second block's cross-attention, which reads the memory again, says its mean."""
    early, late = "decoder.blocks.0.hidden", "decoder.blocks.1.hidden"
    cross = [part for part in parts_of(translator.model) if part.path == "decoder.blocks.1.cross_attention"]
    whole = patch_grid(translator, *PATCHED).effect
    alone = patch_grid(translator, *PATCHED, without(cross, means)).effect
    return {"early": whole[early][-1], "late": whole[late][-1], "early alone": alone[early][-1]}


def run() -> dict[str, Any]:
    """The findings at each seed."""
    return {"seeds": {str(seed): measure(train_translator(seed=seed, progress=False)) for seed in SEEDS}}


RECORDED = Experiment(Path(__file__).with_suffix(".json"), run, "two minutes")
