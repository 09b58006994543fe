"""Exercises on linear attention: its step as a recurrent network, and the delta rule."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- linear attention ------------------------------------------------------------------------------------------------


def _step_inputs(H, K, seed):
    """memory (H, K, K), total (H, K), then q, k and v (H, K); q, k and total are positive."""
    memory, total, q, k, v = random_tensors((H, K, K), (H, K), (H, K), (H, K), (H, K), seed=seed)
    return memory, 1 + total.abs(), 0.2 + q.abs(), 0.2 + k.abs(), v


linear = Exercise(
    "linear_step",
    inline=True,
    title="Linear attention, one step",
    goal="Write one step of causal linear attention as a recurrent network with H heads. It gets the state: `memory` M "
    "(H, K, K), the sum of k vᵀ over all tokens so far, and `total` z (H, K), the sum of their keys. It also gets the "
    "next token's q, k and v, (H, K) each; q and k are positive already. A token sees itself. Return the output "
    "(H, K), the new memory and the new total.",
    difficulty=2,
    minutes=8,
    source="Katharopoulos et al. 2020, section 3.4",
    formula=r"M_t = M_{t-1} + k_t v_t^\top, \quad z_t = z_{t-1} + k_t, \quad "
    r"o_t = \frac{M_t^\top q_t}{z_t^\top q_t}",
    cases=lambda: [
        (
            torch.tensor([[[0.0, 0.0], [0.0, 0.0]]]),
            torch.tensor([[0.0, 0.0]]),
            torch.tensor([[1.0, 2.0]]),
            torch.tensor([[1.0, 3.0]]),
            torch.tensor([[5.0, 7.0]]),
        ),
        _step_inputs(2, 3, seed=11),
        _step_inputs(4, 5, seed=12),
    ],
    hints=(
        "First write the token into the state, then read: a token sees itself.",
        "k[:, :, None] * v[:, None, :] has the shape (H, K, K): rows belong to the key, columns to the value.",
        "(q[:, :, None] * memory).sum(1) reads the memory; divide by (q * total).sum(-1, keepdim=True).",
    ),
)


@linear.solution
def linear_step(memory, total, q, k, v):
    """Output (H, K), memory (H, K, K) and total (H, K) after one more token with q, k and v (H, K)."""
    memory = memory + k.unsqueeze(-1) @ v.unsqueeze(-2)  # (H, K, 1) @ (H, 1, K)
    total = total + k
    read = (q.unsqueeze(-2) @ memory).squeeze(-2)  # (H, 1, K) @ (H, K, K) -> (H, K)
    return read / (q * total).sum(dim=-1, keepdim=True), memory, total


linear.slips("""
read_before_written    return read / (q * total) →
      read = (q.unsqueeze(-2) @ (memory - k.unsqueeze(-1) * v.unsqueeze(-2))).squeeze(-2) ⏎
      return read / (q * (total - k))
  You read before you wrote: the token does not see itself, and the first one divides by 0.
old_total    (q * total) → (q * (total - k))
  You divided by the total of the tokens before this one. The memory that you read holds this token, too, so the total
  has to.
old_memory    q.unsqueeze(-2) @ memory → q.unsqueeze(-2) @ (memory - k.unsqueeze(-1) @ v.unsqueeze(-2))
  You read the old memory and divided by the new total: this token's value is missing from a mean that counts it.
not_divided    / (q * total).sum(dim=-1, keepdim=True) →
  You did not divide by zᵀq: the output is a sum over all tokens, not a mean, and grows with the text.
divided_by_the_sum_of_keys    (q * total) → total
  You divided by the sum of the entries of z. The weights of the values are q · k, so they sum to q · z.
divided_over_all_heads    .sum(dim=-1, keepdim=True) → .sum()
  You divided by one number for all heads, the sum over the whole of q ∘ z. Each head has its own: sum over the last
  axis alone, with keepdim=True.
heads_summed    read / → read.sum(0) /
  You summed over the heads as well, so all heads read the same. Each head has its own memory: sum over its rows alone,
  and keep the axis of the heads.
divided_entry_by_entry    .sum(dim=-1, keepdim=True) →
  You divided entry by entry by q ∘ z. The sum of all weights is one number for each head: add up q ∘ z.
read_with_the_key    read = → q = k ⏎ read =
  You read the memory with the key. The key writes into the memory, the query reads from it.
written_with_the_query    memory = memory → k = q ⏎ memory = memory
  You wrote with the query in place of the key, into the memory and into the total.
read_transposed    q.unsqueeze(-2) @ memory → q.unsqueeze(-2) @ memory.mT
  You read the memory the wrong way round: M q in place of Mᵀ q. Rows of M belong to the key, and the query has to meet
  the keys.
read_over_values    read / → q * memory.sum(-1) /
  You multiplied the query with the memory and summed over the columns. These belong to the value and must stay; sum
  over the rows, which belong to the key: .sum(1).
features_twice    memory = memory → q, k = q + 1, k + 1 ⏎ memory = memory
  You made q and k positive once more, with elu(x) + 1. They are positive already, so this adds 1 to both.
written_transposed    k.unsqueeze(-1) @ v.unsqueeze(-2) → v.unsqueeze(-1) @ k.unsqueeze(-2)
  You wrote v kᵀ in place of k vᵀ, so reading gives the keys back. Rows of M belong to the key.
memory_transposed    keepdim=True), memory → keepdim=True), memory.mT.clone()
  Your output fits, but your memory is transposed: you keep v kᵀ and read M q. Here rows of M belong to the key, and the
  memory from before is kept so, too.
past_overwritten    memory = memory + k → memory = k ; total = total + k → total = k.clone()
  You replaced the state in place of adding to it, so the past is lost: the output is v, whatever came before.
