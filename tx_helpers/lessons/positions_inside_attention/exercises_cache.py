"""Two exercises that build a step of writing with rotary positions: turn a part of the features, then use a cache."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- a part of the features -------------------------------------------------------------------------------------------

partial = Exercise(
    "turn_some",
    title="A step of writing, step 1 of 2",
    goal="Turn only a part of each vector, as GPT-NeoX does, and at positions that need not begin at 0. x (T, K) holds "
    "queries or keys, `positions` (T,) says where each row stands. The first R features turn as a head of width R "
    "would, by halves, with the given base. The other features stay as they are. Return (T, K).",
    difficulty=2,
    minutes=12,
    source="Black et al. 2022, section 2.1",
    cases=lambda: [
        (torch.tensor([[1.0, 0.0, 5.0, 7.0]]), torch.tensor([2]), 2, 100.0),
        (*random_tensors((5, 8), seed=31), torch.arange(5), 4, 10000.0),
        (*random_tensors((4, 8), seed=32), torch.tensor([7, 8, 9, 10]), 4, 500.0),
        (*random_tensors((3, 6), seed=33), torch.tensor([3, 1, 20]), 6, 10000.0),
    ],
    hints=(
        "Cut x into x[:, :R] and x[:, R:]. The second part is put back behind the first in the end, untouched.",
        "The turning part is a small head: its pairs are i and i + R/2, and its frequencies count from base^0 with R "
        "in the place of K.",
        "angles = positions[:, None] / base ** (torch.arange(0, R, 2) / R), and a, b = x[:, :R].chunk(2, dim=-1)",
    ),
)


@partial.solution
def turn_some(x, positions, R, base):
    """x (T, K) with its first R features turned by halves to `positions` (T,)."""
    angles = positions[:, None] / base ** (torch.arange(0, R, 2) / R)  # (T, R/2)
    first, second = x[:, :R].chunk(2, dim=-1)
    turned = [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()]
    return torch.cat([*turned, x[:, R:]], dim=-1)


partial.slips("""
everything_turned    return _turn(x, positions, _omega(x.shape[1], base))
  You turned all K features. The features from R on stay as they are: they compare contents alone.
frequencies_of_the_whole_head    return torch.cat([_turn(x[:, :R], positions, _omega(R, base, x.shape[1])), x[:, R:]],
      dim=-1)
  Your exponents count with K. The part that turns is a head of width R, so they are −2i/R.
counted_from_zero    return turn_some(x, torch.arange(len(x)), R, base)
  You took row t as position t. `positions` says where each row stands: the first need not stand at 0.
the_last_features    return torch.cat([x[:, : x.shape[1] - R],
      _turn(x[:, x.shape[1] - R :], positions, _omega(R, base))], dim=-1)
  You turned the last R features. The first R turn, and the others stay.
base_of_2021    return turn_some(x, positions, R, 10000.0 if base != 10000.0 else 500000.0)
  Your base is always 10,000. Take the one that is given.
the_rest_dropped    return torch.cat([turn_some(x, positions, R, base)[:, :R], 0 * x[:, R:]], dim=-1)
  You set the features from R on to 0. They stay as they are, and go on comparing contents.
turned_backwards    return turn_some(x, -positions, R, base)
  You turned by −position · ω: the minus belongs to the sine of the first half.
""")


def _turn(x, positions, omega):
    """All of x (T, R), by halves, with these frequencies (R/2,)."""
    angles = positions[:, None] * omega
    first, second = x.chunk(2, dim=-1)
    return torch.cat(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )


def _omega(R, base, width=None):
    return base ** (-torch.arange(0, R, 2) / (width or R))


@partial.mistake("You turned neighbours, 2i with 2i + 1. By halves, feature i is paired with i + R/2.")
def neighbours_turned(x, positions, R, base):
    order = torch.arange(R).view(-1, 2).mT.flatten()
    part = x[:, :R].clone()
    part[:, order] = _turn(part[:, order], positions, _omega(R, base))
    return torch.cat([part, x[:, R:]], dim=-1)


@partial.mistake("You paired i with i + K/2, as in a whole head. Within the part that turns, i is paired with i + R/2.")
def pairs_of_the_whole_head(x, positions, R, base):
    whole, half = x.clone(), x.shape[1] // 2
    places = [*range(R // 2), *range(half, half + R // 2)]
    whole[:, places] = _turn(x[:, places], positions, _omega(R, base))
    return whole


# --- one step with a cache --------------------------------------------------------------------------------------------

writing = Exercise(
    "cached_weights",
    title="A step of writing, step 2 of 2",
    goal="A model has read S tokens, and reads T more. `cache` (S, K) holds the keys of the positions 0 … S − 1, each "
    "turned once, when it came. q and k (T, K) belong to the new tokens and have not been turned yet. Use "
    "`turn(x, positions)`, your function of step 1 with R and base filled in. Return two things: the attention weights "
    "of the new tokens over all keys, where no token sees a later one, and the cache for the next step.",
    difficulty=3,
    minutes=15,
    source="Su et al. 2021, section 3.2; Vaswani et al. 2017, section 3.2",
    cases=lambda: [
        (torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 1.0]]), _wide),
        (*random_tensors((3, 8), (3, 8), (4, 8), seed=34), _narrow),
        (*random_tensors((2, 4), (2, 4), (5, 4), seed=35), _wide),
        (*random_tensors((4, 8), (4, 8), seed=36), torch.zeros(0, 8), _narrow),
    ],
    hints=(
        "Which positions do the new tokens have? S of them are taken. Turn q and k to these positions, but nothing in "
        "the cache: it has been turned already.",
        "all_keys = torch.cat([cache, turned_k]). New token t stands at S + t, so it sees the keys 0 … S + t.",
        "torch.ones(T, S + T, dtype=torch.bool).tril(diagonal=S) marks what is seen; the rest of the scores becomes "
        "−inf before the softmax.",
    ),
)


def _wide(x, positions):
    """Both features of a pair turn, or all four."""
    return turn_some(x, positions, x.shape[1], 10000.0)


def _narrow(x, positions):
    return turn_some(x, positions, 4, 500.0)


@writing.solution
def cached_weights(q, k, cache, turn):
    """Weights (T, S + T) of the new tokens, and the cache (S + T, K), from q, k (T, K) and cache (S, K)."""
    T, S = len(q), len(cache)
    positions = torch.arange(S, S + T)
    keys = torch.cat([cache, turn(k, positions)])
    scores = turn(q, positions) @ keys.mT / q.shape[-1] ** 0.5
    seen = torch.ones(T, S + T, dtype=torch.bool).tril(diagonal=S)
    return scores.masked_fill(~seen, -torch.inf).softmax(-1), keys


writing.slips("""
cache_not_turned    return (cached_weights(q, k, cache, turn)[0], torch.cat([cache, k]))
  Your weights are right, but the new keys went into the cache before they were turned.
