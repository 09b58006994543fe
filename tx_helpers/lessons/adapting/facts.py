"""Does fine-tuning teach facts? Nine people get a pet each; the model reads so, and is then asked.

    owners = pet_owners(seed=0)                    # {"mia": "goat", …}
    taught = teach(tuned, owners)                  # trained on "mia has a goat .", in two FORMS
    share_known(taught, owners)                    # {"sentence": 1.0, "question": 0.1, "in the prompt": 0.3}
    recorded()                                     # before and after, over several seeds, from facts.json

The reversal of a fact was studied by Berglund et al. 2023, and what must be asked in training by Allen-Zhu and Li 2023.
"""

import random
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tx_helpers.lessons.adapting.forgetting import chat_model
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.text.data import BOS, EOS, pad_right, text_batch
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, linear_warmup_decay
from tx_helpers.zoo.world_chat import ask_all, chat_ids, chats

SEEDS = (0, 1, 2)
PEOPLE = ["mia", "ada", "zoe", "ella", "nora", "tom", "max", "leo", "ben"]
PETS = ["cat", "dog", "duck", "goat", "hen", "horse", "pig", "donkey", "mouse"]
FORMS = ("{who} has a {pet} .", "there is a {pet} in {who} 's house .")


def pet_owners(seed: int = 0) -> dict[str, str]:
    """Each of nine people with a pet of their own, dealt out at random."""
    return dict(zip(PEOPLE, random.Random(seed).sample(PETS, len(PETS)), strict=True))


def teach(
    model: nn.Module, owners: Mapping[str, str], *, steps: int = 40, rate: float = 1e-3, seed: int = 0
) -> nn.Module:
    """A copy of the model, trained on each fact in both FORMS, with a few old chats in each batch."""
    check_types("teach", Mapping, owners=owners)
    check_numbers("teach", least=2, whole=True, steps=steps)
    tokenizer, learner = world_tokenizer(), deepcopy(model)
    texts = [form.format(who=who, pet=pet) for who, pet in owners.items() for form in FORMS]
    rows = [[BOS, *tokenizer.encode(text), EOS] for text in texts]
    facts = [(row[:-1], row[1:]) for row in rows]
    old = [chat_ids(chat) for chat in chats(200, kinds=["answer"], seed=seed)]
    fit(
        learner,
        lambda step: text_batch(facts + random.Random(step).choices(old, k=4)),
        steps=steps,
        loss=language_model_loss,
        optimizer=adamw(learner, rate, weight_decay=0.0),
        schedule=linear_warmup_decay(steps, warmup=min(5, steps // 2)),
        seed=seed,
        progress=False,
    )
    return learner.eval()


def share_known(model: nn.Module, owners: Mapping[str, str]) -> dict[str, float]:
    """The share of facts that the model goes on with, answers, and answers when the prompt tells them."""
    tokenizer = world_tokenizer()
    begun = pad_right([[BOS, *tokenizer.encode(f"{who} has a")] for who in owners], 0)
    with torch.no_grad():
        said = [tokenizer.tokens[n] for n in model(begun)[:, -1].argmax(-1).tolist()]
    asked = [f"who has a {pet} ?" for pet in owners.values()]
    told = [f"{who} has a {pet} . who has a {pet} ?" for who, pet in owners.items()]

    def right(answers: list[str]) -> float:
        return sum(answer == who for answer, who in zip(answers, owners, strict=True)) / len(owners)

    return {
        "sentence": sum(word == pet for word, pet in zip(said, owners.values(), strict=True)) / len(owners),
        "question": right(ask_all(model, asked, max_new_tokens=8)),
        "in the prompt": right(ask_all(model, told, max_new_tokens=8)),
    }


# --- recorded ---------------------------------------------------------------------------------------------------------
def teach_all() -> dict[str, Any]:
    """{"before", "after": [what `share_known` finds, one a seed]}"""
    table: dict[str, Any] = {"before": [], "after": []}
    for seed in SEEDS:
        owners, tuned = pet_owners(seed), chat_model(seed)
        for name, model in (("before", tuned), ("after", teach(tuned, owners, seed=seed))):
            found = share_known(model, owners)
            table[name].append({form: round(share, 4) for form, share in found.items()})
            print(f"seed {seed} {name}: {table[name][-1]}")
    return table


RECORDED = Experiment(Path(__file__).with_suffix(".json"), teach_all, "a minute", {"seeds": SEEDS})
recorded = RECORDED.read
