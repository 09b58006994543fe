"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
scored.scored_up_to_the_shorter    written == german → all(a == b for a, b in zip(written, german, strict=False))
scored.scored_by_the_last_word    written == german → written.split(" ")[-1] == german.split(" ")[-1]
share_by_kind.share_of_neighbours    sum(values) / len(values) →
      sum(v / 2 ** min(len(values) - i, len(values) - 1) for i, v in enumerate(values))
next_id.next_of_the_row_before    logits[0, -1] → logits[0, max(logits.shape[1] - 2, 0)]
next_id.next_of_the_first_half    logits[0, -1] → logits[0, -1, : max(3, logits.shape[-1] // 2)]""")
