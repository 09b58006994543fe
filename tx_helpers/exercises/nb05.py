"""Exercises of notebook 05, multi-head attention."""

import math

import torch
from torch import nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- splitting -------------------------------------------------------------------------------------------------------

split = Exercise(
    "split_heads",
    title="Splitting what is packed",
    goal="Many models make queries, keys and values by one product and lay them out head by head (GPT-NeoX): `packed` "
    "is (B, T, 3·D), and its last axis holds, for head 0, K features of the query, K of the key, K of the value, then "
    "the same for head 1, and so on; K = D / H. Hand back queries, keys and values, in this order, each (B, H, T, K).",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.arange(24.0).reshape(1, 2, 12), 2),
        (*random_tensors((2, 3, 24), seed=0), 4),
        (*random_tensors((3, 5, 18), seed=1), 2),
    ],
    hints=(
        "The last axis hides three: head, which of the three, feature. In which order do they run?",
        "reshape(B, T, H, 3, K) cuts it; reshape cannot swap axes. Where do the five have to go?",
        "packed.reshape(B, T, H, 3, -1).permute(3, 0, 2, 1, 4), whose first axis holds queries, keys, values.",
    ),
)


@split.solution
def split_heads(packed, H):
    """Queries, keys and values, each (B, H, T, K), of packed (B, T, 3·H·K), in which each head has its own together."""
    B, T, _ = packed.shape
    Q, K, V = packed.reshape(B, T, H, 3, -1).permute(3, 0, 2, 1, 4)
    return Q, K, V


@split.mistake(
    "You asked for (B, H, T, K) by view alone, without a transpose: the shape is right, but a head now holds whole "
    "rows of some positions in place of a slice of every position."
)
def split_by_view_alone(packed, H):
    B, T, _ = packed.shape
    return tuple(part.reshape(B, H, T, -1) for part in packed.reshape(B, T, H, 3, -1).unbind(3))


@split.mistake(
    "You cut the last axis into three large blocks first, all queries, all keys, all values. That is GPT-2's layout; "
    "here each head has its own three side by side."
)
def in_three_blocks(packed, H):
    B, T, _ = packed.shape
    return tuple(part.reshape(B, T, H, -1).transpose(1, 2) for part in packed.chunk(3, dim=-1))


@split.mistake(
    "With you query, key and value take turns feature by feature. A head's query is a run of K neighbours, then its "
    "key."
)
def turns_by_feature(packed, H):
    B, T, _ = packed.shape
    return tuple(packed.reshape(B, T, H, -1, 3).permute(4, 0, 2, 1, 3))


@split.mistake(
    "You read the features with the heads innermost: your heads take every H-th run. Head 0 has the first 3·K features."
)
def heads_take_every_other_run(packed, H):
    B, T, _ = packed.shape
    return tuple(packed.reshape(B, T, 3, -1, H).permute(2, 0, 4, 1, 3))


@split.mistake("All your heads got what belongs to head 0. Each has 3·K features of its own.")
def same_slice_for_all(packed, H):
    return tuple(part[:, :1].repeat(1, H, 1, 1) for part in split_heads(packed, H))


@split.mistake("Your heads are in reverse order: head 0 holds the last features, where it should hold the first.")
def heads_reversed(packed, H):
    return tuple(part.flip(1) for part in split_heads(packed, H))


@split.mistake("Queries and keys have changed places in what you hand back: the first third of a head is its query.")
def keys_first(packed, H):
    Q, K, V = split_heads(packed, H)
    return K, Q, V


# --- joining ---------------------------------------------------------------------------------------------------------

merge = Exercise(
    "join_heads",
    title="Joining heads that a loop has made",
    goal="A loop over the heads has ended in torch.stack(outputs): z is (H, B, T, K), the heads in front. Join it to "
    "(B, T, H·K): the heads of each position side by side, head 0 first.",
    difficulty=1,
    minutes=5,
    formula=r"\operatorname{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)",
    source="Vaswani et al. 2017, section 3.2.2",
    cases=lambda: [
        (torch.arange(8.0).reshape(2, 1, 2, 2),),
        random_tensors((4, 2, 3, 2), seed=2),
        random_tensors((2, 3, 5, 4), seed=3),
    ],
    hints=(
        "The last two axes of the result are positions and features: whose turn is it to stand beside K?",
        "Bring H next to K first, behind B and T; then the two can become one axis.",
        "z.permute(1, 2, 0, 3).flatten(2)",
    ),
)


@merge.solution
def join_heads(z):
    """(B, T, H·K) of heads z (H, B, T, K)."""
    return z.permute(1, 2, 0, 3).flatten(2)


@merge.mistake(
    "You brought the batch to the front and joined by view alone, without swapping heads and positions: each row now "
    "holds several positions of one head."
)
def joined_without_transpose(z):
    H, B, T, K = z.shape
    return z.transpose(0, 1).reshape(B, T, H * K)


@merge.mistake(
    "You reshaped z as it lies in memory, heads in front: no axis was moved, so words of different sentences share a "
    "row."
)
def relabelled_outright(z):
    H, B, T, K = z.shape
    return z.reshape(B, T, H * K)


