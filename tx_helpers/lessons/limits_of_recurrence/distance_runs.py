"""Does it still know the country? Small models, trained to answer a word that stood far back.

    learn_language("LSTM, forget bias 3", noise=20).share    the share of 1,000 new sentences answered right
    recorded_shares()["LSTM"][20]                            the recorded share at each seed

The task: "Nepal … fluent ___". The first word is a country, `noise` words that do not matter follow, and the last word,
fluent, asks for the country's language. So the answer is a related word, which is not in the text. All models have the
same width, data, batches, learning rate and at most the same steps; they differ in their layer, and in two things that
help a gated layer: the bias at which its forget gate starts, and whether it trains on sentences of all lengths.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.limits_of_recurrence.recurrent import Recaller, recall_batch, set_forget_bias
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.training.experiment import Experiment

COUNTRIES = {
    **{"Nepal": "Nepali", "Japan": "Japanese", "Finland": "Finnish", "Turkey": "Turkish"},
    **{"Greece": "Greek", "Poland": "Polish", "Iceland": "Icelandic", "Hungary": "Hungarian"},
}
OTHERS = ("she", "was", "there", "and", "then", "often", "with", "friends")
WORDS = (*COUNTRIES, *OTHERS, "fluent")  # the words of the task, in the order of their ids
STEPS, BATCH, RATE, WIDTH, SEEDS = 500, 64, 3e-3, 32, (0, 1, 2)
DISTANCES = (5, 10, 20, 40, 100)
# name -> kind of layer, forget bias, and whether sentences of all lengths up to the asked one are trained on
RUNS: dict[str, tuple[str, float | None, bool]] = {
    "RNN": ("rnn", None, False),
    "LSTM": ("lstm", None, False),
    "GRU": ("gru", None, False),
    "LSTM, forget bias 1": ("lstm", 1.0, False),
    "LSTM, forget bias 3": ("lstm", 3.0, False),
    "GRU, forget bias 3": ("gru", 3.0, False),
    "LSTM, all lengths": ("lstm", None, True),
    "GRU, all lengths": ("gru", None, True),
    "attention": ("attention", None, False),
}


class Learned(NamedTuple):
    """A trained model, its share of right answers on new sentences, and the steps that it took."""

    model: nn.Module
    share: float
    steps: int


def language_batch(noise: int, batch: int, *, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """Ids of `WORDS` (B, noise + 2): a country, `noise` other words, "fluent"; and the languages (B,), 0 … 7."""
    ids, answers = recall_batch(noise, batch, keys=len(COUNTRIES), symbols=len(OTHERS), generator=generator)
    return F.pad(ids, (0, 1), value=WORDS.index("fluent")), answers


def learn_language(name: str, noise: int, *, seed: int = 0, steps: int = STEPS) -> Learned:
    """Train one of `RUNS` on sentences with `noise` words in between; it stops early where the loss is below 0.01."""
    check_one_of("learn_language", RUNS, name=name)
    kind, bias, all_lengths = RUNS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Recaller(kind, WIDTH, keys=len(COUNTRIES), symbols=len(OTHERS) + 1)
    if bias is not None:
        set_forget_bias(model.layer, bias)
    return train_recaller(model, language_batch, noise, seed=seed, steps=steps, all_lengths=all_lengths)


def train_recaller(
    model: nn.Module, task: Any, noise: int, *, seed: int = 0, steps: int = STEPS, all_lengths: bool = False
) -> Learned:
    """Train a model on task(noise, batch, generator=…), for `steps` steps at most, and examine it on 1,000 sentences.

    With all_lengths each batch has another number of words in between, from 1 to `noise`; the exam has `noise`.
    """
    check_numbers("train_recaller", least=1, whole=True, noise=noise, steps=steps)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    taken = 0
    while taken < steps:
        taken += 1
        length = int(torch.randint(1, noise + 1, (), generator=generator)) if all_lengths else noise
        ids, answers = task(length, BATCH, generator=generator)
        loss = F.cross_entropy(model(ids), answers)
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if loss.item() < 0.01 and not all_lengths:
            break
    return Learned(model, share_right(model, task(noise, 1000, generator=generator)), taken)


def share_right(model: nn.Module, batch: tuple[Tensor, Tensor]) -> float:
    """The share of a batch (ids, answers) that the model answers right."""
    ids, answers = batch
    with torch.no_grad():
        return (model(ids).argmax(dim=-1) == answers).double().mean().item()


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{"about", "runs": [{"seed", "name", "noise", "share", "steps"}, …]}, after each run that it did not hold."""
    table = begun or {"about": {}, "runs": []}
    done = {(one["seed"], one["name"], one["noise"]) for one in table["runs"]}
    for seed, name, noise in product(SEEDS, RUNS, DISTANCES):
        if (seed, name, noise) not in done:
            _, share, steps = learn_language(name, noise, seed=seed)
            table["runs"].append({"seed": seed, "name": name, "noise": noise, "share": share, "steps": steps})
            print(f"seed {seed}  {name:20} {noise:3} words: {share:.3f}, {steps} steps", flush=True)
            yield table


SETTINGS = {"steps": STEPS, "batch": BATCH, "rate": RATE, "width": WIDTH, "distances": DISTANCES}
RECORDED = Experiment(Path(__file__).with_name("distance.json"), learn_all, "5 minutes", SETTINGS)
recorded_runs = RECORDED.read


def recorded_shares() -> dict[str, dict[int, list[float]]]:
    """name -> words in between -> the share of right answers at each seed."""
    found: dict[str, dict[int, list[float]]] = {name: {noise: [] for noise in DISTANCES} for name in RUNS}
    for run in recorded_runs()["runs"]:
        found[run["name"]][run["noise"]].append(run["share"])
    return found
