"""Every notebook as it opens, before anything is run: alive in JupyterLab, Notebook 7 and Firefox, nothing given away.

And after a run: what waits for a guess goes on waiting, saved, shut, opened again, and after F5.
"""

import json
import re
import shutil

import nbformat
import pytest

from browser_harness import COUNTS, NOTEBOOKS, WINDOW, Server, front_end
from firefox import RIGHT, firefox
from notebook_parts import REVEAL, waiting
from repository import COURSE

pytestmark = pytest.mark.slow
# Of the notebook in front: what each cell's outputs show as text; the tops of pictures, and the height that is seen;
# how far the page scrolls sideways.
SEEN = """(() => {
  const cells = [...document.querySelectorAll(".jp-Notebook .jp-Cell")];
  const pane = document.querySelector(".jp-WindowedPanel-outer");
  for (const cell of cells) cell.style.contentVisibility = "visible"; // Notebook 7 leaves out what is not in view
  const top = cells[0].getBoundingClientRect().top;
  const shown = (cell) => [...cell.querySelectorAll(".jp-OutputArea-output")].map((one) => one.innerText.trim());
  const pictures = document.querySelectorAll(".jp-Notebook :is(img, canvas, .jp-OutputArea-output svg)");
  const boxes = [...pictures].map((one) => one.getBoundingClientRect());
  return {
    texts: cells.map((cell) => shown(cell).join(" ")),
    tops: boxes.filter((box) => box.height > 60).map((box) => box.top - top),
    height: pane.clientHeight,
    aside: pane.scrollWidth - pane.clientWidth,
    dirty: Boolean(window.jupyterapp?.shell.currentWidget?.context?.model.dirty),
  };
})()"""
# All its outputs and pictures are in the page.
OPEN = """document.querySelectorAll(".jp-Notebook .jp-Cell").length === {cells}
    && document.querySelectorAll(".jp-OutputArea-output").length >= {outputs}
    && [...document.images].every((image) => image.complete)"""
RAW = re.compile(r"</?(img|div|span|p|b|details|summary|svg|table|style|pre)\b[^<]*>|&#x?\w+;")
FOLDED = re.compile(r"Waits for your guess above: (the (explorer|picture|numbers))|Trained for \d+ steps\.")
FIRST = {name for name in NOTEBOOKS if name < "10"}  # these show a picture in the first two screens


