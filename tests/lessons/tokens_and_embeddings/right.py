"""Right answers to the lesson's exercises by other algorithms: all must pass."""

from collections import Counter
from itertools import pairwise

import torch
import torch.nn.functional as F

from answer_tables import named


def pairs_in_a_plain_dict(spelled):
    counts = {}
    for word, times in spelled.items():
        for i in range(len(word) - 1):
            counts[word[i], word[i + 1]] = counts.get((word[i], word[i + 1]), 0) + times
    return counts


def pairs_by_elements(spelled):
    return Counter(pair for word in Counter(spelled).elements() for pair in pairwise(word))


def learned_by_recursion(spelled, letters, size, count_pairs, join):
    counts = count_pairs(spelled) if len(letters) < size else {}
    if not counts:
        return letters, []
    place = {piece: i for i, piece in enumerate(letters)}
    best = max(counts, key=lambda p: (counts[p], -place[p[0]], -place[p[1]]))
    joined = {join(word, best): n for word, n in spelled.items()}
    pieces, merges = learned_by_recursion(joined, [*letters, "".join(best)], size, count_pairs, join)
    return pieces, [best, *merges]


def learned_by_own_means(spelled, letters, size, count_pairs, join):
    words, merges, pieces = [[list(word), n] for word, n in spelled.items()], [], list(letters)
    while len(pieces) < size:
        counts = Counter()
        for word, n in words:
            for pair in pairwise(word):
                counts[pair] += n
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], *map(pieces.index, p)))
        merges.append(best)
        pieces.append(best[0] + best[1])
        for entry in words:
            entry[0] = list(encoded_on_a_stack(entry[0], [best]))
    return pieces, merges


def encoded_by_rank(word, merges):
    rank = {pair: number for number, pair in enumerate(merges)}
    pieces = list(word)
    while fits := [pair for pair in pairwise(pieces) if pair in rank]:
        best = min(fits, key=rank.get)
        i = list(pairwise(pieces)).index(best)
        pieces[i : i + 2] = ["".join(best)]
    return pieces


def encoded_on_a_stack(word, merges):
    for pair in merges:
        stack = []
        for piece in word:
            stack.append(stack.pop() + piece if stack and (stack[-1], piece) == tuple(pair) else piece)
        word = stack
    return tuple(word)


def saved_by_text(words, pair):
    import re

    pattern = re.compile(rf"(?<!\S){re.escape(' '.join(pair))}(?!\S)")
    return sum(times * len(pattern.findall(" ".join(word))) for word, times in words.items())


def saved_by_recursion(words, pair):
    def joins(word):
        if len(word) < 2:
            return 0
        return 1 + joins(word[2:]) if word[:2] == pair else joins(word[1:])

    return torch.tensor([times * joins(word) for word, times in words.items()]).sum()


def words_by_tuple(pieces):
    words = ()
    for piece in pieces:
        words = (*words[:-1], "".join(words[-1:]) + piece[2:]) if piece[:2] == "##" else (*words, piece)
    return words


def words_by_starts(pieces):
    starts = [i for i, piece in enumerate(pieces) if i == 0 or not piece.startswith("##")] + [len(pieces)]
    return ["".join(piece.removeprefix("##") for piece in pieces[a:b]) for a, b in pairwise(starts)]


def fewest_by_breadth(word, vocabulary):
    reached, steps = {0}, 0
    while reached and len(word) not in reached:
        steps += 1
        reached = {
            end
            for start in reached
            for end in range(start + 1, len(word) + 1)
            if ("##" if start else "") + word[start:end] in vocabulary
        }
    return steps if reached else 0


def fewest_by_all_ways(word, vocabulary):
    ways = []
    for cuts in range(2 ** (len(word) - 1)):
        ends = [i + 1 for i in range(len(word) - 1) if cuts >> i & 1] + [len(word)]
        starts = [0, *ends[:-1]]
        if all("##" * (a > 0) + word[a:b] in vocabulary for a, b in zip(starts, ends, strict=True)):
            ways.append(len(ends))
    return min(ways, default=0)


def gradient_by_loop(ids, G, V):
    result = torch.zeros(V, G.shape[1])
    for i, g in zip(ids, G, strict=True):
        result[i] += g
    return result


def near_by_similarity(E, k):
    order = F.cosine_similarity(E[:, None], E[None], dim=-1).argsort(dim=1, descending=True)
    return torch.stack([row[row != i][:k] for i, row in enumerate(order)])


def near_by_sorting(E, k):
    def cosine(i, j):
        return float(E[j] @ E[i] / (E[j].norm() * E[i].norm()))

    ids = range(len(E))
    return [sorted((j for j in ids if j != i), key=lambda j, i=i: -cosine(i, j))[:k] for i in ids]


RIGHT = {
    "count_pairs": named(pairs_in_a_plain_dict, pairs_by_elements),
    "learn": named(learned_by_recursion, learned_by_own_means),
    "encode": named(encoded_by_rank, encoded_on_a_stack),
    "tokens_saved": named(saved_by_text, saved_by_recursion),
    "words_from_pieces": named(words_by_tuple, words_by_starts),
    "fewest_pieces": named(fewest_by_breadth, fewest_by_all_ways),
    "embedding_gradient": named(gradient_by_loop)
    | {
        "gradient_by_one_hot": lambda ids, G, V: F.one_hot(ids, V).to(G.dtype).T @ G,
    },
    "nearest_words": named(near_by_similarity, near_by_sorting),
}
