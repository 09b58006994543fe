"""What a writer still sees of a story, what it writes next, and where its heads look.

    windows_explorer({"context 64": near, "context 256": far}, unseen)
    windows_explorer({"context 256": far}, unseen, heads=True)

A story names its cast once and comes back to it: `returns` finds these places. A writer gets the newest characters of
its window before the place; P(word) is the product of its characters' probabilities. A head's weights are the last row
of softmax(QKᵀ / √d_k): one number for each character of the window.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.capture import capture
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    BLUE,
    EDGE,
    GREEN,
    INK,
    MONO,
    MUTED,
    ORANGE,
    PAPER,
    PINK,
    WEIGHT,
    card,
    line,
    named_bar,
    setting,
    shape,
    words,
)
from tx_helpers.text.data import evaluation_windows
from tx_helpers.text.stories import CAST, COUNTS, END
from tx_helpers.training.experiment import Experiment
from tx_helpers.zoo.recipes import Writer

ROOM, EXAMPLES = 10, 6  # characters of the window that are left for the word; stories to choose from
COLUMNS, ROW, ADVANCE, LEFT = 88, 40, 7.8, 24  # characters a line, and the size of a character
KINDS = {  # what returns: (the word, after what stands before it, its member of the cast, right by guessing)
    "he or she": (r"\b(s?he) (?:bought|picked|found|sold|packed|washed|dropped|carried)\b", "hero", 1 / 2),
    "hero's name": (r"said (\w+)", "hero", 1 / len(CAST["hero"])),
    "friend": (r"gave the (\w+)", "friend", 1 / len(CAST["friend"])),
    "lost thing": (r"\. The (\w+)", "lost", 1 / len(CAST["lost"])),
    "what is left": (r"kept (\w+)", "sum", 7 / len(CAST["sum"])),
}
COLOURS = {"hero": PINK, "friend": GREEN, "lost": BLUE, "sum": ORANGE}
SPOKEN = {"hero": "hero", "friend": "friend", "lost": "lost thing", "sum": "sum"}


# --- compute ----------------------------------------------------------------------------------------------------------
class Place(NamedTuple):
    """A word of the cast that returns: the story, where the word stands in it, the word, and its kind."""

    story: str
    start: int
    word: str
    kind: str

    @property
    def named(self) -> list[tuple[int, int]]:
        """Where the story says before what the word follows from: the same word, the hero's name, or the numbers."""
        followed = {"he or she": _hero(self.story), "what is left": "|".join(COUNTS)}.get(self.kind, self.word)
        return [match.span() for match in re.finditer(rf"\b(?:{followed})\b", self.story[: self.start])]


def _hero(story: str) -> str:
    return re.search("|".join(rf"\b{record['name']}\b" for record in CAST["hero"]), story)[0]


def returns(text: str, kind: str) -> list[Place]:
    """The places of a kind in the stories of a text, one a story at most."""
    found = []
    for story in text.split(END):
        if match := re.search(KINDS[kind][0], story):
            found.append(Place(story, match.start(1), match[1], kind))
    return found


def known(kind: str) -> set[str]:
    """The words of a kind: those from which a writer without a memory must guess."""
    if kind == "he or she":
        return {"he", "she"}
    field = {"hero": "name", "friend": "kind", "lost": "thing", "sum": "left"}[KINDS[kind][1]]
    return {record[field] for record in CAST[KINDS[kind][1]]}


def view(writer: Writer, story: str, start: int) -> str:
    """What the writer sees before `start`: an ended story and this one, as much as its window holds."""
    return (END + story[:start])[-(writer.context - ROOM) :]


def next_words(writer: Writer, places: Sequence[Place]) -> list[str]:
    """The word that the writer puts at each place: greedily, character by character."""
    prompts = [writer.tokenizer.encode(view(writer, place.story, place.start)) for place in places]
    found: dict[int, str] = {}
    for length in {len(prompt) for prompt in prompts}:  # prompts of one length go through the model together
        rows = [i for i, prompt in enumerate(prompts) if len(prompt) == length]
        ids = generate(writer.model, [prompts[i] for i in rows], max_new_tokens=ROOM)
        found |= {i: re.match(r"\w*", writer.tokenizer.decode(row))[0] for i, row in zip(rows, ids, strict=True)}
    return [found[i] for i in range(len(places))]


