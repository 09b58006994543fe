"""Exercises on modern Transformers: shared keys and values, the size of a cache, and the quiz."""

import math

import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- grouped queries -------------------------------------------------------------------------------------------------

groups = Exercise(
    "grouped_attention",
    title="Several queries share a key",
    goal="H heads of queries share G heads of keys and values, and H is a multiple of G. Neighbours share: the first "
    "H/G query heads read the first head of keys and values, the next H/G the second, and so on. q is (H, T, K), k and "
    "v are (G, S, K). Return the outputs of all H heads (H, T, K), without a mask.",
    difficulty=2,
    minutes=8,
    source="Ainslie et al. 2023, section 2.2",
    formula=r"o_h = \mathrm{softmax}\Bigl(\frac{q_h k_g^\top}{\sqrt K}\Bigr) v_g, \qquad "
    r"g = \Bigl\lfloor \frac{h}{H/G} \Bigr\rfloor",
    cases=lambda: [
        tuple(3 * x for x in random_tensors((4, 1, 2), (2, 2, 2), (2, 2, 2), seed=41)),
        random_tensors((6, 3, 4), (3, 5, 4), (3, 5, 4), seed=42),
        random_tensors((12, 4, 3), (4, 7, 3), (4, 7, 3), seed=43),
    ],
    hints=(
        "Give each query head its own copy of the keys and values, then it is attention as always.",
        "Each head of keys is copied H/G times in a row: 0 0 1 1, not 0 1 0 1.",
        "k = k.repeat_interleave(len(q) // len(k), dim=0), and v likewise. (repeat would give 0 1 0 1.)",
    ),
)


@groups.solution
def grouped_attention(q, k, v):
    """Output (H, T, K) of H query heads q (H, T, K) that share the keys and values k, v (G, S, K)."""
    grouped = q.unflatten(0, (len(k), -1))  # (G, H/G, T, K)
    weights = (grouped @ k.unsqueeze(1).mT / math.sqrt(q.shape[-1])).softmax(dim=-1)  # (G, H/G, T, S)
    return (weights @ v.unsqueeze(1)).flatten(0, 1)


def _interleaved(x, H):
    return x.repeat_interleave(H // len(x), dim=0)


def _tiled(x, H):
    return x.repeat(H // len(x), 1, 1)


def _attend(q, k, v, width=None, dim=-1):
    return (q @ k.mT / math.sqrt(width or q.shape[-1])).softmax(dim) @ v


def _grouped(keys=_interleaved, values=_interleaved):
    return lambda q, k, v: _attend(q, keys(k, len(q)), values(v, len(q)))


def _group_mean(q, G):
    """Queries (H, T, K) averaged within each group, once for each of its heads."""
    means = q.unflatten(0, (G, -1)).mean(1)
    return _interleaved(means, len(q))


groups.add_mistakes(
    {
        "repeat": (
            "Your query heads read the heads 0 1 2 0 1 2 of keys and values, as `repeat` copies them. Neighbours "
            "share: 0 0 1 1 2 2, which is repeat_interleave. With trained weights yours gives nonsense, but no error.",
            _grouped(_tiled, _tiled),
        ),
        "values_tiled": (
            "Your keys are shared by neighbours, but your values come in the order 0 1 2 0 1 2. A head of queries "
            "needs the values that belong to its keys.",
            _grouped(values=_tiled),
        ),
        "keys_tiled": (
            "Your values are shared by neighbours, but your keys come in the order 0 1 2 0 1 2. A head of queries "
            "needs the keys that belong to its values.",
            _grouped(keys=_tiled),
        ),
        "first_for_all": (
            "All your query heads read the first head of keys and values. That would be multi-query attention, G = 1.",
            _grouped(lambda k, H: k[:1], lambda v, H: v[:1]),
        ),
        "mean_for_all": (
            "You averaged the heads of keys and values. A model with H heads is converted to multi-query attention in "
            "this way; here each group keeps its own.",
            _grouped(lambda k, H: k.mean(0, keepdim=True), lambda v, H: v.mean(0, keepdim=True)),
        ),
        "order_reversed": (
            "Your groups are in reverse order: the first query heads read the last head of keys.",
            _grouped(lambda k, H: _interleaved(k, H).flip(0), lambda v, H: _interleaved(v, H).flip(0)),
        ),
        "queries_averaged": (
            "You averaged the queries of a group, so all its heads give the same output. The queries stay apart; only "
            "keys and values are shared.",
            lambda q, k, v: _attend(_group_mean(q, len(k)), _interleaved(k, len(q)), _interleaved(v, len(q))),
        ),
        "not_scaled": (
            "The division by √K is missing. Sharing keys does not change it.",
            lambda q, k, v: _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), width=1),
        ),
        "scaled_by_all_heads": (
            "You divided by the root of H·K, the width of all heads together. Each score is a sum over K products.",
            lambda q, k, v: _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), width=len(q) * q.shape[-1]),
        ),
        "scaled_by_the_group": (
            "You divided by the root of K·H/G, as if the heads of a group were one wide head. Each query has the width "
            "K, however many share its keys.",
            lambda q, k, v: _attend(
                q, _interleaved(k, len(q)), _interleaved(v, len(q)), width=len(q) // len(k) * q.shape[-1]
            ),
        ),
        "causal": (
            "You hid the later keys. There is no mask here: every query may look at all S keys.",
            lambda q, k, v: F.scaled_dot_product_attention(
                q, _interleaved(k, len(q)), _interleaved(v, len(q)), is_causal=True
            ),
        ),
        "softmax_over_queries": (
            "Your softmax runs over the queries. The weights of each query have to sum to 1 over the keys: dim=-1.",
            lambda q, k, v: _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), dim=-2),
        ),
    }
)

