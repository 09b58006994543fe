"""A notebook that was run, saved and shut: pictures in place of dead widgets; and any other, as Jupyter has it."""

import asyncio
import copy
import json
import logging
import re
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager, LargeFileManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tx_helpers import contents
from tx_helpers.__main__ import main
from tx_helpers.opening import HOW_TO_TRUST, HOW_TO_WAKE, VIEW, put_to_sleep, without_the_line

MANAGERS = (AsyncLargeFileManager, LargeFileManager)


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


class Server:
    """What the extension uses of Jupyter's server, for the files of a folder and for the kernels of its notebooks."""

    def __init__(self, folder, manager=AsyncLargeFileManager, extended=True):
        self.contents_manager = manager(root_dir=str(folder))
        self.web_app = SimpleNamespace(settings={"contents_manager": self.contents_manager})
        self.session_manager = SimpleNamespace(list_sessions=lambda: self.sessions)
        self.kernel_manager, self.sessions, self.log = (
            AsyncMappingKernelManager(connection_dir=str(folder)),
            [],
            logging.getLogger(),
        )
        self.kernel_spec_manager = KernelSpecManager()
        if extended:
            contents._load_jupyter_server_extension(self)
        self.seen = self.web_app.settings["contents_manager"]

    def get(self, path):
        return asyncio.run(ensure_async(self.seen.get(path)))["content"]

    def save(self, content, path):
        model = {"type": "notebook", "format": "json", "content": json.loads(json.dumps(content))}
        asyncio.run(ensure_async(self.seen.save(model, path)))


def test_a_sleeping_notebook_keeps_its_pictures_and_says_how_to_wake_them(notebook):
    assert put_to_sleep(notebook) and views(notebook) == 0
    asleep = copy.deepcopy(notebook)
    assert notebook.cells[3].outputs[0].data == {"text/html": "<b>picture</b>", "text/plain": "Explorer"}
    assert notebook.cells[0].outputs[0]["data"]["text/plain"] == HOW_TO_WAKE
    assert put_to_sleep(notebook) and notebook == asleep  # the line stands once
    without_the_line(notebook)
    assert notebook.cells[0].outputs == [] and len(notebook.cells[3].outputs) == 1


def test_widgets_that_live_stay_and_the_dead_beside_them_do_not(notebook):
    notebook.cells[3].outputs[0].data[VIEW] = {"model_id": "2"}
    put_to_sleep(notebook, {"2", "3"})
    assert views(notebook) == 1 and VIEW in notebook.cells[3].outputs[0].data and notebook.cells[0].outputs == []


def test_a_widget_that_has_no_picture_stays(notebook):
    del notebook.cells[3].outputs[0].data["text/html"], notebook.cells[3].outputs[0].data["text/plain"]
    put_to_sleep(notebook)
    assert views(notebook) == 1


@pytest.mark.parametrize("manager", MANAGERS)
def test_the_server_puts_a_notebook_to_sleep_on_opening_and_saves_no_line(notebook, tmp_path, manager):
    server = Server(tmp_path, manager)
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "x"}, "language_info": {"name": "python"}}
    nbformat.write(notebook, tmp_path / "x.ipynb")
    content = server.get("x.ipynb")
    assert views(content) == 0 and HOW_TO_WAKE in str(content) and HOW_TO_TRUST in str(content)
    assert content.metadata.kernelspec["display_name"] != "x" and "version" in content.metadata.language_info
    for cell in content.cells:
        cell.metadata |= {"trusted": True} if cell.cell_type == "code" else {}
    server.save(content, "x.ipynb")
    saved = (tmp_path / "x.ipynb").read_text()
    assert HOW_TO_WAKE not in saved and "picture" in saved and VIEW not in saved
    again = server.get("x.ipynb")
    assert HOW_TO_WAKE in str(again) and HOW_TO_TRUST not in str(again)


def test_the_language_is_what_the_kernel_tells():
    code = "from ipykernel.ipkernel import IPythonKernel as K; import json; print(json.dumps(K.language_info))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == contents.LANGUAGE


