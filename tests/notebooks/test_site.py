"""The web edition as a whole: links, policy, weight, pictures, search. The browser has tests of its own."""

import gzip
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import nbformat
import pytest

import make_site
from browser_moves import cases_of
from repository import COURSE
from tx_helpers.exercises.catalogue import lesson_of
from tx_helpers.exercises.course import LESSONS

# What an explorer prints of itself.
NAMED = re.compile(r"^(?:Explorer|AttentionView|AttentionStepper|Machine) '([\w-]+)': (.+)", re.DOTALL)


class Page(HTMLParser):
    """The elements of a page: (tag, attributes), its anchors, and the text of its scripts."""

    def __init__(self, html: bytes):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.feed(html.decode())
        self.anchors = [given["id"] for _, given in self.elements if "id" in given]

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.elements.append((tag, dict(attributes)))

    def all(self, tag: str) -> list[dict]:
        """The attributes of all elements of this kind."""
        return [given for name, given in self.elements if name == tag]

    def loads(self) -> list[str]:
        """The files that it needs to be shown."""
        sources = [given["src"] for tag in ("img", "script") for given in self.all(tag) if "src" in given]
        return sources + [given["href"] for given in self.all("link")]

    def links(self) -> list[str]:
        return [given["href"] for given in self.all("a") if "href" in given]  # the others are anchors


NAMESPACE = b"http://www.w3.org/2000/svg"  # a name, not an address


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    site = make_site.Site(COURSE)
    site.add_the_others()
    return site.files


@pytest.fixture(scope="module")
def pages(files) -> dict[str, Page]:
    return {name: Page(content) for name, content in files.items() if name.endswith(".html")}


def test_there_is_a_page_for_each_notebook_and_its_file(files):
    assert {f"{path.stem}.html" for path in COURSE} | {"index.html", "explorers.html"} == {
        name for name in files if name.endswith(".html")
    }
    for path in COURSE:
        assert nbformat.reads(files[f"notebooks/{path.name}"].decode(), as_version=4).cells


def test_every_link_and_anchor_of_the_site_resolves(files, pages):
    lost = []
    for name, page in pages.items():
        for link in [*page.loads(), *page.links()]:
            if link.startswith(("https://", "http://", "api/")):  # pdoc makes the pages below api
                continue
            file, _, anchor = link.partition("#")
            target = file or name
            if target not in files or (anchor and unquote(anchor) not in pages[target].anchors):
                lost.append(f"{name}: {link}")
    assert lost == []


def test_an_anchor_stands_only_once_on_its_page(pages):
    assert {name: sorted({a for a in page.anchors if page.anchors.count(a) > 1}) for name, page in pages.items()} == {
        name: [] for name in pages
    }


def test_every_page_allows_only_what_is_its_own(files, pages):
    for name, page in pages.items():
        (policy,) = [given["content"] for given in page.all("meta") if "http-equiv" in given]
        assert policy == make_site.POLICY, name
        assert [link for link in page.loads() if re.match(r"(?:[a-z]+:)?//", link)] == [], name
        inline = [given for given in page.all("script") if "src" not in given]
        assert [given for given in inline if given.get("type") != "application/json"] == [], name
        assert page.all("style") == [], name
        events = [(tag, key) for tag, given in page.elements for key in given if key.startswith("on")]
        assert events == [], name
        assert [link for link in page.links() if link.lower().startswith(("javascript:", "data:"))] == [], name
    assert "script-src 'self';" in make_site.POLICY and "default-src 'none'" in make_site.POLICY
    addresses = {
        name: set(re.findall(rb"https?://[^\s\"'`)]+", files[name])) - {NAMESPACE}
        for name in files
        if name.endswith((".css", ".js"))
    }
    assert {name for name, found in addresses.items() if found and name != "search_index.js"} == set()


def test_a_page_with_all_that_it_loads_weighs_little(files, pages):
    weights = make_site.weights(files)
    assert set(weights) == set(pages)
    assert {page: weight for page, weight in weights.items() if weight > make_site.HEAVIEST} == {}
    page = pages["06_masking.html"]
    assert weights["06_masking.html"] == sum(
        len(gzip.compress(files[path], 6)) for path in {"06_masking.html", *page.loads()}
    )


def test_a_page_that_is_too_heavy_is_not_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_site, "HEAVIEST", 50_000)
    assert make_site.main(["masking", "--still", "--to", str(tmp_path)]) == 1
    assert "06_masking.html" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_every_picture_says_what_it_shows_and_how_large_it_is(files, pages):
    for name, page in pages.items():
        for given in page.all("img"):
            assert len(given.get("alt") or "") >= 20, f"{name}: {given}"
            assert int(given["width"]) > 0 and int(given["height"]) > 0, f"{name}: {given}"
            assert not given["src"].startswith("data:")


