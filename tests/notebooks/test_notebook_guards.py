"""Every guard of the notebooks fails on a small bad notebook and passes on a good one."""

import copy
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_output

import notebook_guards as guards
from link_terms import START, glossary_of
from notebook_comparison import compared_share, is_compared
from notebook_frame import ROOT
from small_notebooks import CLOSING, LESSON, NAME, code, notebook, shown, stream


def test_a_good_notebook_has_no_findings(tmp_path):
    (tmp_path / "06_neighbour.ipynb").write_text("{}")
    good = notebook(
        new_markdown_cell("See [06](06_neighbour.ipynb#part), [a paper](https://example.org), [below](#below)."),
        code("import math\nmath.pi", new_output("execute_result", {"text/plain": "3.14"}, execution_count=2)),
        code("draw()", shown({"alt": "A curve that falls from left to right"}, png="iVBO", plain="from 3 to 1")),
        code("svg()", shown(svg='<svg role="img" aria-label="Two boxes joined by an arrow"><path/></svg>')),
        new_markdown_cell(CLOSING),
    )
    path = tmp_path / NAME
    nbformat.write(good, path)
    assert guards.course_guards(path, good) == []


def changed_header(old: str, new: str):
    bad = notebook()
    assert old in bad.cells[0].source
    bad.cells[0].source = bad.cells[0].source.replace(old, new)
    return bad


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (f"# {LESSON.number} Good", "# 99 Good", f"'# {LESSON.number} '"),
        ("- see;\n", "", "followed by 2 points"),
        ("- do.", "- do.\n- a\n- b\n- c", "followed by 6 points"),
        ("**You need first:**", "You need", "lacks '**You need first:**'"),
    ],
)
def test_header_guard(old, new, finding):
    (found,) = guards.header(changed_header(old, new), Path(NAME))
    assert finding in found


def test_the_machines_time_is_measured():
    bad = changed_header("machine 2 min", "machine not measured yet")
    assert guards.header(bad, Path(NAME)) == ["the machine's time is not measured (tools/refresh_notebooks.py)"]


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("## What to remember", "A last word.\n\n## What to remember", "does not begin with '## What to remember'"),
        ("- Three things.\n", "", "has 2 points"),
        ("- One thing.", "- One thing.\n- a\n- b\n- c\n- d\n- e", "has 8 points"),
        ("**Terms learned:** token.", "", "lacks '**Terms learned:**'"),
        ("**Sources:** a paper.", "", "lacks '**Sources:**'"),
        ("**Next:** the end.", "", "lacks '**Next:**'"),
    ],
)
def test_closing_guard(old, new, finding):
    assert old in CLOSING
    (found,) = guards.closing(notebook(new_markdown_cell(CLOSING.replace(old, new))))
    assert finding in found


def test_the_set_up_cell_comes_second():
    bad = notebook()
    bad.cells.insert(1, new_markdown_cell("text"))
    assert guards.header(bad, Path(NAME)) == ["the second cell is not the set-up cell"]


def spoil(change):
    bad = notebook(code("f()", stream("1\n")))
    change(bad)
    return bad


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda nb: nb.cells[2].update(execution_count=3), "[1, 3], expected 1 to 2"),
        (lambda nb: nb.cells[2].update(execution_count=None), "[1, None], expected 1 to 2"),
        (lambda nb: nb.cells[2].pop("id"), "a cell has no id"),
        (lambda nb: nb.cells[2].outputs.append(widget_view()), "cell 3: the output names a widget model"),
    ],
)
def test_stored_form_guard(change, finding):
    assert guards.stored_form(notebook(code("f()", stream("1\n")))) == []
    (found,) = guards.stored_form(spoil(change))
    assert finding in found


def widget_view():
    return new_output("display_data", {guards.WIDGET_VIEW: {"model_id": "a"}, "text/plain": "0%"})


@pytest.mark.parametrize(
    ("output", "finding"),
    [
        (
            new_output("error", ename="ValueError", evalue="no", traceback=[]),
            "code cell 2 ends in an error: ValueError: no",
        ),
        (stream("careful\n", "stderr"), "code cell 2 prints to stderr: 'careful\\n'"),
        (shown(html="<p><script>1</script>"), "code cell 2 stores a script in its output"),
    ],
)
def test_output_guard(output, finding):
    assert guards.clean_outputs(notebook(code("f()", output))) == [finding]


@pytest.mark.parametrize(
    "path", ["/home/ada/x", "/root/x", "/tmp/x", "/work/x", "/Users/ada", r"C:\Users\ada", str(ROOT / "x")]
)
def test_machine_path_guard(path):
    for cell in (
        code(f"open({path!r})"),
        code("f()", stream(f"saved in {path}\n")),
        code("f()", shown(html=f"<p>{path}")),
    ):
        assert guards.machine_paths(notebook(cell)), path
    for fine in ("~/x", "and/or", "notebooks/x", "https://example.org/work/x", "B/T"):
        assert guards.machine_paths(notebook(code(f"open({fine!r})"))) == []


