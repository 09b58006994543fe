"""Exercises on the full model."""

import random

import numpy as np
import torch
from torch import nn
from torch.nn.functional import normalize

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions
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


block.slips("""
two_matrices    return 4 * D * D + 2 * D * F + 2 * D
  You counted two matrices in the network. A gated one has three: gate, up and down.
layer_norms    return 4 * D * D + 3 * D * F + 4 * D
  You counted LayerNorms, with gain and bias. An RMSNorm has only a gain, D numbers.
norms_missing    return 4 * D * D + 3 * D * F
  The two norms are missing: each has a gain of D numbers.
one_norm    return 4 * D * D + 3 * D * F + D
  You counted one norm. A block has two sub-layers, and a norm before each.
three_norms    return 4 * D * D + 3 * D * F + 3 * D
  You counted three norms. The last norm of the model comes after all blocks and belongs to none of them.
with_biases    return 4 * (D * D + D) + 3 * D * F + 2 * F + D + 2 * D
  You gave every matrix a bias, one number for each column. Llama has no biases.
output_matrix_missing    return 3 * D * D + 3 * D * F + 2 * D
  Attention's output matrix is missing: there are four matrices, not three.
block_of_2017    return 4 * (D * D + D) + 2 * D * F + F + D + 4 * D
  You counted the block of 2017: two matrices in the network, biases, and LayerNorms.
""")


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


total.slips("""
without_cross_attention    return translator_parameters(D, F, V, N) - N * 4 * D * D
  You forgot the cross-attention of the decoder blocks: each has four more (D, D) matrices.
output_untied    return translator_parameters(D, F, V, N) + V * D
  You counted a separate output layer. It is tied: it is the target's embedding table, so it adds nothing.
one_embedding    return translator_parameters(D, F, V, N) - V * D
  You counted one embedding. Here source and target each have their own vocabulary and table.
half_the_blocks    12 * D * D + 4 → 4 * D * D + 2
  You counted N blocks in total. The model has N in the encoder and N more in the decoder.
one_block_a_side    return translator_parameters(D, F, V, 1)
  You counted one block in the encoder and one in the decoder. There are N of each.
half_the_network    return translator_parameters(D, F, V, N) - 2 * N * D * F
  You counted one of the two matrices of each feed-forward network.
cross_attention_in_both_stacks    return translator_parameters(D, F, V, N) + N * 4 * D * D
  You counted a cross-attention in the encoder's blocks, too. Only the decoder's blocks have one.
with_biases    return translator_parameters(D, F, V, N) + N * (12 * D + 2 * (F + D))
  You counted the biases, too. Here only matrices count.
no_embeddings    return translator_parameters(D, F, V, N) - 2 * V * D
  You forgot the embeddings. In a model with few blocks they are a large part.
""")


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


tied.slips("""
logits_only    return h @ E[:V].T
  You returned the logits: the softmax over the vocabulary is missing.
logarithms    softmax → log_softmax
  You returned log-probabilities (log_softmax), which are negative. Return probabilities.
cut_after_softmax    return (h @ E.T).softmax(dim=-1)[:, :V]
  You removed the padding after the softmax, when it already had its share: your rows sum to less than 1.
filling_set_to_zero    return (h @ E.T * (torch.arange(len(E)) < V)).softmax(dim=-1)[:, :V]
  You set the padding's logits to 0, or its rows of E to zeros. A logit of 0 still gets a share, e⁰; only −∞ gets none.
  Your rows sum to less than 1.
softmax_over_positions    dim=-1 → dim=0
  Your softmax runs over the positions: they compete for each word, so a position's words do not sum to 1.
logits_scaled    .T → .T / h.shape[-1] ** 0.5
  You divided by √D, as attention does with its scores. The output layer has no scale: your rows are too even.
cosines    h @ E[:V] → normalize(h, dim=-1) @ normalize(E[:V], dim=-1)
  You used cosines. They are between −1 and 1, so no word can ever get a probability near 1.
scaled_as_input    .T → .T * h.shape[-1] ** 0.5
  You also multiplied E by √D at the output. That factor belongs to the input only.
sigmoid    softmax(dim=-1) → sigmoid()
  You used a sigmoid, which gives each word a separate probability. Here they must sum to 1.
last_rows    E[:V] → E[-V:]
  You took the last V rows of E. The words come first: id 0 is row 0, and the padding comes after them.
""")


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


