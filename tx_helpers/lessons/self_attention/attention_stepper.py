"""One attention, step by step: x → query, keys, values → scores → softmax → the weighted values become the output.

    AttentionStepper({"four": (1, 0, 0), "hundred": (0, 1, 0)}, "four hundred", W_Q, W_K, W_V, query=1)

q = x W_Q, k = x W_K, v = x W_V, out = softmax(q · k / (√d_k τ)) v. The modules of the folder stepper compute and draw
all of it in the browser, so that it follows each key at once, and works where no message of the kernel gets through.
Here the same numbers come from PyTorch: for the stored picture, and for `summary`.
"""

import math
import re
from collections import namedtuple
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import traitlets
from torch import Tensor, from_numpy, tensor

from tx_helpers.lessons.self_attention.self_attention import attend
from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    INK,
    KEY,
    MUTED,
    ORANGE,
    PAPER,
    QUERY,
    RESIDUAL,
    SCORE,
    VALUE,
    WEIGHT,
    WHITE,
    Colour,
    card,
    either,
    shape,
    words,
)
from tx_helpers.show.stored import StoredWidget
from tx_helpers.widgets.scripts import DRAWN, joined

COLOURS = {"stream": RESIDUAL, "query": QUERY, "key": KEY, "value": VALUE, "score": SCORE, "weight": WEIGHT}
PALETTE = " ".join(f"--{kind}: {either(c.shade)}; --{kind}-fill: {either(c.tint)};" for kind, c in COLOURS.items())
STYLE = f"""
html[theme="dark"] .tx-stepper {{ color-scheme: dark; }}
.tx-stepper {{ --paper: {either(PAPER)}; --ink: {either(INK)}; --quiet: {either(MUTED)}; --edge: #767E86; {PALETTE}
  background: var(--paper); color: var(--ink); padding: 8px; box-sizing: border-box; max-width: 100%;
  border-radius: 12px; font: 14px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); }}
.tx-stepper .tx-bar {{ display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; min-height: 32px; }}
.tx-stepper label {{ display: inline-flex; gap: 6px; align-items: center; min-height: 24px; }}
.tx-stepper label[hidden] {{ display: none; }}
.tx-stepper input, .tx-stepper select, .tx-stepper button {{ font: inherit; color: inherit; margin: 0;
  background: var(--paper); border: 1px solid var(--edge); border-radius: 4px; padding: 2px 8px;
  accent-color: var(--key); }}
.tx-stepper input[type="range"] {{ padding: 0; border: 0; height: 24px; }}
.tx-stepper button {{ cursor: pointer; min-width: 4.5em; }}
.tx-stepper button[aria-disabled="true"] {{ color: var(--quiet); border-style: dashed; cursor: default; }}
.tx-stepper p {{ margin: 6px 0; }}
.tx-stepper .tx-summary {{ font-weight: 600; min-height: 2.9em; overflow-wrap: anywhere; }}
.tx-stepper .tx-arithmetic {{ min-height: 2.9em; color: var(--ink); }}
.tx-stepper .tx-error:empty {{ display: none; }}
.tx-stepper .tx-error {{ border-left: 4px solid {ORANGE.full}; padding-left: 8px; }}
.tx-stepper .tx-picture {{ display: block; width: 100%; min-width: var(--least); height: auto; font-size: 12px;
  font-variant-numeric: tabular-nums; }}
.tx-stepper svg text {{ fill: var(--ink); }}
.tx-stepper .tx-title {{ font-weight: 700; }}
.tx-stepper .tx-name {{ font-size: 11px; }}
.tx-stepper .tx-cell {{ cursor: pointer; outline: none; }}
.tx-stepper .tx-cell rect {{ fill: var(--paper); stroke: var(--line); stroke-width: 1; stroke-dasharray: 2 3; }}
.tx-stepper .tx-cell.tx-known rect {{ stroke-dasharray: none; }}
.tx-stepper .tx-cell.tx-lit rect {{ fill: var(--fill); stroke-width: 2; }}
.tx-stepper .tx-cell.tx-lit text {{ font-weight: 700; }}
.tx-stepper .tx-cell.tx-operand rect {{ stroke-width: 3; }}
.tx-stepper .tx-cell.tx-chosen rect, .tx-stepper .tx-cell:hover rect {{ stroke: var(--ink); stroke-width: 3; }}
.tx-stepper .tx-cell:focus-visible rect {{ stroke: var(--ink); stroke-width: 3; stroke-dasharray: 5 2; }}
.tx-stepper .tx-mark {{ fill: var(--line); pointer-events: none; }}
.tx-stepper .tx-flow {{ stroke: var(--line); stroke-linecap: round; fill: none; }}
{" ".join(f".tx-stepper .tx-{kind} {{ --line: var(--{kind}); --fill: var(--{kind}-fill); }}" for kind in COLOURS)}
"""


