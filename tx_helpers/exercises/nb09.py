"""Exercises of notebook 09, training."""

import functools
import math

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- the shift -------------------------------------------------------------------------------------------------------

shift = Exercise(
    "shifted_pair",
    title="Input and target",
    goal="From the ids (T,) of a target sentence make what the decoder reads and what it is asked for, both (T + 1,): "
    "the sentence with the id `bos` before it, and the sentence with the id `eos` behind it. Hand back both, in this "
    "order, as whole numbers.",
    difficulty=1,
    minutes=5,
    cases=lambda: [(torch.tensor([7, 8, 9]), 1, 2), (torch.tensor([5]), 3, 4), (torch.tensor([4, 6, 5, 9, 8]), 0, 1)],
    hints=(
        "At every position the answer is the token that the next position reads.",
        "torch.cat joins; a single id becomes a tensor by torch.tensor([bos]).",
        "torch.cat([bos, ids]) and torch.cat([ids, eos])",
    ),
)


@shift.solution
def shifted_pair(ids, bos, eos):
    """Decoder input and target, both (T + 1,), for ids (T,)."""
    return torch.cat([torch.tensor([bos]), ids]), torch.cat([ids, torch.tensor([eos])])


@shift.mistake(
    "Your targets are not shifted: each position is asked for the token that it reads. The loss falls to 0 by copying."
)
def not_shifted(ids, bos, eos):
    read = torch.cat([torch.tensor([bos]), ids])
    return read, read.clone()


@shift.mistake("You shifted backwards: each position is asked for the token before its own, which it has already read.")
def shifted_backwards(ids, bos, eos):
    read, asked = shifted_pair(ids, bos, eos)
    return asked, read


@shift.mistake("You shifted by two: the answer lies two tokens ahead, so that one of them can never be learnt.")
def shifted_by_two(ids, bos, eos):
    read, asked = shifted_pair(ids, bos, eos)
    return read, torch.cat([asked[1:], torch.tensor([eos])])


@shift.mistake("Your sentence begins with `eos` in place of `bos`: the two signs have changed places.")
def signs_swapped(ids, bos, eos):
    return shifted_pair(ids, eos, bos)


@shift.mistake("Nowhere in your target stands `eos`: a model trained on it never learns to stop.")
def no_end(ids, bos, eos):
    return torch.cat([torch.tensor([bos]), ids]), torch.cat([ids, ids[-1:]])


# --- the loss --------------------------------------------------------------------------------------------------------

loss = Exercise(
    "padded_loss",
    title="A loss for each sentence",
    goal="For logits (B, T, V) and targets (B, T), ids of which `pad` is the filling: the mean cross-entropy in nats "
    "of each sentence, (B,), over its own tokens that are not filling. Every sentence has some.",
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
        "The softmax is part of the cross-entropy: it is given logits. Which axis holds the tokens to choose from?",
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


@loss.mistake("The padding is counted: a model soon learns to predict filling, and your loss looks better than it is.")
def padding_counted(logits, targets, pad):
    return F.cross_entropy(logits.transpose(1, 2), targets, reduction="none").mean(dim=1)


@loss.mistake(
    "You applied a softmax before the cross-entropy, which applies its own: the loss starts at ln V and hardly gets "
    "away from it, since probabilities differ by 1 at most."
)
def softmax_twice(logits, targets, pad):
    return padded_loss(logits.softmax(-1), targets, pad)


@loss.mistake(
    "You divided by all positions, the filling included, although it adds nothing to the sum: the loss is too small."
)
def divided_by_all(logits, targets, pad):
    real = targets != pad
    return padded_loss(logits, targets, pad) * real.sum(dim=1) / targets.shape[1]


@loss.mistake("Each sentence got the mean over all real tokens of the batch: one number, and the same for all of them.")
def mean_of_the_batch(logits, targets, pad):
    mean = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad)
    return mean.expand(len(targets))


