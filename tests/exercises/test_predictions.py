"""Predict, then reveal: what a notebook stores, what is kept of an answer, and which arguments are refused."""

import ast
import json

import ipywidgets
import nbformat
import pytest
from IPython.core.formatters import DisplayFormatter

from repository import COURSE
from tx_helpers.exercises import predict, predictions, solved
from tx_helpers.progress_file import FORMERLY, PREDICTIONS, progress_file

CHOICES = ["one of the `values`", "<b>their mean</b>", "zero"]


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(predictions, "_asked", {})


def stored(shown) -> tuple[str, str]:
    """What a notebook keeps of an output, without the widget's view."""
    data, _ = DisplayFormatter().format(shown)
    return data["text/html"], data["text/plain"]


def test_a_question_and_its_finding_are_stored_as_text_and_as_a_folded_form():
    guess = predict("hot", "What is the output at T → ∞?", CHOICES)
    html, text = stored(guess)
    assert text == (
        "Predict: What is the output at T → ∞?\n  a) one of the `values`\n  b) <b>their mean</b>\n  c) zero"
    )
    assert "<code>values</code>" in html and "&lt;b&gt;their mean&lt;/b&gt;" in html
    html, text = stored(guess.reveal(CHOICES[1], "All weights are 1/3."))
    assert text == "The answer is “<b>their mean</b>”. All weights are 1/3."
    assert html.startswith("<details><summary>") and "&lt;b&gt;" in html and "All weights are 1/3." in html


@pytest.mark.parametrize(
    ("right", "unit", "sentence"),
    [
        (87, "%", "It is 87 %."),
        (0.25, "", "It is 0.25."),
        ((85, 95), "%", "Any answer from 85 % to 95 % counts as right."),
        ([1, 2.5], "", "Any answer from 1 to 2.5 counts as right."),
    ],
)
def test_a_number_or_a_range_is_said_with_its_unit(right, unit, sentence):
    assert repr(predict("share", "How many?", unit=unit).reveal(right, "So it is.")) == f"{sentence} So it is."


def test_what_is_stored_does_not_depend_on_an_earlier_answer():
    def cells():
        guess = predict("hot", "What?", CHOICES)
        return guess, guess.reveal("zero", "So it is.")

    first = list(map(stored, cells()))
    cells()[0].answer = "zero"
    predictions._asked.clear()  # another kernel
    guess, finding = cells()
    assert guess.answer == finding.answer == "zero"
    assert list(map(stored, (guess, finding))) == first


def test_the_finding_follows_the_answer_whichever_was_shown_first():
    guess = predict("share", "How many?", unit="%")
    before = guess.reveal(87, "So it is.")
    guess.answer = 40
    assert before.answer == guess.reveal(87, "So it is.").answer == 40


def test_a_question_shown_again_is_the_one_that_its_finding_knows():
    guess = predict("hot", "What?", CHOICES)
    assert predict("hot", "What?", CHOICES) is guess
    assert predict("hot", "What else?", CHOICES) is not guess


def test_the_first_answer_is_kept_beside_the_exercises():
    solved.note("attention_weights", right=True)
    predict("hot", "What?", CHOICES).answer = "zero"
    predict("hot", "What?", CHOICES).answer = CHOICES[0]
    solved.note("one_head", right=False)
    assert solved.guesses() == {"hot": "zero"}
    assert sorted(solved.read()) == ["attention_weights", "one_head"]


def test_an_answer_that_is_no_longer_a_choice_is_forgotten_and_a_spoilt_file_is_begun_again():
    solved.note_guess("hot", "something else")
    assert predict("hot", "What?", CHOICES).answer is None
    solved.note_guess("share", "zero")
    assert predict("share", "How many?").answer is None
    for spoilt in ("[1, 2", '{"the-predictions": 3}'):
        progress_file().write_text(spoilt)
        predict("more", spoilt, CHOICES).answer = "zero"
        assert solved.guesses() == {"more": "zero"}


def test_a_file_from_before_there_were_predictions_is_read():
    entry = {"right": True, "tries": 1, "mistakes": [], "first": "2026", "last": "2026"}
    progress_file().write_text(json.dumps({"one_head": entry}))
    assert solved.guesses() == {} and solved.read() == {"one_head": entry | {"hints": [], "hints_before": 0}}
    predict("hot", "What?", CHOICES).answer = "zero"
    assert solved.read() == {"one_head": entry | {"hints": [], "hints_before": 0}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("05-hot", "What?"), "key is '05-hot', expected a name such as 'one-head'"),
        ((4, "What?"), "key is 4, expected a name such as 'one-head'"),
        (("hot", " "), "question is ' ', expected a text"),
        (("hot", None), "question is None, expected a text"),
        (("hot", "What?", "abc"), "choices is 'abc', expected two to four texts"),
        (("hot", "What?", ["a"]), r"choices are \['a'\], expected two to four texts"),
        (("hot", "What?", list("abcde")), "expected two to four texts"),
        (("hot", "What?", ["a", ""]), "expected two to four texts"),
        (("hot", "What?", [1, 2]), "expected two to four texts"),
        (("hot", "What?", ["a", "a"]), "expected choices that differ"),
    ],
)
def test_a_wrong_question_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        predict(*arguments)
    with pytest.raises(ValueError, match="no unit for them"):
        predict("hot", "What?", CHOICES, unit="%")


