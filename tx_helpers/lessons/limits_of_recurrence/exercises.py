"""Exercises on the limits of recurrence."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- reading, in the notebook's text --------------------------------------------------------------------------------

reading = Exercise(
    "read_words",
    title="Read a sentence",
    goal="Return the states (T, D) of a recurrent layer that reads the words x (T, D), one after the other. W and U "
    "are (D, D), b is (D,). The state before the first word is zero.",
    difficulty=1,
    minutes=6,
    inline=True,
    formula=r"h_t = \tanh(x_t W + h_{t-1} U + b),\qquad h_0 = 0",
    source="Elman 1990, in today's notation, with vectors as rows",
    cases=lambda: [
        (torch.tensor([[1.0], [0.0], [2.0]]), torch.tensor([[1.0]]), torch.tensor([[0.5]]), torch.tensor([0.1])),
        random_tensors((5, 4), (4, 4), (4, 4), (4,), seed=3),
    ],
    hints=(
        "Loop over the rows of x. The state that a word leaves behind goes into the next step.",
        "Start with h = torch.zeros(len(b)). In the loop: a new h, and append it to a list.",
        "h = torch.tanh(word @ W + h @ U + b); at the end return torch.stack(states).",
    ),
)


@reading.solution
def read_words(x, W, U, b):
    """States (T, D) for the words x (T, D), with W (D, D), U (D, D) and b (D,)."""
    h = torch.zeros(len(b), dtype=b.dtype)
    states = []
    for word in x:
        h = torch.tanh(word @ W + h @ U + b)
        states.append(h)
    return torch.stack(states)


reading.slips("""
stored_too_early    return torch.cat([torch.zeros(1, len(b)), read_words(x, W, U, b)[:-1]])
  Your first state is the initial one: you stored h before the step. Store the state after each word.
state_dropped    + h @ U →
  Each word is read as if it were the first: the state of the step before is missing, or never updated.
never_bent    torch.tanh →
  The tanh is missing: nothing keeps the state between −1 and 1.
begun_at_b    torch.zeros(len(b), dtype=b.dtype) → b
  Your first state is b. Before the first word the state is zero, and b is added at every step.
initial_state_kept    return torch.cat([torch.zeros(1, len(b)), read_words(x, W, U, b)])
  You kept the zero state before the first word, too: T + 1 rows. Append the state after each word.
not_stacked    return list(read_words(x, W, U, b))
  Your states are right, but they are still a list. Return one tensor (T, D): torch.stack(states).
first_matrix_twice    return _read(x, len(b), lambda word, h: torch.tanh(word @ W + h @ W + b))
  You multiply the state by W, too. U carries the state: h @ U.
matrix_turned    h @ U → U @ h
  You wrote U @ h. The state is a row here, so U stands behind it: h @ U.
word_turned    word @ W → W @ word
  You wrote W @ x[t], which is x[t] times the transpose of W. Words are rows here: x[t] @ W.
both_turned    word @ W → W @ word ; h @ U → U @ h
  You wrote both matrices in front of their vectors, W @ x[t] and U @ h. Vectors are rows here, so the matrices stand
  behind them: x[t] @ W + h @ U.
matrices_exchanged    word @ W + h @ U → word @ U + h @ W
  W and U are exchanged: W reads the word, U carries the state.
sigmoid_for_tanh    torch.tanh → torch.sigmoid
  You took the sigmoid, which stays above 0. The state must be able to reach −1: take tanh.
without_bias    + b) → )
  The bias b is missing: inside the tanh you have only the word's part and the state's.
tanh_of_the_word_alone    + h @ U + b) → + b) + h @ U
  You took the tanh of the word's part and added h U outside it. The tanh goes around the sum of all three.
bias_outside    + b) → ) + b
  You added b outside the tanh, so your state can leave −1 … 1. The tanh goes around all three parts.
