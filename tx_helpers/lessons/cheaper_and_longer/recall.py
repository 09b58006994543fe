"""Recall of several pairs (MQAR): the task on which models without attention are told apart.

    keys with their values …            then some keys again, in any order: which value belonged to each?
    7 21  3 18  5 30                    0  0  3  0  0  0  7  0  5  0
                                              ↓           ↓     ↓
                                              18          21    30

Source: Arora et al. 2023 (Zoology): multi-query associative recall. There, random ids fill the places between queries.
"""

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.text.data import IGNORE

NOTHING = 0  # the id between the queries


def recall_pairs(
    batch: int,
    pairs: int,
    length: int,
    *,
    vocab_size: int = 64,
    power: float = 0.01,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Ids and targets (batch, length): 2 · pairs ids of keys and values, then each key once; its target is its value.

    Id 0 fills the places without a query. Keys are 1 … (V − 1)/2, values the ids above; a key occurs in one pair, and a
    value may be that of several keys. All other targets are −100. The queries stand on every second place after the
    pairs. The d-th of these places is drawn with a weight of d^(power − 1), so that near ones are frequent and far ones
    occur; with a power of 1 all are equally likely.
    """
    sizes = dict(batch=batch, pairs=pairs, length=length, vocab_size=vocab_size)
    check_numbers("recall_pairs", sizes, least=1, whole=True)
    check_numbers("recall_pairs", above=0, most=1, power=power)
    n_keys, places = (vocab_size - 1) // 2, (length - 2 * pairs) // 2
    if pairs > n_keys:
        raise ValueError(f"recall_pairs: {pairs} pairs, but vocab_size={vocab_size} leaves {n_keys} keys")
    if pairs > places:
        raise ValueError(f"recall_pairs: {pairs} pairs need a length of {4 * pairs} or more, not {length}")
    keys = 1 + _choose(torch.ones(n_keys), batch, pairs, generator)
    values = torch.randint(1 + n_keys, vocab_size, (batch, pairs), generator=generator)
    weights = torch.arange(1, places + 1, dtype=torch.float64) ** (power - 1)
    where = 2 * pairs + 2 * _choose(weights / weights.sum(), batch, pairs, generator)
    ids = torch.full((batch, length), NOTHING)
    ids[:, : 2 * pairs] = torch.stack([keys, values], dim=-1).flatten(1)
    targets = torch.full((batch, length), IGNORE)
    return ids.scatter(1, where, keys), targets.scatter(1, where, values)


def _choose(weights: Tensor, batch: int, count: int, generator: torch.Generator | None) -> Tensor:
    """(batch, count) different indices a row."""
    return torch.multinomial(weights.expand(batch, -1), count, generator=generator)
