"""The roofline of this machine: which steps wait for memory and which for multiplications, predicted and measured.

    machine = measure_machine()                          # of `training.machine_speed`
    for row in measure_cases(machine):                   # matrix products, attention, an optimizer's step, a decoder
        print(row.name, row.cost.per_byte, row.predicted, row.measured)

    seconds ≥ max(operations / P, bytes / M)             P operations and M bytes in a second

An operation with fewer than P / M operations for each byte waits for memory: there the roof is slanted. The bound holds
where every byte is moved once and nothing else costs time. Python, small matrices and exponentials all cost time, so
what is measured lies under the roof. Bytes are those read and those written, in float32.
Source: Williams et al. 2009.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tx_helpers.generation.search import begin
from tx_helpers.lessons.cheaper_and_longer.cache_bytes import Intensity, roofline_seconds
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.decoding import DecodingState
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.costs import block_matrices
from tx_helpers.training.machine_speed import NUMBER, Machine, best_seconds
from tx_helpers.zoo.parts.flash import Blocks, flash_cost, written_out_cost


class Row(NamedTuple):
    """One operation under the roof."""

    name: str
    cost: Intensity
    predicted: float  # seconds, at least
    measured: float  # seconds, the best of some rounds

    @property
    def reached(self) -> float:
        """Operations in a second."""
        return self.cost.operations / self.measured


def matmul_cost(n: int, m: int, p: int) -> Intensity:
    """(n, m) @ (m, p): 2nmp operations; both matrices are read and the result is written."""
    check_numbers("matmul_cost", least=1, whole=True, n=n, m=m, p=p)
    return Intensity(2 * n * m * p, NUMBER * (n * m + m * p + n * p))


def attention_cost(T: int, S: int, K: int, *, heads: int = 1, blocks: Blocks | None = None) -> Intensity:
    """Attention of `heads` heads, written out step by step; with blocks, as FlashAttention moves them.

    Written out, all T · S scores and weights go to memory and come back; in blocks, they never leave the fast memory.
    """
    check_numbers("attention_cost", least=1, whole=True, heads=heads)
    cost = written_out_cost(T, S, K) if blocks is None else flash_cost(T, S, K, blocks)
    return Intensity(heads * cost.operations, heads * NUMBER * cost.moved)


def adamw_cost(parameters: int) -> Intensity:
    """A step of AdamW: weight, gradient and two means are read, all but the gradient written; about 14 operations."""
    check_numbers("adamw_cost", least=1, whole=True, parameters=parameters)
    return Intensity(14 * parameters, 7 * NUMBER * parameters)


def decoder_cost(config: TransformerConfig, *, new: int, before: int = 0, rows: int = 1) -> Intensity:
    """A decoder that reads `new` tokens of each row behind `before` cached ones.

    Operations: 2 for each weight of a matrix and position, and 4 · K for each score. Bytes: all these weights once,
    and the keys and values of each row once. What lies between the matrices is left out: it fits into fast memory.
    """
    check_types("decoder_cost", TransformerConfig, config=config)
    check_numbers("decoder_cost", least=1, whole=True, new=new, rows=rows)
    check_numbers("decoder_cost", least=0, whole=True, before=before)
    H, K = config.attention.n_heads, config.d_head
    G = config.attention.n_kv_heads or H
    in_block = sum(inputs * outputs for inputs, outputs in block_matrices(config))
    weights = config.n_layers * in_block + config.d_model * config.vocab_size
    scores = config.n_layers * H * new * (before + new)
    cache = config.n_layers * 2 * G * K * (before + new)
    return Intensity(rows * (2 * weights * new + 4 * K * scores), NUMBER * (weights + rows * cache))


def big_decoder(*, width: int = 512, layers: int = 4) -> DecoderOnly:
    """An untrained decoder of 13 million parameters, 52 MB: too big for the fast memory of most processors.

    What its weights are makes no difference to its speed.
    """
    check_numbers("big_decoder", least=64, whole=True, width=width)
    check_numbers("big_decoder", least=1, whole=True, layers=layers)
    config = TransformerConfig(
        1000,
        width,
        layers,
        attention=AttentionConfig(width // 64, bias=False),
        feed_forward=FeedForwardConfig(activation="relu2", bias=False),
        positions=PositionConfig("rotary"),
    )
    with RandomStream(0).on(torch.device("cpu")):
        return DecoderOnly(config).eval()


def measure_cases(machine: Machine, *, rounds: int = 3) -> list[Row]:
    """Seven operations, each predicted by its formula and measured on one thread."""
    check_types("measure_cases", Machine, machine=machine)
    found = []
    with torch.no_grad():
        for name, (cost, run) in _cases().items():
            seconds = best_seconds(run, rounds=rounds)
            speeds = machine._asdict()
            found.append(Row(name, cost, roofline_seconds(cost, **speeds), seconds))
    return found


def _cases() -> dict[str, tuple[Intensity, Callable[[], object]]]:
    """name -> its cost, and a function that does it."""
    a, b, vector = torch.ones(512, 512), torch.ones(512, 512), torch.ones(512, 1)
    wide = torch.ones(4096, 4096)
    T, K, heads = 1024, 32, 4
    q, k, v = (torch.ones(heads, T, K) for _ in range(3))
    model, prompt = big_decoder(), torch.ones(1, 256, dtype=torch.long)
    state = begin(model, 1)
    state.step(prompt)
    weights = torch.nn.Parameter(torch.ones(2**22))
    weights.grad = torch.ones_like(weights)
    optimizer = torch.optim.AdamW([weights], fused=True)
    return {
        "matrix · matrix": (matmul_cost(512, 512, 512), partial(torch.mm, a, b)),
        "matrix · vector": (matmul_cost(4096, 4096, 1), partial(torch.mm, wide, vector.repeat(8, 1))),
        "attention, written out": (attention_cost(T, T, K, heads=heads), partial(_written_out, q, k, v)),
        "attention, in blocks": (
            attention_cost(T, T, K, heads=heads, blocks=Blocks(64, 256)),
            partial(torch.nn.functional.scaled_dot_product_attention, q[None], k[None], v[None]),
        ),
        "AdamW, one step": (adamw_cost(weights.numel()), optimizer.step),
        "prefill, 256 tokens": (decoder_cost(model.config, new=256), lambda: model.start().step(prompt)),
        "decode, one token": (decoder_cost(model.config, new=1, before=256), partial(_one_more, state)),
    }


def _written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5  # (H, T, K) @ (H, K, S) -> (H, T, S)
    return scores.softmax(dim=-1) @ v


def _one_more(state: DecodingState) -> Tensor:
    """One more token, which is then forgotten, so that each round does the same."""
    length = state.ids.shape[1]
    logits = state.step(state.ids[:, -1:])
    state.rewind(length)
    return logits


def roofline_picture(machine: Machine, rows: Sequence[Row]) -> Picture:
    """Both axes are logarithmic. A point lies under the roof min(P, M · intensity), unless the fast memory helps it."""
    check_types("roofline_picture", Machine, machine=machine)
    check_types("roofline_picture", Sequence, rows=rows)
    figure, axis = new_figure(7.5, 4.2)
    low = min([0.1, *(row.cost.per_byte / 2 for row in rows)])
    high = max([8 * machine.ridge, *(row.cost.per_byte * 8 for row in rows)])
    x = np.array([low, machine.ridge, high])
    axis.plot(x, [machine.roof(one) / 1e9 for one in x], "-", color=COLOURS[-1], linewidth=1.6)
    for number, row in enumerate(rows):
        colour, y = COLOURS[number % (len(COLOURS) - 1)], row.reached / 1e9
        axis.plot([row.cost.per_byte], [y], "os^Dv<>"[number % 7], color=colour, markersize=8, label=row.name)
    axis.axvline(machine.ridge, color="#555555", linewidth=1, linestyle=(0, (1, 1)))
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set(xlabel="operations for each byte", ylabel="billion operations in a second")
    axis.set(title="The roofline of this machine, one thread")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return show(figure, _alt(machine, rows))


def _alt(machine: Machine, rows: Sequence[Row]) -> str:
    sides = {"memory": [], "multiplications": []}
    for row in rows:
        sides["memory" if row.cost.per_byte < machine.ridge else "multiplications"].append(row.name)
    limits = " ".join(f"Limited by {limit}: {'; '.join(names) or 'none'}." for limit, names in sides.items())
    return f"A slanted roof that becomes flat, and a point for each of {len(rows)} operations. {limits}"