LONGEST = 6  # words of a sentence
CELL, LINE, GAP, LEFT, TITLE, NAMES, ARC = 36, 24, 26, 84, 20, 40, 84  # pixels, as in stepper/layout.js
KINDS = dict(x="stream", Q="query", K="key", V="value", out="value", W_Q="query", W_K="key", W_V="value")
KINDS |= dict.fromkeys(("scores", "scaled"), "score") | {"weights": "weight"}


# --- compute ----------------------------------------------------------------------------------------------------------
class Steps(namedtuple("Steps", "x W_Q W_K W_V Q K V scores scaled weights out")):
    """All matrices of one attention: x (T, D); W (D, ·); Q, K, V (T, ·); three (T, T); the output."""


def steps_of(state: Mapping) -> Steps:
    """The matrices for a state of the stepper, in float64."""
    x, W_Q, W_K, W_V = (tensor(state[name]).double() for name in ("x", "W_Q", "W_K", "W_V"))
    Q, K, V = x @ W_Q, x @ W_K, x @ W_V
    scores = Q @ K.T
    scaled = scores / ((math.sqrt(K.shape[-1]) if state["root"] else 1) * state["temperature"])
    weights, out = attend(Q, K, V, temperature=state["temperature"], scaled=state["root"])
    return Steps(x, W_Q, W_K, W_V, Q, K, V, scores, scaled, from_numpy(weights), from_numpy(out))


def count_steps(state: Mapping) -> int:
    """x, q, k, v, a score for each word, scale, softmax, output, and all words at once."""
    return len(state["words"]) + 8


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(state: Mapping) -> Svg:
    """The picture of the last step: all matrices, the row of the word that asks, and what it takes of each value."""
    found, t = steps_of(state), state["query"]
    at, width, height = _layout(found)
    parts = [_flow(at, found, t, s) for s in range(len(state["words"]))]
    for matrix, kind in KINDS.items():
        parts += _matrix(at[matrix], getattr(found, matrix), COLOURS[kind], _filled(matrix, t))
    for matrix, title in _titles(state).items():
        square = matrix in ("scores", "scaled", "weights")
        x, y = at[matrix]
        parts.append(words(x + 2, y - 6 - NAMES * square, title, size=12, font_weight="bold", fill=INK))
        for s, word in enumerate(state["words"] if square else ()):
            place = f"translate({x + CELL * (s + 0.4):.0f},{y - 5}) rotate(-35)"
            parts.append(words(0, 0, _shortened(word), size=11, fill=MUTED, transform=place))
    for matrix in ("x", "scores"):
        x, y = at[matrix]
        for row, word in enumerate(state["words"]):
            weight = "bold" if row == t else None
            parts.append(
                words(x - 8, y + LINE * row + 16.5, _shortened(word), size=12, anchor="end", font_weight=weight)
            )
    return card(width, height, parts, describe(state | {"step": count_steps(state) - 2}, found))


def _layout(found: Steps) -> tuple[dict[str, tuple[float, float]], float, float]:
    """The upper left corner of each matrix, and the size of the picture."""
    wide = {name: CELL * matrix.shape[1] for name, matrix in found._asdict().items()}
    n, top = len(found.x), TITLE + 8
    first = top + LINE * len(found.W_Q) + 34
    second = first + LINE * n + TITLE + NAMES + 22
    at: dict[str, tuple[float, float]] = {"x": (LEFT, first)}
    x: float = LEFT + wide["x"] + GAP
    y: float = LEFT
    for letter in "QKV":
        at |= {f"W_{letter}": (x, top), letter: (x, first)}
        x += max(wide[letter], 72) + GAP
    for name in ("scores", "scaled", "weights"):
        at[name] = (y, second)
        y += max(wide[name], 92) + GAP
    at["out"] = (max(y, at["V"][0]), second)
    return at, max(x, at["out"][0] + wide["out"] + GAP) + ARC / 2, second + LINE * n + 14


def _filled(matrix: str, t: int) -> range:
    """The rows that take part when word t asks: all keys and values, else the one row."""
    return range(0) if matrix[:2] == "W_" else range(LONGEST) if matrix in "KV" else range(t, t + 1)


def _matrix(corner: tuple[float, float], numbers: Tensor, colour: Colour, filled: range) -> list[str]:
    """The cells of a matrix, some of its rows filled."""
    parts = []
    for row, line in enumerate(numbers.tolist()):
        for column, value in enumerate(line):
            x, y = corner[0] + CELL * column, corner[1] + LINE * row
            fill = colour.tint if row in filled else WHITE
            size = dict(width=CELL - 2, height=LINE - 2, rx=4)
            parts.append(shape("rect", x=x + 1, y=y + 1, **size, fill=fill, stroke=colour.shade))
            parts.append(words(x + CELL / 2, y + 16.5, short(value), size=12, anchor="middle"))
    return parts


