"""The learner's own model: kept when a class passes, made again by `your_own`, and never in a notebook's way."""

import contextlib
import inspect
import io
import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tx_helpers import plain as plain_model
from tx_helpers.exercises import kept, own
from tx_helpers.exercises.catalogue import find, of_lesson
from tx_helpers.exercises.own import your_own

HEAD = "import math\nimport torch\nfrom torch import nn\nfrom tx_helpers.nn.positions import sinusoidal\n"
MODELS = ("Transformer", "GPT")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """Where the learner's files are."""
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path


class Notebook:
    """A learner at work: runs cells whose source Python can find, as a kernel does, and sees what is shown."""

    def __init__(self):
        self.names, self.shown = {}, []
        self.run(HEAD + "from tx_helpers.exercises import your_turn")

    def run(self, cell: str) -> None:
        file = f"<cell {id(cell)} {len(linecache.cache)}>"
        linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(own, "display", self.shown.append)
            exec(compile(cell, file, "exec"), self.names)

    def turn(self, name: str, source: str | None = None) -> str:
        """Write an exercise, by default its solution. Returns what is shown."""
        source = source or solution(name)
        self.run(f'{source}\n\n\n{name} = your_turn("{name}", {name})\n')
        return self.shown[-1]._repr_mimebundle_()["text/plain"]


def solution(name: str) -> str:
    """The solution's source; other names come from the notebook."""
    return find(name).solution_source().split("\n\n\n")[-1]


