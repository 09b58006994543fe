"""The exercise that balances experts, in two steps: choose with a bias, and move the bias until all have work."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- step 1: the bias decides, the probability weighs ----------------------------------------------------------------


def _router(N, E, seed, lean=1.0):
    """Probabilities (N, E) of a router that likes the first experts, and a bias (E,)."""
    logits, bias = random_tensors((N, E), (E,), seed=seed)
    return (logits - lean * torch.arange(E) / E).softmax(-1), 0.3 * bias


choice = Exercise(
    "choose_expert",
    title="Balance the experts, step 1 of 2",
    goal="`p` (N, E) are a router's probabilities for N tokens and E experts, `bias` (E,) is a number for each expert. "
    "Each token goes to one expert, the one with the largest p + bias. But the expert's output is weighted with p "
    "alone, as the bias is no opinion about the token. Return these weights, (N, E): p where the expert is chosen, 0 "
    "elsewhere.",
    difficulty=2,
    minutes=6,
    source="Wang et al. 2024, equation 3",
    cases=lambda: [
        (torch.tensor([[0.5, 0.3, 0.2], [0.2, 0.7, 0.1]]), torch.tensor([-0.2, 0.1, 0.0])),
        _router(6, 4, 81),
        _router(9, 5, 82),
    ],
    picture=True,
    hints=(
        "First find the number of the expert of each token. The bias takes part in this, and in nothing else.",
        "`(p + bias).argmax(-1)` are N numbers. `torch.nn.functional.one_hot` makes N rows of 0 and 1 of them.",
        "p * torch.nn.functional.one_hot((p + bias).argmax(-1), p.shape[1])",
    ),
)


@choice.solution
def choose_expert(p, bias):
    """Weights (N, E): the probability p (N, E) of the expert with the largest p + bias, 0 for the others."""
    best = (p + bias).argmax(dim=-1, keepdim=True)  # (N, 1)
    return torch.zeros_like(p).scatter(-1, best, p.gather(-1, best))


choice.slips("""
bias_forgotten    (p + bias) → p
  You chose by p alone. The bias has to take part in the choice.
bias_in_the_weight    return (p + bias) * _one(p + bias)
  You choose the right expert, but weight it with p + bias. The bias is no opinion about the token: it belongs to the
  choice only.
weight_one    return _one(p + bias)
  You gave the chosen expert the weight 1. Then the router gets no gradient, and cannot learn: take p.
bias_subtracted    return p * _one(p - bias)
  You subtracted the bias. An expert with a positive bias should be chosen more often.
bias_multiplied    return p * _one(p * bias)
  You multiplied p by the bias. It is added.
tokens_chosen    return p * _one(p + bias, 0)
  Your argmax runs over the tokens: each expert chose its best token. Each token chooses: dim=-1.
nothing_cut    return p.clone()
  You kept all experts. Each token goes to one of them.
smallest    return p * _one(-p - bias)
  You chose the smallest p + bias. The largest is wanted.
two_experts    return p * torch.zeros_like(p).scatter(-1, (p + bias).topk(2).indices, 1.0)
  You chose two experts for each token. Here it is one.
