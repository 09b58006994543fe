"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
sae_loss.one_length_for_all    W_dec.norm(dim=-1) → W_dec.norm(dim=-1).mean()
sae_loss.active_vectors_only    (error + l1 * sparse).mean() →
      (error + l1 * sparse)[(f > 0).any(-1)].mean()
""")
