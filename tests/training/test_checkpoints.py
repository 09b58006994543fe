import errno
import os
import subprocess
import sys
import zipfile

import pytest
import torch
from torch import nn

from tx_helpers.training.checkpoints import load_checkpoint, load_weights, save_checkpoint

CONTENT = {"weights": {"a": torch.arange(35.0).view(5, 7)}, "losses": [2.5, 1.25], "name": "toy", "step": 3}
EXPECTED = "expected a tx_helpers checkpoint, version 1, of kind 'run'"
DAMAGED = f"load_checkpoint: {{path!r}} is damaged or no checkpoint at all ({{error}}); {EXPECTED}"


@pytest.fixture
def path(tmp_path):
    save_checkpoint(tmp_path / "runs" / "toy.pt", "run", CONTENT)  # makes the folder
    return tmp_path / "runs" / "toy.pt"


def message(path, kind="run") -> str:
    with pytest.raises(ValueError) as error:
        load_checkpoint(path, kind)
    return str(error.value)


def assert_is_content(loaded) -> None:
    assert torch.equal(loaded["weights"]["a"], CONTENT["weights"]["a"])
    assert {**loaded, "weights": None} == {**CONTENT, "weights": None}


def test_what_was_saved_is_loaded(path):
    assert_is_content(load_checkpoint(path, "run"))
    assert_is_content(load_checkpoint(str(path), "run"))
    assert set(torch.load(path, weights_only=True)) == {"format", "version", "kind", "content"}
    assert os.listdir(path.parent) == ["toy.pt"]


def test_a_missing_file(path):
    with pytest.raises(FileNotFoundError) as error:
        load_checkpoint(path.with_name("other.pt"), "run")
    assert str(error.value) == f"load_checkpoint: no file {str(path.with_name('other.pt'))!r}; {EXPECTED}"


def test_a_truncated_file_at_any_length(path):
    whole = path.read_bytes()
    for length in [0, 1, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert message(path) == DAMAGED.format(path=str(path), error="BadZipFile")


def test_no_flipped_bit_anywhere_gives_another_content(path):
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 16
        path.write_bytes(damaged)
        try:
            loaded = load_checkpoint(path, "run")
        except ValueError as error:
            assert EXPECTED in str(error)
        else:
            assert_is_content(loaded)


def test_foreign_files(path):
    path.write_text("step,loss\n1,2.5\n")
    assert message(path) == DAMAGED.format(path=str(path), error="BadZipFile")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "a zip file of somebody else's")
    assert message(path) == DAMAGED.format(path=str(path), error="RuntimeError")
    for content in ({"a": torch.zeros(3)}, torch.zeros(3), {"format": "other"}):
        torch.save(content, path)
        assert message(path) == f"load_checkpoint: {str(path)!r} is another program's file; {EXPECTED}"


def test_another_kind_or_version(path):
    assert message(path, "weights") == (
        f"load_checkpoint: {str(path)!r} is of version 1 and kind 'run'; "
        "expected a tx_helpers checkpoint, version 1, of kind 'weights'"
    )
    for changes, found in (
        ({"version": 2}, "is of version 2 and kind 'run'"),
        ({"version": None, "kind": None}, "is of version None and kind None"),
        ({"content": None}, "has no content"),
        ({"content": [3]}, "has no content"),
    ):
        file = {"format": "tx_helpers checkpoint", "version": 1, "kind": "run", "content": {}} | changes
        torch.save({name: part for name, part in file.items() if part is not None}, path)
        assert message(path) == f"load_checkpoint: {str(path)!r} {found}; {EXPECTED}"


def test_a_file_that_carries_code_is_refused_unexecuted(path):
    executed = path.with_name("executed")

    class Hostile:
        def __reduce__(self):
            return (open, (str(executed), "w"))

    torch.save({"format": "tx_helpers checkpoint", "version": 1, "kind": "run", "content": Hostile()}, path)
    assert message(path) == DAMAGED.format(path=str(path), error="UnpicklingError")
    assert not executed.exists()


def no_space(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_save_leaves_the_old_file(path, monkeypatch, step):
    monkeypatch.setattr(os, step, no_space)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(path, "run", {})
    monkeypatch.undo()
    assert_is_content(load_checkpoint(path, "run"))
    assert os.listdir(path.parent) == ["toy.pt"]


def test_a_disk_that_fills_up_while_writing_leaves_the_old_file(path):
    """The limit on a file's size stands in for a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_checkpoint(path, "run", {"large": torch.zeros(1000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert_is_content(load_checkpoint(path, "run"))
    assert os.listdir(path.parent) == ["toy.pt"]


def test_a_later_save_removes_what_killed_processes_have_left(path):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    files = {name: path.with_name(f".{name}.unfinished") for name in (f"toy.pt.{killed.pid}", "toy.pt.1", "other.pt.7")}
    old = path.with_name(".toy.pt.2.unfinished")
    for file in (*files.values(), old):
        file.write_bytes(b"half of it")
    os.utime(old, (0, 0))
    save_checkpoint(path, "run", CONTENT)
    gone = {f"toy.pt.{killed.pid}"} if os.name == "posix" else set()
    assert sorted(os.listdir(path.parent)) == sorted(["toy.pt"] + [files[name].name for name in files.keys() - gone])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder"):
        assert message(path) == f"load_checkpoint: {str(path)!r} is a folder or a device, not a file; {EXPECTED}"


def test_the_new_file_is_whole_before_it_takes_its_place(path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append("fsync"), fsync(fd)))

    def checked(source, target):
        order.append("replace")
        assert torch.load(source, weights_only=True)["content"]["step"] == 4
        assert load_checkpoint(target, "run")["step"] == 3
        replace(source, target)

    monkeypatch.setattr(os, "replace", checked)
    save_checkpoint(path, "run", {**CONTENT, "step": 4})
    assert order == ["fsync", "replace"]
    assert load_checkpoint(path, "run")["step"] == 4


def test_weights_are_copied_into_the_model():
    model, other = nn.Linear(3, 5), nn.Linear(3, 5)
    own = model.weight
    load_weights(model, other.state_dict())
    assert model.weight is own and own is not other.weight
    assert torch.equal(model.weight, other.weight) and torch.equal(model.bias, other.bias)


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (nn.Linear(4, 5), "'weight' is (5, 3) in Linear, but (5, 4) in the checkpoint"),
        (nn.Linear(3, 5, bias=False), "'bias' is (5,) in Linear, but missing in the checkpoint"),
        (nn.Bilinear(3, 3, 5), "'weight' is (5, 3) in Linear, but (5, 3, 3) in the checkpoint"),
    ],
)
def test_another_models_weights_are_refused_and_change_nothing(other, found):
    model = nn.Linear(3, 5)
    before = model.weight.detach().clone()
    with pytest.raises(ValueError) as error:
        load_weights(model, other.state_dict())
    assert str(error.value) == f"load_weights: {found}"
    assert torch.equal(model.weight, before)


def test_a_surplus_weight_is_named():
    with pytest.raises(ValueError) as error:
        load_weights(nn.Linear(3, 5, bias=False), nn.Linear(3, 5).state_dict())
    assert str(error.value) == "load_weights: 'bias' is missing in Linear, but (5,) in the checkpoint"
