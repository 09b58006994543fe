"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits


def _tails(word, vocabulary, start=0):
    """All ways to cut word[start:], the longest pieces first."""
    if start == len(word):
        yield []
    for end in range(len(word), start, -1):
        piece = "##" * (start > 0) + word[start:end]
        if piece in vocabulary:
            yield from ([piece, *rest] for rest in _tails(word, vocabulary, end))


UNLIKE = edits("""
count_pairs.pairs_of_long_words_only    pairwise(word) → pairwise(word if len(word) > 2 else ())
learn.learned_until_a_pair_is_single    (counts := count_pairs(spelled)) →
      max((counts := count_pairs(spelled)).values(), default=0) > 1
encode.encoded_right_to_left    pieces, i = [], 0 → pieces, i, word = [], 0, word[::-1] ; == pair → == pair[::-1] ;
      word[i : i + size]) → word[i : i + size][::-1]) ; tuple(pieces) → tuple(pieces[::-1])
tokens_saved.saved_in_either_order    word[i : i + 2] == pair → sorted(word[i : i + 2]) == sorted(pair)
tokens_saved.saved_if_the_letters_agree    while i < len(word) → while i < len(word) - 1 ;
      word[i : i + 2] == pair → "".join(word[i : i + 2]) == "".join(pair)
words_from_pieces.words_without_a_marked_first_piece
      return " ".join(pieces[pieces[0].startswith("##") :]).replace(" ##", "").split(" ")
words_from_pieces.words_with_every_hash_taken_away
      return " ".join(pieces).replace(" ##", "").replace("#", "").split()
fewest_pieces.fewest_with_every_piece_once
      return min((len(way) for way in _tails(word, vocabulary) if len(set(way)) == len(way)), default=0)
fewest_pieces.fewest_greedy_from_the_end    min((best[start] + 1 for start in fits), default=math.inf) →
      best[fits[0]] + 1 if fits else math.inf
fewest_pieces.of_the_first_way_found    return len(next(_tails(word, vocabulary), []))
fewest_pieces.up_to_three    return min((len(way) for way in _tails(word, vocabulary) if len(way) <= 3), default=0)
embedding_gradient.table_gradient_without_word_0    ids, G) → ids, G * (ids != 0)[:, None])
embedding_gradient.table_gradient_that_forgets_the_second_time    ids, G) →
      ids, G * torch.tensor([[word not in ids[1:t]] for t, word in enumerate(ids)]))
nearest_words.nearest_with_the_columns_scaled    E / E.norm(dim=-1, keepdim=True) →
      F.normalize(E / E.norm(dim=0), dim=1)
nearest_words.nearest_without_parallel_words    cosines.topk → cosines.masked_fill(cosines > 0.9999, -torch.inf).topk
  With (tensor([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), 1): [1], [0], …""")
