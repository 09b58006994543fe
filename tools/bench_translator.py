"""How well and how fast the course's translator learns: five seeds, one core, 1,000 numbers it never saw.

    python tools/bench_translator.py [--seeds 5] [--threads 1]

Seconds are those of the processor, in training alone; data, evaluation and loading are not counted.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from tx_helpers.nn.models import count_parameters
from tx_helpers.text.number_words import number_pairs
from tx_helpers.zoo.recipes import train_translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    pairs = number_pairs()
    print(f"torch {torch.__version__}, {arguments.threads} thread(s)")
    print("seed   steps   parameters   training   exact match on 1,000 held-out numbers")
    for seed in range(arguments.seeds):
        start, wall = time.process_time(), time.perf_counter()
        translator = train_translator(pairs.train, seed=seed, threads=arguments.threads, progress=False)
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
        exact = translator.exact_match(pairs.held_out)
        print(
            f"{seed:4}{translator.run.step:8}{count_parameters(translator.model):13,}{seconds:9.1f} s"
            f"   {exact:.2%}   ({wall:.1f} s by the clock)",
            flush=True,
        )


if __name__ == "__main__":
    main()
