"""Exercises on feed-forward, residuals, normalisation."""

import torch
from torch.nn.functional import gelu, relu, silu

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- the feed-forward network, inside the notebook ------------------------------------------------------------------


def _network_cases(seed: int) -> list[tuple[torch.Tensor, ...]]:
    """Cases (x, W_1, b_1, W_2, b_2): one small enough to calculate by hand, and one of random numbers."""
    return [
        (
            torch.tensor([[[1.0, -2.0]]]),
            torch.tensor([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]]),
            torch.tensor([0.5, 0.0, 3.0]),
            torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]),
            torch.tensor([-4.0, 0.25]),
        ),
        random_tensors((2, 3, 4), (4, 7), (7,), (7, 4), (4,), seed=seed),
    ]


plain_network = Exercise(
    "feed_forward",
    title="Widen, bend, narrow",
    goal="Write the feed-forward network with ReLU. x is (B, T, D), W_1 (D, F), b_1 (F,), W_2 (F, D), b_2 (D,). Return "
    "(B, T, D).",
    difficulty=1,
    minutes=5,
    inline=True,
    formula=r"\operatorname{FFN}(x) = \max(0,\, xW_1 + b_1)\,W_2 + b_2",
    source="Vaswani et al. 2017, equation 2",
    cases=lambda: _network_cases(seed=7),
    hints=(
        "A product, a bend, a product: the same three steps as for |x| above, with biases.",
        "x @ W_1 + b_1 is (B, T, F). Apply torch.relu to it before the second product.",
        "torch.relu(x @ W_1 + b_1) @ W_2 + b_2",
    ),
)


@plain_network.solution
def feed_forward(x, W_1, b_1, W_2, b_2):
    """Output (B, T, D) for x (B, T, D), W_1 (D, F), b_1 (F,), W_2 (F, D), b_2 (D,)."""
    hidden = torch.relu(x @ W_1 + b_1)
    return hidden @ W_2 + b_2


plain_network.slips("""
no_bend    return (x @ W_1 + b_1) @ W_2 + b_2
  The ReLU is missing: without a bend the two matrices are one matrix, W_1 W_2, and F makes no difference.
relu_at_the_end    return torch.relu((x @ W_1 + b_1) @ W_2 + b_2)
  Your ReLU comes after the second matrix, so the network can never write a negative number to the stream.
relu_at_both_places    return torch.relu(torch.relu(x @ W_1 + b_1) @ W_2 + b_2)
  You applied ReLU twice. The one after the second matrix wipes out every negative number of the output.
relu_of_the_input    return (torch.relu(x) @ W_1 + b_1) @ W_2 + b_2
  You applied ReLU to x itself, so everything negative in the stream is lost before a unit can read it.
inner_bias_after_relu    return (torch.relu(x @ W_1) + b_1) @ W_2 + b_2
  You added b_1 after the ReLU. It belongs inside, where it sets the threshold at which a unit fires.
no_inner_bias    return torch.relu(x @ W_1) @ W_2 + b_2
  The bias b_1 is missing, so every hinge bends at 0 and no unit has a threshold of its own.
no_outer_bias    return torch.relu(x @ W_1 + b_1) @ W_2
  The bias b_2 is missing: where no unit fires, the output should be b_2, not 0.
no_biases    return torch.relu(x @ W_1) @ W_2
  Both biases are missing: no unit has a threshold, and the output is 0 where none of them fires.
input_added    return x + torch.relu(x @ W_1 + b_1) @ W_2 + b_2
  You added x at the end. That is the residual connection: it belongs to the block, not to this network.
inner_bias_subtracted    W_1 + b_1 → W_1 - b_1
  You subtracted b_1. The formula adds it: a threshold is a negative bias.
gelu    return gelu(x @ W_1 + b_1) @ W_2 + b_2
  You bent with GELU, as BERT and GPT-2 do. This exercise asks for the ReLU of 2017, max(0, z).
negative_half    return (x @ W_1 + b_1).clamp(max=0) @ W_2 + b_2
  You kept the negative numbers: that is min(0, z), which clamp(max=0) gives. ReLU is clamp(min=0).
""")


# --- a curve made of hinges -------------------------------------------------------------------------------------------

