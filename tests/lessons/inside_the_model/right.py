"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import torch

from answer_tables import named


# --- steering: rank_one
def rank_one_by_the_inverse(W, k, v, C):
    u = C.inverse() @ k
    u = u / torch.dot(u, k)
    return W + torch.einsum("d,f->df", v - W @ k, u)


def rank_one_row_by_row(W, k, v, C):
    chol = torch.linalg.cholesky(C)
    u = torch.cholesky_solve(k[:, None], chol)[:, 0]
    share = (u * k).sum()
    return torch.stack([row + (want - row @ k) / share * u for row, want in zip(W, v, strict=True)])


RIGHT = {
    # steering
    "rank_one": named(rank_one_by_the_inverse, rank_one_row_by_row),
}
