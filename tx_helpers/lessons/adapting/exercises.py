"""Exercises on adapting a pretrained model."""

import math

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- LoRA ------------------------------------------------------------------------------------------------------------

low_rank = Exercise(
    "lora_output",
    inline=True,
    title="LoRA put into a model, step 1 of 2",
    goal="A linear layer has the weight W (F, D), as in nn.Linear, and maps x (…, D) to x Wᵀ. LoRA leaves W as it is "
    "and adds a path of rank r: A (r, D) maps x down to r numbers, B (F, r) maps these up, and the result is "
    "multiplied by alpha/r. Return the sum of both (…, F). The large matrix B A (F, D) need not be built.",
    difficulty=1,
    minutes=6,
    source="Hu et al. 2022, section 4.1",
    formula=r"h = W x + \frac{\alpha}{r}\, B A x",
    cases=lambda: [
        (
            torch.tensor([[1.0, 2.0]]),
            torch.tensor([[1.0, 0.0], [0.0, 3.0]]),
            torch.tensor([[1.0, 1.0]]),
            torch.tensor([[2.0], [1.0]]),
            4.0,
        ),
        (*random_tensors((5, 6), (6, 6), (3, 6), (6, 3), seed=21), 8.0),
        (*random_tensors((2, 3, 8), (6, 8), (2, 8), (6, 2), seed=22), 1.0),
    ],
    hints=(
        "Two paths from the same x: one through W, one through A and then B. They are added at the end.",
        "r is the number of rows of A. x @ A.T has the shape (…, r).",
        "x @ W.T + alpha / len(A) * (x @ A.T @ B.T)",
    ),
)


@low_rank.solution
def lora_output(x, W, A, B, alpha):
    """Output (…, F) of a linear layer W (F, D) with LoRA's A (r, D) and B (F, r), for x (…, D)."""
    down = x @ A.T  # (…, r)
    up = down @ B.T  # (…, F)
    return x @ W.T + alpha / len(A) * up


low_rank.slips("""
not_scaled    alpha / len(A) * up → up
  The factor alpha/r is missing: without it the size of the update changes with the rank that you choose.
not_divided_by_the_rank    / len(A) →
  You multiplied by alpha and did not divide by r, the number of rows of A.
times_the_rank    / len(A) → * len(A)
  You multiplied by r in place of dividing by it: the factor is alpha/r.
scale_upside_down    alpha / len(A) → len(A) / alpha
  Your factor is upside down, r/alpha. A larger alpha makes the update larger.
rows_of_B_for_the_rank    len(A) → len(B)
  You divided by F, the rows of B. The rank r is the number of rows of A, or of columns of B.
divided_by_the_width    len(A) → A.shape[1]
  You divided by D, the width of x. The rank r is the number of rows of A.
divided_by_the_root    len(A) → len(A) ** 0.5
  You divided by √r. That is rank-stabilised LoRA, a later proposal (2023); here the factor is alpha/r.
everything_scaled    x @ W.T + alpha / len(A) * up → alpha / len(A) * (x @ W.T + up)
  You multiplied the frozen path by alpha/r, too. Only the path through A and B gets the factor.
update_alone    return alpha / len(A) * (x @ A.T @ B.T)
  You returned the path through A and B alone. The frozen layer is still needed: it knows nearly all.
frozen_alone    return x @ W.T
  You returned the output of the frozen layer alone: A and B have no influence, and would never learn.
subtracted    + alpha → - alpha
  You subtracted the path through A and B. It is added.
""")


