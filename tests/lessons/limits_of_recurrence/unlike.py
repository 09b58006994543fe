"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
read_words.words_by_softsign    torch.tanh → F.softsign
rnn_states.each_unit_sees_itself_only    h @ U → h * U.diagonal()
rnn_states.softsign_for_tanh    torch.tanh → F.softsign
gradient_through_time.of_the_mean_step    return (w * (1 - (h**2).mean())) ** len(h)
gradient_through_time.clipped_to_one    return (w * (1 - h**2)).prod().clamp(-1, 1)
  With (3.0, zeros(4)): 81.
lstm_step.lstm_with_hard_gates    z[0].sigmoid(), z[1].sigmoid() → F.hardsigmoid(z[0]), F.hardsigmoid(z[1]) ;
      z[3].sigmoid() → F.hardsigmoid(z[3])
look_back.back_scaled    @ U) @ v → @ U) @ v / math.sqrt(len(v))
additive_weights.additive_divided_by_the_root_of_a    @ v) → @ v / math.sqrt(len(v)))
additive_weights.additive_v_loses_its_sign    @ v) → @ v.abs())
decoder_states.decoder_that_normalises_its_context    alpha @ h → F.normalize(alpha @ h, dim=0)
convolution_layers.rounded_to_nearest    return max(1, round(n / ((k - 1) / 2)))""")