curve = Exercise(
    "hinges_through",
    title="A curve made of hinges",
    goal="A curve goes in straight pieces through the points (x[n], y[n]), and is flat before the first point and "
    "after the last. x rises from point to point. Write the curve as y[0] plus a sum of hinges, "
    "v[n] · max(0, x − x[n]), one at each point. Return their numbers v. x, y and v are tensors (N,).",
    difficulty=2,
    minutes=9,
    cases=lambda: [
        (torch.tensor([-2.0, 0.0, 2.0]), torch.tensor([0.0, 2.0, 0.0])),
        (torch.tensor([0.0, 1.0, 3.0, 3.5]), torch.tensor([1.0, 4.0, 2.0, 2.5])),
        (random_tensors((6,), seed=8)[0].abs().cumsum(0), random_tensors((6,), seed=9)[0]),
    ],
    hints=(
        "What does a hinge change where it begins: the height of the curve, or its slope?",
        "Compute the slope of each piece: y.diff() / x.diff(). Before the first point and after the last it is 0.",
        "Put a 0 before and behind the slopes. Each hinge is the slope after its point minus the slope before it.",
    ),
)


@curve.solution
def hinges_through(x, y):
    """The number v (N,) of the hinge at each of the points x, y (N,)."""
    zero = x.new_zeros(1)
    slopes = torch.cat([zero, y.diff() / x.diff(), zero])  # before, between and after the points
    return slopes.diff()


curve.slips("""
slopes_themselves    return _between(_slopes(x, y))[1:]
  You returned the slopes. All hinges before a point go on behind it, so each adds a change of slope.
heights_for_slopes    return _between(y.diff()).diff()
  You used the rise from point to point. A slope is the rise for each unit of x: divide by x.diff().
run_over_rise    return _between(x.diff() / torch.where(y.diff() == 0, 1.0, y.diff())).diff()
  You divided the way along x by the rise. A slope is the rise, divided by the way along x.
never_flat_again    return torch.cat([_between(_slopes(x, y))[:-1].diff(), x.new_zeros(1)])
  Your curve does not become flat behind the last point. The hinge there must take away the last slope.
not_flat_before    return torch.cat([x.new_zeros(1), _between(_slopes(x, y)).diff()[1:]])
  Your first hinge is 0. Before it the curve is flat, so the first slope must begin there.
signs_turned    return -_between(_slopes(x, y)).diff()
  Your signs are the wrong way round: take the slope after a point minus the slope before it.
heights_as_hinges    return y.clone()
  You returned the heights y. A hinge is not a bump at its point: it goes on rising for ever.
differences_of_heights    return torch.cat([y[:1], y.diff()])
  You returned how much each point is above the one before. A hinge changes the slope, not the height.
ends_missing    return _slopes(x, y).diff()
  The hinges at both ends are missing. Before the first point and after the last the slope is 0: add it.
""")


def _slopes(x, y):
    return y.diff() / x.diff()


def _between(slopes, first=0.0, last=0.0):
    """The slopes (N − 1,) between one before and one behind them."""
    return torch.cat([slopes.new_tensor([first]), slopes, slopes.new_tensor([last])])


# --- gated -----------------------------------------------------------------------------------------------------------

gated = Exercise(
    "swiglu",
    title="A gate for each unit",
    goal="Compute the gated network of Llama for x (T, D), W_gate and W_up (D, F), W_down (F, D). The gate is SiLU(z) "
    "= z · sigmoid(z) of x W_gate; it multiplies x W_up, unit by unit. There are no biases.",
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
        "z * torch.sigmoid(z) is SiLU; F.silu computes it.",
        "(F.silu(x @ W_gate) * (x @ W_up)) @ W_down",
    ),
)


@gated.solution
def swiglu(x, W_gate, W_up, W_down):
    """Output (T, D) for x (T, D), W_gate and W_up (D, F), W_down (F, D)."""
    gate = x @ W_gate
    return (gate * gate.sigmoid() * (x @ W_up)) @ W_down


