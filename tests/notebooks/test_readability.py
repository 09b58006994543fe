"""The figures of a notebook's text, on small texts, and the tool that prints them."""

import subprocess

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import readability
from notebook_frame import ROOT


def test_sentences():
    text = "# A\n\nOne two three. Four, five\nsix? No\n\n- a point of it;\n- another: here\n  it goes on\n\n| a |"
    assert [" ".join(words) for words in readability.sentences(text)] == [
        "One two three",
        "Four five six",
        "a point of it",
        "here it goes on",
    ]


@pytest.mark.parametrize(
    ("text", "passive", "inverted"),
    [
        ("The model reads the sentence.", False, False),
        ("The scores are divided by the root.", True, False),
        ("The state is then handed to the next step.", True, False),
        ("The weights are large.", False, False),
        ("Of these heads, only two are the ones we need.", False, True),
        ("Not so is the second one.", False, True),
        ("In the first block the heads look left.", False, False),
        ("At a low temperature the largest takes all.", False, False),
    ],
)
def test_passive_and_inverted_sentences(text, passive, inverted):
    found = readability.figures([new_markdown_cell(text)])
    assert (found.passive, found.inverted) == (passive, inverted)


def test_the_figures_of_a_notebook():
    picture = new_code_cell("plot(x)", outputs=[new_output("display_data", {"image/png": "iVBO"})])
    cells = [
        new_markdown_cell("# Six words are read before it\n\nOne two three four."),
        picture,
        new_markdown_cell("word " * 26 + ". Short one here."),
        new_markdown_cell("## Optional: more"),
        new_markdown_cell("one two three"),
    ]
    found = readability.figures(cells)
    assert (found.words, found.core_words, found.core_cells, found.before_picture) == (44, 39, 3, 10)
    assert (found.mean_length, found.long) == (11, 1 / 3)
    assert readability.words_before_picture(cells[2:3]) == 29


def test_before_and_after_stand_in_one_table():
    now = readability.Figures(100, 90, 20, 5, 12.34, 0.1, 0.2, 0.01)
    lines = readability.table({"04_x.ipynb": now, "13_y.ipynb": now}, {"04_x.ipynb": now._replace(words=200)})
    _, first, second = lines.split("\n")
    assert " ".join(first.replace(" > ", ">").split()) == "04 200>100 90>90 20>20 5>5 12.3>12.3 10%>10% 20%>20% 1%>1%"
    assert second.split() == ["13", "100", "90", "20", "5", "12.3", "10%", "20%", "1%"]


def test_the_tool_reads_a_revision(capsys):
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("not a git checkout")
    assert readability.main(["04", "--rev", "HEAD"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "words" and row.split()[0] == "04"
    assert readability.main(["--rev", "no-such-revision"]) == 1
    assert "git knows no revision 'no-such-revision'" in capsys.readouterr().err
