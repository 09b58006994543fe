"""Exercises on training."""

import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions
from tx_helpers.text.data import sequence_batch

# --- the shift -------------------------------------------------------------------------------------------------------

shift = Exercise(
    "shifted_pair",
    title="Input and target",
    goal="ids (T,) is a target sentence. Return two rows of ids, both (T + 1,): first what the decoder reads, which is "
    "the sentence with `bos` before it, then what it must predict, which is the sentence with `eos` after it.",
    difficulty=1,
    minutes=5,
    inline=True,
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


shift.slips("""
not_shifted    torch.cat([ids, torch.tensor([eos])]) → torch.cat([torch.tensor([bos]), ids])
  Your targets are not shifted: each position predicts the token that it reads. Copying gives a loss of 0.
shifted_backwards    torch.cat([torch.tensor([bos]), ids]) → torch.cat([ids, torch.tensor([eos])]) ;
      torch.cat([ids, torch.tensor([eos])]) → torch.cat([torch.tensor([bos]), ids])
  You shifted backwards: each position has to predict the token before its own, which it has already read.
shifted_by_two    [ids, torch.tensor([eos])] → [ids[1:], torch.tensor([eos, eos])]
  You shifted by two: each position has to predict the token after the next, without reading the next.
signs_swapped    return shifted_pair(ids, eos, bos)
  You swapped the two: your input starts with `eos`, and your target ends with `bos`.
rolled    [eos] → [bos]
  You rolled the input, so `bos` has moved to the end of the target, where `eos` belongs.
no_end    torch.tensor([eos]) → ids[-1:]
  There is no `eos` in your target: a model trained on it never learns to stop.
""")


# --- a training step -------------------------------------------------------------------------------------------------


class Toy(nn.Module):
    """A tiny translator (source, decoder input) -> logits (B, T, V): enough to see what a step does."""

    def __init__(self, table, read):
        super().__init__()
        self.table, self.read = nn.Parameter(table.clone()), nn.Parameter(read.clone())

    def forward(self, source, decoder_input):
        return self.read[decoder_input] + self.table[source].mean(dim=1, keepdim=True)


def _steps(training_step, V, rate, clip, batches):
    """The losses of a step on each batch, and the weights after all of them; before each step the model is measured."""
    model = Toy(*random_tensors((V, V), (V, V), seed=5))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses, in_training = [], []
    for batch in batches:
        losses.append(training_step(model.eval(), optimizer, batch, clip))
        in_training.append(float(model.training))
    if None in losses:
        raise ValueError("training_step returned None; is a `return` missing?")
    values = [loss.item() if isinstance(loss, torch.Tensor) and loss.numel() == 1 else loss for loss in losses]
    return {
        "losses": values,
        "weights": torch.cat([model.table, model.read]).detach().clone(),
        "losses that still hold their graph": sum(
            isinstance(one, torch.Tensor) and one.requires_grad for one in losses
        ),
        "in training mode": in_training,
    }


def toy_batches():
    """Two batches (source, decoder_input, target): 1 is <bos>, 2 is <eos>, and 0 fills the shorter sentence."""
    return [
        sequence_batch([([3, 4], [4, 3]), ([4], [3])]),
        sequence_batch([([4, 4], [3, 3, 4]), ([3], [4])]),
    ]


step = Exercise(
    "training_step",
    title="One step of training",
    goal="Take one step on a batch. The model may come from a measurement, so set it to training mode first. Clear the "
    "old gradients, because PyTorch adds new ones to them. Compute the logits (B, T, V) of `model(batch.source, "
    "batch.decoder_input)` and their mean cross-entropy with `batch.target`, without the padding (id 0). Compute the "
    "gradients, let `torch.nn.utils.clip_grad_norm_` shorten them to a norm of at most `clip`, and let the optimizer "
    "take its step. Return the loss as a number.",
    difficulty=2,
    minutes=10,
    cases=lambda: [(5, 0.5, 100.0, toy_batches()[:1]), (5, 0.5, 100.0, toy_batches()), (5, 0.5, 0.05, toy_batches())],
    run=_steps,
    tolerance=1e-5,
    inline=True,
    hints=(
        "After model.train() five things: zero, forward (logits and loss), backward, clip, step.",
        "F.cross_entropy wants (N, V) and (N,): flatten both. ignore_index=0 leaves the padding out.",
        "optimizer.zero_grad(); loss = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=0); "
        "loss.backward(); torch.nn.utils.clip_grad_norm_(model.parameters(), clip); optimizer.step(); "
        "return loss.item()",
    ),
)


@step.solution
def training_step(model, optimizer, batch, clip):
    """One step of training on a batch with source, decoder_input and target; returns its loss."""
    model.train()
    optimizer.zero_grad()
    logits = model(batch.source, batch.decoder_input)  # (B, T, V)
    loss = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=0)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()


