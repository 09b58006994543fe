"""A hand over a small table that carries out orders: order tokens and camera patches in, action tokens out.

    model = load_small(Arm(), "arm")               # or learn_arm("names", seed=0), one to three minutes
    steps = episode(model, *tasks(1, generator=…))  # what it saw and chose, step by step

The table has 3 × 3 places. Three of the five inner places hold a shape; the four corners are where an order can send
it: "take blue square top-left".

At each step a decoder reads 3 order tokens, the 9 places as they are now, and one token for the hand (where it is, what
it holds). Then it writes two action tokens: what to do (up, down, left, right, take, drop), and how far. This is the
form of RT-2 (Brohan et al. 2023), whose actions are eight tokens. It learns by imitation, from a teacher that takes the
shortest way, rows first.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.beyond_text.drawn_shapes import COLOURS, HELD_OUT, PAIRS, PLACES, SEEN, SHAPES
from tx_helpers.lessons.beyond_text.small_models import small_blocks, train_on_new
from tx_helpers.lessons.beyond_text.stored_weights import save_small
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.masks import causal_mask
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment

SIDE, OBJECTS, LONGEST = 3, 3, 12  # places along a side, shapes on the table, actions at most
ACTIONS = ("up", "down", "left", "right", "take", "drop")
TAKE, DROP = 4, 5
CELLS = ("names", "numbers")
NOTHING = len(PAIRS)  # the id of an empty place or hand
CORNERS = torch.tensor([0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1])
INNER = torch.tensor([cell for cell in range(SIDE * SIDE) if cell not in CORNERS.tolist()])
SEEING = 3 + SIDE * SIDE + 1  # tokens before the action


class Tables(NamedTuple):
    """B tables: order (B, 3) of colour, shape and place; cells (B, 9) and held (B,), ids of `PAIRS`; hand (B,)."""

    order: Tensor
    cells: Tensor
    hand: Tensor
    held: Tensor

    def to(self, device: torch.device) -> "Tables":
        """The same on a device, as `fit` asks of a batch."""
        return Tables(*(part.to(device) for part in self))


def tasks(count: int, *, generator: torch.Generator, wanted: Tensor) -> Tables:
    """Tables with an order each; wanted (W,): the ids of the pairs that may be asked for. All other shapes differ."""
    check_numbers("tasks", least=1, whole=True, count=count)
    asked = wanted[torch.randint(len(wanted), (count,), generator=generator)]
    others = torch.rand(count, len(PAIRS), generator=generator)
    others[torch.arange(count), asked] = 2  # comes last
    objects = torch.cat([asked[:, None], others.argsort(1)[:, : OBJECTS - 1]], 1)
    where = INNER[torch.rand(count, len(INNER), generator=generator).argsort(1)[:, :OBJECTS]]
    cells = torch.full((count, SIDE * SIDE), NOTHING).scatter(1, where, objects)
    place = torch.randint(4, (count,), generator=generator)
    order = torch.stack([asked // len(SHAPES), asked % len(SHAPES), place], 1)
    hand = torch.randint(SIDE * SIDE, (count,), generator=generator)
    return Tables(order, cells, hand, torch.full((count,), NOTHING))


def on_the_way(tables: Tables, generator: torch.Generator) -> Tables:
    """Half of the tables later in their episode: the shape is in the hand, which may be anywhere."""
    later = torch.rand(len(tables.hand), generator=generator) < 0.5
    asked = asked_for(tables)
    gone = later[:, None] & (tables.cells == asked[:, None])
    cells = torch.where(gone, torch.full_like(tables.cells, NOTHING), tables.cells)
    return Tables(tables.order, cells, tables.hand, torch.where(later, asked, tables.held))


def asked_for(tables: Tables) -> Tensor:
    """The id of the pair that each order names. (B,)"""
    return tables.order[:, 0] * len(SHAPES) + tables.order[:, 1]


def teacher(tables: Tables) -> Tensor:
    """The action of the shortest way, rows first: what to do and how far (0 for take and drop). (B, 2)"""
    asked, holding = asked_for(tables), tables.held != NOTHING
    there = (tables.cells == asked[:, None]).int().argmax(1)
    goal = torch.where(holding, CORNERS[tables.order[:, 2]], there)
    down, right = goal // SIDE - tables.hand // SIDE, goal % SIDE - tables.hand % SIDE
    what = torch.where(holding, DROP, TAKE)
    what = torch.where(right != 0, torch.where(right > 0, 3, 2), what)
    what = torch.where(down != 0, torch.where(down > 0, 1, 0), what)
    far = torch.where(down != 0, down.abs(), right.abs())
    return torch.stack([what, far], 1)


def carried_out(tables: Tables, actions: Tensor) -> Tables:
    """The tables after one action each (B, 2). An action that cannot be done changes nothing."""
    what, far = actions.unbind(1)
    row, column = tables.hand // SIDE, tables.hand % SIDE
    row = (row + far * ((what == 1).long() - (what == 0).long())).clamp(0, SIDE - 1)
    column = (column + far * ((what == 3).long() - (what == 2).long())).clamp(0, SIDE - 1)
    hand = row * SIDE + column
    below = tables.cells.gather(1, hand[:, None])[:, 0]
    takes = (what == TAKE) & (tables.held == NOTHING) & (below != NOTHING)
    drops = (what == DROP) & (tables.held != NOTHING) & (below == NOTHING)
    laid = torch.where(takes, torch.full_like(below, NOTHING), torch.where(drops, tables.held, below))
    cells = tables.cells.scatter(1, hand[:, None], laid[:, None])
    held = torch.where(takes, below, torch.where(drops, torch.full_like(below, NOTHING), tables.held))
    return Tables(tables.order, cells, hand, held)


def fulfilled(tables: Tables) -> Tensor:
    """Does the shape that was asked for lie in its corner? (B,)"""
    return tables.cells.gather(1, CORNERS[tables.order[:, 2]][:, None])[:, 0] == asked_for(tables)


class Arm(nn.Module):
    """Tables and the actions so far (B, 0 or 1) -> logits of the next action token, (B, 10): 6 words, 4 distances.

    cells  what the token of a place is made of: "names", the vectors of its colour and its shape in the order's own
           table; or "numbers", an id for each of the 16 pairs
    """

    def __init__(self, *, d_model: int = 40, n_layers: int = 2, cells: str = "names", seed: int = 0):
        super().__init__()
        check_numbers("Arm", least=1, whole=True, d_model=d_model, n_layers=n_layers)
        check_one_of("Arm", CELLS, cells=cells)
        self.cells = cells
        with RandomStream(seed).on(torch.device("cpu")):
            self.words = nn.Embedding(len(COLOURS) + len(SHAPES) + len(PLACES), d_model)
            if cells == "numbers":
                self.patch = nn.Embedding(NOTHING + 1, d_model)
            self.places = nn.Embedding(SIDE * SIDE, d_model)  # for the places of the table and for the hand's
            self.action = nn.Embedding(len(ACTIONS), d_model)
            self.positions = nn.Parameter(0.5 * torch.randn(SEEING + 1, d_model))
            self.blocks = small_blocks(d_model, n_layers)
            self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, len(ACTIONS) + SIDE)

    def seen(self, ids: Tensor) -> Tensor:
        """Vectors of places or of what is held: ids (…,) -> (…, D)"""
        if self.cells == "numbers":
            return self.patch(ids)
        there = (ids != NOTHING)[..., None].float()
        named = ids.clamp(max=NOTHING - 1)
        return there * (self.words(named // len(SHAPES)) + self.words(len(COLOURS) + named % len(SHAPES)))

    def forward(self, tables: Tables, so_far: Tensor | None = None, nothing_ordered: bool = False) -> Tensor:
        """The logits after the last token; with so_far (B, 1), also those before it: (B, 1 or 2, 10)."""
        order = self.words(tables.order + torch.tensor([0, len(COLOURS), len(COLOURS) + len(SHAPES)]))
        if nothing_ordered:
            order = torch.zeros_like(order)
        hand = self.places(tables.hand) + self.seen(tables.held)
        parts = [order, self.seen(tables.cells) + self.places.weight, hand[:, None]]
        if so_far is not None:
            parts.append(self.action(so_far))
        x = torch.cat(parts, 1)
        x = x + self.positions[: x.shape[1]]
        mask = causal_mask(x.shape[1])
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.output(self.norm(x[:, SEEING - 1 :]))


@torch.no_grad()
def chances(model: Arm, tables: Tables, **options: bool) -> tuple[Tensor, Tensor]:
    """What it would do next, (B, 6), and after the likeliest of these, how far, (B, 4)."""
    first = model(tables, **options)[:, 0, : len(ACTIONS)].softmax(-1)
    second = model(tables, first.argmax(-1, keepdim=True), **options)[:, 1, len(ACTIONS) :].softmax(-1)
    return first, second


class Step(NamedTuple):
    """One step of episodes: the tables before it, and the chances of the two action tokens."""

    tables: Tables
    what: Tensor
    far: Tensor


def episode(model: Arm, tables: Tables, **options: bool) -> list[Step]:
    """All steps of B episodes until the order is carried out, at most 12 actions; the last step is only looked at."""
    check_types("episode", Arm, model=model)
    steps = []
    for _ in range(LONGEST + 1):
        what, far = chances(model, tables, **options)
        steps.append(Step(tables, what, far))
        if fulfilled(tables).all():
            break
        after = carried_out(tables, torch.stack([what.argmax(-1), far.argmax(-1)], 1))
        done = fulfilled(tables)[:, None]  # what is done stays done
        tables = Tables(
            *(
                torch.where(done if old.dim() == 2 else done[:, 0], old, new)
                for old, new in zip(tables, after, strict=True)
            )
        )
    return steps


def share_carried_out(model: Arm, tables: Tables, **options: bool) -> float:
    """The share of orders that are carried out within 12 actions."""
    return fulfilled(episode(model, tables, **options)[-1].tables).double().mean().item()


def imitation_loss(model: Arm, batch: Tables) -> Tensor:
    """Cross-entropy of the teacher's two action tokens."""
    right = teacher(batch)
    logits = model(batch, right[:, :1])
    return F.cross_entropy(logits[:, 0, : len(ACTIONS)], right[:, 0]) + F.cross_entropy(
        logits[:, 1, len(ACTIONS) :], right[:, 1]
    )


