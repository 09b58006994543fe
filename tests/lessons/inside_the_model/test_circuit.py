"""The search for a circuit and direct effects, on small models."""

import pytest
import torch

from machine_view_page import PAIRS, translator
from tx_helpers.lessons.inside_the_model.circuit import circuit_explorer, direct_effects, draw, one_by_one, search
from tx_helpers.lessons.inside_the_model.findings import RECORDED
from tx_helpers.lessons.inside_the_model.tools import Part, mean_activations, parts_of, score, without
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import PAD, sequence_batch


@pytest.fixture(scope="module")
def small():
    return translator()


@pytest.fixture(scope="module")
def batch(small):
    batch = sequence_batch(small.data.encode(PAIRS))
    with torch.no_grad():  # what it says of itself is right, so that there is something to lose
        said = small.model(batch.source, batch.decoder_input).argmax(-1)
    return batch._replace(target=torch.where(batch.target == PAD, PAD, said))


def test_one_by_one(small, batch):
    means = mean_activations(small.model, batch)
    found = one_by_one(small.model, batch, means)
    assert list(found) == parts_of(small.model)
    for part in parts_of(small.model)[::7]:
        assert found[part] == score(small.model, batch, without([part], means))[0]


def test_the_search_takes_out_the_cheapest_again_and_again(small, batch):
    means = mean_activations(small.model, batch)
    steps = list(search(small.model, batch, means, keep=len(parts_of(small.model)) - 3))
    gone = []
    for step in steps:
        left = [part for part in parts_of(small.model) if part not in gone]
        scores = {part: score(small.model, batch, without([*gone, part], means)) for part in left}
        assert scores[step.part] == max(scores.values()) and step.match == scores[step.part][0]
        gone.append(step.part)
    assert len(gone) == len(set(gone)) == 3


def test_more_parts_than_there_are_cannot_be_kept(small, batch):
    with pytest.raises(ValueError, match="search: keep=99, expected"):
        list(search(small.model, batch, {}, keep=99))


def test_direct_effects_and_the_rest_add_up_to_the_difference_of_the_logits(small, batch):
    model = small.model
    rows, at = torch.tensor([0, 1, 2]), torch.tensor([1, 0, 2])
    first, second = torch.tensor([5, 7, 9]), torch.tensor([6, 6, 3])
    effects = direct_effects(model, batch, rows, at, (first, second))
    assert list(effects) == [part for part in parts_of(model) if part.path.startswith("decoder")]
    last = f"decoder.blocks.{len(model.decoder.blocks) - 1}.hidden"
    with capture(model, last, "decoder.input.hidden") as seen, torch.no_grad():
        logits = model(batch.source, batch.decoder_input)[rows, at]
    biases = [
        block.get_submodule(name).output.bias
        for block in model.decoder.blocks
        for name in ("self_attention", "cross_attention")
    ]
    rest = seen["decoder.input.hidden"][rows, at] + sum(biases).detach()
    sigma = seen[last][rows, at].std(-1, unbiased=False, keepdim=True)
    table, norm = model.output.weight.detach(), model.decoder.norm
    direction = table[first] - table[second]
    added = ((rest - rest.mean(-1, keepdim=True)) / sigma * norm.weight + norm.bias).detach()
    difference = (logits.gather(1, first[:, None]) - logits.gather(1, second[:, None])).mean().item()
    total = sum(effects.values()) + (added * direction).sum(-1).mean().item()
    assert total == pytest.approx(difference, abs=1e-4)


PARTS = [Part("encoder.blocks.0.self_attention", head) for head in range(4)]
PARTS += [Part("encoder.blocks.0.feed_forward"), Part("decoder.blocks.0.cross_attention", 0)]


def test_the_drawing(as_stored):
    as_stored(some=draw(PARTS, PARTS[3:5], 0.5, 0.405, 2), none=draw(PARTS, [], 0, 0, 0))


def test_the_text_counts_heads_and_sentences():
    assert draw(PARTS, PARTS[3:], 0.5, 0.405, 2).alt == (
        "Seed 2: 3 of 6 parts are kept (encoder block 1 self-attention 1, encoder block 1 feed-forward 1, decoder "
        "block 1 cross-attention 1). 50% of the sentences searched with are right, 40% of unseen ones."
    )


def test_the_explorer_follows_the_record():
    runs = RECORDED.read()["seeds"]
    explored = circuit_explorer(runs)
    explored.set(seed="1", kept=20)
    step = runs["1"]["search"][7]
    assert explored.summary.startswith("Seed 1: 20 of 28 parts are kept")
    assert f"{step['found']:.0%} of the sentences searched with" in explored.summary
    explored.set(kept=28)
    assert "28 of 28 parts" in explored.summary and "100% of the sentences searched with are right" in explored.summary
