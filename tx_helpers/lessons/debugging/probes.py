"""The probe explorer: change one thing in what a translator reads, and see which positions of its output move.

    probe_explorer({"the right model": model, "mask one too far": broken}, word_pairs(pairs))

For the n-th change of a kind and position t of the decoder:

    moved[t, n] = max_v |logits(changed)[t, v] − logits(plain)[t, v]|         (T, N)

Some positions must not move: those before a changed word of the decoder, and all of them where padding or another
sentence is added. A model is any function source (B, S), target (B, T) -> logits (B, T, V), trained or not.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types, described
from tx_helpers.show.charts import GRID, TOP, Panel, heading, shaded_cell, side_by_side
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, ORANGE, bar, shape, words
from tx_helpers.text.data import PAD, PairData, sequence_batch
from tx_helpers.text.number_words import english, german

LIMIT = 1e-4  # in single precision: logits that move by less do not move
OTHERS = (7, 12, 421, 6705, 8888, 999, 1234, 60)  # neighbours that are not longer than the sentence
CHANGES = {
    "a word of the decoder": "decoder word",
    "a word of the source": "source word",
    "padding behind the source": "padding",
    "a neighbour in the batch": "neighbour",
}


# --- compute ----------------------------------------------------------------------------------------------------------
class Sentence(NamedTuple):
    """A pair that every probe starts from: source (1, S), what the decoder reads (1, T), and the data they are of."""

    source: Tensor
    read: Tensor
    data: PairData

    @property
    def heard(self) -> list[str]:
        return [self.data.source_tokenizer.tokens[i] for i in self.source[0]]

    @property
    def said(self) -> list[str]:
        return [self.data.target_tokenizer.tokens[i] for i in self.read[0]]


class Probe(NamedTuple):
    """What moved, (T, N): position by change. Of change n the first still[n] positions must not move; what it is."""

    moved: Tensor
    still: Sequence[int]
    names: Sequence[str]
    texts: Sequence[str]

    def leaks(self, n: int) -> list[int]:
        """The positions that change n must not move, and moves."""
        return [t for t in range(self.still[n]) if self.moved[t, n] > LIMIT]


def sentence(data: PairData, number: int) -> Sentence:
    """A number's pair of sentences."""
    batch = sequence_batch(data.encode([(english(number), german(number))]))
    return Sentence(batch.source, batch.decoder_input, data)


def another(ids: Tensor, n: int, tokens: Sequence[str]) -> Tensor:
    """A copy of ids (1, T) with the next word of the vocabulary at place n; special tokens are no words."""
    plain = [i for i, token in enumerate(tokens) if not token.startswith("<")]
    changed, old = ids.clone(), int(ids[0, n])
    changed[0, n] = plain[(plain.index(old) + 1) % len(plain)] if old in plain else plain[0]
    return changed


def changes(kind: str, given: Sentence) -> tuple[list[tuple[Tensor, Tensor]], list[int], list[str], list[str]]:
    """All changes of a kind: (source, read) of each, how many positions must stay, its name, and what is done."""
    source, read, data = given
    T = read.shape[1]
    if kind == "decoder word":
        pairs = [(source, another(read, n, data.target_tokenizer.tokens)) for n in range(T)]
        new = [data.target_tokenizer.tokens[ids[0, n]] for n, (_, ids) in enumerate(pairs)]
        texts = [f"the decoder reads {b!r} instead of {a!r} at position {n}" for n, a, b in _rows(given.said, new)]
        return pairs, list(range(T)), given.said, texts
    if kind == "source word":
        pairs = [(another(source, n, data.source_tokenizer.tokens), read) for n in range(source.shape[1])]
        new = [data.source_tokenizer.tokens[ids[0, n]] for n, (ids, _) in enumerate(pairs)]
        texts = [f"word {n} of the source is {b!r} instead of {a!r}" for n, a, b in _rows(given.heard, new)]
        return pairs, [0] * len(pairs), given.heard, texts
    if kind == "padding":
        pairs = [(F.pad(source, (0, n), value=PAD), read) for n in range(1, T + 1)]
        return pairs, [T] * T, [f"+{n}" for n in range(1, T + 1)], [f"{n} × <pad> follow the source" for n in _upto(T)]
    others = [sequence_batch(data.encode([(english(n), german(n))])) for n in OTHERS]
    pairs = [(_stacked(source, one.source), _stacked(read, one.decoder_input)) for one in others]
    texts = [f"{english(n)!r} is in the batch, too" for n in OTHERS]
    return pairs, [T] * len(pairs), [str(n) for n in OTHERS], texts


