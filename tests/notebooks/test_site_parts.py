"""The parts of the web edition: formulas, folded cells, living parts and their pictures, what is searched."""

import base64
import json
import re
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import site_scripts
import site_search
from site_cells import body
from site_formulas import mathml
from site_markdown import html_of, page_of
from tx_helpers.exercises.catalogue import find
from tx_helpers.publish.packing import inert
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Picture, Svg, new_figure
from tx_helpers.widgets.attention_view import AttentionView

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="{}" height="9"/></svg>'
HOSTILE = "</script><script>alert(1)</script><!-- \u202e <img src=x onerror=alert(2)>"

# --- formulas


def drawn(tex: str, display: bool = False) -> str:
    """The formula's MathML without its source and without the elements that only hold others."""
    text = re.sub(r"<annotation.*?</annotation>|</?(?:math|mrow|semantics)\b[^>]*>", "", mathml(tex, display))
    return re.sub(r' (?:stretchy|mathvariant|xmlns|lspace|rspace)="[^"]*"', "", text)


@pytest.mark.parametrize(
    ("tex", "elements"),
    [
        ("x_t", "<msub><mi>x</mi><mi>t</mi></msub>"),
        (r"\sin p", '<mi>sin</mi><mspace width="0.17em" /><mi>p</mi>'),
        (r"\sin(p)", "<mi>sin</mi><mo>(</mo><mi>p</mi><mo>)</mo>"),
        (r"2\ln x", '<mn>2</mn><mspace width="0.17em" /><mi>ln</mi><mspace width="0.17em" /><mi>x</mi>'),
        (r"|x|", "<mo>|</mo><mi>x</mi><mo>|</mo>"),
        (r"\mathcal L", "<mi>ℒ</mi>"),
        (r"\operatorname{a}(x)", "<mi>a</mi><mo>(</mo><mi>x</mi><mo>)</mo>"),
    ],
)
def test_what_a_formula_becomes(tex, elements):
    assert drawn(tex) == elements


def test_a_formula_holds_its_source():
    source = r"\frac{a < b}{\text{c \& d}}"
    tree = ElementTree.fromstring(mathml(f" {source}\n"))
    (annotation,) = [node for node in tree.iter() if node.tag.endswith("annotation")]
    assert annotation.text == source and annotation.get("encoding") == "application/x-tex"


def test_aligned_rows_stand_below_each_other():
    tree = ElementTree.fromstring(mathml(r"\begin{aligned} a &= b\\[2pt] c &= d \end{aligned}", display=True))
    rows = [node for node in tree.iter() if node.tag.endswith("mtr")]
    assert tree.get("display") == "block" and [len(row) for row in rows] == [2, 2]
    assert [cell.get("columnalign") for cell in rows[0]] == ["right", "left"]


@pytest.mark.parametrize("tex", [r"\unheardof{x}", r"x + \foo"])
def test_an_unknown_command_is_named(tex):
    with pytest.raises(ValueError, match=r"(?:unheardof|foo) is not known; see REPLACED"):
        mathml(tex)


def test_tex_that_is_broken_is_shown_in_the_error():
    with pytest.raises(ValueError, match=r"formula .*left\( a'.*: latex2mathml cannot read it"):
        mathml(r"\left( a")


# --- text


def test_links_to_notebooks_become_links_to_pages():
    assert page_of("04_self_attention.ipynb#Why-the-square-root") == "04_self_attention.html#Why-the-square-root"
    assert page_of("https://x.org/04_self_attention.ipynb") == "https://x.org/04_self_attention.ipynb"
    shown = html_of("[a](00_start_here.ipynb#term-00-key \"it is 'found' by\") and [b](#below)")
    assert (
        'href="00_start_here.html#term-00-key" title="it is &#x27;found&#x27; by"' in shown and 'href="#below"' in shown
    )


def test_headings_have_jupyters_anchors_each_once():
    taken = set()
    first = html_of("## The same with `nn.Embedding`, again", taken)
    assert '<h2 id="The-same-with-nn.Embedding,-again">' in first
    assert '<h3 id="A-">' in html_of("## A\n\ntext\n\n### A", taken)


def test_a_dollar_in_code_is_no_formula():
    assert html_of("`a $x$ b`") == "<p><code>a $x$ b</code></p>\n"


# --- what is folded


def test_what_answers_a_prediction_is_folded_under_its_key():
    asked = 'guess = predict("two-heads", "Which?", ["a", "b"])'
    told = [new_output("stream", name="stdout", text=text) for text in ("question", "answer", "finding", "later")]
    sources = (asked, "f(1)", 'guess.reveal("a", "Because.")', "g(1)")
    cells = [new_code_cell(source, outputs=[output]) for source, output in zip(sources, told, strict=True)]
    html = body(new_notebook(cells=cells)).html
    (folded,) = re.findall(r'<details class="waits" data-key="two-heads">(.*?)</details>', html, re.DOTALL)
    assert "answer" in folded and [word in folded for word in ("question", "finding", "later")] == [False] * 3


def test_what_jupyter_folds_is_folded_on_the_page():
    cells = [
        new_markdown_cell("# 07"),
        new_markdown_cell("## Optional: more"),
        new_markdown_cell("### Optional: much more"),
        new_markdown_cell("Text."),
        new_code_cell("f(1)"),
        new_markdown_cell("## End"),
        new_code_cell("f(2)", metadata={"tags": ["hide-input"]}),
    ]
    html = body(new_notebook(cells=cells)).html
    parts = re.findall(r"<details|</details>|Text\.|Show [a-z ]+|>[12]<|id=.End.", html)
    section, code = ["<details", "Show this section"], ["<details", "Show code"]
    inside = [*section, *section, "Text.", ">1<", "</details>", "</details>"]
    assert parts == [*inside, 'id="End"', *code, ">2<", "</details>"]


