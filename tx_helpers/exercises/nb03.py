"""Exercises of notebook 03, positional encodings."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question
from tx_helpers.positions import sinusoidal


def _angles(T, D, base=10000.0, power=lambda i, D: 2 * i / D):
    """position · frequency, (T, D/2 rounded up)."""
    i = torch.arange((D + 1) // 2, dtype=torch.float64)
    return torch.arange(T, dtype=torch.float64)[:, None] / base ** power(i, D)


def _interleaved(even, odd, D):
    """Columns 0, 2, 4 … from `even`, columns 1, 3, 5 … from `odd`; (T, D)."""
    return torch.stack([even, odd], dim=-1).flatten(-2)[:, :D]


# --- the table of sinusoids ------------------------------------------------------------------------------------------

table = Exercise(
    "sinusoid_table",
    title="The table of sinusoids",
    goal="Make the table (T, D) of sinusoidal positions 0 … T − 1, with base 10,000. D may be odd: then the last "
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


@table.mistake(
    "Your exponent is doubled: torch.arange(0, D, 2) is 2i already, and you took twice that. The "
    "wavelengths grow too fast."
)
def exponent_doubled(T, D):
    angles = _angles(T, D, power=lambda i, D: 4 * i / D)
    return _interleaved(angles.sin(), angles.cos(), D).float()


@table.mistake(
    "Sine and cosine have changed places: the even columns 0, 2, 4 … hold the sine, so position 0 begins with 0."
)
def sine_and_cosine_swapped(T, D):
    angles = _angles(T, D)
    return _interleaved(angles.cos(), angles.sin(), D).float()


@table.mistake(
    "All sines stand left and all cosines right in your table. The formula lets them alternate, column by column."
)
def in_halves(T, D):
    angles = _angles(T, D)
    return torch.cat([angles.sin(), angles[:, : D // 2].cos()], dim=1).float()


@table.mistake(
    "Each column of yours has a wavelength of its own. A sine and the cosine beside it share one, 2i for both, "
    "or they would not be a point on a circle."
)
def frequency_for_each_column(T, D):
    j = torch.arange(D, dtype=torch.float64)
    angles = torch.arange(T)[:, None] / 10000 ** (j / D)
    return torch.where(j % 2 == 0, angles.sin(), angles.cos()).float()


@table.mistake("Your positions begin at 1. The first row, position 0, is 0, 1, 0, 1 …: sin 0 and cos 0.")
def positions_from_one(T, D):
    angles = _angles(T + 1, D)[1:]
    return _interleaved(angles.sin(), angles.cos(), D).float()


@table.mistake(
    "You multiply by 10000^(2i/D) where the formula divides: the later columns turn faster and faster, not slower."
)
def frequencies_upside_down(T, D):
    angles = _angles(T, D, power=lambda i, D: -2 * i / D)
    return _interleaved(angles.sin(), angles.cos(), D).float()


@table.mistake(
    "For an odd D your last column is empty: there are (D + 1) // 2 sines, one more than cosines. Even D "
    "you have right."
)
def last_column_left_out(T, D):
    result = sinusoid_table(T, D)
    if D % 2:
        result[:, -1] = 0
    return result


# --- token and place ------------------------------------------------------------------------------------------------

entry = Exercise(
    "model_input",
    title="Word and place in one vector",
    goal="What a Transformer of 2017 reads: for ids (B, T) take the rows of the embedding E (V, D), scale them by √D, "
    "and add the positions P (N, D), N ≥ T, of which row t belongs to the t-th token of every sentence.",
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
        "P[:T] is (T, D); added to (B, T, D) it is repeated over the sentences by itself.",
        "E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[1]]",
    ),
)


@entry.solution
def model_input(ids, E, P):
    """Vectors (B, T, D) for ids (B, T), embedding E (V, D), positions P (N, D)."""
    return E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[1]]


@entry.mistake(
    "Your positions run along the batch: every word of a sentence gets the same one, and it changes with the "
    "neighbours in the batch."
)
def along_the_batch(ids, E, P):
    return E[ids] * E.shape[1] ** 0.5 + P[: ids.shape[0], None]


@entry.mistake(
    "The positions are never added: the same word gives the same vector wherever it stands, and order is lost."
)
def never_added(ids, E, P):
    return E[ids] * E.shape[1] ** 0.5


@entry.mistake(
    "You did not scale the embedding: rows drawn with deviation 1/√D are drowned by positions whose entries reach 1."
)
def rows_unscaled(ids, E, P):
    return E[ids] + P[: ids.shape[1]]


@entry.mistake(
    "You scaled the sum: the positions have grown by √D as well, and the words are no louder beside them than without "
    "the factor."
)
def sum_scaled(ids, E, P):
    return (E[ids] + P[: ids.shape[1]]) * E.shape[1] ** 0.5


@entry.mistake("You took the last rows of P. The first word stands at position 0 however long P is.")
def last_rows(ids, E, P):
    return E[ids] * E.shape[1] ** 0.5 + P[-ids.shape[1] :]


@entry.mistake(
    "You looked the positions up by the words' ids: P[ids] depends on what a word is, not on where it stands."
)
def positions_by_id(ids, E, P):
    return E[ids] * E.shape[1] ** 0.5 + P[ids]


@entry.mistake("You divided by √D where the embedding is to be multiplied: the words have become fainter still.")
def divided_by_root(ids, E, P):
    return E[ids] / E.shape[1] ** 0.5 + P[: ids.shape[1]]


# --- how loud is the place? ------------------------------------------------------------------------------------------

share = Exercise(
    "position_share",
    title="How loud is the place?",
    goal="Word vectors have D independent entries of mean 0 and deviation s; a sinusoidal position of width D (even) "
    "is added, unscaled. Which share of the expected squared length of the sum is the position's? Hand back a number "
    "between 0 and 1. (Whether the answer depends on D is for you to find.)",
    difficulty=2,
    minutes=8,
    cases=lambda: [(1.0, 4), (1.0, 64), (0.125, 64), (2.0, 6)],
    hints=(
        "Expected squared length of the word's vector: D entries, each with expected square s².",
        "Of a sinusoidal position it needs no expectation: each pair holds sin² + cos² = 1, and there are D/2 pairs.",
        "(D/2) / (s²·D + D/2), in which D can be cancelled.",
    ),
)


@share.solution
def position_share(s, D):
    """Share of the squared length that is the position's, for words of deviation s and width D."""
    return (D / 2) / (s**2 * D + D / 2)


