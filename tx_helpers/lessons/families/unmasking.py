"""BERT's objective as a writer: a text of masks, filled in a few passes (masked diffusion).

    encoder = trained(0)                                # the world's encoder, after texts with 0 to 100 % masks
    for ids in unmasked(encoder, ids, 4, "surest"): …   # the text after each of four passes
    unmasking_explorer()                                # what three trainings wrote, pass by pass

In each pass the encoder reads the whole text and proposes a word for every mask; some of the proposals are kept, and
the rest stay masks. A kept word never changes again. Orders: the surest proposals first, random ones, or from the left.

The file unmasking.json, for the task `go_on` of the tournament, with as many masks as the true rest has words:

    {"about": {"seeds", "trained", "questions", …},
     "possible": {model: {order: {passes: [a share for each seed]}}},  # of texts that the world could tell; "0": a word
                                                                       # a pass
     "decoder": {"possible": […], "passes": […]},                      # the world's decoder, from left to right
     "given": a beginning, "written": {order: {passes: [["word pass", …] for each seed]}}}

models: "15%" and "any" were trained for equally many more steps, with 15 % of the words masked, or with all shares;
"shipped" was not. Sources: Nie et al. 2025 (LLaDA), Sahoo et al. 2024; Chang et al. 2022 for the surest first.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.generation.search import generate
from tx_helpers.lessons.families.tournament import examples
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREEN, GREY, ORANGE, PINK, box, card, words
from tx_helpers.text.data import BOS, EOS, IGNORE, PAD
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import CLS, MASK, SEP, word_ids, world_id, world_tokenizer
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.objectives import ObjectiveBatch, ObjectiveBatches
from tx_helpers.zoo.world_models import train_on_texts, world_model

SAID = {"surest": "the surest first", "random": "random ones", "left": "from the left"}
ORDERS = tuple(SAID)
PASSES = (1, 2, 4, 8, 0)  # 0: as many as there are masks
TRAINED, QUESTIONS, SEEDS, LONGEST = 300, 40, (0, 1, 2), 51
SHARES = {"any": None, "15%": 0.15}  # of the words that are masked in the training
GIVEN = 12  # which question of seed 0 is shown
WIDE, ROW, LETTER = 820, 34, 8.2  # pixels: of the picture, of a line of words, of a letter


# --- compute ----------------------------------------------------------------------------------------------------------
def any_share(seed: int) -> Callable[[int], ObjectiveBatch]:
    """step -> a batch of texts of which each has a share of masks of its own, from 0 to 100 %."""
    whole = ObjectiveBatches("masked", seed=seed, rate=0.0)
    signs = torch.tensor([PAD, world_id(CLS), world_id(SEP)])

    def batch(step: int) -> ObjectiveBatch:
        ids = whole(step).inputs[0]
        draws = torch.Generator().manual_seed(10_000 * seed + step)
        share = torch.rand(len(ids), 1, generator=draws)
        hidden = (torch.rand(ids.shape, generator=draws) < share) & ~torch.isin(ids, signs)
        return ObjectiveBatch((ids.masked_fill(hidden, world_id(MASK)),), ids.masked_fill(~hidden, IGNORE))

    return batch


def trained(seed: int, share: float | None = None, steps: int = TRAINED) -> nn.Module:
    """The world's encoder after more steps with this share of masks, or (None) with all shares."""
    model = world_model("encoder")
    batches = any_share(seed) if share is None else ObjectiveBatches("masked", seed=seed, rate=share)
    train_on_texts(model, batches, steps=steps, seed=seed, progress=False)
    return model.eval()