tanh_of_the_product_alone    @ W + h @ U + b) → @ W) + h @ U + b
  You took the tanh of x[t] @ W and added h U and b outside it. Add up the three parts first, then bend.
added_to_the_old_state    torch.tanh( → h + torch.tanh(
  You added the tanh to the old state. The new state replaces the old one: h = torch.tanh(…).
last_state_alone    torch.stack(states) → h
  You return the state after the last word alone, (D,). Keep the state after each word: append it to a list in the loop,
  and stack the list at the end.
from_the_end    in x: → in x.flip(0):
  You read the sentence from its end: your first state has seen only the last word.
""")


def _read(x, width, step, h=None):
    h, found = torch.zeros(width) if h is None else h, []
    for word in x:
        h = step(word, h)
        found.append(h)
    return torch.stack(found)


# --- the state -------------------------------------------------------------------------------------------------------

states = Exercise(
    "rnn_states",
    title="One state, carried along",
    goal="Return all states (T, D) of a recurrent layer that reads the rows of x (T, D) in order. W and U are "
    "(D, D), b is (D,); the state before the first row is zero. `real` (T,) is True where a row is a word. A row of "
    "padding (False) is not read: the state stays what it was.",
    difficulty=2,
    minutes=10,
    formula=r"h_t = \tanh(x_t W + h_{t-1} U + b)\ \text{ at a word},\qquad h_t = h_{t-1}\ \text{ at padding},"
    r"\qquad h_0 = 0",
    source="Elman 1990, in today's notation, with vectors as rows and padding skipped",
    cases=lambda: [
        (
            torch.tensor([[1.0], [2.0], [0.0]]),
            torch.tensor([True, False, True]),
            torch.tensor([[1.0]]),
            torch.tensor([[0.5]]),
            torch.tensor([0.0]),
        ),
        (
            random_tensors((6, 4), seed=0)[0],
            torch.tensor([True, True, False, True, True, False]),
            *random_tensors((4, 4), (4, 4), (4,), seed=7),
        ),
    ],
    hints=(
        "Loop over the rows of x. Each step needs the state of the step before, and changes it only at a word.",
        "Start with torch.zeros(len(b)). Append the state after every row to a list; at padding it is the same as "
        "before.",
        "if word: h = torch.tanh(row @ W + h @ U + b). After the if: append h. At the end: torch.stack(list).",
    ),
)


@states.solution
def rnn_states(x, real, W, U, b):
    """States (T, D) for x (T, D), real (T,), W (D, D), U (D, D), b (D,)."""
    h, found = torch.zeros(len(b)), []
    for row, word in zip(x, real, strict=True):
        if word:
            h = torch.tanh(row @ W + h @ U + b)
        found.append(h)
    return torch.stack(found)


states.slips("""
started_with_ones    torch.zeros → torch.ones
  Your initial state is made of ones. Before the first row there is nothing to remember, so it is zero.
padding_left_out    return rnn_states(x, real, W, U, b)[real]
  You have no row for padding. The answer has T rows: at padding append the state before it once more.
padding_read    if word: → if True:
  You read the padding like words: each such row changes the state, so the padding changes what is remembered.
not_carried    + h @ U →
  Your state is not passed on: each word is read as if it were the first.
no_tanh    torch.tanh →
  The tanh is missing: nothing keeps your states between −1 and 1, and they may grow without bound.
transposed    h @ U → U @ h
  You wrote U @ h, which is h times the transpose of U. Vectors are rows here: h @ U.
word_transposed    row @ W → W @ row
  You wrote W @ x[t], which is x[t] times the transpose of W. Vectors are rows here: x[t] @ W.
read_backwards    zip(x, real, → zip(x.flip(0), real.flip(0),
  You read the rows from last to first: your first state has seen only the last row.
output_zero_at_padding    append(h) → append(h * word)
  Your state is right, but you returned 0 at padding. The state of such a row is the state before it.
bias_missing    + b) → )
  The bias b is missing from your states: as long as the input is 0, a state of 0 cannot change.
bent_by_parts    @ W + h @ U + b) → @ W) + torch.tanh(h @ U) + torch.tanh(b)
  You took the tanh of each term and added the results. Take the tanh of the sum of all three.
