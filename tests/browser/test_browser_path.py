"""The learner's path in JupyterLab, as `make lab` opens it: from notebook to notebook by the links in their text, back
by "You need first" and by the glossary; from a word to its meaning and back; and one notebook run from the menu (all of
them: test_browser_lab.py)."""

import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from playwright.sync_api import expect

from browser_harness import NOTEBOOKS, copy_notebooks, front_end, shared_cache
from notebook_frame import ROOT
from notebook_parts import WORDS_TITLE

FIRST, SMALL = "00_start_here.ipynb", "08_full_model.ipynb"
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"  # the notebook in front
CELL = f"{PANEL} .jp-MarkdownCell"
CURRENT = "window.jupyterapp?.shell.currentWidget?.context"
IN_SIGHT = f"""name => [...document.querySelectorAll("{PANEL} :is(h1, h2, h3)")].some(heading => {{
    const place = heading.getBoundingClientRect()
    return heading.innerText.startsWith(name) && place.top >= 0 && place.bottom <= innerHeight
}})"""


def markdown(notebook: str) -> list[str]:
    """The sources of its markdown cells."""
    cells = nbformat.read(ROOT / "notebooks" / notebook, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def title(notebook: str) -> str:
    return markdown(notebook)[0].partition("\n")[0].removeprefix("# ").strip()


def links(notebook: str, label: str) -> list[str]:
    """The notebooks that the paragraph after **label** names, in its order."""
    paragraph = re.search(rf"\*\*{label}\*\*(.*?)(\n\n|\Z)", "\n\n".join(markdown(notebook)), re.DOTALL)
    return [Path(unquote(link)).name for link in re.findall(r"\]\(([^)#]+\.ipynb)", paragraph[1] if paragraph else "")]


def chain() -> list[str]:
    """From the first notebook by the "Next" links, as far as they lead onward and to what is there."""
    found = [FIRST]
    while (after := links(found[-1], "Next:")[:1]) and after[0] in NOTEBOOKS and after[0] > found[-1]:
        found += after
    return found


def test_the_next_links_lead_through_the_whole_course():
    assert chain() == NOTEBOOKS


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    copy_notebooks(folder)
    with front_end("desk", folder, shared_cache(tmp_path_factory)) as opened, opened(FIRST) as sheet:
        yield sheet


def arrive(sheet, notebook: str) -> None:
    """The notebook is in front, with its title, and nothing has complained on the way."""
    sheet.wait(f"{CURRENT}?.path === '{notebook}' && {CURRENT}.isReady", 120, f"{notebook} does not open")
    heading = sheet.page.locator(f"{CELL} h1").first
    heading.wait_for(timeout=120_000)
    assert heading.inner_text().removesuffix("¶").strip() == title(notebook)
    assert sheet.faults() == [], notebook


def follow(sheet, label: str, target: str) -> None:
    """Click the link to the target in the paragraph that begins with the label."""
    paragraph = sheet.page.locator(f"{CELL} p", has=sheet.page.locator("strong", has_text=label)).last
    paragraph.locator(f"a[href*='{target}']").first.click(timeout=60_000)


@pytest.mark.thorough
def test_the_links_lead_from_notebook_to_notebook_and_back(sheet):
    arrive(sheet, FIRST)
    path = chain()
    for after in path[1:]:
        follow(sheet, "Next:", after)
        arrive(sheet, after)
    here = path[-1]
    sheet.page.locator(f"{CELL} a", has_text=re.compile("^glossary$")).last.click(timeout=60_000)
    arrive(sheet, FIRST)
    sheet.wait(f"({IN_SIGHT})('Glossary')", 60, "the glossary is not in sight")
    while here != FIRST:  # from the last notebook to what it builds on most
        sheet.page.locator(".lm-TabBar-tab", has_text=here).first.click()
        arrive(sheet, here)
        before = links(here, "You need first:")[-1]
        follow(sheet, "You need first:", before)
        arrive(sheet, before)
        here = before


def leads_to(link, target) -> None:
    """A click brings the target into sight; again while the page is still growing."""
    for _ in range(5):
        link.click(timeout=60_000)
        try:
            return expect(target).to_be_in_viewport(timeout=10_000)
        except AssertionError:
            continue
    raise AssertionError(f"{link} does not lead to {target}")


@pytest.mark.slow
def test_a_words_link_shows_its_meaning_leads_to_it_and_back(sheet):
    page = sheet.page
    sheet.wait(f"{CURRENT}?.isReady", 180, "JupyterLab does not open")
    page.evaluate(f"() => {{ jupyterapp.commands.execute('docmanager:open', {{path: '{SMALL}'}}) }}")
    arrive(sheet, SMALL)
    page.locator(f"{CELL} h3", has_text=WORDS_TITLE).wait_for(state="attached", timeout=120_000)
    link = page.locator(f"{CELL} a[href^='#term-']").first
    anchor = link.get_attribute("href").removeprefix("#")
    assert len(link.get_attribute("title")) > 10
    row = page.locator(f"{CELL} tr", has=page.locator(f"[data-jupyter-id='{anchor}']"))
    leads_to(link, row)
    leads_to(row.get_by_text("back", exact=True), link)


@pytest.mark.thorough
def test_a_notebook_is_run_from_the_menu(sheet):
    page = sheet.page
    sheet.wait(f"{CURRENT}?.isReady", 180, "JupyterLab does not open")
    page.evaluate(f"() => {{ jupyterapp.commands.execute('docmanager:open', {{path: '{SMALL}'}}) }}")
    arrive(sheet, SMALL)
    sheet.run_all(from_menu=True)
    assert page.locator(f"{PANEL} .tx-explorer").count() > 0
    assert [*sheet.count_faults(), *sheet.faults()] == []
