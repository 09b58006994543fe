"""docs/index.html, opened from the disk: it moves, all of it is in sight, and the heads that matter are marked."""

import re
from itertools import pairwise

import pytest

import make_first_page
from firefox import firefox
from tx_helpers.text.number_words import english, german
from webkit import webkit
from widget_page import HOSTILE

pytestmark = pytest.mark.slow
ADDRESS = make_first_page.FILE.as_uri()
SIZES = {"phone": (390, 844), "laptop": (1366, 768), "desk": (1920, 1080)}
WHERE = "document.querySelector('.st-where').textContent"
# The head's marks are found one after the other; then the number of steps is known.
FOUND = "!document.querySelector('.st-where')?.textContent.endsWith('…')"
# What must be in sight: the lit rows of heads, lines and words, the odds, what is said. A line for each that is not.
OUT_OF_SIGHT = """() => [".st-lit", ".st-chip", ".st-line", ".st-odds", ".st-said"]
    .flatMap((name) => [...document.querySelectorAll(name)])
    .map((node) => [node.getAttribute("class"), node.getBoundingClientRect()])
    .filter(([, { top, bottom, left, right }]) => top < 0 || left < 0 || bottom > innerHeight || right > innerWidth)
    .map(([name, { top, bottom }]) => `${name}: ${top} to ${bottom} of ${innerHeight}`)"""
# Every head, clicked and put back: is it marked, and does the text change without it?
HEADS = """() => [...document.querySelectorAll(".st-head")].map((head) => {
    const marked = head.classList.contains("st-needed"), stage = document.querySelector(".st-stage");
    head.click();
    const changed = stage.classList.contains("st-changed"), said = document.querySelector(".st-said").textContent;
    head.click();
    return { marked, changed, said };
})"""
SMALLEST = """([which, trait]) => Math.min(...[...document.querySelectorAll(`.st-stage :is(${which})`)]
    .filter((node) => node.checkVisibility()).map((node) => parseFloat(getComputedStyle(node)[trait])))"""


@pytest.fixture
def opened(browser):
    contexts = []

    def opened(hash="", size="laptop", motion="no-preference"):
        width, height = SIZES[size]
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, reduced_motion=motion))
        page = contexts[-1].new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda message: page.faults.append(message.text) if message.type == "error" else None)
        page.goto(ADDRESS + hash)
        page.wait_for_selector(".st-where")
        return page

    yield opened
    for context in contexts:
        context.close()


def ask(page, text: str) -> None:
    """Another sentence; wait until its heads are marked."""
    page.get_by_role("textbox").fill(text)
    page.get_by_role("textbox").press("Enter")
    page.wait_for_function(f"() => {FOUND}")


def written(page) -> str:
    return page.locator(".st-words svg").get_attribute("aria-label").partition(" becomes ")[2].strip("“”")


@pytest.mark.parametrize("number", [421, 777_777])  # the second: nine words, and twenty without a head
@pytest.mark.parametrize("size", SIZES)
def test_it_moves_by_itself_and_all_of_it_is_in_sight(opened, size, number):
    page = opened(size=size)
    first = page.evaluate(WHERE)
    page.wait_for_function(f"(first) => {WHERE} !== first", arg=first)
    ask(page, str(number))
    page.get_by_role("button", name="From the beginning").click()
    page.get_by_role("button", name="Pause").click()
    steps, said = int(re.search(r"of (\d+)", page.evaluate(WHERE))[1]), []
    for step in range(1, steps + 1):
        assert page.evaluate(WHERE) == f"step {step} of {steps}" and page.evaluate(OUT_OF_SIGHT) == []
        said.append(page.locator(".st-said").inner_text())
        if step < steps:
            page.get_by_role("button", name="Forward").click()
    assert all(one != other for one, other in pairwise(said)) and page.locator(".st-tries button:visible").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and page.faults == []


