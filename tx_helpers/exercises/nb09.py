"""Exercises of notebook 09, training."""

import math

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- the shift -------------------------------------------------------------------------------------------------------

shift = Exercise(
    "shifted_pair",
    title="Input and target",
    goal="From the ids (T,) of a target sentence make what the decoder reads and what it has to predict, both (T + "
    "1,): the sentence with the id `bos` before it, and the sentence with the id `eos` after it. Return both, in this "
    "order, as whole numbers.",
    difficulty=1,
    minutes=5,
    cases=lambda: [(torch.tensor([7, 8, 9]), 1, 2), (torch.tensor([5]), 3, 4), (torch.tensor([4, 6, 5, 9, 8]), 0, 1)],
    hints=(
        "At every position the answer is the token that the next position reads.",
        "torch.cat joins tensors; torch.tensor([bos]) makes one of a single id.",
        "torch.cat([bos, ids]) and torch.cat([ids, eos])",
    ),
)


@shift.solution
def shifted_pair(ids, bos, eos):
    """Decoder input and target, both (T + 1,), for ids (T,)."""
    return torch.cat([torch.tensor([bos]), ids]), torch.cat([ids, torch.tensor([eos])])


def _joined(*parts):
    return torch.cat([part if isinstance(part, torch.Tensor) else torch.tensor([part]) for part in parts])


shift.add_mistakes(
    {
        "not_shifted": (
            "Your targets are not shifted: each position predicts the token that it reads. Copying gives a loss of 0.",
            lambda ids, bos, eos: (_joined(bos, ids), _joined(bos, ids)),
        ),
        "shifted_backwards": (
            "You shifted backwards: each position has to predict the token before its own, which it has already read.",
            lambda ids, bos, eos: (_joined(ids, eos), _joined(bos, ids)),
        ),
        "shifted_by_two": (
            "You shifted by two: each position has to predict the token after the next, without reading the next.",
            lambda ids, bos, eos: (_joined(bos, ids), _joined(ids, eos, eos)[1:]),
        ),
        "signs_swapped": (
            "You swapped the two: your input starts with `eos`, and your target ends with `bos`.",
            lambda ids, bos, eos: shifted_pair(ids, eos, bos),
        ),
        "rolled": (
            "You rolled the input, so `bos` has moved to the end of the target, where `eos` belongs.",
            lambda ids, bos, eos: (_joined(bos, ids), _joined(ids, bos)),
        ),
        "no_end": (
            "There is no `eos` in your target: a model trained on it never learns to stop.",
            lambda ids, bos, eos: (_joined(bos, ids), _joined(ids, ids[-1:])),
        ),
    }
)

# --- the loss --------------------------------------------------------------------------------------------------------

loss = Exercise(
    "padded_loss",
    title="A loss for each sentence",
    goal="For logits (B, T, V) and targets (B, T), ids of which `pad` is the filling: the mean cross-entropy in nats "
    "of each sentence, (B,), over its own tokens that are not filling. Every sentence has at least one.",
    difficulty=2,
    minutes=10,
    formula=r"L_b = -\frac1{n_b}\sum_{t\,:\,y_{bt}\ne\mathrm{pad}}\ln p_{bt}(y_{bt})",
    source="cross-entropy, averaged over the n_b real tokens of sentence b",
    cases=lambda: [
        (torch.tensor([[[2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]]), torch.tensor([[0, 1]]), 1),
        (*(2 * z for z in random_tensors((2, 3, 5), seed=0)), torch.tensor([[1, 2, 4], [3, 0, 0]]), 0),
        (
            *(2 * z for z in random_tensors((3, 4, 6), seed=1)),
            torch.tensor([[1, 2, 3, 5], [4, 5, 5, 5], [0, 1, 5, 5]]),
            5,
        ),
    ],
    hints=(
        "The softmax is part of the cross-entropy, which takes logits. Which axis holds the tokens to choose from?",
        "Pick the log-probability of the right token at each position, (B, T). Set it to 0 at the filling, and sum.",
        "log_softmax(-1).gather(-1, targets[..., None])[..., 0]; then −(log_p · real).sum(1) / real.sum(1)",
    ),
)


@loss.solution
def padded_loss(logits, targets, pad):
    """Mean cross-entropy (B,) of each sentence; logits (B, T, V), targets (B, T)."""
    log_p = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]  # (B, T)
    real = targets != pad
    return -(log_p * real).sum(dim=1) / real.sum(dim=1)


