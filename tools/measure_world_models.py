"""How well a model of the little world knows the world: losses with their floors, and what its hidden states say.

    python tools/measure_world_models.py            # the three that are shipped

All texts are drawn with seeds that training did not use; "unseen" texts tell of combinations that it never met.
"""

import math
from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tx_helpers.generation.search import generate
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import TransformerModel
from tx_helpers.text.data import BOS, EOS, PAD, pad_right
from tx_helpers.text.world import little_world
from tx_helpers.text.world_tasks import fill_gap
from tx_helpers.text.world_truth import Truth
from tx_helpers.text.world_vocabulary import CLS, MASK, SENTIMENTS, SENTINELS, SEP, world_id, world_tokenizer
from tx_helpers.training.objectives import ObjectiveBatches, objective_loss
from tx_helpers.zoo.world_models import CLASSES, OBJECTIVE_OF, world_model

SPLITS = {"train": "new texts", "test": "unseen combinations"}
LOSS_TEXTS, GAPS, WRITTEN, PROBE_TEXTS, SEED = 1_920, 400, 500, 20_000, 1_000
Examples = list[tuple[Truth, int | None, int]]  # a text, the place to look at (None: the mean over the text), the class


def measure(kind: str, model: TransformerModel) -> dict[str, float]:
    """All figures of a model, by name."""
    found = {}
    for split, name in SPLITS.items():
        found[f"loss on {name}"] = mean_loss(kind, model, split)
        if kind == "decoder":
            found[f"floor on {name}"] = text_floor(split)
        else:
            loss, right, floor, best = gaps(kind, model, split)
            found |= {f"gap: loss on {name}": loss, f"gap: floor on {name}": floor}
            found |= {f"gap: share right on {name}": right, f"gap: best possible share on {name}": best}
    if kind == "decoder":
        found["share of written texts that the world has"] = share_of_the_world(model)
    for question in QUESTIONS:
        for layer, share in enumerate(probe(kind, model, question)):
            found[f"probe: {question}, after block {layer}" if layer else f"probe: {question}, embedding"] = share
    return {name: round(figure, 4) for name, figure in found.items()}


