"""Exercises on self-attention."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- mixing by likeness ----------------------------------------------------------------------------------------------

mixing = Exercise(
    "mix",
    title="A word becomes a mixture",
    goal="x (T, D) holds a vector for each word. Return for each word the weighted mean of all words' vectors, (T, D). "
    "The weights of a word are the softmax of its dot products with every word, itself included. No scaling.",
    difficulty=1,
    minutes=5,
    cases=lambda: [
        (torch.tensor([[2.0, 2.0], [3.0, 0.5], [2.2, 0.8]]),),
        random_tensors((5, 3), seed=8),
        random_tensors((4, 4), seed=9),
        (torch.tensor([[10.0, 0.0], [9.9, 0.0]]),),  # e^100 is too large
    ],
    hints=(
        "Three lines: a score for every pair of words, weights that sum to 1 in each row, a weighted mean.",
        "All dot products at once are x @ x.T, of shape (T, T): row t holds the scores of word t.",
        "weights = (x @ x.T).softmax(-1); the mean is weights @ x.",
    ),
    inline=True,
)


@mixing.solution
def mix(x):
    """Word vectors x (T, D), each replaced by the mean of all of them, weighted by likeness."""
    scores = x @ x.T  # (T, T)
    weights = scores.softmax(-1)
    return weights @ x  # (T, D)


mixing.slips("""
down_the_columns    return (x @ x.T).softmax(0) @ x
  Your softmax runs down the columns. Row t belongs to word t, so each row must sum to 1: softmax(-1).
all_alike    return x.mean(0).expand_as(x).clone()
  You gave every word the same plain mean. The weights must depend on the dot products of the word.
scores_as_weights    return x @ x.T @ x
  You multiplied by the scores themselves. Make weights of them first: a softmax of each row.
root_already    return (x @ x.T / math.sqrt(x.shape[1])).softmax(-1) @ x
  You divided the scores by the root of D. That comes later in the notebook; here divide by nothing.
itself_left_out    x @ x.T → (x @ x.T).fill_diagonal_(-torch.inf)
  You left the word itself out. It belongs to the mixture: it is one of the words of the sentence.
by_cosine    x @ x.T → torch.cosine_similarity(x[:, None], x, dim=-1)
  You compared directions alone, by the cosine. Here the lengths count, too: plain dot products, x @ x.T.
added_to_itself    return x + (x @ x.T).softmax(-1) @ x
  You added the mixture to the word's own vector. That comes later in the course; here return the mixture.
divided_by_the_sum    return x @ x.T / (x @ x.T).sum(-1, keepdim=True) @ x
  You divided the scores by their sum. A score can be negative, and then so is its weight: take a softmax.
""")


# --- attention -------------------------------------------------------------------------------------------------------

four_lines = Exercise(
    "attention",
    title="Attention in four lines",
    goal="Write the formula for any number of axes in front, such as a batch: q (…, T, d_k), k (…, S, d_k) and "
    "v (…, S, d_v) give (…, T, d_v). No loops, no mask.",
    difficulty=1,
    minutes=8,
    cases=lambda: [
        (torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([[4.0], [8.0]])),
        random_tensors((2, 5, 4), (2, 5, 4), (2, 5, 3), seed=10),
        random_tensors((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 8), seed=11),
        (torch.tensor([[10.0]]), torch.tensor([[9.1], [9.0]]), torch.tensor([[1.0], [0.0]])),  # e^91 is too large
    ],
    hints=(
        "Scores, scale, softmax, weighted sum: one line each.",
        "With axes in front, k.T would turn all of them round. Swap the last two only: k.transpose(-2, -1).",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), then a softmax over the last axis, then @ v.",
    ),
    inline=True,
)


@four_lines.solution
def attention(q, k, v):
    """Attention of queries q (…, T, d_k) over keys k (…, S, d_k) with values v (…, S, d_v): (…, T, d_v)."""
    scores = q @ k.transpose(-2, -1)  # (…, T, S)
    scores = scores / q.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return weights @ v  # (…, T, d_v)


four_lines.slips("""
without_root    / q.shape[-1] ** 0.5 →
  The division by √d_k is missing from your four lines: the weights come out too sharp.
without_the_root_sign    q.shape[-1] ** 0.5 → q.shape[-1]
  You divided by d_k in place of its square root: the weights come out too even.
times_the_root    / q.shape[-1] → * q.shape[-1]
  You multiplied by √d_k in place of dividing: the scores grow, and one key gets nearly all the weight.
