"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
tempered.never_above_one    / temperature → / min(temperature, 1)
tempered.in_whole_steps    / temperature → // temperature
tempered.at_a_tenth_at_least    / temperature → / max(temperature, 0.1)
  With (tensor([0.2, 0.1, 0.0]), 0.05).
nucleus.nucleus_shared_out_evenly    kept / kept.sum(dim=-1, keepdim=True) →
      kept + (kept > 0) * (1 - kept.sum(-1, keepdim=True)) / (kept > 0).sum(-1, keepdim=True)
nucleus.nucleus_the_sum_runs_on_through_the_batch    ranked.cumsum(dim=-1) - ranked < top[:, None] →
      (ranked.flatten().cumsum(0).view_as(p) - ranked < top[:, None]) | (torch.arange(p.shape[1]) == 0)
nucleus.tokens_rarer_than_1_top_are_dropped    ranked.cumsum(dim=-1) - ranked < top[:, None] →
      (ranked >= 1 - top[:, None]) | (ranked == ranked[:, :1])
nucleus.top_never_above_0_95    top[:, None] → top.clamp(max=0.95)[:, None]
top_k_logits.top_k_threshold_strictly_above    logits.sort(dim=-1, descending=True).values.gather(-1, k[:, None] - 1) →
      F.pad(logits.sort(dim=-1, descending=True).values, (0, 1), value=-1e4).gather(-1, k[:, None]).clamp(min=-1e4) ;
      < threshold → <= threshold + 1e-3
top_k_logits.top_logits_without_a_zero    logits < threshold → (logits < threshold) | (logits == 0)
  With (tensor([0.0, -1.0, -2.0]), 1).
top_k_logits.k_threshold_with_a_tolerance    < threshold → < threshold - 1e-2
break_even.break_even_on_a_grid    return round(math.log(b / a) / math.log((5 + m) / (5 + n)), 1)
cached_mask.cached_as_many_as_new    diagonal=cached → diagonal=new
cached_input.input_with_positions_in_the_first_text    + P[cached : cached + ids.shape[1]] →
      + P[cached : cached + ids.shape[1]] * (torch.arange(len(ids)) == 0)[:, None, None]
cached_input.behind_with_a_whole_root    E.shape[1] ** 0.5 → math.isqrt(E.shape[1])
tokens_that_fit.in_half_precision    return int(torch.tensor(memory / (2 * N * G * K * B * size)).bfloat16())
CachedAttention.CachedInPlace    past[0], k → past[0] * 1.1, k ; scores.masked_fill(~mask, float("-inf")) → scores
allowed.allowed_without_the_end    list(grammar[state]) →
      [token for token, then in grammar[state].items() if grammar[then] != {}]
constrained.constrained_at_first_only    ~may_come(written) → ~may_come(written) & (not written)
greedy.greedy_that_stops_at_a_repetition    ids[-1] == end → ids[-1] == end or ids[-1] in ids[len(begin) : -1]
greedy.greedy_without_the_batch_axis    torch.tensor([ids]) → torch.tensor(ids) ; logits[0, -1] → logits[-1]
top_p.top_p_of_two_at_least    return stays → stays[:2] = True; return stays
penalised.penalised_towards_the_mean    torch.where(z > 0, z / penalty, z * penalty) →
      logits.mean() + (z - logits.mean()) / penalty
next_beams.beams_with_different_tokens_only    (scores[:, None] + log_p).flatten().topk(n) →
      (totals := (scores[:, None] + log_p).max(0)).values.topk(n) ; index // V, index % V → totals.indices[index], index
next_beams.beams_divided_by_their_number    index // V → index // n % n""")
