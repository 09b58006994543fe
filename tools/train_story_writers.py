"""Train the two writers of stories that come with the package: tx_helpers/zoo/story_writers.pt

    python tools/train_story_writers.py [--steps 3000] [--to FILE]

Twenty minutes on two quiet cores. Both writers are trained alike: stories, steps, characters a step, seed, learning
rate; only the length of their windows differs. Words of the cast (the hero, the lost thing …) count eight times in the
loss. They are a hundredth of it, and a trial without the weight (2,700 steps, other heads and batches) did not learn
that they return. A weight that depends on the place alone does not change which probabilities are best.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch

from tx_helpers.lessons.a_model_that_writes.friend import WeightedBatch, weighted_loss, weights
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatches
from tx_helpers.text.stories import stories
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.checkpoints import save_checkpoint
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.optimizers import fast_bfloat16, linear_warmup_decay, muon
from tx_helpers.zoo.recipes import WRITER_RATES, Writer
from tx_helpers.zoo.shipped import CONTEXTS, FILE, KIND, story_writer_config

STORIES, STEPS, CHARACTERS, WARMUP = 20_000, 3_000, 4_096, 50  # CHARACTERS: of a step
CPU = torch.device("cpu")


def train(text: str, tokenizer: CharTokenizer, context: int, steps: int, **options) -> Run:
    """One of the writers."""
    with RandomStream(0).on(CPU):
        model = DecoderOnly(story_writer_config(len(tokenizer), context))
    ids, heavy = torch.tensor(tokenizer.encode(text)), weights(text)
    places = TextBatches(torch.arange(len(ids)), context, CHARACTERS // context)

    def batches(step: int) -> WeightedBatch:
        here, behind = places(step)
        return WeightedBatch(ids[here], ids[behind], heavy[behind])

    return fit(
        model,
        batches,
        steps=steps,
        loss=weighted_loss,
        optimizer=muon(model, **WRITER_RATES),
        schedule=linear_warmup_decay(steps, warmup=min(WARMUP, steps // 2)),
        autocast=torch.bfloat16 if fast_bfloat16(CPU) else None,
        **options,
    )


def trained(steps: int) -> Iterator[tuple[int, Writer]]:
    """Each context and its writer."""
    text = stories(STORIES)
    tokenizer = CharTokenizer.train(text)
    for context in CONTEXTS:
        run = train(text, tokenizer, context, steps)
        yield context, Writer(run.model.eval(), tokenizer, run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=FILE)
    options = parser.parse_args()
    content, unseen = {}, stories(100, seed=1)
    for context, writer in trained(options.steps):
        print(f"context {context}: {writer.loss(unseen):.4f} nats a character on unseen stories")
        content[str(context)] = {name: value.half() for name, value in writer.model.state_dict().items()}
        content["characters"] = "".join(writer.tokenizer.tokens[3:])
    save_checkpoint(options.to, KIND, content)
    print(f"{options.to}: {options.to.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
