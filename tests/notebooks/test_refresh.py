"""The tool that executes notebooks: what it writes, what it leaves alone, and what it says when a cell fails."""

import base64
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

import notebook_guards as guards
import refresh_notebooks
from notebook_frame import (
    BADGE_MARK,
    ROOT,
    badge_line,
    frame,
    https_address,
    repository_address,
    setup_cell,
    site_line,
    stamp_address,
    stamp_readme,
)
from notebook_header import here_line
from notebook_parts import words
from site_markdown import html_of

HEADER = """# 07 Raw

**You will be able to**

- see;
- say;
- do.

**You need first:** nothing

**Time:** not measured yet"""
CLOSING = """## What to remember

- One thing.
- Another.
- A third.

**Terms learned:** token.

**Sources:** none.

**Next:** nothing."""


def raw(folder, *sources: str, name: str = "07_raw.ipynb"):
    """A notebook as an author leaves it: no counts, no ids, an old format, metadata of some front end."""
    code = map(new_code_cell, ("# Set-up", *sources))
    cells = [new_markdown_cell(HEADER), *code, new_markdown_cell(CLOSING)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "mine", "display_name": "Mine"}, "colab": {}})
    notebook.cells[1].metadata["executionInfo"] = {"elapsed": 7}
    for cell in notebook.cells:
        del cell["id"]
    path = folder / name
    path.write_text(json.dumps({**notebook, "nbformat_minor": 4}), encoding="utf-8")
    return path


def refresh(path, *options: str) -> int:
    return refresh_notebooks.main(["--folder", str(path.parent), *options])


@pytest.mark.slow
def test_outputs_counts_time_and_frame_are_written(tmp_path, capsys):
    path = raw(
        tmp_path,
        "import sys\nfor word in 'ab':\n    print(word, flush=True)",
        "import os\nos.path.basename(os.getcwd()), os.listdir(os.environ['TX_CACHE'])",
        "import ipywidgets\nipywidgets.IntSlider(3)",
        "import tqdm.auto\nfor _ in tqdm.auto.tqdm(range(3)):\n    sys.stdout.flush()",
    )
    assert refresh(path) == 0
    written = nbformat.read(path, as_version=4)
    assert guards.course_guards(path, written) == []  # form, frame, time line, ids, kernelspec: one by one there
    first, where, slider, bar = guards.code_cells(written)[1:]
    assert first.outputs == [new_output("stream", name="stdout", text="a\nb\n")]
    assert where.outputs[0].data["text/plain"] == f"({tmp_path.name!r}, [])"
    assert where.outputs[0].execution_count == where.execution_count == 3
    assert list(slider.outputs[0].data) == list(bar.outputs[0].data) == ["text/plain"]
    assert " · machine 1 min" in written.cells[0].source
    assert "changed: 07_raw.ipynb" in capsys.readouterr().out

    text = path.read_text(encoding="utf-8")
    assert refresh(path) == 0
    assert path.read_text(encoding="utf-8") == text, "a second run changes the file"
    assert refresh(path, "--check") == 0