@share.mistake(
    "You took the position's squared length for D. Each pair sin² + cos² gives 1, and there are D/2 pairs, so it is "
    "D/2."
)
def length_of_position_doubled(s, D):
    return D / (s**2 * D + D)


@share.mistake("You compared s with the position, not s²: squared lengths go with the square of the deviation.")
def deviation_not_squared(s, D):
    return (D / 2) / (s * D + D / 2)


@share.mistake(
    "You multiplied the words by √D first. That suits a table drawn with s = 1/√D; with s = 1 the scaled words swamp "
    "the position, which at D = 64 keeps less than 1 % of the sum. Here nothing is scaled."
)
def words_scaled_up(s, D):
    return (D / 2) / (s**2 * D * D + D / 2)


@share.mistake("This is the ratio of position to word. A share has both of them below the line.")
def ratio_for_share(s, D):
    return (D / 2) / (s**2 * D)


@share.mistake("This is the word's share; the position has the rest of the 1.")
def share_of_the_word(s, D):
    return s**2 * D / (s**2 * D + D / 2)


@share.mistake("You compared lengths, √(D/2) and s√D. It is the squared lengths that add up, for the word has mean 0.")
def lengths_not_squared(s, D):
    return (D / 2) ** 0.5 / (s * D**0.5 + (D / 2) ** 0.5)


# --- a rotation leads further on -------------------------------------------------------------------------------------

shift = Exercise(
    "shift_matrix",
    title="k positions further on",
    goal="Many programs write the sinusoids in halves: PE(p) holds first all D/2 sines, sin pω_0, sin pω_1, …, then "
    "all D/2 cosines; ω_i = 10000^(−2i/D), i from 0 on, D even. Write the matrix M (D, D) for which PE(p + k) = M "
    "PE(p) at every position p, in this layout; PE(p) is a column. k is a whole number, of either sign.",
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
        "With the D/2 angles kω on diagonals: C = diag(cos), S = diag(sin), and M is C, S above −S, C.",
    ),
)


