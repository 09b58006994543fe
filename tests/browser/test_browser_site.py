"""The web edition in Chromium, from the disk and below a sub-path of a server: no complaint, no request elsewhere; the
theme, the search, folded parts, what lives, and print."""

import pytest

import make_site
from repository import COURSE
from site_pages import Opened, served

pytestmark = pytest.mark.slow
PAGES = ("index.html", "04_self_attention.html", "23_reference.html", "explorers.html")
LIVES, FAILS = "c04-036", "c04-032"  # cells of the notebook on self-attention that show an explorer
TAUGHT = {  # what a learner may type -> the notebook that comes first
    **dict.fromkeys(("layer norm", "layernorm", "Layer-Norm", "residuals", "feed forward"), "07"),
    **dict.fromkeys(("tokenizer", "embeddings"), "02"),
    **dict.fromkeys(("self attention", "selfattention", "why the square root?", "what is attention"), "04"),
    **dict.fromkeys(("label smoothing", "warmup", "bleu"), "09"),
    **dict.fromkeys(("beam search", "kv cache", "top-p", "softmax temperature"), "11"),
    **dict.fromkeys(("quantization", "flash attention"), "19"),
    **{"transformer vs lstm": "01", "positional encoding": "03", "heads": "05", "masking": "06", "perplexity": "12"},
    **{"rope": "13", "lora": "15", "mixture of experts": "18", "scaling laws": "20"},
}
SCRIPT = """
export const render = ({ model, el }) => {
  if (model.get("fails")) throw new Error("as asked for");
  const button = document.createElement("button");
  const said = () => [model.get("word"), model.get("data").getUint8(1), model.get("count")].join(" ");
  const show = () => (button.textContent = said());
  model.on("change:count", show);
  button.addEventListener("click", () => { model.set("count", model.get("count") + 1); model.save_changes(); });
  show();
  el.append(button);
};
export default { render };
"""


