"""The loss of DPO by hand, pairs of stories, and training on them."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tx_helpers.exercises.catalogue import find
from tx_helpers.lessons.adapting.preferences import (
    Pair,
    align,
    answer_log_probability,
    dpo_loss,
    is_true,
    last_feeling,
    measure,
    pair_batches,
    preference_pairs,
    reward_margin,
    story_divergence,
)
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE, PAD, TextBatch
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.zoo.world_chat import chat_ids, hero

log_ps = st.floats(-50, 0, width=32)


def small_decoder(seed=0):
    torch.manual_seed(seed)
    return DecoderOnly(TransformerConfig(len(world_tokenizer()), d_model=32, n_layers=1, pad_id=PAD)).eval()


def test_the_loss_by_hand():
    """Two pairs: the model likes the better answer twice as much as before, and the worse one half as much."""
    two = math.log(2)
    better, worse = torch.tensor([two - 5, -3.0]), torch.tensor([-two - 4, -2.0])
    reference = torch.tensor([-5.0, -3.0]), torch.tensor([-4.0, -2.0])
    assert reward_margin(better, worse, *reference, beta=0.5).tolist() == pytest.approx([two, 0.0])
    # sigma(ln 2) = 2/3 and sigma(0) = 1/2
    by_hand = -(math.log(2 / 3) + math.log(1 / 2)) / 2
    assert dpo_loss(better, worse, *reference, beta=0.5).item() == pytest.approx(by_hand)


@given(log_ps, log_ps, log_ps, log_ps, st.sampled_from([0.03, 0.1, 1.0]))
def test_the_loss_is_equation_7(better, worse, reference_better, reference_worse, beta):
    found = dpo_loss(*(torch.tensor([p]) for p in (better, worse, reference_better, reference_worse)), beta=beta)
    inside = beta * (better - reference_better) - beta * (worse - reference_worse)
    assert found.item() == pytest.approx(math.log1p(math.exp(-inside)), rel=1e-4, abs=1e-5)


def test_the_gradient_pulls_harder_where_the_reward_is_wrong():
    """Rafailov et al. 2023, section 4: each pair is weighted by beta * sigma(-margin)."""
    better = torch.tensor([-4.0, -6.0], requires_grad=True)
    worse, reference = torch.tensor([-5.0, -5.0]), torch.tensor([-5.0, -5.0])
    dpo_loss(better, worse, reference, reference, beta=2.0).backward()
    weights = 2.0 * torch.sigmoid(-2.0 * torch.tensor([1.0, -1.0])) / 2
    assert torch.allclose(better.grad, -weights)


def test_wrong_arguments_are_refused():
    three, two = torch.zeros(3), torch.zeros(2)
    with pytest.raises(ValueError, match=r"dpo_loss: beta=0, expected more than 0"):
        dpo_loss(three, three, three, three, beta=0)
    with pytest.raises(ValueError, match="dpo_loss: worse"):
        dpo_loss(three, two, three, three)


def test_the_probability_of_an_answer_is_the_product_of_its_tokens():
    model = small_decoder()
    inputs, targets = chat_ids(Pair("how was mia 's day ?", "mia has a cat .", "").chats[0])
    found = answer_log_probability(model, TextBatch(torch.tensor([inputs]), torch.tensor([targets])))
    p = model(torch.tensor([inputs]))[0].softmax(-1)
    expected = sum(math.log(p[place, t].item()) for place, t in enumerate(targets) if t != IGNORE)
    assert found.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("story", "feeling"),
    [
        ("mia was happy .", "positive"),
        ("mia felt anything but happy .", "negative"),
        ("mia was glad , then she hardly felt pleased .", "negative"),
        ("mia did not feel sad .", "positive"),
        ("mia was far from angry .", "positive"),
        ("happy birthday to mia , said tom .", "none"),
        ("", "none"),
    ],
)
def test_the_last_feeling_by_hand(story, feeling):
    assert last_feeling(story) == feeling


def test_the_last_feeling_of_a_text_is_its_sentiment():
    seen = Counter()
    for text in little_world().texts(600, seed=4):
        truth = little_world().truth(text)
        seen[last_feeling(text)] += 1
        assert last_feeling(text) == ("none" if truth.tale == "review" else truth.sentiment.replace("neutral", "none"))
    assert min(seen.values()) > 100 and len(seen) == 3


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_better_story_ends_well_and_the_worse_one_badly(split):
    pairs = preference_pairs(30, split=split, seed=2)
    assert len(pairs) == 30 and pairs == preference_pairs(30, split=split, seed=2)
    for pair in pairs:
        better, worse = (little_world(split).truth(text) for text in (pair.better, pair.worse))
        assert (better.sentiment, worse.sentiment) == ("positive", "negative")
        assert hero(better) == hero(worse) == pair.asked.split()[2]
        assert is_true(pair.asked, pair.better) and is_true(pair.asked, pair.worse)


def test_a_story_about_another_person_or_of_no_world_is_not_true():
    pair = preference_pairs(1)[0]
    other = "tom" if "tom" not in pair.asked else "max"
    assert not is_true(f"how was {other} 's day ?", pair.better)
    assert not is_true(pair.asked, f"{pair.better} again") and not is_true(pair.asked, "")


def test_batches_hold_what_the_reference_says_of_their_answers():
    model, pairs = small_decoder(), preference_pairs(6)
    batch = pair_batches(model, pairs, 4, seed=1)(3)
    with torch.no_grad():
        assert torch.allclose(answer_log_probability(model, batch.better), batch.reference_better, atol=1e-3)
        assert torch.allclose(answer_log_probability(model, batch.worse), batch.reference_worse, atol=1e-3)
    assert batch.better.input.equal(pair_batches(model, pairs, 4, seed=1)(3).better.input)


def test_training_moves_a_copy_away_from_the_reference():
    model, pairs = small_decoder(), preference_pairs(8)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    aligned = align(model, pairs, steps=10, beta=0.1, lr=5e-3)
    same, moved = measure(model, model, pairs, beta=0.1), measure(aligned, model, pairs, beta=0.1)
    assert same["margin"] == pytest.approx(0, abs=1e-4) and same["kl"] == pytest.approx(0, abs=1e-5)
    assert moved["margin"] > 0.1 and moved["ranked"] >= 0.75 and moved["kl"] > 0
    assert sum(moved[kind] for kind in ("positive", "negative", "none")) == pytest.approx(1)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_learners_loss_trains_the_model_as_the_courses_does():
    """`align` calls what the learner wrote, and the same functions lead to the same weights."""
    model, pairs = small_decoder(), preference_pairs(4)
    log_p, loss = (find(name).answer for name in ("answer_log_p", "dpo_loss"))
    own, course = align(model, pairs, steps=2, loss=loss, log_p=log_p), align(model, pairs, steps=2)
    for one, other in zip(own.parameters(), course.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-4)


def test_the_divergence_is_the_sum_over_the_answer():
    one, other = small_decoder(0), small_decoder(1)
    chat = Pair("how was mia 's day ?", "mia has a cat .", "").chats[0]
    inputs, targets = chat_ids(chat)
    p, q = (model(torch.tensor([inputs]))[0].softmax(-1) for model in (one, other))
    expected = sum((p[t] * (p[t] / q[t]).log()).sum().item() for t, target in enumerate(targets) if target != IGNORE)
    assert story_divergence(one, other, [chat]) == pytest.approx(expected, rel=1e-4)