gated.slips("""
gate_and_up_swapped    return swiglu(x, W_up, W_gate, W_down)
  You swapped gate and up: you bent x W_up, and used x W_gate as it is.
sigmoid_gate    return ((x @ W_gate).sigmoid() * (x @ W_up)) @ W_down
  Your gate is a sigmoid alone, between 0 and 1 (that is GLU). SiLU is z · sigmoid(z).
gelu_gate    return (gelu(x @ W_gate) * (x @ W_up)) @ W_down
  Your gate is a GELU (that is GEGLU, equation 5 of the same paper). SiLU is z · sigmoid(z).
added    return (silu(x @ W_gate) + x @ W_up) @ W_down
  You added gate and up where the formula multiplies them: a sum cannot close a unit.
bilinear    return ((x @ W_gate) * (x @ W_up)) @ W_down
  You did not bend the gate: this is a plain product of two projections (Shazeer calls it bilinear).
product_bent    return silu((x @ W_gate) * (x @ W_up)) @ W_down
  You multiplied first and bent the product. The bend belongs to x W_gate alone, before the product.
without_up    return silu(x @ W_gate) @ W_down
  You did not use W_up: this is an ordinary feed-forward network with SiLU.
relu_gate    return (relu(x @ W_gate) * (x @ W_up)) @ W_down
  Your gate is a ReLU (that is ReGLU, of the same paper). SiLU is z · sigmoid(z).
both_bent    return (silu(x @ W_gate) * silu(x @ W_up)) @ W_down
  You bent both branches. Only the gate is bent; x W_up goes into the product as it is.
sigmoid_of_up    return ((x @ W_gate) * (x @ W_up).sigmoid()) @ W_down
  Your sigmoid is that of x W_up. SiLU takes the gate twice: z · sigmoid(z), with z = x W_gate.
""")


# --- layer norm ------------------------------------------------------------------------------------------------------

norm = Exercise(
    "layer_norm_by_hand",
    title="LayerNorm by hand",
    goal="Normalise each vector of x (B, T, D), that is, the D numbers of one position, to mean 0 and variance 1. Then "
    "multiply by gain (D,) and add bias (D,). ε = 1e-5 goes under the root; it prevents a division by 0 for a constant "
    "vector. Return (B, T, D).",
    difficulty=2,
    minutes=8,
    inline=True,
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
        "Take mean and variance over the last axis only, with keepdim=True.",
        "torch.var divides by D − 1 unless you pass correction=0. And where is ε: under the root, or beside it?",
        "(x - mean) / (var + 1e-5).sqrt() * gain + bias",
    ),
)


@norm.solution
def layer_norm_by_hand(x, gain, bias):
    """Normalised x (B, T, D), times gain (D,), plus bias (D,)."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return (x - mean) / (variance + 1e-5).sqrt() * gain + bias


norm.slips("""
unbiased    correction=0, →
  Your variance divides by D − 1, torch's default. LayerNorm divides by D: the result for [1, 0, 0, 0] starts with
  1.732, yours with 1.5.
epsilon_outside    (variance + 1e-5).sqrt() → (variance.sqrt() + 1e-5)
  Your ε is outside the root. You see it where a vector is nearly constant: √ε is 300 times as large as ε.
std_plus_epsilon    correction=0 → correction=1 ; (variance + 1e-5).sqrt() → (variance.sqrt() + 1e-5)
  You divided by std + ε, which is wrong in two ways: torch's std divides by D − 1, and ε belongs under the root. Use
  var(correction=0), and (var + ε).sqrt().
without_epsilon    variance + 1e-5 → variance
  Your ε is missing: a nearly constant vector is scaled up to variance 1, and a constant one becomes NaN.
another_epsilon    1e-5 → 1e-6
  Your ε is 1e-6. The exercise has 1e-5, PyTorch's default: a nearly constant vector shows the difference.