def _examined(layers, F_, D, rank, alpha):
    """The layer at its start, with A and B moved, and merged twice; it must learn, and merging must not change it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        linear, x = torch.nn.Linear(D, F_, bias=False), torch.randn(2, 3, D)  # drawn before the layer draws its A
        layer, W = layers(linear, rank, alpha), linear.weight.detach().clone()
    for name, shape in (("A", [rank, D]), ("B", [F_, rank])):
        if list(getattr(layer, name).shape) != shape:
            raise ValueError(f"{name} has the shape {list(getattr(layer, name).shape)}, expected {shape}")
    found = {
        "before training, the same as the frozen layer": int(torch.allclose(layer(x).detach(), x @ W.T, atol=1e-5)),
        "rank of A": int(torch.linalg.matrix_rank(layer.A.detach())),
        "gradients of A and B that are not zero, at first": _reached(layer, x),
        "W is frozen": int(not linear.weight.requires_grad),
        "number of trained matrices": sum(one.requires_grad for one in layer.parameters()),
    }
    with torch.no_grad():
        layer.A.copy_(torch.arange(rank * D).view(rank, D) / (rank * D))
        layer.B.copy_(torch.arange(F_ * rank).view(F_, rank).cos())
    return found | {
        "output": layer(x).detach(),
        "gradients of A and B that are not zero, later": _reached(layer, x),
        "merged": layer.merged().detach().clone(),
        "merged, asked a second time": layer.merged().detach().clone(),
    }


def _reached(layer, x):
    """[1, 1] where the outputs' gradient of A and that of B are not zero."""
    loss, narrow = layer(x).square().sum(), [layer.A, layer.B]
    if not loss.requires_grad or not all(one.requires_grad for one in narrow):
        return [0, 0]
    found = torch.autograd.grad(loss, narrow, allow_unused=True)
    return [int(one is not None and one.abs().sum().item() > 0) for one in found]


layer = Exercise(
    "LoRALayer",
    inline=True,
    title="LoRA put into a model, step 2 of 2",
    goal="Write the module LoRALayer(linear, rank, alpha), which takes the place of a torch.nn.Linear (D to F, without "
    "bias). It keeps `linear` and freezes its weight. self.A (rank, D) is a parameter of small random numbers, self.B "
    "(F, rank) one of zeros, so at first nothing is changed. forward(x) does what your lora_output does. merged() "
    "returns the matrix (F, D) that alone does the same: W + (alpha/rank) B A.",
    difficulty=2,
    minutes=10,
    cases=lambda: [(3, 2, 1, 2.0), (5, 6, 2, 8.0)],
    run=_examined,
    hints=(
        "Freeze with linear.requires_grad_(False). What the optimizer must find is a torch.nn.Parameter.",
        "torch.nn.Parameter(0.1 * torch.randn(rank, linear.in_features)), and zeros (linear.out_features, rank) for B.",
        "forward: self.linear(x) + self.scale * (x @ self.A.T @ self.B.T), with self.scale = alpha / rank",
    ),
)


@layer.solution
class LoRALayer(torch.nn.Module):
    """A frozen linear layer with LoRA beside it: A (rank, D) and B (F, rank) are trained."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.A = torch.nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.B = torch.nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        """(…, D) -> (…, F)"""
        return self.linear(x) + self.scale * (x @ self.A.T @ self.B.T)

    def merged(self):
        """The one matrix (F, D) that does the same."""
        return self.linear.weight + self.scale * (self.B @ self.A)


layer.slips("""
BothRandom    torch.zeros → torch.ones
  B is not zero at first: the pretrained layer is disturbed before training has begun.
BothZero    torch.randn → torch.zeros
  A and B are both zero: then the gradient of each is zero, too, and nothing ever learns.
StartsExchanged    torch.randn → torch.zeros ; torch.zeros → torch.randn
  A is zero and B random, the mirror of the usual start. It learns, too, but here B is to be the zero one.
RowsAlike    torch.randn → torch.ones
  All rows of A are alike: they get the same gradient, stay alike, and the rank is 1 for ever. Draw them.
Deaf    self.A.T @ self.B.T → self.A.detach().T @ self.B.detach().T
  No gradient reaches A and B, by no_grad or detach: the layer computes the right output and never learns.
ScaleTrained    alpha / rank → torch.nn.Parameter(torch.tensor(alpha / rank))
  More than A and B is trained, such as the scale. alpha/rank is a plain number, not a Parameter.
MergedInPlace    return self.linear.weight + self.scale * (self.B @ self.A) →
      self.linear.weight.data += self.scale * (self.B @ self.A).detach() ⏎ return self.linear.weight
  merged() changes the frozen W itself: asked a second time, it adds the update again. Return a new matrix.
NotFrozen    .requires_grad_(False) →
  W is not frozen: the optimizer will train the large matrix, too, and LoRA saves nothing.
PlainTensors    torch.nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)) →
      torch.randn(rank, linear.in_features) ; torch.nn.Parameter(torch.zeros(linear.out_features, rank)) →
      torch.zeros(linear.out_features, rank)
  A and B are plain tensors, so the optimizer does not find them: make each a torch.nn.Parameter.
NotScaled    self.linear(x) + self.scale * → self.linear(x) +
  The factor alpha/rank is missing in forward: the merged matrix and the layer then disagree.
