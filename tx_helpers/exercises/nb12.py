"""Exercises of notebook 12, a model that writes."""

import math

import torch

from tx_helpers.exercises.compare import as_mask
from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- the cache -------------------------------------------------------------------------------------------------------

cache = Exercise(
    "cached_mask",
    title="A mask for new queries",
    goal="`cached` keys have been stored before (perhaps none); `new` tokens come at once, with their own keys after "
    "those. Write the causal mask (new, cached + new) of truth values, True where a new query (a row) may look at a "
    "key (a column): at every key that is not ahead of it.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(2, 2), (1, 4), (3, 0), (3, 5)],
    run=lambda make, new, cached: as_mask(make(new, cached)),
    picture=True,
    hints=(
        "At which position of the full sequence is the first new query?",
        "At position `cached`: it sees everything in the cache, and itself.",
        "torch.ones(new, cached + new, dtype=torch.bool).tril(diagonal=cached)",
    ),
)


@cache.solution
def cached_mask(new, cached):
    """Mask (new, cached + new), True where a new query may look."""
    return torch.ones(new, cached + new, dtype=torch.bool).tril(diagonal=cached)


cache.add_mistakes(
    {
        "from_top_left": (
            "Your triangle starts at the top left: the first new query sees only the oldest key, as if it came first.",
            lambda new, cached: torch.ones(new, cached + new, dtype=torch.bool).tril(),
        ),
        "offset_too_large": (
            "Your offset is one too large: each new query sees the next one, and cached and uncached logits differ.",
            lambda new, cached: torch.ones(new, cached + new, dtype=torch.bool).tril(cached + 1),
        ),
        "offset_too_small": (
            "Your offset is one too small: no new query sees itself; with an empty cache the first sees nothing.",
            lambda new, cached: torch.ones(new, cached + new, dtype=torch.bool).tril(cached - 1),
        ),
        "nothing_masked": (
            "Your mask hides nothing. For a single new token that is right; several at once see each other's future.",
            lambda new, cached: torch.ones(new, cached + new, dtype=torch.bool),
        ),
        "cache_hidden": (
            "Your mask hides the old keys: the new tokens see each other, but nothing from the cache.",
            lambda new, cached: cached_mask(new, cached) & (torch.arange(cached + new) >= cached),
        ),
        "cache_behind": (
            "Your old keys come after the new ones: the triangle is in the first columns, where the cache should be.",
            lambda new, cached: cached_mask(new, cached).roll(new, dims=1),
        ),
        "cached_in_numbers": (
            "Your entries are right, but 0 and 1 would be added to the scores. Return truth values: dtype=torch.bool.",
            lambda new, cached: cached_mask(new, cached).float(),
        ),
    }
)


# --- where the new tokens stand --------------------------------------------------------------------------------------

places = Exercise(
    "cached_input",
    title="Where are the new tokens?",
    goal="The vectors of new tokens when `cached` tokens of each text have been read before: ids (B, T) of the new "
    "ones, embedding E (V, D), positions P (N, D), a row for each position of the text counted from 0, N ≥ cached + "
    "T. Scale the embedding by √D and add the positions: (B, T, D).",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (torch.tensor([[1]]), 2, torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.arange(10.0).view(5, 2)),
        (torch.tensor([[2, 0, 5], [5, 1, 1]]), 3, *random_tensors((7, 6), (9, 6), seed=7)),
        (torch.tensor([[3, 1], [0, 0], [4, 2]]), 1, *random_tensors((5, 3), (6, 3), seed=8)),
    ],
    hints=(
        "Position 0 belongs to the first token of the text. Which position does the first new token have?",
        "The new tokens are at cached, cached + 1, …, cached + T − 1.",
        "E[ids] * D**0.5 + P[cached : cached + T]",
    ),
)


@places.solution
def cached_input(ids, cached, E, P):
    """Vectors (B, T, D) of the new ids (B, T) after `cached` others; E (V, D), P (N, D)."""
    return E[ids] * E.shape[1] ** 0.5 + P[cached : cached + ids.shape[1]]


def _placed(ids, E, positions):
    return E[ids] * E.shape[1] ** 0.5 + positions


places.add_mistakes(
    {
        "offset_forgotten": (
            "Your positions start at 0, as if nothing had been read before: cached and uncached logits differ.",
            lambda ids, cached, E, P: _placed(ids, E, P[: ids.shape[1]]),
        ),
        "one_too_far": (
            "Your positions are one too far: the cache holds positions 0 to cached − 1, so the next is `cached`.",
            lambda ids, cached, E, P: _placed(ids, E, P[cached + 1 :][: ids.shape[1]]),
        ),
        "one_too_early": (
            "Your positions start one too early: the first new token got that of the last one in the cache.",
            lambda ids, cached, E, P: _placed(ids, E, P[cached - 1 :][: ids.shape[1]]),
        ),
        "all_in_one_place": (
            "You gave all new tokens the position `cached`. That is right for the first; the others follow it.",
            lambda ids, cached, E, P: _placed(ids, E, P[cached]),
        ),
        "last_of_the_table": (
            "You took the last rows of P, as if the text ended where the table of positions ends.",
            lambda ids, cached, E, P: _placed(ids, E, P[-ids.shape[1] :]),
        ),
        "without_positions": (
            "You gave the new tokens no position: without one the model cannot tell where in the text they are.",
            lambda ids, cached, E, P: _placed(ids, E, 0),
        ),
        "new_rows_unscaled": (
            "You did not scale the embedding by √D, but the tokens in the cache were scaled.",
            lambda ids, cached, E, P: E[ids] + P[cached : cached + ids.shape[1]],
        ),
    }
)


