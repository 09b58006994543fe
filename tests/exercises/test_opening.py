"""A notebook that was run, saved and shut: pictures in place of dead widgets."""

import asyncio
import copy
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tx_helpers.__main__ import main
from tx_helpers.contents import Contents
from tx_helpers.opening import HOW_TO_WAKE, VIEW, put_to_sleep, without_the_line


def shown(**data) -> nbformat.NotebookNode:
    return new_output("display_data", data={name.replace("_", "/", 1): text for name, text in data.items()})


@pytest.fixture
def notebook():
    live = shown(text_html="<b>picture</b>", text_plain="Explorer")
    live.data[VIEW] = {"model_id": "1"}
    cells = [
        new_code_cell("# Set-up\nimport tx_helpers", execution_count=1),
        new_code_cell("guess = predict(\n    'two-heads', 'Which?', ['a', 'b'])\nguess", outputs=[live]),
        new_markdown_cell("text"),
        new_code_cell("explore()", outputs=[copy.deepcopy(live)]),
        new_code_cell("guess.reveal('a', 'Because.')", outputs=[copy.deepcopy(live)]),
        new_code_cell("print(1)", outputs=[shown(text_plain="1")]),
    ]
    return new_notebook(cells=cells)


def views(notebook) -> int:
    return sum(VIEW in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))


def test_a_sleeping_notebook_keeps_its_pictures_and_says_how_to_wake_them(notebook):
    assert put_to_sleep(notebook) and views(notebook) == 0
    assert notebook.cells[3].outputs[0].data == {"text/html": "<b>picture</b>", "text/plain": "Explorer"}
    assert notebook.cells[0].outputs[0]["data"]["text/plain"] == HOW_TO_WAKE
    assert not put_to_sleep(notebook)  # nothing is left to do, and the line stands once
    assert len(notebook.cells[0].outputs) == 1
    without_the_line(notebook)
    assert notebook.cells[0].outputs == [] and len(notebook.cells[3].outputs) == 1


def test_a_widget_that_has_no_picture_stays(notebook):
    del notebook.cells[3].outputs[0].data["text/html"], notebook.cells[3].outputs[0].data["text/plain"]
    put_to_sleep(notebook)
    assert views(notebook) == 1


def test_the_server_puts_a_notebook_to_sleep_on_opening_and_saves_no_line(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    nbformat.write(notebook, tmp_path / "x.ipynb")
    manager = Contents(root_dir=str(tmp_path))
    model = asyncio.run(manager.get("x.ipynb"))
    assert views(model["content"]) == 0 and HOW_TO_WAKE in json.dumps(model["content"])
    asyncio.run(manager.save({"type": "notebook", "format": "json", "content": model["content"]}, "x.ipynb"))
    saved = (tmp_path / "x.ipynb").read_text()
    assert HOW_TO_WAKE not in saved and "picture" in saved and VIEW not in saved


def test_a_notebook_whose_kernel_runs_stays_alive(notebook, tmp_path, monkeypatch):
    async def runs(self, path):
        return path == "x.ipynb"

    monkeypatch.setattr(Contents, "_runs", runs)
    nbformat.write(notebook, tmp_path / "x.ipynb")
    model = asyncio.run(Contents(root_dir=str(tmp_path)).get("x.ipynb"))
    assert views(model["content"]) == 3


def test_tidy_writes_the_file_for_an_editor_that_reads_it_itself(notebook, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    nbformat.write(notebook, tmp_path / "x.ipynb")
    assert main(["tidy", str(tmp_path / "x.ipynb")]) == 0
    tidied = nbformat.read(tmp_path / "x.ipynb", as_version=4)
    assert views(tidied) == 0 and all(cell.outputs for cell in tidied.cells[3:5])
    assert [cell.source for cell in tidied.cells] == [cell.source for cell in notebook.cells]
    assert main(["tidy", str(tmp_path / "x.ipynb")]) == 0
    assert capsys.readouterr().out.split(": ")[-1] == "nothing to do\n"


def _another(kind):
    """A notebook that is not the course's: as Jupyter opens and saves it."""
    view = {"output_type": "display_data", "metadata": {}, "data": {VIEW: {"model_id": "1"}, "text/plain": "Slider"}}
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "execution_count": 1,
        "outputs": [view],
        "source": ["x = 1"],
    }
    match kind:
        case "set-up of its own":
            cell["source"] = "# Set-up\nimport math"
        case "no outputs":
            del cell["outputs"]
        case "no source":
            del cell["source"]
        case "null source" | "a number for source":
            cell["source"] = None if kind == "null source" else 3
        case "null metadata" | "a number for metadata":
            view["metadata"] = None if kind == "null metadata" else 3
        case "the course's, outputs damaged":
            cell |= {"source": "# Set-up\nimport tx_helpers", "outputs": [3]}
    return {"cells": [cell], "metadata": {"widgets": {"a": 1}}, "nbformat": 4, "nbformat_minor": 5}


OTHERS = (
    *("as usual", "set-up of its own", "no outputs", "no source", "null source", "a number for source"),
    *("null metadata", "a number for metadata", "the course's, outputs damaged"),
)


@pytest.mark.parametrize("kind", OTHERS)
def test_a_notebook_that_is_not_the_courses_stays_as_it_is(kind, tmp_path):
    content = _another(kind)
    assert not put_to_sleep(content) and content == _another(kind)
    without_the_line(content)
    assert content == _another(kind)
    for text in (json.dumps(content), json.dumps(content, indent=4) + "\n\n"):
        (tmp_path / "x.ipynb").write_text(text)
        assert main(["tidy", str(tmp_path / "x.ipynb")]) == 0
        assert (tmp_path / "x.ipynb").read_text() == text


def test_what_is_nested_too_deeply_is_named_and_stops_nobody(notebook, tmp_path, monkeypatch, capsys):
    deep = "[" * 100_000 + "]" * 100_000
    (tmp_path / "deep.ipynb").write_text(deep)
    (tmp_path / "progress.json").write_text(deep)
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    nbformat.write(notebook, tmp_path / "x.ipynb")
    assert main(["tidy", str(tmp_path / "deep.ipynb"), str(tmp_path / "x.ipynb")]) == 1
    said = capsys.readouterr()
    assert "deep.ipynb is no notebook" in said.err and "x.ipynb: tidied" in said.out


def test_tidy_names_what_is_no_notebook_and_goes_on(notebook, tmp_path, capsys):
    (tmp_path / "no.ipynb").write_text("[]")
    nbformat.write(notebook, tmp_path / "x.ipynb")
    assert main(["tidy", str(tmp_path / "no.ipynb"), str(tmp_path / "x.ipynb")]) == 1
    said = capsys.readouterr()
    assert "no.ipynb is no notebook" in said.err and "x.ipynb: tidied" in said.out
