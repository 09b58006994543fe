"""Exercises on positional encodings."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions
from tx_helpers.nn.positions import sinusoidal

# --- the table of sinusoids ------------------------------------------------------------------------------------------

table = Exercise(
    "sinusoid_table",
    inline=True,
    title="The table of sinusoids",
    goal="Return the table (T, D) of sinusoidal positions 0 … T − 1, with base 10,000. D may be odd: then the last "
    "column is a sine that has no cosine beside it.",
    difficulty=2,
    minutes=10,
    formula=r"PE(p, 2i) = \sin\frac{p}{10000^{2i/D}},\qquad PE(p, 2i+1) = \cos\frac{p}{10000^{2i/D}}",
    source="Vaswani et al. 2017, section 3.5",
    cases=lambda: [(2, 4), (3, 5), (11, 8), (6, 7)],
    picture=True,
    hints=(
        "One angle for each position and each pair of columns: an outer product of positions and frequencies.",
        "i counts pairs: torch.arange(0, D, 2) holds 2i for each of them already. It has (D + 1) // 2 entries.",
        "Fill table[:, 0::2] with the sines and table[:, 1::2] with as many of the cosines as fit, D // 2.",
    ),
)


@table.solution
def sinusoid_table(T, D):
    """Table (T, D): the sine in the even columns, the cosine in the odd ones."""
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)  # (T, pairs)
    result = torch.zeros(T, D)
    result[:, 0::2] = angles.sin()
    result[:, 1::2] = angles[:, : D // 2].cos()
    return result


table.slips("""
exponent_halved    torch.arange(0, D, 2) → torch.arange((D + 1) // 2)
  Your exponent is i/D, half of 2i/D: the wavelengths grow too slowly. torch.arange(0, D, 2) is 2i.
exponent_doubled    torch.arange(0, D, 2) → 2 * torch.arange(0, D, 2)
  Your exponent is doubled: torch.arange(0, D, 2) is 2i already, and you took twice that. The wavelengths grow too fast.
sine_and_cosine_swapped    angles.sin() → angles.cos() ; .cos() → .sin()
  Sine and cosine are swapped: the even columns 0, 2, 4 … hold the sine, so position 0 begins with 0.
in_halves    result[:, 0::2] → result[:, : (D + 1) // 2] ; result[:, 1::2] → result[:, (D + 1) // 2 :]
  Your table has all sines on the left and all cosines on the right. In the formula they alternate, column by column.
frequency_for_each_column    torch.arange(0, D, 2) / D → torch.arange(D) / D ; angles.sin() → angles[:, 0::2].sin() ;
      angles[:, : D // 2].cos() → angles[:, 1::2].cos()
  Each of your columns has its own wavelength. A sine and the cosine beside it share one (2i for both), so that the two
  are a point on a circle.
column_for_pair    torch.arange(0, D, 2) / D → 2 * torch.arange(D) / D ; angles.sin() → angles[:, 0::2].sin() ;
      angles[:, : D // 2].cos() → angles[:, 1::2].cos()
  Your exponent holds the column where the formula has the pair: in 2i/D, i counts pairs, so 2i is 0, 2, 4 …
positions_from_one    torch.arange(T) → torch.arange(1, T + 1)
  Your positions begin at 1. The first row, position 0, is 0, 1, 0, 1 …: sin 0 and cos 0.
frequencies_upside_down    torch.arange(T)[:, None] / → torch.arange(T).double()[:, None] * ; torch.arange(0, D, 2) / →
      torch.arange(0, D, 2).double() /
  You multiply by 10000^(2i/D) where the formula divides: the later columns oscillate faster and faster, not slower.
multiplied_in_single_precision    [:, None] / → [:, None] *
  You multiplied by 10000^(2i/D), but the clocks must get slower from pair to pair. Divide by it.
sines_alone    .cos() → .sin()
  All your columns hold sines. The odd columns 1, 3, 5 … hold the cosine of the same angle.
base_of_a_thousand    10000 → 1000
  Your base is 1,000: the slow clocks run too fast. The base is 10,000.
angles_in_degrees    torch.arange(T) → torch.arange(T).deg2rad()
  You took your angles for degrees. They are in radians already, as torch.sin expects them.
divided_by_two_less    / D) → / max(D - 2, 1))
  Your exponent is 2i/(D − 2), so the last pair already has the full base. Divide by D, not by D − 2.
last_column_left_out    return result → result[:, D // 2 * 2 :] = 0 ⏎ return result
  For an odd D your last column is empty: there are (D + 1) // 2 sines, one more than cosines. Your table is right for
  even D.
""")


# --- token and place ------------------------------------------------------------------------------------------------

entry = Exercise(
    "model_input",
    inline=True,
    title="Word and position in one vector",
    goal="Make the input of the Transformer of 2017: for ids (B, T) take the rows of the embedding E (V, D), scale "
    "them by √D, and add the positions P (R, D), R ≥ T. Row t of P belongs to token t of every sentence, counted from "
    "0.",
    difficulty=1,
    minutes=6,
    formula=r"x_{b,t} = \sqrt{D}\,E[\mathrm{ids}_{b,t}] + P[t]",
    source="Vaswani et al. 2017, sections 3.4 and 3.5",
    cases=lambda: [
        (torch.tensor([[1, 0]]), torch.tensor([[1.0, 0, 0, 0], [0, 2.0, 0, 0]]), sinusoidal(torch.arange(3), 4)),
        (torch.tensor([[2, 0, 5], [5, 1, 1]]), *random_tensors((7, 6), (6, 6), seed=0)),
        (torch.tensor([[3, 3, 0, 1, 2], [4, 0, 0, 1, 1], [1, 2, 3, 4, 0]]), *random_tensors((5, 3), (8, 3), seed=1)),
    ],
    hints=(
        "E[ids] has the shape (B, T, D). Which rows of P belong to it, and along which axis?",
        "P[:T] is (T, D); added to (B, T, D) it is broadcast over the sentences.",
        "E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[1]]",
    ),
)


@entry.solution
def model_input(ids, E, P):
    """Vectors (B, T, D) for ids (B, T), embedding E (V, D), positions P (R, D)."""
    return E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[1]]


entry.slips("""
along_the_batch    ids.shape[1] → ids.shape[0], None
  Your positions run along the batch: every word of a sentence gets the same one, which depends on the sentence's place
  in the batch.
never_added    return E[ids] * E.shape[1] ** 0.5
  You never added the positions: the same word gives the same vector wherever it stands, and order is lost.
rows_unscaled    return E[ids] + P[: ids.shape[1]]
  You did not scale the embedding. The paper's recipe multiplies it by √D before the position is added, and this
  exercise builds that recipe.
sum_scaled    return (E[ids] + P[: ids.shape[1]]) * E.shape[1] ** 0.5
  You scaled the sum: the positions have grown by √D, too, so the words are no larger beside them than without the
  factor.
last_rows    P[: ids.shape[1]] → P[-ids.shape[1] :]
  You took the last rows of P. The first word has position 0, however long P is.
rows_from_one    P[: ids.shape[1]] → P[1 : ids.shape[1] + 1]
  You began with row 1 of P. Positions are counted from 0: the first word gets P[0].
scaled_by_width    ** 0.5 + P → + P
  You multiplied by D. The factor is its root, √D.
root_of_vocabulary    E.shape[1] → E.shape[0]
  You took the root of the first size of E. That is V, the number of words; D is the second, E.shape[1].
positions_by_id    P[: ids.shape[1]] → P[ids]
  You looked the positions up by the words' ids: P[ids] depends on what a word is, not on where it stands.
divided_by_root    * E.shape → / E.shape
  You divided the embedding by √D in place of multiplying: the words have become smaller still.
""")


# --- how loud is the place? ------------------------------------------------------------------------------------------

share = Exercise(
    "position_share",
    title="How large is the position's share?",
    goal="Word vectors have D independent entries of mean 0 and standard deviation s. A sinusoidal position of width "
    "D (even) is added, unscaled. What share of the expected squared length of the sum is due to the position? Return "
    "a number between 0 and 1. (Find out whether it depends on D.)",
    difficulty=2,
    minutes=8,
    cases=lambda: [(1.0, 4), (1.0, 64), (0.125, 64), (2.0, 6)],
    hints=(
        "Expected squared length of the word's vector: D entries, each with expected square s².",
        "The squared length of a sinusoidal position is fixed: each pair has sin² + cos² = 1, and there are D/2 pairs.",
        "(D/2) / (s²·D + D/2); D cancels.",
    ),
)


@share.solution
def position_share(s, D):
    """Share of the squared length that is the position's, for words of deviation s and width D."""
    return (D / 2) / (s**2 * D + D / 2)


share.slips("""
length_of_position_doubled    return D / (s**2 * D + D)
  You used D as the position's squared length. Each pair gives sin² + cos² = 1, and there are D/2 pairs, so it is D/2.
deviation_not_squared    s**2 → s
  You used s in place of s²: squared lengths grow with the square of the deviation.
words_scaled_up    D + D → D * D + D
  You multiplied the words by √D first. That suits an embedding with s = 1/√D; with s = 1 the scaled words drown the
  position, whose share at D = 64 is below 1 %. Here nothing is scaled.
ratio_for_share    + D / 2 →
  This is the ratio of position to word. For a share, divide by the sum of both.
share_of_the_word    (D / 2) → s**2 * D
  This is the word's share; the position's is 1 minus that.
lengths_not_squared    return (D / 2) ** 0.5 / (s * D**0.5 + (D / 2) ** 0.5)
  You compared the lengths √(D/2) and s√D. The squared lengths add up, because the word has mean 0.
""")


# --- a rotation leads further on -------------------------------------------------------------------------------------

shift = Exercise(
    "shift_matrix",
    title="k positions further on",
    goal="Many programs write the sinusoids in halves: PE(p) has first all D/2 sines, sin pω_0, sin pω_1, …, then all "
    "D/2 cosines, with ω_i = 10000^(−2i/D), i = 0 … D/2 − 1, and D even. Return the matrix M (D, D) with PE(p + k) = "
    "M PE(p) at every position p, in this layout; PE(p) is a column. k is an integer, positive or negative.",
    difficulty=3,
    minutes=15,
    formula=r"\sin(a+b)=\sin a\cos b+\cos a\sin b,\qquad \cos(a+b)=\cos a\cos b-\sin a\sin b",
    source="the two identities that the paper's remark in section 3.5 rests on",
    cases=lambda: [(1, 2), (3, 4), (-2, 6), (10, 8)],
    picture=True,
    hints=(
        "Write sin((p + k)ω) with the first identity, a = pω and b = kω. Which numbers multiply sin pω and cos pω?",
        "Row i gives the new sine i: cos kω_i stands in column i, sin kω_i in the column of cosine i, which is i + "
        "D/2.",
        "With the D/2 angles kω: C = diag(cos), S = diag(sin). M is the block matrix with the rows (C, S) and (−S, C).",
    ),
)


@shift.solution
def shift_matrix(k, D):
    """Matrix M (D, D) with PE(p + k) = M PE(p) for every p; sines first, then cosines."""
    angles = k * 10000.0 ** (-torch.arange(0, D, 2) / D)  # (D/2,)
    C, S = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([C, S], dim=1), torch.cat([-S, C], dim=1)])


shift.slips("""
turned_back    return shift_matrix(k, D).T
  Your matrix shifts by −k: the sines have the wrong sign. The pair is (sin, cos), not (cos, sin), so the usual rotation
  matrix turns it the other way.
cosines_alone    return torch.diag(shift_matrix(k, D).diagonal())
  Only the diagonal is filled: without the sines beside it a pair shrinks in place of turning.
neighbours_paired    return torch.cat([torch.cat([C, S], dim=1), torch.cat([-S, C], dim=1)]) →
      order = torch.arange(D).view(2, -1).T.flatten() ⏎
      return torch.cat([torch.cat([C, S], dim=1), torch.cat([-S, C], dim=1)])[order][:, order]
  You paired neighbours, a block of 2 × 2 for each pair. In this layout the cosine of pair i stands D/2 places after its
  sine, not beside it.
one_frequency_for_all    torch.arange(0, D, 2) → torch.zeros(D // 2)
  All your pairs turn by the same angle k. Each pair has its own frequency ω_i, lower from pair to pair.
both_sines_alike    [-S, C] → [S, C]
  Both sines of a pair have the same sign: that is not a rotation, and the lengths of the pairs change.
frequencies_halved    torch.arange(0, D, 2) → torch.arange(D // 2)
  Your exponent is half of the right one: ω_i = 10000^(−2i/D), with i counting the pairs.
sines_on_the_diagonal    C, S = → S, C =
  Sine and cosine are exchanged: at k = 0 your matrix is not the identity. The cosines belong on the diagonal.
frequencies_doubled    torch.arange(0, D, 2) → 2 * torch.arange(0, D, 2)
  The exponent of your frequencies is doubled: pair i turns with 10000^(−2i/D), and i counts pairs.
""")


# --- where it rises again --------------------------------------------------------------------------------------------

rise = Exercise(
    "first_rise",
    title="Where does it rise again?",
    goal="For sinusoidal positions of width D (even, at least 16) the dot product PE(0)·PE(k) falls at first, as k "
    "grows. Return the first distance k that gives more than the one before it: PE(0)·PE(k) > PE(0)·PE(k − 1). An "
    "integer; it is below 100 for every D up to 512.",
    difficulty=2,
    minutes=10,
    cases=lambda: [(16,), (64,), (128,)],
    hints=(
        "By the proof the dot product at distance k is Σ cos(k·ω_i), over the D/2 frequencies ω_i = 10000^(−2i/D).",
        "Make it for all k = 0 … 100 at once, (101, D/2) and then a sum. Where is its difference above 0 first?",
        "products.diff() > 0 is a row of truth values, distance 1 first; (…).nonzero()[0] finds the first True.",
    ),
)


@rise.solution
def first_rise(D):
    """The first k with PE(0)·PE(k) > PE(0)·PE(k − 1), for sinusoids of width D."""
    frequencies = [10000 ** (-2 * i / D) for i in range(D // 2)]
    products = [sum(math.cos(k * w) for w in frequencies) for k in range(101)]
    return next(k for k in range(1, 101) if products[k] > products[k - 1])


rise.slips("""
one_too_near    return first_rise(D) - 1
  You return the distance from which it rises. Asked is the one after it, the first that gives more.
exponent_doubled    -2 * i → -4 * i
  Your exponent is doubled, 4i/D: the wavelengths grow too fast, and the first rise comes too early.
exponent_halved    -2 * i → -i
  Your exponent is i/D, half of 2i/D: too many clocks are fast.
pairs_from_one    -2 * i → -2 * (i + 1)
  You counted the pairs from 1. Pair 0, the fastest, is missing, and it is the one that rises first.
fastest_pair_alone    range(D // 2) → range(1)
  You looked at the fastest pair alone: cos k rises from 3 to 4. The others still fall there, and all of them are added
  up.
sines_alone    math.cos(k → -math.sin(k
  You added sines. The dot product of two positions is a sum of cosines of the distance.
half_of_it    products[k] > products[k - 1] → products[k - 1] < D / 4
  You return where the dot product has fallen below half its start. It has risen before that.
""")


# --- a sentence read back from its sums ------------------------------------------------------------------------------


def _noisy_sums(V, T, D, pairs, seed):
    """x (R, D): the sums of the given (word, place) with a little noise; E (V, D), P (T, D)."""
    (E,) = random_tensors((V, D), seed=seed)
    P = sinusoidal(torch.arange(T), D)
    v, p = torch.tensor(pairs).T
    return E[v] + P[p] + 0.05 * random_tensors((len(pairs), D), seed=seed + 1)[0], E, P


pair = Exercise(
    "nearest_pair",
    title="A sentence read back, step 1 of 2",
    goal="Each row of x (R, D) is a word's row of E (V, D) plus a position's row of P (T, D), unscaled, with a "
    "little noise. Return a tensor (R, 2) of whole numbers: for each row the word and the position whose sum is "
    "nearest to it. Compare with every sum: D is so small here that word and position are not at right angles.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        _noisy_sums(3, 2, 4, [(1, 0), (2, 1)], seed=0),
        _noisy_sums(5, 7, 4, [(4, 3), (0, 6), (3, 0), (3, 5), (1, 1)], seed=2),
        _noisy_sums(9, 4, 6, [(8, 2), (0, 0), (5, 3), (7, 1), (2, 2), (4, 1)], seed=4),
    ],
    hints=(
        "There are V · T sums. E[:, None] + P has them all, in the shape (V, T, D).",
        "The squared distance of each row of x from each sum: (R, V, T). Flatten the last two axes and take argmin.",
        "The flat index counts the positions fastest: the word is index // T, the position is index % T.",
    ),
)


@pair.solution
def nearest_pair(x, E, P):
    """Word and position (R, 2) whose sum E[v] + P[p] is nearest to each row of x (R, D)."""
    sums = E[:, None] + P  # (V, T, D)
    gaps = (x[:, None, None] - sums).square().sum(-1).flatten(1)  # (R, V·T)
    best = gaps.argmin(dim=1)
    return torch.stack([best // len(P), best % len(P)], dim=1)


pair.slips("""
largest_product    (x[:, None, None] - sums).square() → -(x[:, None, None] * sums)
  You took the largest dot product. A long sum wins it against a near one: compare distances.
each_alone    return torch.stack([_nearest(x, E), _nearest(x, P)], dim=1)
  You looked for the nearest word and the nearest position, each alone. The other half of the sum then counts as noise,
  and at this width it is large. Compare with the sums.
word_first    return torch.stack([_nearest(x, E), _nearest(x - E[_nearest(x, E)], P)], dim=1)
  You read the word from the whole row first, and the position from what was left. A wrong word cannot be corrected any
  more. Compare with the sums of both.
columns_swapped    return nearest_pair(x, E, P).flip(1)
  Your columns are swapped: the word comes first, then the position.
split_by_words    best // len(P), best % len(P) → best // len(E), best % len(E)
  You divided the flat index by V. The positions are the last axis, so each word has T entries: divide by T.
furthest    argmin → argmax
  You took the sum that is furthest away: argmax of a distance. The nearest has the smallest one.
differences_not_squared    (x[:, None, None] - sums).square() → (sums - x[:, None, None])
  You added up the differences without squaring them, so positive and negative ones cancel.
""")


def _nearest(x, rows):
    return torch.cdist(x, rows).argmin(1)


back = Exercise(
    "sentence_back",
    title="A sentence read back, step 2 of 2",
    goal="The rows came in any order, and some were lost. `pairs` (R, 2) is the result of step 1: a word and a "
    "position in each row, no position twice. Return the ids of the sentence in its order, from the smallest "
    "position that is there to the largest, with −1 for each lost word between them.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.tensor([[7, 1], [5, 0], [9, 3]]),),
        (torch.tensor([[4, 7], [8, 3], [3, 2], [6, 4], [0, 9]]),),
        (torch.tensor([[2, 9], [0, 5], [5, 12], [1, 6], [5, 10]]),),
    ],
    hints=(
        "How long is the answer? From the smallest position to the largest, both counted.",
        "Begin with torch.full((length,), -1). Then write each word to its place.",
        "result[places - places.min()] = words, with words, places = pairs.T, writes all of them at once.",
    ),
)


@back.solution
def sentence_back(pairs):
    """Ids in the order of their positions, from the smallest position to the largest; −1 where a word is missing."""
    words, places = pairs.T
    start = places.min()
    result = torch.full((int(places.max() - start) + 1,), -1)
    result[places - start] = words
    return result


back.slips("""
gaps_closed    result[places - start] = words → result[: len(words)] = words[places.argsort()]
  You closed the gaps: a lost word must leave −1 in its own place, so that the others keep their distance.
no_gaps_at_all    return pairs[pairs[:, 1].argsort(), 0]
  You left out the lost words. Each of them has a place of its own in the answer, with −1 in it.
first_column_as_it_is    return pairs[:, 0]
  You returned the words as the rows came. The second column says each one's place; what is lost is −1.
from_position_0    start = places.min() → start = 0
  Your answer begins at position 0. It begins at the smallest position that is there.
too_long_at_the_end    return torch.cat([sentence_back(pairs), torch.full((int(pairs[:, 1].min()),), -1)])
  Your answer is as long as if it began at 0. From the smallest place to the largest it is max − min + 1.
as_they_came    result[places - start] = words → result[: len(words)] = words
  Your words stand in the order in which the rows came. Their positions, the second column, say where to.
argsort_for_places    result[places - start] → result[places.argsort()]
  You used argsort as the places of the words. It says which row comes first, second, third, which is the inverse; and
  it knows no gaps. Place by the positions themselves.
zeros_in_the_gaps    -1) → 0)
  You wrote 0 into the gaps, but 0 is the id of a word. A lost word is −1.
positions_for_words    = words → = places
  You wrote the positions, not the words. The first column holds the words.
back_to_front    return sentence_back(pairs).flip(0)
  Your sentence is back to front: the smallest position comes first.
""")


QUIZ = questions("""
Attention knows no positions. The same words come in another order. What does it make of them?
  * The same vectors, in the new order | Attention is equivariant: reordered input, reordered output.
  - Other vectors, since each word has new neighbours | A word meets the same words in both sentences; who stands
    beside it is not among its numbers.
  - The same vectors, in the old order | Then output t would not go with word t any more.
Why not add the number p itself to the word's vector?
  - Two positions could have the same number | They never have: p is unique. Its size is the trouble.
  * It grows, and drowns the word | Position 500 would be far larger than the word.
  - A network cannot learn from whole numbers | It can; they need only be of a reasonable size.
What does the dot product of two sinusoidal positions depend on?
  - On both positions | sin a sin b + cos a cos b = cos(a − b): only the difference is left.
  - On nothing: it is constant | It is D/2 at distance 0, and smaller at every other one.
  * On their distance alone | Each pair gives cos((m − n)ω), and they are added up.
So the further apart, the smaller the dot product?
  - Yes, at every step of the distance | It rises again, from distance 5 to 6 at width 64.
  * On the whole, not at every step | It is a sum of cosines, which oscillate.
  - No: it grows with the distance | It is largest at distance 0.
All the fast pairs of a sinusoidal table are set to zero. What is lost?
  * The exact place: neighbours look alike | The slow hands hardly move in one step.
  - The rough place: far positions look alike | The slow hands still tell these apart.
  - The length of the vectors, and nothing else | They are shorter, but neighbours are confused, too.
A model with sinusoids was trained on texts of 64 tokens. What can you say about texts of 256?
  - It works there: a sine has no end | The vectors exist, but the model has never met them.
  - Position 64 counts as position 0 again | The slow clocks have not come round by then.
  * Its vectors exist there, but it is untrained | So it gets worse, as our queues did.
Word and position are added, at width 512. Why can a model still read both?
  - Positions use numbers that words leave empty | Both fill all 512 numbers.
  * Their directions are nearly at right angles | So neither changes the other's product much.
  - The sum is taken apart before the first layer | Nobody takes it apart: the layers read the sum.
A model has no positions, but a causal mask. Can it know the order of its words?
  * Yes: a word's mean hangs on what stands before it | Each place sees another set.
  - No: a weighted mean is blind to order | Of all words, yes. With the mask it is of some only.
  - Yes, but only that of neighbours | The mask tells all places apart, not only neighbours.
""")