forgets_at_padding    if word: → if True: ; + b) → + b) * word
  You set the state to 0 at padding: everything read before is forgotten. The state has to stay as it was.
""")


# --- the gradient ----------------------------------------------------------------------------------------------------

gradient = Exercise(
    "gradient_through_time",
    title="What is left of a gradient",
    goal="A recurrent layer has a single number as its state, h_t = tanh(w h_{t−1} + x_t). Given are the number w and "
    "the states h (T,), which are h_1 … h_T (h_0 is not among them). Return ∂h_T / ∂h_0, one number, without "
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


gradient.slips("""
added_up    prod → sum
  You added the factors. The chain rule multiplies them, which is why gradients vanish or explode.
slope_missing    (1 - h**2) → (1 - 0 * h)
  The derivative of tanh is missing: 1 − h² is below 1 wherever the state is not 0, and makes every factor smaller.
one_weight    return w * (1 - h**2).prod()
  You multiplied by the weight once. Every step multiplies by it, T times in all.
sign_lost    prod() → prod().abs()
  You lost the sign: each factor w(1 − h²) has the sign of w, so three steps with a negative w give a negative product.
slope_without_square    h**2 → h
  The derivative of tanh is 1 − h², with the square; you have 1 − h.
first_step_left_out    h**2 → h[1:] ** 2
  You left out the first state. h_0 is not among the h given, so each of the T states has a factor.
last_step_left_out    h**2 → h[:-1] ** 2
  You left out the last step: from h_0 to h_T there are T factors, one for every state given.
state_before    h**2 → torch.cat([0 * h[:1], h[:-1]]) ** 2
  You used the state before each step. The derivative at step t is 1 − h_t², with the state after it.
square_of_difference    (1 - h**2) → (1 - h) ** 2
  You squared the difference, (1 − h)². The derivative of tanh is 1 − h²: square the state alone.
tanh_twice    h**2 → torch.tanh(h) ** 2
  You applied tanh to the states once more, 1 − tanh(h)². h_t is already the output of tanh, so the derivative is 1 −
  h_t².
""")


# --- gates -----------------------------------------------------------------------------------------------------------

cell = Exercise(
    "lstm_step",
    title="A step of an LSTM",
    goal="One step of an LSTM. `z` (4, D) holds the four sums that its gates are made of, in the order input, forget, "
    "candidate (the notebook's g), output; h (D,) and c (D,) are the state before (z has been made from h already). "
    "Return the new h and c, in this order.",
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


cell.slips("""
gates_swapped    i, f, g → f, i, g
  Input and forget gate are swapped: the old memory is multiplied by the input gate, and the candidate by the forget
  gate.
candidate_and_output_swapped    z[2].tanh(), z[3].sigmoid() → z[3].tanh(), z[2].sigmoid()
  Candidate and output gate are swapped: the third sum is the candidate (tanh), the fourth the output gate.
candidate_by_sigmoid    z[2].tanh() → z[2].sigmoid()
  Your candidate went through a sigmoid, so it can only add to the memory, never subtract. The candidate takes tanh.
memory_lost    f * c + →
  The old memory c is gone: f · c is missing, and with it the path along which gradients flow.
state_for_memory    f * c → f * h
  You multiplied h by the forget gate. It works on the memory c, not on the state.
gates_tied    + i * g → + (1 - f) * g
  You used 1 − f in place of i. That is a known variant with fewer weights; this LSTM has an input gate of its own.
returned_swapped    return lstm_step(z, h, c)[::-1]
  You returned h and c in the wrong order: h comes first, then c.
no_tanh_of_memory    c.tanh() → c
  Your new state is o · c. The memory c may be large; the state is o · tanh(c).