over_time    mean(dim=-1 → mean(dim=1 ; var(dim=-1 → var(dim=1
  You normalised over the positions: each word now depends on later ones, which leaks in a causal model.
over_time_and_width    mean(dim=-1 → mean(dim=(1, 2) ; var(dim=-1 → var(dim=(1, 2)
  You normalised over positions and features together: a word depends on all words of its sentence.
over_batch    mean(dim=-1 → mean(dim=(0, 1) ; var(dim=-1 → var(dim=(0, 1)
  You normalised over the sentences and positions of the batch, as BatchNorm does: a sentence's result changes with the
  other sentences.
over_sentences    mean(dim=-1 → mean(dim=0 ; var(dim=-1 → var(dim=0
  You normalised over the batch: a word's result changes with the words at its place in other sentences.
not_centred    - mean →
  You divided by the deviation but did not subtract the mean, so the centre is still where it was.
divided_by_variance    .sqrt() →
  You divided by the variance, not by its root, so the result has the variance 1/σ² instead of 1.
over_everything    mean(dim=-1 → mean(dim=(0, 1, 2) ; var(dim=-1 → var(dim=(0, 1, 2)
  You took one mean and one variance over the whole tensor. Each position has its own: dim=-1, keepdim.
bias_forgotten    * gain + bias → * gain
  The bias is missing: after the gain, LayerNorm adds a learned number to each feature.
gain_forgotten    * gain →
  The gain is missing: LayerNorm multiplies each feature by a learned number before it adds the bias.
shifted_first    (x - mean) / (variance + 1e-5).sqrt() * gain + bias →
      ((x - mean) / (variance + 1e-5).sqrt() + bias) * gain
  You added the bias before you multiplied by the gain, so the gain scales the bias, too.
rms_norm    return x / (x.square().mean(-1, True) + 1e-5).sqrt() * gain + bias
  You left the mean where it was: this is RMSNorm with a bias. LayerNorm takes the mean off first.
by_length    return (x - x.mean(-1, True)) / (x - x.mean(-1, True)).norm(dim=-1, keepdim=True) * gain + bias
  You divided by the length, so yours has the length 1. LayerNorm divides by the deviation: length √D.
mean_square_of_x    return (x - x.mean(-1, True)) / (x.square().mean(-1, True) + 1e-5).sqrt() * gain + bias
  Under the root you took the mean square of x itself. The variance is that of x minus its mean.
""")


# --- RMSNorm ---------------------------------------------------------------------------------------------------------

root = Exercise(
    "rms_norm_by_hand",
    title="RMSNorm, head by head",
    goal="Recent models normalise the queries of every head before they compute the scores. x is (T, D) and holds H "
    "heads, each of the width d_k (in code K); the features of a head are neighbours. Divide them by the root of the "
    "mean of their own squares, then multiply by gain (K,), which all heads share. Add ε = 1e-5 to the mean of the "
    "squares. d_k is the length of gain. Return (T, D).",
    difficulty=2,
    minutes=7,
    formula=r"\frac{x}{\sqrt{\frac1{d_k}\sum_i x_i^2+\epsilon}}\odot g\ \text{ for the } d_k \text{ numbers of a head}",
    source="Zhang and Sennrich 2019, with ε added; in each head: Henry et al. 2020, with another norm",
    cases=lambda: [
        (torch.tensor([[3.0, 4.0, 6.0, 8.0]]), torch.ones(2)),
        (*random_tensors((3, 10), seed=3), random_tensors((5,), seed=3)[0]),
        (torch.tensor([[0.002, -0.003, 0.001], [0.0, 0.0, 0.0]]), torch.tensor([1.0, 2.0, 3.0])),
        (*random_tensors((2, 12), seed=4), random_tensors((4,), seed=5)[0]),
    ],
    hints=(
        "Cut the last axis into heads first: how many are there, if each has len(gain) features?",
        "heads = x.reshape(len(x), -1, len(gain)); heads.square().mean(dim=-1, keepdim=True) is one number for each "
        "head.",
        "(heads * (mean_square + 1e-5).rsqrt() * gain).reshape(x.shape)",
    ),
)


@root.solution
def rms_norm_by_hand(x, gain):
    """x (T, H·K), each head over the root of its own mean square, times gain (K,)."""
    heads = x.reshape(len(x), -1, len(gain))  # (T, H, K)
    mean_square = heads.square().mean(dim=-1, keepdim=True)
    return (heads * (mean_square + 1e-5).rsqrt() * gain).reshape(x.shape)


root.slips("""
by_length    = _divided_by(lambda heads: (heads.square().sum(-1, True) + 1e-5).sqrt())
  You divided by the root of the sum of the squares. RMSNorm takes their mean, so your result is smaller by the factor
  √d_k.
by_deviation    = _divided_by(lambda heads: (heads.var(-1, correction=0, keepdim=True) + 1e-5).sqrt())
  You divided by the deviation, the distance from the mean. RMSNorm takes the squares of x itself.
mean_of_sizes    = _divided_by(lambda heads: heads.abs().mean(-1, True) + 1e-5)
  You divided by the mean of |x|. Squares weigh large entries more: for [3, 4] it is 3.54, not 3.5.
mean_square_over_time    dim=-1 → dim=0
  Your mean runs over the positions, not over the features of a head: a later word changes an earlier one.
over_the_whole_vector    = _divided_by(lambda heads: (heads.square().mean((1, 2), True) + 1e-5).sqrt())
  Your mean runs over all D features: a loud head makes the others quiet. Each head has its own mean.
root_forgotten    = _divided_by(lambda heads: heads.square().mean(-1, True) + 1e-5)
  You divided by the mean square, without the root: a vector twice as long becomes half as long.
rms_epsilon_outside    = _divided_by(lambda heads: heads.square().mean(-1, True).sqrt() + 1e-5)
  Your ε is outside the root. You see it where the numbers are small: √ε is 0.003, 300 times as large as ε.
""")


def _divided_by(size):
    """A mistake that divides the heads (T, H, K) by another size of theirs."""

    def normed(x, gain):
        heads = x.reshape(len(x), -1, len(gain))
        return (heads / size(heads) * gain).reshape(x.shape)

    return normed


@root.mistake(
    "You dealt the features out to the heads in turn: feature 0 to the first head, feature 1 to the second. But a "
    "head's features are neighbours: reshape to (T, H, K), not to (T, K, H)."
)
def features_in_turn(x, gain):
    features = x.reshape(len(x), len(gain), -1)
    return (features * (features.square().mean(1, True) + 1e-5).rsqrt() * gain[:, None]).reshape(x.shape)


@root.mistake("You subtracted the mean first, as LayerNorm does. RMSNorm leaves the mean alone and saves that step.")
def centred(x, gain):
    heads = x.reshape(len(x), -1, len(gain))
    return rms_norm_by_hand((heads - heads.mean(dim=-1, keepdim=True)).reshape(x.shape), gain)


# --- whose parameters? -----------------------------------------------------------------------------------------------

share = Exercise(
    "feed_forward_share",
    title="Whose parameters?",
    goal="Take an encoder block of 2017 with the width D, the hidden width F and a plain feed-forward network without "
    "a gate. Attention has four (D, D) matrices. What share of the block's weights belongs to the feed-forward "
    "network? Count numbers, not matrices; biases and norms do not count. Return a number between 0 and 1.",
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


share.slips("""
one_matrix    return D * F / (D * F + 4 * D * D)
  You counted one of the network's two matrices, or two attentions, as in a decoder block. An encoder block has one
  attention, and its network has two matrices.
three_matrices    4 * D → 3 * D
  You left W_o out: attention has four matrices, for queries, keys, values and output.
ratio    2 * D * F + →
  You returned the ratio of network to attention. A share is a part of the sum of both.
attentions_share    2 * D * F / → 4 * D * D /
  You returned the share of attention. The network has the rest.
attention_as_wide    D * D → D * F
  You also gave attention's matrices the size (D, F). F is the inner width of the network only.
in_whole_numbers    F / → F //
  You divided with //, which rounds down to a whole number: a share below 1 becomes 0.
per_cent    2 * D * F / → 100 * 2 * D * F /
  You returned per cent. The share is asked as a number between 0 and 1: leave out the factor 100.
always_two_thirds    return 2 / 3
  You returned 2/3 whatever D and F are. That is the share for F = 4 D alone; compute it from both.
""")


QUIZ = questions("""
What does the feed-forward network at position 3 know of position 2?
  * What attention has brought over | It is in position 3's own vector, and the network reads nothing else.
  - Everything: it reads the vectors of all positions | It never reads another position's vector.
  - Its weights | The weights are the same at all positions and say nothing about the words.
Leave out the ReLU between the two matrices. What is left?
  - A network half as good | However long you train it, it is only a linear map.
  - The same network, but faster | You could make it faster by multiplying the two matrices beforehand, but it is
    not the same network.
  * One matrix in disguise | W_1 W_2 is a single (D, D) matrix, however large F is.
[1, 0, 0, 0] through LayerNorm (gain 1, bias 0) starts with …
  - 1.5 | That divides the variance by D − 1 = 3.
  * 1.732 | Mean ¼, variance 3/16; ¾ divided by √3/4 is √3.
  - 2 | That is RMSNorm: 1 divided by √¼.
Why not BatchNorm?
  * A result would depend on the other sentences | And on the padding, and on the batch's size when writing.
  - It has twice as many parameters as LayerNorm | It has equally many: a gain and a bias for each feature.
  - It cannot be differentiated | It can, and image networks are trained with it.
Pre-norm or post-norm: in which does the residual stream pass from the first block to the last untouched by a norm?
  - In post-norm | There a norm is applied to the stream after each sum: two in a block.
  * In pre-norm | The norm is in the branch. Blocks only add to the stream itself.
  - In both | In post-norm every block normalises the sum.
Without residual connections, what happens besides small gradients?
  - Nothing: they only help gradients | Look at how alike the tokens become.
  - The loss becomes NaN after a few steps | With norms the numbers stay finite, and training goes on, badly.
  * The tokens' vectors become alike | In the notebook by block 3. Each attention averages, and nothing brings the
    differences back.
""")
