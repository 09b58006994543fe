"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import torch
import torch.nn.functional as F

from answer_tables import named


def pair_in_place(ids, bos, eos):
    read, asked = torch.empty(len(ids) + 1, dtype=torch.long), torch.empty(len(ids) + 1, dtype=torch.long)
    read[0], read[1:], asked[:-1], asked[-1] = bos, ids, ids, eos
    return read, asked


def smooth_by_eye(y, V, eps):
    others = eps / (V - 1)
    return (1 - eps - others) * torch.eye(V)[y] + others


def adam_by_pytorch(p, g, m, v, t, lr):  # Adam on the rows that were used
    rows = g.abs().sum(1) > 0
    q = p[rows].clone().requires_grad_()
    q.grad = g[rows].clone()
    optimizer = torch.optim.Adam([q], lr=lr)
    state = {"step": torch.tensor(t - 1.0), "exp_avg": m[rows].clone(), "exp_avg_sq": v[rows].clone()}
    optimizer.state[q] = state
    optimizer.step()
    p, m, v = p.clone(), m.clone(), v.clone()
    p[rows], m[rows], v[rows] = q.detach(), state["exp_avg"], state["exp_avg_sq"]
    return p, m, v


def adam_row_by_row(p, g, m, v, t, lr):
    p, m, v = p.double(), m.double(), v.double()
    for i, row in enumerate(g.double()):
        if row.any():
            m[i] = m[i] + (1 - 0.9) * (row - m[i])
            v[i] = v[i] + (1 - 0.999) * (row * row - v[i])
            p[i] = p[i] - lr * m[i] / (1 - 0.9**t) / ((v[i] / (1 - 0.999**t)) ** 0.5 + 1e-8)
    return p, m, v


def _shortened(parameters, clip):
    """The gradients, shortened together by hand."""
    norm = torch.cat([parameter.grad.flatten() for parameter in parameters]).norm()
    for parameter in parameters:
        parameter.grad = parameter.grad * min(1.0, clip / norm.item())


def step_by_log_probabilities(model, optimizer, batch, clip):
    real = batch.target != 0
    log_p = model(batch.source, batch.decoder_input).log_softmax(-1)
    loss = -log_p.gather(-1, batch.target[..., None])[..., 0][real].mean()
    for parameter in model.parameters():
        parameter.grad = None
    loss.backward()
    _shortened(list(model.parameters()), clip)
    optimizer.step()
    model.train(True)
    return float(loss.detach())


def step_by_autograd(model, optimizer, batch, clip):
    model.train()
    real = batch.target != 0
    loss = F.cross_entropy(model(batch.source, batch.decoder_input)[real], batch.target[real])
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    _shortened(parameters, clip)
    optimizer.step()
    return loss.item()


def phases_one_after_another(steps, warmup, fall, peak):
    rates, rate = [], 0.0
    for _ in range(warmup):
        rate += peak / warmup
        rates.append(rate)
    rates += [peak] * (steps - warmup - fall)
    return rates + [peak - peak * i / fall for i in range(fall)]


def _piece_sum(model, piece):
    log_p = model(piece.source, piece.decoder_input).log_softmax(-1)
    chosen = log_p.gather(-1, piece.target[..., None])[..., 0]
    return -chosen[piece.target != 0].sum()


def run_with_all_pieces_joined(model, optimizer, batches, rates, clip):
    losses = []
    for step, pieces in enumerate(batches):
        words = sum(int((p.target != 0).sum()) for p in pieces)
        loss = sum(_piece_sum(model, p) for p in pieces) / words
        model.zero_grad()
        loss.backward()
        _shortened(list(model.parameters()), clip)
        for group in optimizer.param_groups:
            group.update(lr=rates[step])
        optimizer.step()
        losses.append(loss)
    return losses


def run_by_autograd(model, optimizer, batches, rates, clip):
    parameters, losses = list(model.parameters()), []
    for pieces, rate in zip(batches, rates, strict=True):
        words = sum((p.target > 0).sum() for p in pieces)
        parts = [_piece_sum(model, p) / words for p in pieces]
        gradients = [torch.autograd.grad(part, parameters) for part in parts]
        for parameter, *several in zip(parameters, *gradients, strict=True):
            parameter.grad = torch.stack(several).sum(0)
        _shortened(parameters, clip)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        losses.append(float(sum(part.detach() for part in parts)))
    return losses


RIGHT = {
    "shifted_pair": named(pair_in_place)
    | {
        "pair_by_padding": lambda ids, bos, eos: (F.pad(ids, (1, 0), value=bos), F.pad(ids, (0, 1), value=eos)),
    },
    "smoothed_targets": named(smooth_by_eye)
    | {
        "smooth_by_scatter": lambda y, V, eps: torch.full((len(y), V), eps / (V - 1)).scatter_(1, y[:, None], 1 - eps),
    },
    "adam_step": named(adam_by_pytorch, adam_row_by_row),
    "training_step": named(step_by_log_probabilities, step_by_autograd),
    "three_phases": named(phases_one_after_another)
    | {
        "phases_in_a_line": lambda steps, warmup, fall, peak: [
            peak * min(1, n / max(warmup, 1e-9), (steps + 1 - n) / fall) for n in range(1, steps + 1)
        ],
    },
    "train_in_pieces": named(run_with_all_pieces_joined, run_by_autograd),
}
