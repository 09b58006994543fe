"""Exercises on the full model."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question
from tx_helpers.lessons.full_model.filled import filled, some_ids
from tx_helpers.plain import Transformer

# --- counting parameters ----------------------------------------------------------------------------------------------

block = Exercise(
    "llama_block_parameters",
    title="The parameters of a Llama block",
    goal="Count all parameters of a Llama block of width D and hidden width F: attention with four (D, D) matrices, a "
    "gated feed-forward network (notebook 07), and two RMSNorms, which have parameters, too. There are no biases. "
    "Return a whole number.",
    difficulty=2,
    minutes=6,
    cases=lambda: [(2, 3), (64, 172), (4096, 11008)],
    tolerance=1e-9,
    hints=(
        "Three sums: attention, network, norms. Which matrices does a gated network have?",
        "Gate, up and down: three matrices of D · F numbers. An RMSNorm has a gain and nothing else.",
        "4·D² + 3·D·F + 2·D",
    ),
)


@block.solution
def llama_block_parameters(D, F):
    """Number of parameters of a Llama block of width D and hidden width F."""
    attention, network, norm = 4 * D * D, 3 * D * F, D
    return attention + network + 2 * norm


block.add_mistakes(
    {
        "two_matrices": (
            "You counted two matrices in the network. A gated one has three: gate, up and down.",
            lambda D, F: 4 * D * D + 2 * D * F + 2 * D,
        ),
        "layer_norms": (
            "You counted LayerNorms, with gain and bias. An RMSNorm has only a gain, D numbers.",
            lambda D, F: 4 * D * D + 3 * D * F + 4 * D,
        ),
        "norms_missing": (
            "The two norms are missing: each has a gain of D numbers.",
            lambda D, F: 4 * D * D + 3 * D * F,
        ),
        "one_norm": (
            "You counted one norm. A block has two sub-layers, and a norm before each.",
            lambda D, F: 4 * D * D + 3 * D * F + D,
        ),
        "three_norms": (
            "You counted three norms. The last norm of the model comes after all blocks and belongs to none of them.",
            lambda D, F: 4 * D * D + 3 * D * F + 3 * D,
        ),
        "with_biases": (
            "You gave every matrix a bias, one number for each column. Llama has no biases.",
            lambda D, F: 4 * (D * D + D) + 3 * D * F + 2 * F + D + 2 * D,
        ),
        "output_matrix_missing": (
            "Attention's output matrix is missing: there are four matrices, not three.",
            lambda D, F: 3 * D * D + 3 * D * F + 2 * D,
        ),
        "block_of_2017": (
            "You counted the block of 2017: two matrices in the network, biases, and LayerNorms.",
            lambda D, F: 4 * (D * D + D) + 2 * D * F + F + D + 4 * D,
        ),
    }
)

# --- the parameters of the whole -------------------------------------------------------------------------------------

total = Exercise(
    "translator_parameters",
    title="The parameters of the full model",
    goal="How many weights does an encoder–decoder of 2017 have? Count matrices only, no biases and no norms. The "
    "model has N encoder and N decoder blocks of width D and hidden width F, one embedding of V rows for the source "
    "and another of V rows for the target. The target's table is also the output layer. Every attention has four (D, "
    "D) matrices. Positions are sinusoidal.",
    difficulty=2,
    minutes=10,
    cases=lambda: [(2, 3, 5, 1), (64, 256, 45, 2), (512, 2048, 37000, 6)],
    tolerance=1e-9,
    hints=(
        "An encoder block has 4·D² + 2·D·F. What does a decoder block have in addition?",
        "Cross-attention: four more matrices, 8·D² + 2·D·F in all.",
        "N·(12·D² + 4·D·F) + 2·V·D; the tied output adds nothing.",
    ),
)


@total.solution
def translator_parameters(D, F, V, N):
    """Weights of N + N blocks of widths D and F, with two embeddings of V rows and a tied output."""
    return N * (12 * D * D + 4 * D * F) + 2 * V * D


total.add_mistakes(
    {
        "without_cross_attention": (
            "You forgot the cross-attention of the decoder blocks: each has four more (D, D) matrices.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) - N * 4 * D * D,
        ),
        "output_untied": (
            "You counted a separate output layer. It is tied: it is the target's embedding table, so it adds nothing.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) + V * D,
        ),
        "one_embedding": (
            "You counted one embedding. Here source and target each have their own vocabulary and table.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) - V * D,
        ),
        "half_the_blocks": (
            "You counted N blocks in total. The model has N in the encoder and N more in the decoder.",
            lambda D, F, V, N: N * (4 * D * D + 2 * D * F) + 2 * V * D,
        ),
        "one_block_a_side": (
            "You counted one block in the encoder and one in the decoder. There are N of each.",
            lambda D, F, V, N: translator_parameters(D, F, V, 1),
        ),
        "half_the_network": (
            "You counted one of the two matrices of each feed-forward network.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) - 2 * N * D * F,
        ),
        "cross_attention_in_both_stacks": (
            "You counted a cross-attention in the encoder's blocks, too. Only the decoder's blocks have one.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) + N * 4 * D * D,
        ),
        "with_biases": (
            "You counted the biases, too. Here only matrices count.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) + N * (12 * D + 2 * (F + D)),
        ),
        "no_embeddings": (
            "You forgot the embeddings. In a model with few blocks they are a large part.",
            lambda D, F, V, N: translator_parameters(D, F, V, N) - 2 * V * D,
        ),
    }
)

# --- tied output -----------------------------------------------------------------------------------------------------

tied = Exercise(
    "tied_probabilities",
    title="From the stream to the next word",
    goal="Compute the last step of a model with a tied output: take the decoder's output h (T, D) and the embedding "
    "table E to the probabilities (T, V) of the next word at every position. To suit the hardware, E has more rows "
    "than there are words. Only its first V rows are words. The others are padding; they contain numbers, but must "
    "get no probability at all.",
    difficulty=1,
    minutes=5,
    source="Vaswani et al. 2017, section 3.4; Press and Wolf 2017",
    cases=lambda: [
        (torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0]]), 3),
        (*random_tensors((4, 5), (9, 5), seed=2), 7),
        (*random_tensors((2, 3), (4, 3), seed=3), 4),
        (torch.tensor([[1.0]]), torch.tensor([[9.0], [8.0], [30.0]]), 2),  # filling far above the words
    ],
    hints=(
        "A logit is a dot product of h with a word's row. Which rows of E are words?",
        "h @ E[:V].T has the shape (T, V). Remove the padding rows before the softmax, not after it.",
        "Take the softmax over the vocabulary, the last axis.",
    ),
)


@tied.solution
def tied_probabilities(h, E, V):
    """Probabilities (T, V) from h (T, D) and the embedding E, whose first V rows are words."""
    return (h @ E[:V].T).softmax(dim=-1)


tied.add_mistakes(
    {
        "logits_only": (
            "You returned the logits: the softmax over the vocabulary is missing.",
            lambda h, E, V: h @ E[:V].T,
        ),
        "logarithms": (
            "You returned log-probabilities (log_softmax), which are negative. Return probabilities.",
            lambda h, E, V: (h @ E[:V].T).log_softmax(dim=-1),
        ),
        "cut_after_softmax": (
            "You removed the padding after the softmax, when it already had its share: your rows sum to less than 1.",
            lambda h, E, V: (h @ E.T).softmax(dim=-1)[:, :V],
        ),
        "filling_set_to_zero": (
            "You set the padding's logits to 0, or its rows of E to zeros. A logit of 0 still gets a share, e⁰; only "
            "−∞ gets none. Your rows sum to less than 1.",
            lambda h, E, V: (h @ E.T * (torch.arange(len(E)) < V)).softmax(dim=-1)[:, :V],
        ),
        "softmax_over_positions": (
            "Your softmax runs over the positions: they compete for each word, so a position's words do not sum to 1.",
            lambda h, E, V: (h @ E[:V].T).softmax(dim=0),
        ),
        "logits_scaled": (
            "You divided by √D, as attention does with its scores. The output layer has no scale: your rows are too "
            "even.",
            lambda h, E, V: (h @ E[:V].T / h.shape[-1] ** 0.5).softmax(dim=-1),
        ),
        "cosines": (
            "You used cosines. They are between −1 and 1, so no word can ever get a probability near 1.",
            lambda h, E, V: (F.normalize(h, dim=-1) @ F.normalize(E[:V], dim=-1).T).softmax(dim=-1),
        ),
        "scaled_as_input": (
            "You also multiplied E by √D at the output. That factor belongs to the input only.",
            lambda h, E, V: (h @ E[:V].T * h.shape[-1] ** 0.5).softmax(dim=-1),
        ),
        "sigmoid": (
            "You used a sigmoid, which gives each word a separate probability. Here they must sum to 1.",
            lambda h, E, V: (h @ E[:V].T).sigmoid(),
        ),
        "last_rows": (
            "You took the last V rows of E. The words come first: id 0 is row 0, and the padding comes after them.",
            lambda h, E, V: (h @ E[-V:].T).softmax(dim=-1),
        ),
    }
)

# --- the first numbers -----------------------------------------------------------------------------------------------


def _seeded(start, D, K):
    """Some numbers of W_q after the caller has set all seeds."""
    states = np.random.get_state(), random.getstate()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1), np.random.seed(1), random.seed(1)
        some = torch.as_tensor(start(D, K)[0]).flatten()[:500]
    np.random.set_state(states[0]), random.setstate(states[1])
    return some


def _spread(start, D, K):
    """What can be said of random matrices: shapes, means and deviations in units of 1/√D, over all and along rows and
    columns, how far W_k depends on W_q, and the share of numbers that occur in the other matrix or the next call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        W_q, W_k = (torch.as_tensor(W) for W in start(D, K))
        again = torch.as_tensor(start(D, K)[0])
    seeded = [_seeded(start, D, K) for _ in range(2)]
    both = (W_q, W_k)
    overall = [measure * D**0.5 for W in both for measure in (W.mean(), W.std())]
    along = [W.std(dim=dim).mean() * D**0.5 for W in both for dim in (0, 1)]
    peaked = [(W / W.std().clamp(min=1e-9)).pow(4).mean() for W in both]  # 3 if normal
    correlation = (W_q * W_k).mean() / (W_q.std() * W_k.std()).clamp(min=1e-9)  # 1 if the same, −1 if opposite
    some = W_q.flatten()[:500].abs()
    repeated = [torch.isin(some, other.abs()).double().mean() for other in (W_k, again)]
    return {
        "shapes of W_q and W_k": [tuple(W.shape) for W in both],
        "means and deviations times √D": torch.stack(overall),
        "deviations along rows and columns times √D": torch.stack(along),
        "fourth moments": torch.stack(peaked),
        "correlation of W_q and W_k": correlation,
        "share of numbers that W_k shares with W_q, and the next call with this one": torch.stack(repeated),
        "share of numbers that occur again with the caller's seed": torch.isin(*seeded).double().mean(),
    }


