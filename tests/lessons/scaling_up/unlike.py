"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
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
compute_optimal.optimum_on_a_coarse_grid    (ratio * (C / 6) ** beta) ** (1 / (alpha + beta)) → min(
      (2.0**k for k in range(1, 60) if 2.0**k < C / 6), key=lambda n: A / n**alpha + B * (6 * n / C) ** beta)
sharded_step.step_with_decay    part.sub( → (part * (1 - lr / 100)).sub(
visible_keys.visible_within_a_window
      return torch.ones(T, T).tril() if step == 0 else torch.full((T, T), step == 1 and number > 0)
  The own piece and the one before it, as with a sliding window: right for two ranks.""")
