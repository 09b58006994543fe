"""Every exercise of the course: its solution passes, its mistakes are named, unusual right answers pass."""

import math
import sys
from functools import cache

import nbformat
import pytest
import torch

from copying import overlap
from lesson_files import lesson_files
from notebook_frame import ROOT
from tx_helpers.exercises.catalogue import find, lesson_of, modules, of_lesson
from tx_helpers.exercises.checks import examine
from tx_helpers.exercises.compare import difference
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.quizzes import Choice, Question


def answers(kind: str) -> dict[str, dict[str, object]]:
    """ "right" or "unlike": exercise -> {name: answer}, from all files of that kind."""
    table = {}
    for module in lesson_files(f"{kind}*.py"):
        table |= getattr(module, kind.upper())
    return table


NAMES = sorted(lesson_of())
RIGHT, UNLIKE = answers("right"), answers("unlike")
MISTAKES = [(name, mistake) for name in NAMES for mistake in find(name).mistakes]


def each(table: dict[str, dict[str, object]]):
    """A test for each answer of a table."""
    cases = [
        pytest.param(exercise, answer, id=f"{exercise}-{name}")
        for exercise, answers in table.items()
        for name, answer in answers.items()
    ]
    return pytest.mark.parametrize(("name", "answer"), cases)


by_name = pytest.mark.parametrize("name", NAMES)
by_mistake = pytest.mark.parametrize(("name", "mistake"), MISTAKES, ids=[f"{n}-{m.name}" for n, m in MISTAKES])


@by_name
def test_the_solution_passes(name):
    feedback = examine(find(name), find(name).answer)
    assert feedback.state == "right", feedback
    assert "\n" not in feedback.text, f"a remark on the solution itself: {feedback.text}"


@by_name
def test_the_starter_is_python_and_counts_as_not_attempted(name):
    exercise, namespace = find(name), {"torch": torch}  # which the section's first cell imports
    if exercise.inline:  # it stands below the cells that define what it uses
        namespace |= vars(sys.modules[exercise.answer.__module__])
    exec(compile(exercise.starter(), "starter", "exec"), namespace)
    assert exercise.answer.__name__ == name, "the solution bears the exercise's name"
    assert examine(exercise, namespace[name]).state == "open"


@by_mistake
def test_a_mistake_is_rejected_and_named(name, mistake):
    exercise = find(name)
    feedback = examine(exercise, mistake.answer)
    assert (feedback.state, feedback.mistake) == ("wrong", mistake.name), feedback
    assert mistake.says in feedback.text


IN_NUMBERS = {  # mistakes that are wrong in their dtype alone: numbers where truth values are asked for
    ("padding_keys", "padding_in_numbers"),
    ("decoder_mask", "mask_in_numbers"),
    ("no_look_ahead", "back_in_numbers"),
    ("no_look_ahead", "back_to_be_added"),
    ("window_mask", "window_in_numbers"),
    ("cached_mask", "cached_in_numbers"),
}


@by_mistake
def test_a_mistake_is_right_in_form(name, mistake):
    exercise = find(name)
    pairs = zip(exercise.results()[mistake.name], exercise.results()["solution"], strict=True)
    steps = {found.step for found in (difference(mine, its, exercise.tolerance) for mine, its in pairs) if found}
    assert steps <= ({"dtype"} if (name, mistake.name) in IN_NUMBERS else {"value", "finite"}), steps


@by_name
def test_no_two_mistakes_look_alike(name):
    exercise = find(name)
    results = exercise.results()
    for one in exercise.mistakes:
        for other in exercise.mistakes:
            pairs = zip(results[one.name], results[other.name], strict=True)
            alike = not any(difference(mine, its, 3 * exercise.tolerance) for mine, its in pairs)
            assert alike == (one is other), f"{one.name} and {other.name}"


@by_name
def test_cases_are_the_same_at_every_call_and_the_smallest_comes_first(name):
    exercise = find(name)
    assert repr(exercise.cases()) == repr(exercise.cases())
    assert len(exercise.cases()) >= 2 or not callable(exercise.answer)


@by_name
def test_every_input_in_a_message_has_its_name(name):
    assert {len(case) for case in find(name).cases()} == {len(find(name).input_names())}


@by_name
def test_an_exercise_says_what_a_learner_needs(name):
    exercise = find(name)
    assert len(exercise.mistakes) >= 5
    assert len(exercise.hints) == 3 and len(set(exercise.hints)) == 3
    assert exercise.difficulty in (1, 2, 3) and 1 <= exercise.minutes <= 45
    assert len(exercise.goal) >= 40 and exercise.answer.__doc__
    assert bool(exercise.formula) <= bool(exercise.source)
    says = [mistake.says for mistake in exercise.mistakes]
    assert len(set(says)) == len(says) and min(map(len, says)) >= 40