def test_nothing_moves_by_itself_where_motion_is_not_wanted(opened):
    page = opened(motion="reduce")
    page.wait_for_function(f"() => {FOUND}")
    before = page.evaluate(WHERE)
    page.wait_for_timeout(1500)
    assert page.evaluate(WHERE) == before and written(page) == german(421)


@pytest.mark.parametrize("count", [12, pytest.param(50, marks=pytest.mark.thorough)])
def test_marked_heads_change_the_text_and_the_others_do_not(count, opened):
    page = opened(motion="reduce")
    for n in [421, 7, 999_999, *range(13, 1_000_000, 999_987 // (count - 3))][:count]:
        ask(page, str(n))
        assert page.get_by_role("textbox").input_value() == english(n)
        heads = page.evaluate(HEADS)
        assert len(heads) == 24 and [head for head in heads if head["marked"] != head["changed"]] == []
        assert [head for head in heads if not re.search("writes “|loses most", head["said"])] == []
    assert page.faults == []


def test_the_address_holds_what_is_shown(opened):
    page = opened(motion="reduce")
    ask(page, "four hundred twenty-one")
    page.locator(".st-head.st-needed").first.click()
    shown, address = page.locator(".st-said").inner_text(), page.evaluate("location.hash")
    again = opened(address)
    again.wait_for_function(f"() => {FOUND}")
    assert again.locator(".st-said").inner_text() == shown and again.locator(".st-gone").count() == 1
    at = opened("#text=ninety-nine&step=4")
    at.wait_for_function(f"() => {FOUND}")
    assert at.evaluate(WHERE).startswith("step 4 of ") and at.get_by_role("textbox").input_value() == "ninety-nine"
    strange = opened("#text=blue&step=x&without=y")
    assert strange.get_by_role("textbox").input_value() == "four hundred twenty-one" and strange.faults == []


@pytest.mark.parametrize("text", [HOSTILE, "\u202efour hundred", "four " * 2000, "", "five hundred blue", "-1"])
def test_hostile_words_do_nothing(opened, text):
    page = opened(motion="reduce")
    page.wait_for_function(f"() => {FOUND}")
    before = written(page)
    page.get_by_role("textbox").fill(text)
    page.get_by_role("textbox").press("Enter")
    assert page.locator(".st-error").inner_text() and written(page) == before and page.faults == []


def test_what_is_pointed_at_is_explained_and_nothing_jumps(opened):
    page = opened(motion="reduce", size="phone")
    page.wait_for_function(f"() => {FOUND}")
    height = page.evaluate("document.documentElement.scrollHeight")
    for name, told in {
        ".st-head": r"softmax\(QKᵀ/√16\), \(H, T, S\) = \(4, 4, 4\)",
        ".st-target": "looks most at “four”",
        ".st-source": "a vector of D = 64 numbers",
        ".st-odds": "softmax over 35 words",
    }.items():
        page.locator(name).first.hover()
        assert re.search(told, page.locator(".st-said").inner_text())
        assert page.evaluate("document.documentElement.scrollHeight") == height
    sizes = page.evaluate(
        "[...document.querySelectorAll('.st-stage *')].map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 11
    boxes = page.evaluate(
        "[...document.querySelectorAll('button, input')].map((e) => e.getBoundingClientRect().toJSON())"
    )
    assert min(min(box["width"], box["height"]) for box in boxes if box["width"]) >= 24


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [firefox, webkit])
def test_it_moves_in_another_engine(engine):
    with engine() as page:
        page.size(390, 844)
        page.goto(ADDRESS)
        page.wait("document.querySelector('.st-where')", 60)
        page.wait(f"{WHERE}.startsWith('step 5 of')", 60)
        page.wait(FOUND, 60)
        assert (
            page.evaluate(f"({OUT_OF_SIGHT})()") == []
            and page.evaluate("document.querySelectorAll('.st-needed').length") > 0
        )