@torch.no_grad()
def mean_loss(kind: str, model: TransformerModel, split: str) -> float:
    """The mean loss of the model's own objective on texts that stand alone."""
    batches = ObjectiveBatches(OBJECTIVE_OF[kind], 64, texts=LOSS_TEXTS, split=split, seed=SEED)
    losses = []
    for step in range(LOSS_TEXTS // 64):
        batch = batches(step)
        losses.append((objective_loss(model, batch).item(), int((batch.target >= 0).sum())))
    return sum(loss * count for loss, count in losses) / sum(count for _, count in losses)


def text_floor(split: str) -> float:
    """The smallest possible mean of −ln p per token on these texts, for a model that knows the whole world."""
    world = little_world("train" if split == "train" else "all")
    texts = list(little_world(split).texts(LOSS_TEXTS, seed=SEED))
    return -sum(map(world.log_probability, texts)) / sum(len(text.split()) + 1 for text in texts)


@torch.no_grad()
def gaps(kind: str, model: TransformerModel, split: str) -> tuple[float, float, float, float]:
    """One word of each text is hidden: mean −ln p of it, share found; and both for who knows all of the world."""
    world = little_world("train" if split == "train" else "all")
    texts, hidden = fill_gap(GAPS, split=split, seed=SEED)
    losses, right, floors, best = [], [], [], []
    for text, word in zip(texts, hidden, strict=True):
        place, target = text.split().index(MASK), world_id(word)
        encode = world_tokenizer().encode
        if kind == "encoder":
            logits = model(torch.tensor([[world_id(CLS), *encode(text), world_id(SEP)]]))[0, place + 1]
        else:
            source = torch.tensor([encode(text.replace(MASK, SENTINELS[0]))])
            logits = model(source, torch.tensor([[BOS, world_id(SENTINELS[0])]]))[0, 1]
        losses.append(-logits.log_softmax(-1)[target].item())
        right.append(logits.argmax().item() == target)
        possible = world.gap_words(text.replace(MASK, word), place)
        floors.append(-math.log(possible[word]))
        best.append(max(possible.values()))
    return tuple(sum(figures) / GAPS for figures in (losses, right, floors, best))


def share_of_the_world(model: TransformerModel) -> float:
    """The share of texts, drawn word by word at temperature 1, that are texts of the world, down to the last word."""
    generator = torch.Generator().manual_seed(SEED)
    start = [[BOS]] * WRITTEN
    rows = generate(model, start, max_new_tokens=70, end_id=EOS, pad_id=PAD, temperature=1.0, generator=generator)
    texts = map(world_tokenizer().decode, rows)
    return sum(math.isfinite(little_world().log_probability(text)) for text in texts) / WRITTEN


def sense(truth: Truth) -> Iterator[tuple[int, int]]:
    """Is an apple, or an orange, a fruit (0) or a firm (1)?"""
    words = truth.tokens
    for place, kind in truth.senses.items():
        if words[place] in ("apple", "orange") and kind in ("fruit", "firm"):
            yield place, int(kind == "firm")


def meant(truth: Truth) -> Iterator[tuple[int, int]]:
    """Does a pronoun that meaning decides stand for the animal (0) or for the road (1)?"""
    for mention in truth.mentions:
        if mention.by_meaning and truth.tale == "pet":
            yield mention.start, int(truth.antecedent(mention).kind == "place")


def feeling(truth: Truth) -> Iterator[tuple[None, int]]:
    """How does the text end?"""
    yield None, SENTIMENTS.index(truth.sentiment)


QUESTIONS = {  # how each is answered, and the words of the texts that have it
    "sense of apple and orange": (sense, {"apple", "orange"}),
    "what it stands for": (meant, {"too"}),
    "sentiment, from the mean": (feeling, {"."}),
}


def examples_of(question: str, split: str, most: int = 600) -> Examples:
    """At most `most` examples of a question, from the texts of a split."""
    world, (answers, words) = little_world(split), QUESTIONS[question]
    texts = (text for text in world.texts(PROBE_TEXTS, seed=SEED + 1) if words & set(text.split()))
    found = ((truth, place, said) for truth in map(world.truth, texts) for place, said in answers(truth))
    return list(islice(found, most))


def probe(kind: str, model: TransformerModel, question: str) -> list[float]:
    """A linear map from hidden states to the answer, for each layer: its share of right answers on unseen texts.

    The map is learned from 600 examples of the training split; the model is not changed.
    """
    known, unseen = examples_of(question, "train"), examples_of(question, "test")
    states, other = hidden_states(kind, model, known), hidden_states(kind, model, unseen)
    labels, truth = (torch.tensor([said for *_, said in examples]) for examples in (known, unseen))
    return [share_right(layer, labels, unseen_layer, truth) for layer, unseen_layer in zip(states, other, strict=True)]


@torch.no_grad()
def hidden_states(kind: str, model: TransformerModel, examples: Examples) -> list[Tensor]:
    """For each layer (N, D): the embedding, and what each block of the (first) stack gives, at the examples' places."""
    stack, start, end = {
        "encoder": ("encoder", [world_id(CLS)], [world_id(SEP)]),
        "decoder": ("decoder", [BOS], [EOS]),
        "encoder_decoder": ("encoder", [], []),
    }[kind]
    ids = pad_right([[*start, *world_tokenizer().encode(truth.text), *end] for truth, _, _ in examples], PAD)
    with capture(model, "*.hidden") as seen:
        model.encode(ids) if stack == "encoder" else model(ids)
    real = (ids != PAD)[:, :, None]
    places = torch.tensor([-1 if place is None else place + len(start) for _, place, _ in examples])
    rows = torch.arange(len(examples))
    found = []
    for layer in (seen[name] for name in seen.names(f"{stack}.*")):
        mean = (layer * real).sum(1) / real.sum(1)
        found.append(torch.where((places < 0)[:, None], mean, layer[rows, places]))
    return found


def share_right(states: Tensor, labels: Tensor, unseen: Tensor, truth: Tensor) -> float:
    """Logistic regression on standardised states (N, D), a little decayed."""
    mean, deviation = states.mean(0), states.std(0) + 1e-6
    states, unseen = (states - mean) / deviation, (unseen - mean) / deviation
    with torch.random.fork_rng():
        linear = nn.Linear(states.shape[1], int(labels.max()) + 1)
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
    optimizer = torch.optim.LBFGS(linear.parameters(), max_iter=100)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = cross_entropy(linear(states), labels) + 1e-3 * linear.weight.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return (linear(unseen).argmax(-1) == truth).float().mean().item()


if __name__ == "__main__":
    for shipped in CLASSES:
        for name, figure in measure(shipped, world_model(shipped)).items():
            print(f"{shipped:16} {figure:8.4f}  {name}")