def train_arm(
    model: Arm, wanted: Tensor, *, steps: int = 1500, rows: int = 128, rate: float = 3e-3, seed: int = 0
) -> Arm:
    """Imitate the teacher on new tables at each step; only the pairs `wanted` are ever asked for. -> the model"""
    check_types("train_arm", Arm, model=model)
    check_numbers("train_arm", least=1, whole=True, steps=steps, rows=rows)

    def draw(generator: torch.Generator) -> Tables:
        return on_the_way(tasks(rows, generator=generator, wanted=wanted), generator)

    return train_on_new(model, draw, loss=imitation_loss, steps=steps, rate=rate, seed=seed)


# --- recorded ---------------------------------------------------------------------------------------------------------
STEPS, ROWS = 1200, 96


def ids_of_pairs(pairs: Sequence[tuple[str, str]]) -> Tensor:
    """The ids of pairs of colour and shape."""
    return torch.tensor([PAIRS.index(pair) for pair in pairs])


def fresh_orders(pairs: Sequence[tuple[str, str]]) -> Tables:
    """400 tables that no training has seen, with orders for these pairs."""
    return tasks(400, generator=torch.Generator().manual_seed(5), wanted=ids_of_pairs(pairs))


def learn_arm(cells: str, seed: int, steps: int = STEPS) -> Arm:
    """Train on orders for the pairs `SEEN`."""
    return train_arm(Arm(cells=cells, seed=seed), ids_of_pairs(SEEN), steps=steps, rows=ROWS, seed=seed)


def arm_scores(model: Arm) -> dict[str, float]:
    """The share of orders carried out: pairs asked for in training, others, and others without the order's words."""
    new = fresh_orders(HELD_OUT)
    return {
        "seen": share_carried_out(model, fresh_orders(SEEN)),
        "unseen": share_carried_out(model, new),
        "blind": share_carried_out(model, new, nothing_ordered=True),
    }


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Places as names, at five seeds, and as numbers, at three: {cells: [`arm_scores` of each seed]}"""
    found = begun or {cells: [] for cells in CELLS}
    for cells, seeds in zip(CELLS, (5, 3), strict=True):
        for seed in range(len(found[cells]), seeds):
            scores = arm_scores(learn_arm(cells, seed))
            found[cells].append({name: round(share, 3) for name, share in scores.items()})
            yield found


def store_weights() -> None:
    """Train the model with names of seed 0, and write the weights that come with the lesson."""
    save_small(learn_arm("names", 0), Path(__file__).with_suffix(".safetensors"))


RECORDED = Experiment(Path(__file__).with_suffix(".json"), learn_all, "20 minutes", {})
recorded_arms = RECORDED.read
