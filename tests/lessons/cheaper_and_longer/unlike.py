"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
merge_blocks.merged_without_a_maximum    largest_1 - largest → largest_1 ; largest_2 - largest → largest_2 ;
      / total, largest, total → / total, largest, total / largest.exp()
  Exact for moderate scores; e^100 overflows.
merge_blocks.merged_with_finite_scores_only    = one → = one; largest_1 = largest_1.nan_to_num(neginf=0.0) ;
      = other → = other; largest_2 = largest_2.nan_to_num(neginf=0.0)
  −∞ is taken for 0: a block that a query does not see counts there, too.
keep_or_redraw.kept_with_a_small_floor    torch.minimum(p / q, torch.ones_like(p)) → (p / q).clamp(min=1e-3, max=1)
  No token is ever impossible.
draft_and_check.checked_with_a_likeliest_last_token    dice.draw(p[ahead]) → p[ahead].argmax().item()
  All is drawn but the token after a full draft.
draft_and_check.checked_where_the_large_model_prefers_another    if not → if token != p[i].argmax() and not
  A drafted token is kept if it is the large model's likeliest, else by the rule.
linear_step.linear_with_a_small_constant    (q * total).sum(dim=-1, keepdim=True) →
      ((q * total).sum(dim=-1, keepdim=True) + 0.01)
  As in published code: it prevents a division by 0, and shrinks every output.
linear_step.linear_that_decays    memory = memory → memory = 0.99 * memory ; total = total → total = 0.99 * total
delta_step.delta_with_one_beta_for_all_heads    beta.unsqueeze(-1) → beta.mean()
window_cache.cache_that_takes_the_first_window_for_all    in windows) →
      in ([windows[0], 0] * len(windows))[: len(windows)])
window_cache.cache_with_one_more_position    window or T → window + 1 if window else T
  The window and the token itself.
rounded_rows.rounded_in_half_precision    W.abs().max(dim=-1, keepdim=True).values / largest_code →
      (W.abs().max(dim=-1, keepdim=True).values / largest_code).half().float()
yarn_frequencies.stretched_with_the_published_bounds    turns / slow → turns ; fast / slow → 32
  1 and 32 turns, whatever is asked for.
block_scores.scored_by_the_middle_key    k.reshape(*rows, S // block, block, K).sum(-2) →
      block * k.reshape(*rows, S // block, block, K)[..., block // 2, :]
best_blocks.best_of_all_queries    ranked = scores.clone() →
      ranked = scores.mean(-2, keepdim=True).expand_as(scores).clone()
  All queries read the blocks that are best on average.""")
