"""What a learner answers and unfolds, in JupyterLab and Notebook 7: predictions and findings by mouse, by keyboard
and while the kernel is busy; quiz, verdict and progress; and what is folded when a notebook is opened, there and on a
page of the web edition: the optional sections, and the code of cells tagged `hide-input`."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from browser_harness import BOTH, KERNEL, front_end, is_foreign
from refresh_notebooks import fold
from site_cells import body
from small_notebooks import write_cells
from tx_helpers.lessons.self_attention.exercises import QUIZ

pytestmark = pytest.mark.slow
PROGRESS = "import os, tempfile, time\nos.environ['TX_PROGRESS'] = tempfile.mkdtemp() + '/progress.json'"
PREDICTIONS = (
    PROGRESS,
    "from tx_helpers.exercises import predict, solved\nhot = predict('hot', 'Which?', ['one', 'two', 'three'])\nhot",
    "hot.reveal('two', 'Since 1 + 1 is 2.')",
    "share = predict('share', 'How many?', unit='%')\nshare",
    "share.reveal((15, 35), 'A part of them.')",
    "busy = predict('busy', 'Is it?', ['yes', 'no'])\nbusy",
    "busy.reveal('yes', 'Indeed.')",
    "print(sorted(solved.guesses().items()))",
    "while not os.path.exists('go'):\n    time.sleep(0.05)",
)
QUESTIONS = (
    PROGRESS,
    "from tx_helpers.exercises import check, progress, quiz\nlive = quiz('self_attention')\nlive",
    "check('attention_weights', lambda Q, K: (Q.T @ K).softmax(-1))",
    "progress()",
    "from tx_helpers.exercises import concept_test\nconcept_test('before')",
)
FOLDED = "07_folded.ipynb"
IN_SIGHT = """text => [...document.querySelectorAll(".jp-Cell *, .cell *")].some(element =>
    element.children.length < 3 && element.innerText?.includes(text) && element.checkVisibility())"""


def notebook():
    made = new_notebook(
        cells=[
            new_markdown_cell("# 07 Folded"),
            new_markdown_cell("### Optional: a proof\n\nAn opening."),
            new_markdown_cell("A derivation, with\n\n#### a smaller heading"),
            new_code_cell("x = 5\nprint('proved')"),
            new_markdown_cell("### The next part"),
            new_code_cell("print('after', x + 1)  # a comment", metadata={"tags": ["hide-input"]}),
            new_code_cell("print('plain', x + 2)"),
        ]
    )
    fold(made)
    return made


@pytest.fixture(scope="module", params=BOTH)
def opened(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    write_cells(folder / "predictions.ipynb", PREDICTIONS)
    write_cells(folder / "quiz.ipynb", QUESTIONS)
    nbformat.write(notebook(), folder / FOLDED)
    with front_end(request.param, folder) as opened:
        opened.folder = folder
        yield opened


# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def predictions(opened):
    go = opened.folder / "go"  # the last cell runs until this file is there
    go.touch()
    with opened("predictions.ipynb") as sheet:
        sheet.run_all()
        sheet.page.wait_for_selector(".tx-finding")
        sheet.go = go
        yield sheet


def finding(predictions, place: int) -> str:
    return predictions.page.locator(".tx-finding").nth(place).inner_text()


def run(predictions, place: int, *, wait: bool = True) -> None:
    """Run one cell."""
    select = f"const book = jupyterapp.shell.currentWidget.content; book.activeCellIndex = {place}"
    predictions.page.evaluate(f"() => {{ {select}; jupyterapp.commands.execute('notebook:run-cell') }}")
    predictions.wait(f"{KERNEL}.status === '{'idle' if wait else 'busy'}'", 60, "the cell did not run")
    predictions.settle()


def test_a_click_unfolds_the_finding(predictions):
    assert "two" not in finding(predictions, 0)
    predictions.page.get_by_role("button", name="three").click()
    assert finding(predictions, 0).startswith("You said “three”. The answer is “two”.")
    assert "Show it" in finding(predictions, 1)


def test_the_keyboard_gives_a_number(predictions):
    predictions.page.get_by_label("Your guess").focus()
    predictions.page.keyboard.type("20")
    predictions.page.keyboard.press("Enter")
    assert finding(predictions, 1).startswith("✓ You said 20 %. Any answer from 15 % to 35 % counts as right.")


def test_a_busy_kernel_delays_no_finding_and_hears_of_the_answer_later(predictions):
    predictions.go.unlink()
    run(predictions, 8, wait=False)
    predictions.page.get_by_role("button", name="yes").click()
    assert finding(predictions, 2).startswith("✓ You said “yes”.")
    assert predictions.page.evaluate(f"{KERNEL}.status") == "busy"
    predictions.go.touch()
    predictions.wait(f"{KERNEL}.status === 'idle'", 60, "the kernel is still busy")
    run(predictions, 7)
    predictions.page.get_by_text("[('busy', 'yes'), ('hot', 'three'), ('share', 20)]").wait_for()


def test_a_cell_that_is_run_again_shows_the_answer(predictions):
    run(predictions, 2)
    run(predictions, 1)
    predictions.page.locator(".tx-predict [aria-pressed=true]", has_text="three").wait_for()
    predictions.page.locator(".tx-finding").nth(0).get_by_text("You said “three”").wait_for()


def test_nothing_is_amiss_with_predictions_in_either_theme(predictions):
    for theme in ("Light", "Dark"):
        predictions.set_theme(theme)
        assert predictions.axe_faults(".tx-predict") == predictions.axe_faults(".tx-finding") == []
    assert predictions.faults() == []


# --- quiz, verdict and progress ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def questions(opened):
    with opened("quiz.ipynb") as sheet:
        sheet.run_all()
        sheet.page.wait_for_selector(".tx-quiz fieldset")
        yield sheet


def test_a_choice_by_mouse_shows_its_reason_and_counts(questions):
    field = questions.page.locator(".tx-quiz fieldset").first
    for place, choice in enumerate(QUIZ[0].choices):
        field.locator("input").nth(place).click()
        said = field.get_by_role("status").inner_text()
        assert said == f"{'✓ Right.' if choice.right else '✗ No.'} {choice.why}"
        score = questions.page.locator(".tx-quiz .tx-score").first.inner_text()
        assert score == f"{int(choice.right)} of {len(QUIZ)} right"


def test_arrow_keys_go_through_the_choices(questions):
    field = questions.page.locator(".tx-quiz fieldset").nth(1)
    field.locator("input").first.focus()
    questions.page.keyboard.press("Space")
    for choice in QUIZ[1].choices:
        assert choice.why in field.get_by_role("status").inner_text()
        questions.page.keyboard.press("ArrowDown")


def test_the_concept_test_counts_answers_and_tells_nothing(questions):
    test = questions.page.get_by_role("group", name="Concept test, before the course", exact=True)
    for place in (1, 0):
        test.locator("fieldset").nth(2).locator("input").nth(place).click()
        assert test.locator(".tx-score").inner_text() == "1 of 20 answered"
    assert "".join(test.locator("fieldset [role=status]").all_inner_texts()) == ""


def test_nothing_is_amiss_with_a_quiz_in_either_theme(questions):
    for theme in ("Light", "Dark"):
        questions.set_theme(theme)
        assert questions.axe_faults(".tx-quiz") == []
    text = questions.page.locator("body").inner_text()
    assert "The division by √d_k is missing" in text
    assert questions.page.locator('[aria-label*="exercises solved"], img[alt*="exercises solved"]').count() >= 1
    assert questions.faults() == []


# --- what is folded ---------------------------------------------------------------------------------------------------


def seen(page, *texts: str) -> list[bool]:
    return [page.evaluate(IN_SIGHT, text) for text in texts]


def test_what_is_optional_is_folded(opened):
    with opened(FOLDED) as sheet:
        sheet.page.locator("button", has_text="cells hidden").wait_for()
        sheet.page.locator("h3", has_text="The next part").wait_for()
        assert seen(sheet.page, "An opening", "The next part", "A derivation", "x = 5") == [True, True, False, False]
        sheet.run_all()
        assert seen(sheet.page, "after 6", "plain 7", "proved") == [True, True, False]
        editors = sheet.page.locator(".jp-CodeCell:not(.lm-mod-hidden) .cm-content:visible").all_inner_texts()
        assert editors == ["print('plain', x + 2)"]
        sheet.page.locator("button", has_text="cells hidden").click()
        assert seen(sheet.page, "proved", "A derivation") == [True, True]
        assert sheet.faults() == []

        page = sheet.page.context.new_page()
        page.route(is_foreign, lambda route: route.abort())
        page.set_content(body(notebook()).html)
        assert seen(page, "An opening", "The next part", "A derivation", "proved") == [True, True, False, False]
        assert seen(page, "a comment", "plain") == [False, True]
        for folded in ("Show this section", "Show code"):
            page.get_by_text(folded).click()
        assert seen(page, "A derivation", "a comment") == [True, True]
