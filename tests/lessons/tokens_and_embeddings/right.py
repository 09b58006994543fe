"""Right answers to the lesson's exercises in unusual forms: all must pass."""

from collections import Counter
from itertools import pairwise

import numpy as np
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


def pairs_of_the_whole_list(spelled):
    pairs = {pair for word in spelled for pair in pairwise(word)}
    return {pair: sum(times * list(pairwise(word)).count(pair) for word, times in spelled.items()) for pair in pairs}


def pairs_with_zeros(spelled):
    pieces = {piece for word in spelled for piece in word}
    counts = {(left, right): np.int64(0) for left in pieces for right in pieces}
    for word, times in spelled.items():
        for left, right in pairwise(word):
            counts[left, right] += times
    return counts


def learned_with_ids(spelled, letters, size, count_pairs, join):
    ids = {letter: i for i, letter in enumerate(letters)}
    merges = []
    for new in range(len(ids), size):
        counts = count_pairs(spelled)
        if not counts:
            break
        most = max(counts.values())
        best = sorted((ids[a], ids[b], (a, b)) for (a, b), n in counts.items() if n == most)[0][2]
        ids[best[0] + best[1]] = new
        merges.append(list(best))
        spelled = {join(word, best): n for word, n in spelled.items()}
    return list(ids), merges


def learned_by_sorting(spelled, letters, size, count_pairs, join):
    merges, pieces = [], [*letters]
    while counts := count_pairs(spelled):
        if len(pieces) >= size:
            break
        ranked = sorted(counts, key=lambda p: (pieces.index(p[0]), pieces.index(p[1])))
        ranked.sort(key=counts.__getitem__, reverse=True)  # a stable sort keeps the order of equals
        merges += ranked[:1]
        pieces += [ranked[0][0] + ranked[0][1]]
        spelled = dict(zip([join(word, ranked[0]) for word in spelled], spelled.values(), strict=True))
    return tuple(pieces), tuple(merges)


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


def encoded_by_recursion(word, merges):
    def join(word, pair):
        if len(word) < 2:
            return word
        return (pair[0] + pair[1], *join(word[2:], pair)) if word[:2] == pair else (word[0], *join(word[1:], pair))

    return encoded_by_recursion(join(word, merges[0]), merges[1:]) if merges else word


def encoded_on_a_stack(word, merges):
    for pair in merges:
        stack = []
        for piece in word:
            stack.append(stack.pop() + piece if stack and (stack[-1], piece) == tuple(pair) else piece)
        word = stack
    return tuple(word)


def encoded_by_pattern(word, merges):
    import re

    text = " ".join(word)
    for pair in merges:
        text = re.sub(rf"(?<!\S){re.escape(' '.join(pair))}(?!\S)", "".join(pair), text)
    return text.split()


def saved_by_text(words, pair):
    import re

    pattern = re.compile(rf"(?<!\S){re.escape(' '.join(pair))}(?!\S)")
    return sum(times * len(pattern.findall(" ".join(word))) for word, times in words.items())


def saved_by_joining(words, pair):
    def join(word):
        joined = []
        for piece in word:
            if joined and (joined[-1], piece) == pair:
                joined[-1] += piece
            else:
                joined.append(piece)
        return joined

    return sum((len(word) - len(join(word))) * times for word, times in words.items())


def saved_by_recursion(words, pair):
    def joins(word):
        if len(word) < 2:
            return 0
        return 1 + joins(word[2:]) if word[:2] == pair else joins(word[1:])

    return torch.tensor([times * joins(word) for word, times in words.items()]).sum()


def saved_by_repetition(words, pair):
    saved = 0
    for word in Counter(words).elements():
        skip = False
        for neighbours in pairwise(word):
            skip = neighbours == pair and not skip
            saved += skip
    return saved


def words_by_replace(pieces):
    return "".join(f" {piece}" for piece in pieces).replace(" ##", "").split()


def words_by_tuple(pieces):
    words = ()
    for piece in pieces:
        words = (*words[:-1], "".join(words[-1:]) + piece[2:]) if piece[:2] == "##" else (*words, piece)
    return words