def _rows(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, str, str]]:
    return list(zip(_upto(len(old)), old, new, strict=True))


def _upto(count: int) -> range:
    return range(1, count + 1)


def _stacked(one: Tensor, other: Tensor) -> Tensor:
    """Two rows as a batch; the shorter one is padded."""
    length = max(one.shape[1], other.shape[1])
    return torch.cat([F.pad(ids, (0, length - ids.shape[1]), value=PAD) for ids in (one, other)])


def probe(model: Callable, kind: str, given: Sentence) -> Probe:
    """How far each position of the sentence moves with each change of this kind."""
    pairs, still, names, texts = changes(kind, given)
    T = given.read.shape[1]
    with torch.no_grad():
        plain = model(given.source, given.read)[0]  # (T, V)
        moved = [(model(*pair)[0, :T] - plain).abs().amax(dim=-1) for pair in pairs]
    return Probe(torch.stack(moved, dim=1), still, names, texts)


# --- draw -------------------------------------------------------------------------------------------------------------
CELL, SIDE, HEAD, LONGEST = 32, 84, TOP + 56, 130


def draw(name: str, n: int, given: Sentence, seen: Probe) -> Svg:
    """Left: all changes of the kind, one a column, the chosen one framed. Right: how far it moves each position."""
    return side_by_side([_map(seen, given.said, n), _bars(seen, given.said, n)], alt=describe(name, n, seen))


def _shade(seen: Probe, t: int, n: int) -> float:
    """The fourth root of the share of the largest movement, so that little shows; 0 where nothing moves."""
    moved = float(seen.moved[t, n])
    return (moved / float(seen.moved.max())) ** 0.25 if moved > LIMIT else 0.0


def _colour(seen: Probe, t: int, n: int) -> str:
    return ORANGE.full if t < seen.still[n] else BLUE.full


def _map(seen: Probe, said: Sequence[str], chosen: int) -> Panel:
    T, N = seen.moved.shape
    right, bottom = SIDE + N * CELL, HEAD + T * CELL
    parts = [heading(SIDE + N * CELL / 2, "What moves"), *_names(said)]
    for n, name in enumerate(seen.names):
        at = f"translate({SIDE + CELL * (n + 0.5):.0f},{HEAD - 8}) rotate(-45)"
        parts.append(words(0, 0, name, size=12, transform=at, font_weight="bold" if n == chosen else None))
        for t in range(T):
            share, colour = _shade(seen, t, n), _colour(seen, t, n)
            edge = ORANGE.full if share and colour == ORANGE.full else GRID
            look = dict(colour=colour if share else GREY.tint, edge=edge)
            parts.append(shaded_cell(SIDE + CELL * n, HEAD + CELL * t, CELL, share or 1, **look))
    if any(seen.still):
        begin = sum(not rows for rows in seen.still)  # the columns in front that may move everything
        steps = "".join(f"V{HEAD + CELL * rows - 1.5}h{CELL}" for rows in seen.still[begin:])
        outline = f"M{SIDE + CELL * begin - 1.5},{HEAD - 1.5}{steps}V{HEAD - 1.5}Z"
        parts.append(shape("path", d=outline, fill="none", stroke=ORANGE.full, stroke_width=2, stroke_dasharray="5 3"))
    frame = dict(x=SIDE + CELL * chosen - 2.5, y=HEAD - 3.5, width=CELL + 2, height=T * CELL + 4, rx=4)
    parts.append(shape("rect", fill="none", stroke=INK, stroke_width=2, **frame))
    parts.append(words((SIDE + right) / 2, bottom + 20, "change (the framed one is chosen)", size=12, anchor="middle"))
    return Panel((right + 34, bottom + 26), "".join(parts))


