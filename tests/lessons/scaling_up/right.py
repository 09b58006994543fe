"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math
from fractions import Fraction

import torch
import torch.nn.functional as F

from answer_tables import named
from tx_helpers.lessons.scaling_up.collectives import all_reduce, all_to_all
from tx_helpers.lessons.scaling_up.laws import Law
from tx_helpers.lessons.scaling_up.layouts import sum_over_ranks
from tx_helpers.lessons.scaling_up.schedules import Action, one_forward_one_backward


def ring_the_other_way(rank, parts):
    moving = parts[rank.next]
    for step in range(1, rank.count):
        moving = rank.swap(moving, to=rank.previous, source=rank.next)
        moving = moving + parts[(rank.number + 1 + step) % rank.count]
    return moving


def ring_where_rank_0_receives_first(rank, parts):
    """Without swap: one rank that receives first is enough to break the circle."""
    x = parts[rank.previous]
    for step in range(rank.count - 1):
        if rank.number == 0:
            received = rank.receive(rank.previous)
            rank.send(x, rank.next)
        else:
            rank.send(x, rank.next)
            received = rank.receive(rank.previous)
        x = received + parts[rank.number - 2 - step]
    return x


def ring_without_neighbours(rank, parts):
    """Each part goes straight to the rank that sums it: as many bytes, but a link between every two ranks."""
    total = parts[rank.number].clone()
    for step in range(1, rank.count):
        to = (rank.number + step) % rank.count
        total += rank.swap(parts[to], to=to, source=(rank.number - step) % rank.count)
    return total


def ring_as_an_all_to_all(rank, parts):
    return torch.stack(all_to_all(rank, list(parts))).sum(0)


def ring_by_recursion(rank, parts):
    def sum_of(hops):
        """Of part number rank − 1 − hops, over this rank and the `hops` ranks before it."""
        own = parts[(rank.number - 1 - hops) % rank.count]
        return own if hops == 0 else own + rank.swap(sum_of(hops - 1), to=rank.next, source=rank.previous)

    return sum_of(rank.count - 1)


def split_with_the_bias_on_rank_0(rank, x, W_1, b_1, W_2, b_2, act):
    rows, bias, columns = (w.chunk(rank.count, d)[rank.number] for w, d in ((W_1, 0), (b_1, 0), (W_2, 1)))
    y = F.linear(act(F.linear(x, rows, bias)), columns, b_2 if rank.number == 0 else None)
    return sum_over_ranks(rank, y)


def split_with_a_share_of_the_bias(rank, x, W_1, b_1, W_2, b_2, act):
    units = torch.arange(len(W_1)).view(rank.count, -1)[rank.number]
    return all_reduce(rank, act(x @ W_1[units].mT + b_1[units]) @ W_2[:, units].mT + b_2 / rank.count)


def split_unit_by_unit(rank, x, W_1, b_1, W_2, b_2, act):
    each = len(b_1) // rank.count
    y = torch.zeros_like(x)
    for unit in range(each * rank.number, each * (rank.number + 1)):
        y += torch.outer(act(x @ W_1[unit] + b_1[unit]), W_2[:, unit])
    return sum_over_ranks(rank, y).add(b_2)


def split_with_tokens_in_columns(rank, x, W_1, b_1, W_2, b_2, act):
    first = rank.number * len(W_1) // rank.count
    last = (rank.number + 1) * len(W_1) // rank.count
    hidden = act(W_1[first:last] @ x.T + b_1[first:last, None])
    return (sum_over_ranks(rank, W_2[:, first:last] @ hidden) + b_2[:, None]).T


def schedule_with_backward_before_forward(ranks, microbatches):
    """One forward pass more to fill, then backward and forward in turn: the same order."""
    schedule = []
    for rank in range(ranks):
        queue = [Action("F", rank, m) for m in range(min(ranks - rank, microbatches))]
        for m in range(microbatches):
            queue.append(Action("B", rank, m))
            if m + ranks - rank < microbatches:
                queue.append(Action("F", rank, m + ranks - rank))
        schedule.append(queue)
    return schedule


def schedule_in_plain_tuples(ranks, microbatches):
    return tuple([tuple(action) for action in actions] for actions in one_forward_one_backward(ranks, microbatches))


def schedule_sorted_by_time(ranks, microbatches):
    """As a rank would run if nothing ever waited: forward pass m before backward pass m − ahead."""

    def of(rank):
        ahead = ranks - 1 - rank
        both = [(2 * max(m - ahead, 0) + m / 1000 - (m < ahead), "F", m) for m in range(microbatches)]
        both += [(2 * m + 1, "B", m) for m in range(microbatches)]
        return [Action(kind, rank, m) for _, kind, m in sorted(both)]

    return [of(rank) for rank in range(ranks)]


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


def bytes_from_a_table(parameters, ranks, stage):
    whole = (16, 4, 2, 0)[stage]
    return parameters * whole + parameters * (16 - whole) / ranks


def bytes_step_by_step(parameters, ranks, stage):
    sizes = {1: 3 * 4, 2: 2, 3: 2}  # the stage that cuts it
    return sum(parameters * size / ranks if stage >= first else parameters * size for first, size in sizes.items())


def bytes_in_fractions(parameters, ranks, stage):
    saved = Fraction(ranks - 1, ranks) * sum([12, 2, 2][:stage])
    return parameters * (16 - saved)


