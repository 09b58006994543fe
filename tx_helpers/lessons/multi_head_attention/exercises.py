"""Exercises on multi-head attention."""

import math

import torch
from torch import nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- splitting -------------------------------------------------------------------------------------------------------

split = Exercise(
    "split_heads",
    title="Split the width into heads",
    goal="Cut x (B, T, D) into H heads of width K = D / H. Return (B, H, T, K). The first head gets the first K "
    "numbers of every position, the second the next K, and so on.",
    difficulty=1,
    minutes=5,
    inline=True,
    cases=lambda: [
        (torch.arange(12.0).reshape(1, 3, 4), 2),
        (*random_tensors((2, 3, 12), seed=10), 4),
        (*random_tensors((3, 5, 6), seed=11), 3),
    ],
    hints=(
        "view changes where rows end, and moves nothing. Which axis of x must become two?",
        "x.view(B, T, H, K) cuts each position's row. The heads are the third axis now, and should be the second.",
        "x.view(B, T, H, D // H).transpose(1, 2)",
    ),
)


@split.solution
def split_heads(x, H):
    """x (B, T, D) cut into heads (B, H, T, K), K = D / H."""
    B, T, D = x.shape
    return x.reshape(B, T, H, D // H).transpose(1, 2)


split.slips("""
split_by_view_alone    return x.reshape(x.shape[0], H, x.shape[1], -1)
  You made (B, H, T, K) by view alone, without a transpose: the shape is right, but a head now has all the numbers of
  some positions in place of some numbers of every position.
every_hth_number    return x.reshape(*x.shape[:2], -1, H).permute(0, 3, 1, 2)
  Your heads take turns: the first has every H-th number. It should have the first K, which are neighbours.
first_head_for_all    return x[:, None, :, : x.shape[2] // H].repeat(1, H, 1, 1)
  All your heads have the numbers of the first. Each should have K numbers of its own.
last_head_first    return split_heads(x, H).flip(1)
  Your heads are in reverse order: the first has the last K numbers, and should have the first.
turned_before_the_cut    return x.transpose(1, 2).reshape(x.shape[0], H, x.shape[1], -1)
  You swapped positions and features before you cut. Cut the last axis first; then bring the heads forward.
heads_before_the_batch    return x.reshape(H, *x.shape[:2], -1).transpose(0, 1)
  You viewed x as (H, B, T, K) and then swapped the first two axes: a head has pieces of other sentences.
never_transposed    return x.reshape(*x.shape[:2], H, -1)
  You cut each row into heads, (B, T, H, K), and stopped there. The heads should stand before the positions:
  transpose(1, 2).
heads_in_front    return split_heads(x, H).transpose(0, 1)
  You moved the heads in front of the batch, (H, B, T, K). The batch stays first: (B, H, T, K).
features_before_positions    return split_heads(x, H).transpose(1, 2).transpose(1, 3)
  You swapped positions and features, transpose(1, 3). After the cut the heads are axis 2: swap 1 and 2.
""")


# --- joining ---------------------------------------------------------------------------------------------------------

merge = Exercise(
    "join_heads",
    title="Join the heads of a loop",
    goal="A loop over the heads ended with torch.stack(outputs): z is (H, B, T, K), with the heads in front. Join it "
    "to (B, T, H·K): at each position the heads lie side by side, the first head first.",
    difficulty=1,
    minutes=5,
    inline=True,
    formula=r"\operatorname{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)",
    source="Vaswani et al. 2017, section 3.2.2",
    cases=lambda: [
        (torch.arange(8.0).reshape(2, 1, 2, 2),),
        random_tensors((4, 2, 3, 2), seed=2),
        random_tensors((2, 3, 5, 4), seed=3),
    ],
    hints=(
        "The last axis of the result is made of two axes of z. Which one must stand beside K?",
        "Bring H next to K first, behind B and T; then the two can become one axis.",
        "z.permute(1, 2, 0, 3).flatten(2)",
    ),
)


@merge.solution
def join_heads(z):
    """(B, T, H·K) of heads z (H, B, T, K)."""
    return z.permute(1, 2, 0, 3).flatten(2)


merge.slips("""
heads_take_turns    return z.permute(1, 2, 3, 0).flatten(2)
  In your rows the heads alternate feature by feature; each head's K features should stay together.
last_head_first    permute → flip(0).permute
  The last head comes first in your rows: the output matrix W_O would multiply each head by the weights of another.
heads_averaged    return z.mean(dim=0).repeat(1, 1, len(z))
  You averaged the heads and repeated the mean. Heads are not averaged: they stand side by side, and W_O mixes them.
heads_added_up    return z.sum(dim=0)
  You added the heads up, so W_O cannot tell them apart any more. They stand side by side: (B, T, H·K).
one_mean_of_all    return z.mean(dim=0)
  You took the mean over the heads, (B, T, K). A join loses nothing: all H·K numbers stay, side by side.
one_below_the_other    return z.transpose(0, 1).flatten(1, 2)
  You joined along the positions: a sentence now has H·T rows. Join along the last axis, the features.
joined_without_transpose    return z.transpose(0, 1).reshape(z.shape[1], z.shape[2], -1)
  You moved the batch to the front and joined by view alone, without swapping heads and positions: each row now holds
  several positions of one head.
relabelled_outright    return z.reshape(z.shape[1], z.shape[2], -1)
  You reshaped z with the heads still in front: no axis was moved, so words of different sentences share a row.
wrong_axes_swapped    return z.permute(1, 0, 3, 2).reshape(z.shape[1], z.shape[2], -1)
  You swapped positions and features, the last two axes. Heads and positions have to be swapped.
""")


# --- all of it -------------------------------------------------------------------------------------------------------

multi = Exercise(
    "multi_head",
    title="All heads at once",
    goal="Write multi-head self-attention without a loop, a mask or biases. x is (B, T, D) and every matrix (D, D). "
    "Project x, split the three results into H heads, attend in each head with scores divided by √d_k (d_k is K), "
    "join, and multiply by W_o. Return (B, T, D). A head's numbers are neighbours, the first head's first.",
    difficulty=2,
    minutes=10,
    inline=True,
    formula=r"\operatorname{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_H)\,W_O",
    source="Vaswani et al. 2017, section 3.2.2",
    cases=lambda: [
        (
            torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]),
            *(torch.eye(2), torch.tensor([[2.0, 1.0], [0.0, 1.0]]), 3 * torch.eye(2)),
            torch.tensor([[0.0, 1.0], [2.0, 0.0]]),
            2,
        ),
        (*random_tensors((2, 3, 8), *[(8, 8)] * 4, seed=12), 4),
        (*random_tensors((1, 5, 6), *[(6, 6)] * 4, seed=13), 3),
    ],
    hints=(
        "Three projections, three splits. With (B, H, T, K) a matrix product works in every head at once.",
        "weights = (q @ k.transpose(-2, -1) / math.sqrt(K)).softmax(-1): (B, H, T, T), for K = D // H.",
        "(weights @ v).transpose(1, 2).flatten(2) @ W_o",
    ),
)


