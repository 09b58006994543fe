"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
padded_loss.loss_with_pad_out_of_the_vocabulary    logits.log_softmax →
      logits.index_fill(-1, torch.tensor(pad), -torch.inf).log_softmax ; (log_p * real) → log_p.where(real, 0.0)
padded_loss.loss_with_words_above_the_pad    targets != pad → targets > pad ;
      real.sum(dim=1) → real.sum(dim=1).clamp(min=1)
padded_loss.loss_without_the_last_word    (log_p * real) → (log_p * real)[:, :-1] ;
      / real.sum(dim=1) → / real[:, :-1].sum(dim=1).clamp(min=1)
descend.descent_against_all_pairs    (X @ w - y) → ((X @ w)[:, None] - y)
measured_output.measured_as_the_mean_of_many    model.eval() → ... ;
      y = model(x) → y = torch.stack([model(x) for _ in range(5)]).mean(0)
first_bad.bad_by_the_sum    tensor.isfinite().all() → tensor.sum().isfinite()
first_bad.bad_by_the_last_row    tensor.isfinite() → tensor[0].isfinite()
name_fault.any_growth    10 * norms → norms
name_fault.five_times_the_norm    10 * norms → 5 * norms
name_fault.moved_by_three_hundredths    0.05 → 0.03
name_fault.validation_at_one_and_a_half    2 * record → 1.5 * record
name_fault.validation_at_two_and_a_half    2 * record → 2.5 * record
name_fault.validation_at_three    2 * record → 3 * record
name_fault.mean_of_five_losses    [-10:] → [-5:]
name_fault.the_best_loss    [-10:].mean() → .min()
future_leak.future_by_shuffled_rows    other[:, t:] → read.roll(1, 0)[:, t:]
future_leak.future_by_length    return (model(source, read[:, :t]) - model(source, read)[:, :t]).abs().max()
future_leak.future_at_the_position_before_only    moved[:, :t] → moved[:, t - 1]
padding_leak.padding_of_the_first_row    read)).abs() → read))[0].abs()
broken_model.broken_by_rows_that_change_places    (ahead, padded, alone) →
      [model(source.flip(0), read.flip(0)).flip(0) - logits]""")
