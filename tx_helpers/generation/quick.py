"""One new token through the blocks of a decoder: the layers' own weights and functions, without modules and checks.

A decoding step of a small model spends more time on calls than on products. What can be settled once is settled when
decoding starts: which parts the blocks have. What is computed is the same as in the modules (`attention`, `blocks`,
`layers`), and a test holds the two together.

    step = quick_step(stack)            # None where a part is not of the usual kind: then the modules are called
    hidden = step(ids, start, caches)   # ids (B, 1) at position `start`  ->  (B, 1, D); None: call the modules

`begin` hands it to a `DecodingState`, which uses it for steps of one token after the first step, without gradients
and listeners. While a text is written, each step notices a hook, another method, part or parameter, and `train()`
(then the modules are called), and a weight that an optimizer changed in place (then queries, keys and values are put
together again; they are copies while decoding lasts). It does not notice a weight changed through `.data`: start
anew.

Left out on purpose: everything that several positions at once need (masks), windows, biases on the scores, padding.
"""

from collections.abc import Callable
from itertools import chain
from operator import is_not
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules import module as every_module

from tx_helpers.nn.attention import MultiHeadAttention, repeat_kv, scaled_dot_product_attention
from tx_helpers.nn.blocks import Block, BlockCache, InputEmbedding, pre_norm
from tx_helpers.nn.decoding import Shortcut
from tx_helpers.nn.layers import FeedForward, GatedFeedForward
from tx_helpers.nn.positions import LearnedPositions

_METHODS: dict[type[nn.Module], tuple[str, ...]] = {
    InputEmbedding: ("forward", "embed"),
    Block: ("forward", "_dropped"),
    MultiHeadAttention: ("forward", "queries", "keys", "values", "split"),
    **dict.fromkeys((FeedForward, GatedFeedForward, nn.Linear, nn.LayerNorm, nn.Embedding), ("forward",)),
}
_KINDS, _NAMES = zip(*((kind, name) for kind, names in _METHODS.items() for name in names), strict=True)
_AS_WRITTEN = tuple(map(getattr, _KINDS, _NAMES))


def quick_step(stack: Any) -> Shortcut | None:
    """A function (ids (B, 1), start, caches) -> (B, 1, D) or None; None for a stack with an unusual part."""
    usual = stack.causal and stack.bias is None and stack.pad_id is None and not any(stack.windows)
    usual = usual and not stack.own_rotary and type(stack.input) is InputEmbedding
    changed = _watch(stack)
    if not usual or changed():
        return None
    blocks: list[Any] = [_quick_block(block) for block in stack.blocks]
    if None in blocks:
        return None
    norm, merged = _quick_norm(stack.norm), [part for block in stack.blocks for part in _merged(block.self_attention)]
    versions = [one._version for one in merged]  # what an optimizer does to a weight raises its number
    places = stack.input.positions
    tables = (stack.input.tokens, places.table) if type(places) is LearnedPositions else ()
    plain = tables and all(type(one) is nn.Embedding and one.max_norm is None for one in tables)
    learned = places.table.weight if plain else None

    def step(ids: Tensor, start: int, caches: list[BlockCache]) -> Tensor | None:
        if changed() or len(caches) != len(blocks):
            return None
        if [one._version for one in merged] != versions:
            versions[:] = [one._version for one in merged]
            blocks[:] = [_quick_block(block) for block in stack.blocks]
        positions = torch.arange(start, start + 1, device=ids.device)
        if learned is None:
            x = stack.input.embed(ids, positions)
        else:
            x = F.embedding(ids, stack.input.tokens.weight) * stack.input.factor + learned[start]
        rotate = stack.rotary and stack.rotary.at(positions, x.dtype)
        for block, cache in zip(blocks, caches, strict=True):
            x = block(x, rotate, cache)
        return norm(x)

    return step


def _merged(attention: Any) -> list[Tensor]:
    """The weights and biases of queries, keys and values."""
    linears = (attention.query, attention.key, attention.value)
    return [one for linear in linears for one in (linear.weight, linear.bias) if one is not None]


