"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
entropy_floor.of_the_even_source    return torch.tensor(float(len(p))).log() / (p * lengths).sum()
per_character.mean_word_length_rounded    return per_word ** (1 / round(characters / words + 1))
perplexity.perplexity_of_the_median    came.mean() → came.median()
write_on.write_on_with_an_axis_too_many    logits[0, -1] → logits[:, -1]
  `choose` gets (1, V).
memory_questions.questions_once_a_name    word in words[:t]: → words[:t].count(word) == 1:
  Each name asks once, at its second mention.
memory_score.score_by_the_median_rival    sum(others) / len(others) → sorted(others)[len(others) // 2]""")