root_of_values    q.shape → v.shape
  You divided by the root of d_v, the width of a value. Scores come from queries and keys: divide by √d_k.
root_of_the_queries    q.shape[-1] → q.shape[-2]
  You divided by the root of T, the number of queries. The scale is √d_k, the last size of q.
softmax_down_the_queries    softmax(-1) → softmax(-2)
  Your softmax runs over the queries, the axis before the last. Each query's row must sum to 1.
softmax_over_axis_1    softmax(-1) → softmax(1)
  Your softmax runs over axis 1. With a batch in front that is no longer the axis of the keys: count from the end,
  softmax(-1).
root_of_keys    q.shape[-1] → k.shape[-2]
  You divided by the root of the number of keys. The scale is the root of d_k, the width of a key.
no_softmax    .softmax(-1) →
  The softmax is missing: you multiplied the values by scores, which do not sum to 1.
scaled_too_late    q.shape[-1] ** 0.5 → 1 ; weights @ v → weights @ v / q.shape[-1] ** 0.5
  You divided the weights, not the scores: after the softmax the rows must still sum to 1.
""")


# --- weights ---------------------------------------------------------------------------------------------------------

weights = Exercise(
    "attention_weights",
    title="From columns to weights",
    goal="Some papers write vectors as columns. Here Q is (d_k, T): column t is the t-th query. K is (d_k, S): column "
    "s is the s-th key. Return the attention weights (T, S): row t says how query t distributes its weight of 1 over "
    "the keys. With scale, no mask.",
    difficulty=1,
    minutes=5,
    formula=r"A_{ts} = \operatorname{softmax}_s\left(\frac{q_t\cdot k_s}{\sqrt{d_k}}\right)",
    source="Vaswani et al. 2017, equation 1, entry by entry, without the values",
    cases=lambda: [
        (torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0, 1.0], [0.0, 2.0, 1.0]])),
        random_tensors((4, 3), (4, 5), seed=0),
        random_tensors((16, 6), (16, 6), seed=1),
        (torch.tensor([[10.0]]), torch.tensor([[9.1, 9.0]])),  # e^91 is too large
    ],
    hints=(
        "One dot product for each pair of a query and a key, that is of two columns. Which of the two matrices do you "
        "transpose?",
        "Q.T @ K is (T, S). Divide by √d_k, the root of the length of the dot products: d_k is the first size of Q.",
        "Q.T @ K / math.sqrt(Q.shape[0]), then a softmax over the axis of the keys, the last one.",
    ),
    picture=True,
)


@weights.solution
def attention_weights(Q, K):
    "Weights (T, S) of the columns of Q (d_k, T) and K (d_k, S); each row sums to 1."
    return (Q.T @ K / math.sqrt(Q.shape[0])).softmax(dim=-1)


weights.slips("""
unscaled    return (Q.T @ K).softmax(dim=-1)
  The division by √d_k is missing: your weights are sharper than the right ones, the more so the longer the vectors.
multiplied    K / → K *
  You multiplied by √d_k where the formula divides: the scores have grown, and a single key gets nearly all the weight.
divided_by_width    math.sqrt(Q.shape[0]) → Q.shape[0]
  You divided by d_k, not by its root: the scores are √d_k times too small, and the weights too even.
softmax_over_queries    dim=-1 → dim=0
  Your softmax runs over the queries: the columns sum to 1 in place of the rows. The weights of each query must sum to
  1.
scores_only    return Q.T @ K / math.sqrt(Q.shape[0])
  These are the scores. The softmax that turns each row into weights is missing.
root_of_length    Q.shape[0] → K.shape[1]
  You divided by the root of the number of keys, the last axis here. The scale is the root of d_k, the length of the dot
  product.
root_of_queries    shape[0] → shape[1]
  You divided by the root of the number of queries, the last axis of Q here. d_k is the first axis: vectors are columns.
