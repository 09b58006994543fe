"""Exercises on mixtures of experts: the router, and the loss that keeps the experts busy."""

import torch
import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- the router ------------------------------------------------------------------------------------------------------

router = Exercise(
    "route_tokens",
    title="Which experts, and how much of each?",
    goal="A router has given each of N tokens a logit for each of E experts: `logits` (N, E). Each token goes to its k "
    "experts with the largest logits, and their weights are the softmax over these k logits alone. Return the weights "
    "of all experts, (N, E): 0 for experts that are not chosen. No two logits of a token are equal.",
    difficulty=2,
    minutes=8,
    source="Jiang et al. 2024 (Mixtral), section 2.1",
    cases=lambda: [
        (torch.tensor([[2.0, 1.0, 0.0, -1.0], [-3.0, 0.5, -1.0, 0.0]]), 2),
        (2 * random_tensors((5, 8), seed=51)[0], 2),
        (2 * random_tensors((7, 6), seed=52)[0] - 1, 3),
    ],
    picture=True,
    hints=(
        "torch.topk gives the k largest logits of each row and their places.",
        "The softmax runs over these k logits. What is not chosen must not take part: its logit would be −∞.",
        "values, places = logits.topk(k); torch.zeros_like(logits).scatter(-1, places, values.softmax(-1))",
    ),
)


@router.solution
def route_tokens(logits, k):
    """Weights (N, E) of the experts for each token: a softmax over its k largest logits (N, E), 0 elsewhere."""
    smallest = logits.sort(dim=-1, descending=True).values[:, k - 1 : k]  # (N, 1): the last that is chosen
    return logits.masked_fill(logits < smallest, -torch.inf).softmax(dim=-1)


router.slips("""
softmax_over_all    return logits.softmax(-1) * _top(logits, k)
  You took the softmax over all experts and cut then: the weights of the chosen ones sum to less than 1, and the layer's
  output shrinks. Divide by their sum, or take the softmax over the k logits alone.
zeros_in_the_softmax    torch.inf → 0
  You set the logits of the others to 0 before the softmax, and e⁰ = 1: they take part, and with negative logits they
  even win. Set them to −∞.
zeros_in_the_softmax_then_cut    return (logits * _top(logits, k)).softmax(-1) * _top(logits, k)
  You set the logits of the others to 0 before the softmax, and cut their weights afterwards. They still took part in
  the sum; −∞ in place of 0 keeps them out.
logits_normalised    return _normed(logits * _top(logits, k))
  You divided the chosen logits by their sum. Logits can be negative; exponentials make weights of them, so take a
  softmax.
all_alike    return _top(logits, k) / k
  You gave each chosen expert the weight 1/k. Then no gradient reaches the router, and it cannot learn.
not_normalised    return logits.exp() * _top(logits, k)
  You took exponentials and did not divide by their sum over the chosen experts.
sigmoids    return _normed(logits.sigmoid() * _top(logits, k))
  You took a sigmoid of each chosen logit and divided by the sum, as DeepSeek-V3 does. Here the weights are a softmax.
softmax_twice    masked_fill → softmax(-1).masked_fill
  You took a softmax over all experts, and another over the k that you chose. The second one makes the weights nearly
  equal; after a softmax just divide by the sum.
smallest_chosen    return logits.masked_fill(_top(-logits, k) == 0, -torch.inf).softmax(-1)
  You chose the k smallest logits. A large logit says that an expert suits the token.
best_alone    return _top(logits, 1)
  You sent each token to its best expert alone, as the Switch Transformer does. Here k experts share it.
one_too_many    return logits.masked_fill(_top(logits, k + 1) == 0, -torch.inf).softmax(-1)
  You chose k + 1 experts. Count again where you cut: the k-th largest is the last that is chosen.
experts_choose    return logits.softmax(-1) * _top(logits, k, dim=0)
  You let each expert choose its k best tokens (dim 0). That is expert choice, another method: some tokens get no
  expert. Here each token chooses: the last dimension.
softmax_over_tokens    return logits.masked_fill(_top(logits, k) == 0, -torch.inf).softmax(0).nan_to_num()
  Your softmax runs over the tokens, dim 0. A token's weights over its experts have to sum to 1.
nothing_cut    return logits.softmax(-1)
  You kept all experts. Then each token computes all of them, and nothing is saved.
""")


def _top(scores, k, dim=-1):
    """1 at the k largest entries along a dimension, 0 elsewhere."""
    return torch.zeros_like(scores).scatter(dim, scores.topk(k, dim=dim).indices, 1.0)


def _normed(weights, dim=-1):
    return weights / weights.sum(dim, keepdim=True)