""")


def _weights(q, keys, *, root=None, diagonal=None):
    """Causal weights of the last len(q) of the keys; another root or another diagonal on request."""
    T, S = len(q), len(keys) - len(q)
    scores = q @ keys.mT / (q.shape[-1] ** 0.5 if root is None else root)
    seen = torch.ones(T, S + T, dtype=torch.bool).tril(diagonal=S if diagonal is None else diagonal)
    return scores.masked_fill(~seen, -torch.inf).softmax(-1)


def _new(q, cache):
    return torch.arange(len(cache), len(cache) + len(q))


@writing.mistake(
    "Your new tokens stand at the positions 0, 1, 2 …, as if nothing had been read. They come after the S tokens."
)
def offset_forgotten(q, k, cache, turn):
    at = torch.arange(len(q))
    keys = torch.cat([cache, turn(k, at)])
    return _weights(turn(q, at), keys), keys


@writing.mistake("Your new keys were not turned, only the queries: turn both to the positions S, S + 1 …")
def queries_turned_alone(q, k, cache, turn):
    keys = torch.cat([cache, k])
    return _weights(turn(q, _new(q, cache)), keys), keys


@writing.mistake("Your new tokens stand one position too far: S tokens are read, so the next position is S, not S + 1.")
def one_too_far(q, k, cache, turn):
    at = _new(q, cache) + 1
    keys = torch.cat([cache, turn(k, at)])
    return _weights(turn(q, at), keys), keys


@writing.mistake("You turned the keys of the cache again. Each was turned when it came, and is used as it is.")
def cache_turned_twice(q, k, cache, turn):
    at = _new(q, cache)
    keys = torch.cat([turn(cache, torch.arange(len(cache))), turn(k, at)])
    return _weights(turn(q, at), keys), keys


@writing.mistake(
    "Your mask begins with the first key: new token t sees the keys 0 … t. It stands at S + t and sees 0 … S + t."
)
def mask_without_the_cache(q, k, cache, turn):
    keys = cached_weights(q, k, cache, turn)[1]
    return _weights(turn(q, _new(q, cache)), keys, diagonal=0), keys


@writing.mistake("Your new tokens see the tokens that come after them. Mask these before the softmax.")
def no_mask_at_all(q, k, cache, turn):
    keys = cached_weights(q, k, cache, turn)[1]
    return _weights(turn(q, _new(q, cache)), keys, diagonal=len(keys)), keys


@writing.mistake("You turned the keys alone. Query and key both turn, so that the distance is left between them.")
def queries_not_turned(q, k, cache, turn):
    keys = cached_weights(q, k, cache, turn)[1]
    return _weights(q, keys), keys


@writing.mistake(
    "Your keys are right, but the queries are turned to 0, 1, 2 … Query and key of a token stand at one position."
)
def queries_from_zero(q, k, cache, turn):
    keys = cached_weights(q, k, cache, turn)[1]
    return _weights(turn(q, torch.arange(len(q))), keys), keys


@writing.mistake("You did not divide the scores by √d_k, the root of the width of a query.")
def no_root(q, k, cache, turn):
    keys = cached_weights(q, k, cache, turn)[1]
    return _weights(turn(q, _new(q, cache)), keys, root=1.0), keys


@writing.mistake("You put the new keys before the old ones. They come last: column s is the key of position s.")
def new_keys_in_front(q, k, cache, turn):
    keys = torch.cat([turn(k, _new(q, cache)), cache])
    return _weights(turn(q, _new(q, cache)), keys), keys
