"""What the cache saves: 200 tokens decoded one by one, cached and uncached, side by side.

    python tools/bench_generation.py [--threads 1] [--width 256] [--layers 4] [--tokens 200]

Both forms take turns; medians. The ids they write are compared, too.
"""

import argparse
import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from timing import medians
from tx_helpers.config import PositionConfig, TransformerConfig
from tx_helpers.generation import generate
from tx_helpers.models import DecoderOnly, count_parameters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    config = TransformerConfig(256, arguments.width, arguments.layers, positions=PositionConfig("rotary"))
    model = DecoderOnly(config).eval()
    forms = {"cached": True, "uncached": False}
    print(
        f"torch {torch.__version__}, {arguments.threads} thread(s); {count_parameters(model):,} parameters, "
        f"{arguments.layers} layers of width {arguments.width}, {arguments.tokens} tokens greedily"
    )
    for batch in (1, 8):
        prompt = torch.randint(0, 256, (batch, 4))
        written = {}

        def decode(name: str, prompt=prompt, written=written) -> None:
            written[name] = generate(model, prompt, max_new_tokens=arguments.tokens, cached=forms[name])

        seconds = medians({name: lambda name=name: decode(name) for name in forms}, rounds=3)
        same = torch.equal(written["cached"], written["uncached"])
        rates = ", ".join(f"{name} {batch * arguments.tokens / s:,.0f} tokens/s" for name, s in seconds.items())
        times = f"{seconds['uncached'] / seconds['cached']:.1f} times as fast"
        print(f"batch {batch}: {rates}: cached is {times}; same ids: {same}")


if __name__ == "__main__":
    main()