@router.mistake(
    "You wrote weights[:, places] = …, which fills these columns for all tokens: every token gets the experts of the "
    "others, too. scatter(-1, places, …) writes each token's weights into its own row."
)
def columns_of_all_tokens(logits, k):
    values, places = logits.topk(k)
    weights = torch.zeros_like(logits)
    for row, column in zip(values.softmax(-1), places, strict=True):
        weights[:, column] = row
    return weights


# --- balance ---------------------------------------------------------------------------------------------------------


def _routed(N, E, seed):
    """The router's probabilities (N, E), and the expert (N,) that each token was sent to, mostly the likeliest one."""
    logits, moved = random_tensors((N, E), (N, E), seed=seed)
    return (1.5 * logits).softmax(-1), (1.5 * logits + 0.7 * moved).argmax(-1)


balance = Exercise(
    "balance_penalty",
    title="A loss that keeps all experts busy",
    goal="The router gave each of N tokens a probability for each of E experts, `probabilities` (N, E), and sent token "
    "n to the expert `chosen[n]` (N,). (Noise was added before the choice, so this is not always the likeliest one.) "
    "Return the loss of the Switch Transformer without its small factor: E times the sum of f_i · P_i over all "
    "experts. f_i is the share of tokens that were sent to expert i, and P_i its mean probability over all N tokens.",
    difficulty=2,
    minutes=8,
    source="Fedus et al. 2021, equations 4 to 6",
    formula=r"E \sum_{i=1}^{E} f_i\, P_i, \qquad f_i = \frac{1}{N}\sum_n [\,\mathrm{chosen}_n = i\,], \qquad "
    r"P_i = \frac{1}{N}\sum_n p_{ni}",
    cases=lambda: [
        (torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]]), torch.tensor([0, 1])),
        _routed(20, 4, seed=61),
        _routed(50, 7, seed=62),
    ],
    hints=(
        "f and P are both vectors of E numbers, and each sums to 1.",
        "torch.nn.functional.one_hot(chosen, E) has a 1 for each token's expert; its mean over the tokens is f.",
        "E * (f * probabilities.mean(0)).sum(). If all experts are used alike, this is 1.",
    ),
)


@balance.solution
def balance_penalty(probabilities, chosen):
    """E · Σ f P, a number, of the probabilities (N, E) and the expert (N,) that each token was sent to."""
    N, E = probabilities.shape
    share = torch.bincount(chosen, minlength=E) / N  # f (E,)
    return E * share @ probabilities.mean(dim=0)


balance.slips("""
not_times_experts    = _balance(lambda f, P, E: f @ P)
  The factor E is missing. With it the loss is 1 for an even load, however many experts there are.
divided_by_experts    = _balance(lambda f, P, E: f @ P / E)
  You took the mean over the experts. The sum is multiplied by E, not divided by it.
loads_squared    = _balance(lambda f, P, E: E * f @ f)
  You used f twice. Counting has no gradient, so nothing would be learned: one of the factors is P.
probabilities_squared    = _balance(lambda f, P, E: E * P @ P)
  You used P twice. What the router did with the tokens, f, is missing.
counts_for_shares    return len(probabilities) * _balance(lambda f, P, E: E * f @ P)(probabilities, chosen)
  You counted tokens. f is a share: divide by N, or the loss grows with the batch.
sums_for_both    return len(probabilities) ** 2 * _balance(lambda f, P, E: E * f @ P)(probabilities, chosen)
  You divided neither the counts nor the summed probabilities by N. Both are means over the tokens.
means_over_experts    return probabilities.mean(1).sum()
  Your means run over the experts, and each of them is 1/E, whatever the router does. f and P have an entry for each
  expert: take the means over the tokens, dim 0.
own_probability    return probabilities.shape[1] * probabilities.gather(1, chosen[:, None]).mean()
  Your result is E times the mean probability of the expert that each token was sent to, as if P_i were a mean over
  expert i's own tokens. P_i runs over all N tokens.
likeliest_counted    return _balance(lambda f, P, E: E * f @ P)(probabilities, probabilities.argmax(-1))
  You counted the likeliest expert of each token in place of `chosen`, the one that it was sent to.
distance_from_even    = _balance(lambda f, P, E: E * (f - 1 / E).square().sum())
  You summed the squared distances of f from 1/E. That is 0 for an even load, and has no gradient.
entropy    = _balance(lambda f, P, E: -(P * P.log()).sum())
  You returned the entropy of P, which is largest for an even load: a loss would have to be −entropy. Here the sum of f
  · P is wanted.
largest_load    = _balance(lambda f, P, E: E * (f * P).max())
  You took the busiest expert alone. All experts count: sum f · P over them.
""")


def _loads(probabilities, chosen):
    """f (E,) and P (E,)."""
    return F.one_hot(chosen, probabilities.shape[1]).float().mean(0), probabilities.mean(0)


def _balance(rule):
    """A mistake with another rule(f, P, E)."""
    return lambda probabilities, chosen: rule(*_loads(probabilities, chosen), probabilities.shape[1])
