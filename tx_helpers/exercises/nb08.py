"""Exercises of notebook 08, the full model."""

import random

import numpy as np
import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- counting parameters ----------------------------------------------------------------------------------------------

block = Exercise(
    "llama_block_parameters",
    title="The parameters of a block of Llama",
    goal="All parameters of a block as Llama has it, of width D and hidden width F: attention with four (D, D) "
    "matrices, a gated feed-forward network (notebook 07), and two RMSNorms, which have parameters, too. No biases "
    "anywhere. Hand back a whole number.",
    difficulty=2,
    minutes=6,
    cases=lambda: [(2, 3), (64, 172), (4096, 11008)],
    tolerance=1e-9,
    hints=(
        "Three sums: attention, network, norms. Which matrices has a gated network?",
        "Gate, up and down: three matrices of D · F numbers. An RMSNorm has a gain and nothing else.",
        "4·D² + 3·D·F + 2·D",
    ),
)


@block.solution
def llama_block_parameters(D, F):
    """Number of parameters of a Llama block of width D and hidden width F."""
    attention, network, norm = 4 * D * D, 3 * D * F, D
    return attention + network + 2 * norm


@block.mistake("You counted two matrices in the network. A gated one has three: gate, up and down.")
def two_matrices(D, F):
    return 4 * D * D + 2 * D * F + 2 * D


@block.mistake("Your norms are LayerNorms, with gain and bias. An RMSNorm has a gain alone, D numbers.")
def layer_norms(D, F):
    return 4 * D * D + 3 * D * F + 4 * D


@block.mistake("The two norms are missing: each has a gain of D numbers.")
def norms_missing(D, F):
    return 4 * D * D + 3 * D * F


@block.mistake("You counted one norm. A block has two sub-layers, and a norm in front of each.")
def one_norm(D, F):
    return 4 * D * D + 3 * D * F + D


@block.mistake(
    "You gave every matrix a bias, which Llama has nowhere: each adds as many numbers as its matrix has columns."
)
def with_biases(D, F):
    return 4 * (D * D + D) + 3 * D * F + 2 * F + D + 2 * D


@block.mistake("The output matrix of attention is missing from your block: there are four, not three.")
def output_matrix_missing(D, F):
    return 3 * D * D + 3 * D * F + 2 * D


@block.mistake("This is the block of 2017: two matrices in the network, biases, and LayerNorms.")
def block_of_2017(D, F):
    return 4 * (D * D + D) + 2 * D * F + F + D + 4 * D


# --- the parameters of the whole -------------------------------------------------------------------------------------

total = Exercise(
    "translator_parameters",
    title="The parameters of the whole",
    goal="Matrices only (no biases, no norms): an encoder–decoder of 2017 with N encoder and N decoder blocks of "
    "width D and hidden width F, one embedding of V rows for the source and another of V rows for the target; the "
    "target's table serves as the output layer, too. Every attention has four (D, D) matrices. Positions are "
    "sinusoidal. How many weights?",
    difficulty=2,
    minutes=10,
    cases=lambda: [(2, 3, 5, 1), (64, 256, 45, 2), (512, 2048, 37000, 6)],
    tolerance=1e-9,
    hints=(
        "An encoder block has 4·D² + 2·D·F. What does a decoder block have more?",
        "Cross-attention: four matrices more, 8·D² + 2·D·F in all.",
        "N·(12·D² + 4·D·F) + 2·V·D; the tied output costs nothing more.",
    ),
)


@total.solution
def translator_parameters(D, F, V, N):
    """Weights of N + N blocks of widths D and F, with two embeddings of V rows and a tied output."""
    return N * (12 * D * D + 4 * D * F) + 2 * V * D


@total.mistake("Your decoder blocks have no cross-attention: it has four (D, D) matrices of its own in each of them.")
def without_cross_attention(D, F, V, N):
    return translator_parameters(D, F, V, N) - N * 4 * D * D


@total.mistake(
    "You counted an output layer of its own. It is tied: the target's embedding table once more, at no cost."
)
def output_untied(D, F, V, N):
    return translator_parameters(D, F, V, N) + V * D


@total.mistake("You counted one embedding. Source and target have a vocabulary each here, and a table each.")
def one_embedding(D, F, V, N):
    return translator_parameters(D, F, V, N) - V * D


@total.mistake("You have N blocks in all; the model has N in the encoder and N more in the decoder.")
def half_the_blocks(D, F, V, N):
    return N * (4 * D * D + 2 * D * F) + 2 * V * D


@total.mistake("One of the two matrices of each feed-forward network is missing from your total.")
def half_the_network(D, F, V, N):
    return translator_parameters(D, F, V, N) - 2 * N * D * F