@loss.mistake(
    "You gave each sentence the mean over all real tokens of the batch: one number, the same for all of them."
)
def mean_of_the_batch(logits, targets, pad):
    mean = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad)
    return mean.expand(len(targets))


@loss.mistake("Your softmax runs over the positions: they compete for a token, instead of the tokens for a position.")
def softmax_over_positions(logits, targets, pad):
    log_p = logits.log_softmax(dim=1).gather(-1, targets[..., None])[..., 0]
    real = targets != pad
    return -(log_p * real).sum(dim=1) / real.sum(dim=1)


loss.add_mistakes(
    {
        "padding_counted": (
            "You counted the padding: a model soon learns to predict filling, and your loss looks better than it is.",
            lambda logits, targets, pad: F.cross_entropy(logits.mT, targets, reduction="none").mean(dim=1),
        ),
        "softmax_twice": (
            "You applied a softmax before the cross-entropy, which applies its own: the loss starts at ln V and "
            "hardly falls, since probabilities differ by 1 at most.",
            lambda logits, targets, pad: padded_loss(logits.softmax(-1), targets, pad),
        ),
        "divided_by_all": (
            "You divided by all positions, the filling too, which adds nothing to the sum: the loss is too small.",
            lambda logits, targets, pad: padded_loss(logits, targets, pad) * (targets != pad).double().mean(dim=1),
        ),
        "in_bits": (
            "Your loss is in bits, by log₂. Nats use ln: a model that guesses has a loss of ln V.",
            lambda logits, targets, pad: padded_loss(logits, targets, pad) / math.log(2),
        ),
        "summed": (
            "You returned sums over the tokens, which grow with a sentence's length; means can be compared.",
            lambda logits, targets, pad: padded_loss(logits, targets, pad) * (targets != pad).sum(dim=1),
        ),
        "sign_forgotten": (
            "You forgot the minus: your loss is negative, and training makes the right token less likely.",
            lambda logits, targets, pad: -padded_loss(logits, targets, pad),
        ),
    }
)

# --- label smoothing -------------------------------------------------------------------------------------------------

smooth = Exercise(
    "smoothed_targets",
    title="Slightly less than certain",
    goal="Label smoothing in its other common form: for targets y (T,), ids below V, make the distribution (T, V) in "
    "which the right token has exactly 1 − ε and all the others share ε evenly. (In the notebook's form the right "
    "token gets a part of the ε, too.) `eps` is ε.",
    difficulty=1,
    minutes=5,
    formula=r"q(v) = 1-\epsilon\ \text{ for } v=y,\qquad q(v) = \frac{\epsilon}{V-1}\ \text{ else}",
    source="after Szegedy et al. 2016, section 7, and Vaswani et al. 2017, section 5.4 (ε = 0.1)",
    cases=lambda: [(torch.tensor([1]), 4, 0.2), (torch.tensor([0, 2, 2]), 3, 0.1), (torch.tensor([4, 0]), 5, 0.3)],
    picture=True,
    hints=(
        "Start from one-hot rows. How many tokens share the ε?",
        "One-hot times (1 − ε), plus (1 − one-hot) times what each of the V − 1 others gets.",
        "h = F.one_hot(y, V); h * (1 - eps) + (1 - h) * eps / (V - 1)",
    ),
)


@smooth.solution
def smoothed_targets(y, V, eps):
    """Rows (T, V) that sum to 1, for targets y (T,)."""
    one_hot = torch.nn.functional.one_hot(y, V)
    return one_hot * (1 - eps) + (1 - one_hot) * eps / (V - 1)


def _rows(y, V, right, other):
    """Rows (T, V) with one number at the right token and another at all others."""
    return torch.where(F.one_hot(y, V) == 1, right, other)


