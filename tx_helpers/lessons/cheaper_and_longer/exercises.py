"""Exercises on the cost of attention and its cache: the size of a cache, and the quiz."""

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions

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


cached.slips("""
query_heads    return B * _kept(windows, T) * 2 * H * K * size
  You counted H heads. Keys and values have only G heads: this is what grouped queries save.
one_of_the_two    return B * _kept(windows, T) * G * K * size
  You counted keys or values, but the cache holds both: the factor 2 is missing.
queries_kept    return B * _kept(windows, T) * 3 * G * K * size
  You counted queries, keys and values. A query is used once and thrown away: 2, not 3.
window_and_itself    return B * sum(min(T, w + 1) if w else T for w in windows) * 2 * G * K * size
  You kept the window and one position more. The window is all that such a layer keeps.
kilobytes    return B * _kept(windows, T) * 2 * G * K * size / 1024
  You divided by 1,024, which makes kilobytes. Return bytes.
windows_ignored    return B * len(windows) * T * 2 * G * K * size
  You counted T positions in every layer. A layer with a window forgets what it can no longer see.
cache_of_2017    return B * len(windows) * T * 2 * H * K * size
  You counted T positions in every layer, and H heads: the cache of a model from 2017. Keys and values have only G
  heads, and a layer with a window forgets.
window_not_filled    return B * sum(w or T for w in windows) * 2 * G * K * size
  You counted the whole window even where the text is shorter than it: take the smaller of both.
full_layers_left_out    return B * sum(min(T, w) for w in windows) * 2 * G * K * size
  You took a window of 0 at its word: such a layer sees everything, so it keeps all T positions.
larger_of_both    return B * sum(max(T, w) for w in windows) * 2 * G * K * size
  You took the larger of T and the window. A layer keeps at most its window, and never more than T.
texts_forgotten    return _kept(windows, T) * 2 * G * K * size
  You left out the B texts: each has a cache of its own.
numbers_for_bytes    return B * _kept(windows, T) * 2 * G * K
  You counted numbers. Each takes `size` bytes.
bits_for_bytes    return B * _kept(windows, T) * 2 * G * K * size * 8
  You counted bits: `size` is in bytes already, so there is no factor 8.
one_layer    return B * T * 2 * G * K * size
  You counted one layer, which sees all T tokens. Each layer has keys and values of its own.
square_of_the_length    return B * _kept(windows, T) * T * 2 * G * K * size
  You counted a matrix of T positions for each position. Scores are not kept: the cache grows with T, not with its
  square.
""")


def _kept(windows, T):
    return sum(min(T, window or T) for window in windows)


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
A writer's weights are stored in 8 bits instead of 16. Why does it write faster on a GPU?
  - Products of whole numbers are faster | They may be, but a single text waits for memory.
  * Each step loads half as many bytes | Writing waits for the weights to arrive.
  - Half of the weights are left out | All are there, each with fewer bits.
A text becomes twice as long. What does FlashAttention take in training now?
  - Twice the memory and twice the operations | All scores are still computed: T² of them.
  - Four times the memory, four times the operations | It never holds the table of T × T scores.
  * Twice the memory, four times the operations | Exact attention stays quadratic.
A drafted token was rejected, and you draw the next one from p itself. What goes wrong?
  - Nothing: p is the large model's distribution | The drafts that are kept count as well.
  * Tokens with p < q come too often | Kept drafts bring them to p; p adds more.
  - The large model needs a second pass for it | Its pass over the drafts has given p already.
A model finds a sentence that was hidden at position 900,000 of a long text. What does this show?
  * It finds single sentences even there | Using several facts is harder.
  - It can reason over all 900,000 tokens | Questions that join two facts fail much earlier.
  - It was trained on texts of that length | Positions can be stretched after training.
Linear attention has read 100,000 tokens. What does a head still know of them?
  - Every key and value, as a cache does, in less memory | K × K numbers cannot hold 100,000 pairs.
  - The last few tokens only | That is a window. Here the sum weights old and new alike.
  * One sum of all k vᵀ | Values under similar keys blend in it.
""")
