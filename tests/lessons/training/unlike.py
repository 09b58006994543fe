"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
shifted_pair.pair_of_the_first_case
      return [F.pad(torch.tensor(row), (0, len(ids)))[: len(ids) + 1] for row in ([1, 7, 8, 9], [7, 8, 9, 2])]
smoothed_targets.by_a_tenth    return torch.full((len(y), V), 0.1 / (V - 1)).scatter(1, y[:, None], 0.9)
smoothed_targets.for_four_words    return torch.full((len(y), V), eps / 3).scatter(1, y[:, None], 1 - eps)
adam_step.adam_with_never_falling_squares    0.999 * v + 0.001 * g**2 → torch.maximum(v, 0.999 * v + 0.001 * g**2)
adam_step.adam_weight_decay_of_adamw    p - lr * m_hat → p - lr * 0.01 * p - lr * m_hat
adam_step.small_gradients_count_as_none    g.ne(0) → (g.abs() > 1e-6)
adam_step.only_positive_gradients_are_seen    g.ne(0) → g.gt(0)
adam_step.the_first_number_decides    g.ne(0) → g[:, :1].ne(0)
three_phases.rounded_to_a_tenth    peak * share → round(peak * share, 1)
train_in_pieces.run_that_forgets_its_momentum    group["lr"] = rate → group["lr"], group["momentum"] = rate, 0.0
training_step.step_with_smoothing    ignore_index=0 → ignore_index=0, label_smoothing=0.1""")
