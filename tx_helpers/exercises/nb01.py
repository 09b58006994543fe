"""Exercises of notebook 01, the limits of recurrence."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- the state -------------------------------------------------------------------------------------------------------

states = Exercise(
    "rnn_states",
    title="One state, carried along",
    goal="All states (T, D) of a recurrent layer that reads the rows of x (T, E), the first row first. W_x is (E, D), "
    "W_h (D, D), b (D,); the state before the first row is zero. `real` (T,) says True where a row is a word; at a row "
    "of filling (False) nothing is read, and the state stays what it was.",
    difficulty=2,
    minutes=10,
    formula=r"h_t = \tanh(x_t W_x + h_{t-1} W_h + b)\ \text{ at a word},\qquad h_t = h_{t-1}\ \text{ at filling},"
    r"\qquad h_0 = 0",
    source="Elman 1990, in today's notation, with filling passed over",
    cases=lambda: [
        (
            torch.tensor([[1.0], [2.0], [0.0]]),
            torch.tensor([True, False, True]),
            torch.tensor([[1.0]]),
            torch.tensor([[0.5]]),
            torch.tensor([0.0]),
        ),
        (
            random_tensors((6, 3), seed=0)[0],
            torch.tensor([True, True, False, True, True, False]),
            *random_tensors((3, 4), (4, 4), (4,), seed=7),
        ),
    ],
    hints=(
        "A loop over the rows of x; each turn needs the state of the turn before, and changes it only at a word.",
        "Start with torch.zeros(len(b)); keep the state of every row in a list, at filling the same one again.",
        "if word: h = torch.tanh(row @ W_x + h @ W_h + b). After the if: append h. In the end torch.stack(list).",
    ),
)


@states.solution
def rnn_states(x, real, W_x, W_h, b):
    """States (T, D) for x (T, E), real (T,), W_x (E, D), W_h (D, D), b (D,)."""
    h, found = torch.zeros(len(b)), []
    for row, word in zip(x, real, strict=True):
        if word:
            h = torch.tanh(row @ W_x + h @ W_h + b)
        found.append(h)
    return torch.stack(found)


def _loop(x, real, step, width, start=0.0):
    h, found = torch.full((width,), start), []
    for row, word in zip(x, real, strict=True):
        h = step(row, h) if word else h
        found.append(h)
    return torch.stack(found)


@states.mistake(
    "You read the filling like a word: each such row changes the state, so padding changes what is remembered."
)
def filling_read(x, real, W_x, W_h, b):
    return rnn_states(x, torch.ones_like(real), W_x, W_h, b)


@states.mistake("You set the state to 0 at filling: all that was read before is forgotten. It has to stay as it was.")
def forgets_at_filling(x, real, W_x, W_h, b):
    h, found = torch.zeros(len(b)), []
    for row, word in zip(x, real, strict=True):
        h = torch.tanh(row @ W_x + h @ W_h + b) * word
        found.append(h)
    return torch.stack(found)


@states.mistake("The state is not carried along in yours: each word is read as if it were the first.")
def not_carried(x, real, W_x, W_h, b):
    return rnn_states(x, real, W_x, torch.zeros_like(W_h), b)


@states.mistake("The tanh is missing: nothing keeps your states between −1 and 1, and they may grow without bound.")
def no_tanh(x, real, W_x, W_h, b):
    return _loop(x, real, lambda row, h: row @ W_x + h @ W_h + b, len(b))


@states.mistake("You wrote W_h @ h, which is h times the transpose of W_h. Vectors are rows here: h @ W_h.")
def transposed(x, real, W_x, W_h, b):
    return _loop(x, real, lambda row, h: torch.tanh(row @ W_x + W_h @ h + b), len(b))


@states.mistake("Your first state is made of ones. Before the first row there is nothing to remember: zeros.")
def started_with_ones(x, real, W_x, W_h, b):
    return _loop(x, real, lambda row, h: torch.tanh(row @ W_x + h @ W_h + b), len(b), start=1.0)


@states.mistake("You read the rows from last to first: your first state knows the last row alone.")
def read_backwards(x, real, W_x, W_h, b):
    return rnn_states(x.flip(0), real.flip(0), W_x, W_h, b)


@states.mistake("The bias b is missing from your states: as long as the input is 0, a state of 0 cannot change.")
def bias_missing(x, real, W_x, W_h, b):
    return rnn_states(x, real, W_x, W_h, torch.zeros_like(b))


@states.mistake("You took the tanh of each part alone and added them: the bend belongs around the whole sum.")
def bent_by_parts(x, real, W_x, W_h, b):
    return _loop(x, real, lambda row, h: torch.tanh(row @ W_x) + torch.tanh(h @ W_h) + torch.tanh(b), len(b))


# --- the gradient ----------------------------------------------------------------------------------------------------

gradient = Exercise(
    "gradient_through_time",
    title="What is left of a gradient",
    goal="A recurrent layer has a single number as its state, h_t = tanh(w h_{t−1} + x_t). Given the number w and the "
    "states h (T,) it went through, h_1 … h_T (h_0 is not among them), hand back ∂h_T / ∂h_0, one number, without "
    "autograd.",
    difficulty=2,
    minutes=10,
    formula=r"\frac{\partial h_t}{\partial h_{t-1}} = w\,(1-h_t^2)",
    source="chain rule, with tanh′ = 1 − tanh²; Bengio, Simard and Frasconi 1994",
    tolerance=1e-6,
    cases=lambda: [
        (0.5, torch.tensor([0.5, -0.2], dtype=torch.float64)),
        (1.5, torch.tensor([0.9, 0.1, 0.3, -0.4], dtype=torch.float64)),
        (-0.8, torch.tensor([0.3, 0.2, 0.1], dtype=torch.float64)),
        (3.0, torch.tensor([0.1, -0.1, 0.0, 0.1], dtype=torch.float64)),
    ],
    hints=(
        "The chain rule: one factor for every step.",
        "The factor of step t uses the state after it: w · (1 − h_t²).",
        "(w * (1 - h**2)).prod()",
    ),
)


@gradient.solution
def gradient_through_time(w, h):
    """∂h_T/∂h_0 for the weight w and the states h (T,)."""
    return (w * (1 - h**2)).prod()


@gradient.mistake("Your factors are added. By the chain rule they multiply, which is why they vanish or explode.")
def added_up(w, h):
    return (w * (1 - h**2)).sum()


@gradient.mistake("The slope of tanh is missing: 1 − h², below 1 wherever the state is not 0, shrinks every factor.")
def slope_missing(w, h):
    return torch.tensor(w, dtype=torch.float64) ** len(h)


@gradient.mistake("The weight occurs once in yours; every step multiplies by it, T times in all.")
def one_weight(w, h):
    return w * (1 - h**2).prod()


@gradient.mistake("The slope of tanh is 1 − h², with the square: you have 1 − h.")
def slope_without_square(w, h):
    return (w * (1 - h)).prod()


@gradient.mistake("You left out the last step: from h_0 to h_T there are T factors, one for every state given.")
def last_step_left_out(w, h):
    return (w * (1 - h[:-1] ** 2)).prod()


@gradient.mistake(
    "You put the states through tanh once more, 1 − tanh(h)²: h_t is a tanh already, so its slope is 1 − h_t²."
)
def tanh_twice(w, h):
    return (w * (1 - torch.tanh(h) ** 2)).prod()


# --- gates -----------------------------------------------------------------------------------------------------------

cell = Exercise(
    "lstm_step",
    title="A step of an LSTM",
    goal="One step of an LSTM. `z` (4, D) holds the four sums that its gates are made of, in the order input, forget, "
    "candidate (the notebook's g), output; h (D,) and c (D,) are the state before (z has been made from h already). "
    "Hand back the new h and c, in this order.",
    difficulty=2,
    minutes=8,
    formula=r"c' = \sigma(z_f)\odot c + \sigma(z_i)\odot\tanh(z_g),\qquad h' = \sigma(z_o)\odot\tanh(c')",
    source="Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000",
    cases=lambda: [
        (torch.tensor([[0.0], [2.0], [1.0], [-1.0]]), torch.tensor([0.1]), torch.tensor([2.0])),
        random_tensors((4, 5), (5,), (5,), seed=1),
    ],
    hints=(
        "Three gates go through a sigmoid, the candidate through tanh.",
        "The new c keeps a part of the old one and adds a part of the candidate.",
        "c = f * c + i * g; h = o * tanh(c)",
    ),
)


@cell.solution
def lstm_step(z, h, c):
    """New h (D,) and c (D,) from the gates' sums z (4, D): input, forget, candidate, output."""
    i, f, g, o = z[0].sigmoid(), z[1].sigmoid(), z[2].tanh(), z[3].sigmoid()
    c = f * c + i * g
    return o * c.tanh(), c


