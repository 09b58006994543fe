"""Speculative decoding changes how often the large model runs, and never what it writes."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from parity import H, V, normal, properties, tokens
from toy_models import config, model
from tx_helpers.generation.search import generate
from tx_helpers.lessons.cheaper_and_longer.speculative import (
    Dice,
    acceptance_rate,
    break_even,
    expected_speed_up,
    expected_tokens,
    speculate,
    verify,
)
from tx_helpers.nn.config import AttentionConfig
from tx_helpers.nn.models import DecoderOnly
from wrong_arguments import faults

SMALL = 3  # tokens of a vocabulary that can be enumerated


def markov(seed: int, sharpness: float = 1.0, V: int = SMALL):
    """The distribution of the next token after each token, (V, V)."""
    return (sharpness * normal(V, V, seed=seed)).softmax(-1)


class Markov(DecoderOnly):
    """A language model that sees the last token only, fast enough to be asked ten thousand times."""

    def __init__(self, table):
        nn.Module.__init__(self)
        self.table, self.config = table, config(vocab_size=len(table))

    def start(self, batch: int = 1):
        return MarkovState(self.table.log())


class MarkovState:
    def __init__(self, logits):
        self.logits, self.ids = logits, torch.empty(1, 0, dtype=torch.long)

    def step(self, ids):
        self.ids = torch.cat([self.ids, ids], dim=1)
        return self.logits[ids]

    def rewind(self, length):
        self.ids = self.ids[:, :length]


def one_round(p_table, q_table, first: int, ahead: int):
    """Every way that a round can go, with its probability: the tokens kept, and the distribution of the next."""
    for drafted in product(range(SMALL), repeat=ahead):
        path = (first, *drafted)
        q, p = q_table[list(path[:-1])], p_table[list(path)]
        chance = torch.prod(torch.stack([q[i, x] for i, x in enumerate(drafted)]))
        keep = torch.stack([torch.clamp(p[i, x] / q[i, x], max=1) for i, x in enumerate(drafted)])
        for kept in product((True, False), repeat=ahead):
            uniforms = torch.tensor([0.0 if one else 1 - 1e-12 for one in kept], dtype=torch.float64)
            weight = torch.where(torch.tensor(kept), keep, 1 - keep).prod() * chance
            if weight > 0:
                count, following = verify(torch.tensor(drafted), q, p, uniforms)
                yield weight, drafted[: int(count)], following


@pytest.mark.parametrize("ahead", [1, 2, 3])
@pytest.mark.parametrize("seeds", [(0, 1), (2, 3), (4, 4)])
def test_the_distribution_is_the_large_models_by_enumeration(seeds, ahead):
    """The first two tokens of a round, over all drafts and decisions; after a round of one, the next is the model's."""
    p_table, q_table = markov(seeds[0]), markov(seeds[1], sharpness=3.0)
    found, accepted = torch.zeros(SMALL, SMALL, dtype=torch.float64), 0.0
    for weight, kept, following in one_round(p_table, q_table, 0, ahead):
        accepted += weight.item() * (len(kept) > 0)
        if len(kept) >= 2:
            found[kept[0], kept[1]] += weight
        elif len(kept) == 1:
            found[kept[0]] += weight * following
        else:
            found += weight * following[:, None] * p_table
    torch.testing.assert_close(found, p_table[0][:, None] * p_table, rtol=0, atol=1e-12)
    assert acceptance_rate(p_table[0], q_table[0]).item() == pytest.approx(accepted)


def chi_square(counts, expected) -> float:
    return ((counts - expected).square() / expected).sum().item()


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_ten_thousand_texts(temperature):
    """Three tokens written, two drafted before each pass: 27 texts, 26 degrees of freedom."""
    n, generator = 10_000, torch.Generator().manual_seed(0)
    large, draft = Markov(markov(0)), Markov(markov(1))
    counts = torch.zeros(SMALL**3, dtype=torch.float64)
    for _ in range(n):
        options = dict(max_new_tokens=3, ahead=2, temperature=temperature, generator=generator)
        a, b, c = speculate(large, draft, torch.tensor([[0]]), **options).ids[0].tolist()
        counts[9 * a + 3 * b + c] += 1
    p = (markov(0).log() / temperature).softmax(-1)
    assert chi_square(counts, n * (p[0][:, None, None] * p[:, :, None] * p[None]).flatten()) < 54.1


