"""Exercises of notebook 04, self-attention."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- weights ---------------------------------------------------------------------------------------------------------

weights = Exercise(
    "attention_weights",
    title="From vectors to weights",
    goal="Compute the attention weights (T, S) of queries Q and keys K, of the shapes (T, K) and (S, K): how each "
    "query "
    "shares out its 1. The width K is the notebook's d_k. No mask.",
    difficulty=1,
    minutes=5,
    formula=r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)",
    source="Vaswani et al. 2017, equation 1, without the values",
    cases=lambda: [
        (torch.tensor([[1.0, 0.0], [2.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])),
        random_tensors((3, 4), (5, 4), seed=0),
        random_tensors((6, 16), (6, 16), seed=1),
    ],
    hints=(
        "One dot product for each pair of a query and a key: a matrix product of Q with K turned on its side.",
        "Divide by the root of the width that the dot product ran over, which is the last axis of Q.",
        "Q @ K.T / math.sqrt(Q.shape[-1]), then a softmax over the axis of the keys, the last one.",
    ),
    picture=True,
)


@weights.solution
def attention_weights(Q, K):
    """Weights (T, S) of queries Q (T, K) and keys K (S, K); each row sums to 1."""
    return (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(dim=-1)


@weights.mistake(
    "The division by √K is missing: your weights are sharper than the right ones, the more so the wider the vectors."
)
def unscaled(Q, K):
    return (Q @ K.T).softmax(dim=-1)


@weights.mistake(
    "You multiplied by √K where the formula divides: the scores have grown, and a single key takes nearly everything."
)
def multiplied(Q, K):
    return (Q @ K.T * math.sqrt(Q.shape[-1])).softmax(dim=-1)


@weights.mistake("You divided by K, not by its root: the scores are √K times too small, and the weights too even.")
def divided_by_width(Q, K):
    return (Q @ K.T / Q.shape[-1]).softmax(dim=-1)


@weights.mistake(
    "Your softmax runs over the queries: the columns sum to 1 where the rows should. Each query shares out its own 1."
)
def softmax_over_queries(Q, K):
    return (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(dim=0)


@weights.mistake("These are the scores. The softmax that turns each row into shares is missing.")
def scores_only(Q, K):
    return Q @ K.T / math.sqrt(Q.shape[-1])


@weights.mistake(
    "You divided by the root of the number of keys. The scale belongs to the dot product, which has K terms."
)
def root_of_length(Q, K):
    return (Q @ K.T / math.sqrt(K.shape[0])).softmax(dim=-1)


# --- one head, from x to the output ----------------------------------------------------------------------------------

head = Exercise(
    "one_head",
    title="A head, from x to its output",
    goal="Self-attention of one head. x (B, T, D) is projected by W_q, W_k, W_v, each (D, K), to queries, keys and "
    "values; the result (B, T, K) is, for each position, the mean of the values, weighted by its shares. No mask.",
    difficulty=2,
    minutes=10,
    formula=r"\operatorname{softmax}\left(\frac{(xW_q)(xW_k)^\top}{\sqrt{d_k}}\right)xW_v",
    source="Vaswani et al. 2017, equation 1 and section 3.2.2",
    cases=lambda: [
        (
            torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]),
            torch.tensor([[2.0], [0.0]]),
            torch.tensor([[1.0], [-1.0]]),
            torch.tensor([[10.0], [20.0]]),
        ),
        random_tensors((2, 5, 6), (6, 4), (6, 4), (6, 4), seed=2),
        random_tensors((1, 3, 8), (8, 2), (8, 2), (8, 2), seed=3),
    ],
    hints=(
        "Three products x @ W first. Then scores of every query with every key of the same sentence: mind the batch.",
        "Of K swap the last two axes only: .transpose(-2, -1). The scale is the width of a query, not that of x.",
        "(Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])).softmax(-1) @ V",
    ),
)


@head.solution
def one_head(x, W_q, W_k, W_v):
    """Output (B, T, K) of a head for x (B, T, D); W_q, W_k, W_v (D, K)."""
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    return scores.softmax(dim=-1) @ V


@head.mistake(
    "You divided by √D, the width of x. The dot product runs over the K numbers of a query, so the scale is √K."
)
def scaled_by_model_width(x, W_q, W_k, W_v):
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    return (Q @ K.transpose(-2, -1) / math.sqrt(x.shape[-1])).softmax(dim=-1) @ V


@head.mistake("Your keys come from W_q: query and key are the same vector, and the scores have become symmetric.")
def keys_from_queries(x, W_q, W_k, W_v):
    Q, V = x @ W_q, x @ W_v
    return (Q @ Q.transpose(-2, -1) / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V


@head.mistake("Queries and keys have changed places: each position asks with what it should be found by.")
def queries_and_keys_swapped(x, W_q, W_k, W_v):
    Q, K, V = x @ W_k, x @ W_q, x @ W_v
    return (Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V


@head.mistake(
    "Your weights are turned on their side before they meet the values: an output collects what was sent to it, "
    "and its shares no longer sum to 1."
)
def weights_transposed(x, W_q, W_k, W_v):
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    return (Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])).softmax(dim=-1).transpose(-2, -1) @ V


@head.mistake(
    "Your softmax runs over axis 1, which are the queries here: with a batch in front the keys are the last axis."
)
def softmax_over_axis_one(x, W_q, W_k, W_v):
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    return (Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])).softmax(dim=1) @ V


@head.mistake(
    "You handed on the keys in place of the values: the right words are looked at, and their labels taken home."
)
def keys_as_values(x, W_q, W_k, W_v):
    Q, K = x @ W_q, x @ W_k
    return (Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ K


@head.mistake(
    "The scale is missing in your head: scores have the size √K in place of 1, and the largest takes too much."
)
def head_unscaled(x, W_q, W_k, W_v):
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    return (Q @ K.transpose(-2, -1)).softmax(dim=-1) @ V


# --- cross-attention -------------------------------------------------------------------------------------------------

cross = Exercise(
    "cross_attention",
    title="Asking another sentence",
    goal="Cross-attention of one head: the queries come from x (T, D), keys and values from memory (S, D), through "
    "W_q, W_k, W_v, each (D, K). Hand back the output (T, K) and the weights (T, S), in this order.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (
            torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
            torch.tensor([[3.0, 0.0], [0.0, 1.0]]),
            torch.tensor([[1.0], [0.0]]),
            torch.tensor([[1.0], [2.0]]),
            torch.tensor([[5.0], [7.0]]),
        ),
        random_tensors((4, 6), (4, 6), (6, 3), (6, 3), (6, 3), seed=4),
        random_tensors((3, 5), (3, 5), (5, 2), (5, 2), (5, 2), seed=5),
    ],
    hints=(
        "It is the head of before, with one thing changed: who is projected by which matrix.",
        "x asks; the memory is found, and hands over: Q from x, K and V from the memory.",
        "weights = (x @ W_q @ (memory @ W_k).T / √K).softmax(-1); the output is weights @ (memory @ W_v).",
    ),
)


@cross.solution
def cross_attention(x, memory, W_q, W_k, W_v):
    """Output (T, K) and weights (T, S) of queries from x (T, D), keys and values from memory (S, D)."""
    Q, K, V = x @ W_q, memory @ W_k, memory @ W_v
    weights = (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return weights @ V, weights


@cross.mistake(
    "Your queries come from the memory and the keys and values from x: the two sentences have swapped roles."
)
def roles_swapped(x, memory, W_q, W_k, W_v):
    return cross_attention(memory, x, W_q, W_k, W_v)


@cross.mistake("Your values come from x: the weights point into the memory, but nothing of it reaches the output.")
def values_from_x(x, memory, W_q, W_k, W_v):
    weights = cross_attention(x, memory, W_q, W_k, W_v)[1]
    return weights @ (x @ W_v), weights


@cross.mistake("Your keys come from x: each position is compared with its own sentence, not with the memory.")
def keys_from_x(x, memory, W_q, W_k, W_v):
    weights = cross_attention(x, x, W_q, W_k, W_v)[1]
    return weights @ (memory @ W_v), weights


@cross.mistake("This is self-attention: the memory does not occur in it at all.")
def memory_forgotten(x, memory, W_q, W_k, W_v):
    return cross_attention(x, x, W_q, W_k, W_v)


@cross.mistake("Your weights sum to 1 over the positions that ask. Each query must share out its 1 over the memory.")
def shares_over_queries(x, memory, W_q, W_k, W_v):
    Q, K, V = x @ W_q, memory @ W_k, memory @ W_v
    weights = (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(dim=0)
    return weights @ V, weights


@cross.mistake(
    "The scores of your cross-attention were not divided by √K: the weights are sharper than they should be."
)
def cross_unscaled(x, memory, W_q, W_k, W_v):
    Q, K, V = x @ W_q, memory @ W_k, memory @ W_v
    weights = (Q @ K.T).softmax(dim=-1)
    return weights @ V, weights


# --- the gradient of softmax -----------------------------------------------------------------------------------------

gradient = Exercise(
    "softmax_jacobian",
    title="How shares react to scores",
    goal="For the shares p = softmax(z) of scores z (S,), write the matrix (S, S) whose entry [i, j] is ∂p_i / ∂z_j, "
    "without autograd.",
    difficulty=2,
    minutes=10,
    formula=r"\frac{\partial p_i}{\partial z_j} = p_i\,(\delta_{ij} - p_j)",
    source="derivative of the softmax; δ is 1 where i = j, else 0",
    cases=lambda: [
        (torch.tensor([0.0, math.log(3.0)]),),
        *((z,) for z in random_tensors((3,), (6,), seed=6)),
        (torch.tensor([100.0, 0.0]),),
    ],
    hints=(
        "Two terms: one that stands on the diagonal alone, and one that is a product of every share with every other.",
        "torch.diag(p) is the first, torch.outer(p, p) the second; which is subtracted from which?",
        "p = z.softmax(-1), then torch.diag(p) - torch.outer(p, p).",
    ),
    picture=True,
)


@gradient.solution
def softmax_jacobian(z):
    """Matrix (S, S) of ∂p_i/∂z_j for p = softmax(z), z (S,)."""
    p = z.softmax(dim=-1)
    return torch.diag(p) - torch.outer(p, p)


@gradient.mistake(
    "You have the diagonal p(1 − p) alone. Raising one score takes from all the other shares: the rest is −p_i p_j."
)
def diagonal_alone(z):
    p = z.softmax(dim=-1)
    return torch.diag(p * (1 - p))


@gradient.mistake(
    "A sign: you added the products p_i p_j. Shares sum to 1, so each row of the matrix must sum to 0; yours do not."
)
def plus_for_minus(z):
    p = z.softmax(dim=-1)
    return torch.diag(p) + torch.outer(p, p)


@gradient.mistake("The term δ_ij p_i is missing: your matrix says that a share falls when its own score rises.")
def without_delta(z):
    p = z.softmax(dim=-1)
    return -torch.outer(p, p)


@gradient.mistake(
    "The whole matrix has the wrong sign: with you, a share falls when its own score rises and others gain."
)
def turned_sign(z):
    p = z.softmax(dim=-1)
    return torch.outer(p, p) - torch.diag(p)


@gradient.mistake(
    "The factor p_i is missing in your rows: a share near 0 must hardly react, and with you it reacts like any other."
)
def factor_forgotten(z):
    p = z.softmax(dim=-1)
    return torch.eye(len(z)) - p.expand(len(z), len(z))


@gradient.mistake(
    "You took the derivative of each e^z on its own, diag(p): the sum below the fraction depends on z, too."
)
def denominator_forgotten(z):
    return torch.diag(z.softmax(dim=-1))


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
