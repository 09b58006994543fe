"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def loss_by_pytorch(logits, targets, pad):
    each = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad, reduction="none")
    return each.sum(1) / (targets != pad).sum(1)


def loss_by_loops(logits, targets, pad):
    means = []
    for z, row in zip(logits, targets, strict=True):
        losses = [torch.logsumexp(z[t], 0) - z[t, y] for t, y in enumerate(row.tolist()) if y != pad]
        means.append(sum(losses) / len(losses))
    return torch.stack(means)


def loss_sentence_by_sentence(logits, targets, pad):
    return [F.cross_entropy(z, y, ignore_index=pad).item() for z, y in zip(logits, targets, strict=True)]


def loss_in_numpy(logits, targets, pad):
    z, y = logits.numpy().astype(np.float64), targets.numpy()
    p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    chosen = np.take_along_axis(p, y[..., None], -1)[..., 0]
    return np.array([-np.log(row[ids != pad]).mean() for row, ids in zip(chosen, y, strict=True)])


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


def descend_with_grad(w, X, y, lr, steps):
    for _ in range(steps):
        w = w.detach().requires_grad_()
        (g,) = torch.autograd.grad((X @ w - y).square().mean(), w)
        w = w - lr * g
    return w


def descend_in_numpy(w, X, y, lr, steps):
    w, X, y = (t.numpy().astype(np.float64) for t in (w, X, y))
    for _ in range(steps):
        w = w - lr * 2 * X.T @ (X @ w - y) / len(y)
    return w


def measured_with_inference_mode(model, x):
    mode = model.training
    with torch.inference_mode():
        y = model.eval()(x)
    model.train(mode)
    return y


def measured_in_numpy(model, x):
    was_training = model.training
    y = model.eval()(x).detach().numpy()
    model.train(was_training)
    return y


def measured_with_finally(model, x):
    before = model.training
    try:
        model.train(False)
        return model(x).detach()
    finally:
        model.train(before)


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


def future_in_place_on_a_copy(model, source, read, other, t):
    words = read.clone()
    words[:, t:] = other[:, t:]
    before, after = model(source, read)[:, :t], model(source, words)[:, :t]
    return torch.max((before - after).abs()).item()


def future_row_by_row(model, source, read, other, t):
    largest = 0.0
    for b in range(len(read)):
        words = torch.cat([read[b, :t], other[b, t:]])[None]
        gap = model(source[b : b + 1], words) - model(source[b : b + 1], read[b : b + 1])
        largest = max(largest, gap[0, :t].abs().max().item())
    return largest


def future_in_numpy(model, source, read, other, t):
    words = torch.cat((read[:, :t], other[:, t:]), 1)
    gap = model(source, words).numpy() - model(source, read).numpy()
    return abs(gap[:, :t]).max()


def future_by_extremes(model, source, read, other, t):
    gap = (model(source, torch.cat((read[:, :t], other[:, t:]), 1)) - model(source, read))[:, :t]
    return max(gap.max().item(), -gap.min().item())


def padding_by_cat(model, source, read, pad, extra):
    filled = torch.cat([source, torch.full((len(source), extra), pad)], dim=1)
    return (model(filled, read) - model(source, read)).abs().max()


def padding_by_new_full(model, source, read, pad, extra):
    longer = source.new_full((source.shape[0], source.shape[1] + extra), pad)
    longer[:, : source.shape[1]] = source
    return float(torch.dist(model(longer, read), model(source, read), p=float("inf")))


def padding_by_norm(model, source, read, pad, extra):
    gap = model(F.pad(source, (0, extra), "constant", pad), read) - model(source, read)
    return torch.linalg.vector_norm(gap, ord=float("inf")).item()


def padding_step_by_step(model, source, read, pad, extra):
    longer = source
    for _ in range(extra):
        longer = F.pad(longer, (0, 1), value=pad)
    return abs(model(longer, read).numpy() - model(source, read).numpy()).max()


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


def broken_by_prefixes(models, source, read, other, pad):
    """A prefix alone must get the logits that it has in front of more: no future to be read."""
    moved = torch.zeros(3)
    for place, model in enumerate(models):
        z = model(source, read)
        ahead = model(source, read[:, :2]) - z[:, :2]
        padded = model(F.pad(source, (0, 4), value=pad), read) - z
        fewer = model(source[:2], read[:2]) - z[:2]
        moved[place] = max(ahead.abs().max(), padded.abs().max(), fewer.abs().max())
    return moved.argmax()