@shift.solution
def shift_matrix(k, D):
    """Matrix M (D, D) with PE(p + k) = M PE(p) for every p; sines first, then cosines."""
    angles = k * 10000.0 ** (-torch.arange(0, D, 2) / D)  # (D/2,)
    C, S = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([C, S], dim=1), torch.cat([-S, C], dim=1)])


def _blocks(C, S, T):
    """C, S above T, C."""
    return torch.cat([torch.cat([C, S], dim=1), torch.cat([T, C], dim=1)])


def _turns(k, D, power=lambda i, D: 2 * i / D):
    angles = k * 10000.0 ** -power(torch.arange(D // 2), D)
    return torch.diag(angles.cos()), torch.diag(angles.sin())


@shift.mistake(
    "Your matrix leads k positions back: the sign of the sines is turned. The pair is (sin, cos), not (cos, sin), so "
    "the usual rotation matrix turns it the other way."
)
def turned_back(k, D):
    return shift_matrix(k, D).T


@shift.mistake(
    "You paired neighbours, a block of 2 × 2 for each pair. In this layout the cosine of pair i stands D/2 places "
    "after its sine, not beside it."
)
def neighbours_paired(k, D):
    C, S = (part.diagonal() for part in _turns(k, D))
    return torch.block_diag(*(torch.stack([c, s, -s, c]).view(2, 2) for c, s in zip(C, S, strict=True)))


@shift.mistake(
    "All your pairs turn by the same angle k. Each pair has its own frequency ω_i, slower from pair to pair."
)
def one_frequency_for_all(k, D):
    C, S = _turns(k, D, power=lambda i, D: 0.0 * i)
    return _blocks(C, S, -S)


@shift.mistake(
    "Both sines of a pair have the same sign in yours: that is no rotation, and the lengths of the pairs change."
)
def both_sines_alike(k, D):
    C, S = _turns(k, D)
    return _blocks(C, S, S)


@shift.mistake("Only the diagonal is there: without the sines off it a pair shrinks where it should turn.")
def cosines_alone(k, D):
    return torch.diag(shift_matrix(k, D).diagonal())


@shift.mistake("The exponent of your frequencies is doubled: pair i turns with 10000^(−2i/D), and i counts pairs.")
def frequencies_doubled(k, D):
    C, S = _turns(k, D, power=lambda i, D: 4 * i / D)
    return _blocks(C, S, -S)


# --- rotary ----------------------------------------------------------------------------------------------------------

turn = Exercise(
    "rotate_queries",
    title="Rotary, by halves",
    goal="Turn queries x (T, K), K even, by rotary positions in Llama's layout: at position t the features x_i and "
    "x_i+K/2 are a pair, turned by the angle t·10000^(−2i/K), i = 0 … K/2 − 1. Row t of x stands at position t. Hand "
    "back (T, K).",
    difficulty=2,
    minutes=12,
    formula=r"\begin{pmatrix}x'_{i}\\x'_{i+K/2}\end{pmatrix}="
    r"\begin{pmatrix}\cos t\omega_i&-\sin t\omega_i\\\sin t\omega_i&\cos t\omega_i\end{pmatrix}"
    r"\begin{pmatrix}x_{i}\\x_{i+K/2}\end{pmatrix}",
    source="Su et al. 2021, section 3.2, with the pairs of Llama",
    cases=lambda: [
        (torch.tensor([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]),),
        *((x,) for x in random_tensors((5, 8), (9, 4), seed=3)),
    ],
    picture=True,
    hints=(
        "Angles (T, K/2) first: positions times frequencies. Then the two halves of x, (T, K/2) each.",
        "New first half: first · cos − second · sin; new second half: first · sin + second · cos.",
        "first, second = x.chunk(2, dim=-1), and torch.cat([new_first, new_second], dim=-1) in the end",
    ),
)


@turn.solution
def rotate_queries(x):
    """Turned queries (T, K) of x (T, K), whose row t stands at position t; i and i + K/2 are a pair."""
    T, K = x.shape
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, K, 2) / K)  # (T, K/2)
    first, second = x.chunk(2, dim=-1)
    turned = [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()]
    return torch.cat(turned, dim=-1)


def _cos_sin(x, power=lambda i, K: 2 * i / K):
    angles = _angles(*x.shape, power=power).to(x.dtype)
    return angles.cos(), angles.sin()


