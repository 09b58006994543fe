"""An exercise that stands inside the notebook: a cache of keys and values for the learner's own attention."""
# mypy: disable-error-code="override"

import math
import zlib

import torch
from torch import Tensor

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.plain import Attention


def _in_pieces(answer: type, n_heads: int, x: Tensor, sizes: list[int]) -> dict[str, object]:
    """What the layer says to x (1, T, D) in pieces of these sizes, and what it keeps, form before numbers."""
    with torch.random.fork_rng(devices=[]):
        layer = answer(x.shape[-1], n_heads)
    with torch.no_grad():
        for name, weight in layer.named_parameters():
            (drawn,) = random_tensors(weight.shape, seed=zlib.crc32(name.encode()))
            weight.copy_(drawn / weight.shape[-1] ** 0.5)
        forms, outputs, past, read = "", [], None, 0
        for piece in x.split(sizes, dim=1):
            back = layer(piece, past)
            if not isinstance(back, (tuple, list)) or len(back) != 2 or not isinstance(back[1], (tuple, list)):
                raise TypeError("forward returns the output and, as a pair, the keys and values: out, (k, v)")
            output, past = back
            read += piece.shape[1]
            kept = " and ".join(str(tuple(one.shape)) for one in past)
            forms += f"after {read}: output {tuple(output.shape)}, kept {kept}; "
            if output.shape != piece.shape:
                break
            outputs.append(output)
    return {"forms": forms, "output": torch.cat([x[:, :0], *outputs], dim=1), "keys": past[0], "values": past[1]}


cached = Exercise(
    "CachedAttention",
    title="Attention with a cache",
    goal="Write forward. x (B, T, D) holds the new positions alone, one or several. `past` is None or the pair (keys, "
    "values) of all earlier ones, each (B, H, S, K) with K = D/H. Append the new keys and values, and let each new "
    "query look at all keys up to its own. Return the output (B, T, D) and the longer pair. Your layers and "
    "`self.split` are there.",
    difficulty=2,
    minutes=12,
    inline=True,
    cases=lambda: [
        (1, *random_tensors((1, 3, 2), seed=1), [1, 1, 1]),
        (2, *random_tensors((1, 6, 4), seed=2), [3, 3]),  # three at once: a mask one too far is not no mask
        (3, *random_tensors((1, 2, 12), seed=3), [1, 1]),
    ],
    run=_in_pieces,
    hints=(
        "Begin as in your Attention: q, k and v of x, split into heads. What is new goes between this and the scores.",
        "If there is a past: k = torch.cat([past[0], k], dim=2), and v likewise; the positions are axis 2. Then T = "
        "q.shape[2] and S = k.shape[2] differ.",
        "The first new query stands behind S − T others: mask = torch.ones(T, S, dtype=torch.bool).tril(S - T). Return "
        "the output and (k, v).",
    ),
)


@cached.solution
class CachedAttention(Attention):
    """Your Attention, which looks at the new positions and at those whose keys and values it kept."""

    def forward(self, x, past=None):
        """New positions x (B, T, D) -> output (B, T, D), and the pair of all keys and values so far."""
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))  # (B, H, T, K)
        if past is not None:
            k = torch.cat([past[0], k], dim=2)  # (B, H, S, K)
            v = torch.cat([past[1], v], dim=2)
        T, S = q.shape[2], k.shape[2]
        mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        return self.output((weights @ v).transpose(1, 2).flatten(-2)), (k, v)


cached.slips("""
PastIgnored    past is not None → False
  You did not use `past`: each piece sees itself alone, and the text before it is forgotten.
NewOnesNotAppended    torch.cat([past[0], k], dim=2) → past[0] ; torch.cat([past[1], v], dim=2) → past[1] ;
      .tril(S - T) →
  You did not append the new keys and values: a new word sees only the words before it, not itself.
OldPairReturned    (k, v) → (k, v) if past is None else past
  Your output is right, but you return the old pair. The new keys and values are lost for the next step.
NewestPairReturned    if past → new = k, v ⏎ if past ; , (k, v) → , new
  You keep only the newest keys and values: the next step forgets all that was before them.
QueriesKept    if past is not None: ⏎ k → asked = q ⏎
      if past is not None: ⏎     asked, past = torch.cat([past[0], q], dim=2), past[1:] ⏎     k ; , (k, v) →
      , (asked, k, v)
  You keep queries, too. No later position asks for an old query: keys and values are all that it reads.
QueriesForKeys    if past is not None: ⏎ k → kept = q if past is None else torch.cat([past[0], q], dim=2) ⏎
      if past is not None: ⏎     k ; , (k, v) → , (kept, v)
  You keep the queries in the place of the keys. Later queries are compared with keys: `past` is (keys, values).
MaskFromTheFirstKey    tril(S - T) → tril()
  Your mask begins at the first key, as if no word came before the new ones: with T = 1, the new word sees only key 0.
  Shift it by S − T: tril(S - T).
NoMask    .tril(S - T) →
  You left the mask out. With one new word that is right, but of two new words the first must not see the second.
MaskOneTooFar    tril(S - T) → tril(S - T + 1)
  Your mask is shifted one too far: each new word but the last sees the word after it, a leak. The shift is S − T.
Undivided    / math.sqrt(q.shape[-1]) →
  You left out the division by √K: your scores are √K times too large, and the weights too sharp.
DividedByTheWholeWidth    math.sqrt(q.shape[-1]) → math.sqrt(x.shape[-1])
  You divided by √D, the whole width. Each head's queries and keys have K = D/H numbers: divide by √K.
MaskWithoutItself    tril(S - T) → tril(max(S - T - 1, 0))
  Your mask is shifted one too far back: a new word does not see itself. The shift is S − T.
JoinedAlongTheBatch    [past[0], k], dim=2 → [past[0], k], dim=0 ; [past[1], v], dim=2 → [past[1], v], dim=0
  You joined along axis 0, the texts of the batch: the old words became a second text. The positions are axis 2 of (B,
  H, S, K).
NewOnesInFront    [past[0], k] → [k, past[0]] ; [past[1], v] → [v, past[1]]
  You put the new keys and values before the old ones. The order is that of the text: the past first.
PairSwapped    (k, v) → (v, k)
  You return the pair as (values, keys). Your next step then compares queries with values.
""")