@merge.mistake("In your rows the heads take turns, feature by feature; each head's K features should stay together.")
def heads_take_turns(z):
    return z.permute(1, 2, 3, 0).flatten(2)


@merge.mistake(
    "The last head comes first in your rows: the output matrix W_O would meet each head with another's weights."
)
def last_head_first(z):
    return z.flip(0).permute(1, 2, 0, 3).flatten(2)


@merge.mistake(
    "You averaged the heads and repeated the mean. Nothing is averaged: each keeps its place, W_O mixes them."
)
def heads_averaged(z):
    return z.mean(dim=0).repeat(1, 1, len(z))


@merge.mistake(
    "You swapped positions and features, the last two axes: it is heads and positions that have to change places."
)
def wrong_axes_swapped(z):
    H, B, T, K = z.shape
    return z.permute(1, 0, 3, 2).reshape(B, T, H * K)


# --- the whole -------------------------------------------------------------------------------------------------------

whole = Exercise(
    "multi_head",
    title="Multi-head self-attention with shared keys",
    goal="All of it, without mask or biases, with a twist of later models: H query heads of width K = D / H, but only "
    "G heads of keys and values (G divides H). x is (B, T, D), W_q and W_o are (D, D), W_k and W_v are (D, G·K): G "
    "follows from their width. The first H / G query heads use key–value head 0, the next H / G use head 1, and so "
    "on. A head's features are neighbours, head 0 first. Project, split, attend in every query head, join, multiply "
    "by W_o. Hand back (B, T, D).",
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
        "finds its keys?",
        "repeat_interleave(H // G, dim=1) repeats each head in place: 0 0 1 1. Scale by √K, the width of a head, and "
        "let the softmax run over the keys.",
        "Join by transpose(1, 2).flatten(2), and only then multiply by W_o.",
    ),
)


