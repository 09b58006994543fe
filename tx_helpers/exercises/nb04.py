"""Exercises of notebook 04, self-attention."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- weights ---------------------------------------------------------------------------------------------------------

weights = Exercise(
    "attention_weights",
    title="From columns to weights",
    goal="Some papers write vectors as columns: here Q is (K, T), column t the t-th query, and K is (K, S), column s "
    "the s-th key, each of width K (the notebook's d_k). Hand back the attention weights (T, S), whose row t says how "
    "query t shares out its 1 among the keys. With scale, no mask.",
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
        "One dot product for each pair of a query and a key, that is of two columns. Which of the two is turned?",
        "Q.T @ K is (T, S). Divide by the root of the width that the dot products ran over: Q has it in front.",
        "Q.T @ K / math.sqrt(Q.shape[0]), then a softmax over the axis of the keys, the last one.",
    ),
    picture=True,
)


@weights.solution
def attention_weights(Q, K):
    """Weights (T, S) of the columns of Q (K, T) and K (K, S); each row sums to 1."""
    return (Q.T @ K / math.sqrt(Q.shape[0])).softmax(dim=-1)


@weights.mistake(
    "The division by √K is missing: your weights are sharper than the right ones, the more so the wider the vectors."
)
def unscaled(Q, K):
    return (Q.T @ K).softmax(dim=-1)


@weights.mistake(
    "You multiplied by √K where the formula divides: the scores have grown, and a single key takes nearly everything."
)
def multiplied(Q, K):
    return (Q.T @ K * math.sqrt(Q.shape[0])).softmax(dim=-1)


@weights.mistake("You divided by K, not by its root: the scores are √K times too small, and the weights too even.")
def divided_by_width(Q, K):
    return (Q.T @ K / Q.shape[0]).softmax(dim=-1)


@weights.mistake(
    "Your softmax runs over the queries: the columns sum to 1 where the rows should. Each query shares out its own 1."
)
def softmax_over_queries(Q, K):
    return (Q.T @ K / math.sqrt(Q.shape[0])).softmax(dim=0)


@weights.mistake("These are the scores. The softmax that turns each row into shares is missing.")
def scores_only(Q, K):
    return Q.T @ K / math.sqrt(Q.shape[0])


@weights.mistake(
    "You divided by the root of the number of keys, the last axis here. The scale is the length of the dot product."
)
def root_of_length(Q, K):
    return (Q.T @ K / math.sqrt(K.shape[1])).softmax(dim=-1)


@weights.mistake(
    "You divided by the root of the number of queries, the last axis of Q here. The width stands in front: vectors are "
    "columns."
)
def root_of_queries(Q, K):
    return (Q.T @ K / math.sqrt(Q.shape[1])).softmax(dim=-1)


# --- one head, from x to the output ----------------------------------------------------------------------------------

head = Exercise(
    "one_head",
    title="A head with its matrices multiplied out",
    goal="In a trained head W_q W_kᵀ can be multiplied out once and for all. Given are x (B, T, D), M = W_q W_kᵀ (D, "
    "D), W_v (D, K), d_k, the width of the queries that M was made from, and a temperature `tau` (B, T) for every "
    "query, by which its scores are divided besides the usual scale. Hand back the output (B, T, K) of "
    "self-attention, no mask.",
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
        "Of (x W_q)(x W_k)ᵀ take the brackets away: (A B)ᵀ = Bᵀ Aᵀ. Where does M stand?",
        "The scores are x M xᵀ, (B, T, S), of each sentence its own: x.transpose(-2, -1). A query is a row of them, so "
        "its temperature is tau[:, :, None].",
        "(x @ M @ x.transpose(-2, -1) / (math.sqrt(d_k) * tau[..., None])).softmax(-1) @ x @ W_v",
    ),
)


@head.solution
def one_head(x, M, W_v, d_k, tau):
    """Output (B, T, K) of a head for x (B, T, D), M = W_q W_kᵀ (D, D), W_v (D, K), a temperature (B, T) a query."""
    scores = x @ M @ x.transpose(-2, -1) / (math.sqrt(d_k) * tau[:, :, None])
    return scores.softmax(dim=-1) @ x @ W_v


def _looked(x, M, scale, axis=-1):
    """Weights (B, T, S)."""
    return (x @ M @ x.transpose(-2, -1) / scale).softmax(dim=axis)


@head.mistake(
    "You divided by √D, the width of x. The dot product runs over the d_k numbers of a query, so the scale is √d_k."
)
def scaled_by_model_width(x, M, W_v, d_k, tau):
    return _looked(x, M, math.sqrt(x.shape[-1]) * tau[:, :, None]) @ x @ W_v


@head.mistake(
    "Your scores leave M out: they are dot products of the words themselves, symmetric, with nothing learnt in them."
)
def matrix_forgotten(x, M, W_v, d_k, tau):
    return _looked(x, torch.eye(len(M)), math.sqrt(d_k) * tau[:, :, None]) @ x @ W_v


@head.mistake("Queries and keys have changed places, Mᵀ for M: each position asks with what it should be found by.")
def queries_and_keys_swapped(x, M, W_v, d_k, tau):
    return _looked(x, M.T, math.sqrt(d_k) * tau[:, :, None]) @ x @ W_v


@head.mistake(
    "Your weights are turned on their side before they meet the values: an output collects what was sent to it, "
    "and its shares no longer sum to 1."
)
def weights_transposed(x, M, W_v, d_k, tau):
    return _looked(x, M, math.sqrt(d_k) * tau[:, :, None]).transpose(-2, -1) @ x @ W_v


@head.mistake(
    "Your softmax runs over axis 1, which are the queries here: with a batch in front the keys are the last axis."
)
def softmax_over_axis_one(x, M, W_v, d_k, tau):
    return _looked(x, M, math.sqrt(d_k) * tau[:, :, None], axis=1) @ x @ W_v


@head.mistake(
    "You gave the temperatures to the keys: tau[:, None] runs along the columns. Each query, a row, has one of its own."
)
def temperature_of_keys(x, M, W_v, d_k, tau):
    return _looked(x, M, math.sqrt(d_k) * tau[:, None]) @ x @ W_v


@head.mistake("You multiplied the scores by the temperature: a hot query looks sharply, where it should look evenly.")
def temperature_multiplied(x, M, W_v, d_k, tau):
    return _looked(x, M, math.sqrt(d_k) / tau[:, :, None]) @ x @ W_v


@head.mistake("The temperatures do not occur in yours: every query looks as sharply as at τ = 1.")
def temperature_forgotten(x, M, W_v, d_k, tau):
    return _looked(x, M, math.sqrt(d_k)) @ x @ W_v


@head.mistake(
    "The scale is missing in your head: scores have the size √d_k in place of 1, and the largest takes too much."
)
def head_unscaled(x, M, W_v, d_k, tau):
    return _looked(x, M, tau[:, :, None]) @ x @ W_v


# --- cross-attention -------------------------------------------------------------------------------------------------

cross = Exercise(
    "cross_attention",
    title="Asking another sentence, time first",
    goal="PyTorch's own layers have time in front, unless told batch_first. So here x is (T, B, D) and memory (S, B, "
    "D), for B pairs of sentences. Cross-attention of one head: queries from x by W_q (D, K); keys and values from "
    "the memory of the same pair by one matrix W_kv (D, 2·K), whose first K columns make the keys. With scale, no "
    "mask. Hand back the output (T, B, K) and the weights (B, T, S), in this order.",
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
        "x asks; the memory is found, and hands over: Q from x, K and V = (memory @ W_kv).chunk(2, dim=-1).",
        "The scores (B, T, S) pair what has the same b: torch.einsum('tbk,sbk->bts', Q, K), or bring the batch in "
        "front first, with transpose(0, 1).",
        "weights = (torch.einsum('tbk,sbk->bts', Q, K) / √K).softmax(-1); the output is "
        "torch.einsum('bts,sbk->tbk', weights, V).",
    ),
)


@cross.solution
def cross_attention(x, memory, W_q, W_kv):
    """Output (T, B, K) and weights (B, T, S) of queries from x (T, B, D), keys and values from memory (S, B, D)."""
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)  # (S, B, K) each
    weights = (torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return torch.einsum("bts,sbk->tbk", weights, V), weights


@cross.mistake(
    "Your queries come from the memory and the keys and values from x: the two sentences have swapped roles."
)
def roles_swapped(x, memory, W_q, W_kv):
    return cross_attention(memory, x, W_q, W_kv)


@cross.mistake(
    "You took the first half of memory @ W_kv for the values: it is the keys, and what should be found is carried home."
)
def keys_and_values_swapped(x, memory, W_q, W_kv):
    return cross_attention(x, memory, W_q, W_kv.roll(W_q.shape[1], 1))


@cross.mistake("Your values come from x: the weights point into the memory, but nothing of it reaches the output.")
def values_from_x(x, memory, W_q, W_kv):
    weights = cross_attention(x, memory, W_q, W_kv)[1]
    return torch.einsum("bts,sbk->tbk", weights, (x @ W_kv).chunk(2, dim=-1)[1]), weights


@cross.mistake("Your keys come from x: each position is compared with its own sentence, not with the memory.")
def keys_from_x(x, memory, W_q, W_kv):
    weights = cross_attention(x, x, W_q, W_kv)[1]
    return torch.einsum("bts,sbk->tbk", weights, (memory @ W_kv).chunk(2, dim=-1)[1]), weights


@cross.mistake("This is self-attention: the memory does not occur in it at all.")
def memory_forgotten(x, memory, W_q, W_kv):
    return cross_attention(x, x, W_q, W_kv)


@cross.mistake("Your weights sum to 1 over the positions that ask. Each query must share out its 1 over the memory.")
def shares_over_queries(x, memory, W_q, W_kv):
    Q, (K, V) = x @ W_q, (memory @ W_kv).chunk(2, dim=-1)
    weights = (torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(Q.shape[-1])).softmax(dim=1)
    return torch.einsum("bts,sbk->tbk", weights, V), weights


@cross.mistake(
    "The scores of your cross-attention were not divided by √K: the weights are sharper than they should be."
)
def cross_unscaled(x, memory, W_q, W_kv):
    Q, (K, V) = x @ W_q, (memory @ W_kv).chunk(2, dim=-1)
    weights = torch.einsum("tbk,sbk->bts", Q, K).softmax(dim=-1)
    return torch.einsum("bts,sbk->tbk", weights, V), weights


@cross.mistake(
    "You relabelled the axes by reshape in place of a transpose: with more than one pair, words of different sentences "
    "are mixed."
)
def batch_by_reshape(x, memory, W_q, W_kv):
    x, memory = (z.reshape(z.shape[1], z.shape[0], -1) for z in (x, memory))
    Q, (K, V) = x @ W_q, (memory @ W_kv).chunk(2, dim=-1)
    weights = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return (weights @ V).transpose(0, 1), weights


# --- the gradient of softmax -----------------------------------------------------------------------------------------

gradient = Exercise(
    "softmax_backward",
    title="How shares react to scores, backwards",
    goal="Each row of scores z (T, S) has become shares p = softmax(z), and a loss L has the gradient g (T, S) with "
    "respect to p. Hand back its gradient (T, S) with respect to z. Do it without autograd, and without writing down "
    "the (S, S) matrix of any row; the check sees your numbers only, and takes your word for that.",
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
        "What remains is p_j (g_j − Σ_i g_i p_i): the sum is the mean of g, weighted by the shares, one number a row.",
        "p = z.softmax(-1); p * (g - (g * p).sum(-1, keepdim=True))",
    ),
    picture=True,
)


@gradient.solution
def softmax_backward(z, g):
    """Gradient (T, S) with respect to scores z (T, S), from the gradient g (T, S) with respect to their shares."""
    p = z.softmax(dim=-1)
    return p * (g - (g * p).sum(dim=-1, keepdim=True))


@gradient.mistake(
    "You have the diagonal p(1 − p) alone. Raising one score takes from all the other shares: those terms are missing."
)
def diagonal_alone(z, g):
    p = z.softmax(dim=-1)
    return g * p * (1 - p)


@gradient.mistake(
    "A sign: you added the weighted mean of g. Shares sum to 1, so each row of the gradient must sum to 0; yours do "
    "not."
)
def plus_for_minus(z, g):
    p = z.softmax(dim=-1)
    return p * (g + (g * p).sum(dim=-1, keepdim=True))


@gradient.mistake(
    "The whole gradient has the wrong sign: with you, a score falls where a larger share would raise the loss."
)
def turned_sign(z, g):
    p = z.softmax(dim=-1)
    return p * ((g * p).sum(dim=-1, keepdim=True) - g)


@gradient.mistake(
    "The factor p_j is missing: a share near 0 must hardly react, and with you its score is pulled like any other."
)
def factor_forgotten(z, g):
    p = z.softmax(dim=-1)
    return g - (g * p).sum(dim=-1, keepdim=True)


@gradient.mistake(
    "You took the derivative of each e^z on its own, p times g: the sum below the fraction depends on z, too."
)
def denominator_forgotten(z, g):
    return z.softmax(dim=-1) * g


@gradient.mistake(
    "You subtracted the sum of g. It is to be weighted by the shares: what hardly gets a share hardly counts."
)
def unweighted_sum(z, g):
    return z.softmax(dim=-1) * (g - g.sum(dim=-1, keepdim=True))


@gradient.mistake(
    "Your sum runs over the rows. Each row had a softmax of its own: the rows of the gradient know nothing of each "
    "other."
)
def summed_over_rows(z, g):
    p = z.softmax(dim=-1)
    return p * (g - (g * p).sum(dim=0, keepdim=True))


# --- what it costs ---------------------------------------------------------------------------------------------------

cost = Exercise(
    "attention_flops",
    title="What attention costs",
    goal="Count the floating-point operations of one forward pass of self-attention over T positions of width D: the "
    "projections to Q, K, V and the output projection (each D × D), the scores, and the mean of the values. A product "
    "of (m, k) with (k, n) counts 2·m·k·n; softmax, scale and biases count nothing.",
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


@cost.mistake(
    "You counted multiplications only, half of the work: each of them has its addition, hence the 2 in 2·m·k·n."
)
def multiplications_only(T, D):
    return 4 * T * D * D + 2 * T * T * D


@cost.mistake(
    "The output projection is missing from your sum: there are four products with a (D, D) matrix, not three."
)
def no_output_projection(T, D):
    return 6 * T * D * D + 4 * T * T * D


@cost.mistake("One of the two products of size T·T·D is missing: scores, and again the mean of the values.")
def one_quadratic_product(T, D):
    return 8 * T * D * D + 2 * T * T * D


@cost.mistake("Your projections are missing: for T below 2·D they are the larger part.")
def no_projections(T, D):
    return 4 * T * T * D


@cost.mistake("The quadratic part is missing from your count: a score for every pair of positions, T·T of them.")
def no_quadratic_part(T, D):
    return 8 * T * D * D


@cost.mistake("You have T and D the wrong way round: it is the number of positions that is squared in the scores.")
def sizes_swapped(T, D):
    return 8 * D * T * T + 4 * D * D * T


QUIZ = [
    Question(
        "Queries and keys are 64 wide and their entries are independent, of mean 0 and variance 1. How large is the "
        "variance of a dot product?",
        (
            Choice("1", "Each of the 64 products has variance 1 already, and they add up."),
            Choice("8", "That is the standard deviation, √64: the number by which the scores are divided."),
            Choice(
                "64", "Variances of independent terms add: 64 times 1. Dividing by √64 brings it back to 1.", right=True
            ),
            Choice("4096", "The variance grows with the width, not with its square."),
        ),
    ),
    Question(
        "What sums to 1 in the matrix of weights (T, S)?",
        (
            Choice("Each row", "A row belongs to a query, which shares out its 1 over the keys.", right=True),
            Choice("Each column", "A key may be looked at by everybody or by nobody."),
            Choice("The whole matrix", "Its sum is T, the number of queries."),
        ),
    ),
    Question(
        "You swap two words of the input. No positions, no mask. What happens to the outputs of self-attention?",
        (
            Choice("Nothing changes", "That would be invariance. The outputs belong to positions, and two have moved."),
            Choice(
                "The same two outputs are swapped", "This is equivariance: attention does not see order.", right=True
            ),
            Choice("All outputs change", "Each word finds the same keys and values as before, in another order."),
        ),
    ),
    Question(
        "Why are there separate matrices for queries and keys?",
        (
            Choice(
                "What a word looks for differs from what it is found by",
                "With one shared matrix the scores are symmetric: A would fit B exactly as B fits A.",
                right=True,
            ),
            Choice("Otherwise tokens could not be told apart", "They could: their vectors differ as before."),
            Choice("To halve the cost", "Two matrices cost more than one."),
        ),
    ),
    Question(
        "The sequence becomes four times as long. By what does the matrix of scores grow?",
        (
            Choice("4 times", "Queries and keys become four times as many, both of them."),
            Choice("8 times", "There is a score for each pair, and pairs grow with the square."),
            Choice("16 times", "T · S entries: four times the rows and four times the columns.", right=True),
        ),
    ),
    Question(
        "PyTorch's fused kernel (FlashAttention and its kin) is fast because it …",
        (
            Choice("approximates the softmax", "It computes the same sums in another order; only rounding differs."),
            Choice(
                "never writes the matrix of scores to memory",
                "It works tile by tile and corrects the softmax as it goes; the result is the same.",
                right=True,
            ),
            Choice("leaves out small weights", "No weight is left out; that would be sparse attention."),
        ),
    ),
]
