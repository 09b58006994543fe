"""What is optional is folded when a notebook is opened, in JupyterLab, in Notebook 7 and on a page of the web edition,
and the code of a cell tagged `hide-input`, too. It all runs all the same, and a click unfolds it."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from browser_harness import BOTH, front_end, is_foreign
from refresh_notebooks import fold
from site_cells import body

pytestmark = pytest.mark.slow
NAME = "07_folded.ipynb"
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
    folder = tmp_path_factory.mktemp("folded")
    nbformat.write(notebook(), folder / NAME)
    with front_end(request.param, folder) as opened:
        yield opened


def seen(page, *texts: str) -> list[bool]:
    return [page.evaluate(IN_SIGHT, text) for text in texts]


def test_what_is_optional_is_folded(opened):
    with opened(NAME) as sheet:
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