@pytest.mark.parametrize("right", ["four", 1, None, [0, 1]])
def test_what_is_right_is_one_of_the_choices(right):
    with pytest.raises(ValueError, match="expected one of"):
        predict("hot", "What?", CHOICES).reveal(right, "So it is.")


@pytest.mark.parametrize("right", ["87", None, True, float("nan"), (1, 2, 3), (2, 1), (1, "2"), []])
def test_what_is_right_is_a_number_or_a_range(right):
    with pytest.raises(ValueError, match="expected a number or a range"):
        predict("share", "How many?").reveal(right, "So it is.")


@pytest.mark.parametrize("text", ["", " ", None, 3])
def test_a_finding_has_a_text(text):
    with pytest.raises(ValueError, match="expected the finding in words"):
        predict("share", "How many?").reveal(1, text)


def test_the_static_form_is_shown_by_an_ipywidgets_that_displays_its_widgets_itself(monkeypatch):
    """As version 7 does, which Colab has."""
    monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", lambda self: None, raising=False)
    assert "What?" in stored(predict("hot", "What?", CHOICES))[0]


# --- in the notebooks ------------------------------------------------------------------------------------------------


def asked(cells: list[str]) -> list[tuple[str, list[str], object]]:
    """The key, the choices and the right one (None if it is computed) of each prediction that code cells reveal."""
    found, waiting = [], {}
    for statement in ast.parse("\n".join(cells)).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.value).startswith("predict("):
            call = statement.value
            listed = [*call.args[2:], *(keyword.value for keyword in call.keywords if keyword.arg == "choices")]
            choices = ast.literal_eval(listed[0]) if listed else []
            waiting[ast.unparse(statement.targets[0])] = (ast.literal_eval(call.args[0]), choices)
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reveal":
                right = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
                found.append((*waiting[ast.unparse(node.func.value)], right))
    return found


def given_away(predictions: list[tuple[str, list[str], object]]) -> list[str]:
    """What an impatient learner may always choose, and be right more often than not."""
    pairs = [(choices, right) for _, choices, right in predictions if choices and right in choices]
    tricks = {
        "the longest": sum(len(right) == max(map(len, choices)) for choices, right in pairs),
        "the first": sum(right == choices[0] for choices, right in pairs),
        "the last": sum(right == choices[-1] for choices, right in pairs),
    }
    return [
        f"{trick} is right in {count} of {len(pairs)}" for trick, count in tricks.items() if 2 * count > len(pairs) + 1
    ]


def predictions_of(path) -> list[tuple[str, list[str], object]]:
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return asked([source for source in cells if "predict" in source or ".reveal(" in source])


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_no_place_and_no_length_gives_the_right_choice_away(path):
    assert given_away(predictions_of(path)) == []


def test_a_key_belongs_to_one_question_of_the_course():
    keys = [key for path in COURSE for key, *_ in predictions_of(path)]
    assert len(set(keys)) == len(keys)


def test_what_was_stored_under_a_key_with_a_number_is_found():
    old = {"05-share": 20, "04-order": "first", "12-order": "second", "new-one": 7}
    progress_file().write_text(json.dumps({PREDICTIONS: old}))
    expected = {"share": 20, "order": "first", "early-text": "second", "new-one": 7}
    assert solved.guesses() == expected
    assert predict("share", "How many, in all?").answer == 20
    solved.note_guess("share", 30)  # the first is kept
    solved.note_guess("another", 1)
    assert solved.guesses() == expected | {"another": 1}


def test_a_renamed_key_is_one_of_the_course():
    keys = {key for path in COURSE for key, *_ in predictions_of(path)}
    assert set(FORMERLY.values()) - keys == set()


def test_predictions_are_found_and_what_gives_them_away_too():
    cells = [
        'a = predict("a", "What?", ["yes", "no"])\na',
        'b = predict("b", "What?", unit="%")\na.reveal("yes", f"It is {x}.")\nb.reveal(3, "")',
        'a = predict("c", "What?", choices=["by far the longest", "no", "so"])',
        'a.reveal("by far the longest", "")',
    ]
    longest = ["by far the longest", "no", "so"]
    assert asked(cells) == [("a", ["yes", "no"], "yes"), ("b", [], 3), ("c", longest, longest[0])]
    assert given_away(asked(cells)) == ["the longest is right in 2 of 2", "the first is right in 2 of 2"]
    assert given_away([("a", ["yes", "no"], "yes"), ("b", ["yes", "no"], "no")]) == []
