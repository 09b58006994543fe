"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import torch

from answer_tables import named
from tx_helpers.nn.capture import capture


# --- patched_logits
def patched_in_a_copy(model, source, other, target, name, at):
    with torch.no_grad(), capture(model, name) as seen:
        model(other, target)
    foreign = seen[name]

    def put(x):
        x = x.clone()
        x[:, at] = foreign[:, at]
        return x

    with torch.no_grad(), capture(model, edit={name: put}):
        return model(source, target)


def patched_in_one_batch(model, source, other, target, name, at):
    rows = len(source)

    def put(x):
        parts = [x[:rows, :at], x[rows:, at : at + 1], x[:rows, at + 1 :]]
        return torch.cat([torch.cat(parts, 1), x[rows:]])

    with capture(model, edit={name: put}):
        return model(torch.cat([source, other]), torch.cat([target, target]))[:rows]


# --- direct_effect
def direct_by_two_logits(added, x, gain, table, right, wrong, eps):
    sigma = torch.sqrt(((x - x.mean()) ** 2).mean() + eps)
    logits = table @ (gain * (added - added.mean()) / sigma)
    return logits[right] - logits[wrong]


def direct_by_leaving_out(added, x, gain, table, right, wrong, eps):
    sigma = (x.var(unbiased=False) + eps).sqrt()
    logits = [table @ (gain * (v - v.mean()) / sigma) for v in (x, x - added)]
    return (logits[0] - logits[1])[right] - (logits[0] - logits[1])[wrong]


# --- integrated_gradients
def integrated_at_once(f, x, baseline, steps):
    shares = (torch.arange(steps) + 0.5) / steps
    points = torch.lerp(baseline, x, shares[:, None]).requires_grad_()
    return torch.autograd.grad(sum(map(f, points)), points)[0].mean(0) * (x - baseline)


def integrated_by_the_share(f, x, baseline, steps):
    way, out = x - baseline, []
    for share in torch.linspace(0.5 / steps, 1 - 0.5 / steps, steps):
        scale = torch.ones_like(x).requires_grad_()
        (gradient,) = torch.autograd.grad(f(baseline + share * way * scale), scale)
        out.append(gradient / share)
    return torch.stack(out).mean(0)


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


# --- features: sae_loss
def sae_loss_row_by_row(x, W_enc, b_enc, W_dec, b_dec, l1):
    losses = []
    for row in x:
        f = ((row - b_dec) @ W_enc + b_enc).clamp(min=0)
        back = sum((f[j] * W_dec[j] for j in range(len(f))), b_dec)
        losses.append(((back - row) ** 2).sum() + l1 * sum(f[j] * (W_dec[j] ** 2).sum() ** 0.5 for j in range(len(f))))
    return torch.stack(losses).mean()


def sae_loss_with_rows_of_length_one(x, W_enc, b_enc, W_dec, b_dec, l1):
    lengths = W_dec.square().sum(1).sqrt()
    scores = (torch.einsum("bd,dm->bm", x - b_dec, W_enc) + b_enc) * lengths
    codes = torch.where(scores > 0, scores, 0)
    error = torch.einsum("bm,md->bd", codes, W_dec / lengths[:, None]) + b_dec - x
    return ((error * error).sum() + l1 * codes.sum()) / len(x)


RIGHT = {
    "patched_logits": named(patched_in_a_copy, patched_in_one_batch),
    "direct_effect": named(direct_by_two_logits, direct_by_leaving_out),
    "integrated_gradients": named(integrated_at_once, integrated_by_the_share),
    # induction
    "induction_score": named(induction_by_a_diagonal, induction_by_a_mask, induction_by_loops),
    # steering
    "rank_one": named(rank_one_by_the_inverse, rank_one_row_by_row),
    # features
    "sae_loss": named(sae_loss_row_by_row, sae_loss_with_rows_of_length_one),
}