@total.mistake("The embeddings are missing from your total: with few blocks they are a large part of the model.")
def no_embeddings(D, F, V, N):
    return translator_parameters(D, F, V, N) - 2 * V * D


# --- the decoder block -----------------------------------------------------------------------------------------------

decoder = Exercise(
    "decoder_block_pass",
    title="Through a decoder block",
    goal="A pre-norm decoder block for the stream x (T, D) and the memory m (S, D). The encoder has normed m already: "
    "it is used as it is, and not normed again. Write the block with simple parts: the norm is "
    "torch.nn.functional.layer_norm(x, x.shape[-1:]); attention, without mask or parameters, is attend(q, k) = "
    "softmax(q kᵀ / √D) k; the network is relu(y @ W), W (D, D). In order: self-attention, cross-attention, network, "
    "each in a branch of its own that reads the normed stream and is added to the stream. Hand back the stream (T, "
    "D), without a last norm.",
    difficulty=3,
    minutes=12,
    cases=lambda: [
        (torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]), torch.tensor([[1.0, 2.0, 0.0]]), torch.eye(3)),
        random_tensors((3, 4), (5, 4), (4, 4), seed=0),
        random_tensors((2, 6), (3, 6), (6, 6), seed=1),
    ],
    hints=(
        "Three times the same pattern: x = x + branch(norm(x)).",
        "In cross-attention the queries come from norm(x), keys and values from m, which the encoder has "
        "normed already.",
        "n = norm(x); x = x + attend(n, n); x = x + attend(norm(x), m); x = x + (norm(x) @ W).relu()",
    ),
)


@decoder.solution
def decoder_block_pass(x, m, W):
    """Stream (T, D) after a pre-norm decoder block; x (T, D), memory m (S, D), network W (D, D)."""

    def norm(x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])

    def attend(q, k):
        return (q @ k.T / q.shape[-1] ** 0.5).softmax(dim=-1) @ k

    x = x + attend(norm(x), norm(x))
    x = x + attend(norm(x), m)
    return x + (norm(x) @ W).relu()


def _norm(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _attend(q, k):
    return (q @ k.T / q.shape[-1] ** 0.5).softmax(dim=-1) @ k


@decoder.mistake(
    "Cross-attention comes before self-attention in yours: the words ask the source before they know each other."
)
def cross_first(x, m, W):
    x = x + _attend(_norm(x), m)
    x = x + _attend(_norm(x), _norm(x))
    return x + (_norm(x) @ W).relu()


@decoder.mistake("There is no cross-attention in your block: the decoder writes without ever looking at the source.")
def no_cross(x, m, W):
    x = x + _attend(_norm(x), _norm(x))
    return x + (_norm(x) @ W).relu()


@decoder.mistake(
    "You normed the memory again. The encoder's last norm has done so once; every decoder block takes it as it is."
)
def memory_normed(x, m, W):
    x = x + _attend(_norm(x), _norm(x))
    x = x + _attend(_norm(x), _norm(m))
    return x + (_norm(x) @ W).relu()


@decoder.mistake("Around your cross-attention there is no residual: what the words knew of each other is replaced.")
def cross_without_residual(x, m, W):
    x = x + _attend(_norm(x), _norm(x))
    x = _attend(_norm(x), m)
    return x + (_norm(x) @ W).relu()


@decoder.mistake(
    "All three of your branches read the same x, side by side. In order means: each reads what the one before left."
)
def side_by_side(x, m, W):
    n = _norm(x)
    return x + _attend(n, n) + _attend(n, m) + (n @ W).relu()


@decoder.mistake(
    "Your block is post-norm: the sums are normed, and the stream does not pass untouched from block to block."
)
def block_post_norm(x, m, W):
    x = _norm(x + _attend(x, x))
    x = _norm(x + _attend(x, m))
    return _norm(x + (x @ W).relu())


@decoder.mistake(
    "Your branches read the stream without a norm: scores and network see numbers that grow from block to block."
)
def branches_unnormed(x, m, W):
    x = x + _attend(x, x)
    x = x + _attend(x, m)
    return x + (x @ W).relu()


# --- tied output -----------------------------------------------------------------------------------------------------

tied = Exercise(
    "tied_probabilities",
    title="From the stream to the next word",
    goal="The last step with a tied output, from the decoder's output h (T, D) and the embedding table E to the "
    "probabilities (T, V) of the next word at every position. To suit the hardware E has been given more rows than "
    "there are words: only its first V rows are words, the rest is filling with numbers in it, and gets no share at "
    "all.",
    difficulty=1,
    minutes=5,
    source="Vaswani et al. 2017, section 3.4; Press and Wolf 2017",
    cases=lambda: [
        (torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0]]), 3),
        (*random_tensors((4, 5), (9, 5), seed=2), 7),
        (*random_tensors((2, 3), (4, 3), seed=3), 4),
        (torch.tensor([[1.0]]), torch.tensor([[9.0], [8.0], [30.0]]), 2),  # filling far above the words
    ],
    hints=(
        "A logit is a dot product of h with a word's row. Which rows of E are words?",
        "h @ E[:V].T has the shape (T, V). The filling must be gone before the softmax, not after it.",
        "Softmax over the vocabulary, the last axis.",
    ),
)


