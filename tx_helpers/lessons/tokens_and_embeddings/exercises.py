"""Exercises on tokens and embeddings."""

import itertools
import math
from collections import Counter
from functools import partial

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions
from tx_helpers.lessons.tokens_and_embeddings.fusing import join

# --- counting pairs (in the text) ------------------------------------------------------------------------------------


def _sorted_counts(answer, spelled):
    """The counts as one text, in a fixed order: a dict or a Counter, and pairs that do not occur may be left in."""
    counts = answer(spelled)
    if not isinstance(counts, dict):
        return counts
    return ", ".join(sorted(f"{pair!r}: {float(times):g}" for pair, times in counts.items() if times))


counting = Exercise(
    "count_pairs",
    inline=True,
    title="Count the pairs, step 1 of 2",
    goal="`spelled` maps each word, a tuple of pieces, to how often the word occurs. Count the pairs of neighbours: "
    "return a dict (or a Counter) from each pair, a tuple of two pieces, to how often it occurs in the text. A pair "
    "in a word counts as often as the word occurs. There are no pairs across two words.",
    difficulty=1,
    minutes=6,
    run=_sorted_counts,
    cases=lambda: [
        ({("t", "e", "n"): 6, ("t", "e", "n", "s"): 2},),
        ({("a", "a", "a"): 2, ("b", "a"): 3, ("a", "b", "a"): 1},),
        ({("e", "in"): 2, ("ei", "n"): 5, ("x",): 4, ("in", "e", "in"): 1},),
    ],
    hints=(
        "Two loops: one over the words with their counts, and inside it one over the neighbours in a word.",
        "`itertools.pairwise(word)` gives the neighbours. A `Counter` begins at 0 for every pair.",
        "for word, times in spelled.items(): for pair in pairwise(word): counts[pair] += times",
    ),
)


@counting.solution
def count_pairs(spelled):
    """Counts of the pairs of neighbours; spelled: tuple of pieces -> how often the word occurs."""
    counts = Counter()
    for word, times in spelled.items():
        for pair in itertools.pairwise(word):
            counts[pair] += times
    return counts


counting.slips("""
words_counted_once    += times → += 1
  You counted each word of the list once. Add `times`, since the word occurs that often in the text.
once_in_each_word    itertools.pairwise(word) → set(itertools.pairwise(word))
  You counted a pair once in a word that contains it twice. In “aaa” the pair a a occurs two times.
order_forgotten    counts[pair] → counts[tuple(sorted(pair))]
  You counted (a, b) and (b, a) as one pair. The left piece and the right piece are different places.
last_pair_missed    pairwise(word) → pairwise(word[:-1])
  Your loop ends one pair too early: the last two pieces of a word are neighbours, too.
letters_compared    pairwise(word) → pairwise("".join(word))
  You counted pairs of letters. After the first merge a piece can be longer than a letter: pair the pieces.
joined_keys    counts[pair] → counts["".join(pair)]
  Your keys are joined texts. Keep the two pieces apart in a tuple: “e”+“in” and “ei”+“n” are different.
across_words    return count_pairs(spelled) + Counter((a[-1], b[0]) for a, b in itertools.pairwise(spelled))
  You also counted pairs across two words. No token may hold the end of one word and the start of the next.
across_words_by_the_second    return count_pairs(spelled)
      + Counter({(a[-1], b[0]): spelled[b] for a, b in itertools.pairwise(spelled)})
  You carried the last piece of a word over to the next. A pair lies within a word: begin anew with each.
text_in_one_row    return Counter(itertools.pairwise([piece for word, times in spelled.items() for _ in range(times)
      for piece in word]))
  You wrote all words in a row and counted its neighbours, so the end of a word and the start of the next are a pair.
  Count inside each word.
each_pair_once    return dict.fromkeys(count_pairs(spelled), 1)
  Every pair has the count 1: you only noted that it occurs. Add `times` for each place where it stands.
over_the_end    itertools.pairwise(word) → [word[i : i + 2] for i in range(len(word))]
  Your window word[i : i + 2] runs over the end: the last one holds a single piece. Stop at len(word) − 1.
last_word_left    += times → = times
  You set the count in place of adding to it: of a pair in several words only the last word is left.
""")


# --- filling the vocabulary (in the text) ----------------------------------------------------------------------------


