"""Learning from reward: equations against numbers made by hand, gradients against enumeration, and the loop."""

import itertools
import math

import pytest
import torch

from tx_helpers.exercises.catalogue import find
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.training.reward import (
    answer_log_probs,
    group_advantages,
    kl_to_reference,
    policy_loss,
    right_at_k,
    sample_answers,
    train_on_reward,
)

STOP, PAD = 3, 0
ANSWER = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 1]]).bool()
LOG_P = torch.tensor([[0.0, -1.0, -2.0], [0.0, 0.0, -3.0]])
OLD = torch.tensor([[0.0, -1.5, -2.0], [0.0, 0.0, -2.0]])
A = torch.tensor([1.0, -0.5])


def small(seed=0, **changes):
    """A decoder over 6 tokens, in float64."""
    torch.manual_seed(seed)
    return DecoderOnly(TransformerConfig(6, d_model=8, n_layers=1, **{"pad_id": PAD} | changes)).double()


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def prompts(count, seed=0):
    return torch.randint(1, 6, (count, 3), generator=generator(seed))


# --- the parts, by hand -----------------------------------------------------------------------------------------------
def test_only_what_the_model_wrote_has_a_log_probability():
    model, ids = small(), torch.tensor([[1, 2, 4, 3], [5, 1, 3, 0]])
    answer = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 0]]).bool()
    found, expected = answer_log_probs(model, ids, answer), torch.zeros(2, 3).double()
    for row, place in answer.nonzero().tolist():
        p = model(ids[row : row + 1, :place])[0, -1].softmax(-1)
        expected[row, place - 1] = p[ids[row, place]].log()
    torch.testing.assert_close(found, expected)


def test_advantages_by_hand():
    rewards = torch.tensor([[1.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    centred = torch.tensor([[0.75, -0.25, -0.25, -0.25], [0.0] * 4])
    torch.testing.assert_close(group_advantages(rewards, scaled=False), centred)
    torch.testing.assert_close(group_advantages(rewards), centred / (0.5 + 1e-4))  # s² = (0.5625 + 3 · 0.0625) / 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"clip": None}, -(math.exp(0.5) + 1 - 0.5 * math.exp(-1)) / 3),
        ({"clip": 0.2}, -(1.2 + 1 - 0.5 * 0.8) / 3),
        ({"clip": 0.2, "mean": "answers"}, -((1.2 + 1) / 2 - 0.5 * 0.8) / 2),
        ({"clip": 0.2, "mean": "constant", "most": 5}, -(1.2 + 1 - 0.5 * 0.8) / 10),
        ({"clip": 0.2, "mean": "constant"}, -(1.2 + 1 - 0.5 * 0.8) / 4),
    ],
)
def test_the_loss_by_hand(options, expected):
    assert policy_loss(LOG_P, OLD, A, ANSWER, **options).item() == pytest.approx(expected)


def test_a_clipped_token_gets_no_gradient_and_one_that_went_the_wrong_way_does():
    log_p = torch.tensor([[-0.5, -1.5], [-0.5, -1.5]], requires_grad=True)
    old, answer = torch.full((2, 2), -1.0), torch.tensor([[0, 1, 1], [0, 1, 1]]).bool()
    policy_loss(log_p, old, torch.tensor([1.0, -1.0]), answer).backward()
    assert (log_p.grad != 0).tolist() == [[False, True], [True, False]]


def test_the_kl_by_hand_and_on_average():
    d = [0.5, 0.0, -1.0]
    expected = sum(math.exp(-one) - 1 + one for one in d) / 3
    assert kl_to_reference(LOG_P, LOG_P - torch.tensor([[9.0, 0.5, 0.0], [9.0, 9.0, -1.0]]), ANSWER).item() == (
        pytest.approx(expected)
    )
    p, q = torch.tensor([0.7, 0.2, 0.1]).double(), torch.tensor([0.3, 0.3, 0.4]).double()
    each = torch.stack(
        [kl_to_reference(p[i].log().view(1, 1), q[i].log().view(1, 1), ANSWER[1:, 2:]) for i in range(3)]
    )
    torch.testing.assert_close((p * each).sum(), (p * (p / q).log()).sum())


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 3), (6, 0, 2), (4, 4, 1), (5, 3, 3), (5, 1, 5)])
def test_right_at_k_counts_all_choices(n, c, k):
    answers = [True] * c + [False] * (n - c)
    every = list(itertools.combinations(answers, k))
    assert right_at_k(torch.tensor([c]), n, k).item() == pytest.approx(sum(map(any, every)) / len(every))