step.slips("""
gradients_pile_up    optimizer.zero_grad() →
  zero_grad is missing: backward adds the new gradients to those of the step before.
cleared_too_late    optimizer.zero_grad() → ; torch.nn.utils.clip_grad_norm_(model.parameters(), clip) →
      optimizer.zero_grad()
  The weights did not move: either optimizer.step() is missing, or you cleared the gradients before it.
stepped_too_early    optimizer.zero_grad() → ; loss.backward() → optimizer.step() ⏎ optimizer.zero_grad() ⏎
      loss.backward() ; optimizer.step() ⏎ return → return
  You stepped before backward: the optimizer uses the gradients of the batch before.
not_clipped    torch.nn.utils.clip_grad_norm_(model.parameters(), clip) →
  Your gradients are as long as before when the optimizer takes its step: clip_grad_norm_ belongs between backward and
  step.
clipped_number_by_number    clip_grad_norm_ → clip_grad_value_
  You clipped each number by itself, which changes the gradient's direction. clip_grad_norm_ shortens all numbers by the
  same factor.
clipped_tensor_by_tensor    torch.nn.utils.clip_grad_norm_(model.parameters(), clip) →
      for one in model.parameters(): ⏎     torch.nn.utils.clip_grad_norm_([one], clip)
  You clipped each parameter by itself; the norm is that of all together.
always_scaled    torch.nn.utils.clip_grad_norm_(model.parameters(), clip) →
      norm = torch.nn.utils.clip_grad_norm_(model.parameters(), torch.inf) ⏎
      for one in model.parameters(): ⏎     one.grad *= clip / norm
  You scale every gradient to the norm `clip`. A gradient that is shorter than that should stay as it is.
left_in_evaluation    model.train() →
  The model is still in evaluation mode, where dropout does nothing: call model.train() at the beginning.
graph_kept    .item() →
  You returned the loss as a tensor. It holds the whole graph of its computation, so a list of such losses fills the
  memory: return loss.item().
padding_counted    , ignore_index=0 →
  Your loss counts the padding: pass ignore_index=0, or the model mostly learns to write <pad>.
not_shifted    batch.target.flatten() → batch.decoder_input.flatten()
  You compared the logits with batch.decoder_input: each position then predicts the word that it reads.
reads_the_answer    batch.decoder_input → batch.target
  You gave the decoder batch.target to read: that is the answer, one word too early.
softmax_first    model(batch.source, batch.decoder_input) → model(batch.source, batch.decoder_input).softmax(-1)
  You applied softmax before F.cross_entropy, which does so itself. Twice is too flat, so learning is slow.
summed    ignore_index=0 → ignore_index=0, reduction="sum"
  Your loss is the sum over all words, not their mean: with N words the step is N times as long.
means_averaged    F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), ignore_index=0) →
      torch.stack([F.cross_entropy(*pair, ignore_index=0) for pair in zip(logits, batch.target, strict=True)]).mean()
  You averaged the sentences' means: a word of a short sentence counts more.
climbed    loss.backward() → (-loss).backward()
  You walked uphill: backward must start from the loss itself, not from its negative.
""")


