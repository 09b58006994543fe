"""Terms are linked to the glossary where they first appear in prose, and only there; doing it twice changes nothing."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import link_terms

NAME = "08_x.ipynb"
TO = "00_start_here.ipynb#Glossary"


def notebook(*texts, terms="head, padding mask, padding, key–value cache (KV cache), memory"):
    last = f"## What to remember\n\n- x\n\n**Terms learned:** {terms}. All in the\n[glossary]({TO})."
    return new_notebook(cells=[*map(new_markdown_cell, texts), new_markdown_cell(last)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A head and a head.", f"A [head]({TO}) and a head."),
        ("Two **heads** see.", f"Two [**heads**]({TO}) see."),
        ("Two *heads* see.", f"Two [*heads*]({TO}) see."),
        ("**Two heads** see.", f"**Two [heads]({TO})** see."),
        ("Memories fade.", f"[Memories]({TO}) fade."),
        ("its padding\nmask, and padding", f"its [padding\nmask]({TO}), and [padding]({TO})"),
        ("the KV cache, a key–value cache", f"the [KV cache]({TO}), a key–value cache"),
        ("| head | one |\n|---|---|\n| a head | two |", f"| [head]({TO}) | one |\n|---|---|\n| a head | two |"),
        # no prose, or another word
        ("# A head\n\nThe head.", f"# A head\n\nThe [head]({TO})."),
        ("`head`, $head$ and $$\nhead\n$$ head", f"`head`, $head$ and $$\nhead\n$$ [head]({TO})"),
        ("```\nhead\n```\nhead", f"```\nhead\n```\n[head]({TO})"),
        ("[one head](05_x.ipynb), a head", f"[one head](05_x.ipynb), a [head]({TO})"),
        ('<img alt="head"> head', f'<img alt="head"> [head]({TO})'),
        ("**You need first:** a head.\n\nA head.", f"**You need first:** a head.\n\nA [head]({TO})."),
        ("**You are here:** Parts: **a head**\n\nA head.", f"**You are here:** Parts: **a head**\n\nA [head]({TO})."),
        ("ahead, multi-head, headed, head-first", "ahead, multi-head, headed, head-first"),
    ],
)
def test_where_a_link_is_put(text, expected):
    assert link_terms.linked(notebook(text), NAME)[0] == expected


def test_only_the_first_cell_that_names_a_term_has_the_link():
    made = notebook("nothing", "a head", "a head")
    made.cells.insert(1, new_code_cell("head = 1  # a head"))
    assert link_terms.linked(made, NAME)[:4] == ["nothing", "head = 1  # a head", f"a [head]({TO})", "a head"]


def test_links_are_made_anew():
    moved = notebook("a head, earlier", f"a [head]({TO}), [glossary]({TO}), [word]({TO})")
    assert link_terms.linked(moved, NAME)[:2] == [f"a [head]({TO}), earlier", f"a head, [glossary]({TO}), [word]({TO})"]


def test_notebook_00_links_to_its_own_glossary_which_is_left_alone():
    start = notebook("## Glossary\n\n| head | one |", "the head")
    assert link_terms.linked(start, link_terms.START)[:2] == [
        "## Glossary\n\n| head | one |",
        "the [head](#Glossary)",
    ]


def test_a_term_that_the_text_never_names_is_linked_in_the_list():
    made = notebook("a head, its padding, a padding mask, a KV cache")
    assert link_terms.only_listed(made) == ["memory"]
    made.cells[-1].source = link_terms.linked(made, NAME)[-1]
    assert f"[memory]({TO}). All in the\n[glossary]({TO})." in made.cells[-1].source
    assert link_terms.terms_learned(made)[-2:] == [{"key–value cache", "kv cache"}, {"memory"}]


def test_the_tool_writes_once(tmp_path, capsys):
    path = tmp_path / NAME
    made = notebook("a head, its padding, a padding mask, a KV cache, its memory")
    nbformat.write(made, path)
    assert len(link_terms.unlinked(made, NAME)) == 1
    assert link_terms.main(["--check", "--folder", str(tmp_path)]) == 1
    assert nbformat.read(path, as_version=4) == made
    assert link_terms.main(["08", "--folder", str(tmp_path)]) == 0
    assert link_terms.unlinked(nbformat.read(path, as_version=4), NAME) == []
    assert link_terms.main(["--check", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"would change: {NAME}",
        f"changed: {NAME}",
        "would change: nothing",
    ]
