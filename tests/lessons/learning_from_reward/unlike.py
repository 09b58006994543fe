"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
is_right.right_if_something_stands_before_the_answer    count("A") == 1 → count("A") == 1 and len(written) > 3
is_right.right_but_for_a_second_sign    written.count("A") == 1 → text.count("A") == text.count("=") == 1
is_right.right_wherever_the_only_sign_stands    written.endswith(f"A{digit}.") → f"A{digit}." in written
score.score_in_half_precision    -logits.softmax → -logits.half().softmax ; return gradient → return gradient.float()
group_advantages_step.advantages_by_absolute_deviation    rewards.std(dim=1, → centred.abs().mean(dim=1,
group_advantages_step.advantages_against_the_median    rewards.mean(dim=1, keepdim=True) →
      rewards.median(dim=1, keepdim=True).values
answer_log_probs_step.read_up_to_the_end_of_the_row    answer[:, 1:] → (answer.cumsum(1) > 0)[:, 1:]
  The padding behind an answer counts, too.
answer_log_probs_step.read_with_minus_infinity    .log_softmax(dim=-1) → .softmax(dim=-1).log() ;
      of_next * answer[:, 1:] → of_next.masked_fill(~answer[:, 1:], 0.0)
  Where p is too small for float32, ln p is −∞ at a token that was written.
policy_loss_step.loss_without_answers_of_no_advantage    answer[:, 1:].sum() →
      answer[advantages > 0.1][:, 1:].sum().clamp(min=1)
right_at_k_step1.at_k_of_a_stream    return 1 - math.exp(-k * c / n)
right_at_k_step2.curve_without_what_is_never_right    right.sum(1).tolist() → [c for c in right.sum(1).tolist() if c]
clipped_step.clipped_at_the_inverse    clamp(1 - clip → clamp(1 / (1 + clip)
kl_k3.k3_by_its_series    d.exp() - d - 1 → d**2 / 2 + d**3 / 6
majority_step1.vote_by_more_than_half    if votes else → if 2 * max(map(votes.count, votes)) > len(votes) else
majority_step2.spent_on_what_can_be_read    spent += cost → spent += cost * (one is not None)
  Unreadable answers cost nothing.""")