@pytest.mark.slow
def test_only_what_a_kernel_made_since_its_start_lives(notebook, tmp_path):
    nbformat.write(notebook, tmp_path / "x.ipynb")

    async def opened_and_run():
        server = Server(tmp_path)
        kernels = server.kernel_manager
        key = await kernels.start_kernel()
        server.sessions = [{"path": "/x.ipynb", "kernel": {"id": key}}]
        client = kernels.get_kernel(key).client()
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=60)
            yield await server.seen.get("x.ipynb")
            code = "import comm; made = comm.create_comm('jupyter.widget', comm_id='1')"
            await client.execute(code, reply=True, timeout=60)
            client.execute("import time; time.sleep(3)")
            yield await server.seen.get("x.ipynb")  # while it runs
            await client.execute("made", reply=True, timeout=60)  # once it is free again
            await kernels.restart_kernel(key)
            yield await server.seen.get("x.ipynb")
        finally:
            client.stop_channels()
            await kernels.shutdown_all(now=True)

    async def counted():
        return [views(model["content"]) async for model in opened_and_run()]

    assert asyncio.run(counted()) == [0, 3, 0]


@pytest.mark.parametrize("broken", ["_living", "put_to_sleep", "without_the_line"])
def test_what_fails_in_the_extension_stops_no_opening_and_no_saving(broken, notebook, tmp_path, monkeypatch, caplog):
    def fails(*_):
        raise RuntimeError("a fault of ours")

    server = Server(tmp_path)
    monkeypatch.setattr(contents.Contents if broken == "_living" else contents, broken, fails)
    nbformat.write(notebook, tmp_path / "x.ipynb")
    content = server.get("x.ipynb")
    assert views(content) == (0 if broken == "without_the_line" else 3)
    content.cells[5].source = "print(2)"
    server.save(content, "x.ipynb")
    assert "print(2)" in (tmp_path / "x.ipynb").read_text() and "a fault of ours" in caplog.text


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
    assert not put_to_sleep(content, ()) and content == _another(kind)
    without_the_line(content)
    assert content == _another(kind)
    for text in (json.dumps(content), json.dumps(content, indent=4) + "\n\n"):
        (tmp_path / "x.ipynb").write_text(text)
        assert main(["tidy", str(tmp_path / "x.ipynb")]) == 0
        assert (tmp_path / "x.ipynb").read_text() == text


FORMS = [(3, 0), *((4, minor) for minor in range(6))]
CHANGES = {
    "as usual": lambda notebook, cell: None,
    "stored widgets": lambda notebook, cell: notebook["metadata"].update(widgets={VIEW: {"state": {"1": {}}}}),
    "null metadata": lambda notebook, cell: notebook.update(metadata=None),
    "null metadata of a cell": lambda notebook, cell: cell.update(metadata=None),
    "null metadata of an output": lambda notebook, cell: cell["outputs"][0].update(metadata=None),
    "no outputs": lambda notebook, cell: cell.pop("outputs"),
    "an output of no kind": lambda notebook, cell: cell["outputs"].append({"data": {}}),
    "an output that is a number": lambda notebook, cell: cell["outputs"].append(3),
    "a cell of no kind": lambda notebook, cell: cell.pop("cell_type"),
    "data of its own": lambda notebook, cell: cell["outputs"][0].update(data={"text/plain": ["a", "b"], "x/y": {}}),
    "the course's, damaged": lambda notebook, cell: cell.update(source="# Set-up\nimport tx_helpers", outputs=[3]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("manager", MANAGERS)
def test_a_notebook_of_any_other_form_is_opened_and_saved_as_without_the_extension(manager, form, change, tmp_path):
    notebook = _another("as usual") | dict(zip(("nbformat", "nbformat_minor"), form, strict=True))
    (cell,) = notebook["cells"]
    if form < (4, 5):
        del cell["id"]
    if form < (4, 0):
        notebook["worksheets"] = [{"cells": notebook.pop("cells"), "metadata": {}}]
        cell.update(input=cell.pop("source"), prompt_number=cell.pop("execution_count"), language="python")
    CHANGES[change](notebook, cell)
    indent = sum(form) % 5 or None
    outcomes = []
    for name, extended in (("with", True), ("without", False)):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "x.ipynb"
        file.write_text(json.dumps(notebook, indent=indent) + "\n" * (form[1] % 3))
        server = Server(file.parent, manager, extended)
        try:
            content = server.get("x.ipynb")
            server.save(content, "x.ipynb")
        except Exception as error:
            content = repr(error).replace(str(file), "")
        outcomes.append((_without_new_ids(content), _without_new_ids(file.read_text())))
    assert outcomes[0] == outcomes[1]


def _without_new_ids(content):
    """Jupyter gives ids to the cells of an older notebook, by chance."""
    return re.sub(r"""(["']id["']: ["'])(?!a["'])[^"']*""", r"\1", str(content))


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