def _cell(i, f, g, o, c):
    c = f.sigmoid() * c + i.sigmoid() * g
    return o.sigmoid() * c.tanh(), c


@cell.mistake(
    "Input and forget gate have changed places: you keep by what should let in, and let in by what should keep."
)
def gates_swapped(z, h, c):
    return _cell(z[1], z[0], z[2].tanh(), z[3], c)


@cell.mistake("Your candidate went through a sigmoid: it can only add, never take away. The candidate's bend is tanh.")
def candidate_by_sigmoid(z, h, c):
    return _cell(z[0], z[1], z[2].sigmoid(), z[3], c)


@cell.mistake("You hand back o · c. The memory c may have grown large; the state is o · tanh(c).")
def no_tanh_of_memory(z, h, c):
    c = _cell(z[0], z[1], z[2].tanh(), z[3], c)[1]
    return z[3].sigmoid() * c, c


@cell.mistake("The old memory c is gone: f · c is missing, and with it the path along which gradients travel.")
def memory_lost(z, h, c):
    return _cell(z[0], z[1], z[2].tanh(), z[3], torch.zeros_like(c))


@cell.mistake("You kept h where c should be kept: the forget gate works on the memory, not on the state.")
def state_kept(z, h, c):
    return _cell(z[0], z[1], z[2].tanh(), z[3], h)


