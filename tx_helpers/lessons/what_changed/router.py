"""Which experts each word of a text uses: a small mixture of experts at work, block by block.

    router_explorer({"with a bias": found.model})        # found = specialists.train_specialists("bias")

    p = softmax(x W),   the k experts with the largest p (plus their bias, if there is one) are used,
    and each takes at most ⌈c · N · k / E⌉ of the choices of the text's N positions

The model runs anew at every setting: another k, or a word that finds no room, changes what the next block gets. In
training capacity counts over a whole batch; here it counts over this text alone. See `experts.Router`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.charts import ink_on
from tx_helpers.show.controls import choice, slider, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, INK, MUTED, ORANGE, PINK, card, shape, words
from tx_helpers.text.data import BOS
from tx_helpers.text.world_vocabulary import EXAMPLES, words_of, world_tokenizer
from tx_helpers.training.contexts import in_mode
from tx_helpers.zoo.parts.experts import Router, routes

# The control has the names: the endless number would be no JSON, and the web page has only that.
CAPACITIES = {"no limit": math.inf, "2": 2.0, "1.5": 1.5, "1": 1.0, "0.5": 0.5}
MOST = 4  # experts that a word can use
LEFT, TOP, ROW, GAP = 112, 102, 26, 32  # pixels: where the tables begin, the height of a line, the room between blocks


# --- compute ----------------------------------------------------------------------------------------------------------
class Routes(NamedTuple):
    """What the routers of a model decided for one text; N blocks, T positions, E experts, k choices."""

    probabilities: Tensor  # (N, T, E)
    chosen: Tensor  # (N, T, k), the best first
    kept: Tensor  # (N, T, k), False where an expert had no room
    room: float  # choices that an expert takes
    bias: Tensor | None = None  # (N, E), what is added for the choice; None without such

    def load(self, block: int) -> list[int]:
        """How many choices fell on each expert of a block, dropped ones included."""
        return torch.bincount(self.chosen[block].flatten(), minlength=self.probabilities.shape[-1]).tolist()


@contextmanager
def set_routers(model: nn.Module, top_k: int, capacity_factor: float) -> Iterator[None]:
    """While the block runs, all routers choose top_k experts, with a capacity even outside training."""
    routers = [module for module in model.modules() if isinstance(module, Router)]
    before = [(router.config, router.training) for router in routers]
    limit = None if math.isinf(capacity_factor) else capacity_factor
    try:
        for router in routers:
            router.config = replace(router.config, top_k=top_k, capacity_factor=limit)
            router.training = limit is not None
        yield
    finally:
        for router, (config, training) in zip(routers, before, strict=True):
            router.config, router.training = config, training


def route(model: nn.Module, text: str, top_k: int = 1, capacity_factor: float = math.inf) -> Routes:
    """The decisions of all routers for a text of the little world, which begins with <bos>."""
    check_types("route", nn.Module, model=model)
    check_numbers("route", least=1, whole=True, top_k=top_k)
    check_numbers("route", above=0, capacity_factor=capacity_factor)
    ids = torch.tensor([[BOS, *world_tokenizer().encode(" ".join(words_of(text)))]])
    quiet = in_mode(model, training=False)
    with quiet, set_routers(model, top_k, capacity_factor), torch.no_grad(), routes(model) as found:
        model(ids)
    probabilities = torch.stack([one.scores[0] for one in found.values()])
    chosen = torch.stack([one.chosen[0] for one in found.values()])
    kept = torch.stack([one.gates[0] for one in found.values()]).gather(-1, chosen) > 0
    room = math.inf
    if not math.isinf(capacity_factor):
        room = math.ceil(capacity_factor * ids.numel() * top_k / probabilities.shape[-1])
    biases = [module.bias for module in model.modules() if isinstance(module, Router) and module.bias is not None]
    return Routes(probabilities, chosen, kept, room, torch.stack(biases) if biases else None)


def tokens_of(text: str) -> list[str]:
    """The tokens whose routes are shown."""
    known = world_tokenizer().tokens
    return [known[token] for token in (BOS, *world_tokenizer().encode(" ".join(words_of(text))))]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(tokens: Sequence[str], found: Routes) -> Svg:
    """For each block a table: a line for each word, a column for each expert, its probability as a shade and in %.

    Framed: the experts that the word uses; "full" in orange: those that had no room. Below: how many choose an expert.
    """
    N, T, E = found.probabilities.shape
    cell = min(40.0, (760 - LEFT - 16 - GAP * (N - 1)) / (N * E))
    bottom = TOP + ROW * T
    parts = [words(LEFT - 10, TOP + ROW * (t + 0.5) + 5, token, anchor="end") for t, token in enumerate(tokens)]
    parts.append(words(LEFT - 10, bottom + 24, "choices", anchor="end", fill=MUTED))
    for block in range(N):
        left = LEFT + block * (E * cell + GAP)
        parts.append(words(left, 28, f"Block {block + 1}", size=15, font_weight="bold"))
        parts.append(words(left, 50, "probabilities in %; pink: bias; framed: used", fill=MUTED))
        for expert in range(E):
            middle = left + cell * (expert + 0.5)
            parts.append(words(middle, TOP - 26, str(expert + 1), size=14, anchor="middle", font_weight="bold"))
            if found.bias is not None:
                said = f"{100 * found.bias[block, expert].item():+.0f}"
                parts.append(words(middle, TOP - 8, said, size=12.5, anchor="middle", fill=PINK.shade))
            for t in range(T):
                place, share = (left + cell * expert, TOP + ROW * t, cell), found.probabilities[block, t, expert].item()
                uses = found.chosen[block, t] == expert
                if uses.any() and not found.kept[block, t][uses].all():
                    parts += _full(*place)
                else:
                    parts += _cell(*place, share, bool(uses.any()))
        for expert, load in enumerate(found.load(block)):
            many = load > found.room
            look = {"fill": ORANGE.shade} if many else {"fill": INK if load else MUTED}
            middle = left + cell * (expert + 0.5)
            parts.append(words(middle, bottom + 24, str(load), size=14, anchor="middle", font_weight="bold", **look))
    limit = "each expert has room for all"
    if not math.isinf(found.room):
        first = "first choices first, then " if found.chosen.shape[-1] > 1 else ""
        limit = f"each expert has room for {found.room}: {first}in the order of the text"
    parts.append(words(LEFT, bottom + 48, limit, fill=MUTED))
    return card(LEFT + N * E * cell + (N - 1) * GAP + 16, bottom + 62, parts, describe(tokens, found))


def _cell(x: float, y: float, wide: float, share: float, used: bool) -> list[str]:
    """A probability, framed if the word uses this expert."""
    look = dict(stroke=INK, stroke_width=2.5) if used else dict(stroke=EDGE)
    frame = dict(x=x + 1.5, y=y + 1.5, width=wide - 3, height=ROW - 3, rx=3, **look)
    said = f"{100 * share:.0f}" if share >= 0.005 else "0"
    return [
        shape("rect", fill=BLUE.full, fill_opacity=round(share, 3), **frame),
        words(x + wide / 2, y + 18, said, size=12.5, fill=ink_on(share, BLUE.full), anchor="middle"),
    ]


def _full(x: float, y: float, wide: float) -> list[str]:
    """A choice for which the expert has no room."""
    frame = dict(x=x + 1.5, y=y + 1.5, width=wide - 3, height=ROW - 3, rx=3)
    return [
        shape("rect", fill=ORANGE.tint, stroke=ORANGE.full, stroke_width=2.5, stroke_dasharray="5 3", **frame),
        words(x + wide / 2, y + 18, "full", size=12.5, fill=ORANGE.shade, anchor="middle"),
    ]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(tokens: Sequence[str], found: Routes) -> str:
    """For each block how many experts are used, the busiest, how sure the router is; and which words had no room."""
    N, T, E = found.probabilities.shape
    parts = []
    for block in range(N):
        load = found.load(block)
        busiest = max(range(E), key=lambda expert: load[expert])
        first = found.probabilities[block].gather(-1, found.chosen[block, :, :1]).mean().item()
        parts.append(
            f"Block {block + 1}: {sum(map(bool, load))} of {E} experts are used, expert {busiest + 1} most, for "
            f"{load[busiest]} of {sum(load)} choices; the first choice has {first:.0%} on average."
        )
        lost = [f"'{tokens[t]}'" for t in range(T) if not found.kept[block, t].all()]
        if not math.isinf(found.room):
            said = f"{', '.join(lost[:6])}{', …' * (len(lost) > 6)} lost a choice" if lost else "no word lost a choice"
            parts.append(f"With room for {found.room} {said}.")
    return " ".join(parts)


# --- bind -------------------------------------------------------------------------------------------------------------
def router_explorer(models: Mapping[str, nn.Module], text: str = EXAMPLES[0]) -> Explore:
    """Type a text of the little world; choose one of the models, how many experts a word uses, and their capacity."""
    check_types("router_explorer", Mapping, models=models)
    check_types("router_explorer", nn.Module, **{f"models[{name!r}]": model for name, model in models.items()})
    fewest = min(route(model, text).probabilities.shape[-1] for model in models.values())

    def picture(text: str, model: str, top_k: int, capacity: str) -> Svg:
        return draw(tokens_of(text), route(models[model], text, top_k, CAPACITIES[capacity]))

    return Explore(
        picture,
        name="router",
        told=True,
        recorded={"text": list(dict.fromkeys([text, *EXAMPLES]))},
        text=typed("Text", text, width=640),
        model=choice("Model", list(models)),
        top_k=slider("Experts a word", 1, min(MOST, fewest)),
        capacity=choice("Capacity", list(CAPACITIES)),
    )