start = Exercise(
    "starting_projections",
    title="The first numbers",
    goal="Draw the matrices W_q and W_k, both (D, K), of a new head. Their numbers are independent and come from a "
    "normal distribution with mean 0 and standard deviation 1/√D, so that projections of a normalised vector have "
    "entries of size 1. Return both. The model calls this function for each head, and no two heads may start alike, so "
    "leave the seed to the caller.",
    difficulty=1,
    minutes=5,
    tolerance=0.06,
    run=_spread,
    cases=lambda: [(256, 128), (512, 64)],
    hints=(
        "torch.randn draws with deviation 1. Multiply by the deviation that you want.",
        "You need two draws, one for each matrix, and no seed inside.",
        "torch.randn(D, K) / D**0.5, twice",
    ),
)


@start.solution
def starting_projections(D, K):
    """W_q and W_k, both (D, K), of mean 0 and deviation 1/√D."""
    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5


def _drawn_twice(draw):
    """A mistake that draws both matrices in another way."""
    return lambda D, K: (draw(D, K), draw(D, K))


def _used_twice(second):
    """A mistake that makes the second matrix from the first."""

    def pair(D, K):
        W = torch.randn(D, K) / D**0.5
        return W, second(W)

    return pair


@start.mistake(
    "Every call returns the same numbers, perhaps because you set a seed inside or stored the first ones. So all heads "
    "start alike and learn the same."
)
def same_at_each_call(D, K):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(D, K, generator=generator) / D**0.5 for _ in range(2))


