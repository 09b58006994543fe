"""Examples in the prompt: on which kind of data does a model learn to use them, and when?

    learner = learn_mappings(Mappings(fresh=1.0))          # each row has a mapping from words to labels of its own
    learner.by_shots                                       # step -> accuracy on new mappings after 0, 1, 2 … examples
    fixed = learn_mappings(Mappings(fresh=0.0))            # every row has the same mapping

A row is x₁ y₁ x₂ y₂ … xₙ yₙ: words, each with its label. In fresh rows the labels are drawn anew, so only the examples
in the row say which label a word has. In fixed rows a word always has the label of one table, which the weights can
learn by heart. Words come in bursts: a row has only a few different ones and repeats them.

Chan et al. 2022 (Data Distributional Properties Drive Emergent In-Context Learning) found this with pictures: with
labels that change, models learn from the context; with few classes and fixed labels, they learn by heart. Olsson et
al. 2022 (In-context Learning and Induction Heads) found the heads that copy, and that they form in a short part of
training.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE, TextBatch
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import constant, muon

LABELS = 4
STEPS, BATCH, TEST_ROWS = 240, 32, 128


class Mappings:
    """Rows of words with labels. The labels are the ids 0 … LABELS − 1, the words those that follow.

    words     how many different words there are
    fresh     the share of rows whose labels are drawn anew; in the others each word has the label of the table
    in_a_row  how many different words a row has; the fewer, the more often each of them is repeated
    pairs     N, the words with labels of a row
    """

    def __init__(self, *, fresh: float = 1.0, words: int = 16, in_a_row: int = 4, pairs: int = 16, seed: int = 0):
        check_numbers("Mappings", least=0, most=1, fresh=fresh)
        check_numbers("Mappings", least=1, whole=True, in_a_row=in_a_row, pairs=pairs)
        check_numbers("Mappings", least=in_a_row, whole=True, words=words)
        check_numbers("Mappings", whole=True, seed=seed)
        self.fresh, self.words, self.in_a_row, self.pairs, self.seed = fresh, words, in_a_row, pairs, seed
        self.table = torch.randint(LABELS, (words,), generator=torch.Generator().manual_seed(seed))  # word -> label

    def rows(self, count: int, step: int, *, fresh: float | None = None) -> Tensor:
        """Ids x₁ y₁ … x_N y_N, (count, 2 N); the same for the same step. `fresh` replaces the share of fresh rows."""
        generator = torch.Generator().manual_seed(1_000_003 * (self.seed + 1) + step)
        own = torch.rand(count, self.words, generator=generator).argsort(-1)[:, : self.in_a_row]  # the words of a row
        words = own.gather(1, torch.randint(self.in_a_row, (count, self.pairs), generator=generator))
        drawn = torch.randint(LABELS, (count, self.words), generator=generator)
        is_fresh = torch.rand(count, 1, generator=generator) < (self.fresh if fresh is None else fresh)
        labels = torch.where(is_fresh, drawn, self.table).gather(1, words)
        return torch.stack([words + LABELS, labels], dim=-1).flatten(1)

    def batches(self, count: int = BATCH) -> Callable[[int], TextBatch]:
        """batches(step) -> TextBatch (B, 2 N − 1). Only labels are scored: nobody can know which word comes next."""

        def batch(step: int) -> TextBatch:
            ids = self.rows(count, step)
            targets = ids[:, 1:].clone()
            targets[:, 1::2] = IGNORE
            return TextBatch(ids[:, :-1], targets)

        return batch


class Learner(NamedTuple):
    """A trained model, and its accuracy during training: step -> one number for each number of examples before."""

    model: DecoderOnly
    run: Run
    by_shots: dict[int, list[float]]  # on mappings that are new in each row
    by_heart: dict[int, list[float]]  # on the fixed mapping of the table


def learn_mappings(
    mappings: Mappings, *, steps: int = STEPS, every: int = 30, seed: int = 0, progress: bool = False
) -> Learner:
    """Train a small decoder (two layers, width 64) on rows of mappings, and measure it each `every` steps."""
    check_types("learn_mappings", Mappings, mappings=mappings)
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(learner_config(mappings))
    measured: tuple[dict[int, list[float]], ...] = ({}, {})

    def evaluate(model: nn.Module) -> dict[str, float]:
        for found, fresh in zip(measured, (1.0, 0.0), strict=True):
            found[len(found) * every] = accuracy_by_shots(model, mappings, fresh=fresh)
        return {"after 8": list(measured[0].values())[-1][min(8, mappings.pairs - 1)]}

    with in_mode(model, training=False), torch.no_grad():
        evaluate(model)  # before the first step
    run = fit(
        model,
        mappings.batches(),
        steps=steps,
        loss=language_model_loss,
        optimizer=muon(model, 0.02, adamw_lr=3e-3, weight_decay=0.01),
        schedule=constant(warmup=20),
        seed=seed,
        evaluate=evaluate,
        every=every,
        progress=progress,
    )
    return Learner(model.eval(), run, *measured)


def learner_config(mappings: Mappings) -> TransformerConfig:
    """Two layers: one head can look at the token before, and one of the next layer then copies what followed a word."""
    return TransformerConfig(
        LABELS + mappings.words,
        d_model=64,
        n_layers=2,
        context_length=2 * mappings.pairs,
        attention=AttentionConfig(2),
        positions=PositionConfig("learned"),
        embedding=EmbeddingConfig(scale=False, tied=False),
    )


def accuracy_by_shots(
    model: nn.Module, mappings: Mappings, *, fresh: float = 1.0, count: int = TEST_ROWS
) -> list[float]:
    """The share of right labels after 0, 1 … N − 1 examples, on rows that no batch has.

    fresh=1: each row has a mapping of its own; fresh=0: each has the table's.
    """
    ids = mappings.rows(count, -1, fresh=fresh)  # batches have the steps from 0 on
    with in_mode(model, training=False), torch.no_grad():
        likeliest = model(ids[:, :-1])[:, ::2, :LABELS].argmax(-1)  # (count, N): what comes after each word
    return (likeliest == ids[:, 1::2]).float().mean(0).tolist()
