"""Right answers to the exercises inside notebook 11 in unusual forms: all must pass."""

import numpy as np
import torch

from answers.tables import named


def greedy_by_growing_a_tensor(model, begin, end, most):
    ids = torch.tensor([begin])
    while ids.shape[1] < len(begin) + most:
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
        if ids[0, -1] == end:
            break
    return ids[0, len(begin) :]


def greedy_by_recursion(model, begin, end, most):
    new = int(model(torch.tensor(begin)[None])[0, -1].topk(1).indices)
    return [new] if new == end or most == 1 else [new, *greedy_by_recursion(model, [*begin, new], end, most - 1)]


def greedy_cut_afterwards(model, begin, end, most):
    new = []
    for _ in range(most):
        new.append(model(torch.tensor([begin + new])).softmax(-1)[0, -1].argmax())
    texts = [int(i) for i in new]
    return texts[: texts.index(end) + 1] if end in texts else texts


def greedy_of_numpy(model, begin, end, most):
    ids = np.array(begin)
    for _ in range(most):
        ids = np.append(ids, np.argmax(model(torch.from_numpy(ids)[None]).numpy()[0, -1]))
        if ids[-1] == end:
            break
    return ids[len(begin) :]


def top_p_by_loop(p, enough):
    stays, total = [False] * len(p), 0.0
    for i in sorted(range(len(p)), key=lambda i: -p[i]):
        if total < enough - 1e-9:
            stays[i], total = True, total + p[i].item()
    return stays


def top_p_by_scatter(p, enough):
    ranked, ids = torch.sort(p, descending=True)
    return torch.zeros(len(p), dtype=torch.bool).scatter(0, ids, ranked.cumsum(0) - ranked < enough)


def top_p_by_threshold(p, enough):
    ranked = p.sort(descending=True).values
    last = int((ranked.cumsum(0) < enough).sum())
    return p >= ranked[last]


def top_p_by_pairs(p, enough):
    return (p * (p > p[:, None])).sum(-1) < enough


def top_p_in_numpy(p, enough):
    p = p.numpy()
    order = np.argsort(-p)
    stays = np.zeros(len(p), dtype=bool)
    stays[order[: np.searchsorted(np.cumsum(p[order]), enough) + 1]] = True
    return stays


def penalised_by_loop(logits, written, penalty):
    new = logits.tolist()
    for i in set(written.tolist()):
        new[i] = new[i] / penalty if new[i] > 0 else new[i] * penalty
    return new


def penalised_by_mask(logits, written, penalty):
    occurs = torch.isin(torch.arange(len(logits)), written)
    factor = torch.where(logits > 0, 1 / penalty, penalty)
    return torch.where(occurs, logits * factor, logits)


def penalised_by_power_of_the_sign(logits, written, penalty):
    occurs = torch.zeros_like(logits)
    occurs[written] = 1.0
    return logits * penalty ** (-occurs * logits.sign())


def penalised_in_numpy(logits, written, penalty):
    z = logits.numpy().copy()
    i = np.unique(written.numpy())
    z[i] = np.minimum(z[i] / penalty, z[i] * penalty)
    return z


RIGHT = {
    "greedy": named(greedy_by_growing_a_tensor, greedy_by_recursion, greedy_cut_afterwards, greedy_of_numpy),
    "top_p": named(top_p_by_loop, top_p_by_scatter, top_p_by_threshold, top_p_by_pairs, top_p_in_numpy),
    "penalised": named(penalised_by_loop, penalised_by_mask, penalised_by_power_of_the_sign, penalised_in_numpy),
}