smooth.add_mistakes(
    {
        "spread_over_all": (
            "You spread ε over all V tokens, as in the notebook. Here the right one has 1 − ε and no part of the ε.",
            lambda y, V, eps: _rows(y, V, 1 - eps + eps / V, eps / V),
        ),
        "divided_by_all_tokens": (
            "You divided ε by V, but only V − 1 tokens share it: your rows sum to less than 1.",
            lambda y, V, eps: _rows(y, V, 1 - eps, eps / V),
        ),
        "nothing_taken": (
            "Your rows sum to more than 1: you gave ε to the others without taking it from the right one.",
            lambda y, V, eps: _rows(y, V, 1.0, eps / (V - 1)),
        ),
        "epsilon_each": (
            "You gave each of the others the full ε: they have to share it, or the rows sum to more than 1.",
            lambda y, V, eps: _rows(y, V, 1 - eps, eps),
        ),
        "one_hot_only": (
            "You smoothed nothing: this is the plain one-hot target.",
            lambda y, V, eps: _rows(y, V, 1.0, 0.0),
        ),
        "parts_swapped": (
            "You swapped 1 − ε and ε: the right token gets little, and all the others share the rest.",
            lambda y, V, eps: _rows(y, V, eps, (1 - eps) / (V - 1)),
        ),
    }
)

# --- the schedule ----------------------------------------------------------------------------------------------------

rate = Exercise(
    "warmup_rate",
    title="The schedule of 2017, with a peak of your own",
    goal="The formula of 2017 has its largest value, (D·w)^(−1/2), at step w. Keep its shape, but let the largest "
    "value be `peak`: return the learning rate at step n (counted from 1) with w steps of warm-up. D drops out.",
    difficulty=2,
    minutes=6,
    formula=r"\mathrm{rate}(n) \propto \min\left(n^{-0.5},\; n\cdot w^{-1.5}\right),\qquad \mathrm{rate}(w) = "
    r"\mathrm{peak}",
    source="Vaswani et al. 2017, equation 3, scaled",
    cases=lambda: [(1, 100, 0.5), (100, 100, 0.5), (400, 100, 0.25), (50_000, 4000, 1.0)],
    tolerance=1e-7,
    hints=(
        "Two curves, one rising and one falling; they meet at n = w. Which value do they have there?",
        "At n = w the minimum is 1/√w. By what must it be multiplied to become peak?",
        "peak * w**0.5 * min(n**-0.5, n * w**-1.5)",
    ),
)


@rate.solution
def warmup_rate(n, w, peak):
    """Learning rate at step n with w steps of warm-up; its largest value is peak, at step w."""
    return peak * min(n / w, (w / n) ** 0.5)