@torch.no_grad()
def probability(writer: Writer, before: str, word: str) -> float:
    """P(word) after the text `before`, the newest of it that the writer's window holds."""
    seen, ids = writer.tokenizer.encode(before[-(writer.context - ROOM) :]), writer.tokenizer.encode(word)
    logits = writer.model(torch.tensor([seen + ids]))[0, len(seen) - 1 : -1]  # (T, V)
    return logits.log_softmax(-1)[range(len(ids)), ids].sum().exp().item()


@torch.no_grad()
def last_row(writer: Writer, place: Place) -> Tensor:
    """Each head's weights on what the writer sees before the place: (layers, H, S)."""
    with capture(writer.model, "*.self_attention.weights") as seen:
        writer.model(torch.tensor([writer.tokenizer.encode(view(writer, place.story, place.start))]))
    return torch.stack([seen[name][0, :, -1] for name in seen.names("*weights")])


def on_word(place: Place, weights: Tensor) -> Tensor:
    """The share of weights (…, S) on what the word follows from, each with the character before it: (…)."""
    size = weights.shape[-1]
    spots = {i for start, end in place.named for i in range(start - 1, end)}
    here = torch.tensor([place.start - size + s in spots for s in range(size)])
    return weights[..., here].sum(-1)


@torch.no_grad()
def loss_by_place(writer: Writer, text: str) -> Tensor:
    """The mean loss (T,) in nats at each place of the writer's windows; the last, shorter window is left out."""
    ids = torch.tensor(writer.tokenizer.encode(text))
    windows = evaluation_windows(ids, writer.context)[:-1]
    losses = [cross_entropy(writer.model(w.input).transpose(1, 2), w.target, reduction="none") for w in windows]
    return torch.cat(losses).mean(0)


# Change -> a run of each seed: how often it names the right "friend" and "thing", every 50 steps.
RECORDED = Experiment(Path(__file__).with_name("friend.json"), f"{__package__}.friend:learn_all", "half an hour")
trained_on = RECORDED.read


class Answer(NamedTuple):
    """What one writer puts at a place: its context, the word, P(word), and P of the right word."""

    context: int
    word: str
    p: float
    p_right: float


