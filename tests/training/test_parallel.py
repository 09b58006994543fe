"""The same training in one process, and in two and four by torchrun: one launch for all that two do, one for four."""

import math
import os
import shutil
import sys
from functools import cache, partialmethod
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch._dynamo.utils import counters

from launch import measured
from parallel_cases import CASES, ON_FOUR, Case, batches, small_model
from tx_helpers.text.data import IGNORE, PAD, SequenceBatch, TextBatch
from tx_helpers.training import spread
from tx_helpers.training.checkpoints import load_weights
from tx_helpers.training.costs import sent
from tx_helpers.training.layout import Layout
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.parallel import Parallel
from tx_helpers.training.sharded import _sums, last_checkpoint

on_unix = pytest.mark.skipif(os.name != "posix", reason="torchrun and gloo are tried on Unix only")
CHECKS = ["resumed", "saved", "interrupted", "refused", "counted"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parallel")


@pytest.fixture(scope="module")
def on_two(folder):
    return measured(2, [*CASES, *CHECKS], folder)


@pytest.fixture(scope="module")
def on_four(folder, on_two):
    return measured(4, [*ON_FOUR, "loaded"], folder)


@cache
def _alone(optimizer: str, dtype: torch.dtype, options: tuple) -> Run:
    return Case(Parallel(), optimizer=optimizer, dtype=dtype, options=dict(options)).train(None)


def assert_the_same_training(case: Case, found: dict) -> None:
    alone = _alone(case.optimizer, case.dtype, tuple(case.options.items()))
    assert len(found["losses"]) == case.steps
    assert found["losses"] == pytest.approx(alone.losses[: case.steps], abs=case.bound, rel=0)
    assert found["norms"] == pytest.approx(alone.gradient_norms[: case.steps], abs=10 * case.bound, rel=0)


@pytest.mark.slow
@on_unix
@pytest.mark.parametrize("name", CASES)
def test_two_processes_train_as_one(on_two, name):
    assert_the_same_training(CASES[name], on_two[name])


@pytest.mark.thorough
@on_unix
@pytest.mark.parametrize("name", ON_FOUR)
def test_four_processes_train_as_one(on_four, name):
    assert_the_same_training(ON_FOUR[name], on_four[name])


@pytest.mark.slow
@on_unix
@pytest.mark.parametrize("layout", ["copies", "shards", "tensor"])
def test_a_run_goes_on_bit_for_bit_on_the_same_layout(on_two, layout):
    found = on_two["resumed"][layout]
    assert found["again"] == found["straight"] and found["same weights"]


@pytest.mark.thorough
@on_unix
def test_saved_by_two_goes_on_with_one_and_with_four(on_two, on_four, folder):
    losses = on_two["saved"]["losses"]
    case = Case(Parallel(), optimizer="adamw")
    assert losses == pytest.approx(case.train(None, steps=10).losses, abs=1e-6, rel=0)
    one = case.train(Parallel(shard="rest"), steps=10, resume=folder / "saved", model=small_model(seed=1))
    assert one.losses == pytest.approx(losses, abs=1e-6, rel=0)
    assert on_four["loaded"]["losses"] == pytest.approx(losses, abs=1e-6, rel=0)


@pytest.mark.slow
@on_unix
def test_the_weights_as_one_file(on_two, folder):
    model, trained = small_model(seed=1).double(), Case(Parallel(), optimizer="adamw").train(None, steps=10).model
    load_weights(model, load_file(folder / "saved.safetensors"))
    for value, expected in zip(model.parameters(), trained.parameters(), strict=True):
        torch.testing.assert_close(value, expected, atol=1e-6, rtol=0)


@pytest.mark.slow
@on_unix
def test_an_interrupt_of_one_process_stops_all_after_the_same_step(on_two):
    assert on_two["interrupted"] == {"steps": 3, "interrupted": True, "folders": ["step-00000003"]}


@pytest.mark.slow
@on_unix
def test_what_does_not_fit_is_named(on_two):
    found = on_two["refused"]
    assert found["another number of processes"].startswith("Parallel: data=3, shard=1, tensor=1 do not fit 2 process")
    assert found["spread twice"].startswith("Parallel: this model is already spread")
    assert found["other values"].startswith("Parallel: the model begins with different values")
    assert found["heads"] == "Parallel: decoder.blocks.0.self_attention has n_heads=3, not divisible by tensor=2"
    assert found["hidden"] == "Parallel: decoder.blocks.0.feed_forward has d_ff=9, not divisible by tensor=2"
    assert found["bias"] == "Parallel: decoder.bias adds a bias by head: tensor=2 is not possible"
    assert found["values"].endswith("self_attention.table is not cut by heads: tensor=2 is not possible")
    assert found["float16"].startswith("fit: autocast=torch.float16 does not go with Parallel(tensor=")
    assert found["rows"].startswith("batch: 8 rows cannot be divided into 10 parts")
    assert "'decoder.blocks.2." in found["another model"] and "missing in the checkpoint" in found["another model"]
    assert found["a run"].startswith("fit: resume is a run or its state")
    assert found["no checkpoint"].startswith("load_sharded: no complete checkpoint in")


@pytest.mark.slow
@on_unix
def test_bytes_by_formula_are_those_counted(on_two):
    found, model = on_two["counted"], small_model()
    shards = sent(model, 4, 5, shard=2)
    assert {kind: found["shards"][kind] for kind in shards} == shards
    # The loss is summed, too, and the gradients of the norms of queries and keys: a few numbers each.
    assert found["copies"]["all-reduce"] == pytest.approx(sent(model, 4, 5, data=2)["all-reduce"], rel=0.01)
    assert found["tensor"]["all-reduce"] == pytest.approx(sent(model, 8, 5, tensor=2)["all-reduce"], rel=0.01)


# --- one process ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parallel", [Parallel(accumulate=3), Parallel(checkpointing=True), Parallel(data="rest")])
def test_pieces_in_one_process_are_the_same_training(parallel):
    assert Case(parallel).train(parallel, steps=5).losses == pytest.approx(
        _alone("sgd", torch.float64, ()).losses[:5], abs=1e-12, rel=0
    )


def test_compile_is_asked_of_every_block(monkeypatch):
    asked = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda block: asked.append(block))
    model = small_model()
    Layout(Parallel(compile=True), model, [])
    assert asked == list(model.decoder.blocks)


