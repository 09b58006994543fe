"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
causal_square.causal_a_window_of_eight
      return torch.full((T, T), -math.inf).triu(1) + torch.full((T, T), -math.inf).tril(-8)
causal_square.ones_where_it_may_look    return torch.full((T, T), -math.inf).triu(1) + torch.ones(T, T).tril()
masked_attention.masked_without_a_scale    / math.sqrt(q.shape[-1]) → ; -math.inf → -1e9
masked_attention.masked_with_minus_a_hundred    -math.inf → -100
masked_attention.masked_after_the_softmax_divided_again_underflow
      return (w := (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) * (real & ~hidden)) / w.sum(-1, keepdim=True) @ v
masked_attention.masked_as_many_words_as_are_real_from_the_front    ~real → (torch.arange(len(k)) >= real.sum()) ;
      -math.inf → -1e30
masked_attention.scale_left_out    / math.sqrt(q.shape[-1]) →
safe_weights.safe_exp_without_the_maximum_nan_to_zero
      return ((e := (scores + bias).exp()) / e.sum(-1, keepdim=True)).nan_to_num(0.0)
safe_weights.safe_epsilon_under_the_line    return (e := (scores + bias).exp()) / (e.sum(-1, keepdim=True) + 1e-9)
safe_weights.safe_minus_fifty_as_if_infinite    bias.masked_fill(empty, 0.0) → bias.clamp(min=-50)
safe_weights.safe_mask_after_softmax_divided_again_nan_to_zero
      return ((w := scores.softmax(-1) * bias.exp()) / w.sum(-1, keepdim=True)).nan_to_num(0.0)
safe_weights.safe_the_maximum_of_all_scores_taken_off
      return ((e := (scores - scores.max() + bias).exp()) / e.sum(-1, keepdim=True)).nan_to_num(0.0)
safe_weights.safe_softmax_that_drops_small_shares
      return (w := (scores + bias).softmax(-1).nan_to_num(0.0)) * (w > 1e-2)
safe_weights.safe_bias_returned_when_nothing_is_allowed
      return bias if bias.isinf().all() else (scores + bias).softmax(-1).nan_to_num(0.0)
safe_weights.safe_a_log_sum_divided_out_whose_gradient_is_nan    return torch.where(
      (log := (z := (scores + bias).double()).logsumexp(-1, keepdim=True)) == -math.inf, 0.0, (z - log).exp()).float()
safe_weights.safe_nan_replaced_by_where
      return torch.where((w := torch.softmax(scores + bias, -1)).isnan(), torch.zeros_like(w), w)
safe_weights.looks_at_the_first_key_only    return (scores + bias).softmax(-1).masked_fill(bias[:, :1].isinf(), 0.0)
decoder_mask.decoder_whose_filling_sees_itself_alone    (ids != pad)[:, None, None, :] →
      (ids != pad)[:, None, None, :] & (ids != pad)[:, None, :, None]
decoder_mask.decoder_whose_filling_is_skipped_row_by_row    return torch.tensor([[[
      [s == t or (s < t and pad not in (row[s], row[t])) for s in range(len(row))] for t in range(len(row))
      ]] for row in ids.tolist()])
decoder_mask.decoder_above_the_pad    ids != pad → ids > pad
window_mask.window_open_where_it_is_wider_than_the_text    (s <= t) → ((s <= t) | (w > T))
  With (3, 5, 0).
window_mask.window_in_blocks    (t - s < w) → (s // w == t // w)
padding_keys.of_sorted_sentences    lengths[:, None] → lengths.sort(descending=True).values[:, None]
no_look_ahead.back_two_at_most
      return (torch.arange(T)[:, None] - torch.arange(T)).clamp(-1, 2).eq(1) | torch.eye(T).bool()
masked_weights.one_mask_for_all_rows    where(mask → where(mask[..., -1:, :]
block_sizes.sizes_over_the_diagonal    return J.diagonal(dim1=1, dim2=3).square().sum(-1).sqrt()
block_sizes.spectral    return torch.linalg.matrix_norm(J.transpose(1, 2), ord=2)
packed_mask.packed_one_wall_at_the_first_change    documents[:, None] == documents[None, :] →
      (documents == documents[0])[:, None] == (documents == documents[0])
packed_mask.packed_by_neighbours    documents[:, None] == documents[None, :] →
      (part := documents.diff(prepend=documents[:1]).ne(0).cumsum(0))[:, None] == part
  A text ends where the number changes: wrong where a text goes on after another one.
pack_row.row_whose_targets_end_with_the_row_alone    torch.cat([torch.cat([text[1:], end]) for text in texts]) →
      torch.cat([*texts, torch.tensor([0])])[1:]
pack_row.row_with_numbers_from_the_lengths    torch.full_like(text, d) → torch.full_like(text, len(text))
  Texts of one length count as one text.
prefix_mask.prefix_block_alone
      return (torch.arange(T) < p)[:, None] & (torch.arange(T) < p) | torch.eye(T, dtype=torch.bool)
prefix_mask.prefix_two_blocks    return (first := torch.arange(T) < p)[:, None] & first | (
      (first[:, None] == first) & torch.ones(T, T, dtype=torch.bool).tril())""")