start.slips("""
both_zero    return (torch.zeros(D, K), torch.zeros(D, K))
  Both matrices are zero. Then the gradient of W_q has the factor W_k = 0, and the gradient of W_k the factor W_q = 0:
  without biases neither ever moves.
shapes_exchanged    return (torch.randn(K, D) / D**0.5, torch.randn(K, D) / D**0.5)
  Your matrices are (K, D). x has D numbers, and x W has K: the matrices are (D, K).
deviation_one    return (torch.randn(D, K), torch.randn(D, K))
  Your deviation is 1, so the projections are √D times too large, and from the start one weight is nearly 1.
deviation_root_of_width    return tuple(torch.randn(2, D, K) * D**0.5)
  You multiplied by √D where you divide by it: the projections are D times too large.
deviation_one_over_width    return tuple(torch.randn(2, D, K) / D)
  Your deviation is 1/D, but that is the variance you need: the projections are √D times too small.
scaled_by_head    return tuple(torch.randn(2, D, K) / K**0.5)
  You scaled by the width of the head, 1/√d_k. But the sum in x W runs over the D numbers of x: use 1/√D.
xavier    return tuple(torch.randn(2, D, K) * (2 / (D + K)) ** 0.5)
  You drew with Xavier's deviation, √(2/(D + K)), a compromise of D and K. Here it is 1/√D.
uniform    return tuple((2 * torch.rand(2, D, K) - 1) / D**0.5)
  You drew uniformly between −1/√D and 1/√D. That has the deviation 1/√(3D), smaller by a factor of 1.7; the exercise
  asks for a normal distribution.
uniform_of_the_right_deviation    return tuple((2 * torch.rand(2, D, K) - 1) * (3 / D) ** 0.5)
  Your deviation is right, but your numbers are uniform: none is larger than 1.7 deviations. The exercise asks for a
  normal distribution, torch.randn.
one_for_both    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5 → W = torch.randn(D, K) / D**0.5 ⏎
      return W, W.clone()
  You used one matrix for both, so the scores start symmetric: t has the same score for s as s has for t.
sign_turned    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5 → W = torch.randn(D, K) / D**0.5 ⏎
      return W, -W
  Your W_k is −W_q. The two are not independent, and every word starts with its lowest score for itself.
turned_over    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5 → W = torch.randn(D, K) / D**0.5 ⏎
      return W, W.flip(0)
  Your W_k holds the numbers of W_q in another order or with other signs: they are not independent.
same_at_each_call    return torch.randn(D, K) / D**0.5, torch.randn(D, K) / D**0.5 →
      generator = torch.Generator().manual_seed(0) ⏎ return tuple(torch.randn(2, D, K, generator=generator) / D**0.5)
  Every call returns the same numbers, perhaps because you set a seed inside or stored the first ones. So all heads
  start alike and learn the same.
""")


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


fold.slips("""
gain_on_the_rows    return (W * g[:, None], W @ b + c)
  Your gain scales the rows of W, the outputs. It belongs to the inputs, so it scales the columns.
shift_forgotten    return (W * g, c)
  Your bias is c alone. The norm also shifts z by b, and what W makes of that is missing.
shift_not_mapped    return (W * g, b + c)
  You added b to c as it is. The shift stands before the Linear, so it passes through W.
shift_by_the_new_weight    return (W * g, (W * g) @ b + c)
  Your shift passes through the new weight, which has the gain in it. But b comes behind the gain: W @ b.
bias_forgotten    return (W * g, W @ b)
  The Linear's own bias c is missing from yours. It is added at the end, as before.
gain_divided    return (W / g, W @ b + c)
  You divided by the gain. Nothing is undone here: the new weight does what the gain did, so it is scaled.
weight_unchanged    return (W, W @ b + c)
  Your weight is still W: the gain is lost. Nobody scales z any more, so the weight has to do it.
shift_through_the_transpose    return (W * g, b @ W + c)
  Your shift meets the transpose of W: b @ W sums over the outputs. W has one row for each output: W @ b.
shift_subtracted    return (W * g, c - W @ b)
  You subtracted what W makes of the shift. The norm adds b, so the new bias adds W @ b.
weight_transposed    return ((W * g).T, W @ b + c)
  Your weight is transposed. It keeps the form of W, one row for each output.
bias_scaled    return (W * g, (W @ b + c) * g)
  Your gain also scales the bias. It acts on z alone, before the matrix.
""")


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


