"""A picture inside a decoder's row: its patches stand before a question's words, and the decoder writes the answer.

    model = load_small(PictureDecoder(), "picture_questions")      # or learn_answers("patches", seed=0), half a minute
    share_right(model, questions(400, generator=…), "colour")

This is how LLaVA reads a picture (Liu et al. 2023, *Visual instruction tuning*, section 4.1): one matrix turns each
patch into a vector of the words' space. LLaVA's patches first go through CLIP's reader; ours are plain pixels.

    row = [x¹ W; …; xᴺ W; E[what]; E[colour]; …; E[?]; E[red]],    the loss counts the answer's places alone

A picture holds two or three shapes in its quarters. `HELD_OUT` pairs of colour and shape are in no training picture.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.beyond_text.captions import TOKENS, colour_patches
from tx_helpers.lessons.beyond_text.drawn_shapes import COLOURS, HELD_OUT, SEEN, SHAPES, SIZE, stamped
from tx_helpers.lessons.beyond_text.small_models import small_blocks, train_on_new
from tx_helpers.lessons.beyond_text.stored_weights import save_small
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.observe import listening
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.experiment import Experiment

COUNTS = ("none", "one", "two", "three")
VOCABULARY = (
    *COLOURS,
    *SHAPES,
    *COUNTS,
    "what",
    "colour",
    "is",
    "the",
    "left-of",
    "how",
    "many",
    "shapes",
    "are",
    "?",
    "<eos>",
)
KINDS = {"colour": "what colour is the {} ?", "left": "what is left-of the {} ?", "count": "how many shapes are {} ?"}
WAYS = ("patches", "one vector")
ASKED, SLOT = 6, 4  # words of a question, and the one that changes
END = VOCABULARY.index("<eos>")


class Questions(NamedTuple):
    """Pixels (B, 16, 16, 3), the words of a question (B, 6), and of its answer with <eos> (B, 2), as ids; kind (B,)."""

    pixels: Tensor
    question: Tensor
    answer: Tensor
    kind: Tensor

    def to(self, device: torch.device) -> "Questions":
        """The same on a device, as `fit` asks of a batch."""
        return Questions(*(part.to(device) for part in self))


def ids(text: str) -> list[int]:
    """The ids of words of `VOCABULARY`. ValueError names a word that is none."""
    for word in text.split():
        check_one_of("ids", VOCABULARY, word=word)
    return [VOCABULARY.index(word) for word in text.split()]


def _colours_of(pairs: Sequence[tuple[str, str]]) -> Tensor:
    """The colours that each shape has in these pairs, (4, colours)."""
    return torch.tensor([[list(COLOURS).index(c) for c, form in pairs if form == name] for name in SHAPES])


def questions(count: int, *, generator: torch.Generator, pairs: Sequence[tuple[str, str]] = SEEN) -> Questions:
    """Pictures of two or three shapes with a question each; the first shape, which it is about, is one of `pairs`."""
    check_numbers("questions", least=1, whole=True, count=count)

    def dice(sides: int, *size: int) -> Tensor:
        return torch.randint(sides, (count, *size), generator=generator)

    kind, forms = dice(3), torch.rand(count, 4, generator=generator).argsort(1)[:, :3]
    quarters = torch.rand(count, 4, generator=generator).argsort(1)
    left_asked = (kind == 1)[:, None]  # there the second shape stands left of the first, the third in the other row
    row = quarters[:, :1] // 2
    beside = torch.cat([2 * row + 1, 2 * row, 2 * (1 - row) + dice(2, 1)], 1)
    quarters = torch.where(left_asked, beside, quarters[:, :3])
    known, asked = _colours_of(SEEN)[forms], _colours_of(pairs)[forms[:, :1]]
    colours = known.gather(2, dice(known.shape[2], 3, 1))[..., 0]
    colours[:, :1] = asked.gather(2, dice(asked.shape[2], 1, 1))[..., 0]
    alike = (known == colours[:, :1, None]).any(2) & (dice(2, 3) == 0)  # shapes that take the first one's colour
    colours = torch.where(alike, colours[:, :1], colours)
    there = torch.stack([torch.ones(count), torch.ones(count), dice(2).float()], 1)
    pixels = torch.zeros(count, SIZE, SIZE, 3)
    for i in range(3):
        shift = dice(4, 2)
        top, left = 8 * (quarters[:, i] // 2) + shift[:, 0], 8 * (quarters[:, i] % 2) + shift[:, 1]
        drawn = stamped(colours[:, i], forms[:, i], top, left, generator)
        pixels += there[:, i, None, None, None] * drawn
    counted = torch.where(dice(4) == 0, dice(4), colours[:, 0])
    number = ((colours == counted[:, None]) * there).sum(1).long()
    words = torch.tensor([ids(text.format("red")) for text in KINDS.values()])[kind]
    words[:, SLOT] = torch.where(kind == 2, counted, forms[:, 0] + len(COLOURS))
    said = torch.stack([colours[:, 0], forms[:, 1] + len(COLOURS), number + VOCABULARY.index(COUNTS[0])], 1)
    answer = said.gather(1, kind[:, None])
    return Questions(pixels, words, torch.cat([answer, torch.full_like(answer, END)], 1), kind)


def picture_row(patches: Tensor, question: Tensor, answer: Tensor, W: Tensor, E: Tensor) -> tuple[Tensor, Tensor]:
    """The row (B, N + Q + A, D) of patches (B, N, P), a question (B, Q) and its answer (B, A); and what comes next at
    each place, (B, N + Q + A): words of the answer, and -100 where nothing is asked. W (P, D), E (words, D).
    """
    row = torch.cat([patches @ W, E[question], E[answer]], 1)
    nothing = torch.full((len(patches), patches.shape[1] + question.shape[1] - 1), -100)
    return row, torch.cat([nothing, answer, torch.full((len(patches), 1), -100)], 1)


class PictureDecoder(nn.Module):
    """Rows of vectors (B, T, D) -> logits of the next word (B, T, words): a causal decoder.

    way  what stands before the words: "patches", 16 vectors of 4 × 4 pixels each; or "one vector" of the whole picture
    """

    def __init__(self, *, d_model: int = 48, n_layers: int = 3, way: str = "patches", seed: int = 0):
        super().__init__()
        check_numbers("PictureDecoder", least=1, whole=True, d_model=d_model, n_layers=n_layers)
        check_one_of("PictureDecoder", WAYS, way=way)
        self.way = way
        with RandomStream(seed).on(torch.device("cpu")):
            self.project = nn.Linear(SIZE * SIZE * 3 // (TOKENS if way == "patches" else 1), d_model, bias=False)
            self.embedding = nn.Embedding(len(VOCABULARY), d_model)
            nn.init.normal_(self.embedding.weight, std=0.5)
            self.positions = nn.Parameter(0.1 * torch.randn(TOKENS + ASKED + 2, d_model))
            self.blocks = small_blocks(d_model, n_layers)
            self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, len(VOCABULARY))

    def pieces(self, pixels: Tensor) -> Tensor:
        """What the projection reads: (B, 16, 16, 3) -> (B, 16, 48), or (B, 1, 768)."""
        return colour_patches(pixels) if self.way == "patches" else pixels.flatten(1)[:, None]

    def row(self, asked: Questions) -> tuple[Tensor, Tensor]:
        """`picture_row` with this model's matrices."""
        matrices = self.project.weight.T, self.embedding.weight
        return picture_row(self.pieces(asked.pixels), asked.question, asked.answer, *matrices)

    def forward(self, row: Tensor) -> Tensor:
        x, mask = row + self.positions[: row.shape[1]], causal_mask(row.shape[1])
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.output(self.norm(x))


