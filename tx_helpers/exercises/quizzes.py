"""A lesson's quiz: five questions or more, each choice with the reason why it is right or wrong.

    quiz("self_attention")

Its bank holds it as a table of text; what does not fit in a line runs on, indented by four:

    QUIZ = questions('''
    How many scores have 5 queries and 7 keys?
      - 12 | They are multiplied, not added: each query meets each key.
      * 35 | The one with a star is right.
    ''')

With a kernel it is a widget, quizzes.js: choose by mouse or by keyboard, and the reason appears. Without one (on
GitHub, on an exported page) the questions are shown with their answers folded away. The first choices are kept in the
learner's file of progress.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import traitlets

from tx_helpers.exercises.catalogue import modules
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.solved import note_quiz, quizzes
from tx_helpers.opening import Bundle
from tx_helpers.show.plots import svg_text
from tx_helpers.show.stored import StoredWidget
from tx_helpers.widgets.scripts import joined

STYLE = """
.tx-quiz fieldset { border: 1px solid var(--jp-border-color1, #CBD2D9); border-radius: 8px; }
.tx-quiz fieldset { margin: 0 0 12px; padding: 8px 14px; }
.tx-quiz legend { font-weight: bold; padding: 0 4px; }
.tx-quiz label { display: flex; gap: 8px; padding: 3px 0; align-items: baseline; cursor: pointer; }
.tx-quiz fieldset [role="status"] { margin: 6px 0 2px; padding-left: 10px; min-height: 1.4em; }
.tx-quiz fieldset [role="status"] { border-left: 4px solid transparent; }
.tx-quiz fieldset .tx-right { border-left-color: #009E73; }
.tx-quiz fieldset .tx-wrong { border-left-color: #D55E00; }
"""


@dataclass(frozen=True)
class Choice:
    """One answer to choose from, whether it is right, and why."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question with two choices or more, exactly one of them right; ValueError otherwise."""

    text: str
    choices: Sequence[Choice]

    def __post_init__(self) -> None:
        right = sum(choice.right for choice in self.choices)
        if len(self.choices) < 2 or right != 1:
            raise ValueError(
                f"Question {self.text!r}: {len(self.choices)} choices, {right} of them right; expected one"
            )


def questions(table: str) -> list[Question]:
    """The questions of a table; ValueError with the row that is not of its form."""
    found: list[tuple[str, list[Choice]]] = []
    for row in filter(str.strip, re.sub(r"\s*\n {4,}", " ", table).split("\n")):
        if row[0] != " ":
            found.append((row, []))
        elif found and (parts := re.fullmatch(r"  ([-*]) (.+?) \| (.+)", row)):
            mark, text, why = parts.groups()
            found[-1][1].append(Choice(text, why, right=mark == "*"))
        else:
            raise ValueError(f"questions: expected `- choice | why`, or `* …` for the right one, got {row!r}")
    return [Question(text, tuple(choices)) for text, choices in found]


def quiz(lesson: str) -> "Quiz":
    """The quiz of a lesson, "self_attention"; ValueError if it has none."""
    module = modules().get(str(lesson))
    if module is None or not hasattr(module, "QUIZ"):
        raise ValueError(f"quiz: the lesson {lesson!r} has none; lessons with a quiz: {', '.join(modules())}")
    return Quiz(f"Quiz {LESSONS[str(lesson)].number}", module.QUIZ, key=str(lesson))


class Quiz(StoredWidget):
    """The quiz as a widget; `answers` holds the index of the choice for each question, -1 where there is none yet.

    key     its name in the learner's file of progress; "": nothing is kept
    silent  it never tells what is right, begins with the choices that were kept, and keeps the last ones
    """

    _esm = joined(Path(__file__).with_name("quizzes.js"))
    _css = STYLE
    title = traitlets.Unicode().tag(sync=True)
    questions: "traitlets.List[dict[str, Any]]" = traitlets.List().tag(sync=True)
    answers = traitlets.List(traitlets.Int()).tag(sync=True)
    silent = traitlets.Bool(False).tag(sync=True)

    def __init__(self, title: str, questions: Sequence[Question], *, key: str = "", silent: bool = False):
        known = [*(quizzes().get(key, []) if silent else []), *[-1] * len(questions)]
        pairs = zip(questions, known, strict=False)
        answers = [choice if 0 <= choice < len(question.choices) else -1 for question, choice in pairs]
        shown = [_without_answers(question) if silent else asdict(question) for question in questions]
        super().__init__(title=title, questions=shown, answers=answers, silent=silent)
        self._asked = questions
        self._static = static(questions, silent=silent)
        if key:
            self.observe(lambda change: note_quiz(key, change["new"], first=not silent), "answers")

    @property
    def score(self) -> int:
        """How many answers are right."""
        pairs = zip(self._asked, self.answers, strict=True)
        return sum(answer >= 0 and question.choices[answer].right for question, answer in pairs)

    def __repr__(self) -> str:
        count, end = (self.score, "right") if not self.silent else (sum(a >= 0 for a in self.answers), "answered")
        return f"{self.title}: {count} of {len(self.questions)} questions {end}"

    def static_form(self) -> tuple[Bundle, Bundle]:
        return {"text/html": self._static}, {}


def _without_answers(question: Question) -> dict[str, Any]:
    return {"text": question.text, "choices": [{"text": choice.text} for choice in question.choices]}


def static(questions: Sequence[Question], *, silent: bool = False) -> str:
    """The questions in HTML, each with its answers folded away, or without them."""
    return f"<ol>{''.join(_item(question, silent) for question in questions)}</ol>"


def _item(question: Question, silent: bool) -> str:
    choices = "".join(f"<li>{svg_text(choice.text)}</li>" for choice in question.choices)
    reasons = "".join(
        f"<li>{'<b>Right.</b>' if choice.right else 'No.'} {svg_text(choice.why)}</li>" for choice in question.choices
    )
    folded = "" if silent else f'<details><summary>Answers</summary><ol type="a">{reasons}</ol></details>'
    return f'<li><b>{svg_text(question.text)}</b><ol type="a">{choices}</ol>{folded}</li>'
