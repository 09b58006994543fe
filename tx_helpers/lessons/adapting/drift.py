"""What DPO moves on its way, recorded for several β: the likelihood of both answers, the KL, and what is unlearned.

    recorded()["runs"]["0.1"][0]   # [{"step": 0, "better": …, "worse": …, "kl": …, …}, …] of the first seed

The reference is the chat model of `forgetting.chat_model`. Measured on pairs and questions that no training had:

    better, worse   mean ln p of the better and of the worse story, in nats
    ranked          share of pairs whose better story has gained more than the worse one
    good            share of the stories that the model itself writes, and that name a feeling, that end well
    true            share of these stories that are texts of the world about the right person
    kl              KL(π ‖ π_ref) of a story that the model writes, in nats
    answers         share of questions of another task that are answered right, word for word
"""

from pathlib import Path
from typing import Any

from torch import nn

from tx_helpers.lessons.adapting.forgetting import chat_model
from tx_helpers.lessons.adapting.preferences import (
    Pair,
    align,
    measure,
    preference_pairs,
    reference_log_probabilities,
)
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.world_chat import chat_ids, chats, exact_match

BETAS = (0.1, 0.5, 2.0)
STEPS, EVERY, PAIRS, SEEDS = 40, 10, 200, (0, 1, 2)


def look(model: nn.Module, reference: nn.Module, pairs: list[Pair], asked: list) -> dict[str, float]:
    """All that the head of this file lists, but the step."""
    sides = zip(*(pair.chats for pair in pairs), strict=True)
    better, worse = (reference_log_probabilities(model, [chat_ids(chat) for chat in side]).mean() for side in sides)
    found = measure(model, reference, pairs)
    kept = {"ranked": found["ranked"], "good": found["preferred"], "true": found["true"], "kl": found["kl"]}
    answers = exact_match(model, asked)
    return {
        name: round(float(value), 4)
        for name, value in dict(better=better, worse=worse, **kept, answers=answers).items()
    }


def follow(
    beta: float, reference: nn.Module, *, steps: int = STEPS, every: int = EVERY, seed: int = 0
) -> list[dict[str, float]]:
    """Train a copy of the reference by DPO; what `look` finds before, and after each `every` steps."""
    check_numbers("drift", above=0, beta=beta)
    pairs = preference_pairs(80, split="test", seed=seed + 1)
    asked = chats(50, split="test", kinds=["answer"], seed=seed + 7)
    found = [{"step": 0, **look(reference, reference, pairs, asked)}]

    def watch(model: nn.Module) -> dict[str, float]:
        found.append({"step": len(found) * every, **look(model, reference, pairs, asked)})
        return {"kl": found[-1]["kl"]}

    align(
        reference,
        preference_pairs(PAIRS, seed=seed),
        beta=beta,
        steps=steps,
        seed=seed,
        evaluate=watch,
        every=every,
    )
    return found


# --- recorded ---------------------------------------------------------------------------------------------------------
def follow_all() -> dict[str, Any]:
    """{"made": how, "runs": {beta: [a list of `follow` for each seed]}}"""
    runs: dict[str, list] = {f"{beta:g}": [] for beta in BETAS}
    for seed in SEEDS:
        tuned = chat_model(seed)
        for beta in BETAS:
            runs[f"{beta:g}"].append(follow(beta, tuned, seed=seed))
            print(f"seed {seed} beta {beta:g}: {runs[f'{beta:g}'][-1][0]} {runs[f'{beta:g}'][-1][-1]}")
    return {"made": "In one process. Rate and steps were chosen on seed 0.", "runs": runs}


RECORDED = Experiment(Path(__file__).with_suffix(".json"), follow_all, "5 minutes", {"seeds": SEEDS})
recorded = RECORDED.read