MergedNotScaled    self.linear.weight + self.scale * → self.linear.weight +
  Your merged matrix lacks the factor alpha/rank: it is not what forward computes.
MergedUpdate    self.linear.weight + →
  Your merged matrix is the update alone. W, the frozen part, belongs to it.
""")


# --- chats -----------------------------------------------------------------------------------------------------------

CHAT = [1, 7, 20, 21, 22, 8, 30, 31, 9, 7, 23, 8, 32, 9]  # 7 user, 8 assistant, 9 end

turns = Exercise(
    "chat_labels",
    inline=True,
    title="Learn from the assistant alone",
    goal="`ids` is a chat as a list of T tokens: the token `assistant` opens an answer, the token `end` closes it, and "
    "everything else belongs to the user. The model reads T − 1 of them and is to predict, at each place, the token "
    "that follows. Return the list of T − 1 targets: the next token if it belongs to an answer, and −100 if not. The "
    "closing `end` belongs to the answer, `assistant` does not. For example, the chat 7 20 8 30 9, where 8 is "
    "`assistant` and 9 is `end`, gives −100, −100, 30, 9.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        ([7, 20, 8, 30, 9], 8, 9),
        (CHAT, 8, 9),
        ([1, 7, 40, 41, 8, 50, 9, 7, 42, 8, 51, 52, 53, 9, 7, 43, 44, 45, 8, 54], 8, 9),  # ends within an answer
    ],
    hints=(
        "Walk through all pairs of neighbours, and remember whether the assistant is speaking.",
        "It begins to speak after the token `assistant`, and stops after the token `end`.",
        "for now, following in zip(ids, ids[1:]): if now == assistant: speaks = True; if now == end: speaks = False",
    ),
)


@turns.solution
def chat_labels(ids, assistant, end):
    """Targets, a list of T − 1: the token that follows where the assistant writes it, else −100; ids, a list of T."""
    targets, speaks = [], False
    for place, now in enumerate(ids[:-1]):
        if now in (assistant, end):
            speaks = now == assistant
        targets.append(ids[place + 1] if speaks else -100)
    return targets


turns.slips("""
everything_scored    return ids[1:]
  You scored every token: the model would learn to write the user's questions, too.
user_scored    if speaks → if not speaks
  Your labels are inside out: −100 stands at the answers, and the user's words are scored.
not_shifted    if now in → targets.append(now if speaks else -100) ⏎ if now in ;
      targets.append(ids[place + 1] if speaks else -100) →
  Your labels are not shifted: at each place stands the token that the model reads there. It can copy it and learns
  nothing.
end_left_out    if speaks → if speaks and ids[place + 1] != end
  You left out the closing `end`. Then nothing teaches the model to stop, and it goes on writing.
sign_scored    if speaks → if speaks or ids[place + 1] == assistant
  You scored `assistant`, too. The template writes this token, not the model: it would learn when the user has finished.
switched_a_token_too_early    enumerate(ids[:-1]) → enumerate(ids[1:]) ; ids[place + 1] → now
  You switched before you wrote the label: `assistant` is scored, and the closing `end` is not. Both the wrong way
  round: the model never writes `assistant`, and has to learn to write `end`.
sign_for_the_first_word    if now in → targets.append(ids[place + 1] if speaks else -100) ⏎ if now in ;
      speaks = now == assistant ⏎ targets.append(ids[place + 1] if speaks else -100) → speaks = now == assistant
  Your answers begin and end one token early: you asked whether the model reads a token of an answer. What counts is the
  token that follows.
never_switched_off    if now in (assistant, end): → if now == assistant: ; if speaks →
      if speaks and ids[place + 1] != assistant
  Once the assistant has begun you score everything: after `end` the user speaks again.
zero_for_ignored    -100 → 0
  You wrote 0 where nothing is scored. 0 is a token, and the model would learn to write it; cross_entropy leaves out
  −100.
first_answer_alone    in (assistant, end): → in (assistant, end) and end not in ids[:place]:
  You scored only the first answer. In a chat of several turns every answer teaches; `speaks` has to be switched on
  again.
last_answer_alone    if speaks → if speaks and assistant not in ids[place + 1 :]
  You scored only the last answer. The earlier ones are answers of the assistant as well, and would be wasted.