""")


def _one(scores, dim=-1):
    """1 at the largest score along a dimension, 0 elsewhere."""
    return torch.zeros_like(scores).scatter(dim, scores.argmax(dim, keepdim=True), 1.0)


# --- step 2: move the bias -------------------------------------------------------------------------------------------


def _rounds(step, p, rate, rounds):
    """What an answer returns; the function of step 1 is its solution."""
    return step(p.clone(), rate, rounds, choose_expert)


balanced = Exercise(
    "balance_bias",
    title="Balance the experts, step 2 of 2",
    goal="Find a bias that gives all experts work. Begin with zeros, (E,). In each of `rounds` rounds, "
    "`choose(p, bias)`, your function of step 1, gives the weights (N, E); p is never 0, so an expert's tokens are "
    "those with a weight above 0. Experts with fewer tokens than the mean N/E get `rate` more bias, those with more "
    "get `rate` less, and an expert with exactly N/E keeps its bias. Return the bias after the last round.",
    difficulty=2,
    minutes=9,
    source="Wang et al. 2024, algorithm 1",
    run=_rounds,
    cases=lambda: [
        (torch.tensor([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.7, 0.1, 0.2]]), 0.13, 1),
        (torch.tensor([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]), 0.11, 1),  # one expert has exactly N/E
        (_router(30, 4, 83, 2.0)[0], 0.031, 7),
        (_router(50, 6, 84, 3.0)[0], 0.017, 12),
    ],
    hints=(
        "A loop over the rounds has three lines: choose, count, move. Each round counts with the bias of the last one.",
        "`(weights > 0).sum(0)` counts each expert's tokens. `torch.sign` of mean minus count is 1, 0 or −1.",
        "load = (choose(p, bias) > 0).sum(0).float(); bias = bias + rate * torch.sign(load.mean() - load)",
    ),
)


@balanced.solution
def balance_bias(p, rate, rounds, choose):
    """The bias (E,) after some rounds: `rate` up for experts with too few tokens of p (N, E), else down."""
    bias = torch.zeros(p.shape[1])
    for _ in range(rounds):
        load = (choose(p, bias) > 0).sum(dim=0).float()  # (E,)
        bias = bias + rate * torch.sign(load.mean() - load)
    return bias


balanced.slips("""
wrong_way    load.mean() - load → load - load.mean()
  Your busy experts get more bias, so they get busier still. Swap the sign.
one_round    return balance_bias(p, rate, 1, choose)
  You moved the bias once. Each round chooses again, with the bias of the last one.
never_chosen_again    return rounds * balance_bias(p, rate, 1, choose)
  You chose before the loop, with a bias of zeros, and moved by the same counts in each round. Choose inside the loop.
by_the_gap    torch.sign →
  You moved by the gap itself. One step would then be larger than any probability: take its sign.
by_weights    choose(p, bias) > 0 → choose(p, bias)
  You added up the weights in place of counting tokens. An expert with few sure tokens would seem busy.
weights_against_the_count    = _moved(lambda b, load, rate, w: b + rate * torch.sign(load.mean() - w.sum(0)))
  You added up the weights and compared them with N/E, a number of tokens. A weight is below 1, so nearly every expert
  seems to have too few: count the weights above 0.
only_up    = _moved(lambda b, load, rate, w: b + rate * (load < load.mean()))
  You raise the experts with too few tokens, but never lower those with too many.
only_down    = _moved(lambda b, load, rate, w: b - rate * (load > load.mean()))
  You lower the experts with too many tokens, but never raise those with too few.
rate_forgotten    rate * →
  You moved by 1. Probabilities are below 1, so such a bias decides everything: multiply by the rate.
even_goes_down    = _moved(lambda b, load, rate, w: b + torch.where(load < load.mean(), rate, -rate))
  An expert with exactly N/E tokens loses bias in your loop. It has its share already, and keeps its bias: `torch.sign`
  gives 0 there.
even_goes_up    = _moved(lambda b, load, rate, w: b + torch.where(load > load.mean(), -rate, rate))
  An expert with exactly N/E tokens gains bias in your loop. It has its share already, and keeps its bias.
mean_rounded_down    = _moved(lambda b, load, rate, w: b + rate * torch.sign(load.sum() // len(load) - load))
  You compared with N // E, which is rounded down. An expert with that many tokens may still have too few: divide with
  /.
against_one_half    = _moved(lambda b, load, rate, w: b + rate * torch.sign(load.sum() / 2 - load))
  You compared with a fixed share of one half of the tokens. The mean load is N/E.
""")


def _moved(move):
    """A mistake whose bias after a round is move(bias, load, rate, weights)."""

    def rounds_of(p, rate, rounds, choose):
        bias = torch.zeros(p.shape[1])
        for _ in range(rounds):
            weights = choose(p, bias)
            bias = move(bias, (weights > 0).sum(0).float(), rate, weights)
        return bias

    return rounds_of
