"""A whole GRPO update in three exercises that stand inside the notebook: advantages, ln p, the loss."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- a whole GRPO update ---------------------------------------------------------------------------------------------

REWARDS = ([1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0])

comparing = Exercise(
    "group_advantages_step",
    inline=True,
    title="A whole GRPO update, step 1 of 3",
    goal="The model has written G answers to each of P problems, and `rewards` (P, G) says what each is worth. How "
    "much "
    "better than its own group is each answer? Return the advantages (P, G): subtract the group's mean, and divide by "
    "the group's standard deviation plus 0.0001. Take the deviation as torch computes it, with G − 1. A group whose "
    "rewards are all equal gets zeros.",
    difficulty=1,
    minutes=5,
    source="Shao et al. 2024, section 4.1.2",
    formula=r"A_{pg} = \frac{r_{pg} - \bar r_p}{s_p + 10^{-4}}",
    tolerance=2e-3,
    cases=lambda: [
        (torch.tensor([[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]),),
        (torch.tensor(REWARDS),),
        (torch.tensor([[3.0, 1.0, -2.0], [0.5, 0.5, 0.5], [10.0, 20.0, 30.0], [0.0, 0.25, 1.0]]),),
        (torch.tensor([[0.2] + [0.0] * 7, [0.0] * 6 + [0.2, 0.2]]),),
    ],
    hints=(
        "Each row is a group: mean and deviation are taken along dim=1, and keepdim=True keeps the shapes together.",
        "rewards.mean(1, keepdim=True) is (P, 1), and so is rewards.std(1, keepdim=True).",
        "(rewards - mean) / (deviation + 1e-4)",
    ),
)


@comparing.solution
def group_advantages_step(rewards):
    """Advantages (P, G) of G answers to each of P problems with these rewards (P, G)."""
    centred = rewards - rewards.mean(dim=1, keepdim=True)
    return centred / (rewards.std(dim=1, keepdim=True) + 1e-4)


comparing.slips("""
wrong_axis    return _centred(rewards, 0) / (rewards.std(dim=0, keepdim=True) + 1e-4)
  You compared answers to different problems: mean and deviation go along dim=0. Then an answer to an easy problem looks
  good whatever it says.
one_mean_for_all    return (rewards - rewards.mean()) / (rewards.std() + 1e-4)
  You took one mean and one deviation of all answers together. A group is compared with itself alone.
deviation_of_all    std(dim=1, keepdim=True) → std()
  Your mean is each group's own, but the deviation is that of all answers together.
no_mean    rewards.mean → 0 * rewards.mean
  You did not subtract the mean: no answer would ever be pushed down.
not_divided    = _centred
  You did not divide by the deviation. (Dr. GRPO leaves it out on purpose; this step asks for it.)
by_the_variance    std → var
  You divided by the variance. The deviation is its root.
divided_by_all    std(dim=1, keepdim=True) → std(dim=1, keepdim=True, correction=0)
  Your deviation divides by G, not by G − 1: you said correction=0, or unbiased=False.
zero_by_zero    return _centred(rewards) / rewards.std(dim=1, keepdim=True)
  In a group of equal rewards you divide 0 by 0, and one NaN spoils the whole update. Add 0.0001 to the deviation.
under_the_root    return _centred(rewards) / (rewards.var(dim=1, keepdim=True) + 1e-4).sqrt()
  You added 0.0001 to the variance, under the root. It is added to the deviation: where rewards differ little, that is
  another number.
against_the_best    mean → amax
  You compared with the group's best answer. Then no advantage is above 0, and good answers get no push.
only_the_good    return _centred(rewards).clamp(min=0) / (rewards.std(dim=1, keepdim=True) + 1e-4)
  You set what is below the mean to 0. Bad answers have to be pushed down, too.
minus    return → return -
  Your signs are turned round: answers above the mean of their group need a positive advantage.