@multi.solution
def multi_head(x, W_q, W_k, W_v, W_o, H):
    """Multi-head self-attention (B, T, D) of x (B, T, D); all matrices (D, D); H heads of width K = D / H."""
    B, T, D = x.shape
    q, k, v = ((x @ W).reshape(B, T, H, D // H).transpose(1, 2) for W in (W_q, W_k, W_v))  # (B, H, T, K) each
    weights = (q @ k.transpose(-2, -1) / math.sqrt(D // H)).softmax(dim=-1)  # (B, H, T, T)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o


multi.slips("""
scaled_by_whole_width    math.sqrt(D // H) → math.sqrt(D)
  You divided by √D. A dot product in a head runs over K = D / H numbers, so your scores are too small by a factor of
  √H.
softmax_over_heads    dim=-1 → dim=1
  Your softmax runs over the heads. It must run over the keys: in each head, the weights of a query sum to 1.
cut_by_view    reshape(B, T, H, D // H).transpose(1, 2) → reshape(B, H, T, D // H)
  Your heads were cut by view without a transpose: positions get mixed, and a causal model would look into the future.
merged_by_view    .transpose(1, 2).flatten(2) → .reshape(B, T, D)
  You merged the heads without a transpose: rows of the output hold pieces of several positions.
no_output_matrix    flatten(2) @ W_o → flatten(2)
  W_o is missing: the heads lie side by side, and nothing has mixed them.
heads_share_by_key    dim=-1 → dim=-2
  Your softmax runs over the queries: the columns of the weights sum to 1, and the rows do not.
keys_ask    in (W_q, W_k, W_v) → in (W_k, W_q, W_v)
  You multiplied the keys by the turned queries, k @ q.mT: a row of your scores belongs to a key. It should belong to a
  query: q @ k.mT.
features_and_heads_confused    (weights @ v).transpose(1, 2) → (weights @ v).permute(0, 2, 3, 1)
  You joined the heads with features before heads, so that the heads take turns. Bring positions before heads,
  transpose(1, 2), and flatten the last two.
unscaled    / math.sqrt(D // H) →
  Your scores are √d_k times too large: the division by √d_k, the root of K, is missing.
output_matrix_transposed    flatten(2) @ W_o → flatten(2) @ W_o.T
  You multiplied by W_o transposed. Rows are words here, so it is joined @ W_o; nn.Linear stores its matrix the other
  way round.
one_head_with_the_scale_of_a_narrow_one    reshape(B, T, H, D // H) → reshape(B, T, 1, D)
  You divided by the root of K but never split: one head of the full width D attended, with too sharp weights.
split_before_the_projection    x @ W) → x @ (W * torch.block_diag(*[torch.ones(D // H, D // H)] * H)))
  You split x first and projected each piece by itself, so a head reads K numbers of each word. Project all of x, then
  split: every head may read all D numbers.
one_head_of_full_width    reshape(B, T, H, D // H) → reshape(B, T, 1, D) ; sqrt(D // H) → sqrt(D)
  You attended once, with the full width D: there is no split into heads.
one_map_for_all    q @ k → q[:, :1] @ k[:, :1]
  All your heads use the weights of the first. Each has queries and keys of its own, so weights of its own.
""")


# --- packed --------------------------------------------------------------------------------------------------------

packed_split = Exercise(
    "split_packed",
    title="Splitting what is packed",
    goal="Many models compute queries, keys and values in one product and store them head by head (GPT-NeoX). "
    "`packed` is (B, T, 3·D); its last axis holds K features of the first head's query, K of its key, K of its value, "
    "then the same for the second head, and so on, with K = D / H. Return queries, keys and values, in this order, "
    "each (B, H, T, K).",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.arange(24.0).reshape(1, 2, 12), 2),
        (*random_tensors((2, 3, 24), seed=0), 4),
        (*random_tensors((3, 5, 18), seed=1), 2),
    ],
    hints=(
        "The last axis holds three axes: the head, which of the three, the feature. In which order?",
        "reshape(B, T, H, 3, K) cuts it; reshape cannot swap axes. Where do the five have to go?",
        "packed.reshape(B, T, H, 3, -1).permute(3, 0, 2, 1, 4), whose first axis holds queries, keys, values.",
    ),
)


@packed_split.solution
def split_packed(packed, H):
    "Queries, keys and values, each (B, H, T, K), of packed (B, T, 3·H·K), in which each head's three lie together."
    B, T, _ = packed.shape
    Q, K, V = packed.reshape(B, T, H, 3, -1).permute(3, 0, 2, 1, 4)
    return Q, K, V


packed_split.slips("""
packed_never_transposed    return tuple(part.transpose(1, 2) for part in split_packed(packed, H))
  You cut the last axis rightly and stopped there: your parts are (B, T, H, K). The heads should stand before the
  positions, (B, H, T, K).
same_slice_for_all    return tuple(part[:, :1].repeat(1, H, 1, 1) for part in split_packed(packed, H))
  All your heads have the features of the first. Each has 3·K features of its own.
heads_reversed    return tuple(part.flip(1) for part in split_packed(packed, H))
  Your heads are in reverse order: the first holds the last features, where it should hold the first.
split_by_view_alone    .permute(3, 0, 2, 1, 4) → .unbind(3) ; return Q, K, V →
      return tuple(part.reshape(B, H, T, -1) for part in (Q, K, V))
  You made (B, H, T, K) by view alone, without a transpose: the shape is right, but a head now holds all features of
  some positions in place of some features of every position.
in_three_blocks    H, 3, -1).permute(3, 0, 2, 1, 4) → 3, H, -1).permute(2, 0, 3, 1, 4)
  You cut the last axis into three large blocks first, all queries, all keys, all values. That is GPT-2's layout; here
  each head has its own three side by side.
turns_by_feature    H, 3, -1).permute(3, 0, 2, 1, 4) → H, -1, 3).permute(4, 0, 2, 1, 3)
  Your query, key and value alternate feature by feature. The query of a head is K neighbouring features; then comes its
  key.
heads_take_every_other_run    H, 3, -1).permute(3, 0, 2, 1, 4) → 3, -1, H).permute(2, 0, 4, 1, 3)
  You read the features with the heads innermost: each of your heads has every H-th feature. The first head has 3·K
  features.
keys_first    return Q, K, V → return K, Q, V
  You returned queries and keys in the wrong order: the first third of a head is its query.
""")


# --- shared keys -----------------------------------------------------------------------------------------------------

grouped = Exercise(
    "grouped_heads",
    title="Heads that share keys and values",
    goal="Multi-head self-attention without mask or biases, as later models have it: H query heads of width K = D / H, "
    "but only G heads of keys and values (G divides H). x is (B, T, D), W_q and W_o are (D, D), W_k and W_v "
    "are (D, G·K): G follows from their width. The first H / G query heads use the first key–value head, the next H "
    "/ G use the second, and so on. A head's features are neighbours, the first head's first. Project, split, "
    "attend in every query head, join, multiply by W_o. Return (B, T, D).",
    difficulty=3,
    minutes=15,
    formula=r"\operatorname{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)\,W^O",
    source="Vaswani et al. 2017, section 3.2.2; the sharing: Ainslie et al. 2023",
    cases=lambda: [
        (
            torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]),
            torch.eye(2),
            torch.tensor([[2.0], [1.0]]),
            torch.tensor([[3.0], [5.0]]),
            torch.tensor([[0.0, 1.0], [2.0, 0.0]]),
            2,
        ),
        (*random_tensors((2, 3, 8), (8, 8), (8, 4), (8, 4), (8, 8), seed=4), 4),
        (*random_tensors((1, 5, 6), (6, 6), (6, 6), (6, 6), (6, 6), seed=5), 3),
    ],
    hints=(
        "Split Q into H heads, K and V into G, each of width D / H. What must be repeated so that every query head "
        "has its keys?",
        "repeat_interleave(H // G, dim=1) repeats each head in place: 0 0 1 1. Divide by √d_k, the root of K, and let "
        "the softmax run over the keys.",
        "Join by transpose(1, 2).flatten(2), and only then multiply by W_o.",
    ),
)


