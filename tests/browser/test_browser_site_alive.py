"""The web edition as it is published, in Chromium: every page without a complaint, and everything that lives moved.

What lives on a page is compared with Python: after its recording each explorer drew some settings once more, in the
notebook's kernel (`checks` of tools/shown_forms.py). The page, moved there by keys and by mouse, must say the same.
What computes in the page makes the moves of the browser suite for Jupyter (explorers.py of each lesson).

Recording all notebooks takes many minutes. `make test` records self-attention (a stepper, a plane to point at, texts, a
quiz, and what computes in the page); `make thorough` records the rest. What is recorded is kept in build/recorded, also
for `make site`.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe

import make_site
import record_pages
from browser_harness import WINDOW
from browser_moves import cases_of
from firefox import END, LEFT, RIGHT, firefox
from repository import COURSE
from site_pages import ALIVE, Opened, differences, moved, played, served, wake
from tx_helpers.exercises.course import LESSONS
from tx_helpers.lessons.self_attention.exercises import QUIZ
from webkit import webkit

pytestmark = pytest.mark.slow
RECORDED = ("self_attention",)
THE_COURSE = [
    pytest.param(path, id=path.name[:2], marks=[] if path.stem[3:] in RECORDED else pytest.mark.thorough)
    for path in COURSE
]
# On a phone: drawings with letters below 11 pixels, and what is pressed below 24. The machine is measured elsewhere.
TOO_SMALL = """() => {
  const seen = (which) => [...document.querySelectorAll(which)].filter((node) => node.checkVisibility());
  const small = (node, size, least) => (size < least - 0.01 ? [`${node.outerHTML.slice(0, 90)}: ${size}`] : []);
  const pressed = seen(":is(.tx-recorded, .tx-stepper) :is(button, input, select, svg [role=button])");
  return [
    ...seen("main svg text").flatMap((node) =>
      small(node, parseFloat(getComputedStyle(node).fontSize) * node.ownerSVGElement.getScreenCTM().a, 11)),
    ...seen(".shown img").flatMap((node) =>
      small(node, node.getBoundingClientRect().width + 1, parseFloat(node.style.getPropertyValue("--least")))),
    ...pressed.flatMap((node) => {
      const { width, height } = (node.type === "checkbox" ? node.closest("label") : node).getBoundingClientRect();
      return small(node, Math.min(width, height), 24);
    }),
  ];
}"""

# What the stepper lights, where some of it is cut off though all of it has room.
OUT_OF_SIGHT = """() => {
  const lit = [...document.querySelectorAll(".tx-lit")].map((node) => node.getBoundingClientRect());
  const box = document.querySelector(".tx-stepper .tx-picture").parentElement.getBoundingClientRect();
  const left = Math.min(...lit.map((one) => one.left)), right = Math.max(...lit.map((one) => one.right));
  return right - left > box.width - 16 || (left >= box.left && right <= box.right) ? [] : [left, right];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    site = make_site.Site(COURSE, lambda path: record_pages.recorded(path) if path.stem[3:] in RECORDED else {})
    site.add_the_others()
    root = tmp_path_factory.mktemp("site")
    site.write(root / "some where" / "below")
    return root / "some where" / "below"


def page_of(folder, name):
    """The page of a notebook, or of another name; made anew with all that lives where that is not there yet."""
    if isinstance(name, str):
        return name
    if name.stem[3:] not in RECORDED:
        make_site.Site([name], record_pages.recorded).write(folder)
    return name.stem


@pytest.fixture
def opened(browser, folder):
    opened = Opened(browser, folder.as_uri())
    yield opened
    opened.close()


@pytest.mark.parametrize("place", ["file", pytest.param("server", marks=pytest.mark.thorough)])
def test_every_page_opens_and_all_that_lives_comes_to_life(browser, folder, place):
    with served(folder.parent.parent) as address:
        opened = Opened(browser, folder.as_uri() if place == "file" else f"{address}/some%20where/below")
        lives = {}
        for path in sorted(folder.glob("*.html")):
            page = opened(path.name)
            wake(page)
            lives[path.name] = page.locator("[data-lives=yes]").count()
            assert page.locator("[data-lives=no]").count() == 0, path.name
            page.close()
        opened.close()
    recorded = {f"{LESSONS[lesson].stem}.html" for lesson in RECORDED}
    assert {name for name, count in lives.items() if count} == {*recorded, "index.html"}  # which has the stage


@pytest.mark.parametrize("name", ["index", "explorers", *THE_COURSE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(opened, folder, name, scheme):
    page = opened(f"{page_of(folder, name)}.html", color_scheme=scheme, bypass_csp=True)  # axe is put in as a script
    wake(page)
    rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}  # the others look at no colour
    found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False} | rules).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [f"{each['id']}: {node['html'][:150]}" for each in serious for node in each["nodes"]] == []