@tied.solution
def tied_probabilities(h, E, V):
    """Probabilities (T, V) from h (T, D) and the embedding E, whose first V rows are words."""
    return (h @ E[:V].T).softmax(dim=-1)


@tied.mistake("These are the logits: the softmax over the vocabulary is missing.")
def logits_only(h, E, V):
    return h @ E[:V].T


@tied.mistake(
    "You cut the filling off after the softmax: it has taken its share before, and your rows sum to less than 1."
)
def cut_after_softmax(h, E, V):
    return (h @ E.T).softmax(dim=-1)[:, :V]


@tied.mistake(
    "Your softmax runs over the positions: they compete for each word, and a position's words do not sum to 1."
)
def softmax_over_positions(h, E, V):
    return (h @ E[:V].T).softmax(dim=0)


@tied.mistake(
    "You divided by √D as if these were scores of attention. The output layer has no scale: your rows are too even."
)
def logits_scaled(h, E, V):
    return (h @ E[:V].T / h.shape[-1] ** 0.5).softmax(dim=-1)


@tied.mistake("You took cosines: they lie between −1 and 1, so that no word can ever get a probability near 1.")
def cosines(h, E, V):
    return (torch.nn.functional.normalize(h, dim=-1) @ torch.nn.functional.normalize(E[:V], dim=-1).T).softmax(dim=-1)


@tied.mistake("You multiplied E by √D at the output, too. That factor belongs to the input alone.")
def scaled_as_input(h, E, V):
    return (h @ E[:V].T * h.shape[-1] ** 0.5).softmax(dim=-1)


@tied.mistake("You used a sigmoid, which judges every word on its own; the words' probabilities must sum to 1.")
def sigmoid(h, E, V):
    return (h @ E[:V].T).sigmoid()


@tied.mistake(
    "You took the last V rows of E. The words are the first ones: id 0 is row 0, and the filling stands behind."
)
def last_rows(h, E, V):
    return (h @ E[-V:].T).softmax(dim=-1)


# --- the first numbers -----------------------------------------------------------------------------------------------


def _seeded(start, D, K):
    """Some numbers of W_q after the caller has set all seeds."""
    states = np.random.get_state(), random.getstate()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1), np.random.seed(1), random.seed(1)
        some = torch.as_tensor(start(D, K)[0]).flatten()[:500]
    np.random.set_state(states[0]), random.setstate(states[1])
    return some