def answer_loss(model: PictureDecoder, asked: Questions) -> Tensor:
    """Cross-entropy of the answer's words alone."""
    row, targets = model.row(asked)
    return F.cross_entropy(model(row).flatten(0, 1), targets.flatten())


@torch.no_grad()
def answer_chances(model: PictureDecoder, asked: Questions) -> Tensor:
    """The probabilities of the answer's first word, (B, words)."""
    row, _ = model.row(asked)
    return model(row)[:, -3].softmax(-1)


@torch.no_grad()
def question_looks(model: PictureDecoder, asked: Questions, place: int = ASKED - 1) -> Tensor:
    """Where a word of the question looks, by default the last: weights on the row up to "?", mean of heads,
    (B, L, N + 6).
    """
    check_types("question_looks", PictureDecoder, model=model)
    check_numbers("question_looks", least=0, less_than=ASKED, whole=True, place=place)
    weights: list[Tensor] = []
    with (
        in_mode(model, training=False),
        listening(lambda name, tensor: weights.append(tensor) if name == "weights" else None),
    ):
        model(model.row(asked)[0])
    return torch.stack([block[:, :, place - ASKED - 2, :-2].mean(1) for block in weights], 1)


def share_right(model: PictureDecoder, asked: Questions, kind: str) -> float:
    """The share of right answers to the questions of this kind."""
    check_one_of("share_right", KINDS, kind=kind)
    right = answer_chances(model, asked).argmax(-1) == asked.answer[:, 0]
    return right[asked.kind == list(KINDS).index(kind)].double().mean().item()


