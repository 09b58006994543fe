"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
choose_expert.chosen_above_the_mean
      return p * ((wish := p + bias) > wish.mean(-1, keepdim=True) + wish.std(-1, keepdim=True))
  Several experts, where more than one stands out.
balance_bias.balanced_by_relative_load    .sum(dim=0).float() → .float().mean(0) ;
      torch.sign(load.mean() - load) → (1 - p.shape[1] * load).clamp(-1, 1)
newton_schulz.divided_by_the_largest_row    G.norm() → G.norm(dim=1).max()
muon_step.muon_that_changes_the_gradient    (1 - keep) * G → G.mul_(1 - keep)
muon_step.muon_with_adams_length    math.sqrt(max(1, rows / columns)) → 0.2 * math.sqrt(max(rows, columns))
  Scaled to the size of AdamW's steps, as in Liu et al. 2025.
route_tokens.routed_by_absolute_logits    return torch.zeros_like(logits).scatter(
      -1, places := logits.abs().topk(k).indices, logits.gather(-1, places).softmax(-1))
  Right where the chosen logits are positive.
balance_penalty.balanced_over_used_experts    E * share → (share > 0).sum() * share
  The factor is the number of experts that got a token: right if all of them did.
balance_penalty.balanced_by_soft_counts    E * share → E * share.sqrt() / share.sqrt().sum()""")
