"""Every exercise of the course: its solution passes, its mistakes are named, unusual right answers pass."""

import itertools
import math
import sys
from functools import cache

import nbformat
import pytest
import torch

from answer_forms import FORMS, in_form
from copying import overlap
from lesson_files import lesson_files
from notebook_frame import ROOT
from tx_helpers.exercises.catalogue import find, lesson_of, modules, of_lesson
from tx_helpers.exercises.checks import examine
from tx_helpers.exercises.compare import difference
from tx_helpers.exercises.concepts import QUESTIONS as CONCEPTS
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.quizzes import Choice, Question
from tx_helpers.lessons.scaling_up.simulated.collectives import all_reduce
from tx_helpers.lessons.scaling_up.simulated.schedules import gpipe


def answers(kind: str) -> dict[str, dict[str, object]]:
    """ "right" or "unlike": exercise -> {name: answer}, from all files of that kind."""
    table = {}
    for module in lesson_files(f"{kind}*.py"):
        table |= getattr(module, kind.upper())
    return table


NAMES = sorted(lesson_of())
RIGHT, UNLIKE = answers("right"), answers("unlike")


OF_ANOTHER_FORM = {  # mistakes that many make first: numbers where truth values are asked for, or another shape
    ("next_id", "every_row"),
    ("next_id", "every_row_of_the_sentence"),
    ("next_id", "value_and_place"),
    ("read_words", "last_state_alone"),
    ("look_back", "context_first"),
    ("scored", "one_share_for_all"),
    ("scored", "keys_are_texts"),
    ("share_by_kind", "kinds_without_a_right_one"),
    ("newton_schulz", "columns_for_rows"),
    ("newton_schulz", "returned_transposed"),
    ("split_heads", "never_transposed"),
    ("split_heads", "heads_in_front"),
    ("split_heads", "features_before_positions"),
    ("join_heads", "heads_added_up"),
    ("join_heads", "one_mean_of_all"),
    ("join_heads", "one_below_the_other"),
    ("cross_attention", "weights_first"),
    ("cross_attention", "batch_first"),
    ("attention_in_pieces", "last_piece_lost"),
    ("split_packed", "packed_never_transposed"),
    ("padding_keys", "padding_without_two_axes"),
    ("padding_keys", "padding_without_one_axis"),
    ("padding_keys", "padding_in_numbers"),
    ("decoder_mask", "mask_in_numbers"),
    ("hinges_through", "ends_missing"),
    ("read_the_stream", "first_reading_missing"),
    ("read_the_stream", "last_reading_missing"),
    ("read_the_stream", "joined"),
    ("no_look_ahead", "back_in_numbers"),
    ("no_look_ahead", "back_to_be_added"),
    ("window_mask", "window_in_numbers"),
    ("cached_mask", "cached_in_numbers"),
    *(("read_words", name) for name in ("initial_state_kept", "not_stacked")),
    ("rnn_states", "padding_left_out"),
    *(("sentence_back", name) for name in ("no_gaps_at_all", "first_column_as_it_is", "from_position_0")),
    ("sentence_back", "too_long_at_the_end"),
    ("cross_attention", "time_as_batch"),
}
by_name = pytest.mark.parametrize("name", NAMES)


def offenders(check) -> dict[str, object]:
    """The exercises about which check(exercise) has something to say."""
    return {name: said for name in NAMES if (said := check(find(name)))}


@by_name
def test_the_solution_passes_and_the_starter_counts_as_not_attempted(name):
    exercise, namespace = find(name), {"torch": torch}  # which the section's first cell imports
    feedback = examine(exercise, exercise.answer)
    assert feedback.state == "right", feedback
    assert "\n" not in feedback.text, f"a remark on the solution itself: {feedback.text}"
    if exercise.inline:  # it stands below the cells that define what it uses
        namespace |= vars(sys.modules[exercise.answer.__module__])
    exec(compile(exercise.starter(), "starter", "exec"), namespace)
    assert exercise.answer.__name__ == name, "the solution bears the exercise's name"
    assert examine(exercise, namespace[name]).state == "open"


