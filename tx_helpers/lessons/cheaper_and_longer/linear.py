"""Linear attention: without the softmax, attention is a recurrent network whose state is a matrix.

    out_t = Σ_{s≤t} (q_t · k_s) v_s / Σ_{s≤t} q_t · k_s  =  M_tᵀ q_t / (z_t · q_t),   M_t = Σ k_s v_sᵀ,  z_t = Σ k_s

q and k are features φ(x), which must be positive. Then the sum over s can be taken first, and all that later positions
need of the past are M and z, however long it was. Two forms give equal results: `quadratic` (all pairs at once, for
training on short sequences) and `chunked` (pairs within a chunk, the state from chunk to chunk, for training on long
ones; with chunks of one, step by step, for generation). Source: Katharopoulos et al. 2020, sections 3.2 to 3.4; chunks:
Hua et al. 2022 (FLASH), section 3.

`delta_recurrent` and `delta_chunked` give the state an error to correct: before k_t is written, what M already returns
for it is subtracted (Schlag et al. 2021), and a gate lets the state forget (Yang et al. 2024, Gated Delta Networks).

Shapes: q and k (…, T, K), v (…, T, E), where the width E of a value is usually K; M (…, K, E), z (…, K). The leading
dimensions are those of q, say B and H.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_tensors


def positive_features(x: Tensor) -> Tensor:
    """φ(x) = elu(x) + 1, element by element: positive everywhere. Source: Katharopoulos et al. 2020, eq. 7.

    Below zero that is eˣ; elu(x) + 1 = (eˣ − 1) + 1 would be rounded to 0 where eˣ is small.
    """
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


class LinearState(NamedTuple):
    """What linear attention keeps of the past."""

    memory: Tensor  # (…, K, E): M = Σ k vᵀ
    normaliser: Tensor  # (…, K): z = Σ k


def quadratic(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """All pairs at once, as in attention, with q·k in place of exp(q·k): (…, T, E)."""
    _check("quadratic", q, k, v)
    scores = (q @ k.transpose(-2, -1)).tril()  # (…, T, K) @ (…, K, T) -> (…, T, T), without the future
    return scores @ v / _not_zero(scores.sum(dim=-1, keepdim=True))


def chunked(
    q: Tensor, k: Tensor, v: Tensor, chunk: int, state: LinearState | None = None
) -> tuple[Tensor, LinearState]:
    """Pairs within a chunk, the state for all that came before it. -> out (…, T, E), the state afterwards"""
    _check("chunked", q, k, v)
    check_numbers("chunked", least=1, whole=True, chunk=chunk)
    memory, normaliser = state or _empty(k, v)
    outs = []
    for q_c, k_c, v_c in zip(*(x.split(chunk, dim=-2) for x in (q, k, v)), strict=True):
        scores = (q_c @ k_c.transpose(-2, -1)).tril()  # (…, C, C)
        weighted = scores @ v_c + q_c @ memory
        total = scores.sum(dim=-1, keepdim=True) + q_c @ normaliser[..., None]
        outs.append(weighted / _not_zero(total))
        memory = memory + k_c.transpose(-2, -1) @ v_c
        normaliser = normaliser + k_c.sum(dim=-2)
    return torch.cat(outs, dim=-2), LinearState(memory, normaliser)


def delta_recurrent(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, log_decay: Tensor | None = None, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """M_t = a_t M_{t−1} + β_t k_t (v_t − a_t M_{t−1}ᵀ k_t)ᵀ,  out_t = M_tᵀ q_t. -> out (…, T, E), M_T (…, K, E)

    beta       (…, T) in [0, 1]: how much of the error is corrected; keys should have length 1
    log_decay  (…, T), log a_t ≤ 0: how much of the state is kept; None keeps all, which is the plain delta rule
    Source: Yang et al. 2024 (Gated Delta Networks), section 3.1, transposed.
    """
    log_decay, memory = _check_delta("delta_recurrent", q, k, v, beta, log_decay, state)
    outs = []
    for t in range(q.shape[-2]):
        k_t = k[..., t, :]
        memory = log_decay[..., t].exp()[..., None, None] * memory
        correction = beta[..., t, None] * (v[..., t, :] - _row_times(k_t, memory))  # (…, E)
        memory = memory + k_t[..., :, None] * correction[..., None, :]
        outs.append(_row_times(q[..., t, :], memory))
    return torch.stack(outs, dim=-2), memory


def delta_chunked(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    log_decay: Tensor | None = None,
    state: Tensor | None = None,
    *,
    chunk: int = 64,
) -> tuple[Tensor, Tensor]:
    """The same in chunks: all corrections u of a chunk solve one triangular system.

    With g_i = Σ_{j≤i} log a_j inside the chunk, M_i = e^{g_i} M + Σ_{j≤i} e^{g_i − g_j} k_j u_jᵀ, hence
    u_i + β_i Σ_{j<i} e^{g_i − g_j} (k_i · k_j) u_j = β_i (v_i − e^{g_i} Mᵀ k_i).
    Source: Yang et al. 2024 (Parallelizing Linear Transformers with the Delta Rule), section 3; with the gate: Yang et
    al. 2024 (Gated Delta Networks), section 3.3.
    """
    log_decay, memory = _check_delta("delta_chunked", q, k, v, beta, log_decay, state)
    check_numbers("delta_chunked", least=1, whole=True, chunk=chunk)
    outs = []
    for q_c, k_c, v_c, beta_c, log_decay_c in zip(
        *(x.split(chunk, dim=-2) for x in (q, k, v, beta[..., None], log_decay[..., None])), strict=True
    ):
        between = _between(log_decay_c).exp()  # e^(g_i − g_j), (…, C, C), 0 where j > i
        before = log_decay_c.cumsum(dim=-2).exp()  # e^(g_i), (…, C, 1): what is left of the state before the chunk
        system = beta_c * (between * (k_c @ k_c.transpose(-2, -1)))  # its diagonal is taken as 1
        wanted = beta_c * (v_c - before * (k_c @ memory))
        corrections = torch.linalg.solve_triangular(system, wanted, upper=False, unitriangular=True)  # u, (…, C, E)
        scores = between * (q_c @ k_c.transpose(-2, -1))
        outs.append(before * (q_c @ memory) + scores @ corrections)
        after = between[..., -1:, :].transpose(-2, -1)  # what is left of each correction at the chunk's end
        memory = before[..., -1:, :] * memory + (after * k_c).transpose(-2, -1) @ corrections
    return torch.cat(outs, dim=-2), memory


def _between(log_decay: Tensor) -> Tensor:
    """Σ_{j<l≤i} log a_l, summed and not subtracted, so that log a may be −∞: (…, C, 1) -> (…, C, C), −∞ where j > i."""
    C = log_decay.shape[-2]
    past = torch.ones(C, C, dtype=torch.bool, device=log_decay.device).tril(-1)  # l > j
    sums = log_decay.expand(*log_decay.shape[:-1], C).where(past, 0).cumsum(dim=-2)
    return sums.masked_fill(past.transpose(-2, -1), float("-inf"))


def _not_zero(total: Tensor) -> Tensor:
    """A sum of positive numbers, which all may be too small for the precision: then the result is 0, not 0/0."""
    return total.clamp(min=torch.finfo(total.dtype).tiny)


def _row_times(row: Tensor, matrix: Tensor) -> Tensor:
    """(…, K), (…, K, E) -> (…, E)."""
    return (row[..., None, :] @ matrix).squeeze(-2)


def _empty(k: Tensor, v: Tensor) -> LinearState:
    return LinearState(_empty_memory(k, v), k.new_zeros(*k.shape[:-2], k.shape[-1]))


def _empty_memory(k: Tensor, v: Tensor) -> Tensor:
    return k.new_zeros(*k.shape[:-2], k.shape[-1], v.shape[-1])


def _check(where: str, q: Tensor, k: Tensor, v: Tensor) -> None:
    sizes = check_tensors(where, q=(q, "float … T K"), k=(k, "float … T K"), v=(v, "float … T E"))
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2] or not sizes["T"]:
        shapes = ", ".join(f"{name} {tuple(x.shape)}" for name, x in zip("qkv", (q, k, v), strict=True))
        raise ValueError(f"{where}: {shapes}; expected (…, T, K), (…, T, K), (…, T, E) with T >= 1")


def _check_delta(
    where: str, q: Tensor, k: Tensor, v: Tensor, beta: Tensor, log_decay: Tensor | None, state: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The gate and the state to begin with, made where they are not given."""
    _check(where, q, k, v)
    log_decay = torch.zeros(q.shape[:-1], dtype=q.dtype, device=q.device) if log_decay is None else log_decay
    state = _empty_memory(k, v) if state is None else state
    right = {
        "beta": (beta, q.shape[:-1]),
        "log_decay": (log_decay, q.shape[:-1]),
        "state": (state, (*k.shape[:-2], k.shape[-1], v.shape[-1])),
    }
    for name, (tensor, shape) in right.items():
        check_tensors(where, **{name: (tensor, "float " + " ".join(map(str, shape)))})
    return log_decay, state
