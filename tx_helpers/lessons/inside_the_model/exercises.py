"""Exercises on the inside of a model: two ways to say what a part or a word contributes, and the quiz."""

import torch

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import questions

direct = Exercise(
    "direct_effect",
    title="What a part says directly",
    goal="The last state of the stream is a sum x, to which one part has contributed `added` (D,). The logits are "
    "U · LayerNorm(x), with U (V, D) and the norm's gain (D,). In two steps, return what the part adds to "
    "logit[right] − logit[wrong]: first what LayerNorm makes of the contribution if its scale σ stays that of the "
    "whole x (σ² is its variance, with D in the denominator, plus eps), then the difference of the two logits. The "
    "norm's bias belongs to no part.",
    difficulty=3,
    minutes=10,
    source="Elhage et al. 2021, *A mathematical framework for Transformer circuits*",
    formula=r"\Delta = \frac{\text{added} - \overline{\text{added}}}{\sqrt{\mathrm{Var}(x) + \epsilon}} \odot \gamma "
    r"\cdot (u_\text{right} - u_\text{wrong})",
    cases=lambda: [
        (
            torch.tensor([1.0, -2.0, 0.5, 3.0]),
            torch.tensor([2.0, 1.0, -1.0, 4.0]),
            torch.tensor([1.0, 0.5, 2.0, 1.5]),
            torch.tensor([[1.0, 0.0, 2.0, -1.0], [0.5, 1.0, 0.0, 1.0], [0.0, -1.0, 1.0, 2.0]]),
            2,
            0,
            1e-5,
        ),
        (torch.arange(6.0), torch.arange(6.0).square(), torch.linspace(0.5, 2, 6), torch.eye(6) * 3 + 0.2, 5, 1, 0.5),
        (
            torch.tensor([0.0, 0.0, 4.0]),
            torch.tensor([1.0, 0.0, 4.0]),
            torch.tensor([2.0, 1.0, 1.0]),
            torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, -2.0]]),
            0,
            1,
            0.1,
        ),
    ],
    hints=(
        "LayerNorm subtracts the mean and divides by σ. With σ fixed both steps are linear, so they apply to each "
        "contribution alone.",
        "Subtract the contribution's own mean; divide by the σ of the whole x; multiply by the gain.",
        "sigma = (x.var(unbiased=False) + eps).sqrt(); normed = (added − added.mean()) / sigma · gain; then "
        "normed @ (table[right] − table[wrong])",
    ),
)


@direct.solution
def direct_effect(added, x, gain, table, right, wrong, eps):
    """What `added` (D,), a part of the sum x (D,), adds to logit[right] − logit[wrong]; gain (D,), table (V, D)."""
    sigma = (x.var(unbiased=False) + eps).sqrt()
    normed = (added - added.mean()) / sigma * gain
    return normed @ (table[right] - table[wrong])


direct.slips("""
own_scale    x.var(unbiased=False) → added.var(unbiased=False)
  You divided by the contribution's own σ. A small contribution would count as much as a large one: take that of x.
not_centred    added - added.mean() → added
  You left out LayerNorm's first step: it subtracts the mean, also from each contribution.
mean_of_the_whole    added - added.mean() → added - x.mean()
  You subtracted the mean of x. Each contribution loses its own mean, and these add up to that of x.
without_gain    / sigma * gain → / sigma
  You left out the gain γ: LayerNorm multiplies each coordinate by it.
right_alone    (table[right] - table[wrong]) → table[right]
  You gave the logit of the right word alone. A part that raises all logits decides nothing: take the difference.
wrong_way_round    table[right] - table[wrong] → table[wrong] - table[right]
  Your sign is turned: asked for is what speaks for the right word and against the wrong one.
whole_stream    return (x - x.mean()) / (x.var(unbiased=False) + eps).sqrt() * gain @ (table[right] - table[wrong])
  This is the difference that the whole stream makes. Asked for is the part of it that `added` is responsible for.
divided_by_one_less    unbiased=False → unbiased=True
  LayerNorm's variance divides by D, not by D − 1.
""")


def _mixed(v):
    return v[0] * v[1] + v[2] ** 2


def _bent(v):
    return torch.relu(v.sum() - 2)


def _saturated(v):
    return torch.tanh(v[0] - 2 * v[1])


def _cubes(v):
    return v.pow(3).sum()