@by_name
def test_a_mistake_is_right_in_form_and_is_rejected_and_named(name, record_property):
    exercise = find(name)
    rights, wrong = exercise.results()["solution"], {}
    for mistake in exercise.mistakes:
        feedback = examine(exercise, mistake.answer)
        if (feedback.state, feedback.mistake) != ("wrong", mistake.name) or mistake.says not in feedback.text:
            wrong[mistake.name] = feedback
        pairs = zip(exercise.results()[mistake.name], rights, strict=True)
        steps = {found.step for found in (difference(mine, its, exercise.tolerance) for mine, its in pairs) if found}
        if not steps <= (
            {"kind", "dtype", "shape", "value"} if (name, mistake.name) in OF_ANOTHER_FORM else {"value", "finite"}
        ):
            wrong[mistake.name] = steps
    assert wrong == {}, "each is wrong, in its numbers alone (or in OF_ANOTHER_FORM), and no other gives these numbers"
    record_property("answers", len(exercise.mistakes))


REFUSED = {  # these are about the tape itself
    ("clipped_step", "in NumPy"): "no gradient reaches log_p",
    ("clipped_step", "as a list"): "no gradient reaches log_p",
    ("measured_output", "on the tape"): "You kept the graph",
}


@by_name
def test_a_solution_passes_in_every_form(name):
    exercise = find(name)
    if isinstance(exercise.answer, type):
        return  # what a class gives goes on into its other methods
    for form, change in FORMS.items():
        said = examine(exercise, in_form(exercise.answer, change))
        told = REFUSED.get((name, form))
        assert (said.state == "right") if told is None else (told in said.text), f"{form}: {said.text}"


@by_name
def test_another_algorithm_passes(name, record_property):
    feedback = {other: examine(find(name), answer) for other, answer in RIGHT.get(name, {}).items()}
    assert {other: said for other, said in feedback.items() if said.state != "right"} == {}
    record_property("answers", len(feedback))


@pytest.mark.parametrize("name", UNLIKE)
def test_a_mistake_unlike_any_in_the_bank_is_rejected(name, record_property):
    feedback = {other: examine(find(name), answer) for other, answer in UNLIKE[name].items()}
    assert {other: said for other, said in feedback.items() if said.state != "wrong"} == {}
    record_property("answers", len(feedback))


TOLD = {  # what was told badly once: (exercise, answer) -> what the learner reads
    "nothing returned": ("training_step", lambda *_: print("loss"), "training_step returned None; is a `return` miss"),
    "a run's own names": ("greedy", lambda *_: print(), "your new ids: None (is a `return` missing?)"),
    "one list": (
        "alternating_schedule",
        lambda p, m: gpipe(p, m)[0],
        "is one list of actions, expected a list of",
    ),
    "a number to add up": (
        "sharded_step",
        lambda rank, *_: all_reduce(rank, 2),
        "the tensor is 2, expected a ten",
    ),
    "another group": ("split_feed_forward", UNLIKE["split_feed_forward"]["split_in_strides"], "the rank's own group"),
    "no batch": ("greedy", UNLIKE["greedy"]["greedy_without_the_batch_axis"], "the shape (1,), expected (1, T)"),
    "a run's article": ("sharded_step", lambda rank, part, *_: 3 * part, "your rank 0"),
    "too many axes": ("write_on", UNLIKE["write_on"]["write_on_with_an_axis_too_many"], "(1, 7), expected (V,)"),
}


@pytest.mark.parametrize("what", TOLD)
def test_an_unknown_mistake_is_told_in_the_learners_words(what):
    name, answer, says = TOLD[what]
    feedback = examine(find(name), answer)
    assert feedback.state == "wrong" and says in feedback.text, feedback


