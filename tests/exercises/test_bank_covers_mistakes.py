"""The bank of the exercises holds every mistake of the project's list of common mistakes."""

import pytest

from tx_helpers.exercises.catalogue import find

COVERED = (  # the mistake in a few words; the exercise and the name of the mistake in its bank
    ("no √d_k", "attention_weights", "unscaled"),
    ("no √d_k", "one_head", "head_unscaled"),
    ("√d_model in place of √d_k", "one_head", "scaled_by_model_width"),
    ("√d_model in place of √d_k", "multi_head", "scaled_by_whole_width"),
    ("multiplied by √d_k", "attention_weights", "multiplied"),
    ("softmax over the queries", "attention_weights", "softmax_over_queries"),
    ("softmax over the queries", "multi_head", "heads_share_by_key"),
    ("softmax over the heads", "multi_head", "softmax_over_heads"),
    ("mask inverted", "causal_square", "causal_inverted"),
    ("mask inverted", "masked_attention", "mask_inverted"),
    ("no mask", "causal_square", "causal_all_true"),
    ("no mask", "masked_attention", "mask_unused"),
    ("mask applied after the softmax", "masked_attention", "mask_after_softmax"),
    ("scores multiplied by 0, or filled with 1e-9", "masked_attention", "scores_times_mask"),
    ("causal mask off by one, leaking", "causal_square", "causal_off_by_one"),
    ("diagonal excluded", "causal_square", "causal_without_diagonal"),
    ("mask transposed", "causal_square", "causal_transposed"),
    ("mask transposed", "masked_attention", "mask_transposed"),
    ("fill too weak: −10", "masked_attention", "fill_too_weak"),
    ("fill too weak: −100", "masked_attention", "lowered_by_hundred"),
    ("−1e9 in float16", "safe_weights", "masked_in_half_precision"),
    ("fully masked row: −inf gives NaN", "safe_weights", "empty_row_nan"),
    ("fully masked row: −1e9 gives uniform weights", "safe_weights", "empty_row_uniform"),
    ("heads by view without transpose", "split_heads", "split_by_view_alone"),
    ("heads by view without transpose", "multi_head", "cut_by_view"),
    ("heads merged without transpose", "join_heads", "joined_without_transpose"),
    ("heads merged without transpose", "multi_head", "merged_by_view"),
    ("targets not shifted", "shifted_pair", "not_shifted"),
    ("targets shifted backwards", "shifted_pair", "shifted_backwards"),
    ("targets shifted by two", "shifted_pair", "shifted_by_two"),
    ("softmax before the cross-entropy", "padded_loss", "softmax_twice"),
    ("positions added along the batch", "model_input", "along_the_batch"),
    ("positions never added", "model_input", "never_added"),
    ("positional exponent doubled", "sinusoid_table", "exponent_doubled"),
    ("odd d_model", "sinusoid_table", "last_column_left_out"),
    ("embedding too loud for its sinusoids", "position_share", "words_scaled_up"),
    ("no residual", "pre_norm_stack", "no_residual"),
    ("LayerNorm over time", "layer_norm_by_hand", "over_time"),
    ("LayerNorm over (T, D)", "layer_norm_by_hand", "over_time_and_width"),
    ("LayerNorm over the batch", "layer_norm_by_hand", "over_batch"),
    ("LayerNorm with the unbiased deviation", "layer_norm_by_hand", "unbiased"),
    ("epsilon outside the root", "layer_norm_by_hand", "epsilon_outside"),
    ("FFN without nonlinearity", "feed_forward_net", "without_bend"),
    ("W_q = W_k = 0 at the start", "starting_projections", "both_zero"),
    ("no zero_grad", "descend", "gradients_pile_up"),
    ("padding not masked", "padding_keys", "padding_unmasked"),
    ("padding not masked", "decoder_mask", "causal_part_alone"),
    ("padding mask inverted", "padding_keys", "padding_inverted"),
    ("padding counted in the loss", "padded_loss", "padding_counted"),
    ("cache: mask offset wrong", "cached_mask", "from_top_left"),
    ("cache: mask offset wrong", "cached_mask", "offset_too_large"),
    ("cache: position offset wrong", "cached_input", "offset_forgotten"),
    ("rotary: half and interleaved layout mixed", "rotate_queries", "pairs_of_neighbours"),
    ("rotary: half and interleaved layout mixed", "rotate_queries", "layouts_mixed"),
    ("no eval()", "measured_output", "no_eval"),
    ("heads kept in a Python list", "HeadProjections", "PythonList"),
)


@pytest.mark.parametrize(("row", "exercise", "mistake"), COVERED, ids=[f"{e}-{m}" for _, e, m in COVERED])
def test_the_bank_holds_the_mistake(row, exercise, mistake):
    assert mistake in [known.name for known in find(exercise).mistakes], f"{row}: not in the bank of {exercise}"
