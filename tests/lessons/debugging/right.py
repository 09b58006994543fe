"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def loss_by_loops(logits, targets, pad):
    means = []
    for z, row in zip(logits, targets, strict=True):
        losses = [torch.logsumexp(z[t], 0) - z[t, y] for t, y in enumerate(row.tolist()) if y != pad]
        means.append(sum(losses) / len(losses))
    return torch.stack(means)


def loss_sentence_by_sentence(logits, targets, pad):
    return [F.cross_entropy(z, y, ignore_index=pad).item() for z, y in zip(logits, targets, strict=True)]


def descend_with_sgd(w, X, y, lr, steps):
    w = torch.nn.Parameter(w.clone())
    optimizer = torch.optim.SGD([w], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        F.mse_loss(X @ w, y).backward()
        optimizer.step()
    return w


def descend_by_formula(w, X, y, lr, steps):
    for _ in range(steps):
        w = w - lr * 2 / len(y) * (X.T @ (X @ w - y))
    return w


def measured_by_copy(model, x):
    import copy

    return copy.deepcopy(model).eval().requires_grad_(False)(x)


@torch.no_grad()
def measured_with_decorator(model, x):
    modes = {part: part.training for part in model.modules()}
    y = model.eval()(x)
    for part, mode in modes.items():
        part.training = mode
    return y


def future_by_where(model, source, read, other, t):
    late = torch.arange(read.shape[1]) >= t
    gap = model(source, torch.where(late, other, read)) - model(source, read)
    return gap[:, :t].abs().amax()


def future_row_by_row(model, source, read, other, t):
    largest = 0.0
    for b in range(len(read)):
        words = torch.cat([read[b, :t], other[b, t:]])[None]
        gap = model(source[b : b + 1], words) - model(source[b : b + 1], read[b : b + 1])
        largest = max(largest, gap[0, :t].abs().max().item())
    return largest


def padding_by_new_full(model, source, read, pad, extra):
    longer = source.new_full((source.shape[0], source.shape[1] + extra), pad)
    longer[:, : source.shape[1]] = source
    return float(torch.dist(model(longer, read), model(source, read), p=float("inf")))


def padding_by_norm(model, source, read, pad, extra):
    gap = model(F.pad(source, (0, extra), "constant", pad), read) - model(source, read)
    return torch.linalg.vector_norm(gap, ord=float("inf")).item()


def broken_by_three_lists(models, source, read, other, pad):
    def size(x):
        return x.abs().max().item()

    for place, model in enumerate(models):
        z = model(source, read)
        words = read.clone()
        words[:, 3:] = other[:, 3:]
        if size((model(source, words) - z)[:, :3]) > 1e-4:
            return place
        if size(model(F.pad(source, (0, 1), value=pad), read) - z) > 1e-4:
            return place
        if any(size(model(source[b : b + 1], read[b : b + 1]) - z[b : b + 1]) > 1e-4 for b in range(len(read))):
            return place


def broken_by_one_probe_for_all(models, source, read, other, pad):
    """One row alone, padded, with other words at its end, against the same row in the batch."""
    words = torch.cat([read[:1, :2], other[:1, 2:]], dim=1)
    padded = F.pad(source[:1], (0, 2), value=pad)
    return max(range(3), key=lambda n: (models[n](padded, words) - models[n](source, read)[:1])[:, :2].abs().max())


def bad_by_a_dict(named):
    sound = {name: bool(tensor.isfinite().all()) for name, tensor in named}
    return None if all(sound.values()) else list(sound)[list(sound.values()).index(False)]


def bad_by_differences(named):
    broken = [name for name, tensor in named if bool((tensor - tensor).ne(0).any())]  # x − x is 0 of a number alone
    return broken[0] if broken else None


def fault_by_early_returns(record, first_bad):
    step = first_bad([(n, norm) for n, norm in enumerate(record["norms"])])
    if step is None:
        far, end = float(record["moved"].sum()), float(record["losses"][-10:].mean())
        return "too low" if far < 0.05 else "repeated" if record["validation"] / end > 2 else "healthy"
    if step == 0:
        return "overflow"
    return "exploding" if record["norms"][step - 1] / record["norms"][0] > 10 else "overflow"


def fault_without_step_one(record, first_bad):
    norms = record["norms"].numpy()
    broken = np.flatnonzero(~np.isfinite(norms))
    if broken.size:
        return "exploding" if norms[max(0, broken[0] - 1)] > 10 * norms[0] else "overflow"
    if record["moved"].cumsum(0)[-1] < 0.05:
        return "too low"
    return "repeated" if record["validation"] > 2 * record["losses"][len(norms) - 10 :].mean() else "healthy"


RIGHT = {
    "first_bad": named(bad_by_a_dict, bad_by_differences),
    "name_fault": named(fault_by_early_returns, fault_without_step_one),
    "padded_loss": named(loss_by_loops, loss_sentence_by_sentence),
    "descend": named(descend_with_sgd, descend_by_formula),
    "measured_output": named(measured_by_copy, measured_with_decorator),
    "future_leak": named(future_by_where, future_row_by_row),
    "padding_leak": named(padding_by_new_full, padding_by_norm),
    "broken_model": named(broken_by_three_lists, broken_by_one_probe_for_all),
}
