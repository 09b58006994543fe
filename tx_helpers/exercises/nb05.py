"""Exercises of notebook 05, multi-head attention."""

import math

import torch
from torch import nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- splitting -------------------------------------------------------------------------------------------------------

split = Exercise(
    "split_heads",
    title="Splitting into heads",
    goal="Split x (B, T, D) into H heads of width K = D / H: the result is (B, H, T, K), and head h holds the features "
    "h·K to (h + 1)·K − 1 of every position.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (torch.arange(8.0).reshape(1, 2, 4), 2),
        (*random_tensors((2, 3, 8), seed=0), 4),
        (*random_tensors((3, 5, 6), seed=1), 2),
    ],
    hints=(
        "Two steps: cut the last axis in two, then bring the heads before the positions.",
        "view(B, T, H, K) cuts the last axis; it cannot swap axes. Which method can?",
        "x.view(B, T, H, D // H).transpose(1, 2)",
    ),
)


@split.solution
def split_heads(x, H):
    """Heads (B, H, T, K) of x (B, T, D); K = D / H."""
    B, T, D = x.shape
    return x.reshape(B, T, H, D // H).transpose(1, 2)


@split.mistake(
    "You asked for (B, H, T, K) by view alone, without a transpose: the shape is right, but a head now "
    "holds whole rows "
    "of some positions in place of a slice of every position."
)
def split_by_view_alone(x, H):
    B, T, D = x.shape
    return x.reshape(B, H, T, D // H)


@split.mistake(
    "Your heads take every H-th feature; a head is a run of K neighbours: view(B, T, H, K), the heads first."
)
def every_other_feature(x, H):
    B, T, D = x.shape
    return x.reshape(B, T, D // H, H).permute(0, 3, 1, 2)


@split.mistake("You swapped positions and features before cutting: pieces of time and pieces of a vector are mixed up.")
def cut_after_transposing(x, H):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, H, T, D // H)


@split.mistake("All your heads got the same slice, the first K features. Each has a slice of its own.")
def same_slice_for_all(x, H):
    return x[:, None, :, : x.shape[-1] // H].repeat(1, H, 1, 1)


@split.mistake("Your heads are in reverse order: head 0 holds the last features, where it should hold the first.")
def heads_reversed(x, H):
    return split_heads(x, H).flip(1)


# --- joining ---------------------------------------------------------------------------------------------------------

merge = Exercise(
    "join_heads",
    title="Joining the heads again",
    goal="The way back: from z (B, H, T, K) to (B, T, H·K), the heads of each position side by side, head 0 first.",
    difficulty=1,
    minutes=5,
    formula=r"\operatorname{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)",
    source="Vaswani et al. 2017, section 3.2.2",
    cases=lambda: [
        (torch.arange(8.0).reshape(1, 2, 2, 2),),
        random_tensors((2, 4, 3, 2), seed=2),
        random_tensors((3, 2, 5, 4), seed=3),
    ],
    hints=(
        "The last two axes of the result are positions and features: whose turn is it to stand beside K?",
        "Bring H next to K first; then the two can become one axis.",
        "z.transpose(1, 2).flatten(2)",
    ),
)


@merge.solution
def join_heads(z):
    """(B, T, H·K) of heads z (B, H, T, K)."""
    return z.transpose(1, 2).flatten(2)


@merge.mistake(
    "You joined by view alone, without swapping heads and positions back: each row now holds several "
    "positions of one head."
)
def joined_without_transpose(z):
    B, H, T, K = z.shape
    return z.reshape(B, T, H * K)


@merge.mistake("In your rows the heads take turns, feature by feature; each head's K features should stay together.")
def heads_take_turns(z):
    return z.permute(0, 2, 3, 1).flatten(2)


@merge.mistake(
    "The last head comes first in your rows: the output matrix W_O would meet each head with another's weights."
)
def last_head_first(z):
    return z.flip(1).transpose(1, 2).flatten(2)


@merge.mistake(
    "You averaged the heads and repeated the mean. Nothing is averaged: each keeps its place, W_O mixes them."
)
def heads_averaged(z):
    return z.mean(dim=1).repeat(1, 1, z.shape[1])


@merge.mistake(
    "You swapped positions and features, the last two axes: it is heads and positions that have to change places."
)
def wrong_axes_swapped(z):
    B, H, T, K = z.shape
    return z.transpose(2, 3).reshape(B, T, H * K)


# --- the whole -------------------------------------------------------------------------------------------------------

whole = Exercise(
    "multi_head",
    title="Multi-head self-attention",
    goal="All of it, without a mask: x (B, T, D), four matrices (D, D) without biases, H heads. "
    "Project, split, attend in "
    "every head, join, and multiply by W_o. Hand back (B, T, D).",
    difficulty=3,
    minutes=15,
    formula=r"\operatorname{Concat}(\mathrm{head}_1,\dots,\mathrm{head}_h)\,W^O",
    source="Vaswani et al. 2017, section 3.2.2",
    cases=lambda: [
        (
            torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]),
            *(torch.eye(2) * s for s in (1.0, 2.0, 3.0)),
            torch.eye(2).flip(0),
            2,
        ),
        (*random_tensors((2, 3, 8), (8, 8), (8, 8), (8, 8), (8, 8), seed=4), 2),
        (*random_tensors((1, 5, 6), (6, 6), (6, 6), (6, 6), (6, 6), seed=5), 3),
    ],
    hints=(
        "Split each of the three projections to (B, H, T, K); the rest is one head's formula, batched over B and H.",
        "Scale by √K, the width of a head, and let the softmax run over the last axis, the keys.",
        "Join by transpose(1, 2).flatten(2), and only then multiply by W_o.",
    ),
)


@whole.solution
def multi_head(x, W_q, W_k, W_v, W_o, H):
    """Output (B, T, D) of H heads for x (B, T, D); the four matrices are (D, D)."""
    B, T, D = x.shape
    Q, K, V = ((x @ W).reshape(B, T, H, D // H).transpose(1, 2) for W in (W_q, W_k, W_v))  # (B, H, T, K)
    weights = (Q @ K.transpose(-2, -1) / math.sqrt(D // H)).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(2) @ W_o


def _by_parts(x, W_q, W_k, W_v, W_o, H, *, cut=split_heads, join=join_heads, width=None, axis=-1):
    Q, K, V = (cut(x @ W, H) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / math.sqrt(width or Q.shape[-1])).softmax(dim=axis)
    return join(weights @ V) @ W_o


@whole.mistake(
    "You divided by √D. A dot product in a head runs over K = D / H numbers, so your scores are too small "
    "by √H exactly."
)
def scaled_by_whole_width(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, width=x.shape[-1])


@whole.mistake(
    "Your softmax runs over the heads: they compete for each pair of words, in place of each sharing out "
    "a 1 of its own."
)
def softmax_over_heads(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, axis=1)


@whole.mistake(
    "Your heads were cut by view without a transpose: positions get mixed, and a causal model would look "
    "into the future."
)
def cut_by_view(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, cut=split_by_view_alone)


@whole.mistake("You merged the heads without a transpose: rows of the output hold pieces of several positions.")
def merged_by_view(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, join=joined_without_transpose)


@whole.mistake("W_o is missing: the heads lie side by side, and nothing has mixed them.")
def no_output_matrix(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, torch.eye(x.shape[-1]), H)


@whole.mistake("This is a single head of the full width: x was never split, so there is one map of weights, not H.")
def never_split(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, 1)


@whole.mistake("In your heads the softmax runs over the queries: each key shares out its 1, and rows do not sum to 1.")
def heads_share_by_key(x, W_q, W_k, W_v, W_o, H):
    return _by_parts(x, W_q, W_k, W_v, W_o, H, axis=-2)


# --- heads as modules ------------------------------------------------------------------------------------------------


def _examined(heads, D, H):
    """How many parameters; shape of the output; linear, sentence by sentence? different heads? how many are trained?"""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module, x = heads(D, H), torch.randn(2, 5, D)
        y = module(x)
        linear = torch.allclose(module(-x[1:]), -y[1:], atol=1e-5)
        differ = not torch.allclose(y[:, 0], y[:, 1], atol=1e-5)
        if y.requires_grad:
            y.square().sum().backward()
    trained = sum(p.numel() for p in module.parameters() if p.grad is not None and p.grad.any())
    return [sum(p.numel() for p in module.parameters()), *y.shape, int(linear), int(differ), trained]


modules = Exercise(
    "HeadProjections",
    title="Heads as modules",
    goal="A module that holds H projections, each an `nn.Linear` from D to D / H without bias, and "
    "whose forward hands back "
    "all of them for x (B, T, D), as (B, H, T, K). An optimiser must find all its parameters.",
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