@cell.mistake(
    "You tied the gates, 1 − f in place of i. That is a thrifty variant; the LSTM asked for has an input gate."
)
def gates_tied(z, h, c):
    return _cell(-z[1], z[1], z[2].tanh(), z[3], c)


@cell.mistake("New h and c are handed back in the wrong order: h first, then c.")
def handed_back_swapped(z, h, c):
    return lstm_step(z, h, c)[::-1]


# --- additive attention ----------------------------------------------------------------------------------------------

align = Exercise(
    "additive_weights",
    title="Attention before the Transformer",
    goal="The weights (T, S) with which the T states s (T, D) of a decoder look at the S states H (S, D) of the "
    "encoder, by a small network with A units: for each pair the two states, laid end to end, are multiplied by W "
    "(2·D, A), whose first D rows belong to s; then tanh, and the dot product with v (A,). Every row of the weights "
    "sums to 1.",
    difficulty=2,
    minutes=10,
    formula=r"\alpha_{tj} = \operatorname{softmax}_j\left(v^\top\tanh([s_t;\,h_j]\,W)\right)",
    source="Bahdanau et al. 2015, section 3.1, written as in Luong et al. 2015, section 3.1",
    cases=lambda: [
        (
            torch.tensor([[1.0, 0.0], [-1.0, 2.0]]),
            torch.tensor([[1.0, 1.0], [0.0, -1.0]]),
            torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [0.0, 1.0]]),
            torch.tensor([1.0, 3.0]),
        ),
        random_tensors((2, 3), (4, 3), (6, 5), (5,), seed=2),
        random_tensors((3, 2), (3, 2), (4, 4), (4,), seed=8),
    ],
    hints=(
        "[s_t; h_j] W is s_t times the upper half of W plus h_j times the lower half: no pair need be written down.",
        "(T, 1, A) plus (S, A) is (T, S, A), by broadcasting. Then tanh, and the dot product with v: (T, S).",
        "upper, lower = W.chunk(2); ((s @ upper)[:, None] + H @ lower).tanh() @ v, and a softmax over the last axis",
    ),
)


@align.solution
def additive_weights(s, H, W, v):
    """Weights (T, S) of states s (T, D) over states H (S, D); W (2·D, A), first the rows for s; v (A,)."""
    for_s, for_h = W.chunk(2)  # (D, A) each
    sums = (s @ for_s)[:, None] + H @ for_h  # (T, S, A)
    return (sums.tanh() @ v).softmax(dim=-1)


def _sums(s, H, W):
    """(T, S, A)"""
    for_s, for_h = W.chunk(2)
    return (s @ for_s)[:, None] + H @ for_h


@align.mistake(
    "The tanh is missing: without it s_t adds the same number to every score of a row, and the softmax does not "
    "notice s."
)
def scores_linear(s, H, W, v):
    return (_sums(s, H, W) @ v).softmax(dim=-1)


@align.mistake("These are the scores; the softmax that makes shares of them is missing.")
def scores_not_shared(s, H, W, v):
    return _sums(s, H, W).tanh() @ v


@align.mistake(
    "Your columns sum to 1: the decoder's states compete for each word. Each of them must share out its own 1."
)
def shared_over_states(s, H, W, v):
    return (_sums(s, H, W).tanh() @ v).softmax(dim=0)


@align.mistake("You multiplied where the network adds: s_t times h_j, each by its half of W, is a kind of dot product.")
def multiplied_inside(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] * (H @ for_h)).tanh() @ v).softmax(dim=-1)