def test_right_at_k_has_no_bias_and_the_power_has():
    p, n, k = 0.2, 6, 4
    counts = torch.arange(n + 1)
    chances = torch.tensor([math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)])
    truth = 1 - (1 - p) ** k
    assert (chances * right_at_k(counts, n, k)).sum().item() == pytest.approx(truth, abs=1e-6)
    assert (chances * (1 - (1 - counts / n) ** k)).sum().item() < truth - 0.03


def test_the_push_is_on_average_the_gradient_of_the_expected_reward():
    """All answers of two tokens are enumerated, each weighed by its probability."""
    model, prompt = small(), [1, 4]
    rows = torch.tensor([[*prompt, a, b] for a in range(6) for b in range(6)])
    answer = torch.tensor([[0, 0, 1, 1]]).bool().expand(36, 4)
    rewards = torch.randn(36, generator=generator()).double()
    log_p = answer_log_probs(model, rows, answer)
    (log_p.sum(1).exp() * rewards).sum().backward()
    exact = {name: one.grad.clone() for name, one in model.named_parameters()}
    model.zero_grad()
    log_p = answer_log_probs(model, rows, answer)
    p = log_p.detach().sum(1).exp()
    for baseline in (0.0, 5.0):
        model.zero_grad()
        (-36 * policy_loss(log_p, log_p.detach(), p * (rewards - baseline), answer, clip=None) * 2).backward(
            retain_graph=True
        )
        for name, one in model.named_parameters():
            torch.testing.assert_close(one.grad, exact[name], msg=f"{name} with a baseline of {baseline}")


def test_nothing_but_the_answers_counts():
    model, ids = small(), torch.tensor([[1, 2, 4, 3, 0], [5, 1, 2, 2, 3]])
    answer = torch.tensor([[0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]).bool()
    logits = model(ids[:, :-1]).detach().requires_grad_()
    log_p = answer_log_probs(_Constant(logits), ids, answer)
    (
        policy_loss(log_p, log_p.detach(), A.double(), answer) + kl_to_reference(log_p, log_p.detach() - 1, answer)
    ).backward()
    assert torch.equal((logits.grad != 0).any(-1), answer[:, 1:])


class _Constant(torch.nn.Module):
    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, ids):
        return self.logits


def test_the_exercises_agree():
    def of(name):
        return find(name).answer

    rewards = torch.tensor([[1.0, 0.0, 0.5], [1.0, 1.0, 1.0]])
    torch.testing.assert_close(of("group_advantages_step")(rewards), group_advantages(rewards))
    model, ids = small(), torch.tensor([[1, 2, 4, 3], [5, 1, 2, 3]])
    theirs = of("answer_log_probs_step")(model(ids), ids, ANSWER)
    torch.testing.assert_close(theirs, answer_log_probs(model, ids, ANSWER))
    assert of("policy_loss_step")(LOG_P, A, ANSWER).item() == pytest.approx((-(-1 - 2) - 0.5 * 3) / 3)
    log_p, theirs = (LOG_P.clone().requires_grad_() for _ in range(2))
    policy_loss(log_p, LOG_P, A, ANSWER, clip=None).backward()
    of("policy_loss_step")(theirs, A, ANSWER).backward()
    torch.testing.assert_close(log_p.grad * ANSWER[:, 1:], theirs.grad * ANSWER[:, 1:])
    gain = of("clipped_step")(LOG_P, OLD, A, 0.2)
    assert policy_loss(LOG_P, OLD, A, ANSWER).item() == pytest.approx(-gain[ANSWER[:, 1:]].mean().item())
    k3 = of("kl_k3")(LOG_P, OLD)
    assert kl_to_reference(LOG_P, OLD, ANSWER).item() == pytest.approx(k3[ANSWER[:, 1:]].mean().item())
    counts, at_k = torch.tensor([3, 0, 6]), of("right_at_k_step1")
    assert right_at_k(counts, 6, 2).tolist() == pytest.approx([at_k(6, c, 2) for c in counts.tolist()])


