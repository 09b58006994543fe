"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
split_heads.always_two    return x.reshape(*x.shape[:2], 2, -1).transpose(1, 2).reshape(len(x), H, x.shape[1], -1)
join_heads.join_first_two_heads_exchanged_when_there_are_more_than
      return torch.cat([*z[:-2], z[-1], z[-2]] if len(z) > 2 else [*z], dim=-1)
multi_head.plain_heads_taking_turns    H, D // H).transpose(1, 2) → D // H, H).permute(0, 3, 1, 2) ;
      @ v).transpose(1, 2) → @ v).permute(0, 2, 3, 1)
split_packed.heads_always_two    H, 3, -1) → 2, 3, -1) ; 1, 4) → 1, 4).reshape(3, B, H, T, -1)
split_packed.heads_whose_values_are_keys    return Q, K, V → return Q, K, K
split_packed.split_queries_packed_by_heads_the_rest_in_halves    return (
      (h := packed.unflatten(-1, (H, -1)).transpose(1, 2))[..., : (k := h.shape[-1] // 3)],
      h[..., k::2], h[..., k + 1 :: 2])
grouped_heads.multi_the_batch_as_one_long_text    B, T, D = x.shape → B, T, D = 1, x[..., 0].numel(), x.shape[2] ;
      flatten(2) → flatten(2).view_as(x)
grouped_heads.heads_scaled_by_their_number    math.sqrt(D // H) → math.sqrt(H)
grouped_heads.multi_key_heads_in_turn    repeat_interleave(H // shared.shape[1], dim=1) →
      repeat(1, H // shared.shape[1], 1, 1)
grouped_heads.multi_only_the_values_in_turn
      (shared.repeat_interleave(H // shared.shape[1], dim=1) for shared in (K, V)) →
      K.repeat_interleave(H // K.shape[1], dim=1), V.repeat(1, H // V.shape[1], 1, 1)
HeadProjections.ProjectionsDetached    head(x) → head(x).detach()
  The optimiser finds the parameters; no gradient ever reaches them.
HeadProjections.ProjectionsOfTheFirstSentence    head(x) → head(x[:1]).expand(len(x), -1, -1)
  The second sentence gets the first one's.
grouped_parameters.as_if_multi_query    return 2 * D * D + 2 * D * (D // H)
grouped_parameters.with_biases    return 2 * D * D + 2 * D * G * (D // H) + 2 * D + 2 * G * (D // H)
head_shares.shares_without_the_second_sentence    z.transpose → z[:1].expand_as(z).transpose
removal_order.order_by_the_largest_difference    .square().sum().item() → .abs().max().item()""")
