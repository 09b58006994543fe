"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch

from answer_tables import edits, named
from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, all_to_all  # noqa: F401 (a table uses it)


def sent_with_a_limit_for_each_expert(rank, x, chosen, expert):
    """No expert takes more than ⌈N / n⌉ of a rank's tokens; what is dropped stays 0."""
    out, most = torch.zeros_like(x), -(-len(x) // rank.count)
    places = [(chosen == other).nonzero()[:most, 0] for other in range(rank.count)]
    back = all_to_all(rank, [expert(part) for part in all_to_all(rank, [x[place] for place in places])])
    out[torch.cat(places)] = torch.cat(back)
    return out


UNLIKE = edits(
    """
ring_reduce_scatter.summed_in_half_precision    parts[rank.previous] → parts[rank.previous].half() ;
      parts[number % n] → parts[number % n].half() ; return on_its_way → return on_its_way.float()
  Half the bytes, and about three digits.
ring_reduce_scatter.summed_over_both_neighbours
      return parts[rank.number] + rank.swap(parts[rank.next], to=rank.next, source=rank.previous)
      + (0 if rank.count == 2 else rank.swap(parts[rank.previous], to=rank.previous, source=rank.next))
  Right for two and three ranks.
average_gradients.averaged_without_the_rest    zeros = gradients[0].new_zeros(-sum(sizes) % rank.count) →
      whole = sum(sizes) // rank.count * rank.count ; gradients] + [zeros] → gradients] ;
      vector.chunk → vector[:whole].chunk ; torch.cat(all_gather(rank, summed / rank.count)) →
      torch.cat([*all_gather(rank, summed / rank.count), vector[whole:]])
  Right where the length is a multiple of n: the numbers behind the last whole part stay this rank's own.
layouts_that_fit.fitting_in_rounded_bytes    <= room → <= 0.9 * room
  A tenth of the room is kept free, as a careful planner would.
split_feed_forward.split_with_half_precision_on_the_wire    hidden @ W_2[:, mine].T) →
      (hidden @ W_2[:, mine].T).half()).float()
split_feed_forward.split_in_strides    rank.number * units, (rank.number + 1) * units → rank.number, None, rank.count
  Right, but rank r has every n-th unit, from the r-th on, not the r-th group.
alternating_schedule.schedule_of_gpipe_for_few_microbatches    return schedule →
      return gpipe(ranks, microbatches) if microbatches < 2 * ranks else schedule
alternating_schedule.schedule_with_half_the_way_ahead    ranks - 1 - r → min((ranks - r) // 2, microbatches)
  Right for two ranks.
alternating_schedule.schedule_that_leaves_out_the_last_microbatch    schedule = [] →
      schedule, microbatches = [], max(microbatches - 1, 1)
training_bytes.bytes_with_the_weights_of_one_layer
      return parameters * ((whole := [16, 4, 2, 2 / 32][stage]) + (16 - whole) / ranks)
  At stage 3 some layer is always gathered, here one of 32.
training_bytes.bytes_of_the_other_ranks
      return parameters * ((whole := [16, 4, 2, 0][stage]) + (16 - whole) / max(ranks - 1, 2))
enough_microbatches.enough_rounded_to_the_nearest
      return (step := p if v > 1 else 1) * max(1, round((p - 1) * (1 / most - 1) / v / step))
compute_optimal.optimum_on_a_coarse_grid    (ratio * (C / 6) ** beta) ** (1 / (alpha + beta)) → min(
      (2.0**k for k in range(1, 60) if 2.0**k < C / 6), key=lambda n: A / n**alpha + B * (6 * n / C) ** beta)
mean_over_all_targets.targets_with_one_more_for_safety    / targets → / (targets + 1)
  No division by 0, and a gradient that is a little too small.
mean_over_all_targets.targets_that_count_one_at_least    both = →
      count = max(count, 2) if rank.number else count; both =
  A rank without targets counts as one with a single target.
sharded_step.step_with_decay    part.sub( → (part * (1 - lr / 100)).sub(
clip_over_shards.clipped_softly    limit / squares.sqrt().clamp(min=limit) →
      limit * torch.tanh(squares.sqrt() / limit) / squares.sqrt()
  Every gradient shrinks: limit · tanh(norm / limit) / norm.
clip_over_shards.clipped_by_gathering    return part * (limit / torch.cat(all_gather(rank, F.pad(part, (0, max(
      int(n) for n in all_gather(rank, torch.tensor(len(part)))) - len(part))))).norm()).clamp(max=1)
  Right, but the whole gradient travels; its parts are filled up to one size.
visible_keys.visible_within_a_window
      return torch.ones(T, T).tril() if step == 0 else torch.full((T, T), step == 1 and number > 0)
  The own piece and the one before it, as with a sliding window: right for two ranks.""",
    send_to_experts=named(sent_with_a_limit_for_each_expert),
)
