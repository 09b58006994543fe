"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
split_texts.split_with_the_copies_in_training    [one for one in paragraphs if one in held] →
      [one for one in different if one in held]
split_texts.split_by_first_words    not in held → not in held and one.split()[0] not in {h.split()[0] for h in held}
nats_per_character.per_character_of_the_longest    characters = len("".join(pieces)) →
      characters = max(map(len, pieces)) * len(pieces)
nats_per_character.per_character_by_the_median    losses.sum() → losses.median() * len(losses)
reward_of.reward_by_length    said == answer → len(said) == len(answer)
interpolated.interpolated_but_for_rare_rows    rows > 0 → rows > 1
interpolated.interpolated_then_scaled    return weight * behind + (1 - weight) * overall →
      p = behind**weight * overall ** (1 - weight); return p / p.sum(1, keepdim=True)
""")
