"""Attention: both forms against PyTorch's kernel and against a loop, then the multi-head layer and its cache.

`nn.MultiheadAttention` is the reference in test_parity_torch, the library `transformers` in test_parity_pretrained.
"""

import math

import pytest
import torch
import torch.nn.functional as functional
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from parity import DEVICES, TOLERANCE, B, D, H, K, S, T, both_precisions, normal, properties, randomise
from tx_helpers.nn import attention
from tx_helpers.nn.attention import (
    MultiHeadAttention,
    additive_attention,
    eager_attention,
    fused_attention,
    scaled_dot_product_attention,
)
from tx_helpers.nn.cache import KVCache
from tx_helpers.nn.capture import capture
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.observe import listening
from tx_helpers.nn.positions import Rotary

FORMS = [eager_attention, fused_attention, scaled_dot_product_attention]
both_forms = pytest.mark.parametrize("attend", FORMS[:2])
all_forms = pytest.mark.parametrize("attend", FORMS)

G, W = 3, 6  # key–value heads that 6 query heads share; a width of values other than K


def inputs(
    T: int = T, S: int = S, H: int = H, G: int = H, W: int = K, dtype: torch.dtype = torch.float64, seed: int = 0
):
    shapes = (B, H, T, K), (B, G, S, K), (B, G, S, W)
    return [normal(*shape, seed=seed + i, dtype=dtype).requires_grad_() for i, shape in enumerate(shapes)]


def same_with_gradients(actual: Tensor, expected: Tensor, leaves: list[Tensor], tolerance: float) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)
    direction = normal(*actual.shape, seed=9, dtype=actual.dtype)
    for mine, other in zip(
        torch.autograd.grad(actual, leaves, direction), torch.autograd.grad(expected, leaves, direction), strict=True
    ):
        torch.testing.assert_close(mine, other, rtol=tolerance, atol=tolerance)


# ------------------------------------------------------------------------- against F.scaled_dot_product_attention


RANDOM = normal(B, 1, T, S, seed=5) > 0
RANDOM[..., 2] = True  # no row is empty
PADDING = torch.ones(B, 1, 1, S, dtype=torch.bool)
PADDING[1, ..., 4:] = False
CAUSAL = torch.ones(T, S, dtype=torch.bool).tril(S - T)
EQUAL = torch.ones(T, T, dtype=torch.bool).tril()
OWN = (normal(B, 1, T, T, seed=3) > -0.5) | torch.eye(T, dtype=torch.bool)  # with causality, no row is empty
CASES = {  # our options, the kernel's mask (True = may attend), and the sizes of the inputs
    "plain": ({}, None, {}),
    "mask": ({"mask": RANDOM}, RANDOM, {}),
    "mask of each head": ({"mask": normal(H, T, S, seed=6) > -1}, normal(H, T, S, seed=6) > -1, {}),
    "padding": ({"mask": PADDING}, PADDING, {}),
    "causal": ({"causal": True}, CAUSAL, {}),
    "causal, equal lengths": ({"causal": True}, EQUAL, {"S": T}),  # where the fused form has a kernel of its own
    "causal and scale, equal lengths": ({"causal": True, "scale": 0.3}, EQUAL, {"S": T}),
    "causal, mask and scale": ({"causal": True, "mask": OWN, "scale": 0.3}, EQUAL & OWN, {"S": T}),
    # as in decoding with a cache: the kernel's own `is_causal` would let the query see the first key only
    "causal, one new query": ({"causal": True}, None, {"T": 1}),
    "causal and padding": ({"causal": True, "mask": PADDING}, CAUSAL & PADDING, {}),
    "scale": ({"scale": 0.3}, None, {}),
    "groups": ({}, None, {"H": 2 * G, "G": G}),
    "groups, causal": ({"causal": True}, EQUAL, {"S": T, "H": 2 * G, "G": G}),
    "values of another width": ({}, None, {"W": W}),
}


