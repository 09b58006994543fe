"""A notebook that was run, saved and shut opens with its pictures, in JupyterLab and Notebook 7; its answers wait."""

import nbformat
import pytest

from browser_harness import BOTH, KERNEL, Sheet, front_end
from small_notebooks import write_cells

pytestmark = pytest.mark.slow
CELLS = (
    "# Set-up\nimport tx_helpers",
    "from tx_helpers.exercises import predict\nhot = predict('hot', 'Which?', ['one', 'two', 'three'])\nhot",
    "print('it is two')",
    "hot.reveal('two', 'Since 1 + 1 is 2.')",
    "share = predict('share', 'How many?', unit='%')\nshare",
    "print('just twenty')",
    "share.reveal((15, 35), 'A part of them.')",
    "from tx_helpers.show.explore import Explore\nfrom tx_helpers.show.plots import Svg\n\n\n"
    "def draw(n):\n"
    "    return Svg(f'<svg viewBox=\"0 0 9 9\"><circle r=\"{n}\"/></svg>', alt=f'A circle of radius {n}.')\n\n\n"
    "Explore(draw, name='circle', n=(1, 4))",
)


@pytest.fixture(scope="module", params=BOTH)
def opened(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    write_cells(folder / "saved.ipynb", CELLS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TX_PROGRESS", str(folder / "progress.json"))  # for the server and, from it, the kernels
        with front_end(request.param, folder) as opened:
            opened.folder = folder
            yield opened


def seen(sheet: Sheet, text: str) -> bool:
    """Whether the text of an output is in sight."""
    return sheet.page.locator(".jp-OutputArea-output").get_by_text(text).locator("visible=true").count() > 0


def ready(sheet: Sheet) -> None:
    sheet.wait(f"{KERNEL}?.status === 'idle' && {KERNEL}.connectionStatus === 'connected'", 180, "no kernel")
    sheet.settle()


def test_outputs_wait_for_the_prediction_and_a_shut_notebook_shows_pictures(opened):
    with opened("saved.ipynb") as sheet:
        sheet.run_all()
        page = sheet.page
        assert not seen(sheet, "it is two") and not seen(sheet, "just twenty")
        page.get_by_role("button", name="three").click()
        page.locator(".jp-OutputArea-output").get_by_text("it is two").wait_for(state="visible")
        assert not seen(sheet, "just twenty")
        sheet.wait("!document.querySelector('details[data-key=hot]')", 60, "the kernel shows nothing")
        sheet.save()
        page.reload()  # the kernel goes on
        ready(sheet)
        page.get_by_role("button", name="three").wait_for()
        assert "To wake them" not in page.content() and sheet.faults() == []
        page.get_by_role("button", name="Show me").last.click()
        page.locator(".jp-OutputArea-output").get_by_text("just twenty").wait_for(state="visible")
        assert "A part of them." in page.locator(".tx-finding").last.inner_text()
    for _ in range(2):  # opened, saved, and opened again
        with opened("saved.ipynb") as sheet:
            page = sheet.page
            page.get_by_text("To wake them").wait_for()
            ready(sheet)
            page.reload()  # a kernel goes on that has run nothing
            page.get_by_text("To wake them").wait_for()
            ready(sheet)
            assert page.get_by_text("model not found").count() == 0 and sheet.faults() == []
            assert not page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty")
            page.locator(".jp-OutputArea-output svg, .jp-OutputArea-output img").last.wait_for()
            assert seen(sheet, "it is two") and not seen(sheet, "just twenty")  # only the first was answered
            page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty = true")
            sheet.save()
        stored = nbformat.read(opened.folder / "saved.ipynb", as_version=4)
        assert "To wake them" not in str(stored) and stored.metadata.get("widgets") is None