@by_name
def test_there_are_right_answers_in_unusual_forms(name):
    assert len(RIGHT.get(name, {})) >= 4, "right.py of its lesson holds at least four"


@each(RIGHT)
def test_a_right_answer_in_an_unusual_form_passes(name, answer):
    feedback = examine(find(name), answer)
    assert feedback.state == "right", feedback


@each(UNLIKE)
def test_a_mistake_unlike_any_in_the_bank_is_rejected(name, answer):
    feedback = examine(find(name), answer)
    assert feedback.state == "wrong", feedback


def test_all_diagnoses_are_different():
    says = [mistake.says for _, mistake in MISTAKES]
    assert len(set(says)) == len(says)


COPIED = 0.7  # the highest of the course is 0.67; the lowest of those that were copies, below, is 0.75
COPIES = {  # solutions that exercises of self_attention had until a learner's eye found them in its cells
    "weights": "(Q @ K.T / math.sqrt(Q.shape[-1])).softmax(dim=-1)",
    "a head": """
Q, K, V = x @ W_q, x @ W_k, x @ W_v
scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
scores.softmax(dim=-1) @ V
""",
    "cross-attention": """
Q, K, V = x @ W_q, memory @ W_k, memory @ W_v
weights = (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(dim=-1)
weights @ V, weights
""",
    "the matrix of derivatives": """
p = z.softmax(dim=-1)
torch.diag(p) - torch.outer(p, p)
""",
}


@cache
def cells_of(lesson: str) -> list[str]:
    """The code cells of a lesson's notebook, without its exercises and its set-up cell."""
    path = ROOT / "notebooks" / f"{LESSONS[lesson].stem}.ipynb"
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    own = [cell.source for cell in cells if not cell.id.startswith("exercise-")]
    return [source for source in own if not source.startswith("# Set-up")]


@by_name
def test_no_solution_is_a_copy_of_cells_of_its_notebook(name):
    assert overlap(find(name).solution_source(), cells_of(lesson_of()[name])) < COPIED


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_is_noticed(copy):
    assert overlap(COPIES[copy], cells_of("self_attention")) > COPIED


def test_whoever_copies_may_change_the_names_and_the_spelling():
    cell = "scores = q @ k.mT / d**0.5\nout = scores.softmax(-1) @ v"
    assert overlap("(torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(Q.shape[-1])).softmax(dim=-1)", [cell]) > 0.8
    assert overlap("(Q.T @ K / math.sqrt(Q.shape[0])).softmax(dim=0)", [cell]) == 0
    assert overlap("4 * D * D + 2 * D * F", ["4 * D * D + 2 * D * F"]) == 0  # a formula is nothing but its names


def test_no_two_exercises_share_a_name():
    names = [exercise.name for lesson in modules() for exercise in of_lesson(lesson)]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_few_are_solved_by_a_single_call():
    single = [name for name in NAMES if find(name).one_call]
    assert 4 * len(single) <= len(NAMES)


def test_every_notebook_with_exercises_has_enough_of_them_and_a_quiz():
    for lesson, module in modules().items():
        assert len(of_lesson(lesson)) >= 3, lesson
        assert len(getattr(module, "QUIZ", ())) >= 5, lesson


def longest_is_right(questions: list) -> tuple[float, float]:
    """How many questions are answered by always choosing the longest answer, and by chance."""
    found, by_chance = 0.0, 0.0
    for question in questions:
        most = max(len(choice.text) for choice in question.choices)
        longest = [choice for choice in question.choices if len(choice.text) == most]
        found += sum(choice.right for choice in longest) / len(longest)
        by_chance += 1 / len(question.choices)
    return found, by_chance


def test_whoever_always_chooses_the_longest_answer_of_a_quiz_does_no_better_than_chance():
    found, by_chance = longest_is_right([question for module in modules().values() for question in module.QUIZ])
    assert found <= by_chance


@pytest.mark.parametrize("lesson", modules())
def test_nor_in_a_single_notebook(lesson):
    found, by_chance = longest_is_right(modules()[lesson].QUIZ)
    assert found <= math.ceil(by_chance - 1e-9)


def test_a_quiz_whose_right_answers_are_mostly_the_longest_is_noticed():
    def question(right: str, wrong: str) -> Question:
        return Question("?", (Choice(wrong, "why"), Choice(right, "why", right=True), Choice("no", "why")))

    longest, other = question("a long one", "short"), question("short", "a long one")
    found, by_chance = longest_is_right([longest] * 4 + [other] * 2)
    assert found == 4 > math.ceil(by_chance - 1e-9) == 2
    assert longest_is_right([question("equal", "equal")])[0] == 0.5
