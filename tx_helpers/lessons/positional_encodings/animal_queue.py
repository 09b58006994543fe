"""A task that order alone solves: animals stand in a queue, and each says who stands directly in front of it.

    model = train_queue("sinusoids")      # 200 steps, a second
    model.right()                         # the share of right answers in new queues of eight

All animals of a queue are different, so the words alone never give the answer. The model: a row of numbers for each
animal, positions added or joined to it, one or two blocks of attention and a small network, a score for each animal.
"""

import math

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.positions import sinusoidal
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, GREY, INK, MUTED, box, card, line, shape, words

LENGTH, ROOM = 8, 32  # animals in a queue, and the learned rows that there are
NAMES = ("fox", "cat", "owl", "dog", "hen", "bee", "cow", "ant")  # of the queue that is drawn
POSITIONS = ("none", "sinusoids", "learned")


class Block(nn.Module):
    """One head of attention, then a network for each place; both are added to what came in."""

    def __init__(self, width: int):
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.read, self.write = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.network = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x (B, T, D), mask (T, T) added to the scores -> (B, T, D)."""
        query, key, value = self.read(self.before(x)).chunk(3, dim=-1)
        scores = query @ key.mT / math.sqrt(x.shape[-1]) + mask  # (B, T, T)
        x = x + self.write(scores.softmax(-1) @ value)
        return x + self.network(self.between(x))


class QueueModel(nn.Module):
    """Ids of animals (B, T) -> scores (B, T, V) of who stands in front of each.

    joined: so many of the `width` numbers hold the position, the others the animal; 0: the position is added.
    size: the deviation of the animals' numbers at the start.
    """

    def __init__(self, positions: str, joined: int, causal: bool, width: int, blocks: int, animals: int, size: float):
        super().__init__()
        check_one_of("QueueModel", POSITIONS, positions=positions)
        check_numbers("QueueModel", least=0, less_than=width, whole=True, joined=joined)
        self.positions, self.joined, self.causal, self.animals = positions, joined, causal, animals
        self.table = nn.Embedding(animals, width - joined)
        nn.init.normal_(self.table.weight, std=size)
        if positions == "learned":
            self.rows = nn.Parameter(0.1 * torch.randn(ROOM, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, animals)

    def forward(self, ids: Tensor) -> Tensor:
        T = ids.shape[1]
        x, places = self.table(ids), torch.arange(T)
        if self.joined:
            x = torch.cat([x, sinusoidal(places, self.joined).expand(len(ids), T, self.joined)], dim=-1)
        elif self.positions == "sinusoids":
            x = x + sinusoidal(places, x.shape[-1])
        elif self.positions == "learned":
            x = x + self.rows[:T]
        mask = torch.full((T, T), -1e9).triu(1) if self.causal else torch.zeros(T, T)
        for block in self.blocks:
            x = block(x, mask)
        return self.out(self.norm(x))

    @property
    def count(self) -> int:
        """How many numbers training can change; of the learned rows those that a queue of eight uses."""
        unused = (ROOM - LENGTH) * self.rows.shape[1] if self.positions == "learned" else 0
        return sum(weight.numel() for weight in self.parameters()) - unused

    @torch.no_grad()
    def right(self, length: int = LENGTH, first: int = 1, last: int | None = None) -> float:
        """The share of right answers in 500 new queues, at the places `first` to `last` (the queue's end).

        The first animal, at place 0, has nobody in front of it and is never asked.
        """
        check_numbers("right", least=2, most=min(self.animals, ROOM), whole=True, length=length)
        last = length - 1 if last is None else last
        check_numbers("right", least=1, less_than=length, whole=True, first=first, last=last)
        ids = queues(500, length, self.animals, torch.Generator().manual_seed(10**6))
        right = self(ids)[:, 1:].argmax(-1) == ids[:, :-1]  # (B, T - 1): column 0 is the answer at place 1
        return float(right[:, first - 1 : last].double().mean())


def queues(count: int, length: int, animals: int, generator: torch.Generator) -> Tensor:
    """Ids (count, length) of animals that are all different within a queue."""
    return torch.rand(count, animals, generator=generator).argsort(dim=1)[:, :length]


def train_queue(
    positions: str = "none",
    *,
    joined: int = 0,
    causal: bool = False,
    width: int = 32,
    blocks: int = 2,
    animals: int = 20,
    size: float = 1.0,
    steps: int = 200,
    seed: int = 0,
) -> QueueModel:
    """A model after `steps` steps of AdamW on 32 fresh queues each; the arguments are those of `QueueModel`."""
    check_numbers("train_queue", least=1, whole=True, width=width, blocks=blocks, steps=steps)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = QueueModel(positions, joined, causal, width, blocks, animals, size)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        ids = queues(32, LENGTH, animals, generator)
        scores = model(ids)[:, 1:]
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), ids[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_queue() -> Svg:
    """Eight animals in a queue; below each what it answers, the one on its left."""
    wide, gap, left = 74, 14, 86
    parts = [words(20, 47, "queue"), words(20, 117, "answer")]
    for place, name in enumerate(NAMES):
        x = left + (wide + gap) * place
        parts.append(box(x, 24, wide, 36, name, GREY, 15))
        if not place:
            continue
        start, end = x - gap - wide / 2 + 6, x + wide / 2 - 6
        parts.append(line(start, 62, end, 92, MUTED, stroke_width=1.4))
        parts.append(shape("circle", cx=end, cy=92, r=3, fill=MUTED))
        parts.append(shape("rect", x=x, y=94, width=wide, height=36, rx=6, fill="none", stroke=EDGE))
        parts.append(words(x + wide / 2, 117, NAMES[place - 1], size=15, fill=INK, anchor="middle"))
    parts.append(words(left + wide / 2, 117, "–", size=15, fill=MUTED, anchor="middle"))
    answers = ", ".join(f"{name} answers {NAMES[place]}" for place, name in enumerate(NAMES[1:3]))
    alt = f"A queue of eight animals, {', '.join(NAMES)}. Each names the one before it: {answers}, and so on."
    return card(800, 150, parts, alt)