""")


def _centred(rewards, dim=1):
    return rewards - rewards.mean(dim=dim, keepdim=True)


ROWS = torch.tensor([[4, 1, 5, 2, 3, 0], [2, 2, 1, 5, 4, 3], [3, 5, 4, 1, 2, 3]])
WRITTEN = torch.tensor([[0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]).bool()

reading = Exercise(
    "answer_log_probs_step",
    inline=True,
    title="A whole GRPO update, step 2 of 3",
    goal="`ids` (N, T) are prompts with an answer behind each, and `answer` (N, T) is True where the model wrote the "
    "token, its end included. The model has read `ids` and given `logits` (N, T, V): those at place t are about the "
    "token at t + 1. Return ln p of every token that the model wrote, at the place that predicts it, and 0 everywhere "
    "else: (N, T − 1).",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (random_tensors((1, 4, 5), seed=63)[0], torch.tensor([[3, 4, 1, 2]]), torch.tensor([[0, 0, 1, 1]]).bool()),
        (2 * random_tensors((3, 6, 6), seed=64)[0], ROWS, WRITTEN),
        (3 * random_tensors((3, 6, 9), seed=65)[0], ROWS + 3, WRITTEN),
        (120 * random_tensors((3, 6, 9), seed=65)[0], ROWS + 3, WRITTEN),
    ],
    hints=(
        "The last logits predict a token that is not there, and nothing predicts the first token: drop one of each.",
        "log_softmax over the vocabulary, then gather along dim=-1 with ids[:, 1:, None].",
        "The token at t + 1 counts if answer[:, 1:] says so: masked_fill(~answer[:, 1:], 0.0).",
    ),
)


@reading.solution
def answer_log_probs_step(logits, ids, answer):
    """ln p (N, T − 1) of the tokens that the model wrote, else 0; logits (N, T, V), ids and answer (N, T)."""
    log_p = logits[:, :-1].log_softmax(dim=-1)
    of_next = log_p.gather(-1, ids[:, 1:, None]).squeeze(-1)
    return of_next * answer[:, 1:]


reading.slips("""
prompt_scored    * answer[:, 1:] →
  You kept ln p of the prompt's tokens. The model did not write them: they would be pushed for nothing.
end_left_out    return _read(logits[:, :-1], ids[:, 1:], _without_the_end(answer))
  The last token of each answer is missing. Without the end the model never learns when to stop.
mask_not_shifted    return _read(logits[:, :-1], ids[:, 1:], answer[:, :-1])
  Your mask is not shifted: it drops the first token of each answer and takes in what follows its end. Place t is about
  the token at t + 1, so use answer[:, 1:].
not_shifted    return _read(logits[:, 1:], ids[:, 1:], answer[:, 1:])
  You asked each place about the token that it has just read. The logits at t are about the token at t + 1.
shifted_back    return _read(logits[:, 1:], ids[:, :-1], answer[:, 1:])
  You shifted the wrong way: later logits are asked about an earlier token, which they have already seen.
probabilities    gather → exp().gather
  You returned p. The gradient that we need is that of ln p.
softmax_then_log    return logits[:, :-1].softmax(-1).log().gather(-1, ids[:, 1:, None])[..., 0] * answer[:, 1:]
  You took the logarithm of softmax. Where p is too small for its number format, ln p becomes −∞, and −∞ · 0 is NaN. Use
  log_softmax.
raw_logits    return logits[:, :-1].gather(-1, ids[:, 1:, None])[..., 0] * answer[:, 1:]
  You took the logits as they are. A logit says little alone: ln p needs log_softmax over the vocabulary.
softmax_over_places    dim=-1 → dim=1
  Your softmax runs over the places of the text, dim=1. It has to run over the vocabulary, dim=-1.
minus_ln_p    return → return -
  You returned −ln p, the cross-entropy. The minus comes later, with the loss.
infinite    * answer → / answer
  You put −∞ where nothing was written, as in a mask of attention. Here these places are added up: put 0.
