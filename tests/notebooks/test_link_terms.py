"""Terms are linked to their meaning where they first appear in prose, and only there; twice is the same as once."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import glossary
import link_terms

NAME = "08_x.ipynb"
OLD = "00_start_here.ipynb#Glossary"
GLOSSARY = """## Glossary

| word | meaning |
|---|---|
| head | one |
| padding mask, padding | two (**P**) |
| KV cache (key–value cache) | "three" |
| memory, `<bos>` | four |"""
TO = {
    "head": '#term-08-head "one"',
    "padding mask": '#term-08-padding-mask "two [P]"',
    "padding": '#term-08-padding "two [P]"',
    "cache": "#term-08-key-value-cache \"'three'\"",
    "memory": '#term-08-memory "four"',
}
HEAD = TO["head"]


def notebook(*texts, terms="head, padding mask, padding, key–value cache (KV cache), memory"):
    last = f"## What to remember\n\n- x\n\n**Terms learned:** {terms}. All in the\n[glossary]({OLD})."
    cells = [new_markdown_cell(text, id=f"c{number}") for number, text in enumerate((*texts, last))]
    return new_notebook(cells=cells)


def linked(made, name: str = NAME) -> list[str]:
    start = made if name == link_terms.START else notebook(GLOSSARY, terms="head")
    return link_terms.linked(made, name, link_terms.glossary_of({link_terms.START: start, NAME: notebook()}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A head and a head.", f"A [head]({HEAD}) and a head."),
        ("Two **heads** see.", f"Two [**heads**]({HEAD}) see."),
        ("Two *heads* see.", f"Two [*heads*]({HEAD}) see."),
        ("**Two heads** see.", f"**Two [heads]({HEAD})** see."),
        ("Memories fade.", f"[Memories]({TO['memory']}) fade."),
        (
            "its padding\nmask, and padding",
            f"its [padding\nmask]({TO['padding mask']}), and [padding]({TO['padding']})",
        ),
        ("the KV cache, a key–value cache", f"the [KV cache]({TO['cache']}), a key–value cache"),
        ("| head | one |\n|---|---|\n| a head | two |", f"| [head]({HEAD}) | one |\n|---|---|\n| a head | two |"),
        # no prose, or another word
        ("# A head\n\nThe head.", f"# A head\n\nThe [head]({HEAD})."),
        ("`head`, $head$ and $$\nhead\n$$ head", f"`head`, $head$ and $$\nhead\n$$ [head]({HEAD})"),
        ("```\nhead\n```\nhead", f"```\nhead\n```\n[head]({HEAD})"),
        ("[one head](05_x.ipynb), a head", f"[one head](05_x.ipynb), a [head]({HEAD})"),
        ('<img alt="head"> head', f'<img alt="head"> [head]({TO["head"]})'),
        ("**You need first:** a head.\n\nA head.", f"**You need first:** a head.\n\nA [head]({HEAD})."),
        (
            "**You are here:** Parts: **a head**\n\nA head.",
            f"**You are here:** Parts: **a head**\n\nA [head]({HEAD}).",
        ),
        ("ahead, multi-head, headed, head-first", "ahead, multi-head, headed, head-first"),
    ],
)
def test_where_a_link_is_put(text, expected):
    assert linked(notebook(text))[0] == expected


def test_only_the_first_cell_that_names_a_term_has_the_link():
    made = notebook("nothing", "a head", "a head")
    made.cells.insert(1, new_code_cell("head = 1  # a head"))
    assert linked(made)[:4] == ["nothing", "head = 1  # a head", f"a [head]({HEAD})", "a head"]


def test_links_are_made_anew():
    texts = ("a head, earlier", f"a [head]({OLD}), [glossary]({OLD}), [word]({OLD})", '[*word*](#term-08-head "old")')
    made = linked(notebook(*texts))
    assert made[:3] == [f"a [head]({HEAD}), earlier", f"a head, [glossary]({OLD}), [word]({OLD})", "*word*"]


def test_the_last_cell_has_a_table_of_the_words():
    made = notebook("a head, earlier", "KV caches")
    last = linked(made)[-1]
    assert last.partition("### The words of this notebook\n\n")[2].split("\n") == [
        "| word | meaning | first met |",
        "|---|---|---|",
        '| <a id="term-08-head"></a>head | one | [back](#cell-id=c0) |',
        '| <a id="term-08-padding-mask"></a>padding mask | two (**P**) | [back](#cell-id=c2) |',
        '| <a id="term-08-padding"></a>padding | two (**P**) | [back](#cell-id=c2) |',
        '| <a id="term-08-key-value-cache"></a>key–value cache (KV cache) | "three" | [back](#cell-id=c1) |',
        '| <a id="term-08-memory"></a>memory | four | [back](#cell-id=c2) |',
    ]
    made.cells[-1].source = last
    assert linked(made)[-1] == last


def test_the_glossary_gets_anchors_and_the_notebooks_that_teach_a_word():
    start = notebook(GLOSSARY, "the head, a padding", terms="head")
    made = linked(start, link_terms.START)
    table, text, last = made
    assert table.split("\n")[2:] == [
        "| word | meaning | taught in |",
        "|---|---|---|",
        f'| <a id="term-00-head"></a>head | one | [00]({link_terms.START}), [08]({NAME}) |',
        '| <a id="term-00-padding-mask"></a><a id="term-00-padding"></a>padding mask, padding | two (**P**) | '
        f"[08]({NAME}) |",
        '| <a id="term-00-kv-cache"></a><a id="term-00-key-value-cache"></a>KV cache (key–value cache) | "three" | '
        f"[08]({NAME}) |",
        f'| <a id="term-00-memory"></a><a id="term-00-bos"></a>memory, `<bos>` | four | [08]({NAME}) |',
    ]
    assert text == f"the [head]({HEAD.replace('08', '00')}), a padding"
    assert "### The words" not in last
    for cell, source in zip(start.cells, made, strict=True):
        cell.source = source
    assert linked(start, link_terms.START) == made


@pytest.mark.parametrize(
    ("meaning", "title"),
    [
        ("the *list* of all tokens, **V** of them", "the list of all tokens, V of them"),
        ('`x` and $W_O$, "so" (T, S) | [05](05_x.ipynb)', "x and W_O, 'so' [T, S] / 05"),
        ("word " * 40, "word " * 22 + "word…"),
    ],
)
def test_a_meaning_as_title(meaning, title):
    assert glossary.title(meaning) == title


def test_a_word_without_a_meaning_has_no_link():
    assert linked(notebook("a foot, a head", terms="foot, head"))[0] == f"a foot, a [head]({HEAD})"


def test_a_term_that_the_text_never_names_is_linked_in_the_list():
    made = notebook("a head, its padding, a padding mask, a KV cache")
    assert link_terms.only_listed(made) == ["memory"]
    made.cells[-1].source = linked(made)[-1]
    assert f"[memory]({TO['memory']}). All in the\n[glossary]({OLD})." in made.cells[-1].source
    assert link_terms.only_listed(made) == ["memory"]
    assert link_terms.terms_learned(made)[-2:] == [{"key–value cache", "kv cache"}, {"memory"}]


def test_the_tool_writes_once(tmp_path, capsys):
    path = tmp_path / NAME
    made = notebook("a head, its padding, a padding mask, a KV cache, its memory")
    nbformat.write(made, path)
    nbformat.write(notebook(GLOSSARY, terms="head"), tmp_path / link_terms.START)
    assert link_terms.main(["08", "--check", "--folder", str(tmp_path)]) == 1
    assert nbformat.read(path, as_version=4) == made
    assert link_terms.main(["08", "--folder", str(tmp_path)]) == 0
    assert link_terms.main(["08", "--check", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"would change: {NAME}",
        f"changed: {NAME}",
        "would change: nothing",
    ]
