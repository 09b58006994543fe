"""What needs a GPU is tested where there is one; the benchmark says so where there is none."""

import pytest
import torch

import bench_gpu
from parallel_cases import Case
from tx_helpers.training.parallel import Parallel

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_the_benchmark_says_so(capsys):
    assert bench_gpu.main([]) == 0
    assert capsys.readouterr().out == "bench_gpu: there is no CUDA device here, and so nothing to measure\n"


def test_the_benchmarks_report():
    """Two H100 at half of their peak, 24 rows of 1,024 tokens in a tenth of a second."""
    text = bench_gpu.report("NVIDIA H100 80GB HBM3", 2, 24, 0.1, 989e12 * 0.1)
    assert text.startswith("2 x NVIDIA H100 80GB HBM3: 100.0 ms a step, 245,760 tokens/s, MFU 50.0%\nnanoGPT's README")
    assert "MFU unknown: no peak in the table" in bench_gpu.report("another GPU", 1, 12, 0.1, 1e12)
    assert bench_gpu.peak_of("NVIDIA H100 PCIe") == 756e12 and bench_gpu.peak_of("NVIDIA H100 80GB HBM3") == 989e12


@on_gpu
@pytest.mark.parametrize("options", [{}, {"autocast": torch.bfloat16}, {"autocast": torch.float16}])
def test_a_gpu_trains_as_the_processor_does(options):
    case = Case(Parallel(), optimizer="adamw", dtype=torch.float32, options=options)
    bound = 1e-3 if not options else 0.05
    losses = case.train(Parallel(accumulate=2), steps=5, device="cuda").losses
    assert losses == pytest.approx(case.train(None, steps=5).losses, abs=bound, rel=0)


@on_gpu
@pytest.mark.slow
def test_the_benchmark_on_a_gpu(capsys):
    assert bench_gpu.main(["--rows", "2", "--steps", "2"]) == 0
    assert "tokens/s, MFU" in capsys.readouterr().out