start.add_mistakes(
    {
        "both_zero": (
            "Both matrices are zero. Then the gradient of W_q has the factor W_k = 0, and the gradient of W_k the "
            "factor W_q = 0: without biases neither ever moves.",
            _drawn_twice(lambda D, K: torch.zeros(D, K)),
        ),
        "shapes_exchanged": (
            "Your matrices are (K, D). x has D numbers, and x W has K: the matrices are (D, K).",
            _drawn_twice(lambda D, K: torch.randn(K, D) / D**0.5),
        ),
        "deviation_one": (
            "Your deviation is 1, so the projections are √D times too large, and from the start one weight is nearly "
            "1.",
            _drawn_twice(lambda D, K: torch.randn(D, K)),
        ),
        "deviation_root_of_width": (
            "You multiplied by √D where you divide by it: the projections are D times too large.",
            _drawn_twice(lambda D, K: torch.randn(D, K) * D**0.5),
        ),
        "deviation_one_over_width": (
            "Your deviation is 1/D, but that is the variance you need: the projections are √D times too small.",
            _drawn_twice(lambda D, K: torch.randn(D, K) / D),
        ),
        "scaled_by_head": (
            "You scaled by the width of the head, 1/√d_k. But the sum in x W runs over the D numbers of x: use 1/√D.",
            _drawn_twice(lambda D, K: torch.randn(D, K) / K**0.5),
        ),
        "xavier": (
            "You drew with Xavier's deviation, √(2/(D + K)), a compromise of D and K. Here it is 1/√D.",
            _drawn_twice(lambda D, K: torch.randn(D, K) * (2 / (D + K)) ** 0.5),
        ),
        "uniform": (
            "You drew uniformly between −1/√D and 1/√D. That has the deviation 1/√(3D), smaller by a factor of 1.7; "
            "the exercise asks for a normal distribution.",
            _drawn_twice(lambda D, K: (2 * torch.rand(D, K) - 1) / D**0.5),
        ),
        "uniform_of_the_right_deviation": (
            "Your deviation is right, but your numbers are uniform: none is larger than 1.7 deviations. The exercise "
            "asks for a normal distribution, torch.randn.",
            _drawn_twice(lambda D, K: (2 * torch.rand(D, K) - 1) * (3 / D) ** 0.5),
        ),
        "one_for_both": (
            "You used one matrix for both, so the scores start symmetric: t has the same score for s as s has for t.",
            _used_twice(lambda W: W.clone()),
        ),
        "sign_turned": (
            "Your W_k is −W_q. The two are not independent, and every word starts with its lowest score for itself.",
            _used_twice(lambda W: -W),
        ),
        "turned_over": (
            "Your W_k holds the numbers of W_q in another order or with other signs: they are not independent.",
            _used_twice(lambda W: W.flip(0)),
        ),
    }
)

