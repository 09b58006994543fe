"""Exercises of notebook 07: feed-forward, residuals, normalisation."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- the feed-forward network ----------------------------------------------------------------------------------------

network = Exercise(
    "feed_forward_net",
    title="Two matrices and a bend",
    goal="The feed-forward network at every position, with ReLU² as its activation function, max(0, z)²: x is (B, T, "
    "D), W_1 (D, F), b_1 (F,), W_2 (F, D), b_2 (D,). Hand back (B, T, D).",
    difficulty=1,
    minutes=5,
    formula=r"\operatorname{FFN}(x) = \max(0,\, xW_1 + b_1)^2\,W_2 + b_2",
    source="Vaswani et al. 2017, equation 2, with the square of So et al. 2021 (Primer)",
    cases=lambda: [
        (
            torch.tensor([[[1.0, -2.0]]]),
            torch.tensor([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]]),
            torch.tensor([0.5, 0.0, 3.0]),
            torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]),
            torch.tensor([-4.0, 0.25]),
        ),
        random_tensors((2, 3, 4), (4, 7), (7,), (7, 4), (4,), seed=0),
    ],
    hints=(
        "Widen, bend, narrow: three steps.",
        "The bend is clamp(min=0), then the square, and both come between the two matrices.",
        "(x @ W_1 + b_1).relu().square() @ W_2 + b_2",
    ),
)


@network.solution
def feed_forward_net(x, W_1, b_1, W_2, b_2):
    """Output (B, T, D) for x (B, T, D), W_1 (D, F), b_1 (F,), W_2 (F, D), b_2 (D,)."""
    return (x @ W_1 + b_1).relu().square() @ W_2 + b_2


@network.mistake("The nonlinearity is missing: without it the two matrices are one, W_1 W_2, however large F is.")
def without_bend(x, W_1, b_1, W_2, b_2):
    return (x @ W_1 + b_1) @ W_2 + b_2


@network.mistake("You squared without the max: where z is negative, a unit that should be silent fires as well.")
def squared_alone(x, W_1, b_1, W_2, b_2):
    return (x @ W_1 + b_1).square() @ W_2 + b_2


@network.mistake("This is plain ReLU: the square is missing, and units that fire strongly write too little.")
def not_squared(x, W_1, b_1, W_2, b_2):
    return (x @ W_1 + b_1).relu() @ W_2 + b_2


@network.mistake("Your bend comes after the second matrix: nothing negative can ever be added to the residual stream.")
def bend_at_the_end(x, W_1, b_1, W_2, b_2):
    return ((x @ W_1 + b_1) @ W_2 + b_2).relu().square()


@network.mistake("You bent x before the first matrix: all that is negative in the stream is cut off before it is read.")
def bend_at_the_start(x, W_1, b_1, W_2, b_2):
    return (x.relu().square() @ W_1 + b_1) @ W_2 + b_2


@network.mistake(
    "The inner bias b_1 comes after your bend; it belongs inside, where it sets the threshold of each unit."
)
def bias_after_bend(x, W_1, b_1, W_2, b_2):
    return ((x @ W_1).relu().square() + b_1) @ W_2 + b_2


@network.mistake("You used GELU, which is in use as well; but the formula here says max(0, z)².")
def with_gelu(x, W_1, b_1, W_2, b_2):
    return torch.nn.functional.gelu(x @ W_1 + b_1) @ W_2 + b_2


@network.mistake("Both biases are missing: no unit has a threshold, and the output is 0 where none of them fires.")
def without_biases(x, W_1, b_1, W_2, b_2):
    return (x @ W_1).relu().square() @ W_2


# --- gated -----------------------------------------------------------------------------------------------------------

gated = Exercise(
    "swiglu",
    title="A gate for each unit",
    goal="The gated network of Llama: x (T, D), W_gate and W_up (D, F), W_down (F, D). The gate is SiLU(z) = z · σ(z) "
    "of x W_gate; it multiplies x W_up, unit by unit. No biases.",
    difficulty=2,
    minutes=6,
    formula=r"\left(\operatorname{SiLU}(xW_{gate}) \odot xW_{up}\right)W_{down}",
    source="Shazeer 2020, equation 6",
    cases=lambda: [
        (
            torch.tensor([[1.0, 2.0]]),
            torch.eye(2),
            torch.tensor([[2.0, 0.0], [0.0, -1.0]]),
            torch.tensor([[1.0, 0.0], [0.0, 3.0]]),
        ),
        random_tensors((3, 4), (4, 5), (4, 5), (5, 4), seed=1),
    ],
    hints=(
        "Two projections side by side, one of them bent.",
        "z * torch.sigmoid(z) is SiLU; F.silu does it.",
        "(F.silu(x @ W_gate) * (x @ W_up)) @ W_down",
    ),
)


@gated.solution
def swiglu(x, W_gate, W_up, W_down):
    """Output (T, D) for x (T, D), W_gate and W_up (D, F), W_down (F, D)."""
    gate = x @ W_gate
    return (gate * gate.sigmoid() * (x @ W_up)) @ W_down


@gated.mistake("Gate and up have changed places: you bent x W_up, and let x W_gate through as it is.")
def gate_and_up_swapped(x, W_gate, W_up, W_down):
    return swiglu(x, W_up, W_gate, W_down)


@gated.mistake("Your gate is a sigmoid alone, between 0 and 1 (that is GLU). SiLU is z · σ(z).")
def sigmoid_gate(x, W_gate, W_up, W_down):
    return ((x @ W_gate).sigmoid() * (x @ W_up)) @ W_down


@gated.mistake("You added gate and up where the formula multiplies them: nothing is gated by a sum.")
def added(x, W_gate, W_up, W_down):
    return (torch.nn.functional.silu(x @ W_gate) + x @ W_up) @ W_down


@gated.mistake("The gate is not bent in yours: a plain product of two projections (Shazeer calls it bilinear).")
def bilinear(x, W_gate, W_up, W_down):
    return ((x @ W_gate) * (x @ W_up)) @ W_down


@gated.mistake("W_up does not occur: this is an ordinary feed-forward network with SiLU.")
def without_up(x, W_gate, W_up, W_down):
    return torch.nn.functional.silu(x @ W_gate) @ W_down


# --- layer norm ------------------------------------------------------------------------------------------------------

norm = Exercise(
    "layer_norm_by_hand",
    title="LayerNorm by hand",
    goal="Normalise each vector of x (B, T, D), that is the D numbers of one position, to mean 0 and variance 1, then "
    "scale by gain (D,) and shift by bias (D,). ε = 1e-5, under the root, keeps a constant vector from dividing by 0. "
    "Hand back (B, T, D).",
    difficulty=2,
    minutes=8,
    formula=r"\frac{x-\mu}{\sqrt{\sigma^2+\epsilon}}\odot g + b,\qquad \sigma^2=\frac1D\sum_i (x_i-\mu)^2",
    source="Ba, Kiros and Hinton 2016, section 3",
    cases=lambda: [
        (torch.tensor([[[1.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.002]]]), torch.ones(4), torch.zeros(4)),
        (
            torch.tensor([[[1.0, 0.0, 0.0]], [[5.0, -1.0, 2.0]]]),
            torch.tensor([1.0, 2.0, 3.0]),
            torch.tensor([0.5, 0.0, -1.0]),
        ),
        random_tensors((2, 3, 5), (5,), (5,), seed=2),
    ],
    hints=(
        "Mean and variance over the last axis alone, keepdim=True.",
        "torch.var divides by D − 1 unless it is told correction=0. And where does ε stand, under the root or beside "
        "it?",
        "(x - mean) / (var + 1e-5).sqrt() * gain + bias",
    ),
)


@norm.solution
def layer_norm_by_hand(x, gain, bias):
    """Normalised x (B, T, D), times gain (D,), plus bias (D,)."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return (x - mean) / (variance + 1e-5).sqrt() * gain + bias