# --- samples ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("pad_id", [PAD, None])
def test_samples_end_at_the_stop_and_know_their_probabilities(pad_id):
    model = small(pad_id=pad_id)
    ids, answer, log_p = sample_answers(model, prompts(40), stop=STOP, max_new=5, generator=generator())
    assert torch.equal(ids[:, :3], prompts(40)) and not answer[:, :3].any()
    for row, mine in zip(ids[:, 3:].tolist(), answer[:, 3:].tolist(), strict=True):
        end = row.index(STOP) + 1 if STOP in row else len(row)
        assert mine == [place < end for place in range(len(row))]
        assert set(row[end:]) <= {STOP if pad_id is None else pad_id}
    torch.testing.assert_close(log_p, answer_log_probs(model, ids, answer).detach(), check_dtype=False)
    assert not log_p.requires_grad and (log_p[~answer[:, 1:]] == 0).all()


def test_samples_follow_the_generator_and_the_temperature():
    model, rows = small(), prompts(30)

    def drawn(seed, **options):
        return sample_answers(model, rows, stop=STOP, max_new=4, generator=generator(seed), **options).ids

    assert torch.equal(drawn(1), drawn(1)) and not torch.equal(drawn(1), drawn(2))
    assert torch.equal(drawn(1, temperature=0.0), drawn(2, temperature=0.0))


def test_a_prompt_may_be_padded_on_the_left_and_a_model_needs_no_cache():
    model = small()
    short = sample_answers(model, torch.tensor([[4, 5]]), stop=STOP, max_new=4, temperature=0.0)
    padded = sample_answers(model, torch.tensor([[PAD, PAD, 4, 5]]), stop=STOP, max_new=4, temperature=0.0)
    assert torch.equal(short.ids[:, 2:], padded.ids[:, 4:])
    plain = sample_answers(_NoStart(model), torch.tensor([[4, 5]]), stop=STOP, max_new=4, temperature=0.0)
    assert torch.equal(short.ids[short.answer], plain.ids[plain.answer])


class _NoStart(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids)


# --- the loop ---------------------------------------------------------------------------------------------------------
def has_five(ids, answer):
    return ((ids == 5) & answer).any(1).float()


OPTIONS = dict(stop=STOP, max_new=4, problems=6, group=6, rate=1e-2)


def test_a_reward_is_learned_and_recorded():
    model, seen = small(), []
    records = train_on_reward(
        model, prompts(8), has_five, updates=25, **OPTIONS, after=lambda n, record: seen.append(n) or {"twice": 2 * n}
    )
    assert seen == list(range(1, 26)) and records[-1]["twice"] == 50
    assert records[-1]["reward"] > 0.9 > 0.75 > records[0]["reward"]
    assert records[0]["ratio"] == pytest.approx(1, abs=1e-5) and records[-1]["age"] == 0
    assert records[8]["kl"] == 0.0 < records[9]["kl"] and 0 < records[0]["entropy"] < math.log(6) + 0.2
    assert all(0 <= record["equal"] <= 1 and 1 <= record["length"] <= 4 for record in records)


def test_samples_are_used_as_often_as_epochs_say():
    model, calls = small(), []
    records = train_on_reward(
        model, prompts(8), lambda *one: calls.append(1) or has_five(*one), updates=3, epochs=4, clip=0.2, **OPTIONS
    )
    assert len(calls) == len(records) == 3 and records[0]["step"] == 4
    assert records[0]["age"] == 3 and records[0]["ratio"] > 1.001