def recorded(path) -> dict:
    """Two living parts for one notebook, one of which fails."""
    if path.stem[3:] != "self_attention":
        return {}
    texts = {
        cell.id: output.data["text/plain"]
        for cell in make_site.nbformat.read(path, as_version=4).cells
        if cell.id in (LIVES, FAILS)
        for output in cell.outputs
    }
    state = {"word": "</script><b>x", "count": 1, "data": {"base64": "AAcB"}, "fails": False}
    form = {"script": "k", "name": "", "way": ""}
    return {
        "scripts": {"k": {"esm": SCRIPT, "css": "button { border-radius: 9px }"}},
        "forms": {
            LIVES: [form | {"text": texts[LIVES], "state": state}],
            FAILS: [form | {"text": texts[FAILS], "state": state | {"fails": True}}],
        },
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    site = make_site.Site(COURSE, recorded)
    site.add_the_others()
    root = tmp_path_factory.mktemp("site")
    site.write(root / "some where" / "below")
    return root


@pytest.fixture(scope="module", params=["file", pytest.param("server", marks=pytest.mark.thorough)])
def address(request, folder):
    with served(folder) as server:
        yield f"{folder.as_uri() if request.param == 'file' else server}/some%20where/below"


@pytest.fixture
def opened(browser, address):
    opened = Opened(browser, address)
    yield opened
    opened.close()


def background(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_into_every_window(opened, name):
    page = opened(name)
    for width in (1280, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


def test_the_theme_follows_the_system_can_be_changed_and_is_remembered(opened):
    page = opened("04_self_attention.html", color_scheme="dark")
    dark = background(page)
    page.get_by_role("button", name="Use the light theme").click()
    light = background(page)
    assert dark != light
    page.get_by_role("link", name="Next", exact=False).first.click()
    page.get_by_role("heading", name="05").first.wait_for()
    assert background(page) == light
    page.get_by_role("button", name="Use the dark theme").click()
    assert background(page) == dark


def test_the_search_finds_sections_by_keyboard(opened):
    page = opened("index.html")
    page.keyboard.press("/")
    page.keyboard.type("square root")
    page.locator("#results a").first.wait_for()
    assert page.locator("#results a").first.inner_text().startswith("Why the square root")
    assert "sections have the words" in page.locator("#found").inner_text()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.keyboard.press("Enter")
    page.wait_for_url("**/04_self_attention.html#Why-the-square-root")
    assert page.locator("h2", has_text="Why the square root").is_visible()


def test_the_search_brings_first_what_teaches_it(opened):
    page = opened("index.html")
    page.get_by_role("button", name="Search").click()
    taught = {}
    for typed in TAUGHT:
        page.locator("#query").fill(typed)
        page.wait_for_function("() => document.querySelector('#results a')")
        taught[typed] = page.locator("#results a").first.get_attribute("href")[:2]
        page.locator("#query").fill("")
        page.wait_for_function("() => !document.querySelector('#results a')")
    assert taught == TAUGHT


def test_the_search_names_a_word_that_no_page_has_and_finds_the_others(opened):
    page = opened("index.html")
    page.get_by_role("button", name="Search").click()
    page.locator("#query").fill("the zzzz of RMSNorm, qqqq")
    page.locator("#results mark", has_text="RMSNorm").first.wait_for()
    said = page.locator("#found").inner_text()
    assert said.startswith("“zzzz”, “qqqq” occur on no page; ") and "sections have the other words" in said
    page.keyboard.press("Enter")
    page.wait_for_url("**/07_feed_forward.html#term-07-rmsnorm")
    assert page.locator("td", has=page.locator("#term-07-rmsnorm")).is_visible()


def test_the_search_bears_any_text(opened):
    page = opened("index.html")
    page.get_by_role("button", name="Search").click()
    for text in ("", "  ", "zzzz", "(((", "\u202e" * 10_000):
        page.locator("#query").fill("softmax")
        page.locator("#results a").first.wait_for()
        page.locator("#query").fill(text)
        page.wait_for_function("() => !document.querySelector('#results a')")
    page.locator("#query").fill("</script><b>")
    page.locator("#results a").first.wait_for()
    assert page.locator("#results :not(li, a, b, small, span, mark), #results b b").count() == 0


def test_a_link_opens_what_is_folded_around_its_goal(opened):
    page = opened("04_self_attention.html")
    inside = page.locator("details.section [id]").first.get_attribute("id")
    assert not page.locator(f'[id="{inside}"]').is_visible()
    page.evaluate("id => { location.hash = id }", inside)
    page.wait_for_function("id => document.getElementById(id).checkVisibility()", arg=inside)
    again = opened(f"04_self_attention.html#{inside}")
    assert again.locator(f'[id="{inside}"]').is_visible()


def test_paper_shows_what_is_folded_and_no_navigation(opened):
    page = opened("04_self_attention.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details:not([open])").count() == 0
    assert not page.locator("header.top").is_visible() and not page.locator(".outline").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == 0


def test_what_lives_takes_the_place_of_its_picture_unless_it_fails(opened):
    page = opened("04_self_attention.html")
    page.evaluate("() => document.querySelectorAll('details.waits').forEach((part) => { part.open = true; })")
    place = page.locator(f'[id="cell-id={LIVES}"] .live')
    place.scroll_into_view_if_needed()
    button = place.get_by_role("button")
    assert button.inner_text() == "</script><b>x 7 1" and place.locator("img").count() == 0
    button.focus()
    page.keyboard.press("Enter")
    assert button.inner_text() == "</script><b>x 7 2"
    assert button.evaluate("node => getComputedStyle(node).borderRadius") == "9px"
    other = page.locator(f'[id="cell-id={FAILS}"] .live')
    other.scroll_into_view_if_needed()
    page.locator(f'[id="cell-id={FAILS}"] [data-lives="no"]').wait_for()
    assert other.locator("img").is_visible() and other.locator(".living").count() == 0
    assert len(opened.complaints) == 1 and "as asked for" in opened.complaints.pop()


def test_without_scripts_a_page_can_be_read(opened):
    page = opened("04_self_attention.html", java_script_enabled=False)
    assert page.locator("h1").inner_text() == "04 Self-attention"
    assert not page.get_by_role("button", name="Search").is_visible()
    page.get_by_text("Show this section").first.click()
    assert page.locator("details.section").first.get_attribute("open") is not None


def test_a_script_that_stands_in_the_page_does_not_run(opened):
    page = opened("index.html")
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.head.append(script);
        const picture = document.createElement("img");
        picture.src = "https://example.org/x.png";
        document.body.append(picture);
    }""")
    assert page.evaluate("window.ran") is None
    page.wait_for_timeout(200)
    refused = [text for text in opened.complaints if "Content Security Policy" in text]
    assert len(refused) == 2
    opened.complaints.clear()
