"""The web edition, the slides and JupyterLab in the engines of other browsers: what is small and must work everywhere."""

import pytest

import make_site
import make_slides
import record_pages
from browser_harness import KERNEL, WINDOW, WIDGETS_SHOWN, Server, copy_notebooks
from firefox import firefox
from repository import COURSE
from site_pages import ALIVE, served
from webkit import webkit

pytestmark = [pytest.mark.slow, pytest.mark.thorough]
# A page's first script: what goes wrong from then on, as the pages' policy allows no script in the page itself.
NOTED = """const faults = (window.faults = []), error = console.error;
console.error = (...said) => (faults.push(String(said)), error(...said));
for (const kind of ["error", "securitypolicyviolation"])
  addEventListener(kind, (event) => faults.push(`${kind}: ${event.message ?? event.blockedURI}`));
"""
WAKE = """(document.querySelectorAll("main details").forEach((part) => { part.open = true; }),
  [...document.querySelectorAll("[data-form]:not([data-lives])")][0]?.scrollIntoView(), true)"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of the site, with 04 as it is published, and of its slides."""
    site = make_site.Site(COURSE, lambda path: record_pages.recorded(path) if path.name[:2] == "04" else {})
    site.add_the_others()
    folder, path = tmp_path_factory.mktemp("engines"), COURSE[4]
    site.files["slides.html"] = make_slides.page(path, record_pages.recorded(path)).encode()
    site.files["faults.js"] = NOTED.encode()
    for page in ("index.html", "04_self_attention.html"):
        site.files[page] = site.files[page].replace(b"<script", b'<script src="faults.js"></script>\n<script', 1)
    site.write(folder)
    with served(folder) as server:
        yield server


@pytest.fixture(scope="module", params=[firefox, webkit], ids=["firefox", "webkit"])
def page(request):
    with request.param() as page:
        page.size(**WINDOW)
        yield page


def changes(page, what: str, act) -> None:
    """Does the text of this element change, when that is done?"""
    text = f"document.querySelector({what!r}).textContent"
    before = page.evaluate(text)
    act()
    page.wait(f"{text} !== {before!r}", 20)


def test_a_page_lives(page, address):
    page.goto(f"{address}/04_self_attention.html")
    page.wait(f"{WAKE} && ({ALIVE})()", 60)
    for name in ("context", "query-plane", "own-sentence"):
        said, slider = (f".tx-explorer-{name} {part}" for part in (".tx-summary", "input[type=range]"))
        changes(page, said, lambda slider=slider: page.press("End", slider))
        changes(page, said, lambda slider=slider: page.click(slider, 0.3))
    said, query = (f".tx-explorer-query-plane {part}" for part in (".tx-summary", "[role=slider]"))
    changes(page, said, lambda: page.click(query, drag=40))
    changes(page, said, lambda: page.press("ArrowLeft", query))
    changes(page, ".tx-quiz [role=status]", lambda: page.click(".tx-quiz input"))
    changes(page, ".tx-quiz [role=status]", lambda: page.press("ArrowRight", ".tx-quiz input"))
    assert page.evaluate("window.faults") == []


def test_the_first_page_moves(page, address):
    page.goto(f"{address}/index.html")
    page.wait("document.querySelector('.st-where')?.textContent.startsWith('step 3 of')", 60)
    changes(page, ".st-said", lambda: page.click(".st-head"))
    assert page.evaluate("window.faults") == []


def test_slides_turn(page, address):
    page.goto(f"{address}/slides.html")
    page.press("End", ".slide.now")
    page.wait("document.querySelector('.slide.now').innerText.includes('Exercises')", 20)
    page.press("Home", ".slide.now")
    page.click(".slide.now h1", 0.9)
    assert page.evaluate("[location.hash, document.querySelectorAll('.slide.now').length]") == ["#2", 1]


def test_jupyterlab_in_firefox_runs_a_notebook_and_its_explorer_moves(tmp_path):
    copy_notebooks(tmp_path, whole=False)
    with Server("lab", tmp_path) as server, firefox() as page:
        page.size(**WINDOW)
        page.goto(server.url(COURSE[0].name))
        page.wait(f"{KERNEL}?.status === 'idle' && {KERNEL}.connectionStatus === 'connected'", 180)
        page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait(f"{KERNEL}.status === 'idle' && document.querySelector('.tx-explorer') && {WIDGETS_SHOWN}", 300)
        changes(page, ".tx-explorer .tx-summary", lambda: page.press("End", ".tx-explorer select"))
