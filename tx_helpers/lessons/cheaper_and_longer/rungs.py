"""Where the time of writing goes: the same text, written with less and less beside the products.

    shares = measure_rungs(tokens=60)     # {rung: its speed as a share of the products alone}, one interleaved run
    shares, parts = measure_both()        # and {part: its share of the quickest rung's time}, each measured alone
    rungs_picture(recorded())             # 200 tokens, each way at its best of ten rounds

The seconds are those of the thread. The recorded run was not alone on its machine; its load (processes that wanted one
of two cores) is stored with it. Since then each quick step also looks for hooks, for about a hundredth of its time.

The model has 3.2 million parameters (width 256, four layers). It writes one text with one thread. The products alone
are what no way of calling them can save: each matrix times one vector, for each token.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.blocks import BlockCache
from tx_helpers.nn.cache import KVCache
from tx_helpers.nn.config import AttentionConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show
from tx_helpers.training.contexts import RandomStream, cpu_threads
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.machine_speed import tick

PRODUCTS, QUICKEST = "products alone", "no modules, checked once"
SIZES = dict(vocab_size=65, d_model=256, n_layers=4, context_length=256)


class CopiedCache(KVCache):
    """A cache that is made anew at each step: all earlier positions are copied."""

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        known = self.keys, self.values
        if known[0] is not None and known[1] is not None:
            keys, values = torch.cat([known[0], keys], dim=-2), torch.cat([known[1], values], dim=-2)
        self._room, self._length = (keys, values), keys.shape[-2]
        return keys, values


def rung_model() -> DecoderOnly:
    """3.2 million parameters, untrained: what it writes makes no sense, and costs the same."""
    with RandomStream(0).on(torch.device("cpu")):
        parts = dict(attention=AttentionConfig(4), positions=PositionConfig("learned"))
        return DecoderOnly(TransformerConfig(**SIZES, **parts)).eval()


@torch.inference_mode()
def write_with(model: DecoderOnly, cache: Callable[[], KVCache], tokens: int) -> Tensor:
    """The likeliest ids (tokens,), each step through the modules, with such a cache for each block."""
    caches, ids = [BlockCache(cache()) for _ in model.decoder.blocks], torch.ones(1, 1, dtype=torch.long)
    for _ in range(tokens):
        logits = model.logits(model.decoder(ids, caches=caches)[:, -1:])
        ids = torch.cat([ids, logits.argmax(-1)], dim=1)
    return ids[0, 1:]


@torch.inference_mode()
def multiply(model: DecoderOnly, tokens: int) -> None:
    """Each matrix of the model times one vector, for each token, and nothing else."""
    weights = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
    vectors = {weight.shape[1]: torch.ones(1, weight.shape[1]) for weight in weights}
    for _ in range(tokens):
        for weight in weights:
            F.linear(vectors[weight.shape[1]], weight)


def rungs(model: DecoderOnly) -> dict[str, Callable[[int], Any]]:
    """From the slowest to the products alone: functions of the number of tokens."""
    return {
        "all again at each step": lambda tokens: generate(model, 1, max_new_tokens=tokens, cached=False)[0],
        "a cache that is copied": lambda tokens: write_with(model, CopiedCache, tokens),
        "a cache written in place": lambda tokens: write_with(model, KVCache, tokens),
        QUICKEST: lambda tokens: generate(model, 1, max_new_tokens=tokens)[0],
        PRODUCTS: lambda tokens: multiply(model, tokens),
    }


def parts(model: DecoderOnly) -> dict[str, Callable[[int], Any]]:
    """What a token takes beside the products, each part alone, as often as the quick step calls it."""
    blocks = model.decoder.blocks
    block: Any = blocks[0]
    D, H, layers = SIZES["d_model"], block.self_attention.n_heads, len(blocks)
    x, wide, head = torch.ones(1, 1, D), torch.ones(1, 1, 4 * D), torch.ones(1, H, 1, D // H)
    known = torch.ones(1, H, SIZES["context_length"], D // H)
    norm, activation = block.self_attention_norm, block.feed_forward.activation

    def norms(tokens: int) -> None:
        for _ in range(tokens * (2 * layers + 1)):
            torch.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)

    def attention(tokens: int) -> None:
        for t in range(1, tokens + 1):
            for _ in range(layers):
                F.scaled_dot_product_attention(head, known[:, :, :t], known[:, :, :t])

    def cache(tokens: int) -> None:
        caches = [KVCache() for _ in range(layers)]
        for _ in range(tokens):
            for each in caches:
                each.append(head, head)

    def sums(tokens: int) -> None:
        for _ in range(tokens * layers):
            activation(wide)
            x + x + x

    return {"norms": norms, "attention": attention, "cache": cache, "activations and sums": sums}


def measure_both(*, tokens: int = 60, rounds: int = 5) -> tuple[dict[str, float], dict[str, float]]:
    """The rungs' speeds as `measure_rungs` gives them, and what the quickest rung's time goes to, from the same rounds.

    The second: the products and each of the `parts` alone, as shares of that time, and the rest. The model is made
    outside of inference mode, since weights that are made inside it send the quick step a slower way.
    """
    check_numbers("measure_both", least=1, most=SIZES["context_length"], whole=True, tokens=tokens, rounds=rounds)
    model = rung_model()
    ways, alone = rungs(model), {name: torch.inference_mode()(run) for name, run in parts(model).items()}
    best = _best(ways | alone, tokens, rounds)
    shares = {name: best[name] / best[QUICKEST] for name in (PRODUCTS, *alone)}
    return {name: best[PRODUCTS] / best[name] for name in ways}, {**shares, "the rest": 1 - sum(shares.values())}


def _best(ways: Mapping[str, Callable[[int], Any]], tokens: int, rounds: int) -> dict[str, float]:
    """The seconds of each way: the best of some rounds, each through all ways."""
    best = dict.fromkeys(ways, float("inf"))
    with cpu_threads(1):
        for _ in range(rounds):
            for name, write in ways.items():
                start = time.thread_time()
                write(tokens)
                best[name] = min(best[name], max(time.thread_time() - start, tick(time.thread_time)))
    return best


def measure_rungs(
    *, tokens: int = 60, rounds: int = 5, others: Mapping[str, Callable[[int], Any]] | None = None
) -> dict[str, float]:
    """The speed of each rung as a share of the products alone: the best of some rounds, each through all rungs."""
    check_numbers("measure_rungs", least=1, most=SIZES["context_length"], whole=True, tokens=tokens, rounds=rounds)
    best = _best({**(others or {}), **rungs(rung_model())}, tokens, rounds)
    return {name: best[PRODUCTS] / seconds for name, seconds in best.items()}


def rungs_picture(record: Mapping[str, Any]) -> Picture:
    """A bar for each way of writing: its share of the speed of the products alone."""
    check_types("rungs_picture", Mapping, record=record)
    shares = dict(sorted(record["shares"].items(), key=lambda one: -one[1]))
    figure, axis = new_figure(7.5, 3.0)
    bars = axis.barh(list(shares), [100 * share for share in shares.values()], color=COLOURS[0])
    axis.bar_label(bars, [f"{share:.0%}" for share in shares.values()], padding=3)
    axis.set(xlabel="speed, % of the products alone", xlim=(0, 112), title="One text, 200 tokens, one thread")
    told = ", ".join(f"{name} {share:.0%}" for name, share in reversed(shares.items()))
    return show(figure, f"Speed as a share of the products alone, recorded on {record['date']}: {told}.")


def measure_beside_transformers(tokens: int = 200, rounds: int = 10) -> dict[str, Any]:
    """What the file holds: each rung, and the library transformers beside it."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    sizes = dict(vocab_size=65, max_position_embeddings=256, bos_token_id=1, eos_token_id=0)
    llama = dict(hidden_size=256, intermediate_size=683, num_hidden_layers=4, num_attention_heads=4)
    models = {
        "transformers' Llama": LlamaForCausalLM(LlamaConfig(**sizes, **llama)).eval(),
        "transformers' GPT-2": GPT2LMHeadModel(GPT2Config(**sizes, n_embd=256, n_layer=4, n_head=4)).eval(),
    }
    prompt, options = torch.tensor([[1]]), dict(do_sample=False, pad_token_id=0)

    def writer(model: Any) -> Callable[[int], Any]:
        return lambda n: model.generate(prompt, max_new_tokens=n, min_new_tokens=n, **options)

    others = {name: writer(model) for name, model in models.items()}
    shares = {
        name: round(share, 3) for name, share in measure_rungs(tokens=tokens, rounds=rounds, others=others).items()
    }
    return {"tokens": tokens, "rounds": rounds, "load": round(os.getloadavg()[0], 1), "shares": shares}


RECORDED = Experiment(Path(__file__).with_suffix(".json"), measure_beside_transformers, "5 minutes", {})
recorded = RECORDED.read
