"""Thirty small models for the scaling laws: how they are trained, and what was recorded of them (laws.json).

    train_one(16, 300)         # one of them, in a few seconds
    recorded()["runs"]         # all of them, as they were recorded

All models are decoders with two blocks and heads of width 8. They read newly drawn texts of the little world in every
step, the same ones in the same order. So they cannot learn texts by heart (fewer than one in a hundred comes twice),
and the smallest possible loss is known: the world's entropy. Muon trains the matrices inside the blocks. The embedding,
which is the output matrix too, has Adam with a rate ∝ 1 / √width. The rate rises over the first twentieth of the steps
and falls in a line to 0 at the last one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from tx_helpers.lessons.scaling_up.laws.mup import mup_adamw, scale_matrices
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.models import DecoderOnly, count_parameters
from tx_helpers.text.data import BOS, EOS, IGNORE, PAD, TextBatch, pad_right
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import linear_warmup_decay, muon
from tx_helpers.zoo.world_models import world_config

WIDTHS, LENGTHS = (16, 24, 32, 48, 64, 96), (300, 600, 1200, 2400, 4800)  # of the models; steps of training
LAYERS, HEAD, COUNT, SEED = 2, 8, 16, 0  # COUNT texts in a batch
HELD_OUT = 1_920  # texts
ON_THE_WAY = (150, 212, 300, 424, 600, 849, 1200, 1697, 2400, 3394, 4800)  # steps after which a run's loss is noted
MUON = {"lr": 0.03, "momentum": 0.8, "weight_decay": 0.1}
EMBEDDING_RATE = 0.16  # divided by √width

RATE_WIDTHS, RATE_STEPS, RATE_SEEDS = (16, 32, 64, 128), 200, (0, 1)
RATES = tuple(2.0**exponent for exponent in range(-11, -2))
BASE_WIDTH = RATE_WIDTHS[0]
WAYS = ("one rate", "μP")


# --- the models and their texts ---------------------------------------------------------------------------------------
def new_model(width: int, *, seed: int = SEED, tied: bool = True) -> DecoderOnly:
    """An untrained decoder of this width, a multiple of 8; its first values depend on width and seed alone.

    tied: is the embedding the output matrix, too?
    """
    check_numbers("new_model", least=HEAD, whole=True, width=width)
    check_numbers("new_model", whole=True, seed=seed)
    if width % HEAD:
        raise ValueError(f"new_model: width={width}, expected a multiple of {HEAD}, the width of a head")
    config = world_config("decoder")
    config = replace(
        config,
        d_model=width,
        n_layers=LAYERS,
        attention=replace(config.attention, n_heads=width // HEAD),
        feed_forward=replace(config.feed_forward, d_ff=4 * width),
        embedding=replace(config.embedding, tied=tied),
    )
    with RandomStream(seed).on(torch.device("cpu")):
        return DecoderOnly(config)


def new_texts(count: int, *, seed: int) -> TextBatch:
    """A batch of texts of the world, each <bos> … <eos>, in which every token predicts the next one."""
    encode = world_tokenizer().encode
    ids = pad_right([[BOS, *encode(text), EOS] for text in little_world("train").texts(count, seed=seed)], PAD)
    return TextBatch(ids[:, :-1], ids[:, 1:].masked_fill(ids[:, 1:] == PAD, IGNORE))


class Stream:
    """The batches of a run, `batches(step)`, and how many tokens they had so far."""

    def __init__(self, seed: int):
        self.seed, self.tokens = seed, 0

    def __call__(self, step: int) -> TextBatch:
        batch = new_texts(COUNT, seed=1_000_000 * (self.seed + 1) + step)
        self.tokens += batch.scored()
        return batch


@cache
def held_out_texts() -> list[TextBatch]:
    """The texts that every loss is measured on; no run draws from their seeds."""
    return [new_texts(64, seed=number) for number in range(HELD_OUT // 64)]


def held_out_loss(model: nn.Module) -> float:
    """The mean −ln p of a token of these texts."""
    check_types("held_out_loss", nn.Module, model=model)
    total = tokens = 0
    with in_mode(model, training=False), torch.no_grad():
        for batch in held_out_texts():
            total += language_model_loss(model, batch).item() * batch.scored()
            tokens += batch.scored()
    return total / tokens


def floors() -> tuple[float, float]:
    """The smallest mean loss over all texts of the world, exactly; and that of the held-out texts, by their true p."""
    world = little_world("train")
    texts = [text for number in range(HELD_OUT // 64) for text in world.texts(64, seed=number)]
    tokens = sum(batch.scored() for batch in held_out_texts())
    return world.entropy_per_token(), -sum(world.log_probability(text) for text in texts) / tokens


# --- the runs ---------------------------------------------------------------------------------------------------------
class LawRun(NamedTuple):
    """A training run: N with and without the embedding, D tokens seen, the held-out loss in nats per token.

    on_the_way: (steps, tokens so far, loss) after each of `ON_THE_WAY`, while the rate had not yet fallen to 0.
    """

    width: int
    steps: int
    parameters: int
    without_embeddings: int
    tokens: int
    loss: float
    on_the_way: list[tuple[int, int, float]]


def train_one(width: int, steps: int, *, seed: int = SEED, on_the_way: Sequence[int] = ()) -> LawRun:
    """Train a model for `steps`, with a schedule that ends there; measure the loss after `on_the_way` steps, too."""
    check_numbers("train_one", least=20, whole=True, steps=steps)
    model, stream = new_model(width, seed=seed), Stream(seed)
    found: list[tuple[int, int, float]] = []

    def after_step(run: Run) -> None:
        if run.step in on_the_way and run.step < steps:
            found.append((run.step, stream.tokens, round(held_out_loss(model), 4)))

    optimizer = muon(model, adamw_lr=EMBEDDING_RATE / width**0.5, **MUON)
    fit(model, stream, **_training(steps, optimizer, seed), after_step=after_step)
    total = count_parameters(model)
    embeddings = sum(module.weight.numel() for module in model.modules() if isinstance(module, nn.Embedding))
    loss = round(held_out_loss(model), 4)
    return LawRun(width, steps, total, total - embeddings, stream.tokens, loss, found)


def train_at_rate(way: str, width: int, rate: float, *, steps: int = RATE_STEPS, seed: int = 0) -> float:
    """The held-out loss after a short training run with Adam: "one rate" for all parameters, or "μP".

    Both ways have the same initial values, μP's, and the same texts: only the rates of the matrices differ. At
    BASE_WIDTH they are the same.
    """
    check_one_of("train_at_rate", WAYS, way=way)
    check_numbers("train_at_rate", least=20, whole=True, steps=steps)
    model = new_model(width, seed=seed, tied=False)
    scale_matrices(model, model.output, width=width, base_width=BASE_WIDTH)
    optimizer = mup_adamw(model, rate, width=width if way == "μP" else BASE_WIDTH, base_width=BASE_WIDTH)
    fit(model, Stream(seed), **_training(steps, optimizer, seed))
    return round(held_out_loss(model), 4)


def _training(steps: int, optimizer: Any, seed: int) -> dict[str, Any]:
    return dict(
        steps=steps,
        loss=language_model_loss,
        optimizer=optimizer,
        schedule=linear_warmup_decay(steps, warmup=max(1, steps // 20)),
        seed=seed,
        progress=False,
    )


# --- recorded ---------------------------------------------------------------------------------------------------------
def train_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{"about": …, "runs": [a LawRun as a dict, …], "rates": …}, after each training that it did not hold.

    rates: "rates", "seeds", "steps", "base_width", and "losses": {way: {width: [[loss of each seed] for each rate]}}.
    """
    table = begun or {"about": dict(zip(("floor", "floor_of_held_out"), _rounded_floors(), strict=True)), "runs": []}
    rates = {"steps": RATE_STEPS, "rates": list(RATES), "seeds": list(RATE_SEEDS), "base_width": BASE_WIDTH}
    old = table.setdefault("rates", {**rates, "losses": {}})
    if old["rates"] == rates["rates"][: len(old["rates"])]:
        old["rates"] = rates["rates"]  # rates may be added behind those that were tried
    for name, value in rates.items():
        if old[name] != value:
            raise ValueError(f"scaling_up/laws: the rates were tried with {name}={old[name]}, expected {value}; --anew")
    done = {(one["width"], one["steps"]) for one in table["runs"]}
    for steps, width in product(LENGTHS, WIDTHS):  # the short ones first
        if (width, steps) not in done:
            table["runs"].append(train_one(width, steps, on_the_way=ON_THE_WAY)._asdict())
            print(f"width {width:3} steps {steps:5} loss {table['runs'][-1]['loss']:.4f}", flush=True)
            yield table
    for width, way in product(RATE_WIDTHS, WAYS):
        row = old["losses"].setdefault(way, {}).setdefault(str(width), [])
        if way == "μP" and width == BASE_WIDTH:  # the same training as with one rate
            row[:] = old["losses"]["one rate"][str(width)]
        for rate in RATES[len(row) :]:
            row.append([train_at_rate(way, width, rate, seed=seed) for seed in RATE_SEEDS])
            print(f"{way:8} width {width:3} rate {rate:.5f} losses {row[-1]}", flush=True)
            yield table


def _rounded_floors() -> list[float]:
    return [round(floor, 4) for floor in floors()]


SETTINGS = {"layers": LAYERS, "texts_in_a_batch": COUNT, "seed": SEED}
RECORDED = Experiment(Path(__file__).parents[1] / "laws.json", train_all, "35 minutes", SETTINGS)
recorded = RECORDED.read