# --- norms folded into what reads them --------------------------------------------------------------------------------

fold = Exercise(
    "folded_layer",
    title="Fold the norms away, step 1 of 2",
    goal="People who study a trained model, or store it in fewer bits, often simplify its norms first. A LayerNorm "
    "brings each vector to mean 0 and deviation 1, which gives z. Then it multiplies z by its gain g and adds its bias "
    "b, both (D,). A Linear with weight W (D, D), one row for each output, and bias c (D,) reads the result. Another "
    "Linear can read z itself and give the same output. Return its weight and its bias.",
    difficulty=2,
    minutes=6,
    cases=lambda: [
        (*torch.tensor([[2.0, -1.0], [0.5, 3.0]]), torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0.5, -2.0])),
        (*random_tensors((2, 5), seed=11)[0], *random_tensors((5, 5), (5,), seed=12)),
    ],
    hints=(
        "Write down what the Linear computes from z, and collect what is multiplied by z, and what is not.",
        "An entry of z is scaled before the matrix meets it: which column of W belongs to it? The shift b also passes "
        "through W.",
        "W * g scales the columns. The bias is W @ b + c, with the old W.",
    ),
)


@fold.solution
def folded_layer(g, b, W, c):
    """Weight (D, D) and bias (D,) of the Linear that reads z; gain g, shift b (D,), weight W (D, D), bias c (D,)."""
    return W * g, W @ b + c


