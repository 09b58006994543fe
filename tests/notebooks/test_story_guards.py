"""Every guard of what a learner meets fails on a small bad notebook and passes on a good one."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import story_guards as guards
from notebook_frame import ANSWER, QUESTION
from small_notebooks import CLOSING, code, notebook, shown, stream

OPENING = new_markdown_cell("### Optional: counting the operations\n\nHow the cost grows with the length.")
TEXT = new_markdown_cell("A long derivation.")
END = new_markdown_cell("### What it costs")
TOY = code("from a import toy_explorer\n\ntoy_explorer()")
ASKED = code(f'{QUESTION}\nguess = predict("toy", "What happens?", ["this", "that"])\nguess')
FOUND = code(f'{ANSWER}\nguess.reveal("this", "Because.")')


def test_the_load_of_a_core_path():
    sixty = [new_markdown_cell("word " * 42) for _ in range(58)]
    assert guards.load(notebook(*sixty)) == []
    assert guards.load(notebook(*sixty, TEXT)) == [
        "the core path has 61 cells, expected at most 60; cut, or move to an optional section"
    ]
    assert guards.load(notebook(*sixty[1:], new_markdown_cell("word " * 90))) == [
        "the core path has 2505 words, expected at most 2500; cut, or move to an optional section"
    ]
    apart = [new_markdown_cell("## Exercises"), code("x"), new_markdown_cell("## Optional: more"), TEXT]
    assert guards.load(notebook(*sixty, *apart)) == []


def test_optional_sections():
    good = notebook(OPENING, TEXT, code("x"), END, TOY, new_markdown_cell(CLOSING))
    assert guards.optional_parts(good) == []
    name = "'Optional: counting the operations'"
    belongs = "which belongs on the core path"
    exercise = new_code_cell("check()", id="exercise-count")
    assert guards.optional_parts(notebook(OPENING, TOY, FOUND, exercise, END)) == [
        f"{name} hides an explorer, {belongs}",
        f"{name} hides a prediction, {belongs}",
        f"{name} hides an exercise, {belongs}",
    ]
    assert guards.optional_parts(notebook(OPENING, END)) == [f"{name}: nothing is folded away below it"]
    assert guards.optional_parts(notebook(OPENING, TEXT, new_markdown_cell("So much for that.\n\n## Next"))) == [
        f"{name}: the cell behind it does not begin with the heading at which it ends"
    ]
    long = new_markdown_cell(OPENING.source + " word" * 40)
    assert guards.optional_parts(notebook(long, TEXT, END)) == [
        f"{name}: its first cell stays in sight; leave the heading and 40 words in it"
    ]
    assert guards.optional_parts(notebook(new_markdown_cell("Before.\n\n### Optional: late"), TEXT, END)) == [
        "cell 3: 'Optional: late' is not the cell's first line, so it is not folded"
    ]


def test_the_core_path_goes_on_without_the_optional_sections():
    both = code("import math\n\nwidth = 4")
    uses = code("print(width, math.pi)")
    assert guards.needed_from_optional(notebook(both, OPENING, code("width = 5"), END, uses)) == []
    assert guards.needed_from_optional(notebook(OPENING, both, code("print(width)"), END, uses)) == [
        "math of a core cell comes from an optional section alone",
        "width of a core cell comes from an optional section alone",
    ]
    again = code("import math\n\nwidth = 6")
    assert guards.needed_from_optional(notebook(OPENING, both, END, again, uses)) == []


def test_explorers_in_the_old_form():
    told = new_markdown_cell("## Part\n\n### Explorer: a toy\n\nTurn it.\n\n**To find out:** what?")
    answer = new_markdown_cell("**What you should have found.** That.\n\n## Next")
    assert guards.untold_explorers(notebook(told, code("x = 1"), TOY, code("y = 1"), answer)) == []
    assert guards.untold_explorers(notebook(told, TOY, answer, code(TOY.source))) == [
        "toy_explorer(…) stands below '## Next', expected '### Explorer: …'",
        "toy_explorer(…): no prediction, nor '**To find out:**', between its heading and it",
        "toy_explorer(…): no reveal, nor '**What you should have found.**', before the next heading",
    ]


def test_explorers_with_a_prediction():
    heading = new_markdown_cell("### Explorer: a toy\n\nTurn it.")
    assert guards.untold_explorers(notebook(heading, ASKED, TOY, FOUND, END)) == []
    (unasked,) = guards.untold_explorers(notebook(ASKED, heading, TOY, FOUND, END))
    assert "no prediction" in unasked
    (unsaid,) = guards.untold_explorers(notebook(heading, ASKED, TOY, END, FOUND))
    assert "no reveal" in unsaid


@pytest.mark.parametrize(
    ("cells", "finding"),
    [
        ([ASKED], "guess = predict(…) is never revealed"),
        ([FOUND, ASKED, code(FOUND.source)], "guess.reveal(…) without an open guess = predict(…) before it"),
        ([ASKED, FOUND, code(FOUND.source)], "guess.reveal(…) without an open guess = predict(…) before it"),
        (
            [code(ASKED.source.replace("toy", "Toy")), FOUND],
            "guess = predict(…): expected a key such as 'one-head'",
        ),
    ],
)
def test_predictions(cells, finding):
    assert guards.predictions(notebook(ASKED, TEXT, FOUND)) == []
    assert guards.predictions(notebook(*cells)) == [finding]


def test_what_answers_a_prediction_stands_right_behind_it():
    assert guards.answers_in_sight(notebook(ASKED, code("f()"), code("g()"), FOUND)) == []
    (told,) = guards.answers_in_sight(notebook(ASKED, code("f()"), TEXT, code("g()"), FOUND))
    (far,) = guards.answers_in_sight(notebook(ASKED, *(code(f"f({n})") for n in range(4)), FOUND))
    assert told.startswith("'toy': 3 cells stand between") and far.startswith("'toy': 4 cells stand between")


def test_a_long_core_path_has_a_place_to_stop():
    header = new_markdown_cell("# 00 T\n\n**Time:** core path about 50 min · machine 1 min")
    stop, again = (new_markdown_cell("**Half-way stop.** You have the first half.") for _ in range(2))
    assert guards.half_way(new_notebook(cells=[header, TEXT, stop])) == []
    assert len(guards.half_way(new_notebook(cells=[header, TEXT]))) == 1
    assert len(guards.half_way(new_notebook(cells=[header, stop, again]))) == 1
    header.source = header.source.replace("50", "45")
    assert guards.half_way(new_notebook(cells=[header, TEXT])) == []


@pytest.mark.parametrize(
    ("source", "printed", "finding"),
    [
        ("print(f'{gap:.2f}')", "gap 0.05 (below 0.2)", "prints a band or a bound"),
        ("print(f'{gap:.2f}')", "logits of both: gap below 1e-10", "prints a band or a bound"),
        ("print(f'{gap:.2f}')", "right on between 2 and 35 %", "prints a band or a bound"),
        ("print('each is right on 80 % of the texts')", "", "prints a constant"),
        ("print(f'{gap:.2f}')", "gap 0.05", ""),
        ("print('after 100 steps:')", "after 100 steps:", ""),
    ],
)
def test_the_core_path_prints_what_was_measured(source, printed, finding):
    cell = code(source, *([stream(printed + "\n")] if printed else []))
    found = guards.unmeasured_lines(notebook(cell))
    assert [one.split(":")[0].startswith(finding) for one in found] == ([True] if finding else [])
    assert guards.unmeasured_lines(notebook(new_markdown_cell("## Optional: more"), cell)) == []


def test_lines_that_say_true():
    cells = [
        code("f()", stream("below 0.1: True\nrow [True, False]\n\n0.05 (below 0.1)\n")),
        code("g()", shown(png="iVBO", plain="True")),
    ]
    lines = guards.printed_lines(notebook(*cells))
    assert len(lines) == 3
    assert guards.lines_of_truth(lines) == ["below 0.1: True"]
