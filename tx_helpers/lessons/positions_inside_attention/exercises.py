"""Exercises on positions inside attention."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions
from tx_helpers.nn.positions import sinusoidal

# --- rotary ----------------------------------------------------------------------------------------------------------

turn = Exercise(
    "rotate_queries",
    inline=True,
    title="Rotary, by halves",
    goal="Rotate queries x (T, K), whose width K = d_k is even, by rotary positions in the layout of GPT-NeoX, which "
    "transformers uses for Llama, too: at position t the features x_i and x_(i+K/2) are a pair, rotated by the angle "
    "t·10000^(−2i/K), i = 0 … K/2 − 1. Row t of x has position t. Return (T, K).",
    difficulty=2,
    minutes=12,
    formula=r"\begin{pmatrix}x'_{i}\\x'_{i+d_k/2}\end{pmatrix}="
    r"\begin{pmatrix}\cos t\omega_i&-\sin t\omega_i\\\sin t\omega_i&\cos t\omega_i\end{pmatrix}"
    r"\begin{pmatrix}x_{i}\\x_{i+d_k/2}\end{pmatrix}",
    source="Su et al. 2021, section 3.2, with the pairs of GPT-NeoX",
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
    "Rotated queries (T, K) of x (T, K), whose row t has position t; i and i + K/2 are a pair."
    T, K = x.shape
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, K, 2) / K)  # (T, K/2)
    first, second = x.chunk(2, dim=-1)
    turned = [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()]
    return torch.cat(turned, dim=-1)


turn.slips("""
later_pairs_faster    return _turned(x, *_cos_sin(x, power=lambda i, K: -2 * i / K))
  Your angles grow from pair to pair: the exponent −2i/K slows the later pairs. Divide by 10000^(2i/K).
