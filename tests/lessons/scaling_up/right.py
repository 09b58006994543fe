"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named
from tx_helpers.lessons.scaling_up.laws.law import Law
from tx_helpers.lessons.scaling_up.simulated.collectives import all_to_all
from tx_helpers.lessons.scaling_up.simulated.layouts import sum_over_ranks
from tx_helpers.lessons.scaling_up.simulated.schedules import Action, one_forward_one_backward


def ring_without_neighbours(rank, parts):
    """Each part goes straight to the rank that sums it: as many bytes, but a link between every two ranks."""
    total = parts[rank.number].clone()
    for step in range(1, rank.count):
        to = (rank.number + step) % rank.count
        total += rank.swap(parts[to], to=to, source=(rank.number - step) % rank.count)
    return total


def ring_as_an_all_to_all(rank, parts):
    return torch.stack(all_to_all(rank, list(parts))).sum(0)


def split_with_the_bias_on_rank_0(rank, x, W_1, b_1, W_2, b_2, act):
    rows, bias, columns = (w.chunk(rank.count, d)[rank.number] for w, d in ((W_1, 0), (b_1, 0), (W_2, 1)))
    y = F.linear(act(F.linear(x, rows, bias)), columns, b_2 if rank.number == 0 else None)
    return sum_over_ranks(rank, y)


def split_unit_by_unit(rank, x, W_1, b_1, W_2, b_2, act):
    each = len(b_1) // rank.count
    y = torch.zeros_like(x)
    for unit in range(each * rank.number, each * (rank.number + 1)):
        y += torch.outer(act(x @ W_1[unit] + b_1[unit]), W_2[:, unit])
    return sum_over_ranks(rank, y).add(b_2)


def schedule_in_plain_tuples(ranks, microbatches):
    return tuple([tuple(action) for action in actions] for actions in one_forward_one_backward(ranks, microbatches))


def schedule_by_a_limit(ranks, microbatches):
    """Forward while fewer than p − r microbatches wait, else backward."""
    schedule = [[] for _ in range(ranks)]
    for rank, actions in enumerate(schedule):
        forward = backward = 0
        while backward < microbatches:
            if forward < microbatches and forward - backward < ranks - rank:
                actions.append(Action("F", rank, forward))
                forward += 1
            else:
                actions.append(Action("B", stage=rank, microbatch=backward))
                backward += 1
    return schedule


def bytes_step_by_step(parameters, ranks, stage):
    sizes = {1: 3 * 4, 2: 2, 3: 2}  # the stage that cuts it
    return sum(parameters * size / ranks if stage >= first else parameters * size for first, size in sizes.items())


def bytes_as_a_tensor(parameters, ranks, stage):
    each = torch.tensor([12.0, 2.0, 2.0], dtype=torch.float64)
    each[:stage] /= ranks
    return each.sum() * parameters


def optimum_of_the_law(E, A, B, alpha, beta, C):
    return Law(E, A, B, alpha, beta).best_size(C)


def optimum_by_golden_section(E, A, B, alpha, beta, C):
    def loss(log_n):
        n = math.exp(log_n)
        return A / n**alpha + B * (6 * n / C) ** beta

    low, high = 0.0, math.log(C / 6)
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        one, other = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, other) if loss(one) < loss(other) else (one, high)
    return math.exp(low), C / 6 / math.exp(low)


def averaged_at_once(rank, gradients, reduce_scatter, all_gather):
    vector = torch.nn.utils.parameters_to_vector(gradients) / rank.count
    parts = torch.nn.functional.pad(vector, (0, -len(vector) % rank.count)).view(rank.count, -1)
    means = [gradient.clone() for gradient in gradients]
    torch.nn.utils.vector_to_parameters(torch.cat(all_gather(rank, reduce_scatter(rank, list(parts)))), means)
    return means


def averaged_into_the_old_tensors(rank, gradients, reduce_scatter, all_gather):
    n, total = rank.count, sum(map(torch.numel, gradients))
    long = torch.zeros((total + n - 1) // n * n)
    long[:total] = torch.cat([gradient.ravel() for gradient in gradients])
    long = torch.cat(tuple(all_gather(rank, reduce_scatter(rank, [*long.split(len(long) // n)]) / n)))
    begin = 0
    for gradient in gradients:
        gradient.copy_(long[begin : begin + gradient.numel()].reshape(gradient.shape))
        begin += gradient.numel()
    return tuple(gradients)


def fitting_by_recursion(parameters, ranks, room, bytes_of, pieces=1):
    if ranks < 1:
        return []
    good = [[pieces, stage] for stage in range(4) if not bytes_of(parameters, ranks, stage) > room]
    return good[:1] + fitting_by_recursion(parameters / 2, ranks // 2, room, bytes_of, 2 * pieces)


def fitting_by_divisors(parameters, ranks, room, bytes_of):
    divisors = (pieces for pieces in range(1, ranks + 1) if ranks % pieces == 0)
    needed = {(c, s): bytes_of(parameters / c, ranks // c, s) for c in divisors for s in range(4)}
    fit = [layout for layout, size in needed.items() if size <= room]
    return [(c, s) for c, s in fit if s == min(other for piece, other in fit if piece == c)]


RIGHT = {
    "average_gradients": named(averaged_at_once, averaged_into_the_old_tensors),
    "layouts_that_fit": named(fitting_by_recursion, fitting_by_divisors),
    "ring_reduce_scatter": named(ring_without_neighbours, ring_as_an_all_to_all),
    "split_feed_forward": named(split_with_the_bias_on_rank_0, split_unit_by_unit),
    "alternating_schedule": named(schedule_in_plain_tuples, schedule_by_a_limit),
    "training_bytes": named(bytes_step_by_step, bytes_as_a_tensor),
    "compute_optimal": named(optimum_of_the_law, optimum_by_golden_section),
}
