"""Which form of attention is faster, and does the rule choose it?

    python tools/bench_attention.py [--threads 1] [--device cuda]

Prints, for lengths and precisions, milliseconds of the written-out form, of PyTorch's fused kernel, and of
`scaled_dot_product_attention`, which chooses between them; forward alone, and forward with backward. The three take
turns, so a slow moment of the machine hits all; medians. "chosen / better" near 1 says the rule is right there.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from tx_helpers.nn.attention import eager_attention, fused_attention, scaled_dot_product_attention

FORMS = {"written out": eager_attention, "fused": fused_attention, "chosen": scaled_dot_product_attention}
LENGTHS = (16, 64, 128, 256, 512, 1024, 2048)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, {arguments.device}, {arguments.threads} thread(s); 8,192 queries of width 32")
    print(f"{'':30}{''.join(f'{name:>14}' for name in FORMS)}   fused/written   chosen/better")
    for dtype in (torch.float32, torch.bfloat16):
        for backward in (False, True):
            for T in LENGTHS:
                row = medians(
                    {name: step(form, T, dtype, arguments.device, backward) for name, form in FORMS.items()},
                    rounds=5 if T > 512 else 15,
                )
                better = min(row["written out"], row["fused"])
                label = f"{str(dtype)[6:]:9}{'with backward' if backward else 'forward':14}T={T:5}"
                times = "".join(f"{1e3 * seconds:11.2f} ms" for seconds in row.values())
                ratio = row["fused"] / row["written out"]
                print(f"{label:30}{times}{ratio:16.2f}{row['chosen'] / better:16.2f}", flush=True)


def step(form, T: int, dtype: torch.dtype, device: str, backward: bool):
    """One causal attention over 8,192 queries: 4 heads of width 32, as many rows as fit."""
    shape = (max(1, 2048 // T), 4, T, 32)
    q, k, v = (torch.randn(shape, device=device, dtype=dtype, requires_grad=backward) for _ in range(3))

    def run() -> None:
        heads = form(q, k, v, causal=True)
        if backward:
            heads.sum().backward()
        if device != "cpu":
            torch.cuda.synchronize()

    return run


def medians(rivals: dict[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Median seconds of each rival, after one round that is not counted."""
    seconds = {name: [] for name in rivals}
    for counted in [False] + [True] * rounds:
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            if counted:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


if __name__ == "__main__":
    main()
