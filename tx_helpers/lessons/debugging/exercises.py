"""Exercises on debugging."""

import math

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- the loss --------------------------------------------------------------------------------------------------------

loss = Exercise(
    "padded_loss",
    title="A loss for each sentence",
    goal="Return the mean cross-entropy of each sentence, (B,), in nats, for logits (B, T, V) and the ids targets "
    "(B, T). Only real tokens count: the id `pad` is filling. Every sentence has at least one real token.",
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


loss.slips("""
softmax_over_positions    dim=-1 → dim=1
  Your softmax runs over the positions: they compete for a token, instead of the tokens for a position.
padding_counted    return F.cross_entropy(logits.mT, targets, reduction="none").mean(dim=1)
  You counted the padding: a model soon learns to predict filling, and your loss looks better than it is.
softmax_twice    return padded_loss(logits.softmax(-1), targets, pad)
  You applied a softmax before the cross-entropy, which applies its own: the loss starts at ln V and hardly falls, since
  probabilities differ by 1 at most.
divided_by_all    return padded_loss(logits, targets, pad) * (targets != pad).double().mean(dim=1)
  You divided by all positions, the filling too, which adds nothing to the sum: the loss is too small.
divided_by_the_batch    / real.sum(dim=1) → / real.sum()
  You divided each sentence's sum by the real tokens of the whole batch: each mean is too small.
zero_for_pad    return padded_loss(logits, targets, 0)
  You left out the id 0. The padding's id is `pad`, which may be any other, and 0 may be a word.
perplexity    return padded_loss(logits, targets, pad).exp()
  You returned the perplexity, e to the power of the loss. Leave the exponential out.
in_bits    return padded_loss(logits, targets, pad) / math.log(2)
  Your loss is in bits, by log₂. Nats use ln: a model that guesses has a loss of ln V.
summed    / real.sum(dim=1) →
  You returned sums over the tokens, which grow with a sentence's length; means can be compared.
sign_forgotten    return -padded_loss(logits, targets, pad)
  You forgot the minus: your loss is negative, and training makes the right token less likely.
mean_of_the_batch    (log_p * real).sum(dim=1) / real.sum(dim=1) →
      ((log_p * real).sum() / real.sum()).expand(len(targets))
  You gave each sentence the mean over all real tokens of the batch: one number, the same for all of them.
""")


# --- a loop ----------------------------------------------------------------------------------------------------------

descent = Exercise(
    "descend",
    title="A training loop",
    goal="Train the prediction X @ w by gradient descent with autograd: X (N, D), y (N,), and the loss is the mean "
    "squared error over all N examples. Begin with the given w (D,), take `steps` steps with the learning rate lr, and "
    "return the weights. Each step uses the gradient of all N examples. The w that you are given must not change.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (torch.tensor([0.0]), torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0]), 0.1, 2),
        (*random_tensors((3,), (5, 3), (5,), seed=4), 0.05, 4),
    ],
    hints=(
        "w = w.clone().requires_grad_(); then in each step: loss, backward, step, and one thing more.",
        "backward adds to the gradient that is already in w.grad. What must happen before the next one?",
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


descent.slips("""
one_gradient    w = w.clone() → start = w ⏎ w = w.clone() ; X @ w → X @ start.requires_grad_() ; w.grad ⏎ → start.grad ⏎
      ; w.grad = None → start.grad = None
  You computed the gradient once and used it in every step: backward belongs inside the loop.
climbed    return descend(w, X, y, -lr, steps)
  You walked uphill: w plus the gradient makes the loss larger.
sum_of_squares    return descend(w, X, y, lr * len(y), steps)
  Your loss is the sum over the N examples, not their mean: each step is N times as long.
half_the_loss    return descend(w, X, y, lr / 2, steps)
  You halved the loss, as some books do. Here it is the mean of the squares: your steps are half as long.
one_example_a_step    for _ in range(steps): → for n in range(steps): ; ((X @ w - y) ** 2).mean() →
      (X[n % len(y)] @ w - y[n % len(y)]) ** 2
  You used one example in each step. Here each step uses the mean gradient of all N examples.
one_step_short    return descend(w, X, y, lr, steps - 1)
  You took one step too few: the loop has to run `steps` times.
unchanged    return w.clone()
  You returned the weights that you were given: you changed a copy of them, or nothing at all.
gradients_pile_up    w.grad = None →
  zero_grad is missing: backward adds the new gradient to the old ones, and every step takes all again.
example_by_example    for _ in range(steps): → for n in [*range(len(y))] * steps: ; ((X @ w - y) ** 2).mean() →
      (X[n] @ w - y[n]) ** 2
  You stepped after every single example. Here each step uses the mean gradient of all N examples.
""")


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
    goal="`model` is an nn.Module with dropout. Return its output for x as one measures it: without dropout, and "
    "without a graph (the output needs no gradient). All parts of the model are in one mode, training or evaluation. "
    "Afterwards they must be in that mode again, and nothing else about the model may have changed.",
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


measure.slips("""
no_eval    model.eval() →
  There is no eval() in your answer: dropout stays on, and two evaluations differ.
left_in_eval    model.train(was_training) →
  You left the model in evaluation mode: training goes on without dropout, and nobody notices.
always_train    model.train(was_training) → model.train()
  You always end with train(): a model that was being evaluated has dropout from now on.
graph_kept    with torch.no_grad(): ⏎ y → y
  You kept the graph: without torch.no_grad() each measurement holds all intermediate tensors in memory.
train_in_place_of_eval    model.eval() → model.train()
  no_grad() stores no graph, but it is not eval(): you switched to train(), and dropout is at work.
parameters_frozen    model.eval() → model.eval().requires_grad_(False)
  You switched the parameters' gradients off and left them off: from now on the model learns nothing.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
After ten steps the loss is 0.001. What do you suspect first?
  - The task is easy | Even an easy task takes longer: in notebook 09 the loss was still above 1 after ten steps on
    eight sentences.
  - The learning rate is too high | That makes a loss jump or grow.
  * The input holds the answer | A missing mask or an unshifted target: copying is learnt in a few steps.
Before the loss became NaN, the norm of the gradient grew tenfold in each of three steps. What do you try?
  - bfloat16 in place of float16 | Half precision overflows at once, with ordinary norms before.
  * Clipping, and a smaller rate | The steps are too long, and each makes the next longer.
  - Look for an empty text in the batch | Then the NaN comes at once, with nothing before it.
A run's weights change by 0.01 % a step, and its loss falls slowly. What does the ratio say?
  * The rate is too low, or the weights too large for it | Both make the ratio small.
  - The labels are shuffled | Then the weights move as usual, and the loss stops at the guess.
  - A part of the model is frozen | That shows in the ratio of one part, not in that of all.
An ablation without positions still translates some numbers. What does that show?
  - Positions are not needed for translation at all | Most numbers are wrong without them.
  * Only these: their words fit one order | The bag of words decides them.
  - The causal mask tells the encoder the order | The encoder has no causal mask.
You change one token at the end of the decoder's input. Which logits may change?
  - All of them, through the layers below | Then the mask leaks: earlier positions look ahead.
  * Those of that position | It is the last; nothing earlier may see it.
  - None of them, since it is masked | A position may see itself.
A model without the padding mask translates a test set as well as the right one. What is left to check?
  - Nothing: the test set has decided it | Its batches were padded as in training.
  * Other amounts of padding | With twelve more it loses many translations.
  - A second test set, which is drawn in the same way | It is padded in the same way, too.
Each sentence gets the English of another number, and a translator's loss stays at 0.1. What does that show?
  - It generalises well to numbers that it has not seen | A wrong source is no unseen number: the right model's loss
    jumps to nearly 4.
  * It hardly needs its source | So it finds the answers elsewhere: in the decoder's input.
  - Its encoder is trained | Then it would use the source, and a wrong one would raise the loss.
A model with post-norm, no warm-up and a higher rate trains worse than yours. Which of the three is to blame?
  - Post-norm | Perhaps; but three things have changed.
  - The higher rate, because it makes the steps too long | Perhaps; but three things have changed.
  * Nobody can know yet | Change one at a time. They may even do harm only together.
""")