@pytest.mark.parametrize("path", THE_COURSE)
def test_what_lives_on_a_page_says_what_python_says(opened, folder, path):
    recorded = record_pages.recorded(path)
    cases = {case.explorer: case.moves for case in cases_of() if case.notebook == path.stem}
    page = opened(f"{page_of(folder, path)}.html")
    wake(page)
    faults, alive = [], set()
    for cell, forms in recorded["forms"].items():
        for form in forms:
            if not form["name"]:
                continue  # a quiz or a prediction
            root = page.locator(f'[id="cell-id={cell}"] .tx-explorer-{form["name"]}').first
            if not root.count():
                faults.append(f"{form['name']} does not live on its page")
                continue
            alive.add(form["name"])
            faults += differences(root, form)
            if form["way"].endswith("recorded runs"):
                faults += [] if played(root, form) else [f"{form['name']}: the button starts nothing"]
            if form["way"] == "computed in the page":
                wrong = [fault for move in cases.get(form["name"], ()) for fault in moved(root, move)]
                faults += [f"{form['name']}: {fault}" for fault in wrong]
    assert faults == []
    assert set(cases) <= alive


@pytest.mark.parametrize("path", [one for one in THE_COURSE if one.id in ("04", "08")])
def test_on_a_phone_drawings_keep_letters_to_read_and_buttons_to_press(opened, folder, path):
    page = opened(f"{page_of(folder, path)}.html", viewport={"width": 390, "height": 844})
    wake(page)
    assert page.evaluate(TOO_SMALL) == [] and page.evaluate("document.documentElement.scrollWidth") == 390
    for _ in range(page.locator(".tx-stepper").count() * 10):  # its steps, on the page of self-attention
        page.locator(".tx-stepper").get_by_role("button", name="Next").click()
        assert page.evaluate(OUT_OF_SIGHT) == []


# --- quizzes ----------------------------------------------------------------------------------------------------------
def test_a_quiz_is_answered_by_mouse_and_keyboard(opened):
    page = opened("04_self_attention.html")
    wake(page)
    field = page.locator(".tx-quiz fieldset").first
    for place, choice in enumerate(QUIZ[0].choices):
        field.locator("input").nth(place).click()
        assert field.get_by_role("status").inner_text() == f"{'✓ Right.' if choice.right else '✗ No.'} {choice.why}"
    field = page.locator(".tx-quiz fieldset").nth(1)
    field.locator("input").first.focus()
    page.keyboard.press("Space")
    for choice in QUIZ[1].choices:
        assert choice.why in field.get_by_role("status").inner_text()
        page.keyboard.press("ArrowDown")


# --- other engines ----------------------------------------------------------------------------------------------------
# A page's first script, a file, as the policy asks: it notes what goes wrong. And: all unfolded, the next form in view.
NOTED = """window.faults = [];
console.error = (...said) => faults.push(String(said));
for (const kind of ["error", "securitypolicyviolation"]) addEventListener(kind, (event) => faults.push(kind));
"""
WAKE = """(document.querySelectorAll("main details").forEach((part) => { part.open = true; }),
  document.querySelector("[data-form]:not([data-lives])")?.scrollIntoView(), true)"""


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [firefox, webkit])
def test_in_another_engine_explorers_move_and_the_quiz_answers(folder, engine):
    html = (folder / "04_self_attention.html").read_text("utf-8")
    html = html.replace("<script", '<script src="noted.js"></script><script', 1)
    (folder / "noted.js").write_text(NOTED)
    (folder / "noted.htm").write_text(html, "utf-8")
    with served(folder) as address, engine() as page:

        def changes(what: str, act, *given, **options) -> None:
            text = f"document.querySelector({what!r}).textContent"
            before = page.evaluate(text)
            act(*given, **options)
            page.wait(f"{text} !== {before!r}", 20)

        page.size(**WINDOW)
        page.goto(f"{address}/noted.htm")
        page.wait(f"{WAKE} && ({ALIVE})()", 60)
        for name in ("context", "query-plane", "own-sentence"):
            said, slider = (f".tx-explorer-{name} {part}" for part in (".tx-summary", "input[type=range]"))
            changes(said, page.press, END, slider)
            changes(said, page.click, slider, 0.3)
        said, query = (f".tx-explorer-query-plane {part}" for part in (".tx-summary", "[role=slider]"))
        changes(said, page.click, query, drag=40)
        changes(said, page.press, LEFT, query)
        changes(".tx-quiz [role=status]", page.click, ".tx-quiz input")
        changes(".tx-quiz [role=status]", page.press, RIGHT, ".tx-quiz input")
        assert page.evaluate("window.faults") == []