@torch.no_grad()
def unmasked(
    model: nn.Module, ids: Tensor, passes: int, order: str, generator: torch.Generator | None = None
) -> Iterator[Tensor]:
    """The text (T,) after each pass; its masks are filled in `passes` equal parts, 0: one at a time."""
    check_one_of("unmasked", ORDERS, order=order)
    check_numbers("unmasked", least=0, whole=True, passes=passes)
    ids, mask = ids.clone(), world_id(MASK)
    masks = int((ids == mask).sum())
    passes = min(passes or masks, masks)
    no_words = torch.ones(len(world_tokenizer()), dtype=torch.bool)
    no_words[list(word_ids())] = False
    for number in range(passes):
        left = (ids == mask).nonzero()[:, 0]
        chances, best = model(ids[None])[0, left].masked_fill(no_words, -math.inf).softmax(-1).max(-1)
        rank = {
            "surest": chances,
            "random": torch.rand(len(left), generator=generator),
            "left": -left.float(),
        }[order]
        kept = rank.topk(len(left) - masks * (passes - 1 - number) // passes).indices
        ids[left[kept]] = best[kept]
        yield ids.clone()


def masks_after(beginning: str, count: int) -> Tensor:
    """<cls> beginning <mask> … <mask> <sep>."""
    given = world_tokenizer().encode(beginning)
    return torch.tensor([world_id(CLS), *given, *[world_id(MASK)] * count, world_id(SEP)])


def possible(text: str) -> bool:
    """Could the world tell this text?"""
    return math.isfinite(little_world().log_probability(text))


def share_possible(model: nn.Module, seed: int, passes: int, order: str) -> float:
    """The share of texts that the world could tell, of QUESTIONS beginnings that no training text has."""
    given, targets = (part[:QUESTIONS] for part in examples("go_on", 100, "test", seed))
    generator, right = torch.Generator().manual_seed(seed), 0
    for beginning, rest in zip(given, targets, strict=True):
        *_, ids = unmasked(model, masks_after(beginning, len(rest.split())), passes, order, generator)
        right += possible(world_tokenizer().decode(ids[1:-1].tolist()))
    return right / QUESTIONS


def by_the_decoder(seed: int) -> tuple[float, float]:
    """The same beginnings, from left to right: the share that the world could tell, and the mean of the passes."""
    given, _ = examples("go_on", 100, "test", seed)
    tokenizer, right, passes = world_tokenizer(), 0, 0
    prompts = [[BOS, *tokenizer.encode(beginning)] for beginning in given[:QUESTIONS]]
    rows = generate(world_model("decoder"), prompts, max_new_tokens=LONGEST, end_id=EOS, pad_id=PAD).tolist()
    for beginning, row in zip(given, rows, strict=False):
        rest = [token for token in row if token not in (EOS, PAD)]
        right += possible(f"{beginning} {tokenizer.decode(rest)}")
        passes += len(rest) + 1
    return right / QUESTIONS, passes / QUESTIONS


# --- recorded ---------------------------------------------------------------------------------------------------------
def measure() -> dict[str, Any]:
    """What the head of this file says of unmasking.json."""
    given, targets = (part[GIVEN] for part in examples("go_on", 100, "test", 0))
    found: dict[str, Any] = {"about": {}, "possible": {}, "decoder": {"possible": [], "passes": []}}
    found |= {"given": given, "written": {order: {str(passes): [] for passes in PASSES} for order in ORDERS}}
    for seed in SEEDS:
        models = {"shipped": world_model("encoder")} | {name: trained(seed, share) for name, share in SHARES.items()}
        for name, model in models.items():
            for order in ORDERS if name == "any" else ORDERS[:1]:
                for passes in PASSES:
                    scores = found["possible"].setdefault(name, {}).setdefault(order, {}).setdefault(str(passes), [])
                    scores.append(round(share_possible(model, seed, passes, order), 4))
        for order, row in found["written"].items():
            for passes in PASSES:
                row[str(passes)].append(_written(models["any"], given, len(targets.split()), passes, order, seed))
        for name, value in zip(("possible", "passes"), by_the_decoder(seed), strict=True):
            found["decoder"][name].append(round(value, 4))
        print(seed, {name: row["surest"] for name, row in found["possible"].items()}, found["decoder"])
    return found


def _written(model: nn.Module, given: str, count: int, passes: int, order: str, seed: int) -> list[str]:
    """Each of the words and the pass that wrote it."""
    before, came = masks_after(given, count), [0] * count
    start = len(given.split()) + 1
    for number, ids in enumerate(unmasked(model, before, passes, order, torch.Generator().manual_seed(seed)), start=1):
        for place in range(count):
            if not came[place] and ids[start + place] != before[start + place]:
                came[place] = number
    return [f"{world_tokenizer().tokens[ids[start + place]]} {came[place]}" for place in range(count)]


SETTINGS = {"seeds": SEEDS, "trained": TRAINED, "questions": QUESTIONS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), measure, "8 minutes", SETTINGS)
recorded = RECORDED.read


def written_in(order: str, passes: int, training: int) -> list[tuple[str, int]]:
    """The recorded words behind the beginning, each with the pass that wrote it."""
    pairs = (each.split() for each in recorded()["written"][order][str(passes)][training])
    return [(word, int(number)) for word, number in pairs]