def _vocabulary_and_merges(answer, spelled, letters, size):
    """The answer as one text: its pieces, and its merges (tuples or lists of two)."""
    found = answer(dict(spelled), list(letters), size, count_pairs, join)
    try:
        pieces, merges = found
        return f"{' '.join(pieces)}; {' '.join(f'{left}+{right}' for left, right in merges)}"
    except (TypeError, ValueError):
        return found


learning = Exercise(
    "learn",
    inline=True,
    title="Merge until the vocabulary is full, step 2 of 2",
    goal="The pieces begin with the `letters`, and `spelled` is as in step 1. Until there are `size` pieces: count the "
    "pairs with `count_pairs(spelled)`, take the most frequent one, note it as a merge, append the new piece, and join "
    "the pair in every word with `join(word, pair)`. Of equally frequent pairs, take the one whose left piece stands "
    "earlier in the list of pieces; if that is the same piece, whose right one does. Stop early if no pair is left. "
    "Return the list of all pieces and the list of the merges, which are pairs.",
    difficulty=2,
    minutes=12,
    run=_vocabulary_and_merges,
    cases=lambda: [
        ({tuple("ten"): 6, tuple("tens"): 2, tuple("hen"): 4, tuple("men"): 5, tuple("often"): 3}, "efhmnost", 13),
        ({tuple("ab"): 2, tuple("ca"): 2, tuple("bd"): 2, tuple("cab"): 1, tuple("dab"): 1}, "abcd", 8),
        ({tuple("aaab"): 3, tuple("bab"): 2, tuple("abab"): 2}, "ab", 6),
        ({tuple("xy"): 1, tuple("yx"): 1, tuple("zy"): 1, tuple("zx"): 1}, "zyx", 6),
        ({tuple("no"): 4, tuple("on"): 1}, "no", 9),
        ({tuple("ac"): 2, tuple("ab"): 2}, "abc", 4),
    ],
    hints=(
        "One loop. Each turn has four lines: count, choose, note, join.",
        "`min(counts, key=…)` chooses, if the key of a pair is a tuple: minus its count, then the places of its two "
        "pieces in the list, `pieces.index(pair[0])` and `pieces.index(pair[1])`.",
        "while len(pieces) < size and (counts := count_pairs(spelled)): best = min(counts, key=…); then append best "
        "and its joined text, and spelled = {join(word, best): times for word, times in spelled.items()}",
    ),
)


@learning.solution
def learn(spelled, letters, size, count_pairs, join):
    """All pieces (a list) and the merges (a list of pairs) when there are `size` pieces, or no pair is left."""
    pieces, merges = list(letters), []
    while len(pieces) < size and (counts := count_pairs(spelled)):
        best = min(counts, key=lambda pair: (-counts[pair], pieces.index(pair[0]), pieces.index(pair[1])))
        merges.append(best)
        pieces.append("".join(best))
        spelled = {join(word, best): times for word, times in spelled.items()}
    return pieces, merges


learning.slips("""
ties_as_they_come    , pieces.index(pair[0]), pieces.index(pair[1])) → ,)
  Pairs that occur equally often: you took the one that was counted first. The order of the pieces decides, so that
  everybody gets the same vocabulary.
ties_by_the_alphabet    pieces.index(pair[0]), pieces.index(pair[1]) → pair
  Pairs that occur equally often: you took the first in the alphabet. What counts is the place of a piece in the list of
  pieces, where new ones stand at the end.
ties_by_the_right_piece    pieces.index(pair[0]), pieces.index(pair[1]) → pieces.index(pair[1]), pieces.index(pair[0])
  Pairs that occur equally often: you compared the right pieces first. The left piece comes first.
ties_by_the_left_piece_alone    , pieces.index(pair[1]) →
  With the same left piece, the right one decides. You took the pair that was counted first.
last_of_ties    pieces.index(pair[0]), pieces.index(pair[1]) → -pieces.index(pair[0]), -pieces.index(pair[1])
  Pairs that occur equally often: you took the one whose pieces stand latest in the list, not earliest.
last_counted_of_ties    min(counts, key → min(reversed(list(counts)), key ;
      , pieces.index(pair[0]), pieces.index(pair[1])) → ,)
  Pairs that occur equally often: you took the one counted last. The places in the list decide.
rarest_first    -counts[pair] → counts[pair]
  You joined the rarest pair: the key of `min` needs minus the count, or use `max`.
one_too_many    < size → <= size
  You have one piece too many: stop as soon as there are `size` pieces, letters among them.
one_too_few    < size → < size - 1
  You stop one piece too early: the vocabulary has `size` pieces in the end, letters among them.
letters_not_counted    len(pieces) < size → len(merges) < size
  You made `size` merges. The letters are pieces, too: there are `size` pieces in all.
counted_only_once    merges = list(letters), [] → merges = list(letters), [] ⏎ counts = count_pairs(spelled) ;
      and (counts := count_pairs(spelled)) → and counts ; merges.append(best) → merges.append(best) ⏎ del counts[best]
  You counted only once, before the loop. After each merge there are new neighbours: count again.
words_never_joined    spelled = {join(word, best): times for word, times in spelled.items()} →
  You never joined the pair in the words, so the same pair wins again: assign the joined words.
new_piece_in_front    pieces.append( → pieces.insert(0,
  You put the new piece in front of the others. It goes to the end: ids never change.
letters_left_out    return pieces → return pieces[len(letters) :]
  You returned the new pieces without the letters. The vocabulary has both, the letters first.
""")