def faults_of(name: str, seen: dict, told: str | tuple[str, ...], opened: tuple[str, ...] = ()) -> list[str]:
    """What nobody should see in a notebook that has just opened.

    told     what a finding that waits begins with
    opened   the keys of the questions that were answered before
    """
    cells = nbformat.read(COURSE[NOTEBOOKS.index(name)], as_version=4).cells
    found = [f"cell {n}: raw HTML in sight: {m[0]}" for n, text in enumerate(seen["texts"]) if (m := RAW.search(text))]
    for n, key in waiting(cells).items():
        text = seen["texts"][n]
        if key not in opened and cells[n].get("outputs") and FOLDED.sub("", text).strip() + "." * (not text):
            found.append(f"cell {n}: in sight before the guess of {key!r}: {text[:80]!r}")
    for n, cell in enumerate(cells):
        text = seen["texts"][n].strip()
        if cell.cell_type == "code" and REVEAL.search(cell.source) and not text.startswith(told):
            found.append(f"cell {n}: the finding is in sight: {text[:80]!r}")
    if name in FIRST and not any(top < 2 * seen["height"] for top in seen["tops"]):
        found.append(f"no picture in the first two screens: {seen['tops'][:1]} of {2 * seen['height']} pixels")
    found += ["untouched, it asks to be saved"] if seen["dirty"] else []
    return found + ([f"{seen['aside']} pixels of it are to the side"] if seen["aside"] > 0 else [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unrun")
    for path in COURSE:
        shutil.copy(path, folder)
    return folder


def is_open(name: str) -> str:
    """The condition that all of a notebook of the course is in the page."""
    cells = nbformat.read(COURSE[NOTEBOOKS.index(name)], as_version=4).cells
    return OPEN.format(cells=len(cells), outputs=sum(len(cell.get("outputs", [])) for cell in cells))


FEW = [name for name in NOTEBOOKS if name[:2] in ("00", "04", "09", "10", "16")]  # what `make test` has time for


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        pytest.param("desk", FEW, id="desk"),
        pytest.param("desk", NOTEBOOKS, id="desk-all", marks=pytest.mark.thorough),
        pytest.param("notebook", NOTEBOOKS, id="notebook-all", marks=pytest.mark.thorough),
    ],
)
def test_every_notebook_opens_alive_and_gives_nothing_away(kind, names, folder):
    found = {}
    with front_end(kind, folder) as opened, opened(NOTEBOOKS[0]) as sheet:
        for name in names:
            sheet.goto(name)
            sheet.wait(is_open(name), 60, f"{name} is not there")
            sheet.settle()
            found[name] = faults_of(name, sheet.page.evaluate(SEEN), told="The finding")
        assert sheet.faults() == []
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.thorough
def test_the_same_in_firefox(folder):
    found = {}
    with Server("desk", folder) as server, firefox() as page:
        page.size(**WINDOW)
        for name in NOTEBOOKS:
            page.goto(server.url(name))
            page.wait(is_open(name), 120)
            found[name] = faults_of(name, page.evaluate(SEEN), told="The finding")
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.thorough
def test_a_notebook_runs_in_firefox_and_its_explorers_move(folder):
    opened = "[...jupyterapp.shell.widgets('main')][0]"  # a window without a screen has no focus, and so none in front
    kernel = f"{opened}?.sessionContext?.session?.kernel"
    said = "document.querySelector('.tx-explorer .tx-summary')?.textContent"
    with Server("lab", folder) as server, firefox() as page:
        page.size(**WINDOW)
        page.goto(server.url("03_positional_encodings.ipynb"))
        page.wait(f"window.jupyterapp && {kernel}?.connectionStatus === 'connected' && {kernel}.status === 'idle'", 120)
        page.evaluate(f"jupyterapp.shell.activateById({opened}.id)")
        page.evaluate(
            "void jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.txRan = true })"
        )
        page.wait("window.txRan", 600)
        assert page.evaluate(COUNTS.replace("window.jupyterapp.shell.currentWidget", opened))[-1] is not None
        shown = "[...document.querySelectorAll('.tx-predict button')].filter((one) => one.textContent === 'Show me')"
        page.evaluate(f"{shown}.forEach((button) => button.click())")
        page.wait(f"Boolean({said})", 60)
        before = page.evaluate(said)
        page.press(RIGHT, ".tx-explorer .noUi-handle")
        page.wait(f"{said} !== {json.dumps(before)}", 30)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["lab", "notebook"])
def test_what_waits_goes_on_waiting_after_a_run(kind, tmp_path, monkeypatch):
    """04 has one of each kind: a question before an explorer, before printed numbers and before a picture."""
    name = "04_self_attention.ipynb"
    waits = ("The finding appears here once", "Your guess is noted.")
    shutil.copy(COURSE[NOTEBOOKS.index(name)], tmp_path)
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))  # for the server and, from it, the kernels
    with front_end(kind, tmp_path) as opened:
        with opened(name) as sheet:
            sheet.run_all()
            seen = sheet.page.evaluate(SEEN) | {"dirty": False}
            assert faults_of(name, seen, told=waits) + sheet.faults() == []
            first = sheet.page.locator(".tx-predict").first
            first.get_by_role("button").first.click()
            explorer = sheet.page.locator(".tx-explorer").first
            explorer.wait_for()
            findings = sheet.page.locator(".tx-finding")
            assert findings.first.inner_text().startswith("Your guess is noted.")
            explorer.get_by_role("textbox", name="Sentence").fill("apple pear")
            explorer.get_by_role("textbox", name="Sentence").press("Enter")
            findings.first.get_by_text("You said").wait_for()
            assert "You said" not in findings.nth(1).inner_text()
            sheet.save()
        for _ in range(2):  # shut and opened; then opened again after F5
            with opened(name) as sheet:
                sheet.wait(is_open(name), 60, f"{name} is not there")
                sheet.page.reload()
                sheet.wait(is_open(name), 60, f"{name} is not there")
                sheet.settle()
                seen = sheet.page.evaluate(SEEN)
                assert faults_of(name, seen, told="The finding", opened=("order",)) + sheet.faults() == []