def _normed(x, gain, bias, dims=(-1,), correction=0, epsilon=1e-5):
    mean = x.mean(dim=dims, keepdim=True)
    variance = ((x - mean) ** 2).mean(dim=dims, keepdim=True)
    if correction:
        variance = variance * x.shape[-1] / (x.shape[-1] - correction)
    return (x - mean) / (variance + epsilon).sqrt() * gain + bias


@norm.mistake(
    "Your variance divides by D − 1, torch's default. LayerNorm divides by D: [1, 0, 0, 0] begins with "
    "1.732, yours with 1.5."
)
def unbiased(x, gain, bias):
    return _normed(x, gain, bias, correction=1)


@norm.mistake(
    "Your ε stands outside the root. It shows where a vector is nearly constant: √ε is 300 times as large as ε."
)
def epsilon_outside(x, gain, bias):
    mean = x.mean(dim=-1, keepdim=True)
    return (x - mean) / (x.var(dim=-1, correction=0, keepdim=True).sqrt() + 1e-5) * gain + bias


@norm.mistake("You normalised over the positions: each word now depends on later ones, which leaks in a causal model.")
def over_time(x, gain, bias):
    return _normed(x, gain, bias, dims=(1,))


@norm.mistake(
    "You normalised over positions and features together: a word's vector depends on all others of its sentence."
)
def over_time_and_width(x, gain, bias):
    return _normed(x, gain, bias, dims=(1, 2))