# --- encoding a word (in the text) -----------------------------------------------------------------------------------

encoding = Exercise(
    "encode",
    inline=True,
    title="Encode a new word",
    goal="Cut a new word: `word` is a tuple of letters, `merges` a list of pairs in the order in which they were "
    "learned. Apply them in this order, each one everywhere in the word, and return the tuple of pieces that is left. "
    "`join(word, pair)` does one merge, as in step 2.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (tuple("tent"), [("e", "n"), ("t", "en"), ("m", "en"), ("h", "en")]),
        (tuple("hunter"), [("n", "t"), ("u", "n"), ("e", "r")]),
        (tuple("banana"), [("a", "n"), ("an", "a"), ("b", "an"), ("n", "a")]),
        (tuple("aaaaa"), [("a", "a"), ("aa", "aa")]),
        (tuple("banban"), [("b", "a"), ("a", "n"), ("ba", "n")]),
        (tuple("tannas"), [("n", "a"), ("t", "a")]),
    ],
    hints=(
        "One loop over the merges. After each of them the word has new pieces, on which the next merge works.",
        "`word = join(word, pair)` for each pair in turn; and the result comes after the loop.",
        "for pair in merges: word = join(word, pair); then return word",
    ),
)


@encoding.solution
def encode(word, merges):
    """Pieces (a tuple) of a word (a tuple of letters) after all merges (pairs), in their order."""
    for pair in merges:
        pieces, i = [], 0
        while i < len(word):
            size = 2 if word[i : i + 2] == pair else 1
            pieces.append("".join(word[i : i + size]))
            i += size
        word = tuple(pieces)
    return word


encoding.slips("""
backwards    return encode(word, merges[::-1])
  You applied the merges from the last to the first. A later merge needs the pieces of the earlier ones.
longest_first    = _longest
  You took the leftmost pair or the longest piece that fits. Byte pairs follow the order of the merges.
boundaries_lost    = _by_text
  You replaced inside a text: then a pair also fits the end of a longer piece. Compare whole pieces.
either_order    return encode(word, [p for pair in merges for p in (pair, pair[::-1])])
  You also joined right before left. The merge (t, a) joins t and a in “ta”, but not in “at”.
first_merge_only    in merges: → in merges[:1]:
  Only the first merge was applied: perhaps your `return` stands inside the loop.
letters_left    return word
  Your result is still the letters: assign what the merge returns to `word`.
first_place_only    = 2 if word[i : i + 2] == pair → = 2 if word[i : i + 2] == pair and "".join(pair) not in pieces
  You merged a pair at its first place only. A merge joins it everywhere in the word.
""")


def _longest(word, merges):
    """The longest piece that fits, again and again."""
    pieces, rest = [], "".join(word)
    vocabulary = {*rest, *map("".join, merges)}
    while rest:
        pieces.append(next(rest[:n] for n in range(len(rest), 0, -1) if rest[:n] in vocabulary))
        rest = rest[len(pieces[-1]) :]
    return tuple(pieces)


def _by_text(word, merges):
    """Merges done in a text with spaces, which do not see where a piece begins."""
    text = " ".join(word)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return tuple(text.split(" "))


# --- a merge ---------------------------------------------------------------------------------------------------------

