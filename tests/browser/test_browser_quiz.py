"""Quiz, verdict and progress in Chromium, in JupyterLab and in Notebook 7, by mouse and by keyboard."""

import pytest

from browser_harness import BOTH, front_end
from small_notebooks import write_cells
from tx_helpers.lessons.self_attention.exercises import QUIZ

pytestmark = pytest.mark.slow
CELLS = (
    "import os, tempfile\nos.environ['TX_PROGRESS'] = tempfile.mkdtemp() + '/progress.json'",
    "from tx_helpers.exercises import check, progress, quiz\nlive = quiz('self_attention')\nlive",
    "check('attention_weights', lambda Q, K: (Q.T @ K).softmax(-1))",
    "progress()",
)


@pytest.fixture(scope="module", params=BOTH)
def sheet(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    write_cells(folder / "quiz.ipynb", CELLS)
    with front_end(request.param, folder) as opened, opened("quiz.ipynb") as sheet:
        sheet.run_all()
        sheet.page.wait_for_selector(".tx-quiz fieldset")
        yield sheet


def test_a_choice_by_mouse_shows_its_reason_and_counts(sheet):
    field = sheet.page.locator(".tx-quiz fieldset").first
    for place, choice in enumerate(QUIZ[0].choices):
        field.locator("input").nth(place).click()
        said = field.get_by_role("status").inner_text()
        assert said == f"{'✓ Right.' if choice.right else '✗ No.'} {choice.why}"
        score = sheet.page.locator(".tx-quiz .tx-score").inner_text()
        assert score == f"{int(choice.right)} of {len(QUIZ)} right"


def test_arrow_keys_go_through_the_choices(sheet):
    field = sheet.page.locator(".tx-quiz fieldset").nth(1)
    field.locator("input").first.focus()
    sheet.page.keyboard.press("Space")
    for choice in QUIZ[1].choices:
        assert choice.why in field.get_by_role("status").inner_text()
        sheet.page.keyboard.press("ArrowDown")


def test_nothing_is_amiss_in_either_theme(sheet):
    for theme in ("Light", "Dark"):
        sheet.set_theme(theme)
        assert sheet.axe_faults(".tx-quiz") == []
    text = sheet.page.locator("body").inner_text()
    assert "The division by √d_k is missing" in text
    assert sheet.page.locator('[aria-label*="exercises solved"], img[alt*="exercises solved"]').count() >= 1
    assert sheet.faults() == []