@grouped.solution
def grouped_heads(x, W_q, W_k, W_v, W_o, H):
    """Output (B, T, D) of H query heads for x (B, T, D); W_q, W_o (D, D); W_k, W_v (D, G·K), G heads of K = D / H."""
    B, T, D = x.shape
    Q, K, V = ((x @ W).reshape(B, T, -1, D // H).transpose(1, 2) for W in (W_q, W_k, W_v))  # (B, H or G, T, K)
    K, V = (shared.repeat_interleave(H // shared.shape[1], dim=1) for shared in (K, V))
    weights = (Q @ K.transpose(-2, -1) / math.sqrt(D // H)).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(2) @ W_o


grouped.slips("""
first_group_for_all    shared.repeat_interleave(H // shared.shape[1], dim=1) → shared[:, :1]
  Every query head of yours uses the first key–value head; the other key–value heads are never used.
scaled_by_whole_width    math.sqrt(D // H) → math.sqrt(D)
  You divided by √D. Queries and shared keys have the width K = D / H of one head, so divide by √d_k, the root of K.
softmax_over_heads    dim=-1 → dim=1
  Your softmax runs over the query heads. Each of them has weights of its own, which sum to 1 over the keys.
cut_by_view    reshape(B, T, -1, D // H).transpose(1, 2) → reshape(B, -1, T, D // H)
  You cut queries, keys or values into heads by view alone: without a transpose, a head has numbers of other positions.
merged_by_view    .transpose(1, 2).flatten(2) → .reshape(B, T, D)
  You joined the query heads by reshape alone. Bring positions before heads first, then flatten.
no_output_matrix    flatten(2) @ W_o → flatten(2)
  You joined the query heads and stopped there. Their mixing by W_o is missing.
heads_share_by_key    dim=-1 → dim=-2
  In your weights the columns sum to 1. The softmax of a query head runs over its shared keys, so the rows must.
groups_in_turn    repeat_interleave(H // shared.shape[1], dim=1) → repeat(1, H // shared.shape[1], 1, 1)
  You repeated the key–value heads one after the other, 0 1 0 1, by repeat. The first H / G query heads all use the
  first: 0 0 1 1.
""")


# --- heads as modules ------------------------------------------------------------------------------------------------


def _examined(heads, D, H):
    """How many parameters; shape of the output; linear, sentence by sentence? different heads? how many are trained?"""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module, another, x = heads(D, H), heads(D, H), torch.randn(3, 5, D)
        y = module(x)
        second = module(-x[1:])
        linear = second.shape == y[1:].shape and torch.allclose(second, -y[1:], atol=1e-5)
        differ = not torch.allclose(y[:, 0], y[:, 1], atol=1e-5)
        anew = not torch.allclose(y, another(x), atol=1e-5)
        if y.requires_grad:
            y.square().sum().backward()
    trained = sum(p.numel() for p in module.parameters() if p.grad is not None and p.grad.any())
    return {
        "number of parameters": sum(p.numel() for p in module.parameters()),
        "shape of the output": list(y.shape),
        "linear, each sentence by itself": int(linear),
        "heads differ": int(differ),
        "two modules differ": int(anew),
        "number of parameters with a gradient": trained,
    }


modules = Exercise(
    "HeadProjections",
    title="Heads as modules",
    goal="Write a module HeadProjections(D, H) with H projections, one for each head. Each is a torch.nn.Linear from "
    "D to D / H without bias, initialised independently of the others and anew in every module. forward(x) applies "
    "each of them to x (B, T, D) and returns the results as (B, H, T, K), K = D / H. An optimiser must find all "
    "parameters.",
    difficulty=2,
    minutes=10,
    cases=lambda: [(4, 2), (12, 3)],
    run=_examined,
    hints=(
        "An nn.Module finds the parameters of modules that are its attributes. What about modules inside a list?",
        "nn.ModuleList is a list whose modules are found.",
        "forward: torch.stack([head(x) for head in self.heads], dim=1)",
    ),
)


@modules.solution
class HeadProjections(torch.nn.Module):
    """H projections (D → K) of x (B, T, D), as (B, H, T, K)."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H))

    def forward(self, x):
        """(B, T, D) -> (B, H, T, K)"""
        return torch.stack([head(x) for head in self.heads], dim=1)


modules.slips("""
PythonList    torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H)) →
      [torch.nn.Linear(D, D // H, bias=False) for _ in range(H)]
  Your heads are in a Python list: the optimiser does not find their parameters, so they are never trained. The number
  of parameters is 0.
SeedInside    super().__init__() → super().__init__() ⏎ torch.manual_seed(0)
  You set a seed inside: every module you make begins with the same numbers, so all layers of a model start alike.
WithBiases    , bias=False →
  Your projections have biases, D more parameters than asked for: bias=False.
OneForAll    torch.nn.Linear(D, D // H, bias=False) for _ in range(H) → [torch.nn.Linear(D, D // H, bias=False)] * H
  The same projection is H times in your list: one set of parameters, and all heads do the same.
FullWidth    D // H → D
  Each of your heads maps D to D. The heads share the width: each maps D to D / H.
WithOutput    self.heads = → self.output = torch.nn.Linear(D, D, bias=False) ⏎ self.heads =
  You added a projection back to D. It comes after the heads and is not part of this module.
""")


# --- what it costs ---------------------------------------------------------------------------------------------------

count = Exercise(
    "grouped_parameters",
    title="What heads cost",
    goal="Count the weights of attention with H query heads of width K = D / H and G heads of keys and values (grouped "
    "queries; G = H is the usual multi-head attention), no biases, the output matrix included.",
    difficulty=2,
    minutes=8,
    source="grouped-query attention: Ainslie et al. 2023",
    cases=lambda: [(4, 2, 1), (4, 2, 2), (512, 8, 8), (4096, 32, 8)],
    tolerance=1e-9,
    hints=(
        "W_q and W_o are (D, D), whatever the number of heads.",
        "W_k and W_v go from D to G heads of width K.",
        "2·D² + 2·D·G·K",
    ),
)


@count.solution
def grouped_parameters(D, H, G):
    """Number of weights for width D, H query heads, G heads of keys and values."""
    return 2 * D * D + 2 * D * G * (D // H)


count.slips("""
multiplied_by_heads    return 2 * D * D * H + 2 * D * G * D
  You multiplied by the number of heads. The heads share the width D: more heads are narrower heads.
groups_ignored    return 4 * D * D
  You counted G = H whatever G is: with grouped queries W_k and W_v are narrower, D × G·K.
output_not_counted    2 * D * D → D * D
  The output matrix W_o is missing, another D × D.
values_not_grouped    2 * D * D + 2 * D → 3 * D * D + D
  You grouped the keys only. Keys and values both have G heads, so W_v is (D, G·K), too.
queries_grouped_too    2 * D * D + 2 → D * D + 3
  You made the queries narrower, too. All H of them stay; only keys and values are shared in groups.
keys_or_values    2 * D * G → D * G
  You left out the keys or the values: both have G heads of width K.
""")


# --- pruning, in two steps -------------------------------------------------------------------------------------------

shares_of_heads = Exercise(
    "head_shares",
    title="Prune a layer, step 1 of 2",
    goal="Joining the heads and multiplying by W_o is a sum: every head adds a share of its own. z (B, H, T, K) holds "
    "the heads' results, and W_o is (H·K, D). Return the shares of all heads, (H, B, T, D). Their sum over the "
    "heads is the layer's output.",
    difficulty=2,
    minutes=6,
    source="Elhage et al. 2021, A mathematical framework for Transformer circuits",
    cases=lambda: [
        (torch.tensor([[[[1.0], [2.0]], [[3.0], [5.0]]]]), torch.tensor([[1.0, 10.0], [2.0, 7.0]])),
        random_tensors((2, 4, 3, 2), (8, 8), seed=21),
        random_tensors((1, 3, 5, 2), (6, 6), seed=22),
    ],
    hints=(
        "Which rows of W_o does head h meet, once the heads lie side by side?",
        "W_o.reshape(H, K, D) holds the piece of each head. Bring the heads of z to the front, too.",
        "z.transpose(0, 1) @ W_o.reshape(H, 1, K, -1): the 1 stands where z has its batch.",
    ),
)


@shares_of_heads.solution
def head_shares(z, W_o):
    """The shares (H, B, T, D) of heads z (B, H, T, K) in the output, for W_o (H·K, D)."""
    _, H, _, K = z.shape
    return z.transpose(0, 1) @ W_o.reshape(H, 1, K, -1)


shares_of_heads.slips("""
rows_in_turn    return z.transpose(0, 1) @ W_o.reshape(z.shape[3], z.shape[1], 1, -1).permute(1, 2, 0, 3)
  You gave each head every H-th row of W_o. A head's numbers lie side by side, so it meets K rows that are neighbours.
first_piece_for_all    return z.transpose(0, 1) @ W_o[: z.shape[3]]
  You multiplied every head by the first K rows of W_o. These belong to the first head; each head has K rows of its own.
columns_of_the_matrix    return head_shares(z, W_o.T)
  You cut W_o by its columns. The joined heads are multiplied from the left, so head h meets K rows of W_o.
divided_among_heads    return head_shares(z, W_o) / z.shape[1]
  You divided by the number of heads. Nothing is averaged here: the shares themselves add up to the output.
running_sums    return head_shares(z, W_o).cumsum(0)
  You added up the shares as you went: your last entry is the whole output. Return each share by itself.
last_head_first    return head_shares(z, W_o).flip(0)
  Your heads are in reverse order: entry 0 holds the share of the last head.
""")


removal = Exercise(
    "removal_order",
    title="Prune a layer, step 2 of 2",
    goal="shares (H, B, T, D), from step 1, add up to a layer's full output. Take heads out one after another until "
    "none is left. The next to go is always the head whose removal, with all that went before it, leaves the remaining "
    "sum nearest to the full output (least sum of squared differences). Return the heads' indices, from 0, as "
    "a list, the first to go first.",
    difficulty=3,
    minutes=12,
    source="greedy removal by what it changes: Michel et al. 2019 rank heads once, here each removal is measured anew",
    cases=lambda: [
        (torch.tensor([3.0, 1.0, -3.8, 2.0]).reshape(4, 1, 1, 1),),
        (_with_a_pair(5, seed=0),),
        (_with_a_pair(6, seed=4),),
    ],
    tolerance=1e-9,
    hints=(
        "What is missing from the full output when some heads are gone? Exactly the sum of their shares.",
        "Keep two lists: the heads that are gone and those that are left. For each one left, add its share to the sum "
        "of those that are gone, and square.",
        "min(left, key=lambda h: shares[[*gone, h]].sum(0).square().sum()) is the next to go.",
    ),
)


def _with_a_pair(H, seed):
    """Random shares (H, 2, 3, 4), in which heads 0 and 2 nearly cancel each other and are large."""
    (shares,) = random_tensors((H, 2, 3, 4), seed=seed)
    shares = shares * torch.linspace(0.6, 1.6, H).view(H, 1, 1, 1)
    shares[0] = 1.2 * shares[2] * -1 + 0.05
    return shares


@removal.solution
def removal_order(shares):
    """Head numbers, the first to go first, for shares (H, B, T, D): each changes the sum as little as can be."""
    gone, left = [], list(range(len(shares)))
    while left:
        head = min(left, key=lambda h: shares[[*gone, h]].sum(0).square().sum().item())
        left.remove(head)
        gone.append(head)
    return gone


removal.slips("""
ranked_once    return shares.flatten(1).square().sum(1).argsort().tolist()
  You ranked the heads by what each changes alone: once at the beginning, or each time against the sum that was still
  left, which gives the same order. Two heads may cancel or replace each other. So measure how far the rest is from the
  full output, with those that are gone already.
most_needed_first    min(left → max(left
  You take out the head that changes the output most. The one that changes it least goes first.
backwards    return removal_order(shares)[::-1]
  Your list begins with the last head to go. The first to go comes first.
smallest_rest    shares[[*gone, h]].sum(0) → (shares.sum(0) - shares[[*gone, h]].sum(0))
  You keep what remains small. It should stay near the full output, so measure their difference.
signs_cancel    .sum(0).square().sum() → .sum().abs()
  You added up the differences without squaring them, so that positive and negative ones cancel.
places_of_heads    return torch.tensor(removal_order(shares)).argsort().tolist()
  You returned for each head at which place it goes. Return the heads themselves, in the order of their removal.
""")


QUIZ = questions("""
Eight heads in place of one, at the same width D. What happens to the multiplications?
  * The same number | H heads of width D / H do the same products; only the maps of weights are H times more.
  - Eight times as many | The heads share D: each is an eighth as wide.
  - An eighth | Each head has an eighth of the work, but there are eight of them.
What can two heads do that one cannot?
  - Look at more words | One head may look at all of them already.
  - Hold more parameters at the same width | They have exactly as many as one head.
  * Fetch two things and keep them apart | One head has one set of weights and returns one mean; two heads fetch
    from two words.
view(B, H, T, K) in place of view(B, T, H, K).transpose(1, 2). What do you notice?
  - An error about shapes | The shape is right: that is what makes it dangerous.
  * Nothing in the shape; positions are mixed | A head holds whole rows of some positions, and a causal model leaks.
  - Nothing at all, it is the same | Only for H = 1: with numbers 1, 2, 3 … you see other words in a head.
A head is removed from the trained translator and the score hardly falls. What follows?
  - The head did nothing | Another may do the same work: removed together, they may be missed.
  - The other heads can be removed as well | Each was removed alone. Without all four of the last cross-attention,
    about half of ours are right.
  * By itself it is not needed | That is all that was measured.
Does a large attention weight mean that the word decided the output?
  * Not by itself | Compare it with leaving the word out: the two agree only in part.
  - Yes, that is what attention is | The weight says how much was taken, not what it changed further on.
  - Never | The two do go together: in our run weight and effect had a correlation of 0.88.
""")
