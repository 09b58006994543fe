"""A small mixture of experts: what it learns, and the measures of what its experts do."""

import math

import pytest
import torch

from tx_helpers.lessons.what_changed import specialists
from tx_helpers.lessons.what_changed.specialists import (
    BALANCES,
    entropy,
    experts_in_use,
    specialisation,
    specialist_config,
    train_specialists,
    word_classes,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.zoo.parts.experts import Router, expert_load


@pytest.fixture(scope="module")
def untrained():
    with RandomStream(3).on(torch.device("cpu")):
        return DecoderOnly(specialist_config()).eval()


def test_information_by_hand():
    assert entropy("aabb") == pytest.approx(1) and entropy("aaaa") == 0
    assert entropy("aaab") == pytest.approx(2 - 0.75 * math.log2(3))


def test_experts_in_use():
    load = torch.tensor([[0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], [0.5, 0.5, 0, 0]])
    torch.testing.assert_close(experts_in_use(load), torch.tensor([4.0, 1.0, 2.0]))


def test_a_wrong_balance_is_named():
    with pytest.raises(ValueError, match="balance='noise'"):
        train_specialists("noise")


@pytest.mark.slow
def test_a_training_repeats_and_keeps_record():
    one, again = (train_specialists("none", steps=3, seed=3) for _ in range(2))
    assert again.load.shape == (3, 2, 8)
    torch.testing.assert_close(again.load.sum(-1), torch.ones(3, 2))
    assert again.load[0].equal(one.load[0])
    assert train_specialists(n_experts=1, steps=2).load.shape == (0, 2, 1)


@pytest.mark.slow
def test_the_three_begin_alike_and_a_remedy_balances():
    trained = {balance: train_specialists(balance, steps=30, seed=3) for balance in BALANCES}
    first = [each.load[0] for each in trained.values()]
    assert first[0].equal(first[1]) and first[0].equal(first[2])
    assert all(math.isfinite(each.loss) and each.loss < math.log(len(world_tokenizer())) for each in trained.values())
    in_use = {name: experts_in_use(each.load[-10:].mean(0)).mean() for name, each in trained.items()}
    assert in_use["none"] + 1 < min(in_use["loss"], in_use["bias"])  # 3.3 to 4.9, and above 7.2, at four seeds


def test_the_bias_balances_a_router_on_its_own():
    generator = torch.Generator().manual_seed(0)
    router, x = Router(16, 8, 1, biased=True), torch.randn(200, 16, generator=generator) + 1
    with torch.no_grad():
        router.logits.weight.copy_(0.1 * torch.randn(8, 16, generator=generator))
        router.logits.weight[0] += 0.1  # most positions want expert 0
    before = experts_in_use(expert_load(router(x).chosen, 8))
    for _ in range(100):
        router.rebalance(router(x).chosen, rate=0.01)
    assert before < 4 < 6 < experts_in_use(expert_load(router(x).chosen, 8))


def test_word_classes():
    text = next(text for text in little_world().texts(50, seed=1) if " lost a " in text)
    found = dict(zip(text.split(), word_classes(text), strict=True))
    assert found["."] == "punctuation" and found["lost"] == "other word" and found["a"] == "small word"
    assert {found[word] for word in found if word in {"mia", "tom", "ada", "max", "leo", "zoe"}} <= {"person"}
    assert set(found.values()) >= {"person", "thing"}


class ByWord(torch.nn.Module):
    """Sends each word to the expert that its id names, whatever stands beside it."""

    def __init__(self):
        super().__init__()
        self.model = DecoderOnly(specialist_config())
        self.config = self.model.config
        for block in self.model.decoder.blocks:
            block.feed_forward.router.register_forward_hook(self.by_word)

    def by_word(self, _, __, routing):
        return routing._replace(chosen=(self.ids % 8)[..., None])

    def forward(self, ids):
        self.ids = ids
        return self.model(ids)


def test_what_a_choice_depends_on_is_found():
    found = specialisation(ByWord(), texts=20)
    assert found["word"].share == pytest.approx([1, 1])
    assert 0.05 < found["class"].share[0] < 0.9 and found["class"].shuffled[0] < 0.1
    assert found["sense"].share == found["sense"].shuffled == [0, 0]  # nothing is left to explain
    assert all(each.share[0] > each.shuffled[0] for name, each in found.items() if name in ("word", "class"))


def test_without_a_word_of_two_senses_nothing_is_explained(monkeypatch):
    seen = (["mia", "ran"], ["person", "other word"], [0, 1], ["", ""], torch.tensor([[0, 1], [1, 1]]))
    monkeypatch.setattr(specialists, "_observations", lambda *_: seen)
    found = specialisation(torch.nn.Identity())
    assert found["word"].share == [1, 0] and found["sense"].share == found["sense"].shuffled == [0, 0]
