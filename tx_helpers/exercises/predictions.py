"""Predict, then reveal: a question before a measurement, and a finding that unfolds once the learner has answered.

    guess = predict("hot", "At a very high temperature, what do all outputs have in common?",
                    ["each is one of the values", "all are the mean of the values", "all are zero"])
    guess                                                      # the question
    guess.reveal("all are the mean of the values", "…why …")   # further down: the finding

    guess = predict("one-head", "How many of 100 answers will one head get right?", unit="%")
    guess.reveal(21, "…")                                      # or a range, (15, 35)

With a kernel both are widgets, drawn by predictions.js. Without one (on GitHub, on an exported page) the finding is
folded. What the cells between them show is folded, too, until there is an answer: see `waiting.py`. The first answer
is kept in the learner's file of progress. What a notebook stores before the first answer does not depend on it.
"""

import math
import re
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import TypeGuard

import traitlets

from tx_helpers.environment import printable
from tx_helpers.exercises.solved import guesses, note_guess
from tx_helpers.exercises.waiting import on_first_move, waiting
from tx_helpers.nn.arguments import described
from tx_helpers.opening import Bundle
from tx_helpers.show.plots import DARK_CHARTS, svg_text
from tx_helpers.show.stored import StoredWidget
from tx_helpers.widgets.scripts import joined

STYLE = """
.tx-predict, .tx-finding { border: 1px solid var(--jp-border-color1, #CBD2D9); border-radius: 8px; }
.tx-predict, .tx-finding { margin: 0 0 8px; padding: 8px 14px; max-width: 46em; min-width: 0; line-height: 1.5; }
.tx-predict legend { font-weight: bold; padding: 0; float: left; width: 100%; margin-bottom: 4px; }
.tx-predict legend + * { clear: both; }
.tx-predict button, .tx-finding button { font: inherit; color: inherit; background: transparent; cursor: pointer; }
.tx-predict button, .tx-finding button { border: 1px solid currentColor; border-radius: 6px; padding: 4px 12px; }
.tx-predict button { margin: 4px 0; text-align: left; white-space: normal; }
.tx-predict > button { display: block; }
.tx-predict > .tx-skip { border-style: dashed; padding: 1px 10px; font-size: 0.9em; }
.tx-predict > .tx-skip[hidden] { display: none; }
.tx-predict button:hover, .tx-finding button:hover { text-decoration: underline; }
.tx-predict [aria-pressed="true"] { font-weight: bold; box-shadow: inset 5px 0 #0072B2; }
.tx-predict input { font: inherit; color: inherit; background: transparent; width: 7em; padding: 3px 6px; }
.tx-predict input { border: 1px solid currentColor; border-radius: 6px; }
.tx-predict :focus-visible, .tx-finding :focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
.tx-predict input { margin-right: 0.3em; }
.tx-predict label + button { margin-left: 12px; }
.tx-finding { border-left: 4px solid #009E73; }
.tx-finding p { margin: 4px 0; white-space: pre-line; }
.tx-finding .tx-beginning { font-weight: bold; }
"""
_asked: dict[str, "Prediction"] = {}  # so that a cell that is run again shows the question that its finding knows


def predict(key: str, question: str, choices: Sequence[str] | None = None, *, unit: str = "") -> "Prediction":
    """Ask for a prediction: one of two to four choices, or a number (with its unit) where there are none.

    `key` is a name that no other prediction of the course has, in small letters, "one-head"; ValueError for anything
    else, for no question, for other numbers of choices, and for a unit of choices.
    """
    _check_question(key, question, choices, unit)
    known, content = _asked.get(key), (question, list(choices or []), unit)
    if known is None or (known.question, known.choices, known.unit) != content:
        _asked[key] = known = Prediction(key=key, question=question, choices=content[1], unit=unit)
    if cells := waiting():
        cells.ask(key, known=known.answer is not None or known.passed)
    return known


class _Shown(StoredWidget):
    """A widget with a static form, `_html` and `_text`, for pages without a kernel."""

    _esm = joined(Path(__file__).with_name("predictions.js"))
    _css = STYLE + DARK_CHARTS  # every notebook has predictions
    key = traitlets.Unicode().tag(sync=True)
    unit = traitlets.Unicode().tag(sync=True)
    answer = traitlets.Any(None, allow_none=True).tag(sync=True)
    passed = traitlets.Bool(False).tag(sync=True)  # the finding was asked for without an answer

    def __repr__(self) -> str:
        return printable(self._text())

    def static_form(self) -> tuple[Bundle, Bundle]:
        return {"text/html": self._html()}, {}


