"""What the cache saves: 200 tokens decoded one by one, cached and uncached, side by side.

    python tools/bench_generation.py [--threads 1] [--width 256] [--layers 4] [--tokens 200]

For several batch sizes, all rivals of a size taking turns; tokens per second, as the median of the rounds and in the
best of them. The ids written with and without the cache are compared, too.

A single sequence is also decoded by the library `transformers` (a requirement of the tests) with its models of the same
width and depth: Llama, whose positions are rotary, and GPT-2, whose positions are learned. "products alone" is the
ceiling of cached decoding: every weight matrix once for each token, and nothing else. That waits for memory, which
other users of a shared machine slow down; decoding without the cache waits for arithmetic, which they hardly touch. So
the ratio is lowest on a busy machine.
"""

import argparse
import os
import statistics
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from timing import in_turns
from tx_helpers.generation.search import generate
from tx_helpers.nn.config import PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, count_parameters

VOCABULARY, PROMPT = 256, 4  # ids; length of what is given

Decode = Callable[[Tensor, bool], Tensor]  # prompt (B, T), with the cache? -> ids (B, …)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    tokens = arguments.tokens
    models = {
        f"ours, {kind} positions": DecoderOnly(
            TransformerConfig(
                VOCABULARY,
                arguments.width,
                arguments.layers,
                context_length=PROMPT + tokens,
                positions=PositionConfig(kind),
            )
        ).eval()
        for kind in ("rotary", "learned")
    }
    model = models["ours, rotary positions"]
    print(
        f"torch {torch.__version__}, {arguments.threads} thread(s); {count_parameters(model):,} parameters, "
        f"{arguments.layers} layers of width {arguments.width}, {tokens} tokens greedily"
    )
    ours = {
        name: lambda prompt, cached, model=model: generate(model, prompt, max_new_tokens=tokens, cached=cached)
        for name, model in models.items()
    }
    for batch in (1, 2, 4, 8):
        rivals = ours | decoders_of_transformers(model.config, tokens) if batch == 1 else ours
        compare(rivals, torch.randint(0, VOCABULARY, (batch, PROMPT)), tokens, products_alone(model, batch))


def compare(models: dict[str, Decode], prompt: Tensor, tokens: int, products: Callable[[], None]) -> None:
    """Print what each model does with the cache and without it, and what the products alone would allow."""
    written = {}

    def run(name: str, cached: bool) -> None:
        written[name, cached] = models[name](prompt, cached)

    rivals = {(name, cached): lambda key=(name, cached): run(*key) for name in models for cached in (True, False)}
    seconds = in_turns(rivals | {"products": lambda: [products() for _ in range(tokens)]}, rounds=7)
    typical = {key: statistics.median(values) for key, values in seconds.items()}
    best = {key: min(values) for key, values in seconds.items()}

    def rate(key) -> str:
        return f"{len(prompt) * tokens / typical[key]:,.0f} ({len(prompt) * tokens / best[key]:,.0f})"

    print(f"batch {len(prompt)}, tokens/s, median (best): products alone {rate('products')}")
    for name in models:
        with_cache, without = (name, True), (name, False)
        ratios = f"{typical[without] / typical[with_cache]:.1f} ({best[without] / best[with_cache]:.1f}) times as fast"
        same = torch.equal(written[with_cache], written[without])
        print(
            f"    {name}: cached {rate(with_cache)}, uncached {rate(without)}: {ratios}; same ids: {same}", flush=True
        )


def products_alone(model: nn.Module, batch: int) -> Callable[[], None]:
    """All linear maps of the model, once, for one position in each row of a batch."""
    linear_maps = [module for module in model.modules() if isinstance(module, nn.Linear)]
    products = [(torch.randn(batch, 1, linear.in_features), linear.weight, linear.bias) for linear in linear_maps]

    @torch.no_grad()
    def run() -> None:
        for x, weight, bias in products:
            F.linear(x, weight, bias)

    return run


def decoders_of_transformers(config: TransformerConfig, tokens: int) -> dict[str, Decode]:
    """Greedy decoding of `tokens` tokens by the library's own `generate`; no token ends a sequence."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    shared = dict(vocab_size=config.vocab_size, bos_token_id=None, eos_token_id=None)
    n_layers, n_heads = config.n_layers, config.attention.n_heads
    llama = LlamaConfig(
        hidden_size=config.d_model,
        intermediate_size=8 * config.d_model // 3,  # three matrices with as many parameters as two of 4 · width
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        **shared,
    )
    gpt2 = GPT2Config(n_embd=config.d_model, n_layer=n_layers, n_head=n_heads, **shared)
    return {
        "transformers' Llama": _decoder(LlamaForCausalLM(llama), tokens),
        "transformers' GPT-2": _decoder(GPT2LMHeadModel(gpt2), tokens),
    }


def _decoder(model: nn.Module, tokens: int) -> Decode:
    model.eval()
    return lambda prompt, cached: model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        use_cache=cached,
        max_new_tokens=tokens,
        do_sample=False,
        pad_token_id=0,
    )


if __name__ == "__main__":
    main()