def test_size_guard(tmp_path):
    path = tmp_path / NAME
    path.write_bytes(b"x" * 999_999)
    assert guards.size(path) == []
    path.write_bytes(b"x" * 1_000_000)
    assert guards.size(path) == ["1.00 MB, expected less than 1"]


LONG = "A curve that falls from left to right"


@pytest.mark.parametrize(
    ("cell", "good"),
    [
        (new_markdown_cell(f"![{LONG}](https://example.org/a.png)"), True),
        (new_markdown_cell("![](https://example.org/a.png)"), False),
        (new_markdown_cell("![plot](https://example.org/a.png)"), False),
        (new_markdown_cell(f'<img src="a" alt="{LONG}">'), True),
        (new_markdown_cell('<img src="a">'), False),
        (code("f()", shown({"alt": LONG}, png="iVBO")), True),
        (code("f()", shown({"image/png": {"alt": LONG}}, png="iVBO")), True),
        (code("f()", shown(png="iVBO", plain="<Figure size 640x480 with 1 Axes>")), False),
        (code("f()", shown(html=f"<img alt='{LONG}' src='data:'>")), True),
        (code("f()", shown(html="<img src='data:'>")), False),
        (code("f()", shown(html=f'<svg role="img" aria-label="{LONG}"></svg>')), True),
        (code("f()", shown(html="<svg><path/></svg>")), False),
        (code("f()", shown(html='<svg aria-hidden="true"><path/></svg>')), True),
        (code("f()", shown(svg=f"<svg><title>{LONG}</title></svg>")), True),
        (code("f()", shown(svg=f'<svg aria-label="{LONG}"></svg>')), False),
        (code("f()", shown(svg="<svg><path/></svg>")), False),
    ],
)
def test_alt_text_guard(cell, good):
    assert len(guards.alt_texts(notebook(cell))) == (0 if good else 1)


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("[next](09_absent.ipynb)", "cell 3: the link to 09_absent.ipynb leads nowhere"),
        (f"![{LONG}](../figures/a.svg)", "cell 3: the picture ../figures/a.svg is a neighbour's file"),
    ],
)
def test_link_guard(text, finding, tmp_path):
    (found,) = guards.links(notebook(new_markdown_cell(text)), tmp_path)
    assert finding in found


def test_glossary_guard():
    table = "## Glossary\n\n| word | meaning |\n|---|---|\n| head | one |\n| top-k, *top-p* (nucleus) | two |"
    words = glossary_of({START: notebook(new_markdown_cell(table))})
    learned = "**Terms learned:** head, Top-k, nucleus\nsampling, KV cache (key–value cache). All in the glossary."
    assert guards.unexplained_terms(notebook(new_markdown_cell(learned)), words) == [
        "not in the glossary: nucleus sampling",
        "not in the glossary: key–value cache / kv cache",
    ]
    assert guards.unexplained_terms(notebook(new_markdown_cell("**Terms learned:** head, nucleus.")), words) == []


def test_repeated_code_guard():
    twin = code("a = f(1)\nb = f(2)\nif a:\n    c = 3")
    one = code("a = f(1)\nb = f(2)  # why\n\nif a:\n    c = 3")
    other = code("import x\nstart = 0\na = f( 1 )\nb = f(2)\nfrom y import z\nif a:\n    c = 3")
    assert guards.repeated_code({"01": notebook(one, code("a = f(1)\nb = f(2)\nif a:\n    c = 4"))}) == []
    assert guards.repeated_code({"01": notebook(one), "02": notebook(other)}) == [
        "02, code cell 2: 4 lines from 'a = f(1)' stand in 01, code cell 2, too"
    ]
    assert len(guards.repeated_code({"01": notebook(one, twin)})) == 1
    told = code('def g(x):\n    """Text."""\n    y = x + 1\n    return y')
    untold = code("def h(x, z):\n    y = x + 1\n    return y")
    assert guards.repeated_code({"01": notebook(told), "02": notebook(untold)}) == [
        "02, code cell 2: the function h stands in 01, code cell 2, too"
    ]
    small, smaller = code("def half(x):\n    return x / 2"), code("def h(x):\n    return x / 2")
    assert guards.repeated_code({"01": notebook(small, smaller)}) == []


def test_length_guards():
    full = "\n\n".join(["x = 1"] * 25)
    assert guards.short_cells(notebook(code(full))) == []
    assert guards.short_cells(notebook(code(full + "\ny = 1"))) == ["code cell 2 has 26 lines, expected at most 25"]
    assert guards.median_lines([notebook(code("a"), code("a\nb")), notebook(code("a\nb\nc"))]) == 2
    folded = code("a\nb\nc\nd", tags=("hide-input",))
    assert guards.median_lines([notebook(code("a\nb"), folded)]) == 2