@pytest.mark.slow
def test_a_failing_cell_is_named_and_nothing_written(tmp_path, capsys):
    bad = raw(tmp_path, "1", "1 / 0", "2", name="07_bad.ipynb")
    good = raw(tmp_path, "1", name="08_good.ipynb")
    before = bad.read_text(), good.read_text()
    assert refresh(bad, "--check") == 1
    output = capsys.readouterr()
    assert "FAILED 07_bad.ipynb, code cell 3 (id " in output.err
    assert "ZeroDivisionError" in output.err
    assert "would change: 08_good.ipynb" in output.out
    assert (bad.read_text(), good.read_text()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["07_bad.ipynb", "08_good.ipynb"]

    assert refresh(bad) == 1
    assert bad.read_text() == before[0]
    assert good.read_text() != before[1]


@pytest.mark.slow
def test_a_cell_that_takes_too_long_is_named(tmp_path, capsys):
    path = raw(tmp_path, "import time\ntime.sleep(60)")
    assert refresh(path, "--timeout", "2") == 1
    assert "FAILED 07_raw.ipynb, code cell 2 (id " in capsys.readouterr().err


def test_frame_alone_executes_nothing(tmp_path):
    path = raw(tmp_path, "1 / 0")
    assert refresh(path, "--frame") == 0
    written = nbformat.read(path, as_version=4)
    here = here_line(path)
    assert here.startswith("**You are here:** 07 of 00 to 23<br>")  # as this notebook is none of the course
    assert written.cells[0].source.split("\n")[:6] == ["# 07 Raw", "", BADGE_MARK, "", here, ""]
    assert written.cells[0].source.endswith(" min · machine not measured yet")
    assert written.cells[1].source == setup_cell(repository_address())
    text = path.read_text()
    assert refresh(path, "--frame") == 0
    assert path.read_text() == text


def test_the_header_holds_its_animation_as_it_is_in_figures(tmp_path):
    path = raw(tmp_path, "1")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source += "\n\n![Words come one by one.][translator.webp]\n\n[translator.webp]: "
    nbformat.write(notebook, path)
    assert refresh(path, "--frame") == 0
    header = nbformat.read(path, as_version=4).cells[0]
    content = re.search(r"^\[translator\.webp\]: data:image/webp;base64,(.+)$", header.source, re.MULTILINE)[1]
    assert base64.b64decode(content) == (ROOT / "figures" / "translator.webp").read_bytes()
    assert '<img src="data:image/webp;base64,' in html_of(header.source)
    notebook.cells[0].source = notebook.cells[0].source.replace("![Words come one by one.][translator.webp]", "")
    assert words([header]) == words(notebook.cells[:1])


def test_ids_are_kept_or_made_the_same_way_each_time(tmp_path):
    path = raw(tmp_path, "1", "1")
    ids = [cell.id for cell in refresh_notebooks.load(path).cells]
    assert ids == [cell.id for cell in refresh_notebooks.load(path).cells]
    assert len(set(ids)) == 5
    content = json.loads(path.read_text())
    content["cells"][2]["id"] = "mine"
    path.write_text(json.dumps(content))
    assert [cell.id for cell in refresh_notebooks.load(path).cells] == [*ids[:2], "mine", *ids[3:]]


def test_neighbouring_streams_become_one():
    def stream(text, name="stdout"):
        return new_output("stream", name=name, text=text)

    shown = new_output("display_data", {"text/plain": "x"})
    pieces = [stream("a\n"), stream("b\n"), stream("w", "stderr"), shown, stream("c"), stream("d")]
    expected = [stream("a\nb\n"), stream("w", "stderr"), shown, stream("cd")]
    assert refresh_notebooks.merged_streams(pieces) == expected


def test_a_picture_is_stored_small_and_looks_the_same():
    greys = np.random.default_rng(0).integers(0, 256, (100, 200, 1), dtype=np.uint8)
    pixels = np.repeat(greys, 3, axis=2)
    stored = encoded(Image.fromarray(pixels).convert("RGBA"))
    small = refresh_notebooks.small_png(stored)
    again = Image.open(io.BytesIO(base64.b64decode(small)))
    assert len(small) < len(stored) and again.mode == "P"
    assert np.abs(np.asarray(again.convert("RGB")).astype(int) - pixels).max() <= 1
    assert refresh_notebooks.small_png(small) == small
    clear = encoded(Image.new("RGBA", (3, 3), (0, 0, 0, 0)))
    assert refresh_notebooks.small_png(clear) == clear


def encoded(image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def test_notebooks_are_chosen_by_number_name_or_path(tmp_path):
    one, two = raw(tmp_path, name="07_a.ipynb"), raw(tmp_path, name="08_b.ipynb")
    assert refresh_notebooks.selected([], tmp_path) == [one, two]
    assert refresh_notebooks.selected(["08"], tmp_path) == refresh_notebooks.selected(["b"], tmp_path) == [two]
    assert refresh_notebooks.selected([str(two), "07_a"], tmp_path) == [two, one]
    with pytest.raises(ValueError, match=r"no notebook is '09'; there are 07_a, 08_b"):
        refresh_notebooks.selected(["09"], tmp_path)


# --- the repository's address ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@github.com:a/b.git\n", "https://github.com/a/b"),
        ("ssh://git@github.com/a/b.git", "https://github.com/a/b"),
        ("ssh://git@gitlab.example.org:2222/a/b/c", "https://gitlab.example.org/a/b/c"),
        ("https://github.com/a/b.git", "https://github.com/a/b"),
        ("https://github.com/a/b.js/", "https://github.com/a/b.js"),
        ("https://someone:secret@github.com/a/b", "https://github.com/a/b"),
        ("file:///srv/course", "file:///srv/course"),
    ],
)
def test_remotes_become_addresses_anybody_can_open(remote, address):
    assert https_address(remote) == address


