"""`python -m tx_helpers train`: what a recipe says, what it refuses, what it will need, and the training itself."""

import json
import os
import re
import signal
import sys
import time
import types

import pytest
import torch

from launch import torchrun
from notebook_frame import ROOT
from tx_helpers.__main__ import main
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.parallel import Parallel
from tx_helpers.training.sharded import last_checkpoint
from tx_helpers.zoo import recipe_file
from tx_helpers.zoo.recipe_file import Recipe, plan, read_recipe, train

SMALL = """
text = "text.txt"
steps = 6
rows = 4
length = 8
every = 2
warmup = 2
checkpoint = "out"
[model]
d_model = 12
n_layers = 1
[model.attention]
n_heads = 3
[parallel]
data = "rest"
timeout = 600
"""


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "text.txt").write_text("abc def. " * 40)
    (tmp_path / "latin1.txt").write_bytes("fig\u00e9 ".encode("latin-1") * 40)
    (tmp_path / "folder").mkdir()
    file = tmp_path / "recipe.toml"
    file.write_text(SMALL)
    return file


def test_a_recipe_is_read(recipe):
    found = read_recipe(recipe)
    assert found.model == {"d_model": 12, "n_layers": 1, "attention": {"n_heads": 3}}
    assert found.parallel == Parallel(data="rest", timeout=600)
    assert (found.steps, found.optimizer) == (6, "adamw")
    assert found.text == str(recipe.parent / "text.txt") and found.checkpoint == recipe.parent / "out"


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "tools/recipes").glob("*.toml")))
def test_the_examples_are_recipes(name):
    assert isinstance(read_recipe(ROOT / "tools/recipes" / name), Recipe)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps = 6", "steps = 0", "recipe: steps=0, expected at least 1"),
        ("steps = 6", "stops = 6", "recipe: recipe has no 'stops', expected one of checkpoint, model"),
        ("n_heads = 3", "heads = 3", "recipe: attention has no 'heads', expected one of n_heads"),
        ("n_heads = 3", "n_heads = 5", "TransformerConfig: d_model=12 is not divisible by n_heads=5"),
        ("d_model = 12", 'd_model = "12"', "TransformerConfig: d_model is '12', expected a whole number"),
        ('data = "rest"', 'data = "all"', "Parallel: data is 'all', expected a whole number"),
        ('data = "rest"', 'shard = 2\nprecision = "float8"', "recipe: precision='float8', expected one of bfloat16"),
        ('checkpoint = "out"', "", "recipe.toml: has no checkpoint, expected the folder"),
        ("steps = 6", "steps 6", "recipe.toml: no valid TOML"),
        ("steps = 6", 'optimizer = "lion"', "recipe: optimizer='lion', expected one of adamw, muon"),
        ("steps = 6", "autocast = 16", "recipe: autocast=16, expected one of bfloat16, float16"),
        (
            "[model.attention]\nn_heads = 3",
            "attention = 3",
            "attention is 3, expected AttentionConfig",
        ),
        ("text.txt", "nothing.txt", "No such file"),
        ("warmup = 2", 'warmup = "x"', "recipe: warmup is 'x', expected a whole number"),
        ("warmup = 2", 'seed = "x"', "recipe: seed is 'x', expected a whole number"),
        ("warmup = 2", "lr = inf", "recipe: lr=inf, expected at least 0 and less than inf"),
        ("warmup = 2", 'lr = "x"', "recipe: lr is 'x', expected a number"),
        ("warmup = 2", "clip = -1.0", "recipe: clip=-1.0, expected more than 0"),
        ("length = 8", "length = 0", "recipe: length=0, expected at least 1"),
        ('"text.txt"', "3", "recipe: text is 3, expected a text"),
        ("text.txt", "folder", "folder' is a folder, expected a file"),
        ("text.txt", "latin1.txt", "latin1.txt' is no UTF-8 from byte 3 on, expected a text"),
        ('checkpoint = "out"', "checkpoint = 3", "recipe: checkpoint is 3, expected a text"),
        ('checkpoint = "out"', 'checkpoint = "text.txt"', "text.txt', but text.txt is a file, expected a folder"),
        ('checkpoint = "out"', 'checkpoint = "text.txt/out"', "out', but text.txt is a file, expected a folder"),
    ],
)
def test_a_wrong_recipe_is_named(recipe, capsys, old, new, said):
    assert SMALL.count(old) == 1
    recipe.write_text(SMALL.replace(old, new))
    for options in ([], ["--dry-run"]):
        assert main(["train", str(recipe), *options]) == 2
        assert said in capsys.readouterr().err


def test_a_recipe_that_is_no_text_is_named(recipe, capsys):
    assert main(["train", str(recipe.parent)]) == 2
    assert "is a folder, expected a file" in capsys.readouterr().err
    recipe.write_bytes(b"steps = \xff")
    assert main(["train", str(recipe)]) == 2
    assert "recipe.toml' is no UTF-8 from byte 8 on" in capsys.readouterr().err


def test_a_mark_at_the_beginning_of_a_file_is_no_letter(recipe, capsys):
    (recipe.parent / "text.txt").write_text("abc def. " * 40, encoding="utf-8-sig")
    recipe.write_text(SMALL, encoding="utf-8-sig")
    assert main(["train", str(recipe)]) == 0
    assert json.loads((recipe.parent / "out" / "letters.json").read_text()) == list(" .abcdef")