saved = Exercise(
    "tokens_saved",
    title="What a merge saves",
    goal="`words` maps each word of a text, a tuple of pieces, to how often it occurs; every piece is a token. `pair` "
    "= (left, right) is two pieces. Wherever in a word left is followed by right, the two are merged into one piece. "
    "By how many tokens does the text become shorter? Compare pieces, not letters: (e, in) does not occur in (ei, n). "
    "Go through each word from left to right; a piece just merged is not merged again. Return an integer.",
    difficulty=2,
    minutes=10,
    source="one step of Sennrich et al. 2016, algorithm 1",
    formula=r"\text{tokens before} - \text{tokens after}",
    cases=lambda: [
        ({("e", "i", "n"): 3, ("e", "i", "n", "s"): 2}, ("i", "n")),
        ({("a", "a", "a"): 2, ("b", "a", "a", "a", "a"): 1, ("a",): 9}, ("a", "a")),
        ({("b", "o", "b", "o"): 4, ("r", "o", "b"): 3, ("o", "b", "o", "e"): 5}, ("b", "o")),
        ({("e", "in"): 2, ("ei", "n"): 1, ("he", "in"): 1}, ("e", "in")),
    ],
    hints=(
        "Each merge makes one token of two: how many merges are there?",
        "Go through a word with an index: after a merge it moves on by two, otherwise by one. Try “aaa”.",
        "total += times for every place where word[i : i + 2] == pair; then i += 2, else i += 1",
    ),
)


@saved.solution
def tokens_saved(words, pair):
    """Number of tokens by which the text shrinks; words: tuple of pieces -> how often it occurs."""
    total = 0
    for word, times in words.items():
        i = 0
        while i < len(word):
            hit = word[i : i + 2] == pair
            total += times if hit else 0
            i += 2 if hit else 1
    return total


saved.slips("""
overlaps_counted    return sum(times * list(itertools.pairwise(word)).count(pair) for word, times in words.items())
  You counted overlapping pairs: in “aaa” the pair a a occurs twice, but only one of the two can be merged.
letters_searched    return sum(times * "".join(word).count("".join(pair)) for word, times in words.items())
  You searched the letters. (e, in) is not in (ei, n): compare piece by piece.
spaced_text_searched    return sum(times * " ".join(word).count(" ".join(pair)) for word, times in words.items())
  You searched a text with spaces, where “he in” contains “e in”. Compare whole pieces.
words_counted_once    += times if → += 1 if
  You counted each different word once. A word saves its tokens every time it occurs.
once_in_each_word    return sum(times * min(1, tokens_saved({word: 1}, pair)) for word, times in words.items())
  You counted one merge for each word that contains the pair; it may contain the pair several times.
two_for_each_join    += times → += 2 * times
  You counted two tokens for each merge. Two become one, so one is saved.
tokens_left    return sum(times * len(word) for word, times in words.items()) - tokens_saved(words, pair)
  This is how many tokens are left, not how many are saved.
last_pair_missed    word[i : i + 2] == → word[:-1][i : i + 2] ==
  Your loop ends too early: the last two pieces of a word can be a pair, too.
either_order    == pair → in (pair, pair[::-1])
  You also merged the pair in the other order, right before left: the order matters.
""")


# --- pieces back to words --------------------------------------------------------------------------------------------

back = Exercise(
    "words_from_pieces",
    title="And back",
    goal="From pieces back to words: `pieces` is a list, never empty, as WordPiece writes it. A piece with ## in "
    "front continues the word before it, any other piece begins a word. The first piece always begins a word, even "
    "one with ## in front. Return the list of words without these marks. (A # elsewhere is a letter like any other.)",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (["ein", "##hund", "##ert", "und"],),
        (["zwei"],),
        (["seven", "##teen", "of", "##ten", "##s", "ten", "ten"],),
        (["#", "##1", "c#"],),
        (["##ten", "und", "##s"],),
    ],
    hints=(
        "Two ways: a loop that builds a list of words, or all pieces in one text, with a space before each.",
        'In the loop: does piece.startswith("##")? Then it continues the last word, if there is one. In the text: '
        "what stands before a ## that continues a word?",
        'In a loop words[-1] += piece[2:], else words.append(piece.removeprefix("##")); or " ".join(pieces).replace(" '
        '##", ""), and then the first mark, and split(" ").',
    ),
)


@back.solution
def words_from_pieces(pieces):
    """Words (a list of text) of a list of word pieces."""
    return " ".join(pieces).replace(" ##", "").removeprefix("##").split(" ")