def _spread(start, D, K):
    """What can be said of random matrices: means and deviations in units of 1/√D, over all and along rows and columns,
    shape, kinship of the two, and which share of the numbers comes back in the other one or at the next call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        W_q, W_k = (torch.as_tensor(W) for W in start(D, K))
        again = torch.as_tensor(start(D, K)[0])
    seeded = [_seeded(start, D, K) for _ in range(2)]
    both = (W_q, W_k)
    overall = [measure * D**0.5 for W in both for measure in (W.mean(), W.std())]
    along = [W.std(dim=dim).mean() * D**0.5 for W in both for dim in (0, 1)]
    peaked = [(W / W.std().clamp(min=1e-9)).pow(4).mean() for W in both]  # 3 if normal
    kinship = (W_q * W_k).mean() / (W_q.std() * W_k.std()).clamp(min=1e-9)  # 1 if the same, −1 if opposite
    some = W_q.flatten()[:500].abs()
    repeated = [torch.isin(some, other.abs()).double().mean() for other in (W_k, again)]
    return {
        "means and deviations times √D": torch.stack(overall),
        "deviations along rows and columns times √D": torch.stack(along),
        "fourth moments": torch.stack(peaked),
        "correlation of W_q and W_k": kinship,
        "share of numbers that W_k shares with W_q, and the next call with this one": torch.stack(repeated),
        "share of numbers that come again with the caller's seed": torch.isin(*seeded).double().mean(),
    }


start = Exercise(
    "starting_projections",
    title="The first numbers",
    goal="Draw the matrices W_q and W_k, both (D, K), of a new head: independent numbers from a normal distribution of "
    "mean 0 and deviation 1/√D, so that projections of a normed vector have entries of size 1. Hand back both. The "
    "function is called for each head of a model, and no two heads may begin alike: leave the seed to the caller.",
    difficulty=1,
    minutes=5,
    tolerance=0.08,
    run=_spread,
    cases=lambda: [(256, 128), (512, 64)],
    hints=(
        "torch.randn draws with deviation 1; multiply by what you want.",
        "Two draws, one for each matrix, and no seed inside.",
        "torch.randn(D, K) / D**0.5, twice",
    ),
)


@start.solution
def starting_projections(D, K):
    """W_q and W_k, both (D, K), of mean 0 and deviation 1/√D."""
    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5


@start.mistake(
    "Both matrices are zero. Then the gradient of W_q has the factor W_k = 0, and the other way round: "
    "neither ever moves."
)
def both_zero(D, K):
    return torch.zeros(D, K), torch.zeros(D, K)


@start.mistake(
    "Your deviation is 1: the projections are √D times too large, so that from the start one weight is nearly 1."
)
def deviation_one(D, K):
    return torch.randn(D, K), torch.randn(D, K)


@start.mistake("Your deviation is 1/D, which ought to be the variance: the projections come out √D times too small.")
def deviation_one_over_width(D, K):
    return torch.randn(D, K) / D, torch.randn(D, K) / D


@start.mistake(
    "You drew one matrix and used it for both: the scores begin symmetric, and no two words can prefer each other."
)
def one_for_both(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.clone()


@start.mistake(
    "Your second matrix is made of the first one's numbers in another order or with other signs: they are not "
    "independent."
)
def turned_over(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.flip(0)


@start.mistake(
    "Every call hands back the same numbers, as with a seed set inside or a draw that is kept: all heads begin alike "
    "and learn the same."
)
def same_at_each_call(D, K):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(D, K, generator=generator) / D**0.5 for _ in range(2))


@start.mistake("You scaled by the width of the head, 1/√K. The sum in x W runs over the D numbers of x.")
def scaled_by_head(D, K):
    return torch.randn(D, K) / K**0.5, torch.randn(D, K) / K**0.5


@start.mistake("Uniform between −1/√D and 1/√D has a deviation of 1/√(3D), smaller by 1.7; a normal one was asked for.")
def uniform(D, K):
    return (2 * torch.rand(D, K) - 1) / D**0.5, (2 * torch.rand(D, K) - 1) / D**0.5


QUIZ = [
    Question(
        "Where do the keys and values of cross-attention come from?",
        (
            Choice("From the decoder's stream", "Only the queries come from there."),
            Choice(
                "From the encoder block of the same height",
                "All decoder blocks look at the same memory, the last block's.",
            ),
            Choice(
                "From the encoder's output, the memory",
                "It is computed once, and every decoder block looks at it.",
                right=True,
            ),
        ),
    ),
    Question(
        "How often is the source encoded while ten words are written?",
        (
            Choice("Once", "The memory does not depend on what is being written.", right=True),
            Choice("Ten times", "It would give the same memory ten times: nothing in the source changes."),
            Choice(
                "Once for each decoder block", "The encoder runs once, and all decoder blocks look at the same memory."
            ),
        ),
    ),
    Question(
        "An output layer tied to the embedding …",
        (
            Choice("makes the model recurrent", "It shares a matrix; nothing is fed back by it."),
            Choice("saves V · D parameters", "The same table reads words and writes them.", right=True),
            Choice("halves the vocabulary", "V stays as it is: each word still has a row, which is used twice."),
        ),
    ),
    Question(
        "How many attention sub-layers has a model of 6 encoder and 6 decoder blocks?",
        (
            Choice("12", "Each decoder block has two of them."),
            Choice("18", "6 in the encoder, 6 + 6 in the decoder.", right=True),
            Choice("24", "An encoder block has one, not two: it has no other sentence to look at."),
        ),
    ),
    Question(
        "Which sub-layer has a causal mask?",
        (
            Choice("The encoder's self-attention", "The source is there as a whole; only its padding is hidden."),
            Choice("Cross-attention", "Every target word may look at every source word."),
            Choice("The decoder's self-attention", "What is not yet written must not be seen.", right=True),
        ),
    ),
    Question(
        "W_q and W_k both start at zero. What happens in training?",
        (
            Choice("They never move", "Each one's gradient contains the other as a factor.", right=True),
            Choice("They learn slowly", "Their gradient is not small, it is exactly 0."),
            Choice("The loss becomes NaN", "All scores are 0, so all weights are alike; nothing in that is infinite."),
        ),
    ),
]