fold.add_mistakes(
    {
        "gain_on_the_rows": (
            "Your gain scales the rows of W, the outputs. It belongs to the inputs, so it scales the columns.",
            lambda g, b, W, c: (W * g[:, None], W @ b + c),
        ),
        "shift_forgotten": (
            "Your bias is c alone. The norm also shifts z by b, and what W makes of that is missing.",
            lambda g, b, W, c: (W * g, c),
        ),
        "shift_not_mapped": (
            "You added b to c as it is. The shift stands before the Linear, so it passes through W.",
            lambda g, b, W, c: (W * g, b + c),
        ),
        "shift_by_the_new_weight": (
            "Your shift passes through the new weight, which has the gain in it. But b comes behind the gain: W @ b.",
            lambda g, b, W, c: (W * g, (W * g) @ b + c),
        ),
        "bias_forgotten": (
            "The Linear's own bias c is missing from yours. It is added at the end, as before.",
            lambda g, b, W, c: (W * g, W @ b),
        ),
        "gain_divided": (
            "You divided by the gain. Nothing is undone here: the new weight does what the gain did, so it is scaled.",
            lambda g, b, W, c: (W / g, W @ b + c),
        ),
        "weight_unchanged": (
            "Your weight is still W: the gain is lost. Nobody scales z any more, so the weight has to do it.",
            lambda g, b, W, c: (W, W @ b + c),
        ),
        "shift_through_the_transpose": (
            "Your shift meets the transpose of W: b @ W sums over the outputs. W has one row for each output: W @ b.",
            lambda g, b, W, c: (W * g, b @ W + c),
        ),
        "shift_subtracted": (
            "You subtracted what W makes of the shift. The norm adds b, so the new bias adds W @ b.",
            lambda g, b, W, c: (W * g, c - W @ b),
        ),
        "weight_transposed": (
            "Your weight is transposed. It keeps the form of W, one row for each output.",
            lambda g, b, W, c: ((W * g).T, W @ b + c),
        ),
        "bias_scaled": (
            "Your gain also scales the bias. It acts on z alone, before the matrix.",
            lambda g, b, W, c: (W * g, (W @ b + c) * g),
        ),
    }
)


def _without_gains(answer, n_layers):
    """A filled model after the answer: which norms still scale or shift, and its logits."""
    with torch.random.fork_rng(devices=[]):
        model = filled(Transformer(9, 7, d_model=8, n_heads=2, d_ff=16, n_layers=n_layers))
    model = answer(model, folded_layer)
    if not isinstance(model, nn.Module):
        return model
    norms = {name: norm for name, norm in model.named_modules() if isinstance(norm, nn.LayerNorm)}
    with torch.no_grad():
        numbers = {name: torch.cat([norm.weight - 1, norm.bias]).abs().max() for name, norm in norms.items()}
        logits = model(some_ids(2, 5, seed=1), some_ids(2, 6, words=7, seed=2))
    return {
        "list of norms that still scale or shift": [name for name, most in numbers.items() if most > 1e-5],
        "logits": logits,
    }


whole = Exercise(
    "folded_model",
    title="Fold the norms away, step 2 of 2",
    goal="Now do this to a whole trained model. `model` is a Transformer as you wrote it, and `fold(g, b, W, c)` is "
    "step 1. Give each LayerNorm gain 1 and bias 0, and move its work into every Linear that reads it, so that the "
    "logits stay the same. One norm cannot be folded and keeps its numbers: find out which. Change the numbers in "
    "place, inside `with torch.no_grad():`, by `copy_(…)`, `fill_(…)` and `zero_()`. Return the model.",
    difficulty=3,
    minutes=15,
    cases=lambda: [(1,), (2,)],
    run=_without_gains,
    hints=(
        "Make a list of pairs first: a norm, and all layers that read it. Follow the drawing: who reads the memory?",
        "Self-attention: query, key and value. Cross-attention: its norm feeds the query alone, for keys and values "
        "read the memory, the output of the encoder's last norm. The decoder's last norm is read by the output, "
        "whose table also makes the stream.",
        "For each pair, and each layer of it: W, c = fold(norm.weight, norm.bias, layer.weight, layer.bias), then "
        "layer.weight.copy_(W) and layer.bias.copy_(c); at last norm.weight.fill_(1) and norm.bias.zero_().",
    ),
)


