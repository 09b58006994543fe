"""Latent attention: absorbed = expanded, cached = uncached, the bytes of the cache. Parity is in tests/parity."""

import pytest
import torch
from torch import Tensor

from parity import DEVICES, B, D, H, T, normal, randomise
from toy_models import close
from tx_helpers.nn.attention import MultiHeadAttention, eager_attention
from tx_helpers.nn.cache import KVCache
from tx_helpers.nn.capture import capture
from tx_helpers.nn.positions import Rotary
from tx_helpers.zoo.parts.latent import LatentAttention
from wrong_arguments import faults

L, R, C, VALUE = 7, 4, 5, 6
WIDTHS = dict(d_latent=L, d_rotary=R, d_content=C, d_value=VALUE)
queries = pytest.mark.parametrize("d_query_latent", [None, 9])
ROTARY = Rotary(R, 50.0)


def layer(d_query_latent: int | None = None, **options) -> LatentAttention:
    return randomise(LatentAttention(D, H, d_query_latent=d_query_latent, **WIDTHS, **options).double())


def turn(start: int, stop: int):
    return ROTARY.at(torch.arange(start, stop), torch.float64)


@queries
@pytest.mark.parametrize("attend", [None, eager_attention])
def test_the_absorbed_form_is_the_expanded_one_with_all_gradients(d_query_latent, attend):
    made, x = layer(d_query_latent, **({"attend": attend} if attend else {})), normal(B, T, D).requires_grad_()
    mask = torch.ones(B, 1, 1, T, dtype=torch.bool)
    mask[1, ..., :2] = False
    found = []
    for absorbed in (False, True):
        out = made(x, rotate=turn(0, T), mask=mask, absorbed=absorbed)
        found.append([out, *torch.autograd.grad(out.square().sum(), [x, *made.parameters()])])
    for expanded, other in zip(*found, strict=True):
        scale = max(1.0, expanded.abs().max().item())
        close(other / scale, expanded / scale, 1e-12)


@queries
@pytest.mark.parametrize("absorbed", [None, True, False])
@pytest.mark.parametrize("chunks", [[1] * 7, [3, 1, 2, 1], [7]], ids=str)
def test_cached_is_uncached(chunks, absorbed, d_query_latent):
    made, x, cache, parts = layer(d_query_latent), normal(B, 7, D), KVCache(), []
    with torch.no_grad():
        for part in x.split(chunks, dim=1):
            rotate = turn(len(cache), len(cache) + part.shape[1])
            parts.append(made(part, rotate=rotate, cache=cache, absorbed=absorbed))
        close(torch.cat(parts, dim=1), made(x, rotate=turn(0, 7)), 1e-12)


def filled(made: torch.nn.Module) -> KVCache:
    cache = KVCache()
    made(normal(B, T, D), cache=cache, causal=True)
    return cache


@pytest.mark.parametrize("n_kv_heads", [H, 1])
def test_the_width_is_that_of_the_cache(n_kv_heads):
    for made in (MultiHeadAttention(D, H, n_kv_heads=n_kv_heads).double(), layer()):
        cache = filled(made)
        assert cache.keys.numel() + cache.values.numel() == B * T * made.cache_width


def test_deepseek_v3_keeps_576_numbers_where_its_heads_have_40960():
    with torch.device("meta"):
        made = LatentAttention(7168, 128, d_latent=512, d_rotary=64, d_content=128, d_value=128)
        usual = MultiHeadAttention(7168, 128, d_head=128)
    assert made.cache_width == 576
    assert usual.cache_width == 2 * 128 * 128
    assert 128 * (128 + 64) + 128 * 128 == 40960  # keys with their rotary part, and values


def test_it_can_be_watched():
    made, x = layer(), normal(B, T, D)
    with capture(made) as seen:
        made(x, rotate=turn(0, T), absorbed=True)
    shapes = {name: tuple(tensor.shape) for name, tensor in seen.items()}
    assert shapes == {
        "latent": (B, T, L),
        "scores": (B, H, T, T),
        "weights": (B, H, T, T),
        "heads": (B, H, T, VALUE),
        "output": (B, T, D),
    }
    close(seen["weights"].sum(-1), torch.ones(B, H, T).double())


@pytest.mark.parametrize("device", [*DEVICES, "meta"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_it_follows_device_and_precision(device, dtype):
    made, x = layer(), normal(B, T, D)
    expected = made(x)
    for absorbed in (False, True):
        out = made.to(device, dtype)(x.to(device, dtype), absorbed=absorbed)
        assert (out.shape, out.dtype, out.device.type) == ((B, T, D), dtype, device)
        if device != "meta":
            scale, tolerance = (
                expected.abs().max(),
                {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.1}[dtype],
            )
            close(out.cpu().double() / scale, expected / scale, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("absorbed", [False, True])
def test_torch_s_tools_take_it(absorbed):
    made, other, x = layer(), randomise(layer(), 3), normal(B, T, D)

    def run(x: Tensor) -> Tensor:
        return made(x, rotate=turn(0, T), absorbed=absorbed)

    parameters, buffers = torch.func.stack_module_state([made, other])
    options = dict(absorbed=absorbed)
    out = torch.func.vmap(lambda p, b: torch.func.functional_call(made, (p, b), (x,), options))(parameters, buffers)
    close(out, torch.stack([made(x, **options), other(x, **options)]), 1e-9)
    torch.compiler.reset()
    close(torch.compile(run, fullgraph=True, backend="eager")(x), run(x), 1e-12)
    program = torch.export.export(
        made, (x,), options, dynamic_shapes={"x": {1: torch.export.Dim("T", min=2, max=9)}, "absorbed": None}
    )
    longer = normal(B, T + 2, D, seed=2)
    close(program.module()(longer, **options), made(longer, **options), 1e-12)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (LatentAttention, dict(d_model=D, n_heads=H, d_query_latent=9, **WIDTHS)),
        (layer(), dict(x=normal(B, T, D))),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_every_wrong_argument_is_named(call, arguments):
    assert faults(call, arguments) == []
