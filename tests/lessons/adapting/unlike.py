"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
lora_output.lora_in_half_precision    return x @ (W + (alpha / len(A) * (B @ A)).half().float()).T
lora_output.lora_whose_update_is_transposed
      return x @ (W + alpha / len(A) * ((B @ A).T if W.shape[0] == W.shape[1] else B @ A)).T
  Only where W is square; right where it is symmetric.
LoRALayer.LayerScaledByTheRank    alpha / rank → 1 / rank
  Right only where alpha is 1.
LoRALayer.LayerUnderNoGrad    return self.linear(x) → with torch.no_grad(): return self.linear(x)
LoRALayer.LayerWithBDetached    self.B.T → self.B.detach().T
LoRALayer.LayerMergedForGood    self.linear.weight + self.scale * (self.B @ self.A) →
      self.linear.weight.data.add_(self.scale * (self.B @ self.A).data)
  Works until it is merged; from then on the update counts twice.
LoRALayer.LayerOfOneDirection    torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features) →
      torch.full((rank, linear.in_features), 0.1)
LoRALayer.LayerTurned    torch.randn(rank, linear.in_features) → torch.randn(linear.in_features, rank) ;
      alpha / rank → 1.0 ; self.A.T → self.A ; self.B @ self.A) → self.B @ self.A.T)
  A is (D, rank).
chat_labels.labels_without_an_answer_cut_off    if speaks else → if speaks and end in ids[place + 1 :] else
  An answer that is not closed is not scored.
answer_log_p.log_p_without_token_0    targets != -100 → targets > 0
  Token 0 is taken for padding, wherever it stands.
answer_log_p.log_p_rounded_to_zero    logits.log_softmax(-1) → logits.softmax(-1).clamp(min=1e-30).log()
drift_in_nats.drift_both_ways    log_p.exp() → (log_p.exp() - log_q.exp()) / 2
  The mean of both directions, as Jeffreys proposed.
dpo_loss.dpo_with_a_clamp    torch.nn.functional.softplus(-beta * (gained - lost)) →
      -torch.sigmoid(beta * (gained - lost)).clamp(min=1e-8).log()""")