total_not_updated    keepdim=True), memory, total → keepdim=True), memory, total - k
  You returned the total without this token's key. The next step would divide by too little.
memory_not_updated    keepdim=True), memory → keepdim=True), memory - k.unsqueeze(-1) @ v.unsqueeze(-2)
  You returned the memory without this token. The next token could not see it.
entry_by_entry    k.unsqueeze(-1) @ v.unsqueeze(-2) → (k * v).unsqueeze(-2)
  You wrote k ∘ v into the memory, entry by entry, so every row became the same. The outer product k vᵀ has one entry
  for each pair: k[:, :, None] * v[:, None, :].
""")


# --- the delta rule --------------------------------------------------------------------------------------------------


def _written(seed, H, K):
    """memory (H, K, K), k (H, K) of length 1, v (H, K), beta (H,) between 0 and 1."""
    memory, k, v, beta = random_tensors((H, K, K), (H, K), (H, K), (H,), seed=seed)
    return memory, k / k.norm(dim=-1, keepdim=True), v, beta.sigmoid()


delta = Exercise(
    "delta_step",
    title="Correct what the memory says",
    goal="Linear attention adds k vᵀ to its memory even if something is stored under k already. The delta rule first "
    "reads what the memory returns for k, and then writes only the difference to v. Write its update for H heads: "
    "`memory` M (H, K, K) with rows for the key, k (H, K) of length 1, v (H, K), and β `beta` (H,), between 0 (write "
    "nothing) and 1 (replace entirely). Return the new memory.",
    difficulty=2,
    minutes=8,
    source="Schlag et al. 2021, section 4.2",
    formula=r"M_t = M_{t-1} + \beta_t\, k_t \bigl(v_t - M_{t-1}^\top k_t\bigr)^\top",
    cases=lambda: [
        (
            torch.tensor([[[2.0, 1.0], [4.0, 0.0]]]),
            torch.tensor([[0.6, 0.8]]),
            torch.tensor([[5.0, -1.0]]),
            torch.tensor([0.5]),
        ),
        _written(seed=31, H=2, K=3),
        _written(seed=32, H=4, K=5),
    ],
    hints=(
        "Three steps: read with k, take the difference to v, write it under k.",
        "stored = (k[..., None] * memory).sum(-2) is Mᵀ k, of shape (H, K).",
        "memory + beta[:, None, None] * k[:, :, None] * (v - stored)[:, None, :]",
    ),
)


@delta.solution
def delta_step(memory, k, v, beta):
    """The memory (H, K, K) after v (H, K) was written under k (H, K) with the strength beta (H,)."""
    stored = (k.unsqueeze(-2) @ memory).squeeze(-2)  # (H, 1, K) @ (H, K, K) -> (H, K)
    error = beta.unsqueeze(-1) * (v - stored)
    return memory + k.unsqueeze(-1) @ error.unsqueeze(-2)


delta.slips("""
nothing_read    - stored →
  You did not read what the memory says already: this is plain linear attention with a strength. Under a key that comes
  twice, both values pile up.
beta_missing    beta.unsqueeze(-1) * →
  β is missing: you always replace the value entirely.
error_turned    v - stored → stored - v
  Your error has the wrong sign: it is v minus what the memory returns. Yours moves the memory away from v.
old_value_added    v - stored → v + stored
  You added what the memory returns, Mᵀk, to v. It has to be taken away: what is written is the difference.
mixture_added    beta.unsqueeze(-1) * (v - stored) → beta.unsqueeze(-1) * v + (1 - beta).unsqueeze(-1) * stored
  Your mixture β v + (1 − β) Mᵀk is what the memory should return afterwards. You added it to what it returns already;
  add only the difference, β (v − Mᵀk).
beta_for_the_old_value_only    beta.unsqueeze(-1) * (v - stored) → v - beta.unsqueeze(-1) * stored
  You multiplied only the old value by β. What is removed and what is written get the same strength.
beta_for_the_new_value_only    beta.unsqueeze(-1) * (v - stored) → beta.unsqueeze(-1) * v - stored
  You multiplied only the new value by β, and removed the old one entirely. Both get the same strength.
erased_only    v - stored → - stored
  You removed the old value and wrote nothing: v does not occur in the new memory.
everything_fades    (v - stored) → v ; return memory + → return (1 - beta)[:, None, None] * memory +
  You let the whole memory fade by 1 − β. That is a gate, which forgets under all keys; the delta rule changes what is
  stored under k alone.
memory_dropped    memory + →
  You returned the change alone. Add it to the memory.
read_transposed    k.unsqueeze(-2) @ memory → k.unsqueeze(-2) @ memory.mT
  You read M k in place of Mᵀ k. The rows of M belong to the key, so the sum runs over the rows.
written_transposed    k.unsqueeze(-1) @ error.unsqueeze(-2) → error.unsqueeze(-1) @ k.unsqueeze(-2)
  You wrote the outer product the wrong way round: k belongs to the rows, the error to the columns.
heads_summed    v - stored → v - stored.sum(0)
  You summed over the heads as well when you read, so each head corrects what all of them hold. Each has its own memory:
  sum over its rows alone.
written_first    (v - stored) → (2 * v - stored - beta.unsqueeze(-1) * v)
  You wrote β k vᵀ first and read then: what you took for the old value contains v already, and v is written twice.
beta_turned    beta.unsqueeze(-1) * → (1 - beta).unsqueeze(-1) *
  Your strength is 1 − β. With β = 1 the new value replaces the old one entirely; with β = 0 nothing is written.
beta_twice    beta.unsqueeze(-1) → beta.unsqueeze(-1) ** 2
  You multiplied by β twice. Once is enough, either on the error or on the key.
""")
