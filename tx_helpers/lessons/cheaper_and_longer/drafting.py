"""Speculative decoding measured: how many passes of the large model a small draft saves, and how many seconds.

    draft = train_draft()                                # one block, some seconds of training
    found = measure_speculation(world_model("decoder"), draft, ahead=4)
    found.tokens_per_pass, found.expected                # counted, and by the formula
    found.speed_up                                       # in seconds
    found.cost                                           # of a draft's pass, in passes of the large model

`speculative` holds the method and the formulas (Leviathan et al. 2023). The formula takes the mean
probability that a drafted token is kept, and assumes that it is the same everywhere. It is not: some words of a text
are certain, others are free. So what is counted differs a little. And passes are not seconds: a draft has to be much
cheaper than the large model, which is hard where the large one is small itself.
"""

import time
from dataclasses import replace
from typing import NamedTuple

import torch

from tx_helpers.generation.search import generate
from tx_helpers.lessons.cheaper_and_longer.speculative import acceptance_rate, expected_tokens, speculate
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import BOS
from tx_helpers.training.contexts import RandomStream, cpu_threads
from tx_helpers.training.machine_speed import tick
from tx_helpers.training.objectives import ObjectiveBatches
from tx_helpers.zoo.world_models import train_on_texts, world_config


class Speculation(NamedTuple):
    """What was counted and measured."""

    acceptance_rate: float  # mean of Σ min(p, q) along the text: the probability that a drafted token is kept
    tokens_per_pass: float  # new tokens for each pass of the large model, counted
    expected: float  # the same by the formula
    alone: float  # seconds for each token, the large model alone
    drafted: float  # seconds for each token, with the draft
    draft_alone: float = 0.0  # seconds for each token, the draft alone

    @property
    def cost(self) -> float:
        """What a pass of the draft costs, in passes of the large model."""
        return self.draft_alone / self.alone

    @property
    def speed_up(self) -> float:
        """How many times faster in seconds."""
        return self.alone / self.drafted


def train_draft(*, steps: int = 100, width: int = 48, seed: int = 0) -> DecoderOnly:
    """A decoder of the little world with one narrow block."""
    check_numbers("train_draft", least=2, whole=True, steps=steps)
    check_numbers("train_draft", least=8, whole=True, width=width)
    attention, feed_forward = (
        AttentionConfig(2, bias=False, qk_norm=True),
        FeedForwardConfig(4 * width, "relu2", bias=False),
    )
    changes = dict(d_model=width, n_layers=1, attention=attention, feed_forward=feed_forward)
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(replace(world_config("decoder"), **changes))
    batches = ObjectiveBatches("causal", 16, texts=4000, texts_in_a_row=(1, 2), seed=seed)
    train_on_texts(model, batches, steps=steps, progress=False)
    return model.eval()


def measure_speculation(
    large: DecoderOnly,
    draft: DecoderOnly,
    *,
    ahead: int = 4,
    tokens: int = 80,
    texts: int = 4,
    temperature: float = 1.0,
    seed: int = 0,
) -> Speculation:
    """Write `texts` texts of `tokens` tokens with the draft, without it, and by it alone: with caches, one thread."""
    check_types("measure_speculation", DecoderOnly, large=large, draft=draft)
    check_numbers("measure_speculation", least=1, whole=True, ahead=ahead, tokens=tokens, texts=texts)
    prompt, generator = torch.tensor([[BOS]]), torch.Generator().manual_seed(seed)
    options = dict(max_new_tokens=tokens, temperature=temperature, generator=generator)
    passes, kept, seconds = 0, [], [0.0] * 3
    with cpu_threads(1):
        for _ in range(texts):
            times = [time.thread_time()]
            written = speculate(large, draft, prompt, ahead=ahead, **options)
            times.append(time.thread_time())
            generate(large, prompt, **options)
            times.append(time.thread_time())
            generate(draft, prompt, **options)
            times.append(time.thread_time())
            seconds = [so_far + b - a for so_far, a, b in zip(seconds, times, times[1:], strict=False)]
            passes += written.passes
            kept.append(_kept(large, draft, torch.cat([prompt, written.ids], dim=1), temperature))
    share, least = sum(kept) / texts, tick(time.thread_time)  # a coarse clock may have stood still
    return Speculation(
        share,
        texts * tokens / passes,
        expected_tokens(share, ahead),
        max(seconds[1], least) / (texts * tokens),
        max(seconds[0], least) / (texts * tokens),
        max(seconds[2], least) / (texts * tokens),
    )


@torch.no_grad()
def _kept(large: DecoderOnly, draft: DecoderOnly, ids: torch.Tensor, temperature: float) -> float:
    """The mean of Σ min(p, q) over the positions of a text; with temperature 0, how often both say the same."""
    logits = [model(ids[:, :-1]) for model in (large, draft)]
    if temperature == 0:
        return (logits[0].argmax(-1) == logits[1].argmax(-1)).float().mean().item()
    p, q = ((each / temperature).softmax(dim=-1) for each in logits)
    return acceptance_rate(p, q).mean().item()
