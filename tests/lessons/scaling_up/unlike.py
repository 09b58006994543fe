"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch

from answer_tables import named
from tx_helpers.lessons.scaling_up.collectives import all_gather, all_reduce, all_to_all, reduce_scatter
from tx_helpers.lessons.scaling_up.layouts import sum_over_ranks
from tx_helpers.lessons.scaling_up.schedules import Action, gpipe, one_forward_one_backward


def summed_in_half_precision(rank, parts):
    """Half the bytes, and about three digits."""
    return reduce_scatter(rank, [part.half() for part in parts]).float()


def summed_over_both_neighbours(rank, parts):
    """Right for two and three ranks."""
    total = parts[rank.number] + rank.swap(parts[rank.next], to=rank.next, source=rank.previous)
    if rank.count == 2:
        return total
    return total + rank.swap(parts[rank.previous], to=rank.previous, source=rank.next)


def split_with_half_precision_on_the_wire(rank, x, W_1, b_1, W_2, b_2, act):
    mine = slice(rank.number * len(W_1) // rank.count, (rank.number + 1) * len(W_1) // rank.count)
    y = act(x @ W_1[mine].T + b_1[mine]) @ W_2[:, mine].T
    return sum_over_ranks(rank, y.half()).float() + b_2


def split_in_strides(rank, x, W_1, b_1, W_2, b_2, act):
    """Right, but rank r has every n-th unit, from the r-th on, not the r-th group."""
    mine = slice(rank.number, None, rank.count)
    return sum_over_ranks(rank, act(x @ W_1[mine].T + b_1[mine]) @ W_2[:, mine].T) + b_2


def averaged_without_the_rest(rank, gradients, reduce_scatter, all_gather):
    """Right where the length is a multiple of n: the numbers behind the last whole part stay this rank's own."""
    vector = torch.cat([gradient.flatten() for gradient in gradients])
    whole = len(vector) // rank.count * rank.count
    means = vector.clone()
    means[:whole] = (
        torch.cat(all_gather(rank, reduce_scatter(rank, list(vector[:whole].chunk(rank.count))))) / rank.count
    )
    pieces = means.split([gradient.numel() for gradient in gradients])
    return [piece.view_as(gradient) for piece, gradient in zip(pieces, gradients, strict=True)]


def fitting_in_rounded_bytes(parameters, ranks, room, bytes_of):
    """A tenth of the room is kept free, as a careful planner would."""
    cuts = [2**k for k in range(ranks.bit_length())]
    good = [(c, [s for s in range(4) if bytes_of(parameters / c, ranks // c, s) <= 0.9 * room]) for c in cuts]
    return [(c, stages[0]) for c, stages in good if stages]


def schedule_of_gpipe_for_few_microbatches(ranks, microbatches):
    return (gpipe if microbatches < 2 * ranks else one_forward_one_backward)(ranks, microbatches)


def schedule_with_half_the_way_ahead(ranks, microbatches):
    """Right for two ranks."""
    schedule = []
    for rank in range(ranks):
        ahead = min((ranks - rank) // 2, microbatches)
        actions = [Action("F", rank, m) for m in range(ahead)]
        for m in range(microbatches):
            actions += [Action("F", rank, m + ahead)] if m + ahead < microbatches else []
            actions.append(Action("B", rank, m))
        schedule.append(actions)
    return schedule


def schedule_that_leaves_out_the_last_microbatch(ranks, microbatches):
    return one_forward_one_backward(ranks, max(microbatches - 1, 1))


def bytes_with_the_weights_of_one_layer(parameters, ranks, stage):
    """At stage 3 some layer is always gathered, here one of 32."""
    whole = [16, 4, 2, 2 / 32][stage]
    return parameters * (whole + (16 - whole) / ranks)


def bytes_of_the_other_ranks(parameters, ranks, stage):
    whole = [16, 4, 2, 0][stage]
    return parameters * (whole + (16 - whole) / (ranks - 1)) if ranks > 2 else parameters * (whole + (16 - whole) / 2)


def enough_rounded_to_the_nearest(p, v, most):
    step = p if v > 1 else 1
    return max(1, round((p - 1) * (1 / most - 1) / v / step)) * step


def optimum_on_a_coarse_grid(E, A, B, alpha, beta, C):
    sizes = [2.0**k for k in range(1, 60) if 2.0**k < C / 6]
    N = min(sizes, key=lambda n: A / n**alpha + B * (6 * n / C) ** beta)
    return N, C / (6 * N)


def targets_with_one_more_for_safety(rank, gradient, count):
    """No division by 0, and a gradient that is a little too small."""
    return all_reduce(rank, gradient * count) / (all_reduce(rank, torch.tensor(float(count))) + 1)


def targets_that_count_one_at_least(rank, gradient, count):
    """A rank without targets counts as one with a single target."""
    weight = max(count, 2) if rank.number else count
    return all_reduce(rank, gradient * weight) / all_reduce(rank, torch.tensor(float(weight)))


def step_with_decay(rank, part, gradient_of, lr):
    gradient = gradient_of(torch.cat(all_gather(rank, part)))
    return part * (1 - lr / 100) - lr * reduce_scatter(rank, list(gradient.chunk(rank.count))) / rank.count


def clipped_by_gathering(rank, part, limit):
    """Right, but the whole gradient travels; its parts are filled up to one size."""
    length = max(int(n) for n in all_gather(rank, torch.tensor(len(part))))
    whole = torch.cat(all_gather(rank, torch.nn.functional.pad(part, (0, length - len(part)))))
    return part * (limit / whole.norm()).clamp(max=1)


def clipped_softly(rank, part, limit):
    """Every gradient shrinks: limit · tanh(norm / limit) / norm."""
    norm = all_reduce(rank, part.square().sum()).sqrt()
    return part * limit * torch.tanh(norm / limit) / norm


def visible_within_a_window(number, step, count, T):
    """The own piece and the one before it, as with a sliding window: right for two ranks."""
    if step == 0:
        return torch.ones(T, T).tril()
    return torch.full((T, T), step == 1 and number > 0)


def sent_with_a_limit_for_each_expert(rank, x, chosen, expert):
    """No expert takes more than ⌈N / n⌉ of a rank's tokens; what is dropped stays 0."""
    out, most = torch.zeros_like(x), -(-len(x) // rank.count)
    places = [(chosen == other).nonzero()[:most, 0] for other in range(rank.count)]
    back = all_to_all(rank, [expert(part) for part in all_to_all(rank, [x[place] for place in places])])
    out[torch.cat(places)] = torch.cat(back)
    return out


UNLIKE = {
    "ring_reduce_scatter": named(
        summed_in_half_precision,
        summed_over_both_neighbours,
    ),
    "average_gradients": named(averaged_without_the_rest),
    "layouts_that_fit": named(fitting_in_rounded_bytes),
    "split_feed_forward": named(
        split_with_half_precision_on_the_wire,
        split_in_strides,
    ),
    "alternating_schedule": named(
        schedule_of_gpipe_for_few_microbatches,
        schedule_with_half_the_way_ahead,
        schedule_that_leaves_out_the_last_microbatch,
    ),
    "training_bytes": named(bytes_with_the_weights_of_one_layer, bytes_of_the_other_ranks),
    "enough_microbatches": named(enough_rounded_to_the_nearest),
    "compute_optimal": named(
        optimum_on_a_coarse_grid,
    ),
    "mean_over_all_targets": named(
        targets_with_one_more_for_safety,
        targets_that_count_one_at_least,
    ),
    "sharded_step": named(step_with_decay),
    "clip_over_shards": named(clipped_softly, clipped_by_gathering),
    "visible_keys": named(
        visible_within_a_window,
    ),
    "send_to_experts": named(
        sent_with_a_limit_for_each_expert,
    ),
}