# --- memory ----------------------------------------------------------------------------------------------------------

memory = Exercise(
    "tokens_that_fit",
    title="How long a text fits?",
    goal="A machine has `memory` bytes left for the key–value cache. How many tokens may each of B texts (all of one "
    "length) have at most? The model has N layers and G key–value heads of width K; a number takes `size` bytes. "
    "Return a whole number: tokens that fit entirely, 0 if not even one does.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (100, 1, 1, 2, 1, 4),
        (16 * 2**30, 32, 8, 128, 4, 2),
        (10**6, 2, 4, 16, 8, 4),
        (10**9, 12, 12, 64, 3, 2),
        (30, 2, 1, 2, 1, 4),
        (10, 1, 1, 2, 1, 4),
    ],
    tolerance=1e-9,
    hints=(
        "How many numbers does one token store in one layer, and how many bytes in all layers?",
        "G heads of K numbers, as a key and as a value, in N layers: 2·N·G·K numbers for a token of one text.",
        "memory // (2 * N * G * K * B * size)",
    ),
)


@memory.solution
def tokens_that_fit(memory, N, G, K, B, size):
    """Tokens for each of B texts in so many bytes, for N layers, G heads of width K, numbers of `size` bytes."""
    return memory // (2 * N * G * K * B * size)


memory.add_mistakes(
    {
        "one_of_the_two": (
            "You counted keys or values, but the cache holds both: half as many tokens fit.",
            lambda memory, N, G, K, B, size: memory // (N * G * K * B * size),
        ),
        "one_layer": (
            "You counted one layer: each of the N layers stores keys and values of its own.",
            lambda memory, N, G, K, B, size: memory // (2 * G * K * B * size),
        ),
        "square_of_the_length": (
            "You took a root, as if the cache held T × T scores. It holds keys and values, and grows with T itself.",
            lambda memory, N, G, K, B, size: math.isqrt(memory // (2 * N * G * K * B * size)),
        ),
        "numbers_for_bytes": (
            "You counted a byte for a number; each of them takes `size` bytes.",
            lambda memory, N, G, K, B, size: memory // (2 * N * G * K * B),
        ),
        "queries_kept": (
            "You counted queries as well: they are used once and thrown away.",
            lambda memory, N, G, K, B, size: memory // (3 * N * G * K * B * size),
        ),
        "texts_forgotten": (
            "You left out the B texts: each has a cache of its own, so this is for all of them together.",
            lambda memory, N, G, K, B, size: memory // (2 * N * G * K * size),
        ),
        "rounded_up": (
            "You rounded up: the last token would no longer fit entirely.",
            lambda memory, N, G, K, B, size: -(-memory // (2 * N * G * K * B * size)),
        ),
        "rounded_to_the_nearest": (
            "You rounded to the nearest whole number: from a half on, the last token would not fit entirely.",
            lambda memory, N, G, K, B, size: round(memory / (2 * N * G * K * B * size)),
        ),
        "not_rounded": (
            "You did not round: a part of a token does not fit. Divide with //, which rounds down.",
            lambda memory, N, G, K, B, size: memory / (2 * N * G * K * B * size),
        ),
    }
)


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = [
    Question(
        "How does a GPT read its prompt without an encoder?",
        (
            Choice("It cannot", "It can: the stack that writes also reads."),
            Choice("In the same stack, all positions at once", "Its keys and values go into the cache.", right=True),
            Choice("By a second network, trained on prompts alone", "There is only one network, without an encoder."),
        ),
    ),
    Question(
        "The entropy floor of a corpus is …",
        (
            Choice("the loss of the best model that we trained", "A better model may come; the floor stays."),
            Choice("the mean surprise of its source", "No model can have a lower loss on average.", right=True),
            Choice("ln V, the loss of a model without any training", "That is where training begins."),
        ),
    ),
    Question(
        "A writer sees 64 characters. Its hero was named 200 characters ago. What does it write?",
        (
            Choice("The hero's name, which its weights remember", "Weights know the corpus, not this story."),
            Choice("Some hero's name", "The right kind of word, by guessing.", right=True),
            Choice("An end sign, since the name is missing", "Nothing tells it that anything is missing."),
        ),
    ),
    Question(
        "What do the two sides of a decoder-only model share that an encoder–decoder keeps apart?",
        (
            Choice("Prompt and answer: one stack, one mask", "The prompt is the text so far.", right=True),
            Choice("The vocabularies of the two languages, always", "An encoder–decoder may share them, too."),
            Choice("The cache of the encoder's memory", "There is no encoder, so there is no memory."),
        ),
    ),
    Question(
        "A loss of 0.7 nats a character: between how many equally likely characters does the model waver?",
        (
            Choice("0.7", "The loss is a logarithm."),
            Choice("e^0.7 ≈ 2", "This number is the perplexity.", right=True),
            Choice("all V characters of the vocabulary", "That would be a loss of ln V."),
        ),
    ),
]
