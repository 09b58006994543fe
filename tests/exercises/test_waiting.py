"""What cells show between a question and its finding: folded until there is a guess, then shown as it is."""

import sys
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from notebook_parts import shown
from tx_helpers.exercises.waiting import MOST, Waiting, fold, on_first_move, unfolded
from tx_helpers.opening import VIEW, WAITS
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

ASK = "from tx_helpers.exercises import predict\nguess = predict('two-heads', 'Which?', ['a', 'b'])\nguess"
SHOW = """
import sys
from IPython.display import SVG, display
print("seven"); print("& eight")
display(SVG('<svg xmlns="http://www.w3.org/2000/svg"/>'))
print("told", file=sys.stderr)
40 + 2
"""
PNG = "data:image/png;base64,cG5n"
EXPLORER = """
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

explorer = Explore(lambda n: Svg('<svg viewBox="0 0 9 9"></svg>', alt=f"{n}"), name="circle", n=(1, 4))
explorer
"""
TRAIN = """
import torch
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw

model = torch.nn.Linear(1, 1)
batch = torch.ones(1, 1)
run = fit(model, lambda step: batch, steps=3, loss=lambda m, x: m(x).sum(), optimizer=adamw(model))
"""
TELL = "print('before')\nguess.reveal('a', 'Because.')"


def run(tmp_path, monkeypatch, *sources: str, progress: str = "{}") -> list:
    (tmp_path / "progress.json").write_text(progress)
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True, store_widget_state=False).execute()
    return notebook.cells


def folded(cell: nbformat.NotebookNode) -> list[str]:
    """The words of those outputs of a cell that wait."""
    return [output.data["text/plain"] for output in cell.outputs if WAITS in output.get("metadata", {})]


def test_prints_pictures_and_results_wait_and_nothing_else_does(tmp_path, monkeypatch):
    asked, told, broken, found, later = run(
        tmp_path, monkeypatch, ASK, SHOW, "print(1)\n1 / 0", TELL, "print(Out[2], _)\n2"
    )
    assert folded(asked) == folded(later) == [] and folded(found) == ["before"]
    assert folded(told) == ["seven\n& eight", "<IPython.core.display.SVG object>", "42"]
    assert [output.name for output in told.outputs if output.output_type == "stream"] == ["stderr"]
    html = told.outputs[0].data["text/html"]
    assert html.startswith('<details class="tx-waits" data-key="two-heads"><summary>') and "&amp; eight" in html
    assert folded(broken) == ["1"] and broken.outputs[0].ename == "ZeroDivisionError"
    assert "Because." in found.outputs[1].data["text/plain"]


def test_a_bar_becomes_a_sentence_in_the_file_behind_a_question_too(tmp_path, monkeypatch):
    for cell in run(tmp_path, monkeypatch, TRAIN, ASK, TRAIN)[::2]:
        assert [dict(output.data) for output in cell.outputs] == [{"text/plain": "Trained for 3 steps."}]


def test_nothing_waits_where_the_guess_is_known(tmp_path, monkeypatch):
    known = '{"the-predictions": {"two-heads": "b"}}'
    _, told, _ = run(tmp_path, monkeypatch, ASK, SHOW, TELL, progress=known)
    assert folded(told) == [] and told.outputs[0].text.startswith("seven")


def test_a_learner_who_walks_away_finds_other_cells_open(tmp_path, monkeypatch):
    cells = run(tmp_path, monkeypatch, ASK, *["print(1)"] * (MOST + 1))
    assert [bool(folded(cell)) for cell in cells] == [False] + [True] * MOST + [False]


@pytest.mark.parametrize("given", ["guess.answer = 'b'", "guess.passed = True"])
def test_a_guess_shows_what_waited_as_it_is(given, tmp_path, monkeypatch):
    _, told, _, _ = run(tmp_path, monkeypatch, ASK, SHOW, TELL, given)
    assert folded(told) == []
    words = [output.data["text/plain"] for output in told.outputs if output.output_type != "stream"]
    assert words == ["seven\n& eight", "<IPython.core.display.SVG object>", "42"]
    assert "text/html" not in told.outputs[0].data


def test_a_widget_waits_as_its_picture_and_a_bar_of_progress_does_not():
    published = []
    events = SimpleNamespace(register=lambda *given: None)
    publisher = SimpleNamespace(publish=lambda *given, **options: published.append((given, options)))
    trap = SimpleNamespace(hook=sys.displayhook)
    cells = Waiting(SimpleNamespace(events=events, display_pub=publisher, display_trap=trap))
    explorer = {VIEW: {"model_id": "1"}, "text/html": "<img>", "text/plain": "Explorer"}
    bar = {VIEW: {"model_id": "2"}, "text/plain": "0 %"}
    cells.ask("k")
    cells._begin()
    publisher.publish(explorer, {})
    publisher.publish(bar)
    cells._end()
    ((first, about), place), ((second, *_), _) = published
    assert VIEW not in first and "<img>" in first["text/html"] and about == {WAITS: "k"} and second == bar
    cells.open("k")
    assert published[-1] == ((explorer, {}), {**place, "update": True})


@pytest.mark.parametrize(
    ("data", "back"),
    [
        ({"text/plain": "a < b"}, {"output_type": "stream", "name": "stdout", "text": "a < b\n"}),
        ({"text/plain": "map", "text/html": "<b>map</b>"}, {"text/html": "<b>map</b>", "text/plain": "map"}),
        (
            {"text/plain": "map", "image/png": b"png"},
            {"text/html": '<img alt="a &lt; b" src="data:image/png;base64,cG5n">'},
        ),
    ],
)
def test_a_fold_can_be_taken_off(data, back):
    folded, about = fold(data, {"image/png": {"alt": "a < b"}}, "k")
    output = {"output_type": "display_data", "data": folded, "metadata": about}
    found = unfolded(output)
    assert found == back if "output_type" in back else back.items() <= found["data"].items()
    assert unfolded(found) == found  # what does not wait stays as it is


def test_a_cells_outputs_are_read_without_their_folds():
    data, metadata = fold({"text/plain": "7"}, {}, "k")
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    assert shown(new_code_cell("print(7)", outputs=[output]))[0].text == "7\n"


def test_a_finding_behind_an_explorer_waits_for_its_first_move():
    explorer = Explore(lambda n: Svg('<svg viewBox="0 0 9 9"></svg>', alt=f"{n}"), name="circle", n=(0.7, 4.0, 0.1))
    moved = []
    assert on_first_move(explorer, lambda: moved.append(True)) and not on_first_move("a result", moved.clear)
    explorer.set(n=0.7000000000000001)  # a slider on the page rounds
    assert not moved
    explorer.set(n=3.0)
    assert moved


@pytest.mark.parametrize("progress", ["{}", '{"the-predictions": {"two-heads": "b"}}'])
def test_only_a_guess_of_today_waits_for_a_move(progress, tmp_path, monkeypatch):
    asked = "found = guess.reveal('a', 'Because.')\nfound.unmoved, bool(explorer.set(n=3)), found.unmoved"
    told = run(tmp_path, monkeypatch, ASK, EXPLORER, asked, progress=progress)[-1]
    assert told.outputs[0].data["text/plain"] == f"({progress == '{}'}, False, False)"