def _flow(at: Mapping, found: Steps, t: int, s: int) -> str:
    """An arc from the value of word s to the output of word t, as thick as its weight."""
    (x1, y1), (x2, y2) = ((at[name][0] + CELL * found.V.shape[1], at[name][1]) for name in ("V", "out"))
    y1, y2, bulge = y1 + LINE * (s + 0.5), y2 + LINE * (t + 0.5), max(x1, x2) + ARC - 10 * s
    path = f"M{x1:.0f},{y1:.0f}C{bulge:.0f},{y1:.0f},{bulge:.0f},{y2:.0f},{x2:.0f},{y2:.0f}"
    return shape(
        "path", d=path, fill="none", stroke=COLOURS["value"].shade, stroke_width=1 + 7 * float(found.weights[t, s])
    )


def _titles(state: Mapping) -> dict[str, str]:
    return {
        **{"x": "x", "W_Q": "W_Q", "W_K": "W_K", "W_V": "W_V"},
        **{"Q": "● q = x W_Q", "K": "■ k = x W_K", "V": "◆ v = x W_V"},
        **{"scores": "scores q · k", "scaled": f"÷ {divisor(state)}", "weights": "softmax: weights", "out": "output"},
    }


# --- describe ---------------------------------------------------------------------------------------------------------
def short(value: float) -> str:
    """At most two decimals, with a true minus sign; a half is rounded away from zero, as in the browser."""
    if value >= 1e6:
        return "over a million"
    size = math.floor(abs(value) * 100 + 0.5 + 1e-9) / 100
    return ("−" if value < 0 and size > 0 else "") + f"{size:.2f}".rstrip("0").rstrip(".")


def divisor(state: Mapping) -> str:
    """What the scores are divided by, as it is written: √4, or √4 · 0.5 with a temperature."""
    root = f"√{len(state['W_K'][0])}" if state["root"] else ""
    degrees = "" if state["temperature"] == 1 else short(state["temperature"])
    return " · ".join(filter(None, (root, degrees))) or "1"


def describe(state: Mapping, found: Steps) -> str:
    """The step in words, with its numbers: the sentence that the browser shows, too."""
    n, t, step = len(state["words"]), state["query"], state["step"]
    named = [f"'{word}'" for word in state["words"]]
    if 4 <= step < n + 4:
        said = _describe_score(named, found, t, step - 4)
    elif step < 4:
        said = _describe_vectors(named[t], found, t, step)
    else:
        said = _describe_end(named, found, t, step - n - 4, divisor(state))
    return f"Step {step + 1} of {n + 8}. {said}"


def _describe_vectors(own: str, found: Steps, t: int, step: int) -> str:
    return (
        f"Every word is a row of x. {own}, which is {_vector(found.x[t])}, will ask.",
        f"The query of {own}, what it looks for: its row of x times W_Q is {_vector(found.Q[t])}.",
        f"The keys, what each word can be found by: x times W_K. The key of {own} is {_vector(found.K[t])}.",
        f"The values, what each word passes on: x times W_V. The value of {own} is {_vector(found.V[t])}.",
    )[step]


def _describe_score(named: Sequence[str], found: Steps, t: int, s: int) -> str:
    factors = [
        [f"({short(v)})" if short(v)[0] == "−" else short(v) for v in row.tolist()] for row in (found.Q[t], found.K[s])
    ]
    sum_ = " + ".join(f"{a}·{b}" for a, b in zip(*factors, strict=True))
    return f"The query of {named[t]} times the key of {named[s]}: {sum_} = {short(float(found.scores[t, s]))}."


def _describe_end(named: Sequence[str], found: Steps, t: int, part: int, divided_by: str) -> str:
    weights, powers = found.weights[t].tolist(), found.scaled[t].exp()
    terms = " + ".join(f"{short(w)} · {_vector(v)}" for w, v in zip(weights, found.V, strict=True))
    best = [
        max(range(len(named)), key=lambda s, row=row: (row[s] > max(row) - 1e-9, -s)) for row in found.weights.tolist()
    ]
    looks = (f"{named[q]} looks most at {named[s]} ({short(float(found.weights[q, s]))})" for q, s in enumerate(best))
    return (
        f"The scores {_list(found.scores[t])} divided by {divided_by} are {_list(found.scaled[t])}.",
        f"The softmax: e to each power, {_list(powers)}, divided by their sum {short(float(powers.sum()))}. "
        f"The weights are {_list(found.weights[t])}.",
        f"The output of {named[t]} is the weighted sum of the values: {terms} = {_vector(found.out[t])}.",
        f"Every word has asked: {'; '.join(looks)}.",
    )[part]