# --- label smoothing -------------------------------------------------------------------------------------------------

smooth = Exercise(
    "smoothed_targets",
    title="Slightly less than certain",
    goal="Label smoothing has a second common form. For the targets y (T,), ids below V, return probabilities (T, V): "
    "the right token gets exactly 1 − ε, and all the others share ε evenly. (In the notebook's form the right token "
    "also gets a part of ε.) `eps` is ε.",
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


smooth.slips("""
spread_over_all    (1 - one_hot) * eps / (V - 1) → eps / V
  You spread ε over all V tokens, as in the notebook. Here the right one has 1 − ε and no part of the ε.
divided_by_all_tokens    V - 1 → V
  You divided ε by V, but only V − 1 tokens share it: your rows sum to less than 1.
nothing_taken    - eps →
  Your rows sum to more than 1: you gave ε to the others without taking it from the right one.
epsilon_each    / (V - 1) →
  You gave each of the others the full ε: they have to share it, or the rows sum to more than 1.
one_hot_only    one_hot * (1 - eps) + (1 - one_hot) * eps / (V - 1) → one_hot.float()
  You smoothed nothing: this is the plain one-hot target.
parts_swapped    one_hot * (1 - eps) + (1 - one_hot) * eps → one_hot * eps + (1 - one_hot) * (1 - eps)
  You swapped 1 − ε and ε: the right token gets little, and all the others share the rest.
""")


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
    goal="Write one step of Adam for an embedding table p (V, D). g is its gradient; m and v are the running means of "
    "g and g² that step t − 1 left behind (all (V, D)). t = 1, 2, … is the number of this step, lr the learning rate, "
    "β₁ = 0.9, β₂ = 0.999, ε = 1e-8. A row of g with nothing but zeros belongs to a word that is not in the batch: "
    "leave that row of p, m and v alone. Do a step of Adam in all other rows, even where a single number of g is 0. "
    "Return the new p, m and v, in this order.",
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


adam.slips("""
all_rows_moved    g.ne(0).any(dim=-1, keepdim=True) → torch.tensor(True)
  You moved all rows. Earlier gradients, still in m, push words that the batch did not contain.
means_fade    torch.where(seen, 0.9 * m + 0.1 * g, m) → 0.9 * m + 0.1 * g ;
      torch.where(seen, 0.999 * v + 0.001 * g**2, v) → 0.999 * v + 0.001 * g**2
  You left the unused rows of p alone, but let their m and v fade: when the word occurs again, its means have forgotten
  it.
numbers_left_out    .any(dim=-1, keepdim=True) →
  You left out single numbers whose gradient is 0. A word is a row: if it was used, a 0 in its row is a gradient like
  any other.
rows_by_their_sum    g.ne(0).any(dim=-1, keepdim=True) → g.sum(dim=-1, keepdim=True).ne(0)
  You decided by the sum of a row of g. It can be 0 for a word that was used, as for [1, −1]: use any.
only_full_rows    .any( → .all(
  You left out every row with a 0 in it. One number that is not 0 shows that a word was used: any, not all.
no_correction    m / (1 - 0.9**t), v / (1 - 0.999**t) → m, v
  You did not correct the means for their start at 0. The first m holds a tenth of g and √v a thirtieth: the first step
  is 3 times too long.
corrected_too_late    m_hat, v_hat = → t = t + 1 ⏎ m_hat, v_hat =
  You corrected with 1 − βᵗ⁺¹. t is counted from 1 already, so the first step corrects with 1 − β.
corrected_kept    p), m, v → p), torch.where(seen, m_hat, m), torch.where(seen, v_hat, v)
  You returned the corrected means: they must stay uncorrected, or the next step corrects them again.
means_of_the_step_before    m = torch.where → m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.999**t) ⏎ m = torch.where ;
      m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.999**t) ⏎ return → return
  You stepped with the old m and v: this gradient has no effect until the next step. Update them first.
uphill    p - lr → p + lr
  You stepped uphill: the loss falls against the gradient, so the step has to be subtracted from p.
no_root    .sqrt() →
  The root is missing: you divided by v̂ itself, so small gradients give enormous steps.
epsilon_under_the_root    v_hat.sqrt() + 1e-8 → (v_hat + 1e-8).sqrt()
  Your ε is under the root, where 1e-8 becomes 1e-4: numbers with a small gradient hardly move.
not_squared    g**2 → g
  Your v is a mean of g, not of g²: it can be negative, and then its root is NaN.
betas_swapped    0.9 * m + 0.1 * g → 0.999 * m + 0.001 * g ; 0.999 * v + 0.001 * → 0.9 * v + 0.1 * ;
      0.9**t), v / (1 - 0.999**t) → 0.999**t), v / (1 - 0.9**t)
  You swapped β₁ and β₂: you average the direction over about a thousand steps, and the size over ten.
beta_of_2017    0.999 * v + 0.001 * → 0.98 * v + 0.02 * ; 0.999** → 0.98**
  Your β₂ is 0.98, as in the notebook's own loop and in 2017. In this exercise it is 0.999.
forgets_at_once    0.9 * m + 0.1 * g → 0.1 * m + 0.9 * g ; 0.999 * v + 0.001 * g → 0.001 * v + 0.999 * g
  You swapped β and 1 − β: your means remember a tenth of the past instead of nine tenths.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
A new model with V = 50 tokens. Which loss do you expect before training, if its logits are near 0?
  - 0 | That is a model that is certain and right.
  * ln 50 ≈ 3.9 | Each token has probability 1/50.
  - 50 | The loss is a logarithm of a probability.
Teacher forcing means that in training the decoder reads …
  * the right words so far | So all positions can be trained at once.
  - its own last word | It does so when it writes by itself; in training it reads the true one.
  - the full right sentence, with the next word | The causal mask hides what is ahead.
What is warm-up for?
  - It lets the processor reach its full speed | It concerns the learning rate, not the machine.
  - Without it no Transformer trains | Many do. In notebook 07 a stack of four blocks learns without it, and one of
    twelve needs it.
  * Adam's first steps are unreliable | Its means rest on few gradients, and long steps do damage. So the rate
    starts near 0 and rises.
Why is padding left out of the loss?
  * Filling is easy to predict | More than half of the targets are filling here: the loss would look good, and the
    model would mostly be trained on filling.
  - The loss takes less time without it | The logits at the filling are computed all the same; little is saved.
  - Its gradient would be NaN | <pad> is a token like others; its gradient is an ordinary one.
A translator whose sources were all replaced by <bos> reaches a loss of 1.6. Yours reaches 1.5. What did yours
    learn?
  - Most of the task: ln V was 3.6 | Nearly all of that gain needs no source at all.
  * Hardly more than the target language | The blind twin shows what can be known without the source. Only the last
    0.1 is translation.
  - Nothing | It has learned which words follow each other in the target language, as the blind twin has.
Training loss 0.01, held-out loss 0.8. Which change attacks the cause?
  - Training for more steps | The training loss is as good as 0 already: there is nothing left to learn from these
    pairs.
  * More pairs, or stronger weight decay | Both make learning by heart harder.
  - A learning rate that is ten times larger | It would spoil the training loss, too. The model trains well; it only
    learns the wrong thing.
With label smoothing ε = 0.1, how small can the loss become?
  - 0, as without it | A loss of 0 needs certainty, and the smoothed target is not certain.
  * The entropy of the smoothed target | A model that predicts just that.
  - ln V, the loss of a model that knows nothing | A trained model gets far below that.
""")
