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
everything_turned    return turn_some(x, positions, x.shape[1], base)
  You turned all K features. The features from R on stay as they are: they compare contents alone.
frequencies_of_the_whole_head    (torch.arange(0, R, 2) / R) → (torch.arange(0, R, 2) / x.shape[1])
  Your exponents count with K. The part that turns is a head of width R, so they are −2i/R.
counted_from_zero    return turn_some(x, torch.arange(len(x)), R, base)
  You took row t as position t. `positions` says where each row stands: the first need not stand at 0.
the_last_features    x[:, :R] → x[:, -R:] ; [*turned, x[:, R:]] → [x[:, :-R], *turned]
  You turned the last R features. The first R turn, and the others stay.
base_of_2021    return turn_some(x, positions, R, 10000.0 if base != 10000.0 else 500000.0)
  Your base is always 10,000. Take the one that is given.
the_rest_dropped    *turned, x[:, R:] → *turned, 0 * x[:, R:]
  You set the features from R on to 0. They stay as they are, and go on comparing contents.
turned_backwards    return turn_some(x, -positions, R, base)
  You turned by −position · ω: the minus belongs to the sine of the first half.
neighbours_turned    first, second = x[:, :R].chunk(2, dim=-1) → first, second = x[:, 0:R:2], x[:, 1:R:2] ;
      torch.cat([*turned, x[:, R:]], dim=-1) → torch.cat([torch.stack(turned, dim=-1).flatten(1), x[:, R:]], dim=-1)
  You turned neighbours, 2i with 2i + 1. By halves, feature i is paired with i + R/2.
pairs_of_the_whole_head    first, second = x[:, :R].chunk(2, dim=-1) → half = x.shape[1] // 2 ⏎
      first, second = x[:, : R // 2], x[:, half : half + R // 2] ; [*turned, x[:, R:]] →
      [turned[0], x[:, R // 2 : half], turned[1], x[:, half + R // 2 :]]
  You paired i with i + K/2, as in a whole head. Within the part that turns, i is paired with i + R/2.
""")


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
cache_not_turned    softmax(-1), keys → softmax(-1), torch.cat([cache, k])
  Your weights are right, but the new keys went into the cache before they were turned.
offset_forgotten    torch.arange(S, S + T) → torch.arange(T)
  Your new tokens stand at the positions 0, 1, 2 …, as if nothing had been read. They come after the S tokens.
queries_turned_alone    turn(k, positions) → k
  Your new keys were not turned, only the queries: turn both to the positions S, S + 1 …
one_too_far    torch.arange(S, S + T) → torch.arange(S + 1, S + T + 1)
  Your new tokens stand one position too far: S tokens are read, so the next position is S, not S + 1.
cache_turned_twice    [cache, turn → [turn(cache, torch.arange(S)), turn
  You turned the keys of the cache again. Each was turned when it came, and is used as it is.
mask_without_the_cache    diagonal=S → diagonal=0
  Your mask begins with the first key: new token t sees the keys 0 … t. It stands at S + t and sees 0 … S + t.
no_mask_at_all    diagonal=S → diagonal=S + T
  Your new tokens see the tokens that come after them. Mask these before the softmax.
queries_not_turned    turn(q, positions) → q
  You turned the keys alone. Query and key both turn, so that the distance is left between them.
queries_from_zero    turn(q, positions) → turn(q, torch.arange(T))
  Your keys are right, but the queries are turned to 0, 1, 2 … Query and key of a token stand at one position.
no_root    / q.shape[-1] ** 0.5 →
  You did not divide the scores by √d_k, the root of the width of a query.
new_keys_in_front    [cache, turn(k, positions)] → [turn(k, positions), cache]
  You put the new keys before the old ones. They come last: column s is the key of position s.
""")
