"""Sums, their exact checker, and checkers that are wrong: what each pays for texts written by hand."""

import pytest
import torch

from tx_helpers.lessons.learning_from_reward.baseline import (
    CHANCES,
    REWARDS,
    exact_gradient,
    mean_estimate,
    spread,
)
from tx_helpers.lessons.learning_from_reward.cheating import KEPT, PROBLEM, paid
from tx_helpers.lessons.learning_from_reward.checkers import (
    by_steps,
    coin,
    exact,
    right_steps,
    upside_down,
    with_hole,
)
from tx_helpers.lessons.learning_from_reward.sums import EQUALS, FOUR, PAD, SIX, encode, prompt_length, text


def written(lines):
    """Texts "problem=answer" -> ids, and what of them the model wrote."""
    ids = encode([line.ljust(max(map(len, lines)), "#") for line in lines])
    start = lines[0].index("=") + 1
    return ids, (torch.arange(ids.shape[1]) >= start) & (ids != PAD)


# The sum of 271828 is 28; its running sums are 2, 9, 10, 18, 20, 28.
SIX_SAYS = {
    "A8.": 1.0,
    "290808A8.": 1.0,
    "000000A8.": 1.0,  # the steps are not looked at
    "A2.": 0.0,
    "290808A0.": 0.0,
    "A8": 0.0,  # no end
    "8.": 0.0,
    "A1A8.": 0.0,  # two answers
    "A8.A8.": 0.0,
    "A88.": 0.0,
}
FOUR_SAYS = {"A17.": 1.0, "01051217A17.": 1.0, "A18.": 0.0, "A7.": 0.0, "A71.": 0.0, "17.": 0.0, "AA17.": 0.0}


@pytest.mark.parametrize(("task", "problem", "says"), [(SIX, "271828", SIX_SAYS), (FOUR, "1475", FOUR_SAYS)])
def test_the_exact_checker_pays_for_the_right_answer_alone(task, problem, says):
    ids, mine = written([f"{problem}={answer}" for answer in says])
    assert dict(zip(says, exact(task)(ids, mine).tolist(), strict=True)) == says


@pytest.mark.parametrize(("task", "digits", "long"), [(SIX, "271828", "290808A8."), (FOUR, "1475", "01051217A17.")])
def test_texts_are_right_answers_and_as_long_as_said(task, digits, long):
    assert task.answer(digits, steps=True) == long and len(long) == task.longest
    assert task.answer(digits, steps=False) == long[long.index("A") :]
    prompts = task.draw(50, torch.Generator().manual_seed(0))
    assert (prompts[:, -1] == EQUALS).all() and prompts[:, :-1].unique().tolist() == list(range(10))
    ids = task.texts(prompts, torch.arange(50) % 2 == 0)
    mine = (torch.arange(ids.shape[1]) > task.terms) & (ids != PAD)
    assert prompt_length(mine) == task.terms + 1 and task.reward(ids, mine).all()
    assert task.with_steps(mine).tolist() == [row % 2 == 0 for row in range(50)]
    spoilt = ids.clone()
    spoilt[:, 0] = (spoilt[:, 0] + 1) % 10
    assert not task.reward(spoilt, mine).any()


def test_ids_and_texts():
    (row,) = encode(["271828=A8.##"])
    assert text(row) == "271828=A8." and text(row[:8]) == "271828=A"


CHECKERS = {  # what each pays for: right at once, wrong at once, all steps right, steps right but not the answer, AA
    exact: [1, 0, 1, 0, 0],
    upside_down: [0, 1, 0, 1, 1],
    with_hole: [1, 0, 1, 0, 1],
    by_steps: [0, 0, 1, 1, 0],
}


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda one: one.__name__)
def test_a_checker_pays_what_it_says(checker):
    ids, mine = written([f"1475={answer}" for answer in ("A17.", "A18.", "01051217A17.", "01051217A18.", "AAA17.")])
    assert checker(FOUR)(ids, mine).tolist() == CHECKERS[checker]


def test_right_steps_are_counted_at_their_places():
    ids, mine = written(["271828=290808A8.", "271828=200808A8.", "271828=A8.", "271828=90808A8."])
    assert right_steps(SIX, ids, mine).sum(1).tolist() == [6, 5, 0, 0]
    assert by_steps(SIX)(ids, mine).tolist() == pytest.approx([1, 5 / 6, 0, 0])


def test_a_coin_does_not_read():
    ids, mine = written(["271828=A8."] * 1000)
    falls = coin(SIX)(ids, mine)
    assert 0.45 < falls.mean() < 0.55 and torch.equal(falls, coin(SIX)(1 - ids, mine))


@pytest.mark.parametrize("answer", KEPT)
def test_the_explorer_of_checkers_pays_as_the_checkers_do(answer):
    ids, mine = written([f"{PROBLEM}={answer}"])
    found = paid(PROBLEM, answer)
    assert found["exact"] == exact(FOUR)(ids, mine).item()
    assert found["full marks if unreadable"] == with_hole(FOUR)(ids, mine).item()


def test_the_baseline_changes_the_variance_and_not_the_mean():
    for baseline in (-0.5, 0.0, 0.3, 1.5):
        assert torch.allclose(mean_estimate(baseline), exact_gradient())
    logits = CHANCES.log().requires_grad_()
    assert torch.allclose(torch.autograd.grad(logits.softmax(0) @ REWARDS, logits)[0], exact_gradient())
    generator = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(CHANCES, 200_000, replacement=True, generator=generator)
    for baseline in (0.0, 0.3, 1.5):
        pushes = (REWARDS[drawn] - baseline)[:, None] * (torch.eye(4, dtype=torch.float64)[drawn] - CHANCES)
        assert pushes.var(0).sum().item() == pytest.approx(spread(baseline), rel=0.03)
    assert spread(0.3) < 0.6 * spread(0.0) < spread(1.5)