def _list(row: Tensor) -> str:
    return ", ".join(map(short, row.tolist()))


def _vector(row: Tensor) -> str:
    return f"({_list(row)})"


def _shortened(word: str) -> str:
    return word if len(word) <= 9 else f"{word[:8]}…"


# --- bind -------------------------------------------------------------------------------------------------------------
class AttentionStepper(StoredWidget):
    """Words with vectors (D,), a sentence of them, and the matrices W_Q, W_K (D, d_k) and W_V (D, d_v).

    query  the word of the sentence that asks, from 0
    name   a slug (small letters, digits, hyphens), unique in its notebook

    ValueError where a word of the sentence has no vector, or the sizes do not fit.
    """

    _esm = joined(*DRAWN, *sorted(Path(__file__).with_name("stepper").glob("*.js")))
    _css = STYLE
    spec = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        table: Mapping[str, Sequence[float]],
        sentence: str,
        W_Q: Tensor,
        W_K: Tensor,
        W_V: Tensor,
        *,
        query: int = 0,
        name: str = "attention-stepper",
    ):
        check_types("AttentionStepper", Mapping, table=table)
        check_types("AttentionStepper", str, sentence=sentence)
        check_tensors("AttentionStepper", W_Q=(W_Q, "float D K"), W_K=(W_K, "float D K"), W_V=(W_V, "float D V"))
        if not re.fullmatch(r"[a-z][a-z0-9-]*", str(name)):
            raise ValueError(f"AttentionStepper: name={name!r}, expected small letters, digits and hyphens")
        vectors, tokens = _vectors(table, len(W_Q)), sentence.lower().split()
        _check_sentence(tokens, vectors, query)
        matrices = dict(x=[vectors[word] for word in tokens], W_Q=W_Q.tolist(), W_K=W_K.tolist(), W_V=W_V.tolist())
        settings = dict(query=query, step=0, root=True, temperature=1.0)
        spec = {"name": name, "table": vectors, "width": len(W_Q), "longest": LONGEST}
        super().__init__(spec=spec, state={"words": tokens, **matrices, **settings})
        self.layout.width = "100%"

    @property
    def summary(self) -> str:
        """The present step in words."""
        return describe(self.state, steps_of(self.state))

    def __repr__(self) -> str:
        return f"AttentionStepper {self.spec['name']!r}: {draw(self.state).alt}"

    def static_form(self) -> tuple[dict, dict]:
        return draw(self.state)._repr_mimebundle_()

    def set(self, **changes: Any) -> None:
        """Turn controls: step and query (from 0), root, temperature. ValueError for what cannot be."""
        state = dict(self.state)
        if unknown := sorted(changes.keys() - {"step", "query", "root", "temperature"}):
            raise ValueError(f"AttentionStepper.set: {unknown[0]!r} is none of step, query, root, temperature")
        state |= changes
        count = len(state["words"])
        check_numbers("AttentionStepper.set", whole=True, least=0, most=count_steps(state) - 1, step=state["step"])
        check_numbers("AttentionStepper.set", whole=True, least=0, most=count - 1, query=state["query"])
        check_numbers("AttentionStepper.set", least=0.1, most=4, temperature=state["temperature"])
        check_types("AttentionStepper.set", bool, root=state["root"])
        self.state = state


def _vectors(table: Mapping, width: int) -> dict[str, list[float]]:
    """The table as plain lists. ValueError for a vector of another width, or of something else than numbers."""
    for word, vector in table.items():
        check_types("AttentionStepper", str, **{"a word of the table": word})
        check_types("AttentionStepper", Sequence, **{f"table[{word!r}]": vector})
        check_numbers("AttentionStepper", {f"table[{word!r}][{i}]": value for i, value in enumerate(vector)})
        if len(vector) != width:
            raise ValueError(f"AttentionStepper: table[{word!r}] has {len(vector)} numbers, but W_Q {width} rows")
    return {word: list(map(float, vector)) for word, vector in table.items()}


def _check_sentence(tokens: Sequence[str], vectors: Mapping, query: int) -> None:
    if not 1 <= len(tokens) <= LONGEST:
        raise ValueError(f"AttentionStepper: sentence has {len(tokens)} words, expected 1 to {LONGEST}")
    if unknown := [token for token in tokens if token not in vectors]:
        raise ValueError(
            f"AttentionStepper: sentence has {unknown[0]!r}, which is none of the words {', '.join(vectors)}"
        )
    check_numbers("AttentionStepper", whole=True, least=0, most=len(tokens) - 1, query=query)
