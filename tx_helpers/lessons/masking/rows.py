"""What a row of a batch holds and costs: a packed row in a model, attention in blocks, operations counted.

    words_of(ids, tokenizer)    each id as a word
    read_row(model, row)        a row of several texts, each at its own positions, under its own mask
    windowed_in_blocks(q, k, v) a sliding window whose masked cells are, for the most part, never computed
    operations(run)             floating-point operations, counted by PyTorch

Source of packing without a look at other texts: Grattafiori et al. 2024 (Llama 3), section 3.2.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.masks import causal_mask, sliding_window_mask
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.nn.observe import listening
from tx_helpers.text.tokenizers import WordTokenizer


def read_row(model: DecoderOnly, row: Mapping[str, Tensor]) -> Tensor:
    """Logits (T, V) of a row: ids (T,), positions (T,) and mask (T, T), which is all that says who may look at whom.

    For models whose positions are added to the embedding; rotary ones would be turned inside attention.
    """
    stack = model.decoder
    if stack.rotary is not None or stack.bias is not None:
        raise ValueError("read_row: the model's positions are inside attention, expected sinusoidal or learned ones")
    x = stack.input(row["ids"][None], row["positions"][None])  # (1, T, D)
    for block in stack.blocks:
        x = block(x, mask=row["mask"])
    return model.logits(stack.norm(x))[0]


def windowed_in_blocks(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Causal attention over the last `window` keys, in blocks of as many queries. q, k, v (B, H, T, K) -> the same.

    A block of queries needs the keys of its own block and of the one before: T · 2w cells are computed, not T².
    """
    check_tensors("windowed_in_blocks", q=(q, "float B H T K"), k=(k, "float B H T K"), v=(v, "float B H T K"))
    check_numbers("windowed_in_blocks", least=1, whole=True, window=window)
    outputs = []
    for begin in range(0, q.shape[-2], window):
        first, end = max(0, begin - window), min(begin + window, q.shape[-2])
        near = sliding_window_mask(end - begin, end - first, window=window)
        outputs.append(eager_attention(q[..., begin:end, :], k[..., first:end, :], v[..., first:end, :], mask=near))
    return torch.cat(outputs, dim=-2)


def words_of(ids: Tensor, tokenizer: WordTokenizer) -> list[str]:
    """Each of the ids (T,) as a word, special ones included."""
    return [tokenizer.decode([one], skip_special=False) for one in ids.tolist()]


def in_prefixes(model: DecoderOnly, ids: Tensor) -> Tensor:
    """The slow way: a pass over each prefix of ids (1, T), of which the last logits are kept. -> (T, V)"""
    return torch.stack([model(ids[:, : n + 1])[0, -1] for n in range(ids.shape[1])])


def operations(run: Callable[[], object]) -> int:
    """Floating-point operations of `run`, counted by PyTorch; attention is written out, so that all of it is seen."""
    with FlopCounterMode(display=False) as counter, torch.no_grad(), listening(lambda _name, _tensor: None):
        run()
    return counter.get_total_flops()


def without_mask(model: DecoderOnly, ids: Tensor) -> Tensor:
    """One pass over ids (1, T) in which every position sees all. -> logits (T, V)"""
    T = ids.shape[1]
    everywhere = torch.ones_like(causal_mask(T))
    return read_row(model, {"ids": ids[0], "positions": torch.arange(T), "mask": everywhere})