def test_every_explorer_leaves_its_picture_on_the_page(pages):
    left = {}
    for path in COURSE:
        shown = {" ".join((given["alt"] or "").split()) for given in pages[f"{path.stem}.html"].all("img")}
        outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
        for output in outputs:
            if match := NAMED.match(output.get("data", {}).get("text/plain", "")):
                left[path.stem, match[1]] = " ".join(match[2].split()) in shown
    assert sorted(left) == sorted((case.notebook, case.explorer) for case in cases_of())
    assert [name for name, is_there in left.items() if not is_there] == []


def test_the_page_of_explorers_names_them_all(files):
    listed = files["explorers.html"].decode()
    for case in cases_of():
        assert f'<a href="{case.notebook}.html#cell-id=' in listed
    assert listed.count("<tr><td>") == len(cases_of())


def test_every_exercise_has_its_hints_and_its_solution_folded(files):
    for name, lesson in lesson_of().items():
        html = files[f"{LESSONS[lesson].stem}.html"].decode()
        exercise = html.split(f'id="cell-id=exercise-{name.replace("_", "-")}"')[1].split('<div class="cell"')[0]
        for step in (1, 2, 3):
            assert exercise.count(f"<details><summary>Hint {step} of 3</summary>") == 1, name
        assert exercise.count("<details><summary>Solution</summary>") == 1, name
        assert exercise.count("<details") == exercise.count("</details>") == 4, name
        assert "not written yet" not in exercise, name


def test_no_formula_is_left_in_tex(files):
    for path in COURSE:
        html = files[f"{path.stem}.html"].decode()
        text = re.sub(r"<annotation.*?</annotation>|<pre.*?</pre>|<code>.*?</code>|<[^>]*>", "", html, flags=re.DOTALL)
        assert re.findall(r"\$[^$\n]{1,80}\$|\\[a-z]{2,}", text) == [], path.name


def test_the_search_index_leads_to_every_section(files, pages):
    start, end = b"window.txSearch = ", b";\n"
    script = files["search_index.js"]
    assert script.startswith(start) and script.endswith(end)
    index = json.loads(script[len(start) : -len(end)])
    assert [file for file, _, _ in index] == sorted(pages)
    for file, title, sections in index:
        assert title and sections
        for anchor, heading, _ in sections:
            assert heading, f"{file}#{anchor}"
            assert not anchor or anchor in pages[file].anchors
            assert "\\" not in heading and "¶" not in heading
    (attention,) = [sections for file, _, sections in index if file == "04_self_attention.html"]
    (found,) = [text for _, heading, text in attention if heading == "Context moves a word"]
    assert "A plain mean would make every word the same" in found


def test_one_page_is_made_the_same_twice():
    path = next(path for path in COURSE if path.stem[3:] == "masking")
    assert make_site.Site([path]).files == make_site.Site([path]).files


@pytest.mark.slow
def test_the_site_is_made_the_same_twice(files):
    again = make_site.Site(COURSE)
    again.add_the_others()
    assert {name for name in files if files[name] != again.files.get(name)} == set(again.files) - set(files) == set()


def test_the_command_writes_what_was_asked_for(tmp_path, capsys):
    assert make_site.main(["masking", "--still", "--to", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.glob("*.html")] == ["06_masking.html"]
    assert (tmp_path / "site.css").exists() and (tmp_path / "notebooks" / "06_masking.ipynb").exists()
    assert "files" in capsys.readouterr().out


def test_a_page_whose_recording_failed_keeps_its_pictures_and_says_so(tmp_path, monkeypatch):
    (tmp_path / "tx_helpers-1.whl").write_bytes(b"the course")
    monkeypatch.setattr(make_site.record_pages, "main", lambda notebooks: 1)
    monkeypatch.setattr(make_site, "kept", lambda path: {})
    monkeypatch.setattr(make_site.make_colab, "wheel_of_course", lambda folder: tmp_path / "tx_helpers-1.whl")
    assert make_site.main(["masking", "--to", str(tmp_path / "site")]) == 1
    page = Page((tmp_path / "site" / "06_masking.html").read_bytes())
    html = (tmp_path / "site" / "06_masking.html").read_text("utf-8")
    assert "its explorers are pictures here" in html and len(page.all("img")) > 5
    assert "notebooks/tx_helpers-1.whl" in page.links()
    assert (tmp_path / "site" / "notebooks" / "tx_helpers-1.whl").read_bytes() == b"the course"