@whole.solution
def multi_head(x, W_q, W_k, W_v, W_o, H):
    """Output (B, T, D) of H query heads for x (B, T, D); W_q, W_o (D, D); W_k, W_v (D, G·K), G heads of K = D / H."""
    B, T, D = x.shape
    Q, K, V = ((x @ W).reshape(B, T, -1, D // H).transpose(1, 2) for W in (W_q, W_k, W_v))  # (B, H or G, T, K)
    K, V = (shared.repeat_interleave(H // shared.shape[1], dim=1) for shared in (K, V))
    weights = (Q @ K.transpose(-2, -1) / math.sqrt(D // H)).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(2) @ W_o


def _cut(z, n):
    return z.reshape(*z.shape[:2], n, -1).transpose(1, 2)


def _join(z):
    return z.transpose(1, 2).flatten(2)


def _in_place(z, times):
    return z.repeat_interleave(times, dim=1)


def _by_parts(x, W_q, W_k, W_v, W_o, H, *, cut=_cut, join=_join, spread=_in_place, width=None, axis=-1):
    G = W_k.shape[1] * H // x.shape[-1]
    Q, K, V = cut(x @ W_q, H), spread(cut(x @ W_k, G), H // G), spread(cut(x @ W_v, G), H // G)
    weights = (Q @ K.transpose(-2, -1) / math.sqrt(width or Q.shape[-1])).softmax(dim=axis)
    return join(weights @ V) @ W_o


@whole.mistake(
    "You divided by √D. A dot product in a head runs over K = D / H numbers, so your scores are too small by √H "
    "exactly."
)
def scaled_by_whole_width(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, width=x.shape[-1])


@whole.mistake(
    "Your softmax runs over the heads: they compete for each pair of words, in place of each sharing out a 1 of its "
    "own."
)
def softmax_over_heads(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, axis=1)


@whole.mistake(
    "Your heads were cut by view without a transpose: positions get mixed, and a causal model would look into the "
    "future."
)
def cut_by_view(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, cut=lambda z, n: z.reshape(z.shape[0], n, z.shape[1], -1))


@whole.mistake("You merged the heads without a transpose: rows of the output hold pieces of several positions.")
def merged_by_view(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, join=lambda z: z.reshape(x.shape))


@whole.mistake("W_o is missing: the heads lie side by side, and nothing has mixed them.")
def no_output_matrix(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, torch.eye(x.shape[-1]), H)


@whole.mistake(
    "You repeated the key–value heads one after the other, 0 1 0 1, by repeat. The first H / G query heads all use "
    "head 0: 0 0 1 1."
)
def groups_in_turn(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, spread=lambda z, times: z.repeat(1, times, 1, 1))


@whole.mistake("With you every query head reads key–value head 0: the others have weights that nobody uses.")
def first_group_for_all(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, spread=lambda z, times: z[:, :1].repeat(1, H, 1, 1))


@whole.mistake("In your heads the softmax runs over the queries: each key shares out its 1, and rows do not sum to 1.")
def heads_share_by_key(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, axis=-2)


# --- heads as modules ------------------------------------------------------------------------------------------------


def _examined(heads, D, H):
    """How many parameters; shape of the output; linear, sentence by sentence? different heads? how many are trained?"""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module, another, x = heads(D, H), heads(D, H), torch.randn(2, 5, D)
        y = module(x)
        linear = torch.allclose(module(-x[1:]), -y[1:], atol=1e-5)
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
    goal="Write a module HeadProjections(D, H) that holds H projections, one a head, each an `nn.Linear` from D to D "
    "/ H without bias, drawn on its own and anew in every module. Its forward hands back what each of them makes of x "
    "(B, T, D), as (B, H, T, K), K = D / H, and does nothing else to it. An optimiser must find all its parameters.",
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


@modules.mistake(
    "Your heads live in a Python list: no optimiser finds their parameters, so they stay as they were "
    "drawn. The count is 0."
)
class PythonList(HeadProjections):
    def __init__(self, D, H):
        super().__init__(D, H)
        heads = list(self.heads)
        del self.heads
        self.__dict__["heads"] = heads


@modules.mistake(
    "You set a seed inside: every module you make begins with the same numbers, so that all layers of a model are "
    "alike."
)
class SeedInside(HeadProjections):
    def __init__(self, D, H):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            super().__init__(D, H)


@modules.mistake("Your projections have biases, D more parameters than asked for: bias=False.")
class WithBiases(HeadProjections):
    def __init__(self, D, H):
        super().__init__(D, H)
        self.heads = nn.ModuleList(nn.Linear(D, D // H) for _ in range(H))


@modules.mistake("The same projection stands H times in your list: one set of parameters, and all heads do the same.")
class OneForAll(HeadProjections):
    def __init__(self, D, H):
        super().__init__(D, H)
        self.heads = nn.ModuleList([nn.Linear(D, D // H, bias=False)] * H)


@modules.mistake("Each of your heads goes from D to D: the heads share the width, and each is D / H wide.")
class FullWidth(HeadProjections):
    def __init__(self, D, H):
        super().__init__(D, H)
        self.heads = nn.ModuleList(nn.Linear(D, D, bias=False) for _ in range(H))


@modules.mistake("There is a projection back to D as well: it belongs after the heads, and was not asked for here.")
class WithOutput(HeadProjections):
    def __init__(self, D, H):
        super().__init__(D, H)
        self.output = nn.Linear(D, D, bias=False)


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


@count.mistake(
    "You multiplied by the number of heads. The heads share the width D between them: more heads, narrower ones."
)
def multiplied_by_heads(D, H, G):
    return 2 * D * D * H + 2 * D * G * D


@count.mistake("You counted G = H whatever G is: with grouped queries W_k and W_v are narrower, D × G·K.")
def groups_ignored(D, H, G):
    return 4 * D * D


@count.mistake("The output matrix W_o is missing, another D × D.")
def output_not_counted(D, H, G):
    return D * D + 2 * D * G * (D // H)


@count.mistake("You made the queries narrower, too. All H of them stay; only keys and values are shared in groups.")
def queries_grouped_too(D, H, G):
    return D * D + 3 * D * G * (D // H)


@count.mistake("Keys or values, one of the two is missing: both have G heads of width K.")
def keys_or_values(D, H, G):
    return 2 * D * D + D * G * (D // H)


QUIZ = [
    Question(
        "Eight heads in place of one, at the same width D. What happens to the multiplications?",
        (
            Choice(
                "The same number",
                "H heads of width D / H do the same products; only the maps of weights are H times more.",
                right=True,
            ),
            Choice("Eight times as many", "The heads share D: each is an eighth as wide."),
            Choice("An eighth", "Each head has an eighth of the work, but there are eight of them."),
        ),
    ),
    Question(
        "What can two heads do that one cannot?",
        (
            Choice("Look at more words", "One head may look at all of them already."),
            Choice("Hold more parameters", "At the same width D they have exactly as many as one head."),
            Choice(
                "Keep two things apart that they fetch from two words",
                "One head has one set of weights, and hands back one mean.",
                right=True,
            ),
        ),
    ),
    Question(
        "view(B, H, T, K) in place of view(B, T, H, K).transpose(1, 2). What do you notice?",
        (
            Choice("An error about shapes", "The shape is right: that is what makes it dangerous."),
            Choice(
                "Nothing in the shape; positions are mixed",
                "A head holds whole rows of some positions, and a causal model leaks.",
                right=True,
            ),
            Choice(
                "Nothing at all, it is the same",
                "Only for H = 1: with numbers 1, 2, 3 … you see other words in a head.",
            ),
        ),
    ),
    Question(
        "A head is removed from the trained translator and the score hardly falls. What follows?",
        (
            Choice("The head did nothing", "Another may do the same work: removed together, they may be missed."),
            Choice(
                "All heads can be removed",
                "Each was removed alone. All four of the last cross-attention cost over 20 points.",
            ),
            Choice("By itself it is not needed", "That is all that was measured.", right=True),
        ),
    ),
    Question(
        "Does a large attention weight mean that the word decided the output?",
        (
            Choice("Not by itself", "Compare it with leaving the word out: the two agree only in part.", right=True),
            Choice(
                "Yes, that is what attention is", "The weight says how much was taken, not what it changed further on."
            ),
            Choice("Never", "The two do go together: their correlation was above 0.6 in the translator."),
        ),
    ),
]