rotated_from_one    torch.arange(T)[ → torch.arange(1, T + 1)[
  Your rotation begins at position 1. Row 0 of x has position 0, where nothing turns.
no_frequencies    / 10000 ** (torch.arange(0, K, 2) / K) → .expand(T, K // 2)
  Every pair turns by the angle t: the frequencies 10000^(−2i/K) are missing, and positions 44 apart look nearly alike.
two_forgotten    torch.arange(0, K, 2) → torch.arange(K // 2)
  Your exponents are −i/K: the 2 is missing, so your slow pairs turn too fast. They are −2i/K.
two_twice    torch.arange(0, K, 2) → 2 * torch.arange(0, K, 2)
  Your exponents are −4i/K: if your i counts 0, 2, 4 … it is the 2i of the formula already.
minus_in_both_lines    first * angles.sin() + second → first * angles.sin() - second
  Both your lines have a minus. Only the first has it; the second is first · sin + second · cos.
first_half_overwritten    turned = [first * angles.cos() - second * angles.sin(), →
      first = first * angles.cos() - second * angles.sin() ⏎ turned = [first,
  You wrote the new first half over the old one, and made the second half of the new. Keep a copy of x.
put_back_side_by_side    torch.cat(turned, dim=-1) → torch.stack(turned, dim=-1).flatten(-2)
  Your rotation is right, but you put the two of a pair side by side. Each belongs in its own half.
added_instead    return x + sinusoidal(torch.arange(len(x)), x.shape[1])
  You added the sinusoids to x. Rotary positions add nothing: they rotate each pair, whose length stays the same.
pairs_of_neighbours    x.chunk(2, dim=-1) → x[:, 0::2], x[:, 1::2] ; torch.cat(turned, dim=-1) →
      torch.stack(turned, dim=-1).flatten(-2)
  You paired neighbours, 2i with 2i + 1, as in the paper. Here i is paired with i + K/2: yours is right only at position
  0, where nothing turns.
both_signs_plus    first * angles.cos() - second → first * angles.cos() + second
  Both of your sines have a plus. A rotation has a minus in one of its two lines, so that lengths stay.
base_of_llama    10000 → 500_000
  Your base is 500,000, as in Llama 3. Here it is 10,000.
layouts_mixed    torch.arange(0, K, 2) / K) → torch.arange(0, K, 2) / K).repeat_interleave(2) ;
      turned = [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()] →
      turned = [x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()]
  You mixed two layouts: you rotate halves, but your angles are laid out for neighbours, each of them twice in a row.
  That is right only at position 0.
turned_clockwise    torch.arange(T)[ → -torch.arange(T)[
  You rotate clockwise: the minus belongs to the sine of the first line. Your scores depend on n − m in place of m − n.
no_partner    - second * angles.sin(), first * angles.sin() + second → , second
  You multiplied by the cosine and added nothing of the other half: the pair becomes shorter in place of turning.
""")


def _cos_sin(x, power=lambda i, K: 2 * i / K, first=0):
    i, positions = torch.arange(x.shape[1] // 2), torch.arange(len(x), dtype=torch.float64) + first
    angles = (positions[:, None] / 10000.0 ** power(i, x.shape[1])).to(x.dtype)
    return angles.cos(), angles.sin()


def _turned(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


# --- ALiBi -----------------------------------------------------------------------------------------------------------

bias = Exercise(
    "alibi_bias",
    inline=True,
    title="ALiBi's penalty",
    goal="Return ALiBi's term (H, T, T) for H heads, H a power of two, and T positions. Head h = 1 … H subtracts its "
    "slope 2^(−8h/H) once for each step between query t (row) and key s (column), in both directions.",
    difficulty=1,
    minutes=8,
    formula=r"b_{hts} = -2^{-8h/H}\,|t-s|",
    source="Press et al. 2022, section 3",
    cases=lambda: [(2, 3), (4, 5), (8, 6)],
    picture=True,
    hints=(
        "Two parts: the slopes (H,) and the distances (T, T). The result is their product for every pair.",
        "t = torch.arange(T); t[:, None] - t is query minus key. The heads are counted from 1.",
        "-slopes[:, None, None] * distances broadcasts (H, 1, 1) against (T, T).",
    ),
)


@bias.solution
def alibi_bias(H, T):
    """ALiBi's term (H, T, T): what is added to the score of query t (row) and key s (column)."""
    slopes = 0.5 ** (8 * torch.arange(1, H + 1) / H)
    t = torch.arange(T)
    return -slopes.view(H, 1, 1) * (t.view(T, 1) - t).abs()


bias.slips("""
reward    return -alibi_bias(H, T)
  Your term grows with the distance: far words gain. ALiBi subtracts, so that near words win.
signed_distance    .abs() →
  Your distance has a sign: keys after the query get a bonus in place of a penalty. Take |t − s|.
heads_from_zero    torch.arange(1, H + 1) → torch.arange(H)
  Your heads are counted from 0: the first slope is 2^0 = 1. With h = 1 … H the last one is 2^(−8).
not_spread    8 * torch.arange(1, H + 1) / H → torch.arange(1, H + 1)
  Your slopes are 2^(−h), whatever H is. The 8/H spreads them: the last is always 2^(−8) = 1/256.
eight_heads_exponent    1) / H → 1)
  Your slopes are 2^(−8h): the exponent is −8h/H, so that the last slope is 2^(−8), whatever H is.
eight_left_out    8 * torch → torch
  Your slopes are 2^(−h/H), from nearly 1 to 1/2. The exponent is −8h/H: the last slope is 2^(−8).
later_keys_for_free    .abs() → .clamp(min=0)
  Keys behind the query have no penalty in your table. It has |t − s| on both sides.
squared_distance    .abs() → ** 2
  Your penalty grows with the square of the distance. ALiBi is linear: that is the Li in its name.
from_the_start    (t.view(T, 1) - t).abs() → t.expand(T, T)
  Your penalty counts from the start of the text: every row is the same. Count from the query, |t − s|.
one_slope    torch.arange(1, H + 1) → torch.ones(H)
  All your heads have the same slope. Each has its own: some heads look far, others stay near.
slopes_in_reverse    return alibi_bias(H, T).flip(0)
  Your slopes come in the opposite order: head 1 is the steepest, and the last one the gentlest.
""")


# --- from one layout to the other ------------------------------------------------------------------------------------

layout = Exercise(
    "to_halves",
    title="Weights for the other layout",
    goal="W (D, H·K) makes the queries of H heads: columns 0 … K − 1 are head 1's, the next K head 2's, and so on. It "
    "was trained with neighbours as pairs, (2i, 2i + 1) within each head. Reorder its columns so that the model gives "
    "the same scores when (i, i + K/2) are the pairs. Return (D, H·K).",
    difficulty=3,
    minutes=12,
    cases=lambda: [
        (*random_tensors((4, 4), seed=0), 1),
        *((*random_tensors((H * K, H * K), seed=H), H) for H, K in ((2, 6), (3, 8))),
    ],
    picture=True,
    hints=(
        "Within a head the first of every pair goes into the first half: 0, 2, 4 …, then 1, 3, 5 …",
        "Each head is reordered by itself. W.unflatten(1, (H, -1, 2)) has the shape (D, H, K/2, 2).",
        "Exchange the last two axes of (D, H, K/2, 2), then flatten all but the first.",
    ),
)


@layout.solution
def to_halves(W, H):
    """W (D, H·K) with each head's columns reordered from neighbouring pairs to halves."""
    return W.unflatten(1, (H, -1, 2)).transpose(2, 3).flatten(1)


layout.slips("""
heads_mixed    return torch.cat([W[:, 0::2], W[:, 1::2]], dim=1)
  You reordered all columns at once: the first half of the heads now holds every even column. Each head keeps its own K
  columns.
the_way_back    H, -1, 2 → H, 2, -1
  This is the way back, from halves to neighbours: column 1 has to move to the second half, not the column in the middle
  to place 1.
rows_reordered    return to_halves(W.T, H).T
  You reordered the rows of W. Its columns are the features of the queries, since q = x W.
second_ones_first    transpose → flip(3).transpose
  Your halves are swapped: the second of each pair stands before the first, so every pair turns the other way round.
halves_swapped    return W.unflatten(1, (H, 2, -1)).flip(2).flatten(1)
  You swapped the two halves of each head as they were. Features 0 and 1, a pair before, still stand side by side.
unchanged    return W.clone()
  You changed nothing: features 0 and 1 were turned together, and now 0 would be turned with K/2.
turned_already    return to_halves(W * torch.tensor([1.0, -1.0]).repeat(W.shape[1] // 2), H)
  You put a minus before one of each pair. That belongs to the rotation; here columns only change places.
""")


# --- where buckets begin ---------------------------------------------------------------------------------------------

starts = Exercise(
    "bucket_starts",
    title="Where the buckets begin",
    goal="T5, looking back, has b buckets (b even). A distance d below e = b/2 has its own bucket d; a larger one goes "
    "to bucket e + ⌊e · ln(d/e) / ln(m/e)⌋, at most b − 1. Return the smallest distance in each of the b buckets: a "
    "list of b integers. m is larger than b.",
    difficulty=3,
    minutes=12,
    cases=lambda: [(8, 20), (16, 48), (32, 128)],
    hints=(
        "The first half is easy: bucket j begins at distance j. For the others, turn the formula round.",
        "Bucket j begins where e · ln(d/e) / ln(m/e) reaches j − e. Solve for d: it is e times a power of m/e.",
        "d ≥ e · (m/e)^((j − e)/e): the smallest integer that satisfies it is the one rounded up.",
    ),
)


@starts.solution
def bucket_starts(b, m):
    """The smallest distance in each of T5's b buckets; from about m on all distances share the last."""
    e = b // 2
    return list(range(e)) + [math.ceil(e * (m / e) ** ((j - e) / e)) for j in range(e, b)]


starts.slips("""
rounded_down    math.ceil → math.floor
  You rounded down: that distance still belongs to the bucket before. Round up.
rounded_to_the_nearest    math.ceil → round
  You rounded to the nearest integer: where that is down, the distance still belongs to the bucket before.
evenly_spaced    return list(range(b // 2)) + [b // 2 + math.ceil(j * (m - b // 2) * 2 / b) for j in range(b // 2)]
  Your far buckets are equally wide. They widen: each begins at the same multiple of the one before.
last_begins_at_m    (j - e) / e) → (j - e) / (e - 1))
  Your last bucket begins at m. It begins earlier: at m the formula would reach b, one bucket too many.
ends    return [start - 1 for start in bucket_starts(b, m)[1:]] + [m]
  You return where the buckets end, not where they begin: the first one, for distance 0, begins at 0.
every_distance    return list(range(b))
  You gave every distance a bucket of its own. From b/2 on they share buckets.
base_not_divided    return list(range(b // 2)) + [math.ceil(b // 2 * m ** (2 * j / b)) for j in range(b // 2)]
  You took powers of m, not of m/e: your buckets widen too fast, and the far ones lie beyond m.
""")


# --- another base ----------------------------------------------------------------------------------------------------

stretch = Exercise(
    "stretched_base",
    title="A base that stretches one pair",
    goal="Rotary turns pair j = 0 … K/2 − 1 by base^(−2j/K) at each position. NTK scaling chooses a larger base so "
    "that the last pair turns `factor` times more slowly. Choose it for any pair instead: return the new base at which "
    "pair j ≥ 1 turns `factor` times more slowly than before.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(10000.0, 8, 3, 4.0), (10000.0, 16, 2, 2.0), (500.0, 6, 1, 8.0)],
    hints=(
        "Write the wish as an equation between the new and the old frequency of pair j.",
        "new^(−2j/K) = base^(−2j/K) / factor. Take both sides to the power −K/(2j).",
        "new = base · factor^(K/(2j)); for the last pair, j = K/2 − 1, this is K/(K − 2).",
    ),
)


@stretch.solution
def stretched_base(base, K, j, factor):
    """The base at which pair j of a head of width K turns `factor` times more slowly."""
    return base * factor ** (K / (2 * j))


stretch.slips("""
base_times_factor    ** (K / (2 * j)) →
  You multiplied the base by the factor itself. Frequency j is the base to the power −2j/K, so the factor must be raised
  to K/(2j).
last_pair    2 * j → K - 2
  This is the base that stretches the last pair, j = K/2 − 1, by the factor. Here it is pair j.
exponent_upside_down    K / (2 * j) → 2 * j / K
  Your exponent is upside down: 2j/K leads from the base to the frequency, K/(2j) leads back.
two_left_out    (2 * j) → j
  Your exponent is K/j: the 2 of 2j/K is missing, and pair j turns factor² times more slowly.
counted_from_one    2 * j → 2 * (j + 1)
  You counted the pairs from 1. Pair 0, with frequency 1, comes first, and no base can stretch it.
turned_faster    K / (2 * j) → -K / (2 * j)
  Your base is smaller than before: the pair turns faster. More slowly means a longer wavelength.
""")


# --- how far a slope lets a head see ---------------------------------------------------------------------------------

reach = Exercise(
    "alibi_reach",
    title="How far does a head see?",
    goal="All keys fit a query equally well, and there are endlessly many behind it, at the distances 0, 1, 2 … ALiBi "
    "subtracts slope · distance from each score. How many of the nearest keys (the one at distance 0 included) hold "
    "at least this share of the attention weight together? Return the smallest such integer.",
    difficulty=2,
    minutes=10,
    cases=lambda: [(0.25, 0.95), (0.5, 0.5), (1.0, 0.99), (2.0**-8, 0.9)],
    hints=(
        "After the softmax the weight at distance d is proportional to exp(−slope · d) = r^d with r = exp(−slope).",
        "A geometric series: the first n keys hold 1 − rⁿ of all.",
        "1 − exp(−slope · n) ≥ share gives n ≥ −ln(1 − share) / slope; round up.",
    ),
)


@reach.solution
def alibi_reach(slope, share):
    """How many of the nearest keys hold at least `share` of the weight, if contents do not matter."""
    return math.ceil(-math.log(1 - share) / slope)


reach.slips("""
rounded_down    ceil → floor
  Yours is one too small: those keys hold a little less than the share. Round up, and count the key at distance 0, too.
not_rounded    return -math.log(1 - share) / slope
  Your number is no integer. The keys come one by one: round up.
share_for_the_rest    1 - share → share
  You solved rⁿ = share. What lies beyond the nearest n keys is rⁿ; those n hold 1 − rⁿ.
powers_of_two    log → log2
  You took powers of two. The softmax takes powers of e: the weights fall by exp(−slope) a step.
linear_weights    return math.ceil(share / slope)
  You let the weights fall along a straight line. The penalty does; the weights fall exponentially.
slope_multiplied    / slope → * slope
  You multiplied by the slope: your heads see further the steeper they are. Divide by it.
""")


QUIZ = questions("""
What is turned by rotary positions?
  * Queries and keys, in every layer | So that their dot product depends on the distance; values are left alone.
  - Values, in every layer | Then the weights, made of queries and keys, would know no positions.
  - The word embeddings, once, at the input | Sinusoids and learned rows enter there. Rotary works inside every
    attention.
Query and key both move on by 100 positions. What happens to their rotary score?
  - It falls: they are further from the start | The start is nothing special: m − n has not changed.
  * It stays the same | Both turn by the same angle, so the angle between them stays.
  - It depends on the base | The base says how fast each pair turns, but both turn alike.
Weights trained with neighbours as pairs are run with (i, i + K/2) as pairs. What do you see?
  - The same text, since both are rotations | Other features are now turned together.
  - An error: the shapes differ | All shapes are the same. That makes it so hard to find.
  * Position 0 is right, later ones are wrong | At position 0 nothing turns.
A model with sinusoidal positions was trained on 64 tokens. What did you measure at 200?
  - The loss stays as it was | Of the six kinds only ALiBi came near that, with less than 0.2 nats.
  * The loss rises by more than 0.4 nats | Such vectors can be computed, but the model has never met them.
  - An error: there are no such rows in its table | That happens with learned positions.
Which of these has no parameters to learn?
  - T5's bias | A learned number for each head and bucket of distances.
  - Learned positions | They are a table with a trainable row for each position.
  * ALiBi | Its slopes are fixed: 2^(−8h/H) for head h.
Position interpolation by 4 lets all angles stay within those of training. What does it cost?
  - Four times the memory | Nothing is stored: only the angles are computed in another way.
  * Neighbours are a quarter of a step apart | The fast pairs, which tell neighbours from each other, turn four
    times more slowly.
  - The slow pairs meet angles they have never seen | That is what it avoids.
""")