@pytest.mark.slow
@pytest.mark.parametrize("checkpointing", [False, True])
def test_compiled_blocks_are_the_same_training(monkeypatch, checkpointing):
    """Traced and differentiated as for any backend, and then run by PyTorch's own kernels, which need no compiler."""
    compiled = partialmethod(torch.nn.Module.compile, backend="aot_eager")
    monkeypatch.setattr(torch.nn.Module, "compile", compiled)
    torch.compiler.reset()
    counters.clear()
    parallel = Parallel(compile=True, checkpointing=checkpointing)
    losses = Case(parallel).train(parallel, steps=3).losses
    assert losses == pytest.approx(_alone("sgd", torch.float64, ()).losses[:3], abs=1e-6, rel=0)
    assert counters["stats"]["unique_graphs"] == 1, "all blocks share one graph, without a break"


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("g++") is None, reason="on a CPU torch.compile needs a C++ compiler")
def test_blocks_compiled_to_cpp_are_the_same_training():
    """Some minutes: PyTorch tries out what the processor can do, then compiles the forward and the backward pass."""
    torch.compiler.reset()
    parallel = Parallel(compile=True)
    losses = Case(parallel).train(parallel, steps=3).losses
    assert losses == pytest.approx(_alone("sgd", torch.float64, ()).losses[:3], abs=1e-6, rel=0)


@pytest.mark.parametrize("failed", [False, True])
def test_a_process_waits_for_the_others_before_it_ends_the_connections(failed, monkeypatch):
    calls = []
    monkeypatch.setattr(spread.dist, "is_initialized", lambda: True)
    monkeypatch.setattr(spread.dist, "monitored_barrier", lambda timeout: calls.append("wait"))
    monkeypatch.setattr(spread.dist, "destroy_process_group", lambda: calls.append("end"))
    monkeypatch.delattr(sys, "last_value", raising=False)
    if failed:
        monkeypatch.setattr(sys, "last_value", KeyError(), raising=False)
    spread._leave()
    assert calls == (["end"] if failed else ["wait", "end"])