@align.mistake("The halves of W have changed places: the upper one is for the decoder's states, the lower for H.")
def halves_swapped(s, H, W, v):
    return additive_weights(s, H, W.roll(len(W) // 2, 0), v)


@align.mistake("You took every other row of W for s. The two states lie end to end: the first D rows are for s.")
def rows_in_turn(s, H, W, v):
    return additive_weights(s, H, torch.cat([W[0::2], W[1::2]]), v)


@align.mistake("You took the mean over the small network's A units; v, which weighs them, does not occur.")
def units_averaged(s, H, W, v):
    return _sums(s, H, W).tanh().mean(dim=-1).softmax(dim=-1)


@align.mistake(
    "The decoder's states have no effect: your rows are all the same. Left out of the sum, or added after the tanh, "
    "they move all scores of a row alike, and the softmax does not see it."
)
def state_ignored(s, H, W, v):
    return ((H @ W.chunk(2)[1]).tanh() @ v).softmax(dim=-1).repeat(len(s), 1)


# --- convolution -----------------------------------------------------------------------------------------------------

depth = Exercise(
    "convolution_layers",
    title="How deep must a convolution be?",
    goal="A convolution of odd width k ≥ 3 looks, from each position, at (k − 1)/2 neighbours on each side (not only "
    "at those before it, as in the notebook's cell). How many such layers, one upon the other and without dilation, "
    "are needed at least until an output depends on an input n positions away? n ≥ 1; hand back a whole number.",
    difficulty=2,
    minutes=6,
    cases=lambda: [(1, 3), (4, 3), (5, 5), (100, 7), (64, 9)],
    tolerance=1e-9,
    hints=(
        "One layer reaches (k − 1)/2 positions to one side. And two?",
        "Every layer adds as much again; the last one may be needed for a part only.",
        "Round n / ((k − 1)/2) up: math.ceil(2 * n / (k - 1))",
    ),
)


@depth.solution
def convolution_layers(n, k):
    """Number of layers of width k that reach n positions far."""
    return math.ceil(2 * n / (k - 1))


@depth.mistake("You rounded down: for what is left over another layer is needed.")
def rounded_down(n, k):
    return 2 * n // (k - 1)


@depth.mistake("You divided by the whole width k: a layer reaches (k − 1)/2 positions to a side, not k.")
def by_whole_width(n, k):
    return math.ceil(n / k)


@depth.mistake("You counted both sides: k − 1 neighbours, of which only half lie on the way to the input.")
def both_sides(n, k):
    return math.ceil(n / (k - 1))


@depth.mistake("Your number grows with the logarithm of n: that takes dilation, gaps that widen from layer to layer.")
def with_dilation(n, k):
    return math.ceil(math.log(n + 1, k))


@depth.mistake("You have one layer too many: the first one already reaches (k − 1)/2 positions far.")
def one_layer_more(n, k):
    return math.ceil(2 * n / (k - 1)) + 1


QUIZ = [
    Question(
        "Why does the gradient vanish over many steps?",
        (
            Choice("The learning rate is too low", "The gradient is what it is before any step is made."),
            Choice(
                "Each step multiplies it by a factor, mostly below 1", "Fifty factors of 0.5 leave 1e-15.", right=True
            ),
            Choice("The numbers are rounded", "In float64 it vanishes as well."),
        ),
    ),
    Question(
        "Do LSTM and GRU cure it?",
        (
            Choice("Yes", "Measured after 50 steps, with the usual start: 1e-11 or so is left."),
            Choice("No, they are worse than an RNN", "Some millions of times more is left than of an RNN's."),
            Choice(
                "They soften it; a large forget bias does much more",
                "A gate near 1 hands the gradient on nearly whole.",
                right=True,
            ),
        ),
    ),
    Question(
        "What is the bottleneck of sequence to sequence without attention?",
        (
            Choice(
                "One vector has to hold the whole sentence", "Exact match falls as the numbers get longer.", right=True
            ),
            Choice("The decoder is too slow", "It is not a matter of time."),
            Choice("The vocabulary", "It is the same with attention."),
        ),
    ),
    Question(
        "How many steps does a signal take from word 1 to word 100?",
        (
            Choice(
                "Recurrence 99, attention 1",
                "A state is handed on 99 times; attention looks there directly.",
                right=True,
            ),
            Choice("Both 99", "In attention every pair is connected directly."),
            Choice(
                "Recurrence 1, attention 99", "A state moves on by one word a step; attention looks anywhere at once."
            ),
        ),
    ),
    Question(
        "“Transformers train five to ten times faster than recurrent networks.” What holds?",
        (
            Choice(
                "Just that, everywhere",
                "Whole models with PyTorch's LSTM took less than half of the Transformer's time on two cores.",
            ),
            Choice(
                "The opposite, everywhere",
                "At length 512 an LSTM written as a loop in Python took twice the Transformer's time.",
            ),
            Choice(
                "It depends on length, hardware and how the loop is written",
                "What differs everywhere is the number of steps in a row.",
                right=True,
            ),
        ),
    ),
]
