"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
sinusoid_table.sinusoids_at_most_eight_rows_long    torch.arange(T) → (torch.arange(T) % 4)
model_input.scaled_by_a_whole_root    E.shape[1] ** 0.5 → math.isqrt(E.shape[1])
position_share.that_hangs_on_the_width    return 1 / (1 + s**2 * D / 2)
shift_matrix.forwards_only    k * 10000.0 → abs(k) * 10000.0
first_rise.rise_for_base_1000    10000 → 1000
first_rise.that_grows_with_the_width    return D // 12
nearest_pair.pair_by_position_first
      return torch.stack([torch.cdist(x - P[p := torch.cdist(x, P).argmin(1)], E).argmin(1), p], dim=1)
sentence_back.back_without_the_largest_gap    words, places = pairs.T → words, places = pairs[pairs[:, 1].argsort()].T;
      places = places.diff(prepend=places[:1]).clamp(max=2).cumsum(0)""")