def _turned(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


@turn.mistake(
    "You paired neighbours, 2i with 2i + 1, the layout of the paper. Here i goes with i + K/2: yours is right at "
    "position 0, where nothing turns, and wrong from there on."
)
def pairs_of_neighbours(x):
    cos, sin = _cos_sin(x)
    even, odd = x[:, 0::2], x[:, 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


@turn.mistake(
    "Two layouts are mixed: you turn halves, but your angles are laid out for neighbours, each of them twice in a row. "
    "Right at position 0, wrong from there on."
)
def layouts_mixed(x):
    cos, sin = (part.repeat_interleave(2, dim=-1) for part in _cos_sin(x))
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


@turn.mistake(
    "You turn clockwise: the minus belongs to the sine of the first line. Distances come out as n − m, not m − n."
)
def turned_clockwise(x):
    cos, sin = _cos_sin(x)
    return _turned(x, cos, -sin)


@turn.mistake(
    "Every pair turns by t itself: the frequencies 10000^(−2i/K) are missing, and positions 44 apart look alike."
)
def no_frequencies(x):
    return _turned(x, *_cos_sin(x, power=lambda i, K: 0 * i))


@turn.mistake("You multiplied by the cosine and added nothing of the partner: a pair shrinks and loses its length.")
def no_partner(x):
    cos, sin = _cos_sin(x)
    return _turned(x, cos, 0 * sin)


@turn.mistake("You turned rightly, and then put the two of a pair side by side: each belongs back in its own half.")
def put_back_side_by_side(x):
    return torch.stack(rotate_queries(x).chunk(2, dim=-1), dim=-1).flatten(-2)


@turn.mistake("You added the sinusoids to x. Rotary adds nothing: it turns, so that the length of every pair stays.")
def added_instead(x):
    return x + sinusoid_table(*x.shape)


QUIZ = [
    Question(
        "Without positions, what does the encoder make of “ein und zwanzig” against “zwanzig und ein”?",
        (
            Choice(
                "The same vectors in another order",
                "Attention is equivariant: reordered input, reordered output.",
                right=True,
            ),
            Choice(
                "Different vectors for each word",
                "A word meets the same keys and values in both; order is not among them.",
            ),
            Choice("The same vectors in the same order", "Then output t would not go with word t any more."),
        ),
    ),
    Question(
        "What does the dot product of two sinusoidal encodings depend on?",
        (
            Choice("On both positions", "sin a sin b + cos a cos b = cos(a − b): only the difference is left."),
            Choice("On nothing: it is constant", "It is D/2 at distance 0, and smaller at every other one."),
            Choice("On their distance alone", "Each pair gives cos((m − n)ω), and they are added up.", right=True),
        ),
    ),
    Question(
        "So the further apart, the smaller the dot product?",
        (
            Choice("Yes, always", "It rises again, from distance 5 to 6 at width 64: cosines come back."),
            Choice("On the whole, but not at every step", "It is a sum of cosines, which oscillate.", right=True),
            Choice("No, it grows", "It is largest at distance 0."),
        ),
    ),
    Question(
        "What is turned by rotary positions?",
        (
            Choice(
                "Queries and keys",
                "So that their dot product depends on the distance; values are left alone.",
                right=True,
            ),
            Choice("Values", "Then the weights, made of queries and keys, would know nothing of positions."),
            Choice(
                "The word embeddings, once, at the input", "The turn is made in every attention, on queries and keys."
            ),
        ),
    ),
    Question(
        "A model with sinusoidal positions was trained on 64 tokens. What did you measure at 200?",
        (
            Choice("The loss stays as it was", "Of the six kinds only ALiBi came near that, with less than 0.2 nats."),
            Choice(
                "The loss rises much",
                "By more than 0.4 nats: such vectors can be computed, but the model has never met them.",
                right=True,
            ),
            Choice("An error: there are no such rows", "That happens with learned positions."),
        ),
    ),
    Question(
        "Which of these has no parameters to learn?",
        (
            Choice("T5's bias", "A learned number for each head and bucket of distances."),
            Choice("Learned positions", "They are a table with a trainable row for each position."),
            Choice("ALiBi", "Its slopes are fixed: 2^(−8h/H) for head h.", right=True),
        ),
    ),
]