@pytest.mark.parametrize(
    ("cell", "finding"),
    [
        (code("f()", tags=("nbval-skip",)), "is skipped by nbval"),
        (code("# NBVAL_SKIP\nf()"), "is skipped by nbval"),
        (code("f()", tags=("raises-exception",)), "is marked to raise"),
        (code("%matplotlib inline\nf()"), "has the magic '%matplotlib inline'"),
        (code("if x:\n    !ls"), "has the magic '!ls'"),
        (code("from ipywidgets import interact"), "uses interact,"),
        (code("widgets.interact_manual(f)"), "uses interact_manual,"),
        (code("widgets.Output()"), "uses Output,"),
        (code("from IPython.display import clear_output as wipe"), "uses clear_output,"),
        (code("display(1, display_id=True)"), "uses display_id,"),
        (code("plot(x);"), "has a trailing ';'"),
        (code("plot(x);  # quiet\ny = 1"), "has a trailing ';'"),
    ],
)
def test_forbidden_code_guard(cell, finding):
    (found,) = guards.forbidden_code(notebook(cell))
    assert finding in found


def test_what_the_guard_lets_pass():
    fine = "a = 1; b = 2\nprint('interact; Output %s' % a)  # no clear_output here;\ntext = '''\nx;\n'''"
    assert guards.forbidden_code(notebook(code(fine))) == []


def test_unused_import_guard():
    one, other = code("import torch\nfrom math import pi as p"), code("print(p)")
    assert guards.unused_imports(notebook(one, other)) == ["code cell 2 imports torch for nothing"]


def test_generator_guard():
    good, bad = code("a, b = f(c), f(d)\na, b = [f(x) for x in g]"), code("a, b = (f(x) for x in (c, d))")
    assert guards.unpacked_generators(notebook(good, bad)) == [
        "code cell 3 unpacks a generator into (a, b); write a line for each name"
    ]


TEXT = stream("3.14\n")


@pytest.mark.parametrize(
    ("cell", "compared"),
    [
        (code("print(f(x))", TEXT), True),
        (code("x", TEXT), True),
        (code("def f():\n    return 3\nf()", TEXT), True),
        (code("run = fit(model)", TEXT), True),
        (code("for a in [1, 2]:\n    print(a, f(a))", TEXT), True),
        (code("gap = f()\nprint('below 1e-5:', bool(gap < 1e-5))", TEXT), True),
        (code("show(figure, 'alt')", shown(png="iVBO", plain="curve from 3 to 1")), True),
        (code("show(figure, 'alt')", shown(html="<b>3</b>", plain="<IPython.core.display.HTML object>")), True),
        (code("f()", shown(plain="  0%|          | 0/3 [00:00<?, ?it/s]"), stream("loss 0.1\n")), True),
        # ignored
        (code("print(f(x))", TEXT, tags=("nbval-ignore-output",)), False),
        (code("# NBVAL_IGNORE_OUTPUT\nprint(f(x))", TEXT), False),
        # never compared by nbval, or without news
        (code("show(figure)", shown(png="iVBO")), False),
        (code("show(figure)", shown(png="iVBO", plain="<Figure size 640x480 with 1 Axes>")), False),
        (code("model.hook()", shown(plain="<torch.utils.Handle at 0x7f6bc5ad67d0>")), False),
        (code("plt.plot(x)", shown(plain="[<matplotlib.lines.Line2D at 0x7f6bc5ad67d0>]")), False),
        (code("fit(model)", shown(plain="  0%|          | 0/600 [00:00<?, ?it/s]")), False),
        # constant
        (code("3.14", TEXT), False),
        (code("print('done')", TEXT), False),
        (code("check(model)\nassert f(x)\nprint('all equal')", stream("all equal\n")), False),
        (code("check(model)\nassert f(x)\nprint('all equal')", stream("row 1\nall equal\n")), True),
        (code("assert f(x)\nprint('all equal')", TEXT), False),
        (code("show(figure, 'a curve ' 'falls')", shown(png="iVBO", plain="a curve falls")), False),
        (code("x = 3.14\nprint(f'{x:.2f}', '=' * 9)", TEXT), False),
        (code("for word in ['a', 'b']:\n    print(word)", TEXT), False),
        (code("model = build()\nprint('built')", TEXT), False),
        (code("[n for n in (1, 2)]", TEXT), False),
        (code("drawing('architecture')", shown(svg="<svg/>", plain="boxes and arrows")), False),
    ],
)
def test_what_counts_as_compared(cell, compared):
    assert is_compared(cell) is compared


def test_a_cell_without_a_count_is_not_compared():
    cell = copy.deepcopy(code("print(f(x))", TEXT))
    cell.execution_count = None
    assert not is_compared(cell)


def test_share_is_of_cells_with_an_output():
    cells = [code("print(f())", TEXT), code("print('done')", TEXT), code("x = 1"), code("f()", shown(png="iVBO"))]
    assert compared_share([notebook(*cells), notebook(code("f()", TEXT))]) == (2, 4)
    assert compared_share([]) == (0, 0)