@both_precisions
@all_forms
@pytest.mark.parametrize("case", CASES)
def test_all_forms_are_the_kernel_of_pytorch(case, attend, dtype):
    options, mask, sizes = CASES[case]
    q, k, v = inputs(**sizes, dtype=dtype)
    expected = functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, scale=options.get("scale"), enable_gqa=True
    )
    same_with_gradients(attend(q, k, v, **options), expected, [q, k, v], TOLERANCE[dtype])


@both_precisions
@all_forms
@pytest.mark.parametrize("masked", [False, True], ids=["bias", "bias-and-mask"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
def test_a_bias_is_a_term_of_the_scores(causal, masked, attend, dtype):
    q, k, v = inputs(dtype=dtype)
    bias = normal(1, H, T, S, seed=7, dtype=dtype).requires_grad_()
    allowed = torch.ones(B, 1, T, S, dtype=torch.bool)
    allowed = allowed & RANDOM if masked else allowed
    allowed = allowed & CAUSAL if causal else allowed
    expected = functional.scaled_dot_product_attention(
        q, k, v, attn_mask=bias + torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -torch.inf)
    )
    actual = attend(q, k, v, bias=bias, mask=RANDOM if masked else None, causal=causal)
    empty = ~allowed.any(-1).expand(B, H, T)  # the kernel gives zeros there: so do we, tested below
    same_with_gradients(actual[~empty], expected[~empty], [q, k, v, bias], TOLERANCE[dtype])


# -------------------------------------------------------------------------------------------- against the definition


def loop(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Row by row, over the keys that may be attended to; zeros if there is none."""
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            for t in range(q.shape[2]):
                allowed = mask[b, h, t].nonzero().flatten().tolist()
                terms = [math.exp(float(q[b, h, t] @ k[b, h, s]) / math.sqrt(q.shape[-1])) for s in allowed]
                for term, s in zip(terms, allowed, strict=True):
                    out[b, h, t] += term / sum(terms) * v[b, h, s]
    return out


@all_forms
@properties
@given(seed=st.integers(0, 10_000), threshold=st.sampled_from([-1.0, 0.0, 1.0, 2.0]))
def test_any_mask_is_the_definition_empty_rows_included(attend, seed, threshold):
    q, k, v = (x.detach() for x in inputs(3, 4, 2, 2, seed=seed))
    mask = normal(B, 2, 3, 4, seed=seed) > threshold
    torch.testing.assert_close(attend(q, k, v, mask=mask), loop(q, k, v, mask), rtol=1e-9, atol=1e-9)


@both_precisions
@all_forms
@pytest.mark.parametrize("with_bias", [False, True], ids=["no-bias", "bias"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
def test_a_fully_masked_row_is_exactly_zero_and_its_gradients_are_finite(causal, with_bias, attend, dtype):
    q, k, v = inputs(dtype=dtype)
    mask = torch.ones(B, 1, T, S, dtype=torch.bool)
    mask[0, 0, 3] = False  # one query
    mask[1] = False  # a whole sample
    bias = normal(1, H, T, S, seed=7, dtype=dtype).requires_grad_() if with_bias else None
    out = attend(q, k, v, mask=mask, bias=bias, causal=causal)
    assert torch.equal(out[0, :, 3], torch.zeros(H, K, dtype=dtype))
    assert torch.equal(out[1], torch.zeros(H, T, K, dtype=dtype))
    assert out[0, :, [0, 1, 2, 4]].abs().min() > 0
    leaves = [q, k, v] + ([bias] if with_bias else [])
    gradients = torch.autograd.grad(out, leaves, normal(*out.shape, seed=9, dtype=dtype))
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all(torch.equal(gradient[1], torch.zeros_like(gradient[1])) for gradient in gradients[:3])
    assert gradients[0][0, :, 3].abs().max() == 0
    assert gradients[0][0, :, 4].abs().max() > 0


@all_forms
def test_what_is_masked_does_not_matter_at_all(attend):
    """Another key, another value, even an infinite one in a place nobody may look at: the same bits."""
    q, k, v = (x.detach() for x in inputs())
    mask = PADDING
    before = attend(q, k, v, mask=mask)
    k[1, :, 5], v[1, :, 5] = 1e6, -7.0
    assert torch.equal(attend(q, k, v, mask=mask), before)


@all_forms
@pytest.mark.parametrize("causal", [False, True])
def test_a_row_closed_by_a_bias_alone_gives_zeros_and_no_gradient(attend, causal):
    q, k, v = (normal(B, H, T, K, seed=n).requires_grad_() for n in range(3))
    bias = normal(B, H, T, T, seed=4)
    bias[0, 1, 2] = -torch.inf
    bias[1, :, 3, :2] = -torch.inf
    allowed = bias.isfinite()
    expected = attend(q, k, v, mask=allowed, bias=bias.nan_to_num(neginf=0.0), causal=causal)
    same_with_gradients(attend(q, k, v, bias=bias, causal=causal), expected, [q, k, v], 1e-12)
    assert (attend(q, k, v, bias=bias, causal=causal)[0, 1, 2] == 0).all()


@all_forms
@pytest.mark.parametrize("shape", [(), (S,), (1,), (T, S), (1, S), (T, 1), (H, 1, S), (B, 1, T, S)])
def test_masks_and_biases_of_any_number_of_dimensions_broadcast(attend, shape):
    q, k, v = normal(B, H, T, K), normal(B, H, S, K, seed=1), normal(B, H, S, K, seed=2)
    mask, bias = normal(*shape, 1, seed=3)[..., 0] > -0.5, normal(*shape, 1, seed=4)[..., 0]
    for options in (dict(mask=mask, bias=bias), dict(mask=mask), dict(bias=bias)):
        full = {name: term.expand(B, H, T, S) for name, term in options.items()}
        expected = eager_attention(q, k, v, **full)
        torch.testing.assert_close(attend(q, k, v, **options), expected, rtol=1e-12, atol=1e-12)


def test_in_float16_the_product_does_not_overflow_before_it_is_scaled():
    """q · k = 78,400 is more than float16 can hold; divided by √K it is 39,200."""
    q = torch.full((1, 1, 1, 4), 140.0, dtype=torch.float16)
    k = torch.cat([q, -q], dim=2)
    v = torch.tensor([1.0, 2.0], dtype=torch.float16).reshape(1, 1, 2, 1).expand(1, 1, 2, 4)
    scores = []
    with listening(lambda name, tensor: scores.append(tensor) if name == "scores" else None):
        assert eager_attention(q, k, v).tolist() == [[[[1.0] * 4]]]
    assert scores[0].tolist() == [[[[39200.0, -39200.0]]]]


# --------------------------------------------------------------------------------------------- the rule that chooses


@pytest.mark.parametrize(
    ("dtype", "length", "watched", "expected"),
    [
        (torch.float32, 7, False, "fused"),
        (torch.float64, 7, False, "fused"),
        (torch.float32, 7, True, "eager"),
        (torch.float64, 600, True, "eager"),
        (torch.bfloat16, 7, False, "eager"),
        (torch.float16, 512, False, "eager"),
        (torch.bfloat16, 513, False, "fused"),
        (torch.bfloat16, 513, True, "eager"),
    ],
)
def test_watched_or_short_in_reduced_precision_on_a_cpu_attention_is_eager(
    dtype, length, watched, expected, monkeypatch
):
    taken = []
    monkeypatch.setattr(attention, "fused_attention", lambda *_, **__: taken.append("fused"))
    monkeypatch.setattr(attention, "eager_attention", lambda *_, **__: taken.append("eager"))
    q, k, v = (x.detach() for x in inputs(S=length, dtype=dtype))
    if watched:
        with listening(lambda name, tensor: None):
            scaled_dot_product_attention(q, k, v)
    else:
        scaled_dot_product_attention(q, k, v)
    assert taken == [expected]


def test_only_the_eager_form_reports():
    heard = {}
    with listening(lambda name, tensor: heard.update({name: tensor})):
        fused_attention(*inputs())
        assert heard == {}
        q, k, v = inputs()
        out = eager_attention(q, k, v, mask=CAUSAL)
    torch.testing.assert_close(heard["scores"], q @ k.transpose(-2, -1) / math.sqrt(K), rtol=1e-9, atol=1e-9)
    assert heard["scores"].isfinite().all()  # before the mask
    torch.testing.assert_close(heard["weights"].sum(-1), torch.ones(B, H, T).double(), rtol=1e-9, atol=1e-9)
    assert torch.equal(heard["weights"] > 0, CAUSAL.expand(B, H, T, S))
    torch.testing.assert_close(heard["weights"] @ v, out, rtol=0, atol=0)


@both_forms
def test_dropout_is_pytorch_s_on_the_weights(attend):
    q, k, v = (x.detach() for x in inputs())
    torch.manual_seed(1)
    actual = attend(q, k, v, dropout=0.5)
    torch.manual_seed(1)
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(K), dim=-1)
    expected = functional.dropout(weights, 0.5) @ v
    if attend is fused_attention:
        torch.manual_seed(1)
        expected = functional.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)
    assert not torch.allclose(actual, attend(q, k, v))


# ---------------------------------------------------------------------------------------------- additive attention


@properties
@given(seed=st.integers(0, 10_000), threshold=st.sampled_from([-2.0, 0.0, 1.5]))
def test_additive_attention_is_the_formula_empty_rows_included(seed, threshold):
    A = 6
    q, k, v = normal(B, T, A, seed=seed), normal(B, S, A, seed=seed + 1), normal(B, S, D, seed=seed + 2)
    weight, mask = normal(A, seed=seed + 3), normal(B, T, S, seed=seed + 4) > threshold
    expected = torch.zeros(B, T, D).double()
    for b in range(B):
        for t in range(T):
            allowed = mask[b, t].nonzero().flatten().tolist()
            terms = [math.exp(float(weight @ torch.tanh(q[b, t] + k[b, s]))) for s in allowed]
            for term, s in zip(terms, allowed, strict=True):
                expected[b, t] += term / sum(terms) * v[b, s]
    actual = additive_attention(q, k, v, weight=weight, mask=mask)
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_queries_and_keys_are_rotated_and_values_are_not(layout):
    layer, x = randomise(MultiHeadAttention(D, H, d_head=4).double()), normal(B, T, D)
    rotate = Rotary(4, 50.0, layout).at(torch.arange(T), torch.float64)

    def heads(y):
        return y.unflatten(-1, (H, 4)).transpose(1, 2)

    q, k, v = heads(layer.query(x)), heads(layer.key(x)), heads(layer.value(x))
    mixed = (
        loop(rotate(q).detach(), rotate(k).detach(), v, causal_mask(T).expand(B, H, T, T)).transpose(1, 2).flatten(-2)
    )
    actual = layer(x, causal=True, rotate=rotate)
    torch.testing.assert_close(actual, layer.output(mixed), rtol=1e-9, atol=1e-9)


def test_additive_attention_reports_and_has_finite_gradients_when_nothing_may_be_seen():
    q, k, v = (normal(B, n, D, seed=n).requires_grad_() for n in (T, S, S))
    heard = {}
    with listening(lambda name, tensor: heard.update({name: tensor})):
        out = additive_attention(q, k, v, weight=normal(D), mask=torch.zeros(B, T, S, dtype=torch.bool))
    assert torch.equal(out, torch.zeros_like(out))
    assert heard["scores"].shape == heard["weights"].shape == (B, T, S)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(out.sum(), [q, k, v]))


# ----------------------------------------------------------------------------------------------- multi-head attention


def test_multi_head_attention_is_one_head_after_another():
    """Head h uses its own K columns; the heads are joined in order. With all options at once."""
    width, scale, eps = 5, 0.7, 1e-3
    layer = MultiHeadAttention(D, H, d_head=width, qk_norm=True, norm_eps=eps, scale=scale, output_bias=False)
    layer = randomise(layer.double())
    x, memory = normal(B, T, D), normal(B, S, D, seed=1)
    bias = normal(1, H, T, S, seed=2)
    heads = []
    for h in range(H):
        columns = slice(h * width, (h + 1) * width)
        q, k, v = (
            functional.linear(source, part.weight[columns], part.bias[columns])
            for source, part in ((x, layer.query), (memory, layer.key), (memory, layer.value))
        )
        q = functional.rms_norm(q, (width,), layer.query_norm.weight, eps)
        k = functional.rms_norm(k, (width,), layer.key_norm.weight, eps)
        scores = (q @ k.transpose(-2, -1) * scale + bias[0, h]).masked_fill(~PADDING[:, 0], -torch.inf)
        heads.append(torch.softmax(scores, -1) @ v)
    expected = torch.cat(heads, -1) @ layer.output.weight.T
    assert layer.output.bias is None
    torch.testing.assert_close(layer(x, memory, mask=PADDING, bias=bias), expected, rtol=1e-9, atol=1e-9)


def test_a_layer_takes_any_attention_function():
    given = {}

    def mean_of_values(q, k, v, **options):
        given.update(options)
        return v.mean(dim=-2, keepdim=True).expand(q.shape)

    layer = randomise(MultiHeadAttention(D, H, scale=0.5, dropout=0.1, attend=mean_of_values).double())
    x, memory, mask, bias = normal(B, T, D), normal(B, S, D, seed=1), PADDING, normal(1, H, T, S)
    out = layer(x, memory, mask=mask, bias=bias, causal=True)
    expected = layer.output(layer.value(memory).mean(1, keepdim=True)).expand(B, T, D)
    torch.testing.assert_close(out, expected, rtol=1e-9, atol=1e-9)
    assert given == dict(mask=mask, bias=bias, causal=True, scale=0.5, dropout=0.1)


@pytest.mark.parametrize("watched", [False, True])
def test_dropout_acts_in_training_and_not_in_evaluation(watched):
    layer, x = randomise(MultiHeadAttention(D, H, dropout=0.5).double()), normal(B, T, D)
    plain = MultiHeadAttention(D, H).double()
    plain.load_state_dict(layer.state_dict())

    def run(layer: nn.Module) -> Tensor:
        if watched:
            with capture(layer):
                return layer(x)
        return layer(x)

    assert not torch.allclose(run(layer), run(layer))
    assert torch.equal(run(layer.eval()), run(plain))


# ------------------------------------------------------------------------------------------------------------- cache


def test_in_cross_attention_the_memory_is_projected_once():
    layer, x = randomise(MultiHeadAttention(D, H).double()), normal(B, T, D)
    memory, cache = normal(B, S, D, seed=1), KVCache()
    whole = layer(x, memory)
    projected = []
    layer.key.register_forward_hook(lambda *_: projected.append("key"))
    layer.value.register_forward_hook(lambda *_: projected.append("value"))
    parts = [layer(x[:, part], memory, cache=cache) for part in (slice(0, 2), slice(2, 3), slice(3, 5))]
    torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=1e-9, atol=1e-9)
    assert projected == ["key", "value"]
    assert len(cache) == S


def test_select_keeps_repeats_and_reorders_rows():
    cache, rows = KVCache(), torch.tensor([2, 0, 0])
    keys, values = normal(3, H, S, K), normal(3, H, S, K, seed=1)
    cache.select(torch.tensor([0]))  # nothing there yet
    assert len(cache) == 0
    cache.append(keys, values)
    cache.select(rows)
    assert torch.equal(cache.keys, keys[[2, 0, 0]])
    assert torch.equal(cache.values, values[[2, 0, 0]])
    more = normal(3, H, 1, K, seed=2)
    keys_so_far, values_so_far = cache.append(more, -more)
    assert torch.equal(keys_so_far, torch.cat([keys[[2, 0, 0]], more], dim=2))
    assert torch.equal(values_so_far, torch.cat([values[[2, 0, 0]], -more], dim=2))
    assert len(cache) == S + 1


# -------------------------------------------------------------------------------------------------- devices, precisions


@pytest.mark.parametrize("device", [*DEVICES, "meta"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_layer_follows_device_and_precision(device, dtype):
    layer = randomise(MultiHeadAttention(D, 6, n_kv_heads=G, qk_norm=True).double()).to(device, dtype)
    x, cache = normal(B, T, D).to(device, dtype), KVCache()
    mask = torch.ones(B, 1, 1, T, dtype=torch.bool, device=device)
    bias = torch.zeros(1, 6, T, T, device=device)
    rotate = Rotary(D // 6).at(torch.arange(T, device=device), dtype)
    out = layer(x, mask=mask, bias=bias, causal=True, rotate=rotate, cache=cache)
    assert (out.shape, out.dtype, out.device.type) == ((B, T, D), dtype, device)
    assert cache.keys.dtype == dtype
    if device != "meta":
        exact = randomise(MultiHeadAttention(D, 6, n_kv_heads=G, qk_norm=True).double())
        expected = exact(normal(B, T, D), causal=True, rotate=Rotary(2).at(torch.arange(T), torch.float64))
        tolerance = {torch.float64: 1e-6, torch.float32: 1e-5, torch.bfloat16: 0.1}[dtype]
        torch.testing.assert_close(out.cpu().double(), expected, rtol=tolerance, atol=tolerance)


@all_forms
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_close_and_masked_rows_stay_zero(dtype, device, attend):
    q, k, v = (x.detach() for x in inputs())
    mask = RANDOM.clone()
    mask[1, 0, 2] = False
    expected = eager_attention(q, k, v, mask=mask)
    half = [x.to(device, dtype) for x in (q, k, v)]
    actual = attend(*half, mask=mask.to(device))
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.cpu().double(), expected, rtol=0.05, atol=0.05)
    assert torch.equal(actual[1, :, 2].cpu(), torch.zeros(H, K, dtype=dtype))


# ----------------------------------------------------------------------------------------------------------- bad input


@all_forms
@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (
            ((B, H, T, K), (B, H, S, W), (B, H, S, W)),
            {},
            r"attention: q \(2, 3, 5, 4\), k \(2, 3, 7, 6\), v .* expected",
        ),
        (((B, H, T, K), (B, H, S, K), (B, H, T, K)), {}, r"attention: .* k \(2, 3, 7, 4\), v \(2, 3, 5, 4\)"),
        (((B, H, T, K), (B, 1, S, K), (B, H, S, K)), {}, r"attention: .* k \(2, 1, 7, 4\), v \(2, 3, 7, 4\)"),
        (((B, H, T, K), (1, H, S, K), (1, H, S, K)), {}, r"attention: q \(2, 3, 5, 4\), k \(1, 3, 7, 4\)"),
        (((T, K), (S, K), (S, K)), {}, r"attention: q \(5, 4\), .* expected float \(B, H, T, K\)"),
        (((B, H, T, K), (B, 2, S, K), (B, 2, S, K)), {}, "attention: 3 query heads are not divisible by 2 key–value"),
        (((B, H, T, K),) * 3, {"mask": torch.zeros(T, T)}, "attention: a mask of torch.float32, expected torch.bool"),
        (((B, H, T, K),) * 3, {"mask": torch.ones(T, T, dtype=torch.long)}, "attention: a mask of torch.int64"),
        (
            ((B, H, T, K),) * 3,
            {"mask": causal_mask(S)},
            r"attention: a mask of shape \(7, 7\) for scores of shape \(2, 3, 5, 5\)",
        ),
        (
            ((B, H, T, K),) * 3,
            {"mask": torch.ones(4, 1, 1, T, dtype=torch.bool)},
            r"attention: a mask of shape \(4, 1, 1, 5\) for scores",
        ),
        (
            ((B, H, T, K),) * 3,
            {"mask": torch.ones(1, B, 1, 1, T, dtype=torch.bool)},
            r"a mask of shape \(1, 2, 1, 1, 5",
        ),
        (
            ((B, H, T, K),) * 3,
            {"bias": torch.ones(1, 2, T, T)},
            r"attention: a bias of shape \(1, 2, 5, 5\) for scores",
        ),
        (((B, H, T, K),) * 3, {"causal": "yes"}, "attention: causal is 'yes', expected True or False"),
        (((B, H, S, K), (B, H, T, K), (B, H, T, K)), {"causal": True}, "mask: 7 query positions, 5 key positions"),
    ],
)
def test_bad_input_of_the_functions_is_named(shapes, options, message, attend):
    with pytest.raises(ValueError, match=message):
        attend(*(torch.ones(shape) for shape in shapes), **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(10, 3), "MultiHeadAttention: d_model=10 is not divisible by n_heads=3"),
        (lambda: MultiHeadAttention(D, 6, n_kv_heads=4), "n_heads=6 is not divisible by n_kv_heads=4"),
        (lambda: MultiHeadAttention(D, 0), "MultiHeadAttention: n_heads=0, .* at least 1"),
        (lambda: MultiHeadAttention(D, -3), "MultiHeadAttention: n_heads=-3, .* at least 1"),
        (lambda: MultiHeadAttention(D, 3, n_kv_heads=0), "n_kv_heads=0, .* at least 1"),
        (lambda: MultiHeadAttention(D, 3, d_head=-4), "d_head=-4, expected at least 1"),
        (lambda: MultiHeadAttention(D, 3, d_head=0), "d_head=0, expected at least 1"),
        (lambda: MultiHeadAttention(D, 3, dropout="0.0"), "MultiHeadAttention: dropout is '0.0', expected a number"),
        (lambda: MultiHeadAttention(D, 3, norm_eps="1e-6"), "MultiHeadAttention: norm_eps is '1e-6', expected a num"),
        (lambda: MultiHeadAttention(D, 3, scale="1"), "MultiHeadAttention: scale is '1', expected a number"),
        (lambda: MultiHeadAttention(D, 3, qk_norm="yes"), "MultiHeadAttention: qk_norm is 'yes', expected True, False"),
        (
            lambda: MultiHeadAttention(D, H)(torch.ones(B, T, 10)),
            r"MultiHeadAttention: x of shape \(2, 5, 10\), expected float \(B, T, 12\)",
        ),
        (lambda: MultiHeadAttention(D, H)(torch.ones(T, D)), r"MultiHeadAttention: x of shape \(5, 12\), expected"),
        (
            lambda: MultiHeadAttention(D, H)(torch.ones(B, T, D), torch.ones(B, S, 10)),
            r"MultiHeadAttention: memory of shape \(2, 7, 10\), expected float \(B, S, 12\)",
        ),
        (
            lambda: MultiHeadAttention(D, H)(torch.ones(B, T, D), torch.ones(1, S, D)),
            r"MultiHeadAttention: memory of shape \(1, 7, 12\), expected float \(B, S, 12\) with B = 2",
        ),
        (
            lambda: MultiHeadAttention(D, H)(
                torch.ones(B, 1, D), rotate=Rotary(D).at(torch.arange(1)), cache=KVCache()
            ),
            "Rotary: a head width of 4, but this rotation is for 12",
        ),
    ],
)
def test_bad_input_of_the_layer_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_cache_refuses_another_number_of_rows():
    cache = KVCache()
    cache.append(torch.ones(B, H, T, K), torch.ones(B, H, T, K))
    with pytest.raises(ValueError, match="KVCache: 3 rows, but it holds 2"):
        cache.append(torch.ones(3, H, 1, K), torch.ones(3, H, 1, K))


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (torch.ones(B, T, S), r"additive_attention: a mask of torch.float32, expected torch.bool"),
        (
            torch.ones(B, T, T, dtype=torch.bool),
            r"additive_attention: a mask of shape \(2, 5, 5\) for scores of shape \(2, 5, 7\)",
        ),
    ],
)
def test_a_bad_mask_of_additive_attention_is_named(mask, message):
    q, k = torch.ones(B, T, K), torch.ones(B, S, K)
    with pytest.raises(ValueError, match=message):
        additive_attention(q, k, k, weight=torch.ones(K), mask=mask)