def test_a_mean_of_means_would_be_another_loss():
    """What the factors of `Layout.parts` are for: the parts of these batches have unequal numbers of targets."""
    model, batch = small_model().double(), batches(0)
    pieces = list(Layout(Parallel(accumulate=3), model, []).parts(batch))
    losses = [language_model_loss(model, piece).item() for piece, _ in pieces]
    whole = language_model_loss(model, batch).item()
    assert sum(loss * factor for loss, (_, factor) in zip(losses, pieces, strict=True)) == pytest.approx(whole, 1e-12)
    assert abs(sum(losses) / 3 - whole) > 0.01


def test_float16_scales_the_loss_and_skips_a_step_that_overflows():
    case = Case(Parallel(), optimizer="adamw", dtype=torch.float32, options={"autocast": torch.float16})
    run = case.train(None, steps=3)
    assert run.scaler.get_scale() == 65536 and all(map(math.isfinite, run.gradient_norms))
    before = [parameter.clone() for parameter in run.model.parameters()]
    run.scaler.update(3e38)  # as far as float32 goes: a gradient becomes infinite
    run.train_step()
    assert not math.isfinite(run.gradient_norms[-1]) and run.scaler.get_scale() == pytest.approx(1.5e38, rel=0.01)
    assert all(torch.equal(a, b) for a, b in zip(before, run.model.parameters(), strict=True))


def test_the_scale_of_float16_is_resumed(tmp_path):
    case = Case(Parallel(), dtype=torch.float32, options={"autocast": torch.float16})
    run = case.train(None, steps=2, checkpoint=tmp_path / "run.pt")
    run.scaler.update(1024.0)
    run.save(tmp_path / "run.pt")
    assert case.train(None, steps=3, resume=tmp_path / "run.pt").scaler.get_scale() == 1024


def test_an_error_after_the_gradients_leaves_the_scale_of_float16_as_it_was():
    case = Case(Parallel(), dtype=torch.float32, options={"autocast": torch.float16})
    run = case.train(None, steps=1)
    scale, step = run.scaler.get_scale(), run.optimizers[0].step
    run.optimizers[0].step = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run.train_step()
    run.optimizers[0].step = step
    assert run.scaler.get_scale() == scale
    run.train_step()
    assert run.losses == case.train(None, steps=2).losses


def test_with_one_process_a_run_is_what_to_go_on_from():
    case = Case(Parallel(accumulate=2))
    run = case.train(case.parallel, steps=2)
    again = case.train(case.parallel, steps=4, model=small_model(seed=1), resume=run)
    assert again.losses == case.train(case.parallel, steps=4).losses


@pytest.mark.parametrize("batch", [batches(0), SequenceBatch(*torch.arange(1, 46).view(3, 5, 3))])
def test_parts_of_a_batch(batch):
    parts = [batch.part(number, 3) for number in range(3)]
    for whole, *pieces in zip(batch, *parts, strict=True):
        assert torch.equal(torch.cat(pieces), whole)
    assert sum(part.scored() for part in parts) == batch.scored()


def test_padding_is_not_scored():
    ids = torch.tensor([[1, PAD, 3]])
    assert SequenceBatch(ids, ids, ids).scored() == 2
    assert TextBatch(ids, torch.tensor([[PAD, IGNORE, 3]])).scored() == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"data": 0}, "Parallel: data=0, expected at least 1"),
        ({"shard": 1.5}, "Parallel: shard is 1.5, expected a whole number at least 1"),
        ({"data": "rest", "tensor": "rest"}, 'expected "rest" at most once'),
        ({"data": "all"}, "Parallel: data is 'all'"),
        ({"accumulate": 0}, "Parallel: accumulate=0, expected at least 1"),
        ({"timeout": 0}, "Parallel: timeout=0, expected more than 0"),
        ({"precision": torch.bfloat16}, "Parallel: precision=torch.bfloat16 needs shard"),
        ({"compile": 1}, "Parallel: compile is 1, expected"),
    ],
)
def test_parallel_refuses(options, said):
    with pytest.raises(ValueError) as error:
        Parallel(**options)
    assert said in str(error.value)