def _names(said: Sequence[str]) -> list[str]:
    """The rows' words, and what they are."""
    turned = f"translate(12,{HEAD + CELL * len(said) // 2}) rotate(-90)"
    names = [words(SIDE - 8, HEAD + CELL * (t + 0.5) + 4, word, size=12, anchor="end") for t, word in enumerate(said)]
    return [*names, words(0, 0, "position of the decoder", anchor="middle", size=12, transform=turned)]


def _bars(seen: Probe, said: Sequence[str], chosen: int) -> Panel:
    """The chosen column as bars, in the rows of the map."""
    T, left = len(said), 8
    parts = [heading(left + LONGEST / 2 + 24, "How far, for this change")]
    for t in range(T):
        share, y = _shade(seen, t, chosen), HEAD + CELL * t + 6
        number = f"{float(seen.moved[t, chosen]):.2g}" if share else "0"
        if share:
            parts.append(bar(left, y, LONGEST * share, 18, _colour(seen, t, chosen)))
        parts.append(words(left + LONGEST * share + 6, y + 14, number, size=12))
        if t < seen.still[chosen]:
            parts.append(words(left + LONGEST + 56, y + 14, "must stay", size=12, fill=MUTED))
    parts.append(shape("path", d=f"M{left},{HEAD}v{T * CELL}", stroke=INK))
    marks = [(BLUE.full, "moves, and may"), (ORANGE.full, "moves, and must not")]
    for place, (fill, meaning) in enumerate(marks):
        y = 30 + 18 * place
        parts += [shape("rect", x=left, y=y, width=12, height=12, rx=3, fill=fill), words(left + 18, y + 10, meaning)]
    bottom = HEAD + T * CELL + 20
    parts.append(words(left, bottom, "lengths and shades: fourth root", size=12, fill=MUTED))
    return Panel((left + LONGEST + 120, HEAD + T * CELL + 26), "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(name: str, n: int, seen: Probe) -> str:
    """What change n is, which positions it moves though it must not, and how many cells of the full map leak."""
    T, still, leaks = len(seen.moved), seen.still[n], seen.leaks(n)
    free = sum(bool(seen.moved[t, n] > LIMIT) for t in range(still, T))
    parts = []
    if still:
        which = f"all {T} positions" if still == T else "position 1" if still == 1 else f"positions 1 to {still}"
        most = max((float(seen.moved[t, n]) for t in leaks), default=0.0)
        found = f"{len(leaks)} of them {'does' if len(leaks) == 1 else 'do'}, by {most:.2g} at most" if leaks else ""
        parts.append(f"{which} must not move, and {found or 'none does'}")
    if still < T:
        rest = "the one that may move does" if still == T - 1 else f"all {T - still} that may move do"
        parts.append(rest if free == T - still else f"{free} of the {T - still} that may move do")
    cells, all_leaks = sum(seen.still), sum(len(seen.leaks(column)) for column in range(len(seen.still)))
    total = f" In the full map {all_leaks} of {cells} forbidden cells move." if cells else ""
    return f"{name}: {seen.texts[n]}; {'; '.join(parts)}.{total}"


# --- bind -------------------------------------------------------------------------------------------------------------
def probe_explorer(models: Mapping[str, Callable], data: PairData, *, number: int = 5432, first: str = "") -> Explore:
    """Choose a model (`first` at the beginning), a kind of change, and which of them; see what moves.

    The sentence is that of `number`. ValueError if there is no model, or one that is no function.
    """
    check_types("probe_explorer", Mapping, models=models)
    check_types("probe_explorer", PairData, data=data)
    check_numbers("probe_explorer", least=0, most=999_999, whole=True, number=number)
    for name, model in models.items():
        if not callable(model):
            raise ValueError(f"probe_explorer: {name!r} is {described(model)}, expected a model")
    first = first or next(iter(models))
    check_one_of("probe_explorer", list(models), first=first)
    given = sentence(data, number)
    most = max(given.read.shape[1], given.source.shape[1])

    @cache
    def seen(model: str, kind: str) -> Probe:
        return probe(models[model], kind, given)

    def picture(model: str, change: str, which: int) -> Svg:
        found = seen(model, change)
        return draw(model, min(which, len(found.names)) - 1, given, found)

    return Explore(
        picture,
        name="probe",
        told=True,
        model=choice("Model", list(models), first),
        change=CHANGES,
        which=slider("Which one", 1, most, start=min(4, most)),
    )