def test_an_edition_without_solutions_shows_none(monkeypatch):
    monkeypatch.setattr(find("mix"), "recorded", {"starter": "", "mistakes": [], "results": {}})
    html = body(new_notebook(cells=[new_code_cell("def mix(x): ...", id="exercise-mix")])).html
    assert "Hint 3 of 3" in html and "Solution" not in html


# --- pictures, and what lives in their place


def drawn_by_svg(width):
    return Svg(SQUARE.format(width), 'The square of "four" is <16>.')


def drawn_by_matplotlib(width):
    figure, axis = new_figure(2, 2)
    axis.bar([0], [width])
    return Picture(figure, alt='The square of "four" is <16>.')


@pytest.mark.parametrize(
    "explorer",
    [
        Explore(drawn_by_svg, "square", width=(1, 9)),
        Explore(drawn_by_matplotlib, "square", width=(1, 9)),
        AttentionView.from_tensor([[[[0.25, 0.75], [1.0, 0.0]]]], ["a", "<b>"], name="square"),
    ],
    ids=["svg", "png", "attention"],
)
def test_a_live_widget_saved_without_its_state_is_a_picture(explorer):
    """A learner's own notebook holds the view of a widget that is gone, beside the picture."""
    data, metadata = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    stored = {mime: base64.b64encode(part).decode() if isinstance(part, bytes) else part for mime, part in data.items()}
    output = new_output("display_data", stored, metadata=metadata)
    made = body(new_notebook(cells=[new_code_cell("square", outputs=[output])]))
    assert len(re.findall("<img ", made.html)) == len(made.pictures) == 1
    (alt,), (path,) = re.findall(r' alt="([^"]*)"', made.html), re.findall(r' src="(pictures/\w+\.\w+)"', made.html)
    assert "&lt;16&gt;" in alt or "&lt;b&gt;" in alt
    assert path in made.pictures


def living(text: str = "Explorer 'square': it lives") -> dict:
    controls = [
        {"label": "Head", "texts": ["1", "2"]},
        {"label": "Step", "texts": list("12345678")},
        {"label": "Start"},
    ]
    state = {"value": HOSTILE, "bytes": {"base64": "AAEC"}, "recording": {"controls": controls}}
    return {"script": "abc", "state": state, "text": text, "name": "square", "way": "recorded, 2 settings"}


def test_a_form_finds_its_output_by_its_name_whatever_a_processor_made_of_its_figures():
    outputs = [
        new_output("display_data", {"text/plain": "another"}),
        new_output("display_data", {"text/plain": "Explorer 'square': it lives", "text/html": "<p>picture</p>"}),
    ]
    cells = [new_code_cell("x", id="one", outputs=outputs), new_code_cell("x", id="two", outputs=outputs)]
    lives = living("Explorer 'square': it lives (0.96 here, 0.95 there)")
    made = body(new_notebook(cells=cells), {"one": [living("Explorer 'other': text"), lives]})
    assert made.forms == [lives]
    assert [way for _, _, _, way in made.explorers] == [
        "recorded, 2 settings: Head (1, 2); Step (8: 1 … 8)",
        "picture",
    ]
    assert (
        made.html.count("data-form") == 1 and '<div class="shown live" data-form="0"><p>picture</p></div>' in made.html
    )


def test_a_module_becomes_a_classic_script():
    module = "export const a = 1;\nexport function f() {\n}\nexport { a as b };\nexport default { render: f };\n"
    script = site_scripts.classic(module, "k1")
    assert "export" not in script
    assert (
        script.startswith('(window.txModules ??= {})["k1"] = (() => {\n')
        and "const txDefault = { render: f };" in script
    )
    with pytest.raises(ValueError, match=r"says \"import x from './y.js'\", but on a page it must import nothing"):
        site_scripts.classic("import x from './y.js'\nexport default x", "k2")
    with pytest.raises(ValueError, match="no line of the module begins with 'export default'"):
        site_scripts.classic("export const a = 1", "k3")


def test_hostile_state_stays_text():
    text = inert(living())
    assert "<" not in text
    assert json.loads(text) == living()


# --- search


def test_sections_hold_text_but_neither_formulas_nor_outputs():
    cells = [
        new_markdown_cell("# Title\n\nBegin $x^2$ here."),
        new_markdown_cell("## A `part`\n\nText of **it**."),
        new_code_cell("shown = 1", outputs=[new_output("stream", text="printed")]),
        new_markdown_cell('|word|first met|\n|-|-|\n|<a id="term-01-it"></a>it|a thing [back](#cell-id=a)|\n\nAfter.'),
    ]
    html = body(new_notebook(cells=cells)).html
    file, title, sections = site_search.entry("a.html", "Title", "About it.", html)
    assert (file, title) == ("a.html", "Title")
    assert sections == [
        ["", "Title", "About it. Begin here."],
        ["A-part", "A part", "Text of it. shown = 1 word first met After."],
        ["term-01-it", "it", "a thing"],
    ]
    assert site_search.outline(html) == [(2, "A-part", "A part")]