def test_the_rest_of_the_processes():
    assert Parallel(shard="rest").sizes(4) == (1, 4, 1)
    assert Parallel(data="rest", tensor=2).sizes(6) == (3, 1, 2)
    for parallel, processes in ((Parallel(data=2), 1), (Parallel(data="rest", tensor=2), 5), (Parallel(), 2)):
        with pytest.raises(ValueError, match="do not fit"):
            parallel.sizes(processes)


def test_a_batch_without_parts_is_named():
    layout = Layout(Parallel(accumulate=2), small_model(), [])
    with pytest.raises(ValueError, match="list has no part"):
        next(layout.parts([1, 2]))


def test_the_last_complete_checkpoint(tmp_path):
    for name in ("step-00000002", "step-00000010", "step-00000011.unfinished", "step-x"):
        (tmp_path / name).mkdir()
    assert last_checkpoint(tmp_path).name == "step-00000010"
    (tmp_path / "step-00000012.replaced").mkdir()
    assert last_checkpoint(tmp_path).name == "step-00000010"
    (tmp_path / "step-00000010").rmdir()
    (tmp_path / "step-00000002").rmdir()
    assert last_checkpoint(tmp_path).name == "step-00000012.replaced"
    assert last_checkpoint(tmp_path / "nothing") is None


class Killed(BaseException):
    """No cleaning up is done after it."""


@pytest.mark.slow
def test_a_shorter_run_that_is_killed_while_it_saves_leaves_a_whole_checkpoint(tmp_path, monkeypatch):
    """A new run in the folder of an older, longer one: killed before each thing that a save does to the disk."""
    longer, shorter, parallel = Case(Parallel()), Case(Parallel()), Parallel(data="rest")
    long_run = longer.train(parallel, steps=5)
    run = shorter.train(parallel, steps=2)
    moments = 0
    while True:
        folder, left = tmp_path / str(moments), moments
        long_run.save(folder)

        def counted(does, half=None):
            def call(*arguments, **options):
                nonlocal left
                if left == 0:
                    if half:
                        half(*arguments)
                    raise Killed
                left -= 1
                return does(*arguments, **options)

            return call

        def half_removed(path, *_):
            if Path(path).is_dir():
                next(Path(path).glob("*.distcp")).unlink()

        monkeypatch.setattr("tx_helpers.training.sharded.os.replace", counted(os.replace))
        monkeypatch.setattr("tx_helpers.training.sharded.shutil.rmtree", counted(shutil.rmtree, half_removed))
        try:
            run.save(folder)
            break
        except Killed:
            monkeypatch.undo()
        found = shorter.train(parallel, steps=2, resume=folder).step if moments else 5
        assert found in (2, 5)
        run.save(folder)
        assert [path.name for path in folder.iterdir()] == ["step-00000002"]
        moments += 1
    assert moments == 4  # the unfinished one, the older aside, the new in place, the older away


