"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
feed_forward.with_silu    torch.relu → F.silu
hinges_through.hinges_at_even_steps    x.diff() → ((x[-1] - x[0]) / (len(x) - 1))
swiglu.swiglu_with_steep_gate    gate.sigmoid() → (1.702 * gate).sigmoid()
layer_norm_by_hand.layer_norm_with_the_larger_of_variance_and_epsilon    (variance + 1e-5) → variance.clamp(min=1e-5)
rms_norm_by_hand.rms_gain_one_number_a_head_block    .rsqrt() * gain).reshape(x.shape) →
      .rsqrt()).reshape(x.shape) * gain.repeat_interleave(x.shape[1] // len(gain))
rms_norm_by_hand.rms_epsilon_added_to_the_sum_of_squares    1e-5 → 1e-5 / len(gain)
rms_norm_by_hand.rms_mean_over_the_positions_as_well    dim=-1 → dim=(0, 2)
feed_forward_share.of_one_half    return 1 / 2
feed_forward_share.in_two_decimals    return round(F / (F + 2 * D), 2)
pre_norm_block.block_with_a_norm_at_its_end    return x + network(norm_n(x)) → return norm_n(x + network(norm_n(x)))
pre_norm_block.block_that_keeps_half    x + attention(norm_a(x)) → (x + attention(norm_a(x))) / 2**0.5 ;
      x + network(norm_n(x)) → (x + network(norm_n(x))) / 2**0.5
pre_norm_block.block_that_reads_the_first_norm_twice    x + attention(norm_a(x)) →
      x + (seen := attention(normed := norm_a(x))) ; norm_n(x) → norm_n(normed + seen)
read_the_stream.lens_with_half_steps    x = block(x, *parts) → x, before = block(x, *parts), x ;
      append(norm(x) → append(norm((x + before) / 2)
read_the_stream.lens_with_a_norm_of_its_own    [norm(x) → [F.layer_norm(x, x.shape[-1:]) ;
      append(norm(x) → append(F.layer_norm(x, x.shape[-1:])""")