""")


def _cell(i, f, g, o, c):
    c = f.sigmoid() * c + i.sigmoid() * g
    return o.sigmoid() * c.tanh(), c


# --- looking back, in the notebook's text ---------------------------------------------------------------------------

back = Exercise(
    "look_back",
    title="Look back at every word",
    goal="A decoder's state s (D,) looks back at the S states h (S, D) of the encoder. Return two things: the weights "
    "alpha (S,), which are positive and sum to 1, and the context c (D,), the mean of the states with these weights. "
    "W and U are (D, D), v is (D,); they are learned. States are rows.",
    difficulty=2,
    minutes=8,
    inline=True,
    formula=r"e_j = \tanh(s W + h_j U)\cdot v,\qquad \alpha = \operatorname{softmax}(e),\qquad c = \sum_j \alpha_j h_j",
    source="Bahdanau et al. 2015, section 3.1, with vectors as rows",
    cases=lambda: [
        (
            torch.tensor([1.0, 0.0]),
            torch.tensor([[1.0, 1.0], [0.0, -1.0], [2.0, 0.0]]),
            torch.tensor([[1.0, 0.0], [0.5, 1.0]]),
            torch.tensor([[1.0, 2.0], [0.0, 1.0]]),
            torch.tensor([1.0, 3.0]),
        ),
        random_tensors((3,), (4, 3), (3, 3), (3, 3), (3,), seed=4),
    ],
    hints=(
        "Score all S words at once: h_j U for every row of h is h @ U, of shape (S, D).",
        "s @ W has the shape (D,) and is added to every row. Then tanh, then @ v: one score for each word.",
        "alpha = (torch.tanh(s @ W + h @ U) @ v).softmax(0); return alpha, alpha @ h",
    ),
)


@back.solution
def look_back(s, h, W, U, v):
    """Weights (S,) and context (D,) for the state s (D,) and the words' states h (S, D)."""
    scores = torch.tanh(s @ W + h @ U) @ v  # (S,)
    alpha = scores.softmax(dim=0)
    return alpha, alpha @ h


back.slips("""
scores_for_weights    scores.softmax(dim=0) → scores
  Your weights are the scores: they do not sum to 1. The softmax is missing.
scores_returned    return alpha, → return scores,
  Your context is right, but you return the scores e in place of the weights. Return their softmax.
sigmoid_of_the_scores    softmax(dim=0) → sigmoid()
  You took the sigmoid of each score. These weights do not sum to 1: take the softmax.
mean_of_the_projected    alpha @ h → alpha @ (h @ U)
  Your context is the mean of h @ U. U belongs to the scores; the context is the mean of h itself.
context_first    alpha, alpha @ h → alpha @ h, alpha
  You return the context first. The weights come first, then the context.
both_matrices_turned    s @ W + h @ U → W @ s + h @ U.T
  You turned both matrices around, W @ s and h @ U.T. Vectors are rows here: s @ W and h @ U.
shared_out_by_division    scores.softmax(dim=0) → scores / scores.sum()
  You divided the scores by their sum. Scores may be negative: take exponentials first, as softmax does.
plain_mean    alpha @ h → h.mean(dim=0)
  Your weights are right, but your context is the plain mean of the states: use the weights, alpha @ h.
most_likely_alone    alpha @ h → h[alpha.argmax()]
  Your context is the state with the largest weight. Take the mean of all states, each with its weight.
no_bend    torch.tanh →
  The tanh is missing. Without it s adds the same number to every score, and the softmax cancels it.
tanh_apart    torch.tanh(s @ W + h @ U) → (torch.tanh(s @ W) + torch.tanh(h @ U))
  You took the tanh of each part and then added. Add first: tanh(s W + h U).
state_turned    s @ W → W @ s
  You wrote W @ s, which is s times the transpose of W. States are rows here: s @ W.
states_turned    h @ U → h @ U.T
  You wrote h @ U.T: U is turned around. States are rows here, so it is h @ U.
matrices_swapped    s @ W + h @ U → s @ U + h @ W
  W and U are swapped: W belongs to the decoder's state s, U to the encoder's states.
""")


