"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import torch

from answer_tables import named


# --- induction_score
def induction_by_a_diagonal(A, length):
    return A.diagonal(1 - length, dim1=-2, dim2=-1)[..., 1:].mean(-1).mean(0)


def induction_by_a_mask(A, length):
    places = torch.arange(A.shape[-1])
    counted = (places[:, None] - places == length - 1) & (places[:, None] >= length)
    return (A * counted).sum((0, 2, 3)) / (counted.sum() * len(A))


def induction_by_loops(A, length):
    found = []
    for head in range(A.shape[1]):
        weights = [A[b, head, t, t - length + 1] for b in range(len(A)) for t in range(length, A.shape[-1])]
        found.append(sum(weights) / len(weights))
    return torch.stack(found)


RIGHT = {
    # induction
    "induction_score": named(induction_by_a_diagonal, induction_by_a_mask, induction_by_loops),
}