""")


def _read(logits, ids, written, dim=-1):
    """ln p of ids (N, T − 1) in logits (N, T − 1, V), where `written` (N, T − 1)."""
    return logits.log_softmax(dim).gather(-1, ids[..., None])[..., 0].masked_fill(~written, 0.0)


def _without_the_end(answer):
    follows = torch.cat([answer[:, 1:], torch.zeros_like(answer[:, :1])], dim=1)
    return (answer & follows)[:, 1:]


def _answers(seed):
    """ln p of the rows above, as step 2 gives it, their advantages, and who wrote what."""
    log_p, advantages = random_tensors((3, 5), (3,), seed=seed)
    return -log_p.abs() * WRITTEN[:, 1:], advantages, WRITTEN


losing = Exercise(
    "policy_loss_step",
    inline=True,
    title="A whole GRPO update, step 3 of 3",
    goal="Step 2 gave `log_p` (N, T − 1), which is 0 where the model wrote nothing. Step 1 gave an advantage for each "
    "answer, here `advantages` (N,). `answer` (N, T) is as before. Return the loss, a number: −A · ln p, averaged over "
    "all tokens that the model wrote, those of all answers together. `loss.backward()` and a step of the optimizer "
    "then complete the update.",
    difficulty=2,
    minutes=6,
    source="Shao et al. 2024, equation 3 with the ratio at 1; averaged over tokens as in Yu et al. 2025",
    formula=r"L = -\frac{\sum_{n,t} A_n \ln p_{nt}}{\text{number of written tokens}}",
    cases=lambda: [
        (
            torch.tensor([[0.0, -1.0, -2.0], [0.0, 0.0, -3.0]]),
            torch.tensor([1.0, -0.5]),
            torch.tensor([[0, 0, 1, 1], [0, 0, 0, 1]]).bool(),
        ),
        (
            torch.tensor([[0.0, 0.0, -2.0], [0.0, -1.0, 0.0]]),
            torch.tensor([1.0, -0.5]),
            torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1]]).bool(),
        ),
        _answers(66),
        _answers(67),
    ],
    hints=(
        "Every token of an answer gets the advantage of its answer: advantages[:, None] is (N, 1).",
        "The sum can run over all places, since log_p is 0 outside the answers. The number of tokens cannot.",
        "-(advantages[:, None] * log_p).sum() / answer[:, 1:].sum()",
    ),
)


@losing.solution
def policy_loss_step(log_p, advantages, answer):
    """Loss, a number, of answers with ln p (N, T − 1) and advantages (N,); answer (N, T): what the model wrote."""
    push = advantages[:, None] * log_p
    return -push.sum() / answer[:, 1:].sum()


losing.slips("""
minus_forgotten    return -_loss(log_p, advantages, answer)
  The minus is missing: the optimizer makes the loss smaller, so yours makes good answers rarer.
mean_of_all_places    return -(advantages[:, None] * log_p).mean()
  You divided by all places, the prompt's and the padding's among them. Then the step shrinks as prompts grow.
answer_by_answer    return -(advantages * log_p.sum(1) / answer[:, 1:].sum(1)).mean()
  You averaged each answer first, then the answers. That is GRPO's first form, in which a token of a long answer counts
  less; here all tokens count alike.
zeros_not_counted    return -(advantages[:, None] * log_p).sum() / (log_p != 0).sum()
  You counted the places where ln p is not 0. A token of which the model is certain has ln p = 0, and was written, too:
  count answer[:, 1:].
sum    return -(advantages[:, None] * log_p).sum()
  You did not divide: the step would grow with the number of tokens.
by_the_answers    return -(advantages[:, None] * log_p).sum() / len(log_p)
  You divided by the number of answers. That is asked for in Dr. GRPO, up to a constant; here divide by the number of
  tokens.
no_advantage    return -log_p.sum() / answer[:, 1:].sum()
  The advantages are missing: this is ordinary training, and makes every answer likelier, the bad ones too.
probabilities_pushed    return -(advantages[:, None] * log_p.exp() * answer[:, 1:]).sum() / answer[:, 1:].sum()
  You pushed p, not ln p. Tokens that are rare would hardly learn anything.
good_ones_alone    return _loss(log_p, advantages.clamp(min=0), answer)
  You kept positive advantages alone: the loss of filtered fine-tuning. Here bad answers are pushed down.
size_of_the_advantage    return _loss(log_p, advantages.abs(), answer)
  You took the size of the advantage without its sign, so bad answers become likelier as well.
""")


def _loss(log_p, advantages, answer):
    return -(advantages[:, None] * log_p).sum() / answer[:, 1:].sum()