@whole.solution
def folded_model(model, fold):
    """The model with the same logits, its norms without gain and bias; fold(g, b, W, c) -> weight, bias."""
    pairs, memory = [], []  # (a norm, the layers that read it), and the layers that read the memory
    for block in [*model.encoder.blocks, *model.decoder.blocks]:
        layers = block.self_attention
        pairs.append((block.self_attention_norm, [layers.query, layers.key, layers.value]))
        pairs.append((block.feed_forward_norm, [block.feed_forward.expand]))
    for block in model.decoder.blocks:
        looks = block.cross_attention
        pairs.append((block.cross_attention_norm, [looks.query]))
        memory += [looks.key, looks.value]
    pairs.append((model.encoder.norm, memory))
    with torch.no_grad():
        for norm, readers in pairs:
            for layer in readers:
                weight, bias = fold(norm.weight, norm.bias, layer.weight, layer.bias)
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)
            norm.weight.fill_(1.0)
            norm.bias.zero_()
    return model


SELF = ("query", "key", "value")


def _readers(model):
    """Name of a norm -> the names of the layers that read it."""
    found = {"encoder.norm": []}
    for side in ("encoder", "decoder"):
        for i in range(len(model.decoder.blocks)):
            block = f"{side}.blocks.{i}"
            found[f"{block}.self_attention_norm"] = [
                f"{block}.self_attention.{end}" for end in ("query", "key", "value")
            ]
            found[f"{block}.feed_forward_norm"] = [f"{block}.feed_forward.expand"]
            if side == "decoder":
                found[f"{block}.cross_attention_norm"] = [f"{block}.cross_attention.query"]
                found["encoder.norm"] += [f"{block}.cross_attention.{end}" for end in ("key", "value")]
    return found


def _folded(change, reset=True):
    """A mistake: `change` alters the table of readers; without `reset` the norms keep their numbers."""

    @torch.no_grad()
    def answer(model, fold):
        readers = _readers(model)
        change(readers)
        for name, paths in readers.items():
            norm = model.get_submodule(name)
            for layer in map(model.get_submodule, paths):
                bias = layer.bias if layer.bias is not None else torch.zeros(len(layer.weight))
                weight, bias = fold(norm.weight, norm.bias, layer.weight, bias)
                layer.weight.copy_(weight)
                if layer.bias is not None:
                    layer.bias.copy_(bias)
            if reset:
                norm.weight.fill_(1.0), norm.bias.zero_()
        return model

    return answer


def _readers_of(norm, end):
    """A change: the norms whose names end so are read by the layers whose names end in one of these."""

    def change(readers):
        for name in [name for name in readers if name.endswith(norm)]:
            block = name.removesuffix(f".{norm}")
            readers[name] = [f"{block}.{norm.removesuffix('_norm')}.{one}" for one in end]

    return change


