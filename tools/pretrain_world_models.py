"""Pretrain the three models of the little world that come with the package: tx_helpers/zoo/weights

    python tools/pretrain_world_models.py [--steps 5000] [--texts 200000] [--only encoder] [--to FOLDER]

Thirty minutes on two quiet cores. The three are trained alike: the same texts in the same order, steps, seed, learning
rates; only the objective differs. A batch has 48 texts, in rows of one, two and three by turns, so that a model knows
how texts begin, and what to do with a longer row. Each file carries how its model was made and how well it does. The
card is written from what the files carry.
"""

import argparse
import hashlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from measure_world_models import measure
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.models import TransformerModel, count_parameters
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.checkpoints import save_tensors
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import Run
from tx_helpers.training.objectives import ObjectiveBatches
from tx_helpers.training.optimizers import fast_bfloat16
from tx_helpers.zoo.recipes import WRITER_RATES
from tx_helpers.zoo.world_models import CLASSES, FOLDER, OBJECTIVE_OF, new_world_model, train_on_texts
from world_card import write_card

STEPS, TEXTS, COUNT, IN_A_ROW, WARMUP, SEED = 5_000, 200_000, 48, (1, 2, 3), 50, 0
CPU = torch.device("cpu")


def train(kind: str, steps: int = STEPS, *, texts: int = TEXTS, **options) -> Run:
    """One of the three, trained; options of `fit`."""
    check_one_of("train", CLASSES, kind=kind)
    with RandomStream(SEED).on(CPU):
        model = new_world_model(kind)
    batches = ObjectiveBatches(OBJECTIVE_OF[kind], COUNT, texts=texts, texts_in_a_row=IN_A_ROW, seed=SEED)
    autocast = torch.bfloat16 if fast_bfloat16(CPU) else None
    return train_on_texts(model, batches, steps=steps, warmup=WARMUP, autocast=autocast, seed=SEED, **options)


def sha256(lines: Iterable[str]) -> str:
    """The hash of all lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def rounded(model: TransformerModel) -> TransformerModel:
    """The model with its values as float16 has them: what is shipped is what is measured."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.half().float())
    return model.eval()


def save(model: TransformerModel, facts: dict[str, Any], file: Path) -> None:
    """Write a model in float16, with the facts about it, whole or not at all."""
    values = {name: value.half() for name, value in model.named_parameters()}
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.{os.getpid()}.unfinished")
    try:
        save_tensors(unfinished, values, {"facts": json.dumps(facts)})
        os.replace(unfinished, file)
    finally:
        unfinished.unlink(missing_ok=True)


def pretrain(kind: str, steps: int, folder: Path, texts: int) -> dict[str, Any]:
    """Train a model, measure it, and write its file. -> the facts"""
    start, worked = time.perf_counter(), time.process_time()
    run = train(kind, steps, texts=texts)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    recipe = {
        "objective": OBJECTIVE_OF[kind],
        "parameters": count_parameters(run.model),
        "steps": steps,
        "texts in a step": COUNT,
        "texts in a row, by turns": IN_A_ROW,
        "seed": SEED,
        "texts to draw from": texts,
        "sha256 of these texts": sha256(little_world("train").texts(texts)),
        "sha256 of the vocabulary": sha256(world_tokenizer().tokens),
        "optimizer": f"Muon and AdamW, {WRITER_RATES}; warm-up {WARMUP} steps, then linear to 0; clip 1",
        "precision of training": "bfloat16" if fast_bfloat16(CPU) else "float32",
        "torch": torch.__version__,
        "seconds of training": round(seconds),
        "of these, seconds of work on one core": round(worked),
        "loss at the end of training": round(sum(run.losses[-100:]) / len(run.losses[-100:]), 4),
    }
    facts = recipe | measure(kind, rounded(run.model))
    save(run.model, facts, folder / f"{kind}.safetensors")
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--texts", type=int, default=TEXTS, help="how many are drawn from")
    parser.add_argument("--only", choices=CLASSES, help="train one of them, and write the card anew")
    parser.add_argument("--to", type=Path, default=FOLDER)
    options = parser.parse_args()
    for kind in [options.only] if options.only else CLASSES:
        print(f"{kind}: {pretrain(kind, options.steps, options.to, options.texts)}")
    if all((options.to / f"{kind}.safetensors").exists() for kind in CLASSES):
        write_card(options.to)


if __name__ == "__main__":
    main()
