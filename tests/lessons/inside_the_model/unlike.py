"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
patched_logits.patched_halfway    torch.where(there, value, x) → torch.where(there, (value + x) / 2, x)
patched_logits.patched_in_the_first_row    return torch.where(there, value, x) →
      return torch.cat([torch.where(there, value, x)[:1], x[1:]])
direct_effect.direct_without_eps    + eps → + 0 * eps
direct_effect.direct_of_normed_rows    table[right] - table[wrong] →
      table[right] / table[right].norm() - table[wrong] / table[wrong].norm()
integrated_gradients.integrated_with_both_ends    (k + 0.5) / steps → k / max(1, steps - 1)
integrated_gradients.integrated_scaled_to_sum    return (x - baseline) * total / steps →
      a = (x - baseline) * total; return a / a.sum() * (f(x) - f(baseline))
induction_score.induction_of_the_first_repeat_alone    torch.arange(length, A.shape[-1]) →
      torch.arange(length, min(2 * length, A.shape[-1]))
induction_score.induction_with_all_earlier_copies    t - length + 1 → (t + 1) % length
induction_score.induction_by_the_median    .mean(dim=(0, 2)) → .transpose(0, 1).flatten(1).median(dim=1).values
induction_score.induction_share_of_the_strongest    return A[:, :, t, t - length + 1].mean(dim=(0, 2)) →
      return (A[:, :, t].argmax(-1) == t - length + 1).double().mean(dim=(0, 2))
rank_one.rank_one_by_the_diagonal    torch.linalg.solve(C, k) → k / C.diagonal()
rank_one.rank_one_with_the_root    torch.linalg.solve(C, k) → torch.linalg.solve(torch.linalg.cholesky(C), k)
rank_one.rank_one_half_way    / (u @ k) → / (u @ k + 1)
sae_loss.one_length_for_all    W_dec.norm(dim=-1) → W_dec.norm(dim=-1).mean()
sae_loss.active_vectors_only    (error + l1 * sparse).mean() →
      (error + l1 * sparse)[(f > 0).any(-1)].mean()
""")
