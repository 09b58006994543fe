"""The translator from the cache; whatever is wrong with the cache, a notebook goes on."""

import errno
import os
from pathlib import Path

import pytest
import torch

from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.number_words import number_pairs
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.checkpoints import load_checkpoint, save_checkpoint
from tx_helpers.training.loop import Run
from tx_helpers.zoo import recipes
from tx_helpers.zoo.recipes import number_translator

STEPS = 3
SMALL = number_pairs(120, 0)
UNSAVED = "The translator could not be saved in the cache and is trained again next time ("


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own, and a training of three steps."""
    monkeypatch.setenv("TX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(recipes, "TRANSLATOR_STEPS", STEPS)
    monkeypatch.setattr(recipes, "number_pairs", lambda: SMALL)
    return tmp_path / "cache"


@pytest.fixture
def steps(monkeypatch):
    """The numbers of the steps that are trained."""
    done, train_step = [], Run.train_step
    monkeypatch.setattr(Run, "train_step", lambda run: (done.append(run.step), train_step(run))[1])
    return done


def translator_of(steps: list[int]) -> tuple[recipes.Translator, list[int]]:
    """The translator, and the steps that were trained for it."""
    steps.clear()
    return number_translator(progress=False), list(steps)


def test_it_is_trained_once_and_then_loaded(cache, steps, capsys):
    first, trained = translator_of(steps)
    again, trained_again = translator_of(steps)
    assert (trained, trained_again) == ([0, 1, 2], [])
    assert [file.suffix for file in cache.iterdir()] == [".pt"]
    assert again.run.losses == first.run.losses
    for name, weight in first.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], weight)
    assert not again.model.training and capsys.readouterr().out == ""


def saved(cache: Path) -> Path:
    """The file of a translator in the cache."""
    number_translator(progress=False)
    (file,) = cache.iterdir()
    return file


def test_an_interrupted_training_goes_on(cache, steps):
    file = saved(cache)
    whole = load_checkpoint(file, "run")
    file.unlink()
    schedule = recipes.linear_warmup_decay(STEPS, warmup=1)
    part = recipes.train_translator(SMALL.train, steps=2, schedule=schedule, progress=False)
    part.run.save(file)
    translator, trained = translator_of(steps)
    assert trained == [2] and translator.run.losses == whole["losses"]
    assert load_checkpoint(file, "run")["step"] == STEPS


def rewrite(change):
    """A fault: the content of the checkpoint is changed."""

    def fault(file):
        content = load_checkpoint(file, "run")
        change(content)
        save_checkpoint(file, "run", content)

    return fault


# One of each kind of error: test_checkpoints and test_loop go through all that can be wrong with a file.
READABLE_FAULTS = {
    "text": lambda file: file.write_text("step,loss"),
    "half": lambda file: file.write_bytes(file.read_bytes()[:1000]),
    "no model": rewrite(lambda content: content.pop("model")),
    "ragged losses": rewrite(lambda content: content["losses"].pop()),
    "an error of the optimizer": rewrite(
        lambda content: (
            [content[name].pop() for name in ("losses", "gradient_norms", "rates")],
            content.update(step=2),
            [state.pop("exp_avg") for state in content["optimizers"][0]["state"]["state"].values()],
        )
    ),
}


@pytest.mark.parametrize("name", READABLE_FAULTS)
def test_a_damaged_file_is_replaced(cache, steps, capsys, name):
    file = saved(cache)
    whole = load_checkpoint(file, "run")
    READABLE_FAULTS[name](file)
    translator, trained = translator_of(steps)
    assert trained[-3:] == [0, 1, 2] and translator.run.losses == whole["losses"]
    assert load_checkpoint(file, "run")["losses"] == whole["losses"]
    assert list(cache.iterdir()) == [file] and capsys.readouterr().out == ""


def folder_in_place(file: Path) -> None:
    file.unlink()
    (file / "inside").mkdir(parents=True)


def cache_is_a_file(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("a file")


@pytest.mark.parametrize("fault", [folder_in_place, cache_is_a_file])
def test_where_the_file_cannot_be_written_a_line_says_why(cache, steps, capsys, fault):
    fault(saved(cache))
    for _ in range(2):
        translator, trained = translator_of(steps)
        assert trained == [0, 1, 2] and translator.translate("one") is not None
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith(UNSAVED) and str(cache) in line


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_what_the_system_refuses_is_told(steps, monkeypatch, capsys, number):
    """Another user's folder, one that is read-only, a disk that is full."""

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    _, trained = translator_of(steps)
    (line,) = capsys.readouterr().out.splitlines()
    assert trained == [0, 1, 2] and line.startswith(UNSAVED) and os.strerror(number) in line


def test_another_users_file_is_replaced_where_that_is_allowed(cache, steps, monkeypatch, capsys):
    file = saved(cache)

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    file.write_bytes(b"")
    assert translator_of(steps)[1] == [0, 1, 2]
    monkeypatch.undo()
    assert load_checkpoint(file, "run")["step"] == STEPS and capsys.readouterr().out == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_named_pipe_is_not_waited_for(cache, steps):
    file = saved(cache)
    file.unlink()
    os.mkfifo(file)
    assert translator_of(steps)[1] == [0, 1, 2]
    assert file.is_file()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder in which nobody, root included, can make another")
@pytest.mark.parametrize("home", ["/proc/self/nobody", "/dev/null"])
def test_a_home_that_does_not_exist(steps, monkeypatch, capsys, home):
    for variable in ("TX_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", home)
    assert translator_of(steps)[1] == [0, 1, 2]
    assert capsys.readouterr().out.startswith(UNSAVED)


def test_an_error_of_the_training_itself_is_raised(monkeypatch):
    def fail(run):
        raise FloatingPointError("at step 0 the loss is nan")

    monkeypatch.setattr(Run, "train_step", fail)
    with pytest.raises(FloatingPointError, match="the loss is nan"):
        number_translator(progress=False)


def test_a_writer_of_special_tokens_alone_comes_to_an_end():
    """As an untrained one may be: no character is ever added, and the writer must not wait for one."""
    tokenizer = CharTokenizer.train("ab ")
    writer = recipes.Writer(DecoderOnly(recipes.writer_config(len(tokenizer))), tokenizer)
    torch.nn.init.zeros_(writer.model.output.weight)  # all logits are equal: greedily, <pad> each time
    assert writer.write("ab", 100, temperature=0.0) == ""


@pytest.mark.parametrize("data", [None, "abc", {}, [1, 2]])
def test_data_of_another_kind_are_named(data):
    with pytest.raises(ValueError, match=r"translator_config: data is .*, expected a PairData"):
        recipes.translator_config(data)
    with pytest.raises(ValueError, match=r"Translator: data is .*, expected a PairData"):
        recipes.Translator(torch.nn.Identity(), data)
    with pytest.raises(ValueError, match="Translator: model is 'abc', expected model"):
        recipes.Translator("abc", data)
