"""The exercise on editing one fact: a change of rank one."""

import torch

from tx_helpers.exercises.exercise import Exercise


def _case(D, F, seed):
    draw = torch.Generator().manual_seed(seed)
    W, k, v, keys = (torch.randn(size, generator=draw).double() for size in ((D, F), (F,), (D,), (3 * F, F)))
    return W, k, v, keys.T @ (keys * torch.linspace(0.2, 3, 3 * F).double()[:, None]) / (3 * F)


editing = Exercise(
    "rank_one",
    title="Edit one fact",
    goal="`W` (D, F) is the last matrix of a feed-forward layer: the key `k` (F,) gives the value W k (D,). "
    "`C` (F, F) is the second moment of all keys, E[k kᵀ], symmetric. Return a new matrix W + r uᵀ / (u · k), "
    "where r is what the value lacks to be `v` (D,), and u = C⁻¹ k. For this key it gives v; keys that are common in "
    "other texts keep their values as well as possible.",
    difficulty=2,
    minutes=8,
    cases=lambda: [_case(2, 3, 0), _case(4, 3, 1), _case(3, 5, 2), _case(5, 5, 3)],
    run=lambda answer, W, k, v, C: answer(W.clone(), k.clone(), v.clone(), C.clone()),
    hints=(
        "Three parts: what is missing, r = v − W k; the direction among the keys, u; and a number to divide by.",
        "torch.linalg.solve(C, k) is C⁻¹ k. torch.outer(r, u) has the shape (D, F) of W.",
        "u = torch.linalg.solve(C, k); return W + torch.outer(v - W @ k, u) / (u @ k)",
    ),
)


@editing.solution
def rank_one(W, k, v, C):
    """W (D, F), changed by a matrix of rank one so that it sends k (F,) to v (D,); C (F, F)."""
    u = torch.linalg.solve(C, k)
    missing = v - W @ k
    return W + torch.outer(missing, u) / (u @ k)


editing.slips("""
all_of_v    v - W @ k → v
  You added all of v. W already gives W k for this key: add only what is missing, v − W k.
not_divided     / (u @ k) →
  You did not divide by u · k. Then the key gets u · k times what is missing.
divided_by_k_squared    (u @ k) → (k @ k)
  You divided by k · k. The change acts on k by u · k, so this is the number to divide by.
divided_by_u_squared    (u @ k) → (u @ u)
  You divided by u · u. The change acts on k by u · k, so this is the number to divide by.
C_left_out    torch.linalg.solve(C, k) → k
  You took u = k, as if C were the identity: this also gives v, but it changes common keys too much.
times_C    torch.linalg.solve(C, k) → C @ k
  You multiplied by C, so the change is largest for common keys. Multiply by its inverse.
wrong_sign    v - W @ k → W @ k - v
  Your difference has the wrong sign: the value moves away from v.
only_the_change    return W + → return
  You return only the change. The layer still needs all its other facts: add it to W.
W_replaced    return torch.outer(v, torch.linalg.solve(C, k)) / (torch.linalg.solve(C, k) @ k)
  You replaced W by a matrix of rank one. It gives v for this key, and has forgotten everything else.
""")