@norm.mistake(
    "You normalised over the sentences and positions of the batch, as BatchNorm does: another sentence beside it "
    "changes a sentence's result."
)
def over_batch(x, gain, bias):
    return _normed(x, gain, bias, dims=(0, 1))


@norm.mistake("The mean is not subtracted in yours: it divides by the deviation, but the centre stays where it was.")
def not_centred(x, gain, bias):
    return x / (x.var(dim=-1, correction=0, keepdim=True) + 1e-5).sqrt() * gain + bias


@norm.mistake("You divided by the variance, not by its root: the result has the variance 1/σ² in place of 1.")
def divided_by_variance(x, gain, bias):
    mean = x.mean(dim=-1, keepdim=True)
    return (x - mean) / (x.var(dim=-1, correction=0, keepdim=True) + 1e-5) * gain + bias


# --- RMSNorm ---------------------------------------------------------------------------------------------------------

root = Exercise(
    "rms_norm_by_hand",
    title="RMSNorm, head by head",
    goal="Recent models norm the queries in every head before the scores. x is (T, D), D = H·K: each head's K "
    "features, which are neighbours, are divided by the root of the mean of their own squares, then multiplied by "
    "gain (K,), which all heads share. ε = 1e-5 is added to the mean of the squares. Hand back (T, D); K is the "
    "length of gain.",
    difficulty=2,
    minutes=7,
    formula=r"\frac{x}{\sqrt{\frac1K\sum_i x_i^2+\epsilon}}\odot g\ \text{ for the } K \text{ numbers of a head}",
    source="Zhang and Sennrich 2019, with ε added; in each head: Henry et al. 2020, with another norm",
    cases=lambda: [
        (torch.tensor([[3.0, 4.0, 6.0, 8.0]]), torch.ones(2)),
        (*random_tensors((3, 10), seed=3), random_tensors((5,), seed=3)[0]),
        (torch.tensor([[0.002, -0.003, 0.001], [0.0, 0.0, 0.0]]), torch.tensor([1.0, 2.0, 3.0])),
        (*random_tensors((2, 12), seed=4), random_tensors((4,), seed=5)[0]),
    ],
    hints=(
        "Cut the last axis into heads first: how many are there, if each has len(gain) features?",
        "heads = x.reshape(len(x), -1, len(gain)); heads.square().mean(dim=-1, keepdim=True) is one number a head.",
        "(heads * (mean_square + 1e-5).rsqrt() * gain).reshape(x.shape)",
    ),
)


@root.solution
def rms_norm_by_hand(x, gain):
    """x (T, H·K), each head over the root of its own mean square, times gain (K,)."""
    heads = x.reshape(len(x), -1, len(gain))  # (T, H, K)
    mean_square = heads.square().mean(dim=-1, keepdim=True)
    return (heads * (mean_square + 1e-5).rsqrt() * gain).reshape(x.shape)


def _over(square, x, gain):
    """Heads of x, divided by the root of square(heads) + ε, times gain."""
    heads = x.reshape(len(x), -1, len(gain))
    return (heads / (square(heads) + 1e-5).sqrt() * gain).reshape(x.shape)


@root.mistake(
    "You divided by the length of the vector. The squares are summed, not averaged, in it: yours is √K too small."
)
def by_length(x, gain):
    return _over(lambda heads: heads.square().sum(dim=-1, keepdim=True), x, gain)


@root.mistake("You subtracted the mean first, as LayerNorm does. RMSNorm leaves the mean alone; that is what it saves.")
def centred(x, gain):
    heads = x.reshape(len(x), -1, len(gain))
    return rms_norm_by_hand((heads - heads.mean(dim=-1, keepdim=True)).reshape(x.shape), gain)


@root.mistake(
    "You divided by the mean of the sizes |x|. Squares weigh large entries more: for [3, 4] it is 3.54, not 3.5."
)
def mean_of_sizes(x, gain):
    heads = x.reshape(len(x), -1, len(gain))
    return (heads / (heads.abs().mean(dim=-1, keepdim=True) + 1e-5) * gain).reshape(x.shape)


