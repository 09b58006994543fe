"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
patches_of.patches_right_if_square    B, H // P, P, W // P, P) → B, W // P, P, H // P, P)
caption_scores.scores_with_a_joint_length
      return pictures @ captions.T / (pictures.norm() * captions.norm()) / temperature
contrastive_loss.loss_without_the_pair_below
      return ((others := scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -math.inf)).logsumexp(0)
      + others.logsumexp(1) - 2 * scores.diagonal()).mean() / 2
neighbour_mask.mask_without_lonely_nodes    torch.eye(N, → torch.zeros(N, N, ;
      mask[a, b] = True → mask[a, b] = mask[a, a] = mask[b, b] = True
class_chances.chances_of_captions_added    captions.mean(1) → captions.sum((0, 1)) - captions.sum(1) ;
      (pictures @ → (-pictures @
nearest_codes.codes_of_whole_numbers    x[:, :, None] - codebook → x[:, :, None].round() - codebook.round()
sound_tokens.sound_with_the_first_strength_lost    window).abs() → window).abs() * (torch.arange(width // 2 + 1) > 0)
picture_of.picture_in_half_precision    rows.reshape(-1, H, W) → rows.reshape(-1, H, W).half().float()""")