def _quick_block(block: nn.Module) -> Callable[..., Tensor] | None:
    """x (B, 1, D) -> (B, 1, D) for a pre-norm block with multi-head attention, else None."""
    if type(block) is not Block or block.wiring is not pre_norm:
        return None
    attention = block.self_attention
    if type(attention) is not MultiHeadAttention or attention.attend is not scaled_dot_product_attention:
        return None
    projections = (attention.query, attention.key, attention.value, attention.output)
    if any(type(one) is not nn.Linear or one.weight.dtype not in (torch.float32, torch.float64) for one in projections):
        return None
    parts = projections[:3]  # queries, keys and values: one product for the three
    if any(type(one) is not nn.Parameter or one.is_inference() for part in parts for one in part.parameters()):
        return None  # a tensor of another kind, or one that does not count its changes
    w = torch.cat([one.weight for one in parts])
    b = None if parts[0].bias is None else torch.cat([one.bias for one in parts])
    wo, bo = attention.output.weight, attention.output.bias
    H, G, K, scale = attention.n_heads, attention.n_kv_heads, attention.d_head, attention.scale
    first, second = _quick_norm(block.self_attention_norm), _quick_norm(block.feed_forward_norm)
    query_norm, key_norm = attention.query_norm, attention.key_norm
    normed = not isinstance(query_norm, nn.Identity)
    feed_forward, linear, attend = _quick_feed_forward(block.feed_forward), F.linear, F.scaled_dot_product_attention

    def step(x: Tensor, rotate: Callable[[Tensor], Tensor] | None, cache: Any) -> Tensor:
        B = x.shape[0]
        qkv = linear(first(x), w, b).view(B, H + 2 * G, 1, K)  # one position: no transpose is needed
        if normed:
            q, k, v = qkv.split((H, G, G), dim=1)
            q, k = query_norm(q), key_norm(k)
            if rotate is not None:
                q, k = rotate(q), rotate(k)
        else:
            qk, v = qkv.split((H + G, G), dim=1)
            q, k = (qk if rotate is None else rotate(qk)).split((H, G), dim=1)
        k, v = repeat_kv(q, *cache.self_attention.append(k, v))
        x = x + linear(attend(q, k, v, scale=scale).reshape(B, 1, H * K), wo, bo)
        return x + feed_forward(second(x))

    return step


def _quick_norm(norm: nn.Module) -> Callable[[Tensor], Tensor]:
    if type(norm) is not nn.LayerNorm:
        return norm
    shape, weight, bias, eps = norm.normalized_shape, norm.weight, norm.bias, norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def _quick_feed_forward(network: Any) -> Callable[[Tensor], Tensor]:
    if type(network) not in (FeedForward, GatedFeedForward) or any(
        type(part) is not nn.Linear for name, part in network.named_children() if name != "dropout"
    ):
        return network
    w1, b1, w2, b2 = (getattr(part, name) for part in (network.expand, network.contract) for name in ("weight", "bias"))
    activation, linear = network.activation, F.linear
    if type(network) is FeedForward:
        return lambda x: linear(activation(linear(x, w1, b1)), w2, b2)
    wg, bg = network.gate.weight, network.gate.bias
    return lambda x: linear(activation(linear(x, wg, bg)) * linear(x, w1, b1), w2, b2)


def _watch(stack: nn.Module) -> Callable[[], bool]:
    """Has somebody hung a hook on a module, put another method, part or parameter into it, or begun to train?"""
    modules = list(stack.modules())
    own = [vars(module) for module in modules]
    hooks = [one[kind] for one in own for kind in ("_forward_hooks", "_forward_pre_hooks")]
    hooks += [every_module._global_forward_hooks, every_module._global_forward_pre_hooks]
    held = [part for one in own for kind in ("_modules", "_parameters") if (part := one[kind])]
    replaced = any(name in vars(type(module)) for module, one in zip(modules, own, strict=True) for name in one)

    def content() -> list[int]:
        return [*map(len, own), *map(id, chain.from_iterable(map(dict.values, held)))]

    made = content()

    def changed() -> bool:
        if replaced or any(hooks) or any(one["training"] for one in own) or content() != made:
            return True
        return any(map(is_not, map(getattr, _KINDS, _NAMES), _AS_WRITTEN))

    return changed