def test_a_warning_of_a_library_is_no_remark():
    def training_step(model, optimizer, batch, clip):
        logits = model.train()(batch.source, batch.decoder_input)
        loss = torch.nn.functional.cross_entropy(logits.mT, batch.target, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return float(loss)  # which warns: the loss has a gradient

    assert examine(find("training_step"), training_step).text == "right, on all 3 cases."


@pytest.mark.slow
def test_no_two_mistakes_look_alike():
    def alike(exercise):
        results = exercise.results()

        def same(one, other):
            pairs = zip(results[one.name], results[other.name], strict=True)
            return not any(difference(mine, its, 3 * exercise.tolerance) for mine, its in pairs)

        pairs = itertools.product(exercise.mistakes, repeat=2)
        return [(one.name, other.name) for one, other in pairs if same(one, other) != (one is other)]

    assert offenders(alike) == {}


def test_cases_are_the_same_at_every_call_and_their_inputs_have_names():
    def wrong(exercise):
        cases, names = exercise.cases(), exercise.input_names()
        few = len(cases) < 2 and callable(exercise.answer)
        return few or repr(cases) != repr(exercise.cases()) or {len(case) for case in cases} != {len(names)}

    assert offenders(wrong) == {}


@by_name
def test_an_exercise_says_what_a_learner_needs(name):
    exercise = find(name)
    assert len(exercise.mistakes) >= 5, "a bank holds at least five mistakes of each exercise"
    assert len(exercise.hints) == 3 and len(set(exercise.hints)) == 3
    assert exercise.difficulty in (1, 2, 3) and 1 <= exercise.minutes <= 45
    assert len(exercise.goal) >= 40 and exercise.answer.__doc__
    assert bool(exercise.formula) <= bool(exercise.source)
    assert min(len(mistake.says) for mistake in exercise.mistakes) >= 40
    assert len(RIGHT.get(name, {})) >= 2, "right.py of the lesson's tests holds at least two"
    assert name in UNLIKE, "unlike.py of the lesson's tests holds at least one"


def test_all_diagnoses_are_different():
    says = [mistake.says for name in NAMES for mistake in find(name).mistakes]
    assert [one for one in set(says) if says.count(one) > 1] == []


COPIED = 0.7  # the highest of the course is 0.67; the lowest of those that were copies, below, is 0.75
CELLS = [  # as notebooks showed them
    "Q, K, V = x @ W_q, x @ W_k, x @ W_v\nscores = Q @ K.mT / K.shape[-1] ** 0.5\nA = scores.softmax(-1)\nout = A @ V",
    "p = scores.softmax(-1)\nJ = torch.diag(p) - torch.outer(p, p)",
]
COPIES = {  # solutions that exercises of self_attention had until a learner's eye found them in such cells
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


@pytest.mark.slow
def test_no_solution_is_a_copy_of_cells_of_its_notebook():
    def copied(exercise):
        return overlap(exercise.solution_source(), cells_of(lesson_of()[exercise.name])) >= COPIED

    assert offenders(copied) == {}


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_is_noticed(copy):
    assert overlap(COPIES[copy], CELLS) > COPIED


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


def test_nor_in_a_single_notebook():
    shares = {lesson: longest_is_right(module.QUIZ) for lesson, module in modules().items()}
    shares["the concept test"] = longest_is_right(CONCEPTS)
    assert {lesson: found for lesson, found in shares.items() if found[0] > math.ceil(found[1] - 1e-9)} == {}


def test_a_quiz_whose_right_answers_are_mostly_the_longest_is_noticed():
    def question(right: str, wrong: str) -> Question:
        return Question("?", (Choice(wrong, "why"), Choice(right, "why", right=True), Choice("no", "why")))

    longest, other = question("a long one", "short"), question("short", "a long one")
    found, by_chance = longest_is_right([longest] * 4 + [other] * 2)
    assert found == 4 > math.ceil(by_chance - 1e-9) == 2
    assert longest_is_right([question("equal", "equal")])[0] == 0.5