class Prediction(_Shown):
    """The question. `answer` is None until there is one, then the chosen text or the number."""

    question = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, **content: object):
        super().__init__(**content)
        known = guesses().get(self.key)
        if known in self.choices or (not self.choices and isinstance(known, Real)):
            self.answer = known
        self.earlier = self.answer is not None  # in another kernel
        self.observe(lambda change: note_guess(self.key, change["new"]), "answer")
        if cells := waiting():
            self.observe(lambda _change: cells.open(self.key), ["answer", "passed"])

    def reveal(self, right: str | float | tuple[float, float], text: str) -> "Finding":
        """The finding: the right choice, or the right number or range of numbers; and what there is to say about it.

        ValueError if `right` is none of the choices, no number, or no range; or if there is no text.
        """
        finding, wanted = self._finding(right)
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"reveal {self.key!r}: text is {described(text)}, expected the finding in words")
        before = cells.found(self.key) if (cells := waiting()) else []
        shown = Finding(key=self.key, unit=self.unit, finding=finding, right=wanted, text=text)
        explorers = [on_first_move(one, lambda: shown.set_trait("unmoved", False)) for one in before]
        shown.unmoved = any(explorers) and not self.earlier
        traitlets.dlink((self, "answer"), (shown, "answer"))
        traitlets.link((self, "passed"), (shown, "passed"))
        return shown

    def _finding(self, right: object) -> tuple[str, object]:
        """The right answer in a sentence, and as the script takes it: a choice, or the ends of a range."""
        if self.choices:
            if right not in self.choices:
                raise ValueError(f"reveal {self.key!r}: right is {right!r}, expected one of {self.choices}")
            return f"The answer is “{right}”.", right
        ends = right if isinstance(right, (tuple, list)) else [right, right]
        numbers = [float(end) for end in ends if _is_number(end)]
        if not len(ends) == len(numbers) == 2 or numbers[0] > numbers[1]:
            raise ValueError(
                f"reveal {self.key!r}: right is {right!r}, expected a number or a range (low, high), "
                "since the question has no choices"
            )
        low, high = (f"{end:.6g} {self.unit}".strip() for end in numbers)
        sentence = f"It is {low}." if low == high else f"Any answer from {low} to {high} counts as right."
        return sentence, numbers

    def _html(self) -> str:
        items = "".join(f"<li>{_with_code(choice)}</li>" for choice in self.choices)
        choices = f'<ol type="a">{items}</ol>' if items else f"<p>Your guess: a number{svg_text(self._in_unit())}</p>"
        return f"<p><b>Predict: {_with_code(self.question)}</b></p>{choices}"

    def _text(self) -> str:
        lines = [f"  {letter}) {choice}" for letter, choice in zip("abcd", self.choices, strict=False)]
        return "\n".join([f"Predict: {self.question}", *(lines or [f"  a number{self._in_unit()}"])])

    def _in_unit(self) -> str:
        return f" ({self.unit})" if self.unit else ""


class Finding(_Shown):
    """What was to be found; folded until the prediction has been made, or until the learner asks for it."""

    finding = traitlets.Unicode().tag(sync=True)
    right = traitlets.Any().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    unmoved = traitlets.Bool(False).tag(sync=True)  # is there an explorer that the learner should move first?

    def _html(self) -> str:
        content = f"<p><b>{_with_code(self.finding)}</b></p><p>{_with_code(self.text)}</p>"
        return f"<details><summary>The finding</summary>{content}</details>"

    def _text(self) -> str:
        return f"{self.finding} {self.text}"


def _check_question(key: str, question: str, choices: Sequence[str] | None, unit: str) -> None:
    if not isinstance(key, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", key):
        raise ValueError(f"predict: key is {described(key)}, expected a name such as 'one-head'")
    for name, text in {"question": question, "unit": unit}.items():
        if not isinstance(text, str) or (name == "question" and not text.strip()):
            raise ValueError(f"predict {key!r}: {name} is {described(text)}, expected a text")
    if choices is None:
        return
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        raise ValueError(f"predict {key!r}: choices is {described(choices)}, expected two to four texts")
    if not 2 <= len(choices) <= 4 or not all(isinstance(one, str) and one.strip() for one in choices):
        raise ValueError(f"predict {key!r}: choices are {list(choices)}, expected two to four texts")
    if len(set(choices)) < len(choices) or unit:
        wrong = f"unit is {unit!r}" if unit else f"choices are {list(choices)}"
        raise ValueError(f"predict {key!r}: {wrong}, expected choices that differ, and no unit for them")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _with_code(text: str) -> str:
    """A text in HTML; what stands between backticks is code."""
    pieces = map(svg_text, text.split("`"))
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
