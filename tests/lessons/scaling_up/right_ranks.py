"""Right answers to the exercises on gradients, shards, a ring and experts by other algorithms: all must pass."""

import torch

from answer_tables import named
from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, all_to_all, reduce_scatter
from tx_helpers.lessons.scaling_up.simulated.layouts import gather_parts


def targets_of_gathered_gradients(rank, gradient, count):
    gradients = torch.stack(all_gather(rank, gradient))
    counts = torch.stack(all_gather(rank, torch.tensor(float(count))))
    return torch.einsum("r,rp->p", counts, gradients) / counts.sum()


def targets_added_up_on_rank_0(rank, gradient, count):
    mean = None
    if rank.number:
        rank.send(torch.tensor(count), 0)
        rank.send(gradient, 0)
    else:
        mean, seen = gradient.clone(), count
        for other in range(1, rank.count):
            new = int(rank.receive(other))
            mean += (rank.receive(other) - mean) * (new / (seen + new))  # a running mean
            seen += new
        for other in range(1, rank.count):
            rank.send(mean, other)
    return rank.receive(0) if rank.number else mean


def step_with_a_gradient_through_the_gathering(rank, part, gradient_of, lr):
    """The backward pass of gathering is a reduce-scatter."""
    own = part.clone().requires_grad_()
    with torch.enable_grad():
        whole = gather_parts(rank, own)
        (whole * gradient_of(whole).detach()).sum().backward()
    return part - lr / rank.count * own.grad


def step_divided_before_sending(rank, part, gradient_of, lr):
    whole = torch.cat([piece.clone() for piece in all_gather(rank, part)])
    steps = (-lr / rank.count * gradient_of(whole)).view(rank.count, -1)
    return part + reduce_scatter(rank, list(steps.unbind()))


def clipped_with_hypot(rank, part, limit):
    norm = part.norm()
    for other in all_gather(rank, norm)[rank.number + 1 :] + all_gather(rank, part.norm())[: rank.number]:
        norm = torch.hypot(norm, other)
    return part / max(1.0, float(norm) / limit)


def clipped_by_torch(rank, part, limit):
    """PyTorch's own clipping, told the norm of the gathered norms."""
    own = torch.nn.Parameter(torch.zeros_like(part))
    own.grad = part.clone()
    norm = torch.nn.utils.get_total_norm(all_gather(rank, part.norm()))
    torch.nn.utils.clip_grads_with_norm_([own], limit, norm)
    return own.grad


def visible_from_the_whole_mask(number, step, count, T):
    whole = torch.ones(count * T, count * T, dtype=torch.bool).tril()
    return whole.unflatten(0, (count, T)).unflatten(2, (count, T))[number, :, number - step]


def visible_by_passing_the_numbers_on(number, step, count, T):
    positions = torch.arange(count * T).roll(step * T)
    keys, queries = positions.view(count, T)[number], torch.arange(count * T).view(count, T)[number]
    return queries.unsqueeze(1).ge(keys)


def sent_token_by_token(rank, x, chosen, expert):
    lists = [[] for _ in range(rank.count)]
    for number, token in zip(chosen.tolist(), x, strict=True):
        lists[number].append(token)
    empty = x[:0]
    arrived = all_to_all(rank, [torch.stack(tokens) if tokens else empty for tokens in lists])
    back = [iter(results) for results in all_to_all(rank, [expert(part) for part in arrived])]
    return torch.stack([next(back[number]) for number in chosen.tolist()])


def sent_without_collectives(rank, x, chosen, expert):
    out = torch.empty_like(x)
    out[chosen == rank.number] = expert(x[chosen == rank.number])
    for step in range(1, rank.count):
        to, source = (rank.number + step) % rank.count, (rank.number - step) % rank.count
        foreign = rank.swap(x[chosen == to], to=to, source=source)
        out[chosen == to] = rank.swap(expert(foreign), to=source, source=to)
    return out


RIGHT = {
    "mean_over_all_targets": named(targets_of_gathered_gradients, targets_added_up_on_rank_0),
    "sharded_step": named(step_with_a_gradient_through_the_gathering, step_divided_before_sending),
    "clip_over_shards": named(clipped_with_hypot, clipped_by_torch),
    "visible_keys": named(visible_from_the_whole_mask, visible_by_passing_the_numbers_on),
    "send_to_experts": named(sent_token_by_token, sent_without_collectives),
}
