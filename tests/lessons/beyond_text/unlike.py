"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
patches_of.patches_right_if_square    B, H // P, P, W // P, P) → B, W // P, P, H // P, P)
caption_scores.scores_with_a_joint_length
      return pictures @ captions.T / (pictures.norm() * captions.norm()) / temperature
contrastive_loss.loss_without_the_pair_below
      return ((others := scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -math.inf)).logsumexp(0)
      + others.logsumexp(1) - 2 * scores.diagonal()).mean() / 2
picture_row.row_of_the_first_word_again    E[answer]], dim=1) → E[answer[:, :1]].expand_as(E[answer])], dim=1)
class_chances.chances_of_captions_added    captions.mean(1) → captions.sum((0, 1)) - captions.sum(1) ;
      (pictures @ → (-pictures @
picture_of.picture_in_half_precision    rows.reshape(-1, H, W) → rows.reshape(-1, H, W).half().float()""")