rate.add_mistakes(
    {
        "larger_of_both": (
            "You took the larger of the two: your rate starts far too high, and grows for ever after the warm-up.",
            lambda n, w, peak: peak * max(n / w, (w / n) ** 0.5),
        ),
        "not_scaled": (
            "You multiplied by peak alone. The formula has 1/√w at step w, so your largest rate is peak/√w.",
            lambda n, w, peak: peak * min(n**-0.5, n * w**-1.5),
        ),
        "scaled_upside_down": (
            "You divided by √w instead of multiplying by it: at step w your rate is peak/w.",
            lambda n, w, peak: peak * w**-0.5 * min(n**-0.5, n * w**-1.5),
        ),
        "warmup_exponent": (
            "Your warm-up has the exponent −0.5: the curves meet long before step w, and there is hardly a warm-up.",
            lambda n, w, peak: peak * w**0.5 * min(n**-0.5, n * w**-0.5),
        ),
        "no_decay": (
            "Your rate rises linearly and then stays: the decay with 1/√n after the warm-up is missing.",
            lambda n, w, peak: peak * min(1.0, n / w),
        ),
        "no_warmup": (
            "Your rate only falls: the warm-up is missing, and the first steps are the longest.",
            lambda n, w, peak: peak * (w / n) ** 0.5,
        ),
        "falls_too_fast": (
            "After the warm-up your rate falls as 1/n, not as 1/√n: the root is missing, and the steps are soon tiny.",
            lambda n, w, peak: peak * min(w / n, n / w),
        ),
        "counted_from_zero": (
            "You counted the steps of the warm-up from 0: the first step has the rate 0. Here they start at 1.",
            lambda n, w, peak: peak * min((n - 1) / w, (w / n) ** 0.5),
        ),
        "whole_division": (
            "You divided with //, which rounds down: throughout the warm-up n // w is 0, and so is your rate.",
            lambda n, w, peak: peak * min(n // w, (w / n) ** 0.5),
        ),
    }
)

# --- Adam ------------------------------------------------------------------------------------------------------------


def _adam_cases():
    """p, g, m, v (V, D), t and lr."""
    p, g, m = random_tensors((3, 4), (3, 4), (3, 4), seed=2)
    root_of_v = random_tensors((3, 4), seed=3)[0]
    g_of_two_words = g * torch.tensor([[1.0], [0.0], [1.0]])
    g_with_a_zero = torch.tensor([[0.0, 1.0, -2.0], [0.0, 0.0, 0.0]])
    g_of_sum_zero_and_tiny = torch.tensor([[1.0, -1.0], [1e-30, 0.0], [0.0, 0.0]])
    return [
        (torch.ones(2, 1), torch.tensor([[2.0], [0.0]]), torch.zeros(2, 1), torch.zeros(2, 1), 1, 0.1),
        (
            torch.tensor([[1.0, -1.0], [2.0, 3.0]]),
            torch.tensor([[1e-8, 3.0], [0.0, 0.0]]),  # as small as ε
            torch.tensor([[0.0, 0.0], [0.5, -0.5]]),
            torch.tensor([[0.0, 0.0], [0.25, 1.0]]),
            1,
            0.5,
        ),
        (p, g_of_two_words, m, root_of_v.square(), 7, 0.01),
        (p[:2, :3], g_with_a_zero, m[:2, :3], torch.tensor([[0.5, 1.0, 2.0], [1.0, 0.5, 0.1]]), 3, 0.1),
        (torch.zeros(3, 2), g_of_sum_zero_and_tiny, torch.ones(3, 2), torch.ones(3, 2), 2, 0.1),
    ]


adam = Exercise(
    "adam_step",
    title="One step of Adam, for an embedding table",
    goal="Step t (counted from 1) of lazy Adam with β₁ = 0.9, β₂ = 0.999, ε = 1e-8 and learning rate lr, for an "
    "embedding table p (V, D) with its gradient g and its running means m and v of g and g² (all (V, D), as step t − "
    "1 left them). A row of g that is zero throughout belongs to a word that the batch did not contain: in that row "
    "p, m and v stay as they are. In all other rows it is Adam, even where a single number of g is 0. Return the new "
    "p, m and v, in this order.",
    difficulty=3,
    minutes=15,
    formula=r"p - lr\,\frac{\hat m}{\sqrt{\hat v}+\epsilon},\quad \hat m=\frac{m}{1-\beta_1^t},\quad \hat "
    r"v=\frac{v}{1-\beta_2^t}",
    source="Kingma and Ba 2015, algorithm 1; torch.optim.SparseAdam leaves such rows out, too",
    tolerance=1e-5,
    cases=_adam_cases,
    hints=(
        "m is a running mean of g, v one of g²: new = β · old + (1 − β) · now. Both start at 0 and are too small at "
        "first; dividing by 1 − βᵗ corrects that.",
        "These rows take part: g.ne(0).any(dim=-1, keepdim=True). torch.where chooses row by row between new and old.",
        "p − lr · m̂ / (v̂.sqrt() + ε), with ε outside the root; torch.where(seen, new, old) for p, m and v each.",
    ),
)


@adam.solution
def adam_step(p, g, m, v, t, lr):
    """New p, m and v (V, D) after step t with gradient g (V, D); rows without a gradient stay."""
    seen = g.ne(0).any(dim=-1, keepdim=True)  # (V, 1)
    m = torch.where(seen, 0.9 * m + 0.1 * g, m)
    v = torch.where(seen, 0.999 * v + 0.001 * g**2, v)
    m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.999**t)
    return torch.where(seen, p - lr * m_hat / (v_hat.sqrt() + 1e-8), p), m, v


