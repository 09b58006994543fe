"""Slides and the pages for paper in Chromium: nothing is cut off, keys and clicks turn, answers stand at the end."""

import re

import pytest

import make_pdf
import make_site
import make_slides
import record_pages
from repository import COURSE
from site_pages import Opened

pytestmark = pytest.mark.slow
FEW = [pytest.param(path, marks=[] if path.name[:2] in ("00", "04") else pytest.mark.thorough) for path in COURSE]
NOW = "document.querySelector('.slide.now').id"
ALIVE = "() => [...document.querySelectorAll('.now [data-form]')].every((one) => one.dataset.lives)"
CUT_OFF = """async () => {
  for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame); // a fit takes one
  const boxes = "html, .now, .now :is(.content, figure, .shown, .formula, .living div:not(.tx-unseen), pre, img)";
  return [...document.querySelectorAll(boxes)].filter((box) =>
    box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1
    || box.getBoundingClientRect().right > innerWidth + 1).map((box) => box.outerHTML.slice(0, 80));
}"""


@pytest.fixture
def opened(browser, tmp_path):
    opened = Opened(browser, tmp_path.as_uri())
    yield opened
    opened.close()


@pytest.mark.parametrize("path", FEW)
def test_slides_show_everything_and_turn(opened, tmp_path, path):
    (tmp_path / "x.html").write_text(make_slides.page(path, record_pages.kept(path)), "utf-8")
    for width, height in ((1280, 720), (1024, 768)):
        page = opened("x.html", viewport={"width": width, "height": height})
        count = page.locator(".slide").count()
        for number in range(1, count + 1):
            page.wait_for_function(ALIVE)
            assert page.evaluate(NOW) == str(number)
            assert page.evaluate(CUT_OFF) == [], number
            page.keyboard.press("PageDown")
    assert page.locator("h1").count() == 1 and page.locator("h2").count() == count - 1
    for key, number in {"Home": 1, " ": 2, "ArrowRight": 3, "ArrowLeft": 2, "End": count, "PageUp": count - 1}.items():
        page.keyboard.press(key)
        assert page.evaluate(NOW) == str(number) and page.url.endswith(f"#{number}"), key
    again = opened("x.html#2")
    again.mouse.click(900, 20)
    assert again.evaluate(NOW) == "3"
    assert opened("x.html", java_script_enabled=False).locator(".slide:visible").count() == count


def test_formulas_stand_in_the_core_optional_parts_behind_it_and_explorers_live(opened, tmp_path):
    path = next(path for path in COURSE if path.name.startswith("04"))
    script = {"esm": "export default { render: ({ el }) => { el.textContent = 'moves'; } };", "css": ""}
    form = {"text": "Explorer 'query-plane': drawn elsewhere", "script": "x", "state": {}}
    recorded = {"forms": {"c04-032": [form]}, "scripts": {"x": script}}
    (tmp_path / "x.html").write_text(make_slides.page(path, recorded), "utf-8")
    page = opened("x.html")
    titles = [title.strip() for title in page.locator(":is(h1, h2)").all_text_contents()]
    core = titles[: titles.index("Optional")]
    assert core[-2:] == ["What to remember", "Exercises"] and not any("Optional" in title for title in core)
    formula = page.locator(f".equation[id='{1 + titles.index('The formula')}'] .formula annotation")
    assert r"\mathrm{Attention}" in formula.text_content()
    assert page.locator(".number:has-text('alive in the notebook')").count() == 3, "four explorers, of which one lives"
    number = page.locator(".slide:has([data-form])").get_attribute("id")
    page.keyboard.type(number)
    page.keyboard.press("Enter")
    page.locator(f".now[id='{number}'] .living:text('moves')").wait_for()
    page.keyboard.press("b")
    assert not page.locator(".now").is_visible()


@pytest.mark.parametrize("path", FEW)
def test_on_paper_answers_stand_at_the_end_and_pictures_fit(opened, tmp_path, path):
    make_site.Site([path]).write(tmp_path)
    file = tmp_path / f"{path.stem}.html"
    file.write_text(make_pdf.for_paper(file.read_text("utf-8")), "utf-8")
    page = opened(file.name, viewport={"width": 800, "height": 1100})
    page.emulate_media(media="print")
    text, _, answers = page.locator("main").inner_text().rpartition("\nAnswers\n")  # 23 asks nothing
    asked = re.findall(r"see answer (\d+) at the end", text)
    assert asked == re.findall(r"^Answer (\d+)\.", answers, re.MULTILINE) == [*map(str, range(1, len(asked) + 1))]
    assert page.locator("main details:not([open]), main summary:text('The finding')").count() == 0
    assert page.evaluate("Math.max(...[...document.images].map((one) => one.getBoundingClientRect().right))") <= 800