def broken_by_one_probe_for_all(models, source, read, other, pad):
    """One row alone, padded, with other words at its end, against the same row in the batch."""
    words = torch.cat([read[:1, :2], other[:1, 2:]], dim=1)
    padded = F.pad(source[:1], (0, 2), value=pad)
    return max(range(3), key=lambda n: (models[n](padded, words) - models[n](source, read)[:1])[:, :2].abs().max())


def broken_by_allclose(models, source, read, other, pad):
    def right(model):
        z = model(source, read)
        words = torch.cat([read[:, :-1], other[:, -1:]], 1)
        turned = model(source.flip(0)[:3], read.flip(0)[:3])
        return (
            torch.allclose(model(source, words)[:, :-1], z[:, :-1], atol=1e-4)
            and torch.allclose(model(F.pad(source, (0, 5), value=pad), read), z, atol=1e-4)
            and torch.allclose(turned, z.flip(0)[:3], atol=1e-4)
        )

    return [right(model) for model in models].index(False)


def bad_by_next(named):
    return next((name for name, tensor in named if (~torch.isfinite(tensor)).any()), None)


def bad_in_numpy(named):
    for name, tensor in named:
        if not np.isfinite(tensor.numpy()).all():
            return name


def bad_by_a_dict(named):
    sound = {name: bool(tensor.isfinite().all()) for name, tensor in named}
    return None if all(sound.values()) else list(sound)[list(sound.values()).index(False)]


def bad_number_by_number(named):
    for name, tensor in named:
        for number in tensor.flatten().tolist():
            if number != number or abs(number) == float("inf"):
                return name
    return None


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


def fault_by_a_list(record, first_bad):
    norms = record["norms"].tolist()
    step = first_bad(zip(range(len(norms)), record["norms"], strict=True))
    before = norms[step - 1] if step else norms[0]
    tests = [
        ("exploding", step is not None and before > 10 * norms[0]),
        ("overflow", step is not None),
        ("too low", sum(record["moved"].tolist()) < 0.05),
        ("repeated", record["validation"] > 2 * sum(record["losses"].tolist()[-10:]) / 10),
        ("healthy", True),
    ]
    return next(name for name, found in tests if found)


def fault_by_match(record, first_bad):
    match first_bad(list(enumerate(record["norms"]))):
        case None if record["moved"].sum() < 0.05:
            return "too low"
        case None if record["losses"][-10:].mean() * 2 < record["validation"]:
            return "repeated"
        case None:
            return "healthy"
        case step if step and record["norms"][step - 1] > record["norms"][0] * 10:
            return "exploding"
    return "overflow"


def fault_without_step_one(record, first_bad):
    norms = record["norms"].numpy()
    broken = np.flatnonzero(~np.isfinite(norms))
    if broken.size:
        return "exploding" if norms[max(0, broken[0] - 1)] > 10 * norms[0] else "overflow"
    if record["moved"].cumsum(0)[-1] < 0.05:
        return "too low"
    return "repeated" if record["validation"] > 2 * record["losses"][len(norms) - 10 :].mean() else "healthy"


RIGHT = {
    "first_bad": named(bad_by_next, bad_in_numpy, bad_by_a_dict, bad_number_by_number, bad_by_differences),
    "name_fault": named(fault_by_early_returns, fault_by_a_list, fault_by_match, fault_without_step_one),
    "padded_loss": named(loss_by_pytorch, loss_by_loops, loss_sentence_by_sentence, loss_in_numpy),
    "descend": named(descend_with_sgd, descend_by_formula, descend_with_grad, descend_in_numpy),
    "measured_output": named(
        measured_in_numpy,
        measured_with_inference_mode,
        measured_with_finally,
        measured_by_copy,
        measured_with_decorator,
    ),
    "future_leak": named(
        future_by_where, future_in_place_on_a_copy, future_row_by_row, future_in_numpy, future_by_extremes
    ),
    "padding_leak": named(padding_by_cat, padding_by_new_full, padding_by_norm, padding_step_by_step),
    "broken_model": named(broken_by_three_lists, broken_by_prefixes, broken_by_one_probe_for_all, broken_by_allclose),
}