# --- additive attention ----------------------------------------------------------------------------------------------

align = Exercise(
    "additive_weights",
    title="A decoder that looks back, step 1 of 2",
    goal="In two steps you build a complete decoder with attention, as it was in 2015. First its attention: return the "
    "weights (T, S) with which the T states s (T, D) of a decoder attend to the S states h (S, D) of "
    "the encoder. A small network with A units scores each pair: the two states are concatenated and multiplied by W "
    "(2·D, A), whose first D rows belong to s; then comes tanh, and the dot product with v (A,). Every row of the "
    "weights sums to 1.",
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
        "[s_t; h_j] W is s_t times the upper half of W plus h_j times the lower half: you need not build the pairs.",
        "(T, 1, A) plus (S, A) is (T, S, A), by broadcasting. Then tanh, and the dot product with v: (T, S).",
        "upper, lower = W.chunk(2); ((s @ upper)[:, None] + h @ lower).tanh() @ v, and a softmax over the last axis",
    ),
)


@align.solution
def additive_weights(s, h, W, v):
    """Weights (T, S) of states s (T, D) over states h (S, D); W (2·D, A), first the rows for s; v (A,)."""
    for_s, for_h = W.chunk(2)  # (D, A) each
    sums = (s @ for_s)[:, None] + h @ for_h  # (T, S, A)
    return (sums.tanh() @ v).softmax(dim=-1)


align.slips("""
scores_linear    sums.tanh() → sums
  The tanh is missing: without it s_t adds the same number to every score of a row, and the softmax cancels it.
divided_by_sum    return (sums.tanh() @ v).softmax(dim=-1) → return (e := sums.tanh() @ v) / e.sum(dim=-1, keepdim=True)
  You divided each score by the sum of its row. Scores may be negative: softmax takes exponentials first.
scores_not_shared    .softmax(dim=-1) →
  These are the scores; the softmax that turns them into weights is missing.
shared_over_states    softmax(dim=-1) → softmax(dim=0)
  Your columns sum to 1: the softmax runs over the decoder's states. It must run over the encoder's, so that each row
  sums to 1.
halves_swapped    for_s, for_h = → for_h, for_s =
  The halves of W are swapped: the upper one is for the decoder's states, the lower one for h.
rows_in_turn    W.chunk(2) → W[0::2], W[1::2]
  You used every other row of W for s. The two states are concatenated, so the first D rows are for s.
units_averaged    (sums.tanh() @ v) → sums.tanh().mean(dim=-1)
  You averaged over the network's A units. They have to be weighted by v, which you did not use.
state_ignored    (s @ for_s)[:, None] → (0 * s @ for_s)[:, None]
  The decoder's states have no effect: your rows are all the same. If s is left out, or added after the tanh, all scores
  of a row change by the same number, and the softmax cancels it.
multiplied_inside    [:, None] + h @ for_h → [:, None] * (h @ for_h)
  You multiplied where the network adds: s_t times h_j, each by its half of W, is a kind of dot product.
""")


def _sums(s, h, W):
    """(T, S, A)"""
    for_s, for_h = W.chunk(2)
    return (s @ for_s)[:, None] + h @ for_h