""")


# --- one head, from x to the output ----------------------------------------------------------------------------------

head = Exercise(
    "one_head",
    title="A head with its matrices multiplied out",
    goal="For a trained head W_q W_kᵀ can be computed once. Given are x (B, T, D), M = W_q W_kᵀ (D, D), W_v (D, d_v), "
    "the width d_k of the queries that M was made from, and a temperature `tau` (B, T) for every query, by which its "
    "scores are divided in addition to the usual scale. Return the output (B, T, d_v) of self-attention, no mask.",
    difficulty=2,
    minutes=10,
    formula=r"\operatorname{softmax}\left(\frac{(xW_q)(xW_k)^\top}{\tau\sqrt{d_k}}\right)xW_v",
    source="Vaswani et al. 2017, equation 1 and section 3.2.2, with a temperature",
    cases=lambda: [
        (
            torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]),
            torch.tensor([[2.0, -2.0], [1.0, 0.0]]),
            torch.tensor([[10.0], [20.0]]),
            1,
            torch.tensor([[1.0, 2.0]]),
        ),
        (*random_tensors((2, 5, 6), (6, 6), (6, 4), seed=2), 4, 0.5 + torch.arange(10.0).reshape(2, 5) / 4),
        (*random_tensors((1, 3, 8), (8, 8), (8, 2), seed=3), 3, torch.tensor([[2.0, 0.5, 1.0]])),
    ],
    hints=(
        "Expand (x W_q)(x W_k)ᵀ with (A B)ᵀ = Bᵀ Aᵀ. Where is M in it?",
        "The scores are x M xᵀ, (B, T, S), for each sentence separately: x.transpose(-2, -1). Each row belongs to a "
        "query, so its temperature is tau[:, :, None].",
        "(x @ M @ x.transpose(-2, -1) / (math.sqrt(d_k) * tau[..., None])).softmax(-1) @ x @ W_v",
    ),
)


@head.solution
def one_head(x, M, W_v, d_k, tau):
    """Output (B, T, d_v) of a head for x (B, T, D), M = W_q W_kᵀ (D, D), W_v (D, d_v), temperatures tau (B, T)."""
    scores = x @ M @ x.transpose(-2, -1) / (math.sqrt(d_k) * tau[:, :, None])
    return scores.softmax(dim=-1) @ x @ W_v


head.slips("""
scaled_by_model_width    math.sqrt(d_k) → math.sqrt(x.shape[-1])
  You divided by √D, the width of x. The dot product runs over the d_k numbers of a query, so the scale is √d_k.
matrix_forgotten    M @ →
  Your scores do not use M: they are dot products of the word vectors themselves, symmetric, with no learned weights.
queries_and_keys_swapped    x @ M @ → x @ M.T @
  Queries and keys are swapped, Mᵀ in place of M: each position uses its key as its query.
weights_transposed    scores.softmax(dim=-1) → scores.softmax(dim=-1).mT
  You transposed the weights before you multiplied the values: the weights of an output no longer sum to 1.
softmax_over_axis_one    dim=-1 → dim=1
  Your softmax runs over axis 1, the queries: with a batch axis in front, the keys are the last axis.
temperature_of_keys    tau[:, :, None] → tau[:, None]
  You gave the temperatures to the keys: tau[:, None] varies along a row. Each query, a row, has one temperature.
temperature_multiplied    * tau → / tau
  You multiplied the scores by the temperature: a high temperature must make the weights even, and yours makes them
  sharp.
temperature_forgotten    * tau[:, :, None] →
  You did not use the temperatures: every query has the weights of τ = 1.
head_unscaled    math.sqrt(d_k) * →
  The scale is missing in your head: scores have the size √d_k in place of 1, and the largest gets too much weight.
""")


# --- cross-attention -------------------------------------------------------------------------------------------------

cross = Exercise(
    "cross_attention",
    title="Cross-attention, time first",
    goal="PyTorch's own layers have time in front unless told batch_first. So here x is (T, B, D) and memory (S, B, "
    "D), for B pairs of sentences. Compute cross-attention with one head: queries from x by W_q (D, d_k); keys and "
    "values from the memory of the same pair by one matrix W_kv (D, 2·d_k), whose first d_k columns make the keys. "
    "With scale, no mask. Return the output (T, B, d_k) and the weights (B, T, S), in this order.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (
            torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]]),
            torch.tensor([[[3.0, 0.0]], [[0.0, 1.0]]]),
            torch.tensor([[1.0], [0.0]]),
            torch.tensor([[1.0, 5.0], [2.0, 7.0]]),
        ),
        random_tensors((4, 2, 6), (4, 2, 6), (6, 3), (6, 6), seed=4),
        random_tensors((3, 3, 5), (3, 3, 5), (5, 2), (5, 4), seed=5),
    ],
    hints=(
        "Queries come from x, keys and values from the memory: K, V = (memory @ W_kv).chunk(2, dim=-1).",
        "The scores (B, T, S) compare positions with the same b: torch.einsum('tbk,sbk->bts', Q, K), or move the "
        "batch to the front first, with transpose(0, 1).",
        "weights = (torch.einsum('tbk,sbk->bts', Q, K) / √d_k).softmax(-1); the output is "
        "torch.einsum('bts,sbk->tbk', weights, V).",
    ),
)


@cross.solution
def cross_attention(x, memory, W_q, W_kv):
    "Output (T, B, d_k) and weights (B, T, S) of queries from x (T, B, D), keys and values from memory (S, B, D)."
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)  # (S, B, d_k) each
    weights = (torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return torch.einsum("bts,sbk->tbk", weights, V), weights


cross.slips("""
roles_swapped    return cross_attention(memory, x, W_q, W_kv)
  Your queries come from the memory and the keys and values from x: the two sentences have swapped roles.
