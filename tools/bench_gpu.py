"""Tokens per second and MFU of GPT-2 124M on a GPU, beside nanoGPT's published figures.

    python tools/bench_gpu.py [--rows 12] [--steps 20] [--eager]
    torchrun --nproc-per-node 8 tools/bench_gpu.py --shard rest

A step is that of `fit`: bfloat16, AdamW, 1,024 tokens a row, compiled blocks. MFU is the share of the GPU's peak that
the model's own FLOPs use (Chowdhery et al. 2022, appendix B): `training.costs.flops`, without what is computed twice.
Without a GPU there is nothing to measure, and the tool says so.
"""

import argparse
import os
import statistics
import sys
import time

import torch

from tx_helpers.lessons.scaling_up.planning.hardware import chip_of
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatch
from tx_helpers.training.costs import flops
from tx_helpers.training.loop import Run
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw
from tx_helpers.training.parallel import REST, Parallel
from tx_helpers.zoo.presets import gpt2

LENGTH = 1024
PUBLISHED = (
    "nanoGPT's README: about 4 days on eight A100 40GB; with the 600,000 steps of 491,520 tokens of its configuration, "
    "that is about 107,000 tokens/s a GPU. torch.compile there: from 250 to 135 ms (GPU and rows are not named)."
)


def peak_of(name: str) -> float | None:
    """The peak of a GPU of this name, in FLOP/s, if `hardware` has it."""
    chip = chip_of(name)
    return None if chip is None else chip.flops


def report(name: str, processes: int, rows: int, seconds: float, flops_a_step: float) -> str:
    """What is printed: `rows` and `flops_a_step` are those of all processes together."""
    tokens = rows * LENGTH / seconds
    peak = peak_of(name)
    share = "unknown: no peak in the table" if peak is None else f"{flops_a_step / seconds / peak / processes:.1%}"
    return f"{processes} x {name}: {seconds * 1000:.1f} ms a step, {tokens:,.0f} tokens/s, MFU {share}\n{PUBLISHED}"


def main(arguments: list[str]) -> int:
    """Measure, and print from the first process. -> the exit code"""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=12, help="of each process")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--shard", default=1, type=lambda text: text if text == REST else int(text))
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("bench_gpu: there is no CUDA device here, and so nothing to measure")
        return 0
    processes = int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    rows = options.rows * processes
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = DecoderOnly(gpt2(dropout=0.0)).to(device)
    a_step = flops(model, rows, LENGTH)
    ids = torch.randint(0, 50257, (rows, LENGTH + 1), generator=torch.Generator().manual_seed(0))
    batch = TextBatch(ids[:, :-1], ids[:, 1:])
    data = REST if options.shard == 1 else 1
    parallel = Parallel(data=data, shard=options.shard, compile=not options.eager)
    optimizer = adamw(model, 6e-4, betas=(0.9, 0.95))
    run = Run(
        model,
        lambda step: batch,
        loss=language_model_loss,
        optimizer=optimizer,
        autocast=torch.bfloat16,
        parallel=parallel,
    )
    seconds = []
    for _ in range(options.steps + 5):  # the first few compile and warm up
        torch.cuda.synchronize()
        start = time.perf_counter()
        run.train_step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    if run.layout.first:
        print(report(torch.cuda.get_device_name(), processes, rows, statistics.median(seconds[5:]), a_step))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