def test_the_weight_of_the_kl_keeps_the_model_near():
    far, near = (
        train_on_reward(small(), prompts(8), has_five, updates=20, kl_weight=weight, **OPTIONS)[-1]["kl"]
        for weight in (1e-6, 1.0)
    )
    assert near < far / 2


def test_equal_rewards_change_nothing():
    model, before = small(), small()
    records = train_on_reward(model, prompts(8), lambda ids, answer: torch.ones(len(ids)), updates=2, **OPTIONS)
    assert records[0]["equal"] == 1
    for one, other in zip(model.parameters(), before.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("updates", "epochs", "stop", "options"),
    [
        (4, 1, 2, {"kl_weight": 0.1}),
        (4, 2, 3, {"kl_weight": 0.1}),
        (3, 3, 5, {"clip": 0.2}),
        (12, 1, 11, {}),  # the kl of update 10 is told in 11 and 12, too
    ],
)
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(tmp_path, updates, epochs, stop, options):
    def run(model, **more):
        given = dict(updates=updates, epochs=epochs) | OPTIONS | options | more
        return train_on_reward(model, lambda count, g: torch.randint(1, 6, (count, 2), generator=g), has_five, **given)

    whole, resumed = small(), small()
    records = run(whole, after_step=lambda run: run.step == stop and run.save(tmp_path / "run"))
    assert run(resumed, resume=tmp_path / "run") == records
    for one, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)


def test_dropout_is_off_and_the_mode_comes_back():
    model = small(dropout=0.5).train()
    records = train_on_reward(model, prompts(8), has_five, updates=1, **OPTIONS)
    assert records[0]["ratio"] == pytest.approx(1, abs=1e-5) and model.training


# --- wrong arguments --------------------------------------------------------------------------------------------------
WRONG = {
    "one answer": (lambda: group_advantages(torch.ones(3, 1)), "groups of 1, expected at least 2"),
    "flat rewards": (lambda: group_advantages(torch.ones(3)), r"rewards of shape \(3,\), expected float \(P, G\)"),
    "answer not shifted": (lambda: policy_loss(LOG_P, OLD, A, ANSWER[:, 1:]), r"answer of shape \(2, 3\)"),
    "advantages of groups": (lambda: policy_loss(LOG_P, OLD, A[None], ANSWER), r"advantages of shape \(1, 2\)"),
    "mean": (lambda: policy_loss(LOG_P, OLD, A, ANSWER, mean="all"), "expected one of tokens, answers, constant"),
    "clip": (lambda: policy_loss(LOG_P, OLD, A, ANSWER, clip=0), "clip=0, expected more than 0"),
    "k": (lambda: right_at_k(torch.tensor([1]), 4, 5), "k=5, expected at least 1 and at most 4"),
    "right": (lambda: right_at_k(torch.tensor([5]), 4, 2), "5 of n=4 answers are right"),
    "mask of numbers": (lambda: answer_log_probs(small(), ANSWER.long(), ANSWER.long()), "expected bool"),
    "max_new": (lambda: sample_answers(small(), prompts(2), stop=STOP, max_new=0), "max_new=0, expected at least 1"),
    "group": (lambda: train_on_reward(small(), prompts(2), has_five, updates=1, **OPTIONS | {"group": 1}), "group=1"),
    "rewards of groups": (
        lambda: train_on_reward(small(), prompts(2), lambda *_: torch.ones(3), updates=1, **OPTIONS),
        r"the reward of shape \(3,\), expected float \(B\) with B = 36",
    ),
    "whole rewards": (
        lambda: train_on_reward(small(), prompts(2), lambda ids, _: torch.ones(len(ids)).long(), updates=1, **OPTIONS),
        "the reward is a tensor of torch.int64",
    ),
    "rewards of nan": (
        lambda: train_on_reward(small(), prompts(2), lambda ids, _: torch.ones(len(ids)) / 0, updates=1, **OPTIONS),
        "not finite",
    ),
    "prompts": (lambda: train_on_reward(small(), "abc", has_five, updates=1, **OPTIONS), "prompts is 'abc'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call()