def words_from_the_end(pieces):
    words, rest = [], ""
    for i in reversed(range(len(pieces))):
        rest = pieces[i].removeprefix("##") + rest
        if i == 0 or not pieces[i].startswith("##"):
            words.insert(0, rest)
            rest = ""
    return words


def words_by_starts(pieces):
    starts = [i for i, piece in enumerate(pieces) if i == 0 or not piece.startswith("##")] + [len(pieces)]
    return ["".join(piece.removeprefix("##") for piece in pieces[a:b]) for a, b in pairwise(starts)]


def fewest_by_recursion(word, vocabulary):
    def fewest(start):
        if start == len(word):
            return 0
        fits = [e for e in range(start + 1, len(word) + 1) if "##" * (start > 0) + word[start:e] in vocabulary]
        return min((1 + fewest(end) for end in fits), default=float("inf"))

    count = fewest(0)
    return int(count) if count < float("inf") else 0


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


def fewest_in_numpy(word, vocabulary):
    best = np.full(len(word) + 1, np.inf)
    best[0] = 0
    for start in range(len(word)):
        for piece in vocabulary:
            plain = piece.removeprefix("##")
            if piece.startswith("##") == (start > 0) and word.startswith(plain, start):
                best[start + len(plain)] = min(best[start + len(plain)], best[start] + 1)
    return int(best[-1]) if np.isfinite(best[-1]) else 0


def gradient_by_loop(ids, G, V):
    result = torch.zeros(V, G.shape[1])
    for i, g in zip(ids, G, strict=True):
        result[i] += g
    return result


def gradient_by_autograd(ids, G, V):
    E = torch.zeros(V, G.shape[1], requires_grad=True)
    E[ids].backward(G)
    return E.grad


def gradient_in_numpy(ids, G, V):
    result = np.zeros((V, G.shape[1]))
    np.add.at(result, ids.numpy(), G.numpy())
    return result


def near_by_similarity(E, k):
    order = F.cosine_similarity(E[:, None], E[None], dim=-1).argsort(dim=1, descending=True)
    return torch.stack([row[row != i][:k] for i, row in enumerate(order)])


def near_by_sorting(E, k):
    def cosine(i, j):
        return float(E[j] @ E[i] / (E[j].norm() * E[i].norm()))

    ids = range(len(E))
    return [sorted((j for j in ids if j != i), key=lambda j, i=i: -cosine(i, j))[:k] for i in ids]


def near_in_numpy(E, k):
    E = E.numpy() / np.linalg.norm(E.numpy(), axis=1, keepdims=True)
    cosines = E @ E.T
    np.fill_diagonal(cosines, -2)
    return np.argsort(-cosines, axis=1)[:, :k]


def near_with_itself_lowered(E, k):
    unit = F.normalize(E.double(), dim=1)
    return (unit @ unit.mT - 9 * torch.eye(len(E))).sort(descending=True).indices[:, :k]


RIGHT = {
    "count_pairs": named(pairs_in_a_plain_dict, pairs_by_elements, pairs_of_the_whole_list, pairs_with_zeros),
    "learn": named(learned_with_ids, learned_by_sorting, learned_by_recursion, learned_by_own_means),
    "encode": named(encoded_by_rank, encoded_by_recursion, encoded_on_a_stack, encoded_by_pattern),
    "tokens_saved": named(saved_by_text, saved_by_joining, saved_by_recursion, saved_by_repetition),
    "words_from_pieces": named(words_by_replace, words_by_tuple, words_from_the_end, words_by_starts),
    "fewest_pieces": named(fewest_by_recursion, fewest_by_breadth, fewest_by_all_ways, fewest_in_numpy),
    "embedding_gradient": named(gradient_by_loop, gradient_by_autograd, gradient_in_numpy)
    | {
        "gradient_by_one_hot": lambda ids, G, V: F.one_hot(ids, V).to(G.dtype).T @ G,
    },
    "nearest_words": named(near_by_similarity, near_by_sorting, near_in_numpy, near_with_itself_lowered),
}