back.slips("""
nothing_joined    return [piece.removeprefix("##") for piece in pieces]
  You removed the ## but joined nothing: each piece has become a word.
all_in_one    return ["".join(piece.removeprefix("##") for piece in pieces)]
  All pieces have become one word. A piece without ## begins a new word.
first_pieces_alone    return [piece for piece in pieces if not piece.startswith("##")]
  The pieces with ## are missing: only the first piece of every word is left.
letters_stripped    return [word.strip("#") for word in words_from_pieces(pieces)]
  strip("#") also takes a # that is a letter, as in “c#”. Take the two in front: removeprefix("##").
last_word_lost    return words_from_pieces(pieces)[:-1] if len(pieces) > 1 else words_from_pieces(pieces)
  Your last word is missing: append the word that is being built when the loop ends.
first_mark_left_in    return " ".join(pieces).replace(" ##", "").split(" ")
  A ## in front of the first piece is still in your first word. That piece begins a word, with or without the mark.
marks_left_in    replace(" ##", "").removeprefix("##") → replace(" ##", "##")
  The ## is still in your words: it is a mark of the tokenizer and not part of the text.
joined_to_the_next    return "".join(piece.removeprefix("##") + " " * (not piece.startswith("##")) for piece in
      pieces).strip(" ").split(" ")
  You read ## as “continues after this piece”. It says that the piece continues the word before it.
""")


# --- the fewest pieces -----------------------------------------------------------------------------------------------

fewest = Exercise(
    "fewest_pieces",
    title="How few pieces would do?",
    goal="WordPiece always takes the longest piece that fits, which need not give the fewest pieces. What is the "
    "smallest number of pieces of `vocabulary` (a set) into which `word` can be cut, with no letter left over? As "
    "before, a piece that does not begin the word is listed with ## in front; a piece may be used more than once. "
    "Return an integer, 0 if the word cannot be cut at all.",
    difficulty=3,
    minutes=15,
    cases=lambda: [
        ("hund", {"h", "hun", "##und", "##d", "##u", "##n"}),
        ("einhundert", {"ein", "einh", "##hundert", "##und", "##ert", "##h", "##u", "##n", "##d", "##e", "##r", "##t"}),
        ("zwei", {"zwe", "##zw", "##ei", "ei", "i"}),
        ("aaaaa", {"a", "aa", "aaaa", "##a", "##aaa"}),
        ("drei", {"d", "##rei", "##r", "##ei", "dr", "ei"}),
        ("acht", {"ac", "cht", "##t", "##h", "a", "ht"}),
        ("banana", {"ba", "##na"}),
        ("zwölf", {"z", "##w", "##ö", "##lf", "##l", "##f"}),
        ("fünf", {"fü", "##n", "##f", "##ünf"}),
    ],
    hints=(
        "How few pieces reach the first letter, the second, …? Each number follows from the ones before it.",
        "best[end] is one more than the smallest best[start] for which word[start:end] is a piece (## if start > 0).",
        "best = [0]; for each end from 1 on append min(best[start] + 1 over all fitting starts, default=math.inf)",
    ),
)


@fewest.solution
def fewest_pieces(word, vocabulary):
    """Smallest number of pieces that the word can be cut into, 0 if there is no way."""
    best = [0]  # best[end]: pieces for word[:end]
    for end in range(1, len(word) + 1):
        fits = [start for start in range(end) if "##" * (start > 0) + word[start:end] in vocabulary]
        best.append(min((best[start] + 1 for start in fits), default=math.inf))
    return 0 if best[-1] == math.inf else best[-1]


fewest.slips("""
mark_at_the_start    return fewest_pieces(word, vocabulary | {piece.removeprefix("##") for piece in vocabulary})
  Your word may begin with any piece. One with ## continues a word and cannot begin it.
most_pieces    min → max ; =math.inf → =-math.inf ; math.inf else best → -math.inf else best
  You found the largest number of pieces: max in place of min.
longest_each_time    return _cut(word, vocabulary)
  You took the longest piece each time, as WordPiece does: a shorter one may leave a better rest.
shortest_each_time    = partial(_cut, ends=lambda start, stop: range(start + 1, stop + 1))
  You took the shortest piece each time: that makes many pieces, or gets stuck.
cuts_counted    return max(0, fewest_pieces(word, vocabulary) - 1)
  You counted the cuts between the pieces: there is one piece more than there are cuts.
unknown_as_one    return fewest_pieces(word, vocabulary) or 1
  Where the word cannot be cut you returned 1, as if it were one <unk>. Return 0.
marks_forgotten    "##" * (start > 0) + word[start:end] in vocabulary → word[start:end] in vocabulary
  You looked for later pieces without their ##: “ei” inside a word is not the piece “ei” at its start.
""")