@loss.mistake("Your loss is in bits, by log₂. Nats are asked for, with ln: a clueless model has ln V.")
def in_bits(logits, targets, pad):
    return padded_loss(logits, targets, pad) / math.log(2)


@loss.mistake("These are sums over the tokens, which grow with a sentence's length; means can be compared.")
def summed(logits, targets, pad):
    return padded_loss(logits, targets, pad) * (targets != pad).sum(dim=1)


@loss.mistake(
    "You forgot the minus: log-probabilities are negative, and training would make the right token less likely."
)
def sign_forgotten(logits, targets, pad):
    return -padded_loss(logits, targets, pad)


@loss.mistake("Your softmax runs over the positions: they compete for a token, in place of the tokens for a position.")
def softmax_over_positions(logits, targets, pad):
    log_p = logits.log_softmax(dim=1).gather(-1, targets[..., None])[..., 0]
    real = targets != pad
    return -(log_p * real).sum(dim=1) / real.sum(dim=1)


# --- label smoothing -------------------------------------------------------------------------------------------------

smooth = Exercise(
    "smoothed_targets",
    title="Slightly less than certain",
    goal="Label smoothing in its other common form: for targets y (T,), ids below V, make the distribution (T, V) in "
    "which the right token has exactly 1 − ε and all the others share ε evenly. (In the notebook's form the right "
    "token has a part of the ε, too.) `eps` is ε.",
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


@smooth.mistake(
    "You spread ε over all V tokens, the notebook's form. Here the right one has 1 − ε and no part of the ε."
)
def spread_over_all(y, V, eps):
    return F.one_hot(y, V) * (1 - eps) + eps / V


@smooth.mistake("You divided ε by V, but only V − 1 tokens share it: your rows sum to less than 1.")
def divided_by_all_tokens(y, V, eps):
    one_hot = F.one_hot(y, V)
    return one_hot * (1 - eps) + (1 - one_hot) * eps / V


@smooth.mistake("Your rows sum to more than 1: you gave to the others without taking the ε from the right one.")
def nothing_taken(y, V, eps):
    one_hot = F.one_hot(y, V)
    return one_hot + (1 - one_hot) * eps / (V - 1)


@smooth.mistake("You gave each of the others the whole ε: they have to share it, or the rows sum to more than 1.")
def epsilon_each(y, V, eps):
    one_hot = F.one_hot(y, V)
    return one_hot * (1 - eps) + (1 - one_hot) * eps


@smooth.mistake("Nothing is smoothed in your rows: this is the plain one-hot target.")
def one_hot_only(y, V, eps):
    return F.one_hot(y, V).float()


@smooth.mistake("1 − ε and ε have changed places: the right token gets little, and all the others share the rest.")
def parts_swapped(y, V, eps):
    return smoothed_targets(y, V, 1 - eps)


# --- the schedule ----------------------------------------------------------------------------------------------------

rate = Exercise(
    "warmup_rate",
    title="The schedule of 2017, with a peak of your own",
    goal="The formula of 2017 has its largest value, (D·w)^(−1/2), at step w. Keep its shape, but let the largest "
    "value be `peak`: hand back the learning rate at step n (from 1 on) with w steps of warm-up. D drops out.",
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


@rate.mistake("You took the larger of the two: your rate begins far too high, and rises for ever after the warm-up.")
def larger_of_both(n, w, peak):
    return peak * w**0.5 * max(n**-0.5, n * w**-1.5)


@rate.mistake("You multiplied by peak alone. The formula has 1/√w at step w, so your largest rate is peak/√w.")
def not_scaled(n, w, peak):
    return peak * min(n**-0.5, n * w**-1.5)


@rate.mistake("You divided by √w where it has to be multiplied: at step w your rate is peak/w.")
def scaled_upside_down(n, w, peak):
    return peak * w**-0.5 * min(n**-0.5, n * w**-1.5)


@rate.mistake(
    "Your warm-up has the exponent −0.5: the two curves meet long before step w, and there is hardly a warm-up."
)
def warmup_exponent(n, w, peak):
    return peak * w**0.5 * min(n**-0.5, n * w**-0.5)


@rate.mistake("Your rate rises linearly and then stays: the decay with 1/√n after the warm-up is missing.")
def no_decay(n, w, peak):
    return peak * min(1.0, n / w)


@rate.mistake("Your rate only falls: the warm-up is missing, and the first steps are the longest.")
def no_warmup(n, w, peak):
    return peak * (w / n) ** 0.5


@rate.mistake("After the warm-up yours falls as 1/n, not as 1/√n: the root is missing, and the steps soon are tiny.")
def falls_too_fast(n, w, peak):
    return peak * min(w / n, n / w)


# --- Adam ------------------------------------------------------------------------------------------------------------

adam = Exercise(
    "adam_step",
    title="One step of Adam, for an embedding table",
    goal="Step t (from 1 on) of lazy Adam with β₁ = 0.9, β₂ = 0.999, ε = 1e-8 and learning rate lr, for an embedding "
    "table p (V, D) with its gradient g and its running means m and v of g and g² (all (V, D), handed in as step t − "
    "1 left them). A row of g that is zero throughout belongs to a word that the batch did not contain: in that row "
    "p, m and v stay as they are. In all other rows it is Adam, also where a single number of g is 0. Hand back the "
    "new p, m and v, in this order.",
    difficulty=3,
    minutes=15,
    formula=r"p - lr\,\frac{\hat m}{\sqrt{\hat v}+\epsilon},\quad "
    r"\hat m=\frac{m}{1-\beta_1^t},\quad \hat v=\frac{v}{1-\beta_2^t}",
    source="Kingma and Ba 2015, algorithm 1; torch.optim.SparseAdam leaves such rows out, too",
    tolerance=1e-5,
    cases=lambda: [
        (torch.tensor([[1.0], [1.0]]), torch.tensor([[2.0], [0.0]]), torch.zeros(2, 1), torch.zeros(2, 1), 1, 0.1),
        (
            torch.tensor([[1.0, -1.0], [2.0, 3.0]]),
            torch.tensor([[1e-8, 3.0], [0.0, 0.0]]),
            *(torch.tensor([[0.0, 0.0], [0.5, -0.5]]), torch.tensor([[0.0, 0.0], [0.25, 1.0]])),
            *(1, 0.5),
        ),
        (
            *(
                m * torch.tensor([[1.0], [0.0], [1.0]]) if n == 1 else m
                for n, m in enumerate(random_tensors((3, 4), (3, 4), (3, 4), seed=2))
            ),
            random_tensors((3, 4), seed=3)[0].square(),
            7,
            0.01,
        ),
        (
            *random_tensors((2, 3), seed=4),
            torch.tensor([[0.0, 1.0, -2.0], [0.0, 0.0, 0.0]]),
            *random_tensors((2, 3), seed=5),
            *(torch.tensor([[0.5, 1.0, 2.0], [1.0, 0.5, 0.1]]), 3, 0.1),
        ),
        (
            torch.zeros(3, 2),
            torch.tensor([[1.0, -1.0], [1e-30, 0.0], [0.0, 0.0]]),  # a sum of 0; squares that underflow; nothing
            *(torch.ones(3, 2), torch.ones(3, 2), 2, 0.1),
        ),
    ],
    hints=(
        "m is a running mean of g, v one of g²: new = β · old + (1 − β) · now. Both begin at 0 and are too small at "
        "first; dividing by 1 − βᵗ mends that.",
        "Which rows take part: g.ne(0).any(dim=-1, keepdim=True). torch.where chooses row by row between new and old.",
        "p − lr · m̂ / (v̂.sqrt() + ε), the ε outside the root; torch.where(seen, new, old) for p, m and v each.",
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


def _dense(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


def _lazily(step):
    """A step that leaves the rows without a gradient as they are."""

    @functools.wraps(step)
    def lazy(p, g, m, v, t, lr):
        seen = g.ne(0).any(dim=-1, keepdim=True)
        return tuple(torch.where(seen, new, old) for new, old in zip(step(p, g, m, v, t, lr), (p, m, v), strict=True))

    return lazy


@adam.mistake(
    "You moved all rows. What is left of earlier gradients in m goes on pushing words that the batch did not contain."
)
def all_rows_moved(p, g, m, v, t, lr):
    return _dense(p, g, m, v, t, lr)


@adam.mistake(
    "You held the unused rows of p, but let their m and v fade: when the word comes back, its means have forgotten it."
)
def means_fade(p, g, m, v, t, lr):
    return adam_step(p, g, m, v, t, lr)[0], *_dense(p, g, m, v, t, lr)[1:]


@adam.mistake(
    "You left out single numbers whose gradient is 0. A word that was used is a whole row: there a 0 is a gradient, "
    "too."
)
def numbers_left_out(p, g, m, v, t, lr):
    return tuple(torch.where(g != 0, new, old) for new, old in zip(_dense(p, g, m, v, t, lr), (p, m, v), strict=True))


@adam.mistake(
    "Your means are not corrected for their start at 0. Of g the first m holds a tenth, √v a thirtieth: the first "
    "step is 3 times too long."
)
@_lazily
def no_correction(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return p - lr * m / (v.sqrt() + 1e-8), m, v


@adam.mistake("You stepped uphill: the loss falls against the gradient, so the step has to be subtracted from p.")
@_lazily
def uphill(p, g, m, v, t, lr):
    new, m, v = _dense(p, g, m, v, t, lr)
    return 2 * p - new, m, v


@adam.mistake("The root is missing: you divided by v̂ itself, so that small gradients give enormous steps.")
@_lazily
def no_root(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return p - lr * m / (1 - 0.9**t) / (v / (1 - 0.999**t) + 1e-8), m, v


@adam.mistake("Your v is a mean of g, not of g²: it can be negative, and then its root is NaN.")
@_lazily
def not_squared(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@adam.mistake(
    "β₁ and β₂ have changed places: yours averages the direction over some thousand steps, and the size over ten."
)
@_lazily
def betas_swapped(p, g, m, v, t, lr):
    m, v = 0.999 * m + 0.001 * g, 0.9 * v + 0.1 * g**2
    return p - lr * m / (1 - 0.999**t) / ((v / (1 - 0.9**t)).sqrt() + 1e-8), m, v


@adam.mistake(
    "You handed back the corrected means: they must stay uncorrected, or they are corrected again at the next step."
)
@_lazily
def corrected_kept(p, g, m, v, t, lr):
    p, m, v = _dense(p, g, m, v, t, lr)
    return p, m / (1 - 0.9**t), v / (1 - 0.999**t)


@adam.mistake("β and 1 − β have changed places: your means remember a tenth of the past, in place of nine tenths.")
@_lazily
def forgets_at_once(p, g, m, v, t, lr):
    m, v = 0.1 * m + 0.9 * g, 0.001 * v + 0.999 * g**2
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


# --- a loop ----------------------------------------------------------------------------------------------------------

descent = Exercise(
    "descend",
    title="A training loop",
    goal="Gradient descent by autograd: the weights w (D,) of the prediction X @ w for X (N, D), y (N,), loss = mean "
    "squared error over the N examples. Take `steps` steps, each with the gradient of all N and learning rate lr, "
    "from the given w, and hand back the weights. The tensor w that is handed in stays as it is.",
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
    "zero_grad is missing: backward adds each new gradient to all the old ones, and every step takes them all again."
)
def gradients_pile_up(w, X, y, lr, steps):
    total = torch.zeros_like(w)
    for _ in range(steps):
        total = total + _gradient(w, X, y)
        w = w - lr * total
    return w


@descent.mistake("You computed the gradient once and used it in every step: backward belongs inside the loop.")
def one_gradient(w, X, y, lr, steps):
    return w - steps * lr * _gradient(w, X, y)


@descent.mistake("You walked uphill: w plus the gradient makes the loss larger.")
def climbed(w, X, y, lr, steps):
    for _ in range(steps):
        w = w + lr * _gradient(w, X, y)
    return w


@descent.mistake(
    "Your loss is the sum over the N examples, not their mean: its gradient, and so each step, is N times as long."
)
def sum_of_squares(w, X, y, lr, steps):
    return descend(w, X, y, lr * len(y), steps)


@descent.mistake("You took one step too few: the loop has to run `steps` times.")
def one_step_short(w, X, y, lr, steps):
    return descend(w, X, y, lr, steps - 1)


@descent.mistake("You handed back the weights that you were given: what was changed is a copy, or nothing at all.")
def unchanged(w, X, y, lr, steps):
    return w.clone()


# --- measuring -------------------------------------------------------------------------------------------------------


def _measured(predict, mode):
    """What comes out of a model with dropout, and what has become of the model."""
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
        "output needs a gradient": int(getattr(y, "requires_grad", False)),
        "modes of the parts, and whether parameters learn": torch.tensor(modes).long(),
        "output of a training step later on": later,
    }


measure = Exercise(
    "measured_output",
    title="Measuring a model",
    goal="Hand back the output of `model`, an nn.Module with dropout, for x, as it is measured: dropout off, and no "
    "graph kept (the output needs no gradient). All parts of the model are in one mode, either training or "
    "evaluation; afterwards they are all in that mode again, and nothing else about the model has changed.",
    difficulty=2,
    minutes=8,
    cases=lambda: [("in training mode",), ("in evaluation mode",)],
    run=_measured,
    hints=(
        "model.eval() switches dropout off; model.training says in which mode it is.",
        "torch.no_grad() keeps no graph. Afterwards model.train(was_training).",
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


@measure.mistake("There is no eval() in yours: dropout stays on, and two evaluations differ.")
def no_eval(model, x):
    with torch.no_grad():
        return model(x)


@measure.mistake("You left the model in evaluation mode: training goes on without dropout, and nobody notices.")
def left_in_eval(model, x):
    model.eval()
    with torch.no_grad():
        return model(x)


@measure.mistake("You always end with train(): a model that was being evaluated has dropout from now on.")
def always_train(model, x):
    model.eval()
    with torch.no_grad():
        y = model(x)
    model.train()
    return y


@measure.mistake(
    "A graph is kept: without torch.no_grad() each measurement holds all its intermediate tensors in memory."
)
def graph_kept(model, x):
    was_training = model.training
    model.eval()
    y = model(x)
    model.train(was_training)
    return y


@measure.mistake("no_grad() keeps no graph, but it is not eval(): you switched to train(), and dropout is at work.")
def train_in_place_of_eval(model, x):
    was_training = model.training
    model.train()
    with torch.no_grad():
        y = model(x)
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
            Choice("Too high a learning rate", "That makes a loss jump or grow."),
            Choice(
                "The answer lies in the input",
                "A missing mask or an unshifted target: copying is learnt in a few steps.",
                right=True,
            ),
        ),
    ),
    Question(
        "Teacher forcing means that in training the decoder reads …",
        (
            Choice("the right words so far", "So all positions can be trained at once.", right=True),
            Choice("its own last word", "So it does when it writes by itself; in training it is handed the true one."),
            Choice("the whole right sentence, the next word included", "The causal mask hides what is ahead."),
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
                "Adam's means are unreliable in the first steps, and long steps do damage",
                "So the rate begins near 0 and rises.",
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
                "Filling is easy to predict and makes the figure look good",
                "More than half of the targets are filling here, and the model would mostly be trained on it.",
                right=True,
            ),
            Choice("It costs time", "The logits at the filling are computed all the same; little is saved."),
            Choice("Its gradient would be NaN", "<pad> is a token like others; its gradient is an ordinary one."),
        ),
    ),
]