def _dense(p, g, m, v, t, lr, keep=(0.9, 0.999), correct=(0.9, 0.999), power=2, divisor=lambda v: v.sqrt() + 1e-8):
    """Adam in all rows: shares of the old means, the β of their correction, power of g in v, what v̂ divides by."""
    m = keep[0] * m + (1 - keep[0]) * g
    v = keep[1] * v + (1 - keep[1]) * g**power
    m_hat, v_hat = m / (1 - correct[0] ** t), v / (1 - correct[1] ** t)
    return p - lr * m_hat / divisor(v_hat), m, v


def _lazily(step, takes_part=lambda g: g.ne(0).any(dim=-1, keepdim=True)):
    """A mistake: another step in the rows with a gradient, or the right step in other rows."""

    def lazy(p, g, m, v, t, lr):
        stepped = zip(step(p, g, m, v, t, lr), (p, m, v), strict=True)
        return tuple(torch.where(takes_part(g), new, old) for new, old in stepped)

    return lazy


def _with(**options):
    """A mistake: Adam with other options, in the right rows."""
    return _lazily(lambda *state: _dense(*state, **options))


def _corrected(p, g, m, v, t, lr):
    p, m, v = _dense(p, g, m, v, t, lr)
    return p, m / (1 - 0.9**t), v / (1 - 0.999**t)


def _with_means_of_the_step_before(p, g, m, v, t, lr):
    p = p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
    return p, *_dense(p, g, m, v, t, lr)[1:]


adam.add_mistakes(
    {
        "all_rows_moved": (
            "You moved all rows. Earlier gradients, still in m, push words that the batch did not contain.",
            _dense,
        ),
        "means_fade": (
            "You left the unused rows of p alone, but let their m and v fade: when the word occurs again, its means "
            "have forgotten it.",
            lambda *state: (adam_step(*state)[0], *_dense(*state)[1:]),
        ),
        "numbers_left_out": (
            "You left out single numbers whose gradient is 0. A word is a row: if it was used, a 0 in its row is a "
            "gradient like any other.",
            _lazily(_dense, takes_part=lambda g: g != 0),
        ),
        "rows_by_their_sum": (
            "You decided by the sum of a row of g. It can be 0 for a word that was used, as for [1, −1]: use any.",
            _lazily(_dense, takes_part=lambda g: g.sum(dim=-1, keepdim=True) != 0),
        ),
        "only_full_rows": (
            "You left out every row with a 0 in it. One number that is not 0 shows that a word was used: any, not all.",
            _lazily(_dense, takes_part=lambda g: g.ne(0).all(dim=-1, keepdim=True)),
        ),
        "no_correction": (
            "You did not correct the means for their start at 0. The first m holds a tenth of g and √v a thirtieth: "
            "the first step is 3 times too long.",
            _with(correct=(0.0, 0.0)),
        ),
        "corrected_too_late": (
            "You corrected with 1 − βᵗ⁺¹. t is counted from 1 already, so the first step corrects with 1 − β.",
            _lazily(lambda p, g, m, v, t, lr: _dense(p, g, m, v, t + 1, lr)),
        ),
        "corrected_kept": (
            "You returned the corrected means: they must stay uncorrected, or the next step corrects them again.",
            _lazily(_corrected),
        ),
        "means_of_the_step_before": (
            "You stepped with the old m and v: this gradient has no effect until the next step. Update them first.",
            _lazily(_with_means_of_the_step_before),
        ),
        "uphill": (
            "You stepped uphill: the loss falls against the gradient, so the step has to be subtracted from p.",
            _lazily(lambda p, g, m, v, t, lr: _dense(p, g, m, v, t, -lr)),
        ),
        "no_root": (
            "The root is missing: you divided by v̂ itself, so small gradients give enormous steps.",
            _with(divisor=lambda v: v + 1e-8),
        ),
        "epsilon_under_the_root": (
            "Your ε is under the root, where 1e-8 becomes 1e-4: numbers with a small gradient hardly move.",
            _with(divisor=lambda v: (v + 1e-8).sqrt()),
        ),
        "not_squared": (
            "Your v is a mean of g, not of g²: it can be negative, and then its root is NaN.",
            _with(power=1),
        ),
        "betas_swapped": (
            "You swapped β₁ and β₂: you average the direction over about a thousand steps, and the size over ten.",
            _with(keep=(0.999, 0.9), correct=(0.999, 0.9)),
        ),
        "forgets_at_once": (
            "You swapped β and 1 − β: your means remember a tenth of the past instead of nine tenths.",
            _with(keep=(0.1, 0.001)),
        ),
    }
)