def exchanged(asked: Questions) -> Questions:
    """Each question beside the picture of another one: what a model knows that does not see."""
    return asked._replace(pixels=asked.pixels.roll(1, 0))


def train_answers(
    model: PictureDecoder, *, steps: int = 1500, rows: int = 64, rate: float = 3e-3, seed: int = 0, blind: bool = False
) -> PictureDecoder:
    """Train on new pictures and questions at each step. -> the model"""
    check_types("train_answers", PictureDecoder, model=model)
    check_numbers("train_answers", least=1, whole=True, steps=steps, rows=rows)

    def draw(generator: torch.Generator) -> Questions:
        asked = questions(rows, generator=generator)
        return exchanged(asked) if blind else asked

    return train_on_new(model, draw, loss=answer_loss, steps=steps, rate=rate, seed=seed)


# --- recorded ---------------------------------------------------------------------------------------------------------
RIVALS = (*WAYS, "blind")
STEPS, SEEDS = 800, range(3)


def fresh_questions(pairs: Sequence[tuple[str, str]] = SEEN, count: int = 1500) -> Questions:
    """Pictures and questions that no training has seen."""
    return questions(count, generator=torch.Generator().manual_seed(9), pairs=pairs)


def learn_answers(rival: str, seed: int, steps: int = STEPS) -> PictureDecoder:
    """Train one of `RIVALS`. A blind one always gets the picture of another question, in training and in the test."""
    check_one_of("learn_answers", RIVALS, rival=rival)
    blind = rival == "blind"
    model = PictureDecoder(way=WAYS[0] if blind else rival, seed=seed)
    return train_answers(model, steps=steps, seed=seed, blind=blind)


def answer_scores(model: PictureDecoder, blind: bool = False) -> dict[str, dict[str, float]]:
    """The share of right answers: {"seen" or "unseen" pairs: {kind of question: share}}"""
    found = {}
    for name, pairs in (("seen", SEEN), ("unseen", HELD_OUT)):
        asked = fresh_questions(pairs)
        shown = exchanged(asked) if blind else asked
        found[name] = {kind: round(share_right(model, shown, kind), 3) for kind in KINDS}
    return found


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{rival: [`answer_scores` of each seed]}; the weights of seed 0 that come with the lesson are written, too."""
    found = begun or {rival: [] for rival in RIVALS}
    for rival in RIVALS:
        for seed in SEEDS[len(found[rival]) :]:
            model = learn_answers(rival, seed)
            if (rival, seed) == (WAYS[0], 0):
                save_small(model, Path(__file__).with_suffix(".safetensors"))
            found[rival].append(answer_scores(model, rival == "blind"))
            yield found


RECORDED = Experiment(Path(__file__).with_suffix(".json"), learn_all, "3 minutes", {})
recorded_answers = RECORDED.read