def _cut(word, vocabulary, *, ends=lambda start, stop: range(stop, start, -1)):
    """One piece after the other, the first end that fits: how many there are, 0 if it gets stuck."""
    count = start = 0
    while start < len(word):
        prefix = "##" if start else ""
        end = next((e for e in ends(start, len(word)) if prefix + word[start:e] in vocabulary), None)
        if end is None:
            return 0
        count, start = count + 1, end
    return count


# --- a lookup is a product -------------------------------------------------------------------------------------------

rows = Exercise(
    "embedding_gradient",
    title="Which rows learn?",
    goal="Looking up the ids (T,) in an embedding table (V, D) gave the vectors (T, D) of a sentence, and a loss has "
    "the gradient G (T, D) with respect to these vectors. Return its gradient (V, D) with respect to the table, "
    "without autograd. An id may occur more than once, and most of the V words do not occur at all.",
    difficulty=2,
    minutes=10,
    formula=r"\frac{\partial L}{\partial E} = X^\top G,\qquad X_{t,v} = \mathbb 1[\mathrm{ids}_t = v]",
    source="the lookup is the product X E with one-hot rows X",
    cases=lambda: [
        (torch.tensor([1, 3, 1]), torch.tensor([[1.0, 0.0], [0.0, 2.0], [5.0, 0.0]]), 4),
        (torch.tensor([0, 2, 2, 4, 2, 0]), *random_tensors((6, 3), seed=0), 7),
    ],
    picture=True,
    hints=(
        "A word that does not occur does not affect the loss: its row is zero.",
        "A word that occurs twice gets two contributions. What happens to them?",
        "torch.zeros(V, D).index_add(0, ids, G)",
    ),
)


@rows.solution
def embedding_gradient(ids, G, V):
    """Gradient (V, D) of the table for ids (T,) and the gradient G (T, D) of the looked-up rows."""
    return torch.zeros(V, G.shape[1]).index_add(0, ids, G)


rows.slips("""
spread_to_all    return embedding_gradient(ids, G, V) + G.mean(dim=0)
  Every row of your result has a gradient. The rows of words that do not occur must be zero.
counted    return embedding_gradient(ids, torch.ones_like(G), V)
  You counted the words in place of adding their gradients: each row says how often its word occurs.
downhill    return -embedding_gradient(ids, G, V)
  Your sign is wrong: this is the direction of a descent step, not the gradient.
assigned    return torch.zeros(V, G.shape[1]).index_add(0, ids, G) → result = torch.zeros(V, G.shape[1]) ⏎
      result[ids] = G ⏎ return result
  You assigned with E[ids] = G or E[ids] += G: both write one row for each id, so of a word that occurs twice only the
  last gradient is left. They have to be added.
first_one_alone    return torch.zeros(V, G.shape[1]).index_add(0, ids, G) → result = torch.zeros(V, G.shape[1]) ⏎
      result[ids.flip(0)] = G.flip(0) ⏎ return result
  For a word that occurs several times you used only the first gradient; all of them have to be added.
averaged    return embedding_gradient(ids, G, V) / torch.bincount(ids, minlength=V).clamp(min=1)[:, None]
  You took the mean over a word's occurrences. All of them read the same row, so its gradient is the sum.
""")


# --- neighbours ------------------------------------------------------------------------------------------------------

near = Exercise(
    "nearest_words",
    title="Every word's neighbours",
    goal="For every row of the table E (V, D), find the ids of the k words whose vectors have the largest cosine with "
    "it, the nearest first. Leave out the word itself (but no other word in the same direction). k is less than V, "
    "and no row is zero. Return integers (V, k).",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (torch.tensor([[1.0, 0.0], [5.0, 4.0], [0.9, 0.1], [-1.0, 0.0], [0.2, 0.3]]), 2),
        (torch.tensor([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.9, 1.0]]), 1),
        (*random_tensors((8, 3), seed=1), 3),
        (random_tensors((9, 4), seed=2)[0] * torch.arange(1.0, 10.0)[:, None], 4),
    ],
    hints=(
        "A cosine is a dot product of vectors of length 1. All of them at once are one product of matrices, (V, V).",
        "Where does a word meet itself in that matrix? Put −∞ there before you sort.",
        "unit = E / E.norm(dim=-1, keepdim=True); (unit @ unit.T).fill_diagonal_(−∞).topk(k).indices",
    ),
)