@given(seed=st.integers(0, 999), ahead=st.integers(0, 4))
@properties
def test_what_is_kept_and_what_is_left_to_draw(seed, ahead):
    drafted = tokens(2, ahead, seed=seed, low=0, high=5)
    q, p = normal(2, ahead, 5, seed=seed).softmax(-1), normal(2, ahead + 1, 5, seed=seed + 1).softmax(-1)
    uniforms = torch.rand(2, ahead, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    counts, following = verify(drafted, q, p, uniforms)
    for row in range(2):
        kept = 0
        while (
            kept < ahead and uniforms[row, kept] < p[row, kept, drafted[row, kept]] / q[row, kept, drafted[row, kept]]
        ):
            kept += 1
        assert counts[row] == kept
        rest = (p[row, kept] - q[row, kept]).clamp(min=0) if kept < ahead else p[row, kept]
        torch.testing.assert_close(following[row], rest / rest.sum(), rtol=0, atol=1e-12)


def test_a_perfect_draft_is_kept_and_nothing_is_left():
    p = markov(0)
    assert acceptance_rate(p, p).tolist() == pytest.approx([1.0] * SMALL)
    count, following = verify(torch.tensor([1]), p[:1], p[:2], torch.tensor([1 - 1e-12], dtype=torch.float64))
    assert count == 1
    torch.testing.assert_close(following, p[1])
    unlike = torch.eye(SMALL, dtype=torch.float64)
    assert acceptance_rate(unlike[0], unlike[1]) == 0
    count, following = verify(torch.tensor([1]), unlike[1:2], unlike[[0, 0]], torch.zeros(1, dtype=torch.float64))
    assert count == 0 and torch.equal(following, unlike[0])


@pytest.mark.parametrize("ahead", [1, 3, 20])
def test_greedy_is_greedy_and_a_perfect_draft_saves_passes(ahead):
    large, draft = model(DecoderOnly, "rotary, halves"), model(DecoderOnly, "alibi", n_layers=1)
    passes = []
    large.decoder.register_forward_hook(lambda *_: passes.append(1))
    prompt = tokens(1, 3)
    options = dict(max_new_tokens=10, temperature=0.0)
    right = generate(large, prompt, **options)
    assert len(passes) == 10  # one for each token
    for drafter in (draft, large):
        passes.clear()
        written = speculate(large, drafter, prompt, ahead=ahead, **options)
        assert torch.equal(written.ids, right) and written.passes <= 10
        assert written.passes + written.accepted == 10  # a pass writes one token beside those that are kept
        if drafter is draft:
            assert written.passes == len(passes)
    assert written.accepted == written.drafted and written.passes == -(-10 // (ahead + 1))


def test_drawn_texts_repeat_with_the_generator_and_the_models_stay_as_they_were():
    large, draft = model(DecoderOnly).train(), model(DecoderOnly, n_layers=1)
    texts = [
        speculate(large, draft, tokens(1, 3), max_new_tokens=8, generator=torch.Generator().manual_seed(seed)).ids
        for seed in (1, 1, 2)
    ]
    assert torch.equal(texts[0], texts[1]) and not torch.equal(texts[0], texts[2])
    assert texts[0].shape == (1, 8) and large.training and not draft.training


def test_the_formulas():
    """Leviathan et al. 2023, table 1 and theorem 3.8: a = 0.8 and 5 ahead give 3.69 tokens for a pass."""
    assert expected_tokens(0.8, 5) == pytest.approx((1 - 0.8**6) / (1 - 0.8)) == pytest.approx(3.68928)
    assert expected_tokens(1.0, 5) == 6 and expected_tokens(0.0, 5) == 1


def test_a_draft_pays_below_the_break_even_cost():
    assert expected_speed_up(0.8, 5, 0.1) == pytest.approx(3.68928 / 1.5)
    assert expected_speed_up(0.5, 2, break_even(0.5, 2)) == pytest.approx(1) and break_even(0.5, 2) == 0.375
    assert break_even(1.0, 4) == 1 and break_even(0.0, 4) == 0


def test_dice_fall_as_weighted():
    dice = Dice(1)
    drawn = torch.tensor([dice.draw(torch.tensor([1.0, 0.0, 3.0])) for _ in range(2000)])
    assert (torch.bincount(drawn, minlength=3) / 2000 - torch.tensor([0.25, 0, 0.75])).abs().max() < 0.05
    assert abs(sum(dice.flip(0.3) for _ in range(2000)) / 2000 - 0.3) < 0.05
    assert dice.flip(1.0) and not dice.flip(0.0)


@pytest.mark.slow
def test_more_is_drafted_than_a_window_sees():
    """Greedy, as without a draft; the cache of a window must give back all that was drafted in vain."""
    large, draft = (
        model(DecoderOnly, n_layers=n, context_length=200, attention=AttentionConfig(H, window=3)) for n in (2, 1)
    )
    found = speculate(large, draft, tokens(1, 3), max_new_tokens=150, ahead=40, temperature=0)
    right = generate(large, tokens(1, 3), max_new_tokens=150, temperature=0)
    assert found.accepted < found.drafted and found.ids.tolist() == right.tolist()


def test_wrong_arguments():
    p, q = normal(2, 3, V).softmax(-1), normal(2, 2, V).softmax(-1)
    assert faults(acceptance_rate, dict(p=q, q=q)) == []
    uniforms = torch.full((2, 2), 0.5, dtype=torch.float64)
    assert faults(verify, dict(drafted=tokens(2, 2), q=q, p=p, uniforms=uniforms)) == []
    large, draft = model(DecoderOnly), model(DecoderOnly, n_layers=1)
    options = dict(max_new_tokens=3, ahead=2, temperature=0.7, generator=torch.Generator())
    assert faults(speculate, dict(large=large, draft=draft, prompt=tokens(1, 3)) | options) == []
    with pytest.raises(ValueError, match="speculate: 11 tokens of the large model, 13 of the draft; expected one voc"):
        speculate(large, model(DecoderOnly, vocab_size=13), tokens(1, 3), max_new_tokens=2)