@pytest.mark.parametrize("remote", ["/srv/course", "../course", "", "C:/course"])
def test_a_remote_that_nobody_else_can_open_is_refused(remote):
    with pytest.raises(ValueError, match=r"https_address: .* is no address of a public repository"):
        https_address(remote)


def test_badge_only_on_github():
    link = "https://colab.research.google.com/github/a/b/blob/main/notebooks/07_raw.ipynb"
    assert f'<a href="{link}">' in badge_line("07_raw.ipynb", "https://github.com/a/b")
    assert badge_line("07_raw.ipynb", "https://gitlab.com/a/b") == badge_line("07_raw.ipynb", "") == BADGE_MARK


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([], "x.ipynb: the first cell is not a markdown cell that begins with '# '"),
        ([new_code_cell("# Set-up")], "x.ipynb: the first cell is not a markdown cell"),
        ([new_markdown_cell("# 07 Raw")], "x.ipynb: the first cell has no line '**Time:** not measured yet'"),
        (
            [new_markdown_cell(HEADER), new_code_cell("import torch")],
            "x.ipynb: the first code cell is not the set-up cell",
        ),
    ],
)
def test_a_notebook_without_the_frame_is_named(cells, message):
    with pytest.raises(ValueError) as error:
        frame(cells, Path("x.ipynb"), "")
    assert message in str(error.value)


def test_the_address_is_written_in_its_one_place(tmp_path):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\nname = "x"\n\n[tool.a]\nb = 1\n')
    assert repository_address(pyproject) == ""
    assert stamp_address(pyproject, "https://github.com/a/b")
    assert repository_address(pyproject) == "https://github.com/a/b"
    assert not stamp_address(pyproject, "https://github.com/a/b")
    assert stamp_address(pyproject, "https://github.com/c/d")
    assert pyproject.read_text() == (
        '[project]\nname = "x"\n\n[project.urls]\nRepository = "https://github.com/c/d"\n\n[tool.a]\nb = 1\n'
    )


def test_the_readme_links_to_the_site_where_github_publishes_it():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert site_line(repository_address()) in readme
    assert "](docs/index.html)" in site_line("") and "http" not in site_line("")
    assert "http" not in site_line("https://gitlab.com/a/b")
    assert "(https://a.github.io/b/)" in site_line("https://github.com/A/b")
    assert "(https://a.github.io/)" in site_line("https://github.com/a/a.github.io")


def test_a_stamp_changes_one_line_of_the_readme_to_a_link(tmp_path):
    old = (ROOT / "README.md").read_text("utf-8").split("\n")
    path = tmp_path / "README.md"
    path.write_text("\n".join(old), "utf-8")
    stamp_readme(path, "https://github.com/a/b")
    new = path.read_text("utf-8").split("\n")
    (line,) = [after for before, after in zip(old, new, strict=True) if before != after]
    assert '<a href="https://a.github.io/b/">' in html_of(line)


@pytest.mark.slow
def test_stamping_a_checkout(tmp_path):
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "notebooks").mkdir()
    path = raw(tmp_path / "notebooks", "1 / 0")
    for command in (["init", "-q"], ["remote", "add", "origin", "git@github.com:someone/course.git"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    stamped = []
    for _ in range(2):
        subprocess.run([sys.executable, "tools/refresh_notebooks.py", "--stamp"], cwd=tmp_path, check=True)
        stamped.append((path.read_text(), (tmp_path / "pyproject.toml").read_text()))
    assert stamped[0] == stamped[1]
    header, setup = nbformat.read(path, as_version=4).cells[:2]
    assert repository_address(tmp_path / "pyproject.toml") == "https://github.com/someone/course"
    assert header.source.split("\n")[2] == badge_line("07_raw.ipynb", "https://github.com/someone/course")
    assert setup.source == setup_cell("https://github.com/someone/course")
    assert "](https://someone.github.io/course/)" in (tmp_path / "README.md").read_text("utf-8")
    assert '"git+https://github.com/someone/course"\n' in setup.source
