"""What the notebook launches: real processes train as one does, and our collectives work on them."""

import os
import re

import pytest
import torch

from tx_helpers.lessons.scaling_up.real.launch import launch
from tx_helpers.lessons.scaling_up.real.on_processes import LAYOUTS, STEPS, train
from tx_helpers.lessons.scaling_up.real.processes import ProcessRank
from tx_helpers.lessons.scaling_up.simulated.collectives import bytes_sent
from tx_helpers.training.parallel import Parallel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("on_processes")


@pytest.fixture(scope="module")
def printed(folder):
    return launch(2, "-m", "tx_helpers.lessons.scaling_up.real.on_processes", str(folder), timeout=600)


@pytest.mark.thorough  # notebook 20 prints the same of its two processes, and `make test` compares it to the letter
@pytest.mark.skipif(os.name != "posix", reason="torchrun and gloo are tried on Unix only")
def test_two_processes_print_the_losses_of_one_and_the_bytes_of_the_formula(printed, folder):
    layouts, rings, saved = printed.strip("\n").split("\n\n")
    alone = f"{train().losses[-1]:.6f}"
    rows = layouts.splitlines()[1:]
    assert [row[:20].strip() for row in rows] == ["one process", *LAYOUTS]
    assert [row.split(alone)[0].strip() for row in rows] == ["one process", *LAYOUTS]
    held = {row[:20].strip(): [float(number) for number in row.split()[-3:]] for row in rows}
    assert held["data=2 (DDP)"] == held["one process"]
    assert held["shard=2 (FSDP2)"] == pytest.approx([kilobytes / 2 for kilobytes in held["one process"]], abs=0.1)
    sizes = re.findall(r"(\w+) +([\d,]+) +([\d,]+)   0$", rings, re.MULTILINE)
    whole = {"all_reduce": 480_000, "reduce_scatter": 480_000, "all_gather": 480_000, "all_to_all": 480_000}
    assert {name: int(sent.replace(",", "")) for name, sent, _ in sizes} == {
        name: bytes_sent(name, size, 2) for name, size in whole.items()
    }
    assert all(sent == formula for _, sent, formula in sizes)
    assert saved == f"saved after {STEPS // 2} steps, shard=2"
    run = train(Parallel(shard="rest"), resume=folder)
    assert run.step == STEPS and run.losses == pytest.approx(train().losses, abs=1e-6, rel=0)


def test_what_a_process_cannot_send_is_named():
    rank = object.__new__(ProcessRank)  # without processes around it
    with pytest.raises(ValueError, match=r"send: \(2, 3\) of torch.int32, expected at most 6 dimensions of one of"):
        rank.send(torch.zeros(2, 3, dtype=torch.int32), to=1)
    with pytest.raises(ValueError, match=r"send: \(1, 1, 1, 1, 1, 1, 1\) of torch.float32"):
        rank.swap(torch.zeros(1, 1, 1, 1, 1, 1, 1), to=1, source=1)