write = Exercise(
    "decoder_states",
    title="A decoder that looks back, step 2 of 2",
    goal="Now the decoder itself. It reads the target words y (T, D) one by one and begins at the state s (D,). Before "
    "each word it looks back: weigh(s, h) is a function such as yours of step 1, with its weights filled in; it gives "
    "the weights (1, S) of states s (1, D) over the encoder's states h (S, D). The context c (D,) is the mean of h "
    "with these weights. Then comes the new state. W, C and U are (D, D). Return two things: all states (T, D) and "
    "all weights (T, S).",
    difficulty=3,
    minutes=12,
    formula=r"\alpha_t = \mathrm{weigh}(s_{t-1}, h),\qquad c_t = \alpha_t h,\qquad "
    r"s_t = \tanh(y_t W + c_t C + s_{t-1} U)",
    source="Bahdanau et al. 2015, section 3.1, with a plain layer in place of a GRU",
    cases=lambda: [
        (
            torch.tensor([[1.0, 0.0], [0.0, -1.0]]),
            torch.tensor([0.5, -0.5]),
            torch.tensor([[1.0, 1.0], [0.0, -1.0], [2.0, 0.0]]),
            _weigh,
            torch.tensor([[1.0, 0.5], [0.0, 1.0]]),
            torch.tensor([[0.5, 0.0], [1.0, -1.0]]),
            torch.tensor([[0.0, 1.0], [0.5, 0.0]]),
        ),
        (
            *random_tensors((4, 3), (3,), (5, 3), seed=5),
            _weigh,
            *random_tensors((3, 3), (3, 3), (3, 3), seed=6),
        ),
    ],
    hints=(
        "Loop over the rows of y. In each round: weights from the state so far, the context from the weights, then the "
        "new state from word, context and old state.",
        "weigh wants a table of states: give it s[None], of shape (1, D), and take row 0 of what it returns.",
        "alpha = weigh(s[None], h)[0]; s = torch.tanh(word @ W + alpha @ h @ C + s @ U); append both to lists.",
    ),
)


def _weigh(s, h):
    """Any attention does to examine the decoder: here by dot products."""
    if s.ndim != 2:
        raise ValueError(f"weigh: s has shape {tuple(s.shape)}, expected a table of states, (1, D)")
    return (s @ h.T).softmax(dim=-1)


@write.solution
def decoder_states(y, s, h, weigh, W, C, U):
    """States (T, D) and weights (T, S) for words y (T, D), from the state s (D,), looking back at h (S, D)."""
    states, weights = [], []
    for word in y:
        alpha = weigh(s[None], h)[0]  # (S,)
        s = torch.tanh(word @ W + alpha @ h @ C + s @ U)
        states.append(s)
        weights.append(alpha)
    return torch.stack(states), torch.stack(weights)


write.slips("""
context_left_out    + alpha @ h @ C →
  The context is missing from your new state, so looking back changes nothing: add alpha @ h @ C.
last_state_for_context    alpha @ h @ C → h[-1] @ C
  Your context is the encoder's last state at every step: that is the bottleneck again. Take the mean of all states with
  the weights, alpha @ h.
even_context    alpha @ h @ C → h.mean(dim=0) @ C
  Your context is the plain mean of the states. Weigh them: alpha @ h.
matrices_exchanged    @ C + s @ U → @ U + s @ C
  C and U are exchanged: C reads the context, U carries the decoder's own state.
no_tanh    torch.tanh →
  The tanh is missing around the sum of the three parts: your states can grow without bound.
state_not_carried    + s @ U →
  The state of the step before is missing from the new one: s @ U has to be a part of the sum.
looked_too_late    weights.append(alpha) → weights.append(weigh(s[None], h)[0])
  Your weights come from the state after each word. The look back comes first: the new state needs its context.
given_state_stored    states.append(s) → pass ; s = torch.tanh → states.append(s); s = torch.tanh
  Your states begin with the one that was given: you stored s before the step. Store it after each word.
""")


def _decoder(y, s, h, weigh, step):
    """The decoder with another step: step(word, alpha, s) -> the new state."""
    states, weights = [], []
    for word in y:
        alpha = weigh(s[None], h)[0]
        s = step(word, alpha, s)
        states.append(s)
        weights.append(alpha)
    return torch.stack(states), torch.stack(weights)