keys_and_values_swapped    return cross_attention(x, memory, W_q, W_kv.roll(W_q.shape[1], 1))
  You used the first half of memory @ W_kv as the values. It is the keys; the values are the second half.
weights_first    return cross_attention(x, memory, W_q, W_kv)[::-1]
  You returned the weights first. The task asks for the output first, then the weights.
batch_first    return torch.einsum("bts,sbk->tbk" → return torch.einsum("bts,sbk->btk"
  Your output is (B, T, d_k), with the batch in front. x has time in front, and so has the output: (T, B, d_k).
time_as_batch    Q = x @ W_q → x, memory = x.transpose(0, 1), memory.transpose(0, 1) ⏎ Q = x @ W_q ; bts,sbk->tbk →
      bts,sbk->btk
  You took the first axis for the batch, but it is time: your positions look at the sentences of the batch.
memory_forgotten    return cross_attention(x, x, W_q, W_kv)
  This is self-attention: it does not use the memory at all.
shares_over_queries    softmax(dim=-1) → softmax(dim=1)
  Your weights sum to 1 over the queries. They must sum to 1 over the memory, for each query.
values_from_x    einsum("bts,sbk->tbk", weights, V) → einsum("bts,sbk->tbk", weights, (x @ W_kv).chunk(2, dim=-1)[1])
  Your values come from x: the weights belong to the memory, but nothing of the memory reaches the output.
keys_from_x    K, V = (memory @ W_kv).chunk(2, dim=-1)  # (S, B, d_k) each →
      K, V = (x @ W_kv).chunk(2, dim=-1)[0], (memory @ W_kv).chunk(2, dim=-1)[1]
  Your keys come from x: each position is compared with its own sentence, not with the memory.
cross_unscaled    / math.sqrt(Q.shape[-1]) →
  The scores of your cross-attention were not divided by √d_k: the weights are sharper than they should be.
batch_by_reshape    Q = x @ W_q →
      x, memory = (z.reshape(z.shape[1], z.shape[0], -1).transpose(0, 1) for z in (x, memory)) ⏎ Q = x @ W_q
  You used reshape in place of a transpose: with more than one pair, words of different sentences are mixed.
all_pairs_of_the_batch    tbk,sbk->bts → tbk,sck->bts
  Your scores add up all sentences of the batch: give queries and keys the same letter for it, tbk and sbk.
""")


# --- with a causal mask ----------------------------------------------------------------------------------------------

causal = Exercise(
    "causal_attention",
    title="No looking ahead",
    goal="A text that is still being written has no later words. Write attention in which position t looks at "
    "positions s ≤ t alone: its scores for later positions become −∞ before the softmax. Given q, k (T, d_k) and v "
    "(T, d_v), return the output (T, d_v) and the weights (T, T). Then compare for yourself: is your output that of "
    "torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)? And what does "
    "tx_helpers.show.plots.attention_map draw of your weights?",
    difficulty=3,
    minutes=12,
    cases=lambda: [
        (torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [3.0]]), torch.tensor([[10.0], [20.0]])),
        random_tensors((5, 4), (5, 4), (5, 3), seed=12),
        random_tensors((6, 9), (6, 9), (6, 6), seed=13),
        (torch.full((2, 1), 20.0), torch.tensor([[0.0], [10.0]]), torch.tensor([[1.0], [2.0]])),  # a later score wins
    ],
    hints=(
        "All four lines of attention stay. One more line changes the scores between the scale and the softmax.",
        "torch.ones(T, T).triu(1) is 1 above the diagonal, where s > t, and 0 elsewhere.",
        "scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -math.inf)",
    ),
)


@causal.solution
def causal_attention(q, k, v):
    """Output (T, d_v) and weights (T, T) of attention that looks at no later position."""
    scores = q @ k.T / math.sqrt(q.shape[-1])
    later = torch.ones(len(q), len(k), dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -math.inf).softmax(-1)
    return weights @ v, weights


causal.slips("""
everything_seen    .masked_fill(later, -math.inf) →
  Your attention looks at all positions: the mask is missing.
one_ahead    triu(1) → triu(2)
  Your mask is off by one: each position still sees the next one.
itself_hidden    triu(1) → triu() ; -math.inf → -1e9
  Your mask hides the position itself. It may look at itself: s ≤ t, so the diagonal stays.
earlier_hidden    triu(1) → tril(-1)
  Your mask is turned round: it hides the earlier positions and shows the later ones.
seen_hidden    triu(1) → tril()
  Your mask is upside down: it hides all that a position may see. The last position is left without a key, and a softmax
  over nothing but −∞ is NaN.
nothing_for_the_first    triu(1) → triu()
  Your mask hides the position itself, so the first one is left without a key, and a softmax over nothing but −∞ is NaN.
  A position may look at itself: triu(1), not triu(0).
filled_with_zero    -math.inf → 0.0
  You set the hidden scores to 0. A score of 0 still gets a weight, since e to the power 0 is 1; use −∞.
causal_unscaled    / math.sqrt(q.shape[-1]) →
  Your causal attention does not divide by √d_k.
masked_too_late    scores.masked_fill(later, -math.inf).softmax(-1) → scores.softmax(-1).tril()
  You set the weights of later positions to 0 after the softmax: your rows sum to less than 1. Mask the scores.
masked_late_and_divided    scores.masked_fill(later, -math.inf).softmax(-1) → scores.softmax(-1).tril() ⏎
      weights = weights / weights.sum(-1, keepdim=True)
  You mask after the softmax, then divide each row by its sum. With ordinary scores that gives the right weights. But
  where a later score is far larger, all that may be seen has become 0, and 0/0 is NaN. Mask the scores.
""")


# --- the gradient of softmax -----------------------------------------------------------------------------------------

gradient = Exercise(
    "softmax_backward",
    title="The backward pass of softmax",
    goal="Each row of scores z (T, S) has become weights p = softmax(z), and a loss L has the gradient g (T, S) with "
    "respect to p. Return its gradient (T, S) with respect to z, without autograd and without building the (S, S) "
    "matrix of derivatives of any row. (The check sees only your numbers.)",
    difficulty=2,
    minutes=10,
    formula=r"\frac{\partial L}{\partial z_j} = \sum_i g_i\,\frac{\partial p_i}{\partial z_j},\qquad"
    r" \frac{\partial p_i}{\partial z_j} = p_i\,(\delta_{ij} - p_j)",
    source="chain rule and derivative of the softmax, for one row; δ is 1 where i = j, else 0",
    cases=lambda: [
        (torch.tensor([[0.0, math.log(3.0)]]), torch.tensor([[8.0, 0.0]])),
        random_tensors((3, 5), (3, 5), seed=6),
        random_tensors((4, 4), (4, 4), seed=7),
        (torch.tensor([[100.0, 0.0]]), torch.tensor([[1.0, 2.0]])),
        (torch.tensor([[0.5, 0.0, -0.5]]), torch.tensor([[300.0, 100.0, -200.0]])),
    ],
    hints=(
        "Put the second formula into the first and multiply out: the δ leaves one term of the sum, g_j p_j.",
        "What remains is p_j (g_j − Σ_i g_i p_i): the sum is the mean of g weighted by p, one number for each row.",
        "p = z.softmax(-1); p * (g - (g * p).sum(-1, keepdim=True))",
    ),
    picture=True,
)


@gradient.solution
def softmax_backward(z, g):
    "Gradient (T, S) with respect to scores z (T, S), from the gradient g (T, S) with respect to their softmax."
    p = z.softmax(dim=-1)
    return p * (g - (g * p).sum(dim=-1, keepdim=True))


gradient.slips("""
plus_for_minus    g - (g * p) → g + (g * p)
  You added the weighted mean of g; it is subtracted. Weights sum to 1, so each row of the gradient must sum to 0.
plain_mean    return z.softmax(dim=-1) * (g - g.mean(dim=-1, keepdim=True))
  You subtracted the plain mean of g. It has to be weighted by p: entries with a small weight hardly count.
denominator_forgotten    return z.softmax(dim=-1) * g
  You took the derivative of each e^z only, p times g: the denominator depends on z, too.
unweighted_sum    * p →
  You subtracted the sum of g. Subtract the mean of g weighted by p.
summed_over_rows    dim=-1, keepdim → dim=0, keepdim
  Your sum runs over the rows. Each row has its own softmax, so the rows of the gradient do not depend on each other.
factor_forgotten    return p * → return
  The factor p_j is missing: the score of a weight near 0 must have a gradient near 0.
diagonal_alone    .sum(dim=-1, keepdim=True) →
  You used only the diagonal p(1 − p). Raising one score lowers all the other weights: those terms are missing.
turned_sign    return → return -
  Every entry of your gradient has the wrong sign: a step against it would raise the loss.
""")


# --- what it costs ---------------------------------------------------------------------------------------------------

cost = Exercise(
    "attention_flops",
    title="What attention costs",
    goal="Count the floating-point operations of one forward pass of self-attention over T positions of width D: the "
    "projections to Q, K, V and the output projection (each D × D), the scores, and the mean of the values. A product "
    "of (m, k) with (k, n) counts 2·m·k·n; softmax, scale and biases do not count.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(1, 1), (3, 2), (128, 512), (4096, 512)],
    tolerance=1e-9,
    hints=(
        "Write down the shapes of each of the six matrix products first.",
        "Four products of (T, D) with (D, D); (T, D) with (D, T) for the scores; (T, T) with (T, D) for the mean.",
        "4 · 2TD² + 2 · 2T²D.",
    ),
)


@cost.solution
def attention_flops(T, D):
    """Operations of self-attention over T positions of width D, all heads together."""
    return 8 * T * D * D + 4 * T * T * D


cost.slips("""
multiplications_only    8 * T → 4 * T ; 4 * T → 2 * T
  You counted only the multiplications. Each has an addition, hence the 2 in 2·m·k·n.
no_output_projection    8 * T → 6 * T
  The output projection is missing from your sum: there are four products with a (D, D) matrix, not three.
one_quadratic_product    4 * T → 2 * T
  One of the two products of size T·T·D is missing: one gives the scores, the other the weighted mean of the values.
no_projections    8 * T * D * D + →
  The projections are missing: for T below 2·D they are the larger part.
no_quadratic_part    + 4 * T * T * D →
  The quadratic part is missing from your count: a score for every pair of positions, T·T of them.
sizes_swapped    return 8 * D * T * T + 4 * D * D * T
  You swapped T and D: the scores need the square of the number of positions.
""")


QUIZ = questions("""
Queries and keys are 64 wide and their entries are independent, of mean 0 and variance 1. How large is the variance
    of a dot product?
  - 1 | Each of the 64 products has variance 1 already, and they add up.
  - 8 | That is the standard deviation, √64: the number by which the scores are divided.
  * 64 | Variances of independent terms add: 64 times 1. Dividing by √64 brings it back to 1.
  - 4096 | The variance grows with the width, not with its square.
What sums to 1 in the matrix of weights (T, S)?
  * Each row | A row belongs to a query, whose weights over the keys sum to 1.
  - Each column | Every query may look at a key, or none.
  - The whole matrix | Its sum is T, the number of queries.
You swap two words of the input. No positions, no mask. What happens to the outputs of self-attention?
  - All outputs stay as they were, each in its place | That would be invariance. The outputs belong to positions,
    and two words have moved.
  * The same two outputs are swapped | This is equivariance: attention does not see order.
  - All outputs change | Each word finds the same keys and values as before, in another order.
Why are there separate matrices for queries and keys?
  * What a word looks for differs from what it is found by | With one shared matrix the scores are symmetric: A
    would fit B exactly as B fits A.
  - Otherwise tokens could not be told apart | They could: their vectors differ as before.
  - To halve the cost | Two matrices cost more than one.
The sequence becomes four times as long. By what does the matrix of scores grow?
  - 4 times | Queries and keys become four times as many, both of them.
  - 8 times | There is a score for each pair, and pairs grow with the square.
  * 16 times | T · S entries: four times the rows and four times the columns.
PyTorch's fused kernel (FlashAttention and its kin) is fast because it …
  - approximates the softmax | It computes the same sums in another order; only rounding differs.
  * never writes the matrix of scores to memory | It works tile by tile and corrects the softmax as it goes; the
    result is the same.
  - leaves out weights that are too small to matter | It leaves out none; that would be sparse attention.
""")
