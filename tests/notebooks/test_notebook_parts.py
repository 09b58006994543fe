"""Optional sections, the core path, folded code and words, on small cells."""

import nbformat
import pytest
from nbconvert import ScriptExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import notebook_parts as parts
from notebook_frame import ANSWER, QUESTION, metadata, titled
from refresh_notebooks import fold


def cells(*texts: str) -> list:
    """Markdown cells; code where the text begins with ">>> "."""
    made = [
        new_code_cell(text.removeprefix(">>> ")) if text.startswith(">>> ") else new_markdown_cell(text)
        for text in texts
    ]
    for number, cell in enumerate(made):
        cell["id"] = f"c{number}"
    return made


WHOLE = cells(
    "# 07 Title",  # 0
    "## Part",
    "### Optional: a proof\n\nFor those who want it.",
    "A text\n\n#### with a smaller heading",
    ">>> proof()  # 4\n# no heading",
    "```\n## in code\n```",
    "### Next\n\nA text.",  # 6
    "## Optional: Measured, not believed",
    '### "A claim"',
    ">>> measure()",
    "## Exercises",  # 10
    "### Exercise 1",
    "## What to remember",
)


def test_a_notebook_becomes_a_script_with_its_texts_as_comments():
    of_notebook, _ = metadata(WHOLE)
    text, resources = ScriptExporter().from_notebook_node(new_notebook(cells=WHOLE, metadata=of_notebook))
    assert resources["output_extension"] == ".py" and "# ## Part\n" in text and "\nmeasure()\n" in text


def test_an_optional_section_ends_at_the_next_heading_of_its_level_or_a_higher_one():
    assert [list(part) for part in parts.optional_sections(WHOLE)] == [[2, 3, 4, 5], [7, 8, 9]]
    assert list(parts.section(WHOLE, 12)) == [12]


def test_the_core_path_is_the_rest_without_the_exercises():
    assert [cell["id"] for cell in parts.core_path(WHOLE)] == ["c0", "c1", "c6", "c12"]


def test_what_is_folded_is_in_the_metadata():
    of_notebook, of_cells = metadata(WHOLE)
    assert of_notebook["colab"] == {"collapsed_sections": ["c2", "c7"]}
    assert of_cells[2] == {"jp-MarkdownHeadingCollapsed": True, "id": "c2"}
    assert [number for number, its in enumerate(of_cells) if its] == [2, 7]
    assert "colab" not in metadata(cells("# 07", "text"))[0]


@pytest.mark.parametrize(
    ("source", "tags", "folded"),
    [
        ("# Set-up: does nothing", [], True),
        ('guess = predict("x", "What?", unit="%")\nguess', [], True),
        ("guess.reveal(3, 'Three.')", [], True),
        ("plot(x)", ["hide-input"], True),
        ("plot(x)", ["nbval-ignore-output"], False),
        ("y = model.predict(x)", [], False),
    ],
)
def test_folded_code(source, tags, folded):
    notebook = new_notebook(cells=[new_code_cell(source, metadata={"tags": tags, "collapsed": True})])
    fold(notebook)
    kept = [tag for tag in tags if tag != "hide-input"]
    expected = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": [*kept, "hide-input"]}
    assert notebook.cells[0].metadata == (expected if folded else {"tags": tags} if tags else {})
    once = notebook.cells[0].metadata.copy()
    fold(notebook)
    nbformat.validate(notebook)
    assert notebook.cells[0].metadata == once


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("guess = predict('x', 'What?')\nguess", QUESTION),
        ("from a import predict\n\nguess = predict('x', 'What?')", QUESTION),
        ("guess.reveal(3, 'Three.')", ANSWER),
        ("y = model(x)", None),
    ],
)
def test_a_folded_question_shows_a_title_and_no_answer(source, title):
    assert titled(source) == (f"{title}\n{source}" if title else source)
    assert titled(titled(source)) == titled(source)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One two three.", 3),
        ("a query's weights, 2.5 of 3: don't", 7),
        ("the `x = f(y)` code and\n\n```\nmore code\n```", 3),
        ("the sum $a + b$ and $$\na = b\n$$ end", 4),
        ("[a link](04_x.ipynb#with-many-parts 'a title') ![a picture](x.svg)", 2),
        ("| head | one |\n|---|---|\n| two | three |", 4),
        ("<!-- colab --><a href='x'>Open</a>\n\n**Time:** core path about 3 min", 0),
        ("text <a id='x'></a> behind", 2),
        (">>> plot('a text that is not read')", 0),
        (">>> guess = predict('x', 'What is it?', ['a cat', 'a dog'], unit='words')", 8),
        (">>> guess.reveal(round(x), f'It is {x:.2f} of them, says {y}')", 5),
    ],
)
def test_words(text, count):
    assert parts.words(cells(text)) == count