whole.slips("""
memory_forgotten    pairs.append((model.encoder.norm, memory)) →
  The encoder's last norm still has its numbers. It makes the memory: who reads that?
memory_norm_lost    (model.encoder.norm, memory) → (model.encoder.norm, [])
  You reset the encoder's last norm, but folded it into no layer: the keys and values of every cross-attention read the
  memory.
memory_norm_reset_in_the_loop    (model.encoder.norm, memory) → (model.encoder.norm, memory[:2])
  You reset the encoder's last norm inside the loop, so from the second block of the decoder on its gain is 1 when you
  fold it. Fold it into all blocks first.
memory_for_values_only    [looks.key, looks.value] → [looks.value]
  You folded the encoder's last norm into the values of the cross-attentions, not into their keys. Both read the memory.
memory_for_keys_only    [looks.key, looks.value] → [looks.key]
  You folded the encoder's last norm into the keys of the cross-attentions, not into their values. Both read the memory.
cross_norm_into_all_three    [looks.query] → [looks.query, looks.key, looks.value] ;
      pairs.append((model.encoder.norm, memory)) → pairs.insert(0, (model.encoder.norm, memory))
  You folded the norm of cross-attention into queries, keys and values. Keys and values read the memory, and never meet
  this norm.
cross_norm_forgotten    pairs.append((block.cross_attention_norm, [looks.query])) →
  The norms before the cross-attentions still have their numbers. Their one reader is the query.
self_norm_into_queries    [layers.query, layers.key, layers.value] → [layers.query]
  You folded the norm of self-attention into the queries alone. Keys and values read the same copy.
last_norm_folded    pairs.append((model.encoder.norm, memory)) → pairs.append((model.encoder.norm, memory)) ⏎
      with torch.no_grad(): ⏎     model.output.weight *= model.decoder.norm.weight
      ⏎     model.decoder.norm.weight.fill_(1.0) ⏎     model.decoder.norm.bias.zero_()
  You folded the decoder's last norm into the output. Its table is tied: now every target word enters the stream with
  other numbers. This norm has to stay.
last_norm_lost    (model.encoder.norm, memory)) → (model.encoder.norm, memory)) ⏎ pairs.append((model.decoder.norm, []))
  You reset the decoder's last norm, but folded it into nothing. The output cannot take it, because its table is tied:
  this norm keeps its numbers.
norms_kept    norm.weight.fill_(1.0) → ; norm.bias.zero_() →
  Your layers have the gains in them, but the norms still apply theirs, too. Set each to gain 1 and bias 0.
decoder_forgotten    [*model.encoder.blocks, *model.decoder.blocks] → model.encoder.blocks ;
      pairs.append((block.cross_attention_norm, [looks.query])) →
  You folded the norms of the encoder's blocks only. Those of the decoder's blocks have readers as well.
""")


QUIZ = questions("""
Where do the keys and values of cross-attention come from?
  - From the decoder's stream | Only the queries come from there.
  - From the encoder block of the same height | All decoder blocks look at the same memory, the output of the last
    encoder block and its norm.
  * From the encoder's output, the memory | It is computed once, and every decoder block looks at it.
How often is the source encoded while ten words are written?
  * Once | The memory does not depend on what is being written.
  - Ten times | It would give the same memory ten times: nothing in the source changes.
  - Once for each decoder block | The encoder runs once, and all decoder blocks look at the same memory.
An output layer tied to the embedding …
  - makes the model recurrent | It shares a matrix, but feeds nothing back.
  * saves V · D parameters | The same table reads words and writes them.
  - halves the vocabulary | V stays the same: each word still has a row, which is used twice.
How many attention sub-layers has a model of 6 encoder and 6 decoder blocks?
  - 12 | Each decoder block has two of them.
  * 18 | 6 in the encoder, 6 + 6 in the decoder.
  - 24 | An encoder block has one, not two: it has no other sentence to look at.
Which sub-layer has a causal mask?
  - The encoder's self-attention | The full source is known, so only its padding is masked.
  - Cross-attention, in every decoder block | Every target word may look at every source word.
  * The decoder's self-attention | It must not see words that are not written yet.
W_q and W_k both start at zero, and so do their biases. What happens in training?
  * They never move | Each one's gradient contains the other as a factor.
  - They learn slowly | Their gradient is not small, it is exactly 0.
  - The loss becomes NaN | All scores are 0, so all weights are equal, and nothing is infinite.
""")