def test_a_checkpoint_of_the_same_step_is_there_until_the_new_one_is(tmp_path, monkeypatch):
    case, parallel = Case(Parallel()), Parallel(data="rest")
    run = case.train(parallel, steps=2, checkpoint=tmp_path)

    def killed(old, new):
        if str(old).endswith(".unfinished"):
            raise KeyboardInterrupt
        os.rename(old, new)

    monkeypatch.setattr("tx_helpers.training.sharded.os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        run.save(tmp_path)
    monkeypatch.undo()
    assert case.train(parallel, steps=3, resume=tmp_path).step == 3
    run.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000002"]


@pytest.mark.parametrize("saved", ["sgd", "muon"])
def test_another_optimizers_checkpoint_is_named(tmp_path, saved):
    parallel = Parallel(data="rest")
    Case(Parallel(), optimizer=saved).train(parallel, steps=2, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"other optimizers: 'optimizers.param_groups.*' is missing in the checkpoint"):
        Case(Parallel(), optimizer="adamw").train(parallel, steps=3, resume=tmp_path)


def test_state_that_only_the_checkpoint_has_is_named(tmp_path):
    """SGD with momentum saves what SGD without has no place for."""
    parallel, model = Parallel(data="rest"), small_model()
    heavy = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    options = {"loss": language_model_loss, "progress": False}
    fit(model, batches, steps=2, optimizer=heavy, parallel=parallel, checkpoint=tmp_path, **options)
    model = small_model()
    light = torch.optim.SGD(model.parameters(), lr=0.3)
    with pytest.raises(ValueError, match=r"momentum_buffer' is only in the checkpoint"):
        fit(model, batches, steps=3, optimizer=light, parallel=parallel, resume=tmp_path, **options)


@pytest.mark.parametrize("name", ["run.json", ".metadata", "__0_0.distcp", "SHA256SUMS"])
def test_a_damaged_checkpoint_is_named_and_changes_nothing(tmp_path, name):
    """Half a file, and a single bit anywhere in it; without checksums a bit of a shard is another number."""
    case, parallel, model = Case(Parallel()), Parallel(data="rest"), small_model(seed=1).double()
    case.train(parallel, steps=2, checkpoint=tmp_path)
    file, before = last_checkpoint(tmp_path) / name, [parameter.clone() for parameter in model.parameters()]
    whole = file.read_bytes()
    for place in (None, 0, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        flipped = bytearray(whole[: len(whole) // 2] if place is None else whole)
        flipped[place or 0] ^= 1
        file.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"load_sharded: '.*step-00000002' is damaged \("):
            case.train(parallel, steps=3, model=model, resume=tmp_path)
    file.unlink()
    (last_checkpoint(tmp_path) / ".DS_Store").write_text("stray")
    (last_checkpoint(tmp_path) / ".ipynb_checkpoints").mkdir()
    with pytest.raises(ValueError, match="is damaged"):
        case.train(parallel, steps=3, model=model, resume=tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    file.write_bytes(whole)  # and what lies beside the files of the checkpoint does no harm
    assert case.train(parallel, steps=3, model=model, resume=tmp_path)


@pytest.mark.parametrize("record", ["[]", "{}", '{"step": 2, "seed": 0, "losses": [1.0]}', '{"step": -1}'])
def test_a_record_that_is_none_is_named_and_changes_nothing(tmp_path, record):
    case, parallel, model = Case(Parallel()), Parallel(data="rest"), small_model(seed=1).double()
    case.train(parallel, steps=2, checkpoint=tmp_path)
    last, before = last_checkpoint(tmp_path), [parameter.clone() for parameter in model.parameters()]
    (last / "run.json").write_text(record)
    (last / "SHA256SUMS").write_text("\n".join([*_sums(last), ""]))
    with pytest.raises(ValueError, match="fit: "):
        case.train(parallel, steps=3, model=model, resume=tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_every_file_is_on_the_disk_before_the_older_checkpoint_goes(tmp_path, monkeypatch):
    """A power cut may lose what was written and not forced to the disk: then neither checkpoint would be there."""
    case, parallel, forced = Case(Parallel()), Parallel(data="rest"), set()
    run = case.train(parallel, steps=2, checkpoint=tmp_path)
    fsync, replace = os.fsync, os.replace

    def noted(number):
        forced.add(os.fstat(number).st_ino)
        fsync(number)

    def checked(old, new):
        if str(old).endswith("step-00000002"):
            (unfinished,) = tmp_path.glob("*.unfinished")
            assert {file.name for file in unfinished.iterdir() if file.stat().st_ino not in forced} == set()
            seen.append(unfinished)
        replace(old, new)

    seen = []
    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", checked)
    run.train_step()
    run.save(tmp_path)
    assert seen and last_checkpoint(tmp_path).name == "step-00000003"
