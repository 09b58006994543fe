"""The concept test tells nothing, and the progress file keeps what was chosen in it and in the quizzes."""

import json
import re

import pytest
from IPython.core.formatters import DisplayFormatter

from tx_helpers.exercises import concept_test, quiz, solved
from tx_helpers.exercises.concepts import QUESTIONS
from tx_helpers.exercises.course import LESSONS
from tx_helpers.progress_file import progress_file

RIGHT = [[choice.right for choice in question.choices].index(True) for question in QUESTIONS]


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))


def chosen(widget, *choices):
    """The answers when the first questions get these choices, one after the other."""
    for place, choice in enumerate(choices):
        widget.answers = [choice if n == place else answer for n, answer in enumerate(widget.answers)]


def test_twenty_questions_of_three_choices_each_with_its_reason_and_its_notebook():
    numbers = {lesson.number for lesson in LESSONS.values()}
    assert len(QUESTIONS) == 20
    for question in QUESTIONS:
        assert 3 <= len({choice.text for choice in question.choices}) == len(question.choices) <= 4
        named = re.findall(r"\(notebook (\d\d)\)", " ".join(choice.why for choice in question.choices))
        assert named and numbers.issuperset(named), question.text


def test_it_tells_neither_the_page_nor_the_notebook_what_is_right():
    test = concept_test("before")
    chosen(test, *RIGHT)
    data, _ = DisplayFormatter().format(test)
    told = json.dumps([data, test.get_state()], ensure_ascii=False)
    assert test.score == 20 and "Concept test, before the course: 20 of 20 questions answered" in told
    assert QUESTIONS[0].choices[0].text in told
    assert not [one.why for question in QUESTIONS for one in question.choices if one.why in told]
    assert not {name for question in test.questions for one in question["choices"] for name in one} - {"text"}


def test_it_goes_on_where_it_was_left_and_keeps_the_last_choices():
    chosen(concept_test("before"), 2, RIGHT[1])
    test = concept_test("before")
    assert test.answers == [2, RIGHT[1], *[-1] * 18] and test.score == 1
    chosen(test, RIGHT[0])
    assert concept_test("before").score == 2 and concept_test("after").score == 0
    assert list(solved.quizzes()) == ["concepts-before"] and solved.read() == {}


def test_of_a_quiz_the_first_choices_are_kept():
    chosen(quiz("self_attention"), 1, 0)
    again = quiz("self_attention")
    assert set(again.answers) == {-1}
    chosen(again, 0, 1, 2)
    assert solved.quizzes() == {"self_attention": [1, 0, 2, *[-1] * (len(again.answers) - 3)]}
    assert solved.guesses() == {}


@pytest.mark.parametrize("kept", ["x", {"concepts-after": ["0"]}, {"concepts-after": 3}, {"concepts-after": [9, True]}])
def test_what_the_file_says_wrongly_is_not_taken_over(kept):
    progress_file().write_text(json.dumps({"the-quizzes": kept}))
    assert solved.quizzes() == {} and set(concept_test("after").answers) == {-1}


def test_kept_answers_of_another_number_of_questions_or_choices_do_no_harm():
    solved.note_quiz("concepts-after", [9, 1, *[0] * 28], first=False)
    test = concept_test("after")
    assert test.answers == [-1, 1, *[0] * 18]
    chosen(test, 2)
    assert solved.quizzes()["concepts-after"] == [2, 1, *[0] * 18]


def test_it_is_asked_before_or_after():
    with pytest.raises(ValueError, match="expected 'before' or 'after'"):
        concept_test("during")