# --- draw -------------------------------------------------------------------------------------------------------------
@cache
def draw(passes: int, order: str, training: int, done: int) -> Svg:
    """The beginning, and its masks after `done` passes; what the last pass wrote is framed."""
    given, written = recorded()["given"].split(), written_in(order, passes, training)
    last = max(number for _, number in written)
    done, ended = min(done, last), done >= last
    text = " ".join([*given, *(word for word, _ in written)])
    fault = little_world().first_fault(text, len(given)) if ended else None
    parts, x, y = [], 16.0, 16.0
    for place, (word, number) in enumerate([*((word, -1) for word in given), *written]):
        said = word if number <= done else "?"
        wide = 14 + LETTER * len(said)
        if x + wide > WIDE - 16:
            x, y = 16.0, y + ROW
        colour = GREY if number < 0 else PINK if number > done else ORANGE if place == fault else GREEN
        parts.append(box(x, y, wide, ROW - 8, said, colour, stroke_width=3 if number == done > 0 else 1))
        x += wide + 5
    y += ROW + 18
    for row in (f"pass {done} of {last}, {SAID[order]}", _verdict(fault, ended, len(given) + len(written))):
        parts.append(words(16, y, row, font_weight="bold" if row.startswith("pass") else "normal"))
        y += 22
    return card(WIDE, y, parts, describe(passes, order, training, done))


def _verdict(fault: int | None, ended: bool, count: int) -> str:
    if not ended:
        return "grey: given; pink: still masks; green: written, framed if in this pass"
    if fault is None:
        return "The world could tell this text."
    return "The world never tells this text" + (": the orange word cannot stand there." if fault < count else ".")


def scores_chart() -> Svg:
    """The share of possible texts by passes: three orders, two rivals, and the decoder."""
    table, size = recorded(), (400, 300)
    xs = [passes or round(sum(table["decoder"]["passes"]) / len(SEEDS) - 1) for passes in PASSES]

    def line(model: str, order: str) -> tuple[list[float], list[float]]:
        return xs, [mean_possible(model, order, passes) for passes in PASSES]

    level = {"decoder, a word a pass": mean_possible("decoder")}
    look = dict(size=size, xlabel="passes", ylabel="possible texts", logx=True, dots=True)
    look |= dict(ylim=(0, 1.4), yticks=[0, 0.25, 0.5, 0.75, 1], percent=True)  # the legend stands above 100 %
    left = line_chart({SAID[order]: line("any", order) for order in ORDERS}, title="Order", levels=level, **look)
    names = {"any": "+ all shares", "15%": "+ 15 % masks", "shipped": "as shipped"}
    right = line_chart(
        {said: line(name, "surest") for name, said in names.items()}, title="Training", levels=level, **look
    )
    return side_by_side([left, right], alt=describe_scores())


# --- describe ---------------------------------------------------------------------------------------------------------
def mean_possible(model: str = "any", order: str = "surest", passes: int = 0) -> float:
    """The recorded share of possible texts, as a mean over the seeds; model: a name of the file, or "decoder"."""
    table = recorded()
    return fmean(table["decoder"]["possible"] if model == "decoder" else table["possible"][model][order][str(passes)])


def describe(passes: int, order: str, training: int, done: int) -> str:
    """The text after so many passes, and at the end whether the world could tell it."""
    given, written = recorded()["given"], written_in(order, passes, training)
    last = max(number for _, number in written)
    rest = " ".join(word if number <= done else "?" for word, number in written)
    said = f"Pass {min(done, last)} of {last}, {SAID[order]}, training {training}: {rest}"
    if done < last:
        return f"{said} ({sum(number > done for _, number in written)} masks left)."
    return f"{said} ({'a' if possible(f'{given} {rest}') else 'no'} text of the world)."


def describe_scores() -> str:
    """Each line's means, with the decoder's."""
    table = recorded()
    lines = [
        f"{model}, {SAID[order]}: {', '.join(f'{mean_possible(model, order, passes):.0%}' for passes in PASSES)}"
        for model, orders in table["possible"].items()
        for order in orders
    ]
    decoder = table["decoder"]
    return (
        f"Possible texts with 1, 2, 4, 8 passes and with one for each word, means of {len(SEEDS)} seeds. "
        f"{'; '.join(lines)}. Decoder, from left to right: {fmean(decoder['possible']):.0%} "
        f"with {fmean(decoder['passes']):.0f} passes."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def unmasking_explorer(passes: int = 4, order: str = "surest") -> Explore:
    """Choose the passes, the order and the training; Play shows the text pass by pass."""
    masks = len(written_in("surest", 0, 0))
    done = slider("Pass", 0, masks)
    return Explore(
        draw,
        name="unmasking",
        told=True,
        passes=choice("Passes", [(str(count or f"{masks}: a word each"), count) for count in PASSES], passes),
        order=choice("Order", [(said, order) for order, said in SAID.items()], order),
        training=choice("Training", [(str(seed), seed) for seed in SEEDS]),
        done=done,
        play=play_button(done),
    )