@root.mistake(
    "Your mean of squares runs over the positions, not over the numbers of each head: a later word changes an "
    "earlier one."
)
def mean_square_over_time(x, gain):
    return _over(lambda heads: heads.square().mean(dim=0, keepdim=True), x, gain)


@root.mistake(
    "Your mean runs over all D features: a loud head makes the others quiet. Each head has a mean square of its own."
)
def over_the_whole_vector(x, gain):
    return _over(lambda heads: heads.square().mean(dim=(1, 2), keepdim=True), x, gain)


@root.mistake(
    "The root is missing: you divided by the mean square itself, so that a vector twice as long comes out half as long."
)
def root_forgotten(x, gain):
    heads = x.reshape(len(x), -1, len(gain))
    return (heads / (heads.square().mean(dim=-1, keepdim=True) + 1e-5) * gain).reshape(x.shape)


# --- the residual connection -----------------------------------------------------------------------------------------

residual = Exercise(
    "pre_norm_stack",
    title="A stack of sub-layers",
    goal="N sub-layers one after the other, in the pre-norm arrangement, each with its residual connection. The n-th "
    "one is f(y) = relu(y @ W[n]), W is (N, D, D); x is (T, D); the norm is torch.nn.functional.layer_norm(x, "
    "x.shape[-1:]). As in every pre-norm model, what comes out at the end is normed once more. Hand back (T, D).",
    difficulty=2,
    minutes=7,
    formula=r"x_{n+1} = x_n + f_n(\operatorname{norm}(x_n)),\qquad \text{result } \operatorname{norm}(x_N)",
    source="Xiong et al. 2020, figure 1 and table 1",
    cases=lambda: [
        (
            torch.tensor([[1.0, -1.0, 0.0], [4.0, 0.0, 2.0]]),
            torch.tensor([[[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]),
        ),
        random_tensors((4, 6), (3, 6, 6), seed=5),
        random_tensors((2, 5), (2, 5, 5), seed=6),
        (torch.tensor([[0.002, -0.001, 0.0]]), torch.zeros(1, 3, 3)),  # an x beside which ε counts
    ],
    hints=(
        "What goes through a sub-layer is normed; what goes around it is not.",
        "A loop over W: the stream x becomes x plus what the sub-layer makes of the normed x.",
        "for matrix in W: x = x + (norm(x) @ matrix).relu(); and after the loop norm(x)",
    ),
)


@residual.solution
def pre_norm_stack(x, W):
    """Normed stream (T, D) after N pre-norm sub-layers; x (T, D), W (N, D, D)."""
    for matrix in W:
        normed = torch.nn.functional.layer_norm(x, x.shape[-1:])
        x = x + (normed @ matrix).relu()
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _norm(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def _stacked(step, x, W):
    """The normed end of a stream that takes `step` with each matrix."""
    for matrix in W:
        x = step(x, matrix)
    return _norm(x)


@residual.mistake(
    "The way around is missing: without the residual connection x is replaced, gradients fade, and tokens become alike."
)
def no_residual(x, W):
    return _stacked(lambda x, matrix: (_norm(x) @ matrix).relu(), x, W)


@residual.mistake(
    "This is post-norm: you normed the sum. Pre-norm leaves the stream alone and norms what is read from it."
)
def post_norm(x, W):
    return _stacked(lambda x, matrix: _norm(x + (x @ matrix).relu()), x, W)


@residual.mistake(
    "You added the normed x: what goes around must be x itself, untouched, or the stream is normed at every step."
)
def normed_stream(x, W):
    return _stacked(lambda x, matrix: _norm(x) + (_norm(x) @ matrix).relu(), x, W)


@residual.mistake(
    "You normed what the sub-layer wrote, not what it reads: it is fed a stream that grows from block to block."
)
def norm_after_sublayer(x, W):
    return _stacked(lambda x, matrix: x + _norm((x @ matrix).relu()), x, W)


@residual.mistake(
    "There is no norm before your sub-layers: what they read, and so what they write, grows from block to block."
)
def no_norm(x, W):
    return _stacked(lambda x, matrix: x + (x @ matrix).relu(), x, W)


@residual.mistake("You multiplied where the residual adds: one zero from the ReLU wipes out what was in the stream.")
def product_for_sum(x, W):
    return _stacked(lambda x, matrix: x * (_norm(x) @ matrix).relu(), x, W)


@residual.mistake(
    "The last norm is missing: the stream has grown with every sub-layer, and nothing has brought it back to size."
)
def last_norm_missing(x, W):
    for matrix in W:
        x = x + (_norm(x) @ matrix).relu()
    return x


@residual.mistake(
    "Every sub-layer of yours starts from the first x again: what the ones before it have written into the stream is "
    "lost."
)
def started_again(x, W):
    return _norm(x + (_norm(x) @ W[-1]).relu())


# --- whose parameters? -----------------------------------------------------------------------------------------------

share = Exercise(
    "feed_forward_share",
    title="Whose parameters?",
    goal="Which share of the weight matrices of an encoder block of 2017 belongs to its feed-forward network, the "
    "plain one without a gate? Width D, hidden width F; attention has four (D, D) matrices. Count numbers, not "
    "matrices; biases and norms do not count. Hand back a number between 0 and 1.",
    difficulty=1,
    minutes=4,
    cases=lambda: [(2, 8), (512, 2048), (64, 100)],
    tolerance=1e-6,
    hints=("Count both, then divide by the sum.", "2·D·F and 4·D².", "F / (F + 2·D)"),
)


@share.solution
def feed_forward_share(D, F):
    """The feed-forward network's share of a block's weights."""
    return 2 * D * F / (2 * D * F + 4 * D * D)


@share.mistake("You counted one of the network's two matrices: it widens, and it narrows again.")
def one_matrix(D, F):
    return D * F / (D * F + 4 * D * D)


@share.mistake("You left W_o out: attention has four matrices, queries, keys, values and output.")
def three_matrices(D, F):
    return 2 * D * F / (2 * D * F + 3 * D * D)


@share.mistake("This is the ratio of network to attention; a share is of the sum of both.")
def ratio(D, F):
    return 2 * D * F / (4 * D * D)


@share.mistake("This is what attention has; the network has the rest.")
def attentions_share(D, F):
    return 4 * D * D / (2 * D * F + 4 * D * D)


@share.mistake("You made attention's matrices (D, F) as well. F is the inner width of the network alone.")
def attention_as_wide(D, F):
    return 2 * D * F / (2 * D * F + 4 * D * F)


QUIZ = [
    Question(
        "What does the feed-forward network at position 3 know of position 2?",
        (
            Choice(
                "Nothing but what attention has brought into the vector of position 3",
                "It is the same function at each position alone.",
                right=True,
            ),
            Choice("Everything", "It never reads another position's vector."),
            Choice("Its weights", "The weights are the same at all positions and say nothing of the words."),
        ),
    ),
    Question(
        "Leave out the ReLU between the two matrices. What is left?",
        (
            Choice("A network half as good", "However well trained, it can do no more than a linear map."),
            Choice("The same, but faster", "Faster it would be, if you multiplied the two beforehand."),
            Choice("One matrix in disguise", "W_1 W_2 is a single (D, D) matrix, however large F is.", right=True),
        ),
    ),
    Question(
        "[1, 0, 0, 0] through LayerNorm (gain 1, bias 0) begins with …",
        (
            Choice("1.5", "That divides the variance by D − 1 = 3."),
            Choice("1.732", "Mean ¼, variance 3/16; ¾ divided by √3/4 is √3.", right=True),
            Choice("2", "That is RMSNorm: 1 divided by √¼."),
        ),
    ),
    Question(
        "Why not BatchNorm?",
        (
            Choice(
                "A sentence's result would depend on its neighbours in the batch",
                "And on the padding, and on the batch's size when writing.",
                right=True,
            ),
            Choice("It has more parameters", "It has as many as LayerNorm: a gain and a bias for each feature."),
            Choice("It cannot be differentiated", "It can, and image networks are trained with it."),
        ),
    ),
    Question(
        "Pre-norm or post-norm: in which does the residual stream pass from the first block to the last "
        "untouched by a norm?",
        (
            Choice("Post-norm", "There a norm stands on the stream after each sum: two in a block."),
            Choice("Pre-norm", "The norm stands in the branch; the stream itself is only added to.", right=True),
            Choice("In both", "In post-norm every block norms the sum."),
        ),
    ),
    Question(
        "Without residual connections, what happens besides small gradients?",
        (
            Choice("Nothing: they only help gradients", "Look at how alike the tokens have become."),
            Choice("The loss becomes NaN", "With norms the numbers stay finite, and training goes on, badly."),
            Choice(
                "The tokens' vectors become alike",
                "By block 3 in the notebook: each attention averages, and nothing brings the differences back.",
                right=True,
            ),
        ),
    ),
]
