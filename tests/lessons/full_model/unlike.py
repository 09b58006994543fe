"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
llama_block_parameters.with_a_norm_at_the_hidden_width    return 4 * D * D + 3 * D * F + D + F
llama_block_parameters.of_the_first_case    return 4 * 2 * 2 + 3 * 2 * 3 + 2 * 2
translator_parameters.with_embeddings_in_every_block    return N * (12 * D * D + 4 * D * F + 2 * V * D)
translator_parameters.with_a_network_for_all_blocks    return N * 12 * D * D + 4 * D * F + 2 * V * D
tied_probabilities.tied_over_all_places_at_once
      return torch.softmax((h @ E[:V].T).flatten(), 0).view(len(h), -1) * len(h)
tied_probabilities.tied_the_filling_pushed_down_by_ten
      return (h @ E.T - 10 * (torch.arange(len(E)) >= V)).softmax(-1)[:, :V]
folded_layer.gain_twice    return (W * g * g, W @ b + c)
folded_layer.shift_divided_by_the_gain    return (W * g, W @ (b / g) + c)
folded_model.model_with_the_gains_alone    norm.bias, layer.weight → 0 * norm.bias, layer.weight
  The shifts are thrown away before they are folded.
folded_model.in_place_and_nothing_returned    return model → return
starting_projections.a_normal_distribution_of_mean_1_root_d
      return tuple((torch.randn(D, K) + 1) / D**0.5 for _ in "qk")
Embedding.EmbeddingOfHalves    sqrt(D) + place → sqrt(D) + torch.cat([place[:, ::2], place[:, 1::2]], dim=1)
Attention.AttentionWithAWeakFill    float("-inf") → -1.0
FeedForward.FeedForwardLeaky    self.expand(x).relu() → F.leaky_relu(self.expand(x))
Block.BlockWithOneNorm    self.feed_forward(self.feed_forward_norm(x)) → self.feed_forward(self.self_attention_norm(x))
Encoder.EncoderAddingTheEmbeddingAgain    x = self.input(ids) → x = start = self.input(ids) ;
      block(x, mask) → block(x, mask) + start
Decoder.DecoderSeeingTheLastTwo    .tril() → .tril().triu(-1)
Transformer.TransformerThatReadsTheSourceBackwards    real = ( → source = source.flip(1); real = (
GPT.GPTOfWindows    .tril() → .tril().triu(-2)""")