@write.mistake(
    "All your words look back from the first state: your weights have equal rows. Each step looks back from the state "
    "that the step before has made."
)
def one_look_for_all(y, s, h, weigh, W, C, U):
    alpha = weigh(s[None], h)[0]
    states, _ = _decoder(y, s, h, lambda *_: alpha[None], lambda word, a, s: torch.tanh(word @ W + a @ h @ C + s @ U))
    return states, alpha.repeat(len(y), 1)


# --- convolution -----------------------------------------------------------------------------------------------------

depth = Exercise(
    "convolution_layers",
    title="How deep must a convolution be?",
    goal="From each position, a convolution of odd width k ≥ 3 sees (k − 1)/2 neighbours on each side (not only those "
    "before it, as in the race). Such layers are stacked, without dilation. What is the smallest number of "
    "layers for which an output depends on an input n ≥ 1 positions away? Return an integer.",
    difficulty=2,
    minutes=6,
    cases=lambda: [(1, 3), (4, 3), (5, 5), (100, 7), (64, 9)],
    tolerance=1e-9,
    hints=(
        "One layer reaches (k − 1)/2 positions to one side. And two?",
        "Every layer adds the same reach; of the last one you may need only a part.",
        "Round n / ((k − 1)/2) up: math.ceil(2 * n / (k - 1))",
    ),
)


@depth.solution
def convolution_layers(n, k):
    """Number of layers of width k that reach n positions far."""
    return math.ceil(2 * n / (k - 1))


depth.slips("""
rounded_down    return 2 * n // (k - 1)
  You rounded down: the remainder needs another layer.
by_whole_width    2 * n / (k - 1) → n / k
  You divided by the width k: a layer reaches (k − 1)/2 positions to each side, not k.
both_sides    2 * n → n
  You counted the neighbours on both sides, k − 1; only half of them lie towards the input.
with_dilation    2 * n / (k - 1) → math.log(n + 1, k)
  Your number grows with the logarithm of n. That needs dilation, with gaps that widen from layer to layer.
one_more_where_it_divides    return 2 * n // (k - 1) + 1
  You rounded down and added one. Where (k − 1)/2 divides n, that is one layer too many: round up.
one_layer_more    (k - 1)) → (k - 1)) + 1
  You have one layer too many: the first one already reaches (k − 1)/2 positions.
""")


QUIZ = questions("""
Why does the gradient vanish over many steps?
  - The learning rate is too low | The gradient is what it is before any step is made.
  * Each step multiplies it by a factor below 1 | Most of them are: fifty factors of 0.5 leave 1e-15.
  - Rounding errors add up until nothing of it is left | In float64 it vanishes as well.
Do LSTM and GRU cure it?
  - Yes, their gates keep it at its full size | Measured after 50 steps, with the usual initial weights: about 1e-11
    is left.
  - No, they are worse than an RNN | Millions of times more is left than with an RNN.
  * They soften it | Much more is left than with an RNN; with a large forget bias, which holds the gate near 1,
    nearly everything.
What is the bottleneck of sequence to sequence without attention?
  * One vector has to hold the whole sentence | All that the decoder learns about the source must pass through it;
    in 200 steps that was learned for hardly any long number.
  - The decoder is too slow | It is not a matter of time.
  - The vocabulary | It is the same with attention.
How many steps does a signal take from word 1 to word 100?
  * Recurrence 99, attention 1 | A state is passed on 99 times; attention looks there directly.
  - Both 99 | In attention every pair is connected directly.
  - Recurrence 1, attention 99 | A state moves on by one word a step; attention looks anywhere at once.
“Transformers train five to ten times faster than recurrent networks.” What holds?
  - It is true on every machine and at every length | Whole models with PyTorch's LSTM took less than half of the
    Transformer's time on two cores.
  - The opposite, everywhere | At length 512 an LSTM written as a loop in Python took twice the Transformer's time.
  * It depends on length, hardware and code | The way the loop is written matters, too. What differs everywhere is
    the number of steps in a row.
""")
