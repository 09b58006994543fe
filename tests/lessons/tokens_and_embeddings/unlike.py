"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import itertools

import torch
import torch.nn.functional as F

from answer_tables import named


def pairs_of_long_words_only(spelled):
    counts = {}
    for word, times in spelled.items():
        for pair in itertools.pairwise(word if len(word) > 2 else ()):
            counts[pair] = counts.get(pair, 0) + times
    return counts


def learned_until_a_pair_is_single(spelled, letters, size, count_pairs, join):
    pieces, merges = list(letters), []
    while len(pieces) < size:
        counts = count_pairs(spelled)
        if max(counts.values(), default=0) < 2:
            break
        best = min(counts, key=lambda p: (-counts[p], pieces.index(p[0]), pieces.index(p[1])))
        merges.append(best)
        pieces.append("".join(best))
        spelled = {join(word, best): times for word, times in spelled.items()}
    return pieces, merges


def encoded_right_to_left(word, merges):
    for pair in merges:
        pieces = []
        for piece in reversed(word):
            if pieces and (piece, pieces[0]) == pair:
                pieces[0] = piece + pieces[0]
            else:
                pieces.insert(0, piece)
        word = tuple(pieces)
    return word


def saved_if_the_letters_agree(words, pair):
    saved = 0
    for word, count in words.items():
        t = 0
        while t < len(word) - 1:
            found = word[t] + word[t + 1] == "".join(pair)
            saved += count * found
            t += 1 + found
    return saved


def saved_in_either_order(words, pair):
    saved = 0
    for word, count in words.items():
        t = 0
        while t < len(word) - 1:
            found = set(word[t : t + 2]) == set(pair)
            saved += count * found
            t += 1 + found
    return saved


def words_with_every_hash_taken_away(pieces):
    return " ".join(pieces).replace(" ##", "").replace("#", "").split()


def _tails(word, vocabulary, start=0):
    """All ways to cut word[start:], the longest pieces first."""
    if start == len(word):
        yield []
    for end in range(len(word), start, -1):
        piece = "##" * (start > 0) + word[start:end]
        if piece in vocabulary:
            yield from ([piece, *rest] for rest in _tails(word, vocabulary, end))


def fewest_with_every_piece_once(word, vocabulary):
    ways = [way for way in _tails(word, vocabulary) if len(set(way)) == len(way)]
    return min(map(len, ways), default=0)


def fewest_greedy_from_the_end(word, vocabulary):
    end, number = len(word), 0
    while end > 0:
        starts = [start for start in range(end) if "##" * (start > 0) + word[start:end] in vocabulary]
        if not starts:
            return 0
        end, number = starts[0], number + 1
    return number


def table_gradient_without_word_0(ids, G, V):
    one_hot = F.one_hot(ids, V).float()
    one_hot[:, 0] = 0
    return one_hot.T @ G


def table_gradient_that_forgets_the_second_time(ids, G, V):
    gradient = torch.zeros(V, G.shape[1])
    for t, word in enumerate(ids.tolist()):
        if word not in ids[:t].tolist()[1:]:
            gradient[word] += G[t]
    return gradient


def _others(scores, k):
    """Ids of the k largest of every row, the diagonal left out."""
    return scores.fill_diagonal_(-torch.inf).topk(k).indices


def nearest_with_the_columns_scaled(E, k):
    E = E / E.norm(dim=0)
    return _others(F.normalize(E, dim=1) @ F.normalize(E, dim=1).T, k)


def nearest_without_parallel_words(E, k):  # (tensor([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), 1): [1], [0], …
    cosines = F.normalize(E, dim=1) @ F.normalize(E, dim=1).T
    return cosines.masked_fill(cosines > 0.9999, -torch.inf).topk(k).indices


def words_without_a_marked_first_piece(pieces):
    rest = pieces[1:] if pieces[0].startswith("##") else pieces
    return " ".join(rest).replace(" ##", "").split(" ")


UNLIKE = {
    "count_pairs": named(pairs_of_long_words_only),
    "learn": named(learned_until_a_pair_is_single),
    "encode": named(encoded_right_to_left),
    "tokens_saved": named(saved_in_either_order, saved_if_the_letters_agree),
    "words_from_pieces": named(words_without_a_marked_first_piece, words_with_every_hash_taken_away),
    "fewest_pieces": named(fewest_with_every_piece_once, fewest_greedy_from_the_end)
    | {
        "of_the_first_way_found": lambda word, vocabulary: len(next(_tails(word, vocabulary), [])),
        "up_to_three": lambda word, vocabulary: min(
            (len(way) for way in _tails(word, vocabulary) if len(way) <= 3), default=0
        ),
    },
    "embedding_gradient": named(table_gradient_without_word_0, table_gradient_that_forgets_the_second_time),
    "nearest_words": named(nearest_with_the_columns_scaled, nearest_without_parallel_words),
}