""")


# --- preferences -----------------------------------------------------------------------------------------------------


def _chats():
    """Logits (B, T, V) of a model and of its copy, and targets (B, T): by hand, random, with far too sure a model."""
    sure = torch.tensor([[[300.0, 0.0, 0.0], [0.0, 250.0, 10.0]]])
    targets = torch.tensor([[-100, -100, 3, 0, 2], [-100, 4, 1, -100, -100], [5, 0, 0, 2, 1]])
    own, theirs = random_tensors((3, 5, 6), (3, 5, 6), seed=43)
    half = torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]]).log()
    return [
        (half, torch.tensor([[[0.2, 0.4, 0.4], [0.4, 0.2, 0.4]]]).log(), torch.tensor([[-100, 1]])),
        (3 * own, 2 * theirs, targets),
        (sure, sure.flip(-1) / 10, torch.tensor([[0, 2]])),
    ]


likelihood = Exercise(
    "answer_log_p",
    inline=True,
    title="Learn from preferences, step 1 of 2",
    goal="How probable does a model find a whole answer? It read B chats and gave logits (B, T, V). `targets` (B, T) "
    "are those of your chat_labels: the token that follows where the assistant writes it, and −100 elsewhere. Return "
    "ln p of each chat's answer (B,), a sum over its tokens. Logits can be large: no probability may be rounded to 0 "
    "before you take its logarithm.",
    difficulty=2,
    minutes=8,
    source="Bengio et al. 2003, section 1",
    formula=r"\ln p(y) = \sum_t \ln p(y_t \mid y_{<t})",
    cases=lambda: [(logits, targets) for logits, _, targets in _chats()],
    hints=(
        "log_softmax(-1) gives the logarithms of all tokens' probabilities. Take out those of the targets.",
        "−100 is no place in a vector: clamp the targets to 0 before you gather, and set those terms to 0 afterwards.",
        "logs.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1) * (targets != -100), summed over T",
    ),
)


@likelihood.solution
def answer_log_p(logits, targets):
    """ln p (B,) of each answer: logits (B, T, V), targets (B, T) with −100 where no answer is written."""
    logs = logits.log_softmax(-1)  # (B, T, V)
    chosen = logs.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)  # (B, T)
    return (chosen * (targets != -100)).sum(-1)


likelihood.slips("""
mean_of_the_tokens    .sum(-1) → .sum(-1) / (targets != -100).sum(-1)
  You took the mean of the answer's tokens. DPO compares whole answers, and ln p of a whole is the sum.
all_places_counted    (chosen * (targets != -100)) → chosen
  You counted the places with −100, too, as if token 0 were asked for. They belong to the user.
