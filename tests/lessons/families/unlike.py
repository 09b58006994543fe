"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
prefix_masks.prefix_of_the_shortest    lengths[:, None, None, None] → lengths.min().expand(len(lengths), 1, 1, 1)
  One mask for all texts of the batch: right for a batch of one.
prefix_loss.prefix_loss_with_the_first_length    lengths[:, None] → lengths[0].expand(len(ids), 1)
  All prompts as long as the first: right for a batch of one.
gap_scores.gaps_with_the_first_token_twice    texts[:, :-1] → texts ;
      texts[:, 1:, None] → texts.roll(-1, dims=1)[..., None]
fill_gaps.gaps_filled_until_the_first_stays    for _ in → for number in ; in gaps: → in gaps[: 1 if number else None]:
  Goes on only with the first gap after the first round.
next_words.next_words_of_the_batch    target = ids[:, 1:] →
      target = ids.flatten().roll(-1).view_as(ids)[:, : ids.shape[1] - 1].roll(len(ids) - 1, dims=0)
  The texts written one behind the other: right for a batch of one.
mask_tokens.masked_with_words_for_special_ones    replaced = chosen → replaced = (first < 0.15)
  Special tokens are never masked or scored, but some are replaced.
mask_tokens.masked_once_for_the_batch    first < 0.15 → first.view(-1, first.shape[-1])[0] < 0.15
  Every sentence has its gaps at the places of the first one.
hide_spans.spans_closed_by_the_last_sentinel    sentinels[len(spans)] → sentinels[-1]
leave_one_out.left_out_at_the_end    ids[:start] + ids[end:] → ids[: len(ids) - (end - start)]
  Takes away as many words as the part has, but always the last ones.""")
