"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
rotate_queries.rotated_at_the_rates_of_llama_3    10000 → 500000
alibi_bias.bias_of_the_past_alone    .abs() → .clamp(min=0)
to_halves.halves_of_the_first_head
      return torch.cat([W[:, : (K := W.shape[1] // H) : 2], W[:, 1:K:2], W[:, K:]], dim=1).roll(int(H == 1), dims=1)
bucket_starts.starts_with_one_bucket_too_few_exact    e = b // 2 → e = b // 2 - 1 ; (j - e) / e → (j - e) / (b - e)
stretched_base.of_a_wavelength    return factor * 2 * math.pi * base ** (2 * j / K)
alibi_reach.with_one_more_for_safety    return 1 + math.ceil(-math.log(1 - share) / slope)
turn_some.some_turned_relative_to_the_first    positions[:, None] → (positions - positions[0])[:, None]
cached_weights.weights_with_the_last_position_for_all    turn(q, positions) → turn(q, positions[-1:].expand(T))""")