def bytes_as_a_tensor(parameters, ranks, stage):
    each = torch.tensor([12.0, 2.0, 2.0], dtype=torch.float64)
    each[:stage] /= ranks
    return each.sum() * parameters


def enough_by_the_formula(p, v, most):
    m = math.ceil((p - 1) * (1 / most - 1) / v)
    return m if v == 1 else -(-m // p) * p


def enough_in_fractions(p, v, most):
    bound = Fraction(most).limit_denominator(1000)
    group = 1 if v == 1 else p
    return math.ceil((p - 1) * (1 - bound) / (bound * v * group)) * group


def enough_by_halving(p, v, most):
    group = p if v > 1 else 1
    low, high = 0, 10**6
    while high - low > 1:
        middle = (low + high) // 2
        few = (p - 1) > most * (v * middle * group + p - 1)
        low, high = (middle, high) if few else (low, middle)
    return high * group


def enough_as_a_float(p, v, most):
    return float(next(m for m in range(1, 10**6) if (v == 1 or m % p == 0) and 1 - v * m / (v * m + p - 1) <= most))


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


def optimum_where_the_slopes_meet(E, A, B, alpha, beta, C):
    """By bisection of log N on α A/N^α − β B/D^β."""
    low, high = -10.0, math.log(C)
    for _ in range(200):
        middle = (low + high) / 2
        n = math.exp(middle)
        more = alpha * A / n**alpha > beta * B / (C / (6 * n)) ** beta
        low, high = (middle, high) if more else (low, middle)
    return torch.tensor([n, C / (6 * n)], dtype=torch.float64)


def optimum_from_the_tokens(E, A, B, alpha, beta, C):
    D = (beta * B / (alpha * A)) ** (1 / (alpha + beta)) * (C / 6) ** (alpha / (alpha + beta))
    return [C / 6 / D, D]


def averaged_at_once(rank, gradients, reduce_scatter, all_gather):
    vector = torch.nn.utils.parameters_to_vector(gradients) / rank.count
    parts = torch.nn.functional.pad(vector, (0, -len(vector) % rank.count)).view(rank.count, -1)
    means = [gradient.clone() for gradient in gradients]
    torch.nn.utils.vector_to_parameters(torch.cat(all_gather(rank, reduce_scatter(rank, list(parts)))), means)
    return means


def averaged_with_pop(rank, gradients, reduce_scatter, all_gather):
    numbers = [float(x) for gradient in gradients for x in gradient.flatten()]
    numbers += [0.0] * (-len(numbers) % rank.count)
    mine = reduce_scatter(rank, list(torch.tensor(numbers).chunk(rank.count)))
    means = torch.cat(all_gather(rank, mine)).div(rank.count).tolist()
    return [torch.tensor([means.pop(0) for _ in range(g.numel())]).reshape(g.shape) for g in gradients]


def averaged_by_all_reduce(rank, gradients, *_):
    vector = torch.cat([gradient.reshape(-1) for gradient in gradients])
    means = all_reduce(rank, vector).mul(1 / rank.count)
    ends = torch.tensor([gradient.numel() for gradient in gradients]).cumsum(0)[:-1]
    return [x.reshape(g.shape) for x, g in zip(means.tensor_split(ends), gradients, strict=True)]


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


def fitting_with_next(parameters, ranks, room, bytes_of):
    cuts = [2**k for k in range(int(math.log2(ranks)) + 1)]
    lowest = {c: next((s for s in range(4) if bytes_of(parameters / c, ranks / c, s) <= room), None) for c in cuts}
    return [(c, s) for c, s in lowest.items() if s is not None]


def fitting_from_the_top(parameters, ranks, room, bytes_of):
    found = {}
    for stage in (3, 2, 1, 0):
        for k in range(ranks.bit_length()):
            if bytes_of(parameters / 2**k, ranks >> k, stage) <= room:
                found[2**k] = stage
    return sorted(found.items())


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
    "average_gradients": named(
        averaged_at_once, averaged_with_pop, averaged_by_all_reduce, averaged_into_the_old_tensors
    ),
    "layouts_that_fit": named(fitting_with_next, fitting_from_the_top, fitting_by_recursion, fitting_by_divisors),
    "ring_reduce_scatter": named(
        ring_the_other_way,
        ring_where_rank_0_receives_first,
        ring_without_neighbours,
        ring_as_an_all_to_all,
        ring_by_recursion,
    ),
    "split_feed_forward": named(
        split_with_the_bias_on_rank_0,
        split_with_a_share_of_the_bias,
        split_unit_by_unit,
        split_with_tokens_in_columns,
    ),
    "alternating_schedule": named(
        schedule_with_backward_before_forward,
        schedule_in_plain_tuples,
        schedule_sorted_by_time,
        schedule_by_a_limit,
    ),
    "training_bytes": named(bytes_from_a_table, bytes_step_by_step, bytes_in_fractions, bytes_as_a_tensor),
    "enough_microbatches": named(enough_by_the_formula, enough_in_fractions, enough_by_halving, enough_as_a_float),
    "compute_optimal": named(
        optimum_of_the_law,
        optimum_by_golden_section,
        optimum_where_the_slopes_meet,
        optimum_from_the_tokens,
    ),
}
