"""What is scored in a chat decides what a model learns: three choices, recorded.

recorded()["answers and <end>"]     # {"right": […], "stops": […], "words": […], "strange": […]}, one a seed
recorded()["longer"]                # the share that is right after LONGER steps, one a seed

right    share of questions answered right, word for word, whatever follows the answer
strange  share of the wrong answers with a word that the question and its text do not have
stops    share of answers that the model ends by <end>, within LONGEST tokens
words    tokens that it writes until it stops, or LONGEST
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from tx_helpers.generation.search import generate
from tx_helpers.text.data import PAD
from tx_helpers.text.world_vocabulary import END, world_id, world_tokenizer
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.world_chat import (
    Chat,
    Labels,
    all_labels,
    chat_labels,
    chats,
    endless_labels,
    render,
    tune,
)
from tx_helpers.zoo.world_models import world_model

CHOICES: dict[str, Labels] = {
    "answers and <end>": chat_labels,
    "answers without <end>": endless_labels,
    "every token": all_labels,
}
LONGEST, STEPS, LONGER, SEEDS = 30, 80, 240, (0, 1, 2)


def written(model: nn.Module, chats: Sequence[Chat], longest: int = LONGEST) -> list[list[str]]:
    """The tokens that the model writes behind the first question of each chat, <end> included, if it comes."""
    tokenizer = world_tokenizer()
    asked = [tokenizer.encode(render(chat[:1], add_generation_prompt=True), bos=True) for chat in chats]
    ids = generate(model, asked, max_new_tokens=longest, end_id=world_id(END), pad_id=PAD)
    return [[tokenizer.tokens[n] for n in row if n != PAD] for row in ids.tolist()]


def habits(model: nn.Module, chats: Sequence[Chat]) -> dict[str, float]:
    """What the head of this file lists, each a mean over the chats."""
    texts = written(model, chats)
    answers = [chat[1]["content"].split() for chat in chats]
    right = [text[: len(answer)] == answer for text, answer in zip(texts, answers, strict=True)]
    stops = [END in text for text in texts]
    wrong = [(text, chat[0]["content"]) for text, chat, known in zip(texts, chats, right, strict=True) if not known]
    strange = [not {*text} - {END} <= {*asked.split()} for text, asked in wrong]
    columns = {"right": right, "stops": stops, "words": list(map(len, texts)), "strange": strange}
    return {name: round(sum(values) / max(len(values), 1), 4) for name, values in columns.items()}


# --- recorded ---------------------------------------------------------------------------------------------------------
def tune_all() -> dict[str, Any]:
    """{choice: {"right", "stops", "words", "strange": [one a seed]}, "longer": [right, one a seed]}"""
    columns = ("right", "stops", "words", "strange")
    table: dict[str, Any] = {name: {column: [] for column in columns} for name in CHOICES} | {"longer": []}
    for seed in SEEDS:
        data = chats(1500, kinds=["answer", "story"], seed=seed)
        asked = chats(80, split="test", kinds=["answer"], seed=seed + 7)
        for name, labels in CHOICES.items():
            tuned = tune(world_model("decoder"), data, labels=labels, steps=STEPS, seed=seed)
            for key, value in habits(tuned, asked).items():
                table[name][key].append(value)
            print(f"seed {seed} {name}: {table[name]}")
        longer = tune(world_model("decoder"), data, steps=LONGER, seed=seed)
        table["longer"].append(habits(longer, asked)["right"])
    return table


RECORDED = Experiment(Path(__file__).with_suffix(".json"), tune_all, "4 minutes", {"seeds": SEEDS})
recorded = RECORDED.read
