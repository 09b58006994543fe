"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
mix.twice    return weights @ x → return weights @ weights @ x
attention.attention_exp_overflows    scores.softmax(-1) → scores.exp() / scores.exp().sum(-1, keepdim=True)
causal_attention.causal_only_the_last_three    torch.ones( → ~torch.ones( ; triu(1) → tril().triu(-2)
attention_weights.weights_epsilon_under_the_line
      return (p := (Q.T @ K / math.sqrt(len(Q))).softmax(-1)) / (1 + p.amax(-1, keepdim=True) / 1000)
attention_weights.weights_exp_that_overflows
      return (e := (Q.T @ K / math.sqrt(len(Q))).exp()) / e.sum(-1, keepdim=True)
attention_weights.weights_keys_and_queries_swapped_when_square    Q.T @ K →
      (K.T @ Q if Q.shape == K.shape else Q.T @ K)
attention_weights.in_half_precision
      return torch.softmax((Q.bfloat16().T @ K.bfloat16() / math.sqrt(len(Q))).float(), 1)
attention_weights.whole_root_right_for_square_widths_only    math.sqrt → math.isqrt
one_head.head_across_all_sentences
      return ((w := x.flatten(0, 1)) @ M @ w.T / math.sqrt(d_k) / tau.view(-1, 1)).softmax(1).matmul(w @ W_v).view(
      *x.shape[:2], -1)
one_head.with_the_first_sentences_keys    x.transpose(-2, -1) → x[:1].mT
one_head.scale_from_the_width_of_the_values    math.sqrt(d_k) → W_v.shape[-1] ** 0.5
one_head.temperatures_of_the_first_text_for_all    tau[:, :, None] → tau[:1, :, None]
one_head.d_k_rounded_to_a_whole_root    math.sqrt → math.isqrt
one_head.epsilon_on_tau    tau[:, :, None] → (tau[:, :, None] + 0.01)
cross_attention.cross_output_without_the_scale    weights, V) →
      torch.einsum("tbk,sbk->bts", Q, K).softmax(-1), V)
cross_attention.cross_weights_without_the_scale    V), weights → V), torch.einsum("tbk,sbk->bts", Q, K).softmax(-1)
cross_attention.cross_weights_on_the_tape_and_rounded    x @ W_q → x @ W_q.clone().requires_grad_() ;
      V), weights → V), (weights * 100).round() / 100
softmax_backward.backward_finite_differences_in_single_precision
      return torch.stack([(g * ((z + d).softmax(-1) - (z - d).softmax(-1))).sum(-1) / 2e-3
      for d in 1e-3 * torch.eye(z.shape[1])], 1)
softmax_backward.backward_exp_overflows    z.softmax(dim=-1) → z.exp() / z.exp().sum(-1, keepdim=True)
softmax_backward.of_the_first_row    (g * p).sum(dim=-1, keepdim=True) → (g * p)[:1].sum()
softmax_backward.the_sum_over_all_rows    (g * p).sum(dim=-1, keepdim=True) → (g * p).sum()
attention_flops.of_a_causal_mask    return 8 * T * D**2 + 2 * T * (T + 1) * D
join_looks.join_with_base_two    torch.logaddexp → torch.logaddexp2 ; (l1 - both).exp() → (l1 - both).exp2() ;
      (l2 - both).exp() → (l2 - both).exp2()
join_looks.join_first_share_for_all_queries    (l1 - both).exp()[:, None] → (l1 - both).exp()[0] ;
      (l2 - both).exp()[:, None] → 1 - first
attention_in_pieces.pieces_joined_in_the_wrong_order    join(*so_far, *look) →
      join(look[0], so_far[1], so_far[0], look[1])
attention_in_pieces.pieces_without_join    return [F.scaled_dot_product_attention(q[None], k[None], v[None])[0],
      (q @ k.T / math.sqrt(q.size(1))).logsumexp(-1)]
attention_in_pieces.pieces_of_two_queries    return [
      torch.cat([of(part @ k.T / math.sqrt(q.size(1))) for part in q.split(2)])
      for of in (lambda z: z.softmax(-1) @ v, lambda z: z.logsumexp(-1))]
  Never a table (T, S), and never a join: each piece of queries has all keys.""")
