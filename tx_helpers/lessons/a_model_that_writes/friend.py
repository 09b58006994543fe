"""Why does the writer of stories lose the friend? Train it on, each time with one thing changed, and count.

What is recorded of it is `looking.trained_on`: for each change and seed the share of unseen stories in which the writer
names the right friend, and the right thing, every 50 steps.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tx_helpers.generation.search import generate
from tx_helpers.text.data import TextBatches
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.stories import CAST, SENTENCES, WORDS
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import linear_warmup_decay, muon
from tx_helpers.zoo.recipes import WRITER_RATES
from tx_helpers.zoo.shipped import story_writer

STEPS, EVERY, PLACES, SEEDS = 450, 50, 40, range(3)
WEIGHT, HEAVY = 8.0, 64.0  # of a word of the cast in the loss; of the friend, once
FRIEND, THING = r"gave the (\w+)", r"\. The (\w+)"
BEGUN = "One {wet} {day} {hero.they} {bought} {sum.had} {fruit.many} and met"
CHANGES: dict[str, dict] = {  # name -> sentences of the grammar in place of its own
    "nothing changed": {},
    "in every story": {"gift": ["{hero.name} gave the {friend.kind} {sum.gave} and kept {sum.left}."]},
    "no other animal": {
        "opening": {
            "{hero.name} lived in a {look} {colour} {home} by the {mill}.": 3,
            "In a {look} {colour} {home} by the {mill} lived {hero.name}.": 2,
            "Once {hero.name} had a {look} {colour} {home}.": 1,
        }
    },
    "a cue of its own": {
        "meeting": {
            BEGUN + " my {mood} {friend.kind}.": 2,
            "It is my {mood} {friend.kind} came as {hero.they} {bought} {sum.had} {fruit.many} one {wet} {day}.": 1,
        },
        "loss": {'"I lost this {look} {lost.thing}!" it {wept}.': 2, "It {wept} for this {look} {lost.thing}.": 1},
    },
    "counts eight times as much": {},  # the friend's second mention: 64 times in the loss, not 8 times
}


class WeightedBatch(NamedTuple):
    """input and target (B, T) as in `TextBatch`, and the weight of each target."""

    input: Tensor
    target: Tensor
    weight: Tensor

    def to(self, device: torch.device | str) -> "WeightedBatch":
        """On another device."""
        return WeightedBatch(*(part.to(device) for part in self))


def weights(text: str) -> Tensor:
    """(N,): WEIGHT for the characters of a word of the cast, 1 for all others."""
    words = {word for records in CAST.values() for record in records for word in record.values()}
    found, heavy = torch.ones(len(text)), re.compile(rf"\b(?:{'|'.join(sorted(words))})\b")
    for match in heavy.finditer(text):
        found[match.start() : match.end()] = WEIGHT
    return found


def weighted_loss(model: nn.Module, batch: WeightedBatch) -> Tensor:
    """The weighted mean of −ln p."""
    losses = cross_entropy(model(batch.input).float().transpose(1, 2), batch.target, reduction="none")
    return (losses * batch.weight).sum() / batch.weight.sum()


def grammar(change: str) -> Grammar:
    """The stories' rules with the change."""
    return Grammar(SENTENCES | CHANGES[change] | {name: text.split() for name, text in WORDS.items()}, CAST)


def share(model: nn.Module, tokenizer: CharTokenizer, text: str, pattern: str) -> float:
    """How often the writer's next word is the right one, at the places that the pattern finds."""
    places = [match for match in re.finditer(pattern, text) if match.start(1) >= 256][:PLACES]
    prompts = [tokenizer.encode(text[place.start(1) - 246 : place.start(1)]) for place in places]
    rows = generate(model, prompts, max_new_tokens=8)
    wrote = [re.match(r"\w*", tokenizer.decode(row))[0] for row in rows]
    return sum(word == place[1][:8] for word, place in zip(wrote, places, strict=True)) / len(places)


def go_on(change: str, steps: int = STEPS, seed: int = 0) -> Mapping[str, list[float]]:
    """Train the shipped writer on, on new stories; its shares of right friends and things every 50 steps."""
    writer, rules = story_writer(256), grammar(change)
    text, unseen = "".join(rules.texts(6000, seed=seed + 10)), "".join(rules.texts(60, seed=1))
    ids, heavy = torch.tensor(writer.tokenizer.encode(text)), weights(text)
    if change == "counts eight times as much":
        for match in re.finditer(FRIEND, text):
            heavy[match.start(1) : match.end(1)] = HEAVY
    places = TextBatches(torch.arange(len(ids)), 256, 16, seed=seed)

    def batches(step: int) -> WeightedBatch:
        here, behind = places(step)
        return WeightedBatch(ids[here], ids[behind], heavy[behind])

    def measure(model: nn.Module) -> dict[str, float]:
        found = {
            name: share(model, writer.tokenizer, unseen, p) for name, p in {"friend": FRIEND, "thing": THING}.items()
        }
        print(change, found, flush=True)
        return found

    options = dict(loss=weighted_loss, optimizer=muon(writer.model, **WRITER_RATES), progress=False)
    schedule = linear_warmup_decay(STEPS, warmup=50)
    run = fit(writer.model.train(), batches, steps=steps, schedule=schedule, evaluate=measure, every=EVERY, **options)
    return {name: [round(each[name], 2) for each in run.evaluations] for name in ("friend", "thing")}


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Change -> `go_on` of each seed, after each run that it did not hold."""
    found = begun or {change: [] for change in CHANGES}
    for change, runs in found.items():
        for seed in SEEDS[len(runs) :]:
            runs.append(go_on(change, seed=seed))
            yield found
