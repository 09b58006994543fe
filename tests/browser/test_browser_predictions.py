"""Predictions and their findings in JupyterLab and Notebook 7: by mouse, by keyboard, and while the kernel is busy."""

import pytest

from browser_harness import BOTH, KERNEL, front_end
from small_notebooks import write_cells

pytestmark = pytest.mark.slow
CELLS = (
    "import os, tempfile, time\nos.environ['TX_PROGRESS'] = tempfile.mkdtemp() + '/progress.json'",
    "from tx_helpers.exercises import predict, solved\nhot = predict('hot', 'Which?', ['one', 'two', 'three'])\nhot",
    "hot.reveal('two', 'Since 1 + 1 is 2.')",
    "share = predict('share', 'How many?', unit='%')\nshare",
    "share.reveal((15, 35), 'A part of them.')",
    "busy = predict('busy', 'Is it?', ['yes', 'no'])\nbusy",
    "busy.reveal('yes', 'Indeed.')",
    "print(sorted(solved.guesses().items()))",
    "while not os.path.exists('go'):\n    time.sleep(0.05)",
)


@pytest.fixture(scope="module", params=BOTH)
def sheet(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    write_cells(folder / "predictions.ipynb", CELLS)
    (folder / "go").touch()
    with front_end(request.param, folder) as opened, opened("predictions.ipynb") as sheet:
        sheet.run_all()
        sheet.page.wait_for_selector(".tx-finding")
        sheet.go = folder / "go"  # the last cell runs until this file is there
        yield sheet


def finding(sheet, place: int) -> str:
    return sheet.page.locator(".tx-finding").nth(place).inner_text()


def run(sheet, place: int, *, wait: bool = True) -> None:
    """Run one cell."""
    select = f"const book = jupyterapp.shell.currentWidget.content; book.activeCellIndex = {place}"
    sheet.page.evaluate(f"() => {{ {select}; jupyterapp.commands.execute('notebook:run-cell') }}")
    sheet.wait(f"{KERNEL}.status === '{'idle' if wait else 'busy'}'", 60, "the cell did not run")
    sheet.settle()


def test_a_click_unfolds_the_finding(sheet):
    assert "two" not in finding(sheet, 0)
    sheet.page.get_by_role("button", name="three").click()
    assert finding(sheet, 0).startswith("You said “three”. The answer is “two”.")
    assert "Show it" in finding(sheet, 1)


def test_the_keyboard_gives_a_number(sheet):
    sheet.page.get_by_label("Your guess").focus()
    sheet.page.keyboard.type("20")
    sheet.page.keyboard.press("Enter")
    assert finding(sheet, 1).startswith("✓ You said 20 %. It lies between 15 % and 35 %.")


def test_a_busy_kernel_delays_no_finding_and_hears_of_the_answer_later(sheet):
    sheet.go.unlink()
    run(sheet, 8, wait=False)
    sheet.page.get_by_role("button", name="yes").click()
    assert finding(sheet, 2).startswith("✓ You said “yes”.")
    assert sheet.page.evaluate(f"{KERNEL}.status") == "busy"
    sheet.go.touch()
    sheet.wait(f"{KERNEL}.status === 'idle'", 60, "the kernel is still busy")
    run(sheet, 7)
    sheet.page.get_by_text("[('busy', 'yes'), ('hot', 'three'), ('share', 20)]").wait_for()


def test_a_cell_that_is_run_again_shows_the_answer(sheet):
    run(sheet, 2)
    run(sheet, 1)
    sheet.page.locator(".tx-predict [aria-pressed=true]", has_text="three").wait_for()
    sheet.page.locator(".tx-finding").nth(0).get_by_text("You said “three”").wait_for()


def test_nothing_is_amiss_in_either_theme(sheet):
    for theme in ("Light", "Dark"):
        sheet.set_theme(theme)
        assert sheet.axe_faults(".tx-predict") == sheet.axe_faults(".tx-finding") == []
    assert sheet.faults() == []
