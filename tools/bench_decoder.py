"""A character model on tinyshakespeare: the plain recipe of 2019 against ours of the same size, on one thread.

    python tools/bench_decoder.py --text FILE [--seeds 1] [--fraction 1.0]

Plain: nanoGPT's small CPU configuration (4 layers, 4 heads, width 128, context 64, batch 12; 2,000 steps of AdamW with
a cosine schedule; learned positions, LayerNorm, GELU, tied output). It runs at its own best setting: precision and form
of attention are timed first, and the fastest pair is taken. Ours: `recipes.train_writer`.

Prints the loss over the whole validation split, in nats a character, over the processor's seconds spent in training
(evaluation not counted), and how many times sooner ours reaches the plain recipe's final loss.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from timing import medians
from tx_helpers.nn.attention import MultiHeadAttention, eager_attention, fused_attention
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, count_parameters
from tx_helpers.text.corpora import tinyshakespeare
from tx_helpers.text.data import TextBatches, train_validation_split
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.loop import Run
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, cosine
from tx_helpers.zoo.recipes import WRITER_STEPS, Writer, train_writer

STEPS, BATCH, CONTEXT = 2000, 12, 64
ATTENTION = {"fused": fused_attention, "written out": eager_attention}
PRECISION = {"float32": None, "bfloat16": torch.bfloat16}


def plain_config(vocab_size: int) -> TransformerConfig:
    return TransformerConfig(
        vocab_size,
        d_model=128,
        n_layers=4,
        context_length=CONTEXT,
        attention=AttentionConfig(4, bias=False),
        feed_forward=FeedForwardConfig(activation="gelu", bias=False),
        positions=PositionConfig("learned"),
        embedding=EmbeddingConfig(scale=False),
        init=InitConfig("normal", residual="scaled"),
    )


def plain_run(text: str, tokenizer: CharTokenizer, precision: str, attention: str, seed: int, steps: int) -> Run:
    torch.manual_seed(seed)
    model = DecoderOnly(plain_config(len(tokenizer)))
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.attend = ATTENTION[attention]
    return Run(
        model,
        TextBatches(torch.tensor(tokenizer.encode(text)), CONTEXT, BATCH, seed=seed),
        loss=language_model_loss,
        optimizer=adamw(model, 1e-3, betas=(0.9, 0.99), weight_decay=0.1),
        schedule=cosine(steps, warmup=100, floor=0.1),
        autocast=PRECISION[precision],
        seed=seed,
    )


def best_setting(text: str, tokenizer: CharTokenizer) -> tuple[str, str]:
    """The fastest pair of precision and form of attention for the plain recipe, here and now."""
    settings = [(precision, attention) for precision in PRECISION for attention in ATTENTION]
    runs = {setting: plain_run(text, tokenizer, *setting, seed=0, steps=STEPS) for setting in settings}
    seconds = medians({setting: run.train_step for setting, run in runs.items()}, rounds=12)
    for (precision, attention), second in seconds.items():
        print(f"  plain, {precision}, attention {attention}: {1e3 * second:.1f} ms a step")
    return min(seconds, key=seconds.get)


class Stopwatch:
    """The processor's seconds of this process, evaluations not counted; prints the loss at each of them."""

    def __init__(self, name: str, validation: str):
        self.name, self.validation = name, validation
        self.start, self.spent = time.process_time(), 0.0
        self.curve: list[tuple[float, float]] = []  # seconds, loss

    def __call__(self, writer: Writer) -> dict[str, float]:
        paused = time.process_time()
        loss = writer.loss(self.validation)
        self.curve.append((paused - self.start, loss))
        self.start += time.process_time() - paused
        print(f"  {self.name:6}{self.curve[-1][0]:8.1f} s   {loss:.4f}", flush=True)
        return {"validation": loss}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", help="tinyshakespeare.txt, else as corpora.tinyshakespeare looks for it")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--plain-steps", type=int, default=STEPS, help="fewer, to try the script")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    whole = tinyshakespeare(arguments.text)
    text, validation = train_validation_split(whole)
    tokenizer = CharTokenizer.train(whole)
    print(
        f"torch {torch.__version__}, 1 thread, {torch.backends.cpu.get_cpu_capability()}; settings of the plain recipe:"
    )
    setting = best_setting(text, tokenizer)
    for seed in range(arguments.seeds):
        print(f"seed {seed}: plain ({', '.join(setting)}), {arguments.plain_steps} steps")
        plain = Stopwatch("plain", validation)
        run = plain_run(text, tokenizer, *setting, seed=seed, steps=arguments.plain_steps)
        print(f"  {count_parameters(run.model):,} parameters")
        while run.step < arguments.plain_steps:
            run.train_step()
            if run.step % (arguments.plain_steps // 10) == 0:
                plain(Writer(run.model, tokenizer))
        print(f"seed {seed}: ours, {WRITER_STEPS} steps")
        ours = Stopwatch("ours", validation)
        writer = train_writer(
            text, tokenizer=tokenizer, seed=seed, evaluate=ours, every=WRITER_STEPS // 10, progress=False
        )
        print(f"  {count_parameters(writer.model):,} parameters")
        seconds, goal = plain.curve[-1]
        reached = next((s for s, loss in ours.curve if loss <= goal), None)
        verdict = f"{seconds / reached:.1f} times sooner" if reached else "not reached"
        print(f"seed {seed}: ours reaches the plain recipe's final loss {goal:.4f}: {verdict}\n", flush=True)


if __name__ == "__main__":
    main()