# --- the cache of a model --------------------------------------------------------------------------------------------

cached = Exercise(
    "window_cache",
    title="How large is this cache?",
    goal="How many bytes does the key–value cache of a model take after T tokens of each of B texts? `windows` is a "
    "list with a whole number for each layer: how many positions the layer looks back to, or 0 if it sees all of them. "
    "A layer with a window keeps no more than these positions. There are H heads of queries and G heads of keys and "
    "values, all of width K, and a number takes `size` bytes.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        ([3, 0], 5, 1, 4, 2, 2, 2),
        ([4096, 0] * 21, 131072, 1, 16, 8, 256, 2),
        ([128, 128, 128, 0, 0], 1000, 4, 12, 3, 64, 1),
        ([50, 0, 700], 200, 3, 6, 2, 32, 4),
    ],
    tolerance=1e-9,
    hints=(
        "First the positions: how many does each layer keep? Add them up over the layers.",
        "A layer keeps min(T, window) positions, or T if its window is 0.",
        "Each position has a key and a value in each of G heads: 2·G·K numbers of `size` bytes, for each of B texts.",
    ),
)


@cached.solution
def window_cache(windows, T, B, H, G, K, size):
    """Bytes of the cache of T tokens of B texts: a window for each layer (0: none), H query heads, G key heads."""
    positions = sum(min(T, window or T) for window in windows)
    return B * positions * 2 * G * K * size


def _kept(windows, T):
    return sum(min(T, window or T) for window in windows)


cached.add_mistakes(
    {
        "query_heads": (
            "You counted H heads. Keys and values have only G heads: this is what grouped queries save.",
            lambda windows, T, B, H, G, K, size: B * _kept(windows, T) * 2 * H * K * size,
        ),
        "one_of_the_two": (
            "You counted keys or values, but the cache holds both: the factor 2 is missing.",
            lambda windows, T, B, H, G, K, size: B * _kept(windows, T) * G * K * size,
        ),
        "queries_kept": (
            "You counted queries, keys and values. A query is used once and thrown away: 2, not 3.",
            lambda windows, T, B, H, G, K, size: B * _kept(windows, T) * 3 * G * K * size,
        ),
        "windows_ignored": (
            "You counted T positions in every layer. A layer with a window forgets what it can no longer see.",
            lambda windows, T, B, H, G, K, size: B * len(windows) * T * 2 * G * K * size,
        ),
        "cache_of_2017": (
            "You counted T positions in every layer, and H heads: the cache of a model from 2017. Keys and values have "
            "only G heads, and a layer with a window forgets.",
            lambda windows, T, B, H, G, K, size: B * len(windows) * T * 2 * H * K * size,
        ),
        "window_not_filled": (
            "You counted the whole window even where the text is shorter than it: take the smaller of both.",
            lambda windows, T, B, H, G, K, size: B * sum(w or T for w in windows) * 2 * G * K * size,
        ),
        "full_layers_left_out": (
            "You took a window of 0 at its word: such a layer sees everything, so it keeps all T positions.",
            lambda windows, T, B, H, G, K, size: B * sum(min(T, w) for w in windows) * 2 * G * K * size,
        ),
        "larger_of_both": (
            "You took the larger of T and the window. A layer keeps at most its window, and never more than T.",
            lambda windows, T, B, H, G, K, size: B * sum(max(T, w) for w in windows) * 2 * G * K * size,
        ),
        "texts_forgotten": (
            "You left out the B texts: each has a cache of its own.",
            lambda windows, T, B, H, G, K, size: _kept(windows, T) * 2 * G * K * size,
        ),
        "numbers_for_bytes": (
            "You counted numbers. Each takes `size` bytes.",
            lambda windows, T, B, H, G, K, size: B * _kept(windows, T) * 2 * G * K,
        ),
        "bits_for_bytes": (
            "You counted bits: `size` is in bytes already, so there is no factor 8.",
            lambda windows, T, B, H, G, K, size: B * _kept(windows, T) * 2 * G * K * size * 8,
        ),
        "one_layer": (
            "You counted one layer, which sees all T tokens. Each layer has keys and values of its own.",
            lambda windows, T, B, H, G, K, size: B * T * 2 * G * K * size,
        ),
        "square_of_the_length": (
            "You counted a matrix of T positions for each position. Scores are not kept: the cache grows with T, not "
            "with its square.",
            lambda windows, T, B, H, G, K, size: B * _kept(windows, T) * T * 2 * G * K * size,
        ),
    }
)

# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = [
    Question(
        "A text becomes twice as long. What does FlashAttention take in training now?",
        (
            Choice("Twice the memory and twice the operations", "All scores are still computed: T² of them."),
            Choice("Four times the memory, four times the operations", "It never holds the table of T × T scores."),
            Choice("Twice the memory, four times the operations", "Exact attention stays quadratic.", right=True),
        ),
    ),
    Question(
        "A model uses RMSNorm. Where in the block does it stand?",
        (
            Choice("Before attention and feed-forward, as in pre-norm", "Often, but the formula does not say so."),
            Choice("The name does not tell", "What is normalised and where are two choices.", right=True),
            Choice("After the sum with the residual stream, as in 2017", "2017 had LayerNorm there; either fits."),
        ),
    ),
    Question(
        "Grouped queries with 8 heads of keys and values in place of 32. What is certain?",
        (
            Choice("The cache takes a quarter of the bytes", "It holds keys and values of 8 heads.", right=True),
            Choice("The scores take a quarter of the multiplications", "All 32 heads of queries still have scores."),
            Choice(
                "The model writes four times as fast",
                "Nearly all weights are read as before; only the cache is read faster.",
            ),
        ),
    ),
    Question(
        "A mixture of experts has 47 billion parameters, and 13 billion are active for a token. What does it need?",
        (
            Choice("Memory for 13 billion", "The next token may need any other expert, so all must be there."),
            Choice("The arithmetic of 47 billion", "A token passes the chosen experts only."),
            Choice("Memory for 47, arithmetic of 13", "It saves computing, not memory.", right=True),
        ),
    ),
    Question(
        "A drafted token was rejected, and you draw the next one from p itself. What goes wrong?",
        (
            Choice("Nothing: p is the large model's distribution", "The drafts that are kept count as well."),
            Choice("Tokens with p < q come too often", "Kept drafts bring them to p; p adds more.", right=True),
            Choice("The large model needs a second pass for it", "Its pass over the drafts has given p already."),
        ),
    ),
    Question(
        "A model finds a sentence that was hidden at position 900,000 of a long text. What does this show?",
        (
            Choice("It finds single sentences even there", "Using several facts is harder.", right=True),
            Choice("It can reason over all 900,000 tokens", "Questions that join two facts fail much earlier."),
            Choice("It was trained on texts of that length", "Positions can be stretched after training."),
        ),
    ),
    Question(
        "Linear attention has read 100,000 tokens. What does a head still know of them?",
        (
            Choice("Every key and value, as a cache does, in less memory", "K × K numbers cannot hold 100,000 pairs."),
            Choice("The last few tokens only", "That is a window. Here the sum weights old and new alike."),
            Choice("One sum of all k vᵀ", "Values under similar keys blend in it.", right=True),
        ),
    ),
    Question(
        "A new activation lowers the loss by 0.02 at equal steps, and a step takes 10 % longer. Is it worth it?",
        (
            Choice("Yes, a lower loss is a lower loss", "The old model could use that time for more steps."),
            Choice("No, 10 % is more than 0.02", "These are different units and cannot be compared."),
            Choice(
                "Compare at equal seconds, with several seeds",
                "Then both spend the same, and chance shows.",
                right=True,
            ),
        ),
    ),
]