whole.add_mistakes(
    {
        "memory_forgotten": (
            "The encoder's last norm still has its numbers. It makes the memory: who reads that?",
            _folded(lambda readers: readers.pop("encoder.norm")),
        ),
        "memory_norm_lost": (
            "You reset the encoder's last norm, but folded it into no layer: the keys and values of every "
            "cross-attention read the memory.",
            _folded(lambda readers: readers.update({"encoder.norm": []})),
        ),
        "memory_norm_reset_in_the_loop": (
            "You reset the encoder's last norm inside the loop, so from the second block of the decoder on its gain is "
            "1 when you fold it. Fold it into all blocks first.",
            _folded(lambda readers: readers.update({"encoder.norm": readers["encoder.norm"][:2]})),
        ),
        "memory_for_values_only": (
            "You folded the encoder's last norm into the values of the cross-attentions, not into their keys. Both "
            "read the memory.",
            _folded(lambda readers: readers.update({"encoder.norm": readers["encoder.norm"][1::2]})),
        ),
        "memory_for_keys_only": (
            "You folded the encoder's last norm into the keys of the cross-attentions, not into their values. Both "
            "read the memory.",
            _folded(lambda readers: readers.update({"encoder.norm": readers["encoder.norm"][::2]})),
        ),
        "cross_norm_into_all_three": (
            "You folded the norm of cross-attention into queries, keys and values. Keys and values read the memory, "
            "and never meet this norm.",
            _folded(_readers_of("cross_attention_norm", SELF)),
        ),
        "cross_norm_forgotten": (
            "The norms before the cross-attentions still have their numbers. Their one reader is the query.",
            _folded(lambda readers: [readers.pop(name) for name in list(readers) if "cross_attention_norm" in name]),
        ),
        "self_norm_into_queries": (
            "You folded the norm of self-attention into the queries alone. Keys and values read the same copy.",
            _folded(_readers_of("self_attention_norm", ("query",))),
        ),
        "last_norm_folded": (
            "You folded the decoder's last norm into the output. Its table is tied: now every target word enters the "
            "stream with other numbers. This norm has to stay.",
            _folded(lambda readers: readers.update({"decoder.norm": ["output"]})),
        ),
        "last_norm_lost": (
            "You reset the decoder's last norm, but folded it into nothing. The output cannot take it, because its "
            "table is tied: this norm keeps its numbers.",
            _folded(lambda readers: readers.update({"decoder.norm": []})),
        ),
        "norms_kept": (
            "Your layers have the gains in them, but the norms still apply theirs, too. Set each to gain 1 and bias 0.",
            _folded(lambda readers: None, reset=False),
        ),
        "decoder_forgotten": (
            "You folded the norms of the encoder's blocks only. Those of the decoder's blocks have readers as well.",
            _folded(lambda readers: [readers.pop(name) for name in list(readers) if "decoder" in name]),
        ),
    }
)

QUIZ = [
    Question(
        "Where do the keys and values of cross-attention come from?",
        (
            Choice("From the decoder's stream", "Only the queries come from there."),
            Choice(
                "From the encoder block of the same height",
                "All decoder blocks look at the same memory, the output of the last encoder block and its norm.",
            ),
            Choice(
                "From the encoder's output, the memory",
                "It is computed once, and every decoder block looks at it.",
                right=True,
            ),
        ),
    ),
    Question(
        "How often is the source encoded while ten words are written?",
        (
            Choice("Once", "The memory does not depend on what is being written.", right=True),
            Choice("Ten times", "It would give the same memory ten times: nothing in the source changes."),
            Choice(
                "Once for each decoder block", "The encoder runs once, and all decoder blocks look at the same memory."
            ),
        ),
    ),
    Question(
        "An output layer tied to the embedding …",
        (
            Choice("makes the model recurrent", "It shares a matrix, but feeds nothing back."),
            Choice("saves V · D parameters", "The same table reads words and writes them.", right=True),
            Choice("halves the vocabulary", "V stays the same: each word still has a row, which is used twice."),
        ),
    ),
    Question(
        "How many attention sub-layers has a model of 6 encoder and 6 decoder blocks?",
        (
            Choice("12", "Each decoder block has two of them."),
            Choice("18", "6 in the encoder, 6 + 6 in the decoder.", right=True),
            Choice("24", "An encoder block has one, not two: it has no other sentence to look at."),
        ),
    ),
    Question(
        "Which sub-layer has a causal mask?",
        (
            Choice("The encoder's self-attention", "The full source is known, so only its padding is masked."),
            Choice("Cross-attention, in every decoder block", "Every target word may look at every source word."),
            Choice("The decoder's self-attention", "It must not see words that are not written yet.", right=True),
        ),
    ),
    Question(
        "W_q and W_k both start at zero, and so do their biases. What happens in training?",
        (
            Choice("They never move", "Each one's gradient contains the other as a factor.", right=True),
            Choice("They learn slowly", "Their gradient is not small, it is exactly 0."),
            Choice("The loss becomes NaN", "All scores are 0, so all weights are equal, and nothing is infinite."),
        ),
    ),
]
