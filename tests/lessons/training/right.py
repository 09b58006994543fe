"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def pair_by_slices(ids, bos, eos):
    whole = torch.cat([ids.new_tensor([bos]), ids, ids.new_tensor([eos])])
    return whole[:-1], whole[1:]


def pair_in_place(ids, bos, eos):
    read, asked = torch.empty(len(ids) + 1, dtype=torch.long), torch.empty(len(ids) + 1, dtype=torch.long)
    read[0], read[1:], asked[:-1], asked[-1] = bos, ids, ids, eos
    return read, asked


def smooth_by_fill(y, V, eps):
    q = torch.full((len(y), V), eps / (V - 1))
    q[torch.arange(len(y)), y] = 1 - eps
    return q


def smooth_by_eye(y, V, eps):
    others = eps / (V - 1)
    return (1 - eps - others) * torch.eye(V)[y] + others


def smooth_by_lists(y, V, eps):
    return [[1 - eps if v == right else eps / (V - 1) for v in range(V)] for right in y.tolist()]


def rate_in_torch(n, w, peak):
    n, w = torch.tensor(float(n), dtype=torch.float64), torch.tensor(float(w), dtype=torch.float64)
    return peak * torch.minimum((w / n).sqrt(), n / w)


def rate_in_numpy(n, w, peak):
    return np.minimum(1 / np.sqrt(n), n * np.power(float(w), -1.5)) * peak * np.sqrt(w)


def rate_as_ratio(n, w, peak):
    def formula(step, D=512):
        return D**-0.5 * min(step**-0.5, step * w**-1.5)

    return peak * formula(n) / formula(w)


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


def adam_by_lerp(p, g, m, v, t, lr):
    used = (g != 0).any(1)[:, None].float()
    m, v = torch.lerp(m, g, 0.1 * used), torch.lerp(v, g.square(), 0.001 * used)
    return p - used * lr * (m / (1 - 0.9**t)) / (torch.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


def adam_row_by_row(p, g, m, v, t, lr):
    p, m, v = p.double(), m.double(), v.double()
    for i, row in enumerate(g.double()):
        if row.any():
            m[i] = m[i] + (1 - 0.9) * (row - m[i])
            v[i] = v[i] + (1 - 0.999) * (row * row - v[i])
            p[i] = p[i] - lr * m[i] / (1 - 0.9**t) / ((v[i] / (1 - 0.999**t)) ** 0.5 + 1e-8)
    return p, m, v


def adam_in_place(p, g, m, v, t, lr):
    p, m, v = p.clone(), m.clone(), v.clone()
    rows = g.any(dim=1).nonzero()[:, 0]
    m[rows] = m[rows].mul_(0.9).add_(g[rows], alpha=0.1)
    v[rows] = v[rows].mul_(0.999).addcmul_(g[rows], g[rows], value=0.001)
    p[rows] = p[rows].addcdiv_(m[rows] / (1 - 0.9**t), (v[rows] / (1 - 0.999**t)).sqrt().add_(1e-8), value=-lr)
    return [p, m, v]


def adam_lerp_and_indices_a_list(p, g, m, v, t, lr):
    rows = torch.unique(g.nonzero()[:, 0])
    gr = g[rows]
    mr = torch.lerp(m[rows], gr, 0.1)
    vr = v[rows] + (gr.square() - v[rows]) * (1 - 0.999)
    new = p[rows] - lr * mr / (1 - 0.9**t) / (torch.sqrt(vr / (1 - 0.999**t)) + 1e-8)
    return [p.index_copy(0, rows, new), m.index_copy(0, rows, mr), v.index_copy(0, rows, vr)]


def step_with_clipping_of_nothing(model, optimizer, batch):
    model.zero_grad(set_to_none=False)
    loss = F.cross_entropy(model(*batch[:2]).transpose(1, 2), batch.target, ignore_index=0)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
    optimizer.step()
    return loss.detach()


def step_by_log_probabilities(model, optimizer, batch):
    real = batch.target != 0
    log_p = model(batch.source, batch.decoder_input).log_softmax(-1)
    loss = -log_p.gather(-1, batch.target[..., None])[..., 0][real].mean()
    for parameter in model.parameters():
        parameter.grad = None
    loss.backward()
    optimizer.step()
    return loss.item()


def step_by_autograd(model, optimizer, batch):
    real = batch.target != 0
    loss = F.cross_entropy(model(batch.source, batch.decoder_input)[real], batch.target[real])
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()


def step_that_clears_at_the_end(model, optimizer, batch):
    logits = model(batch.source, batch.decoder_input)
    loss = F.nll_loss(F.log_softmax(logits, -1).flatten(0, 1), batch.target.flatten(), ignore_index=0)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


RIGHT = {
    "shifted_pair": named(pair_by_slices, pair_in_place)
    | {
        "pair_as_lists": lambda ids, bos, eos: ([bos, *ids.tolist()], [*ids.tolist(), eos]),
        "pair_by_padding": lambda ids, bos, eos: (F.pad(ids, (1, 0), value=bos), F.pad(ids, (0, 1), value=eos)),
    },
    "smoothed_targets": named(smooth_by_fill, smooth_by_eye, smooth_by_lists)
    | {
        "smooth_by_scatter": lambda y, V, eps: torch.full((len(y), V), eps / (V - 1)).scatter_(1, y[:, None], 1 - eps),
    },
    "warmup_rate": named(rate_in_torch, rate_in_numpy, rate_as_ratio)
    | {
        "rate_by_cases": lambda n, w, peak: peak * n / w if n < w else peak * (w / n) ** 0.5,
    },
    "adam_step": named(adam_by_pytorch, adam_by_lerp, adam_row_by_row, adam_in_place, adam_lerp_and_indices_a_list),
    "training_step": named(
        step_with_clipping_of_nothing, step_by_log_probabilities, step_by_autograd, step_that_clears_at_the_end
    ),
}