loss_for_log    return (chosen → return -(chosen
  You returned the loss, −ln p. A probable answer has a high ln p, near 0.
no_softmax    .log_softmax(-1) →
  You added up logits. Only after log_softmax are they logarithms of probabilities.
probabilities_added    log_softmax → softmax
  You added up the probabilities of the answer's tokens. Add their logarithms.
likeliest_token    return (logits.log_softmax(-1).amax(-1) * (targets != -100)).sum(-1)
  You took the likeliest token at each place. What counts is the token that the answer has there.
softmax_then_log    .log_softmax(-1) → .softmax(-1).log()
  You took the softmax and then its logarithm: a small probability is rounded to 0, and ln 0 is −∞. Use log_softmax,
  which takes both at once.
bits_for_nats    .sum(-1) → .sum(-1) / math.log(2)
  You took logarithms to the base 2. ln is the natural one: torch.log, or log_softmax.
softmax_over_the_places    log_softmax(-1) → log_softmax(1)
  Your softmax goes over the places T. At each place the probabilities of all V tokens sum to 1: dim −1.
""")


preference = Exercise(
    "dpo_loss",
    inline=True,
    title="Learn from preferences, step 2 of 2",
    goal="Of two answers to a prompt, people like one better. For B such pairs you have ln p of each whole answer, "
    "as in step 1: `better` and `worse` (B,) from the model that is trained, `reference_better` and "
    "`reference_worse` (B,) from a frozen copy of it as it was before. Return the DPO loss, the mean over the pairs. "
    "In the formula y⁺ is the better answer, y⁻ the worse one, σ the sigmoid, π the model and π₀ the copy. "
    "Differences can be large: ln σ(−200) is −200, not −∞.",
    difficulty=2,
    minutes=10,
    source="Rafailov et al. 2023, equation 7",
    formula=r"-\frac{1}{B}\sum_b \ln\sigma\Bigl(\beta\ln\frac{\pi(y^+_b)}{\pi_0(y^+_b)}"
    r"-\beta\ln\frac{\pi(y^-_b)}{\pi_0(y^-_b)}\Bigr)",
    cases=lambda: [
        (torch.tensor([-3.0]), torch.tensor([-5.0]), torch.tensor([-4.0]), torch.tensor([-4.5]), 0.5),
        (*(12 * part - 40 for part in random_tensors((6,), (6,), (6,), (6,), seed=41)), 0.1),
        (
            torch.tensor([-900.0, -20.0]),
            torch.tensor([-10.0, -21.0]),
            torch.tensor([-30.0, -19.0]),
            torch.tensor([-50.0, -25.0]),
            0.3,
        ),
    ],
    hints=(
        "ln of a quotient is a difference, and you have the logarithms already: how far did each answer move?",
        "moved = (better − reference_better) − (worse − reference_worse). The loss is −ln σ(beta · moved), on average.",
        "-torch.nn.functional.logsigmoid(beta * moved).mean(), which stays finite where a sigmoid is rounded to 0",
    ),
)


@preference.solution
def dpo_loss(better, worse, reference_better, reference_worse, beta):
    """DPO's loss, a number, of B pairs: ln p (B,) of each answer under the model and under its frozen copy."""
    gained = better - reference_better  # what the model gave to the better answers, in nats
    lost = worse - reference_worse
    return torch.nn.functional.softplus(-beta * (gained - lost)).mean()  # softplus(−z) = −ln σ(z)


preference.slips("""
no_reference    better - reference_better → better ; worse - reference_worse → worse
  You left out the frozen copy. The loss would then reward a model for what it preferred from the start, and nothing
  would keep it near the copy.
answers_exchanged    gained - lost → lost - gained
  You exchanged the answers: your loss falls when the model prefers what people like less.
reference_sign    better - reference_better → better + reference_better ; worse - reference_worse →
      worse + reference_worse
  The copy has the wrong sign: yours adds what the copy prefers. What counts is how far the model has moved away from
  it.
no_beta    -beta * (gained - lost) → lost - gained
  beta is missing. The larger it is, the nearer the model stays to its frozen copy.
beta_once    -beta * (gained - lost) → lost - beta * gained
  You multiplied only the better answer's difference by beta. It stands in front of both logarithms.
beta_in_front    return torch → return beta * torch ; -beta * (gained - lost) → lost - gained
  Your beta stands in front of the loss. Inside σ it decides how soon a pair counts as learned.
divided_by_beta    -beta * (gained - lost) → (lost - gained) / beta
  You divided by beta, as with a temperature. Here the difference is multiplied by it.
underflow    torch.nn.functional.softplus(-beta * (gained - lost)) → -torch.sigmoid(beta * (gained - lost)).log()
  You took the logarithm of a sigmoid, which is 0 for large negative numbers, so ln is −∞. Use logsigmoid.
sigmoid_alone    torch.nn.functional.softplus(-beta → torch.sigmoid(beta
  The logarithm is missing: you returned the mean of σ. The loss is −ln σ, which is large where the model is wrong.
sign_forgotten    return torch → return -torch
  The minus is missing: ln σ is negative, and training would make it smaller and smaller.
sum_for_mean    .mean() → .sum()
  You added up the pairs. The loss is their mean, or a larger batch would take larger steps.
mean_inside    (gained - lost)).mean() → (gained - lost).mean())
  You averaged the differences and took one σ then. Each pair has its own: one that is learned must not pay for one that
  is not.
""")


divergence = Exercise(
    "drift_in_nats",
    title="How far from the copy?",
    goal="The second chart of the explorer measures how far a model has moved. Of B chats you have its logits (B, T, "
    "V), those of the frozen copy, `reference` (B, T, V), and `targets` (B, T), which are −100 where no answer is "
    "written. At each place the distance is KL(π ‖ π₀) of the next token: all V tokens count, each as often as the "
    "model now writes it. Return the sum over the places of the answer, for each chat (B,).",
    difficulty=2,
    minutes=8,
    source="Rafailov et al. 2023, equation 3",
    formula=r"\sum_t \sum_v \pi_t(v)\,\bigl(\ln\pi_t(v)-\ln\pi_{0,t}(v)\bigr)",
    cases=_chats,
    hints=(
        "Begin with both logarithms: logits.log_softmax(-1) and reference.log_softmax(-1).",
        "π is the exp of the first. Multiply it by the difference of both, and sum over V.",
        "(log_p.exp() * (log_p - log_q)).sum(-1) is (B, T). Keep the places whose target is not −100, and sum over T.",
    ),
)


@divergence.solution
def drift_in_nats(logits, reference, targets):
    """KL(π ‖ π₀) of each chat's answer (B,), in nats: two logits (B, T, V), targets (B, T)."""
    log_p = logits.log_softmax(-1)
    log_q = reference.log_softmax(-1)
    apart = (log_p.exp() * (log_p - log_q)).sum(-1)  # (B, T)
    return (apart * (targets != -100)).sum(-1)


divergence.slips("""
copy_in_front    log_p.exp() * (log_p - log_q) → log_q.exp() * (log_q - log_p)
  You took KL(π₀ ‖ π): each token weighted by how often the copy writes it. Here the trained model writes.
all_places_counted    (apart * (targets != -100)) → apart
  You counted the places of the user, too. Only the answer is written by the model.
written_token_alone    (log_p.exp() * (log_p - log_q)).sum(-1) →
      (log_p - log_q).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
  You compared only the token that stands in the answer. KL counts all V tokens at each place.
cross_entropy    (log_p.exp() * (log_p - log_q)) → -(log_p.exp() * log_q)
  You left out the model's own ln π: that is the cross-entropy, and not 0 where both models agree.
no_weights    log_p.exp() * (log_p - log_q) → log_p - log_q
  You added up the differences of all tokens alike. Each is weighted by π, its probability now.
sign_turned    log_p - log_q → log_q - log_p
  Your difference is turned round. A distance is never negative: ln π − ln π₀.
softmax_then_log    logits.log_softmax(-1) → logits.softmax(-1).log() ; reference.log_softmax(-1) →
      reference.softmax(-1).log()
  You took the softmax and then its logarithm: a small probability is rounded to 0, and 0 · ln 0 is NaN. Use log_softmax
  for both models.
bits_for_nats    (apart * → (apart / math.log(2) *
  You took logarithms to the base 2: that is the distance in bits. Nats come of the natural logarithm.
mean_of_the_places    return drift_in_nats(logits, reference, targets) / (targets != -100).sum(-1)
  You took the mean over the answer's tokens. The distance of a whole answer is the sum.
no_softmax    (log_p - log_q) → (logits - reference)
  Your difference is that of the logits. They are no logarithms of probabilities before log_softmax.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
After training, a LoRA update is merged into its matrix. What does the merged model cost when it runs?
  * As much as before | W + (α/r) B A has the shape of W.
  - A little more, for the path through A and B | That path is gone: it is inside the matrix.
  - Less, since B A has a low rank | The sum with W has full rank again.
You have 30 labelled texts, and many without labels. Which is the most promising start?
  - A small model, trained on the 30 texts from scratch | It would learn the language from 30 texts.
  * A model pretrained on the texts without labels | What is left to learn is small.
  - A larger model, trained on the 30 texts for longer | It learns these 30 by heart.
A model was tuned on chats in which the closing sign was never scored. What does it do?
  * It answers, and does not stop | Nothing taught it where an answer ends.
  - It refuses to answer | Its answers were scored, so it writes them.
  - It forgets what it learned in pretraining | That depends on the tuning, not on this sign.
At the first step of DPO the model equals its frozen copy. What is the loss?
  - 0, since nothing has moved yet | A difference of 0 gives σ(0) = 1/2, not 1.
  * ln 2 ≈ 0.69 | −ln σ(0), whatever the answers are.
  - It depends on how probable the answers are | Those terms cancel: both models give the same.
A chat model learns a new task on new examples alone. What is the cheapest way to keep what it could do?
  * Put a few old examples into each batch | In our runs one in ten kept most of it.
  - Use LoRA, which leaves the large matrices alone | The product changes each layer, too.
  - Stop after a few steps | The old task is lost sooner than the new one is learned.
During DPO the loss falls. What do you know about the probability of the better answers?
  - It rises | The loss sees only the difference of both answers.
  * Nothing yet: it may fall, if that of the worse ones falls more | So measure both.
  - It stays, because the frozen copy holds it | The copy is only compared with.
""")
