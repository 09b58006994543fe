"""How long `diagnose` takes for models of about a million parameters.

    python tools/bench_diagnose.py [--rounds 3] [--threads 1]

A decoder and an encoder–decoder of ours, and GPT-2 of the library `transformers` where that is installed. Goal: under
10 seconds each on two cores. Printed: the median of the rounds, and the probes that took longest in one more run.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from torch import nn

import tx_helpers.diagnose as diagnosis
from timing import medians
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, count_parameters

V, WIDTH, GOAL = 512, 128, 10.0


def models() -> dict[str, nn.Module]:
    """Of about a million parameters each."""
    config = TransformerConfig(V, WIDTH, n_layers=5, attention=AttentionConfig(4), pad_id=0)
    pair = TransformerConfig(V, WIDTH, n_layers=2, attention=AttentionConfig(4), pad_id=0)
    found = {"decoder": DecoderOnly(config), "encoder–decoder": EncoderDecoder(pair)}
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
    except ModuleNotFoundError:
        return found
    sizes = GPT2Config(vocab_size=V, n_positions=64, n_embd=WIDTH, n_layer=5, n_head=4, bos_token_id=1, eos_token_id=2)
    return found | {"transformers' GPT-2": GPT2LMHeadModel(sizes)}


def slowest(model: nn.Module, threads: int | None) -> list[tuple[float, str]]:
    """Seconds of each probe, the slowest first."""
    seconds: list[tuple[float, str]] = []
    plain = dict(diagnosis.PROBES)

    def timed(name: str):
        def probe(run):
            start = time.perf_counter()
            result = plain[name](run)
            seconds.append((time.perf_counter() - start, name))
            return result

        return probe

    try:
        diagnosis.PROBES.update({name: timed(name) for name in plain})
        diagnosis.diagnose(model, threads=threads)
    finally:
        diagnosis.PROBES.update(plain)
    return sorted(seconds, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    threads = arguments.threads
    print(f"torch {torch.__version__}, {threads} thread(s)")
    for name, model in models().items():
        rivals = {name: lambda model=model: diagnosis.diagnose(model, threads=threads)}
        second = medians(rivals, rounds=arguments.rounds)[name]
        within = "within" if second < GOAL else "OVER"
        print(f"{name:22}{count_parameters(model):>10,} parameters{second:8.2f} s   {within} {GOAL:.0f} s")
        print("".join(f"{'':24}{probe:12}{spent:6.2f} s\n" for spent, probe in slowest(model, threads)[:3]), end="")


if __name__ == "__main__":
    main()