# --- a loop ----------------------------------------------------------------------------------------------------------

descent = Exercise(
    "descend",
    title="A training loop",
    goal="Gradient descent by autograd: the weights w (D,) of the prediction X @ w for X (N, D), y (N,), loss = mean "
    "squared error over the N examples. Take `steps` steps, each with the gradient of all N and learning rate lr, "
    "from the given w, and return the weights. The tensor w that you are given must not change.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (torch.tensor([0.0]), torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0]), 0.1, 2),
        (*random_tensors((3,), (5, 3), (5,), seed=4), 0.05, 4),
    ],
    hints=(
        "w = w.clone().requires_grad_(); then in each step: loss, backward, step, and one thing more.",
        "backward adds to what w.grad holds already. What has to be done before the next one?",
        "with torch.no_grad(): w -= lr * w.grad, and then w.grad = None (or zero_()).",
    ),
)


@descent.solution
def descend(w, X, y, lr, steps):
    """Weights (D,) after some steps of gradient descent on the mean squared error."""
    w = w.clone().requires_grad_()
    for _ in range(steps):
        loss = ((X @ w - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
        w.grad = None
    return w.detach()


def _gradient(w, X, y):
    return 2 * X.T @ (X @ w - y) / len(y)


@descent.mistake(
    "zero_grad is missing: backward adds the new gradient to the old ones, and every step takes all again."
)
def gradients_pile_up(w, X, y, lr, steps):
    total = torch.zeros_like(w)
    for _ in range(steps):
        total = total + _gradient(w, X, y)
        w = w - lr * total
    return w


@descent.mistake("You stepped after every single example. Here each step uses the mean gradient of all N examples.")
def example_by_example(w, X, y, lr, steps):
    for _ in range(steps):
        for n in range(len(y)):
            w = w - lr * _gradient(w, X[n : n + 1], y[n : n + 1])
    return w


descent.add_mistakes(
    {
        "one_gradient": (
            "You computed the gradient once and used it in every step: backward belongs inside the loop.",
            lambda w, X, y, lr, steps: w - steps * lr * _gradient(w, X, y),
        ),
        "climbed": (
            "You walked uphill: w plus the gradient makes the loss larger.",
            lambda w, X, y, lr, steps: descend(w, X, y, -lr, steps),
        ),
        "sum_of_squares": (
            "Your loss is the sum over the N examples, not their mean: each step is N times as long.",
            lambda w, X, y, lr, steps: descend(w, X, y, lr * len(y), steps),
        ),
        "one_step_short": (
            "You took one step too few: the loop has to run `steps` times.",
            lambda w, X, y, lr, steps: descend(w, X, y, lr, steps - 1),
        ),
        "unchanged": (
            "You returned the weights that you were given: you changed a copy of them, or nothing at all.",
            lambda w, X, y, lr, steps: w.clone(),
        ),
    }
)

# --- measuring -------------------------------------------------------------------------------------------------------


def _measured(predict, mode):
    """The output for a model with dropout, and the state of the model afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
        model.train(mode == "in training mode")
        x = torch.linspace(-1, 1, 12).reshape(4, 3)
        y = predict(model, x)
        modes = [part.training for part in model.modules()] + [p.requires_grad for p in model.parameters()]
        torch.manual_seed(1)
        later = model.train()(x).detach()
    return {
        "output": y,
        "output needs a gradient": int(getattr(y, "requires_grad", False)),  # an array of NumPy needs none
        "modes of the parts, and whether parameters learn": torch.tensor(modes).long(),
        "output of a training step later on": later,
    }


measure = Exercise(
    "measured_output",
    title="Measuring a model",
    goal="Return the output of `model`, an nn.Module with dropout, for x, as it is measured: with dropout off, and "
    "without a graph (the output needs no gradient). All parts of the model are in one mode, either training or "
    "evaluation; afterwards they are all in that mode again, and nothing else about the model has changed.",
    difficulty=2,
    minutes=8,
    cases=lambda: [("in training mode",), ("in evaluation mode",)],
    run=_measured,
    hints=(
        "model.eval() switches dropout off; model.training says in which mode it is.",
        "With torch.no_grad() no graph is stored. Afterwards model.train(was_training).",
        "was = model.training; model.eval(); with torch.no_grad(): y = model(x); model.train(was)",
    ),
)


@measure.solution
def measured_output(model, x):
    """The model's output for x, without dropout or graph; its mode stays as it was."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        y = model(x)
    model.train(was_training)
    return y


@measure.mistake("There is no eval() in your answer: dropout stays on, and two evaluations differ.")
@torch.no_grad()
def no_eval(model, x):
    return model(x)


@measure.mistake("You left the model in evaluation mode: training goes on without dropout, and nobody notices.")
@torch.no_grad()
def left_in_eval(model, x):
    return model.eval()(x)


@measure.mistake("You always end with train(): a model that was being evaluated has dropout from now on.")
@torch.no_grad()
def always_train(model, x):
    y = model.eval()(x)
    model.train()
    return y


@measure.mistake(
    "You kept the graph: without torch.no_grad() each measurement holds all intermediate tensors in memory."
)
def graph_kept(model, x):
    was_training = model.training
    y = model.eval()(x)
    model.train(was_training)
    return y


@measure.mistake("no_grad() stores no graph, but it is not eval(): you switched to train(), and dropout is at work.")
@torch.no_grad()
def train_in_place_of_eval(model, x):
    was_training = model.training
    y = model.train()(x)
    model.train(was_training)
    return y


@measure.mistake("You switched the parameters' gradients off and left them off: from now on the model learns nothing.")
def parameters_frozen(model, x):
    was_training = model.training
    y = model.eval().requires_grad_(False)(x)
    model.train(was_training)
    return y


QUIZ = [
    Question(
        "A new model with V = 50 tokens. Which loss do you expect before training, if its logits are near 0?",
        (
            Choice("0", "That is a model that is certain and right."),
            Choice("ln 50 ≈ 3.9", "Each token has probability 1/50.", right=True),
            Choice("50", "The loss is a logarithm of a probability."),
        ),
    ),
    Question(
        "After ten steps the loss is 0.001. What do you suspect first?",
        (
            Choice(
                "The task is easy",
                "Then it takes longer still: on our easy task the loss was 0.8 after ten steps on eight sentences.",
            ),
            Choice("The learning rate is too high", "That makes a loss jump or grow."),
            Choice(
                "The input holds the answer",
                "A missing mask or an unshifted target: copying is learnt in a few steps.",
                right=True,
            ),
        ),
    ),
    Question(
        "Teacher forcing means that in training the decoder reads …",
        (
            Choice("the right words so far", "So all positions can be trained at once.", right=True),
            Choice("its own last word", "It does so when it writes by itself; in training it reads the true one."),
            Choice("the full right sentence, with the next word", "The causal mask hides what is ahead."),
        ),
    ),
    Question(
        "What is warm-up for?",
        (
            Choice("It lets the processor reach its full speed", "It concerns the learning rate, not the machine."),
            Choice(
                "Without it no Transformer trains",
                "Measured: the translator with two blocks a side trains as well without it.",
            ),
            Choice(
                "Adam's first steps are unreliable",
                "Its means rest on few gradients, and long steps do damage. So the rate starts near 0 and rises.",
                right=True,
            ),
        ),
    ),
    Question(
        "Most of the six bugs that are trained in this notebook …",
        (
            Choice("stop with an error", "None of them does: all run, and their losses fall."),
            Choice(
                "have a lower loss than the right model",
                "Four of them on any machine. So a loss cannot find them: probe the model.",
                right=True,
            ),
            Choice("vanish with a lower learning rate", "A wrong mask or target is wrong at any learning rate."),
        ),
    ),
    Question(
        "Why is padding left out of the loss?",
        (
            Choice(
                "Filling is easy to predict",
                "More than half of the targets are filling here: the loss would look good, and the model would mostly "
                "be trained on filling.",
                right=True,
            ),
            Choice(
                "The loss takes less time without it",
                "The logits at the filling are computed all the same; little is saved.",
            ),
            Choice("Its gradient would be NaN", "<pad> is a token like others; its gradient is an ordinary one."),
        ),
    ),
]