def test_a_text_that_is_too_short_is_told_in_its_letters(recipe, capsys):
    recipe.write_text(SMALL.replace("length = 8", "length = 40"))
    assert main(["train", str(recipe)]) == 2
    said = capsys.readouterr().err
    assert "held out, has 36 letters, but length = 40 needs 41" in said and "at least 410 letters" in said


@pytest.mark.parametrize("other", ["ABC DEF. ", "abc de. "])
def test_another_text_does_not_go_on_with_the_checkpoint(recipe, capsys, other):
    assert main(["train", str(recipe)]) == 0
    (recipe.parent / "text.txt").write_text(other * 60)
    recipe.write_text(SMALL.replace("steps = 6", "steps = 8"))
    assert main(["train", str(recipe)]) == 2
    said = capsys.readouterr().err
    assert "was trained on other letters than those of" in said and ("has 'a'" in said or "has 'f'" in said)
    assert last_checkpoint(recipe.parent / "out").name == "step-00000006"


def test_a_dry_run_takes_as_many_processes_as_the_recipe_needs(recipe, capsys):
    recipe.write_text(SMALL.replace('data = "rest"', "tensor = 3"))
    assert main(["train", str(recipe), "--dry-run"]) == 0
    assert "processes      3: data 1 · shard 1 · tensor 3" in capsys.readouterr().out
    assert main(["train", str(recipe), "--dry-run", "--processes", "0"]) == 2
    assert "plan: processes=0, expected at least 1" in capsys.readouterr().err


def test_what_it_will_need(recipe):
    text = plan(read_recipe(recipe), processes=2)
    for line in ("processes      2: data 2 · shard 1 · tensor 1", "FLOPs  ", "  activations  ", "  together  "):
        assert line in text
    weights = 9 * 12 + 12 * 12 * 12 + 9 * 12 + 4 * 12  # tied embedding and output, matrices, biases, and 3 norms
    count = int(re.search(r"parameters +([\d,]+):", text)[1].replace(",", ""))
    assert count > weights
    assert "tokens         32 a step, 192 in all, 324 in the text" in text


def test_train_and_go_on(recipe, capsys):
    assert main(["train", str(recipe)]) == 0
    assert "step 6: loss" in capsys.readouterr().out
    assert last_checkpoint(recipe.parent / "out").name == "step-00000006"
    longer = SMALL.replace("steps = 6", "steps = 8")
    recipe.write_text(longer)
    run = train(read_recipe(recipe), progress=False)
    assert run.step == 8 and [record["step"] for record in run.evaluations] == [2, 4, 6, 8]


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_a_second_sigterm_changes_nothing(recipe, monkeypatch, capsys):
    """Slurm repeats its SIGTERM; a second Ctrl-C would end the training in the middle of a step."""

    def loss(model, batch):
        if not raised:
            raised.extend(signal.raise_signal(signal.SIGTERM) for _ in range(3))
        return language_model_loss(model, batch)

    raised, before = [], signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("tx_helpers.zoo.recipe_file.language_model_loss", loss)
    assert main(["train", str(recipe)]) == 1
    assert len(raised) == 3 and "Interrupted after step 1 of 6" in capsys.readouterr().out
    assert last_checkpoint(recipe.parent / "out").name == "step-00000001"
    assert signal.getsignal(signal.SIGTERM) == before


def test_train_writes_for_tensorboard_where_it_is(recipe, monkeypatch):
    written = []

    class SummaryWriter:
        def __init__(self, folder):
            assert folder == str(recipe.parent / "out" / "logs")

        def add_scalar(self, name, value, step):
            written.append((name, step))

        def close(self):
            written.append(("closed", None))

    fake = types.ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    train(read_recipe(recipe), progress=False)
    assert [step for name, step in written if name == "losses"] == [1, 2, 3, 4, 5, 6]
    assert [step for name, step in written if name == "validation"] == [2, 4, 6]
    assert written[-1] == ("closed", None)


def test_each_process_makes_its_model_on_its_own_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert recipe_file._device() == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert recipe_file._device() == torch.device("cuda", 3)


def test_a_wrong_call_of_train(capsys):
    assert main(["train"]) == 2 and main(["train", "--help"]) == 0
    assert "go on where its last checkpoint" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_train_under_torchrun_ends_with_a_checkpoint_when_slurm_says_so(recipe):
    """SIGTERM goes to torchrun, which sends it on to both processes; the training then has as many steps in both."""
    recipe.write_text(SMALL.replace("steps = 6", "steps = 1000000"))
    folder = recipe.parent / "out"
    with torchrun(2, "-m", "tx_helpers", "train", str(recipe)) as launched:
        end = time.monotonic() + 600
        while last_checkpoint(folder) is None and time.monotonic() < end and launched.poll() is None:
            time.sleep(0.05)
        launched.send_signal(signal.SIGTERM)
        said, _ = launched.communicate(timeout=120)
    assert "Interrupted after step" in said
    steps = int(last_checkpoint(folder).name[5:])
    recipe.write_text(SMALL.replace("steps = 6", f"steps = {steps + 2}"))
    run = train(read_recipe(recipe), progress=False)
    assert run.step == steps + 2 and torch.tensor(run.losses).isfinite().all()