@near.solution
def nearest_words(E, k):
    """Ids (V, k) of the words nearest to each word of E (V, D) by cosine, itself left out."""
    unit = E / E.norm(dim=-1, keepdim=True)
    cosines = (unit @ unit.T).fill_diagonal_(-float("inf"))
    return cosines.topk(k).indices


near.slips("""
first_neighbour_dropped    topk(k).indices → topk(k + 1).indices[:, 1:]
  You left out the word itself twice, by −∞ and by dropping the first column: the nearest one is missing.
by_dot_product    E / E.norm(dim=-1, keepdim=True) → E
  You took dot products: long vectors win, whatever their direction. A cosine divides by both lengths.
by_distance    (unit @ unit.T) → (-torch.cdist(E, E))
  You took the nearest by distance: a longer vector in the same direction is far away by that measure.
zero_for_itself    -float("inf") → 0
  You put 0 where a word meets itself. A cosine can be below 0, and then the word is still in its own list: put −∞.
itself_included    .fill_diagonal_(-float("inf")) →
  Each word is in its own list, as its own nearest neighbour with the cosine 1.
first_column_dropped    .fill_diagonal_(-float("inf")) → ; topk(k).indices →
      argsort(descending=True, stable=True)[:, 1 : k + 1]
  You dropped the first column, as if a word always came first in its own list. Another word in the same direction also
  has the cosine 1, and may come before it.
first_of_more_dropped    .fill_diagonal_(-float("inf")) → ; topk(k).indices → topk(k + 1).indices[:, 1:]
  You took k + 1 words and dropped the first, not the word itself. That is wrong where two words have the same
  direction: both have the cosine 1, and either may come first. Put −∞ where a word meets itself.
furthest_first    (unit @ unit.T) → (-unit @ unit.T)
  Your lists hold the furthest words: the smallest cosines in place of the largest.
sign_dropped    (unit @ unit.T) → (unit @ unit.T).abs()
  You took the absolute value of the cosine: opposite directions then count as near.
columns_normalised    dim=-1 → dim=0
  You normalised the columns of E. The words' vectors are its rows.
""")


QUIZ = questions("""
Byte-pair encoding begins with letters or bytes. Which pair does it join first?
  - The one that makes the longest piece | All first pieces are two symbols long.
  - The first in the alphabet | That only decides between equals.
  * The one that occurs most often | Counted over the text, each word as often as it occurs.
Can a byte-level tokenizer meet an unknown word?
  * No | In the worst case it cuts the word into bytes, and all 256 of them are in the vocabulary.
  - Yes, if it was not in the training text | It cuts such a word into smaller pieces, all of them known.
  - Only in other languages | Their letters are bytes as well: ü is two, a Chinese sign three.
Looking up a row of the embedding is the same as …
  - a softmax over all rows | A softmax would mix all rows; a lookup returns exactly one.
  * a product with a one-hot vector | Zeros, and a 1 at the place of the id, pick that row.
  - a convolution | A convolution mixes neighbouring words; a lookup treats each word alone.
A word does not occur in a batch. What does plain gradient descent do to its row?
  * Nothing | Its gradient is exactly 0.
  - It shrinks it a little | Weight decay would do so; plain gradient descent has none.
  - It moves it like the others | Only rows that were looked up have a gradient.
A larger vocabulary is always better, isn't it?
  - Yes: the texts become shorter | They do, less and less, while the table doubles each time; and rare pieces are
    hardly trained.
  - No, the smallest is best | Then the texts are long, and attention costs their square.
  * No, it is a trade-off | Shorter texts against rarer tokens and a larger table: measure where it pays.
What does the output layer of a translator choose among?
  - All sentences | There are too many; it writes one token at a time.
  * The tokens of the target's vocabulary | It gives each of them a score at every step; they are pieces or words,
    as the tokenizer has them.
  - The words of the source | Those are what it reads; it writes in another vocabulary.
""")