integrated = Exercise(
    "integrated_gradients",
    title="Integrated gradients",
    goal="`f` maps a vector (D,) to one number. Go from `baseline` to `x` along a straight line, cut into `steps` "
    "equal pieces, and take the gradient of f in the middle of each piece. In two steps, return (D,): the mean of "
    "these gradients, then what it attributes to each coordinate: that mean times the coordinate's way. The "
    "attributions sum to nearly f(x) − f(baseline).",
    difficulty=2,
    minutes=10,
    source="Sundararajan et al. 2017, *Axiomatic attribution for deep networks*",
    formula=r"(x - b) \odot \frac{1}{n} \sum_{k=1}^{n} \nabla f\left(b + \frac{k - ½}{n} (x - b)\right)",
    cases=lambda: [
        (_mixed, torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, 0.0, 1.0]), 4),
        (_bent, torch.tensor([3.0, 1.0]), torch.tensor([0.0, 0.0]), 5),
        (_saturated, torch.tensor([2.0, -1.0]), torch.tensor([-1.0, 1.0]), 3),
        (_cubes, torch.tensor([2.0, -1.0, 0.5, 1.0]), torch.tensor([1.0, 1.0, 1.0, -1.0]), 2),
    ],
    hints=(
        "The points: baseline + (k + ½) / steps · (x − baseline), k = 0 … steps − 1. What is multiplied at the end?",
        "point = (…).requires_grad_(); torch.autograd.grad(f(point), point)[0] is the gradient there.",
        "mean = sum(gradients) / steps; return (x − baseline) · mean",
    ),
)


@integrated.solution
def integrated_gradients(f, x, baseline, steps):
    """What f(x) − f(baseline) owes to each coordinate, (D,): midpoint rule with `steps` pieces."""
    total = torch.zeros_like(x)
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * (x - baseline)).requires_grad_()
        total = total + torch.autograd.grad(f(point), point)[0]
    return (x - baseline) * total / steps


integrated.slips("""
gradient_at_the_end    (k + 0.5) / steps * (x - baseline) → (x - baseline)
  You took the gradient at x alone, times the way. Where f is flat at x, as behind a saturated tanh, that says nothing.
gradients_alone    return (x - baseline) * total / steps → return total / steps
  You returned the mean gradient. Multiply it by the way x − baseline: only then do the attributions sum to f(x) − f(b).
from_zero    return (x - baseline) * total / steps → return x * total / steps
  You multiplied by x: that is the way from 0, and not from the baseline.
path_from_zero    baseline + (k + 0.5) / steps * (x - baseline) → (k + 0.5) / steps * x
  Your path begins at 0. It begins at the baseline.
sum_of_the_gradients    * total / steps → * total
  You summed the gradients. Their mean is the integral over the path.
ends_of_the_pieces    (k + 0.5) / steps → (k + 1) / steps
  You took the end of each piece. The middle is more exact with as many gradients.
starts_of_the_pieces    (k + 0.5) / steps → k / steps
  You took the start of each piece, and so never reach x. Take the middle.
backwards    (x - baseline) * total → (baseline - x) * total
  Your way leads from x to the baseline, which turns every sign.
lengths    return (x - baseline) * total / steps → return ((x - baseline) * total / steps).abs()
  You took absolute values. A coordinate may lower f: its attribution is then negative, and the sum needs that.
""")


QUIZ = questions("""
Two words get 78 % of the attention, but exchanging either for one of its kind changes nothing. What follows?
  - The patch went wrong, since so much weight must matter | Weight says where the model reads, not what it makes of it.
  * The model reads them, but which ones they are does not matter | The picture cannot tell; the patch can.
  - Attention explains nothing, in this model and in every other one | For number words it was right 99 times in 100.
A part is replaced by zero, and the model fails. Replaced by its mean, it works. What do you conclude?
  * What the part says about this sentence is not needed | Zero may be a value that later parts never met in training.
  - The part is essential, and its mean is by chance as good as its value | The mean tells nothing, and was enough.
  - One of the two measurements is wrong | Both are right; they ask different things.
A probe reads the next word from a vector with 68 %. Does the model use it?
  - Yes, since the information is there | What is there need not be read by anything.
  - Yes, if the probe is linear and beats its control task by far | It finds what could be used, not what is used.
  * Nobody knows before an intervention | Erase or exchange the information, and measure what the model then does.
Each of ten heads can be removed without loss. You remove all ten. What happens?
  - Nothing, because each of them alone changed nothing, and ten times nothing is nothing | Heads replace each other.
  * Anything: each may have been replaced by another one of the ten | So measure sets, and search step by step.
  - The loss is exactly ten times the loss of one | Losses of parts do not add up.
What does a logit lens show that a tuned lens does not?
  * What the state says with nothing fitted | A tuned lens is trained, as a probe is.
  - How sure the model will be at the end | Neither lens shows that; the last state does.
  - Which words are possible at all | Both give a distribution over all words.
Two translators differ by their seed alone. What of the circuit of one do you find in the other?
  - The same heads by their numbers, in the same blocks, with the same patterns | Heads can change places at no cost.
  * The same kinds of parts in the same blocks, and other heads | Blocks have an order, heads have none.
  - Nothing, since training is random | Three seeds kept the same two feed-forward layers.
""")