def said(name: str) -> tuple[type, str]:
    """The class of `your_own`, and the one line that it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        made = your_own(name)
    (line,) = printed.getvalue().splitlines()
    return made, line


def typed(*names: str) -> Notebook:
    """A notebook in which these classes have passed."""
    notebook = Notebook()
    for name in names:
        notebook.turn(name)
    return notebook


def logits(model: torch.nn.Module) -> torch.Tensor:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.1)
    return model(torch.ones(2, 3, dtype=torch.long), torch.ones(2, 4, dtype=torch.long))


def test_the_parts_are_the_inline_exercises_of_notebook_08():
    assert tuple(exercise.name for exercise in of_lesson("full_model") if exercise.inline) == kept.PARTS


@pytest.mark.parametrize("name", MODELS)
def test_it_is_ours_before_anything_is_written(name, folder):
    made, line = said(name)
    assert made is getattr(plain_model, name) and not any(folder.iterdir())
    assert line == f"{name}: ours, since you have not written a part of it in notebook 08 yet."


@pytest.mark.slow
def test_it_is_the_learners_once_all_parts_pass():
    notebook = typed(*kept.PARTS)
    made, line = said("Transformer")
    assert line == "Transformer: yours, as you wrote it in notebook 08."
    assert made is not plain_model.Transformer and made.__module__ == "my_model.Transformer"
    torch.testing.assert_close(logits(made(9, 7)), logits(notebook.names["Transformer"](9, 7)))
    assert said("GPT")[1] == "GPT: yours, as you wrote it in notebook 08."


def test_the_feedback_says_that_it_is_kept():
    shown = Notebook().turn("FeedForward")
    assert shown.endswith("uses your version. It is kept for later notebooks, in the file my_model.py.")


@pytest.mark.slow
def test_the_file_is_a_program_of_its_own(folder):
    typed(*reversed(kept.PARTS[:3]), *kept.PARTS[3:])  # in whichever order they pass
    text = kept.model_file().read_text(encoding="utf-8")
    assert kept.model_file() == folder / "my_model.py" and "your_turn" not in text
    program = text + "\nprint(sum(p.numel() for p in Transformer(9, 7).parameters()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ))
    assert (done.stderr, int(done.stdout)) == ("", sum(p.numel() for p in plain_model.Transformer(9, 7).parameters()))


def test_parts_that_are_missing_are_ours_and_use_the_learners():
    mine = solution("Attention").replace('"""Every', 'mine = True\n    """Every')
    Notebook().turn("Attention", mine)
    made, line = said("Transformer")
    assert line.startswith("Transformer: yours of notebook 08, with our Embedding (not written yet), FeedForward (")
    model = made(9, 7)
    attentions = [module for module in model.modules() if type(module).__name__ == "Attention"]
    assert len(attentions) == 6 and all(module.mine for module in attentions)
    torch.testing.assert_close(logits(model), logits(plain_model.Transformer(9, 7)))


def test_inspect_finds_the_source_of_the_learners_classes_and_of_ours():
    mine = solution("FeedForward").replace('"""', '"""Mine: ', 1)
    Notebook().turn("FeedForward", mine)
    model = said("Transformer")[0](9, 7)
    made = [type(part) for part in model.modules() if type(part).__module__.startswith("my_model")]
    classes = {each.__name__: each for each in made}
    found = {name: inspect.getsource(classes[name]) for name in kept.PARTS if name in classes}
    assert "Mine: " in found.pop("FeedForward")
    assert found == {name: inspect.getsource(getattr(plain_model, name)) for name in found} != {}


def test_what_does_not_pass_is_not_kept():
    shown = Notebook().turn("FeedForward", solution("FeedForward").replace(".relu()", ""))
    assert "The ReLU is missing" in shown and "kept" not in shown
    assert not kept.model_file().exists()


def test_a_class_that_passes_again_replaces_the_one_before():
    notebook = typed("FeedForward", "Attention")
    notebook.turn("FeedForward", solution("FeedForward").replace(".relu()", ".clamp(min=0)"))
    text = kept.model_file().read_text(encoding="utf-8")
    assert text.count("class FeedForward") == 1 and "clamp(min=0)" in text and "class Attention" in text


def test_what_a_cell_defines_for_the_class_is_kept_with_it():
    helper = "import torch.nn.functional as functional\n\nfloor = 0.0\nunused = 1\n\n\n"
    helper += "def bent(x):\n    return functional.relu(x).clamp(min=floor)\n\n\n"
    Notebook().turn(
        "FeedForward", helper + solution("FeedForward").replace("self.expand(x).relu()", "bent(self.expand(x))")
    )
    assert "unused" not in kept.model_file().read_text(encoding="utf-8")
    assert said("FeedForward")[1] == "FeedForward: yours, as you wrote it in notebook 08."


def test_a_class_that_needs_another_cell_passes_and_what_it_lacks_is_named():
    notebook = Notebook()
    notebook.run("act = nn.ReLU()")
    shown = notebook.turn(
        "FeedForward", solution("FeedForward").replace("self.expand(x).relu()", "act(self.expand(x))")
    )
    assert shown.startswith("✓ FeedForward: right") and "your version" in shown
    assert "It is not kept for later notebooks: without your other cells it does not pass: it raised NameError" in shown
    assert "name 'act' is not defined" in shown and not kept.model_file().exists()


def test_a_class_without_findable_source_passes_and_is_not_kept():
    names = {}
    exec(HEAD + solution("FeedForward"), names)
    assert own._kept("FeedForward", names["FeedForward"]).startswith("It could not be kept for later notebooks (Value")


CHANGES = {
    "a part that is wrong": (".relu()", ""),
    "not Python": ("return self.contract", "return return"),
    "ends the session": ("class FeedForward", "import os\nos._exit(3)\nclass FeedForward"),
    "spoils the library": ("class FeedForward", "nn.Linear.forward = None\nclass FeedForward"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_part_that_was_changed_in_the_file_is_not_run_and_is_ours(change):
    typed("FeedForward", "Attention")
    old, new = CHANGES[change]
    text = kept.model_file().read_text(encoding="utf-8")
    kept.model_file().write_text(text.replace(old, new), encoding="utf-8")
    _, line = said("FeedForward")
    assert line.startswith(
        "FeedForward: ours, since no part passes: FeedForward (changed in the file; run its cell in "
    )
    model = said("GPT")[0](9)
    assert torch.isfinite(model(torch.ones(2, 3, dtype=torch.long))).all()


def test_text_beside_the_classes_is_not_run_and_stays():
    typed("FeedForward")
    spoilt = "import os\nos._exit(3)\n" + kept.model_file().read_text(encoding="utf-8")
    kept.model_file().write_text(spoilt, encoding="utf-8")
    typed("Attention")
    for name in ("FeedForward", "Attention"):
        assert said(name)[1] == f"{name}: yours, as you wrote it in notebook 08."
    assert kept.model_file().read_text(encoding="utf-8").startswith("import os\nos._exit(3)\n")


SPOILT = {
    "a name that nobody knows": ("self.expand(x)", "expand(x)", "does not pass: it raised NameError"),
    "never ends": ("class FeedForward", "while True: pass\nclass FeedForward", "does not run: it was still running"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_why_a_kept_part_is_ours(how, monkeypatch):
    monkeypatch.setattr(own, "SECONDS", 0.5)
    old, new, why = SPOILT[how]
    source = solution("FeedForward").replace(old, new)
    _, ours = own.assembled(["FeedForward"], {"FeedForward": (kept.number_of(source), source)})
    assert ours["FeedForward"].startswith(why)


def test_a_part_taken_out_of_the_file_is_ours():
    typed(*kept.PARTS)
    text = kept.model_file().read_text(encoding="utf-8")
    kept.model_file().write_text(text[: text.index("# %% GPT")], encoding="utf-8")
    assert said("GPT")[1] == "GPT: yours of notebook 08, with our GPT (not written yet)."


def test_a_file_of_something_else_is_no_part():
    kept.model_file().write_text("nothing of the kind", encoding="utf-8")
    assert said("GPT")[0] is plain_model.GPT


@pytest.mark.parametrize("spoil", [Path.mkdir, getattr(os, "mkfifo", Path.mkdir)], ids=["folder", "pipe"])
def test_what_is_no_file_stops_nobody_and_is_left_alone(spoil, folder):
    spoil(kept.model_file())
    made, line = said("Transformer")
    assert made is plain_model.Transformer and line.startswith("Transformer: ours, since my_model.py cannot be read (")
    notebook = Notebook()
    assert "could not be kept for later notebooks" in notebook.turn("FeedForward")
    assert notebook.names["FeedForward"].__module__ != plain_model.__name__  # the learner's, all the same
    assert sorted(path.name for path in folder.rglob("*")) == ["my_model.py", "progress.json"]


def test_a_file_that_is_no_text_is_set_aside(folder, capsys):
    kept.model_file().write_bytes(b"\xff\xfe\x00 class")
    assert "It is kept for later notebooks" in Notebook().turn("FeedForward")
    (aside,) = folder.glob("my_model-damaged-*.py")
    assert aside.read_bytes() == b"\xff\xfe\x00 class" and f"It is now called {aside.name}" in capsys.readouterr().out
    assert said("FeedForward")[1] == "FeedForward: yours, as you wrote it in notebook 08."


def test_two_notebooks_at_once_lose_no_class(both_at_once):
    both_at_once(kept, [lambda: kept.keep("GPT", "x = 1"), lambda: kept.keep("Block", "x = 1")])
    assert sorted(kept.read()) == ["", "Block", "GPT"]


def test_a_folder_that_cannot_be_written_stops_nobody(monkeypatch):
    def refuse(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr(os, "replace", refuse)
    assert "It could not be kept for later notebooks (PermissionError: read-only)." in Notebook().turn("FeedForward")


def test_another_name_is_refused():
    with pytest.raises(ValueError, match="your_own: name='Mamba'"):
        your_own("Mamba")
