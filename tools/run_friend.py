"""Why does the writer of stories lose the friend? Train it on, each time with one thing changed, and count.

    python tools/run_friend.py [NAME …] [--steps 450] [--seeds 3]

Writes tx_helpers/lessons/a_model_that_writes/friend.json: for each change and seed the share of unseen stories in which
the writer names the right friend, and the right thing, every 50 steps. Two minutes of a quiet core for each run.
"""

import argparse
import json
import re
from collections.abc import Mapping

import torch
from torch import nn

from train_story_writers import WeightedBatch, weighted_loss, weights
from tx_helpers.generation.search import generate
from tx_helpers.lessons.a_model_that_writes.looking import FRIEND_FILE as FILE
from tx_helpers.lessons.a_model_that_writes.looking import trained_on
from tx_helpers.text.data import TextBatches
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.stories import CAST, SENTENCES, WORDS
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import linear_warmup_decay, muon
from tx_helpers.zoo.recipes import WRITER_RATES
from tx_helpers.zoo.shipped import story_writer

STEPS, EVERY, PLACES, HEAVY = 450, 50, 40, 64.0
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


def grammar(change: str) -> Grammar:
    """The stories' rules with the change."""
    return Grammar(SENTENCES | CHANGES[change] | {name: text.split() for name, text in WORDS.items()}, CAST)


def share(model: nn.Module, tokenizer, text: str, pattern: str) -> float:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("changes", nargs="*", default=list(CHANGES))
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 0 on (%(default)s)")
    options = parser.parse_args()
    for change in options.changes:
        found = [go_on(change, options.steps, seed) for seed in range(options.seeds)]
        recorded = (trained_on() if FILE.exists() else {}) | {change: found}
        rows = [
            f" {json.dumps(name)}: [\n" + ",\n".join(f"  {json.dumps(run)}" for run in recorded[name]) + "\n ]"
            for name in CHANGES
            if name in recorded
        ]
        FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