def answer(writer: Writer, place: Place) -> Answer:
    """The writer's word at a place."""
    (word,) = next_words(writer, [place])
    before = view(writer, place.story, place.start)
    return Answer(writer.context, word, *(probability(writer, before, one) for one in (word, place.word)))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(place: Place, answers: Mapping[str, Answer], alt: str, weights: Tensor | None = None, chosen: int = 0) -> Svg:
    """The story up to the place, its cast in colour, a line above what each writer sees; the words, or the heads.

    weights (N, S) of N heads: gold below the characters shows the chosen one, and bars how much each puts on the word.
    """
    text, parts, y, at, spots = place.story[: place.start], [], 40, 0, {}
    shares = {} if weights is None else dict(enumerate(weights[chosen].tolist(), place.start - weights.shape[1]))
    for line_ in lines(text + "▢" * len(place.word)):
        spots |= {at + x: (LEFT + x * ADVANCE, y) for x in range(len(line_))}
        shown = line_.replace(" ", "\N{NO-BREAK SPACE}").replace("▢", "\N{NO-BREAK SPACE}")
        parts.append(_row(LEFT, y, shown))
        at, y = at + len(line_), y + ROW
    for row, who in reversed(list(enumerate(answers.values()))):  # the shorter one's name lies on top
        parts += _window(spots, place.start - who.context + ROOM, place.start + len(place.word), row, who.context)
    for start, end, member in cast_words(place):
        parts += _marked(spots, start, end, member)
    for spot in range(place.start, place.start + len(place.word)):
        parts.append(shape("rect", x=spots[spot][0], y=spots[spot][1] - 12, width=7, height=15, fill=MUTED, rx=1))
    for spot, share in shares.items():
        if spot in spots and share > 0.01:
            x, below = spots[spot]
            size = dict(x=x, y=below + 7, width=ADVANCE, height=9)
            parts.append(shape("rect", fill=WEIGHT.full, fill_opacity=round(min(2 * share, 1), 2), **size))
    parts.append(words(LEFT, y, f"Grey boxes: the next word. It should be the {place.kind}: “{place.word}”.", size=14))
    parts += _legend(y + 22)
    y += 46
    if weights is None:
        for who in answers.values():
            name = f"context {who.context} writes “{who.word}”"
            aside = "" if who.word == place.word else f"   (“{place.word}”: {who.p_right:.0%})"
            parts += named_bar(260, y, name, 340 * who.p, f"{who.p:.0%}{aside}", MUTED)
            y += 26
    else:
        earlier = " and ".join(f"“{place.story[slice(*span)]}”" for span in place.named)
        parts.append(words(LEFT, y + 8, f"How much each head puts on {earlier} (click one to see where it looks)"))
        parts += _heads(on_word(place, weights).tolist(), chosen, y + 22)
        y += 22 + 24 * (len(weights) // 2)
    return card(2 * LEFT + COLUMNS * ADVANCE, y + 14, parts, alt)


def _row(x: float, y: float, text: str, **style: object) -> str:
    fitted = dict(size=13, font_family=MONO, textLength=round(len(text) * ADVANCE, 1), lengthAdjust="spacing")
    return words(x, y, text, **fitted, **style)


def _window(spots: Mapping, start: int, end: int, row: int, context: int) -> list[str]:
    """A bracket over the characters from start to end, line by line, with its length where it opens."""
    above = 17 + 6 * row
    seen = [spot for place, spot in spots.items() if start <= place < end]
    style = dict(stroke_width=2, stroke_dasharray=("none", "6 3")[row])
    parts = []
    for y in sorted({y for _, y in seen}):
        xs = [x for x, at in seen if at == y]
        parts.append(line(min(xs), y - above, max(xs) + ADVANCE, y - above, (INK, MUTED)[row], **style))
    x, y = seen[0]
    if start >= 0:
        parts.append(line(x, y - above, x, y - 12, INK, stroke_width=2))
    said = f"context {context}" + (" begins" if start >= 0 else " sees it all")
    width = 6.6 * len(said) + 4
    if x > 600:  # no room at the right
        x -= width + 4
    parts.append(shape("rect", x=x + 2, y=y - above - 13, width=width, height=12, fill=PAPER))
    parts.append(words(x + 4, y - above - 3, said, size=12.5, fill=MUTED))
    return parts


def _marked(spots: Mapping, start: int, end: int, member: str) -> list[str]:
    """A word of the cast: a line below it in its member's colour."""
    colour = COLOURS[member].shade
    return [
        shape("rect", x=x, y=y + 3, width=ADVANCE, height=3, fill=colour)
        for x, y in (spots[spot] for spot in range(start, end) if spot in spots)
    ]


def _legend(y: float) -> list[str]:
    parts, x = [], LEFT
    for member, name in SPOKEN.items():
        parts += [shape("rect", x=x, y=y - 5, width=16, height=3, fill=COLOURS[member].shade), words(x + 22, y, name)]
        x += 110
    return parts


def _heads(shares: Sequence[float], chosen: int, y: float) -> list[str]:
    parts = []
    for n, share in enumerate(shares):
        x, at = LEFT + 130 + 340 * (n % 2), y + 24 * (n // 2)
        bar = named_bar(x, at, head_name(n), 140 * share, f"{share:.0%}", WEIGHT.full)
        frame = shape("rect", x=x - 128, y=at - 2, width=320, height=22, rx=4, fill="none", stroke=INK)
        ground = shape("rect", x=x - 128, y=at - 2, width=320, height=22, fill=EDGE, fill_opacity=0)
        parts.append(setting("head", head_name(n), [ground, *bar, *([frame] if n == chosen else [])]))
    return parts


def head_name(n: int) -> str:
    """The n-th of the heads, two a layer."""
    return f"layer {n // 2 + 1}, head {n % 2 + 1}"


def cast_words(place: Place) -> list[tuple[int, int, str]]:
    """Where the story up to the place names its cast: (start, end, member)."""
    text, found = place.story[: place.start], []
    sure = {
        "hero": rf"\b(?:{_hero(text)}|[Hh]e|[Ss]he)\b",
        "friend": rf"\b(?:{'|'.join(record['kind'] for record in CAST['friend'])})\b",
        "lost": rf"\b(?:{'|'.join(record['thing'] for record in CAST['lost'])})\b",
        "sum": rf"\b(?:{'|'.join(COUNTS)})\b",
    }
    for member, pattern in sure.items():
        found += [(match.start(), match.end(), member) for match in re.finditer(pattern, text)]
    return sorted(found)


def lines(text: str) -> list[str]:
    """The text in lines of at most COLUMNS characters, cut behind spaces where there are any."""
    found = []
    while text:
        end = len(text) if len(text) <= COLUMNS else text.rfind(" ", 0, COLUMNS) + 1 or COLUMNS
        found.append(text[:end])
        text = text[end:]
    return found


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(place: Place, answers: Mapping[str, Answer], weights: Tensor | None = None, chosen: int = 0) -> str:
    """How long ago the word was named, what each writer puts there; or where the chosen head looks."""
    first, last = place.named[0][0], place.named[-1]
    at = place.story[slice(*last)]
    ago = f"{place.start - last[0]} characters ago" + (f", first {place.start - first}" if first < last[0] else "")
    begun = f"Next comes the {place.kind}, “{place.word}”; “{at}” stood {ago}."
    if weights is None:
        told = [
            f"{name} writes “{who.word}” ({who.p:.0%})"
            + ("" if who.word == place.word else f", right {who.p_right:.0%}")
            for name, who in answers.items()
        ]
        return f"{begun} {'; '.join(told)}."
    shares = on_word(place, weights)
    best = int(shares.argmax())
    return (
        f"{begun} {head_name(chosen).capitalize()} puts {shares[chosen]:.0%} of its attention there; most is "
        f"{shares[best]:.0%}, by {head_name(best)}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def windows_explorer(writers: Mapping[str, Writer], text: str, *, heads: bool = False) -> Explore:
    """A place to choose, and a story; with `heads`, also the attention of one of the last writer's heads."""
    check_types("windows_explorer", Mapping, writers=writers)
    check_types("windows_explorer", Writer, **{f"writers[{name!r}]": writer for name, writer in writers.items()})
    check_types("windows_explorer", str, text=text)
    check_types("windows_explorer", bool, heads=heads)
    places = {kind: [p for p in returns(text, kind) if p.start > 128][:EXAMPLES] for kind in KINDS}
    last = list(writers.values())[-1]

    @lru_cache(maxsize=64)
    def looked(kind: str, story: int) -> tuple[Place, dict[str, Answer], Tensor]:
        here = places[kind][story - 1]
        return here, {name: answer(w, here) for name, w in writers.items()}, last_row(last, here).flatten(0, 1)

    def drawn(place: str, story: int, head: str = "") -> Svg:
        here, answers, rows = looked(place, story)
        weights = rows if heads else None
        chosen = names.index(head) if heads else 0
        return draw(here, answers, describe(here, answers, weights, chosen), weights, chosen)

    names = [head_name(n) for n in range(2 * len(last.model.decoder.blocks))]
    kinds = [kind for kind in KINDS if places[kind]]
    controls: dict = {
        "place": choice("Place", kinds, "hero's name" if heads else "lost thing"),
        "story": slider("Story", 1, min(len(places[kind]) for kind in kinds)),
    }
    if heads:
        here, _, rows = looked(controls["place"].value, 1)
        most = int(on_word(here, rows).argmax())  # opens on the head that looks there most
        controls["head"] = choice("Head", names, names[most])
    return Explore(drawn, name="heads-look" if heads else "windows", **controls)
