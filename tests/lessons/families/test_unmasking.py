"""A text that appears from masks: passes, orders, training, the record, the drawing."""

from itertools import product

import pytest
import torch

from tx_helpers.lessons.families.unmasking import (
    ORDERS,
    PASSES,
    SEEDS,
    any_share,
    draw,
    masks_after,
    recorded,
    scores_chart,
    unmasked,
    unmasking_explorer,
    written_in,
)
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import CLS, MASK, SEP, word_ids, world_id
from tx_helpers.zoo.world_models import new_world_model


@pytest.fixture(scope="module")
def untrained():
    torch.manual_seed(0)
    return new_world_model("encoder").eval()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("passes", "left"), [(1, [0]), (3, [4, 2, 0]), (0, [*range(6, -1, -1)]), (9, [*range(6, -1, -1)])]
)
def test_each_pass_fills_its_part_and_keeps_what_stands(untrained, order, passes, left):
    before = masks_after("tom lost a cat .", 7)
    texts = [before, *unmasked(untrained, before, passes, order, torch.Generator().manual_seed(0))]
    masked = [text == world_id(MASK) for text in texts]
    assert [int(each.sum()) for each in masked[1:]] == left
    for earlier, later, hidden in zip(texts, texts[1:], masked, strict=False):
        assert torch.equal(earlier[~hidden], later[~hidden])
    assert set(texts[-1][6:-1].tolist()) <= set(word_ids())
    if order == "left":
        assert all(not mask[6 : 13 - int(mask.sum())].any() for mask in masked)


def test_the_surest_word_comes_first():
    word = word_ids().start + 5

    def third_is_sure(ids):
        logits = torch.zeros(1, ids.shape[1], word_ids().stop)
        logits[0, :, world_id(SEP)] = 9.0  # no word: never written
        logits[0, 3, word] = 4.0
        return logits

    first = next(unmasked(third_is_sure, masks_after("tom", 4), 0, "surest"))
    assert first[3] == word and (first == world_id(MASK)).sum() == 3


def test_an_unknown_order_is_refused(untrained):
    with pytest.raises(ValueError, match="unmasked: order='best', expected one of surest"):
        next(unmasked(untrained, masks_after("tom", 2), 1, "best"))


def test_each_text_has_its_own_share_of_masks():
    batch = any_share(0)(3)
    ids, target = batch.inputs[0], batch.target
    hidden = ids == world_id(MASK)
    assert torch.equal(hidden, target >= 0)
    assert not torch.isin(target, torch.tensor([world_id(CLS), world_id(SEP)])).any()
    shares = hidden.sum(1) / (ids != 0).sum(1)
    assert shares.min() < 0.2 and shares.max() > 0.7
    assert torch.equal(any_share(0)(3).target, target) and not torch.equal(any_share(1)(3).target[0, :5], target[0, :5])


def test_a_fault_is_the_first_word_that_the_world_never_writes():
    text = "ada asked lucy for help because she could not cook . then both went to the forest ."
    assert little_world().first_fault(text, 11) is None
    assert little_world().first_fault(text.replace("both", "cook"), 11) == 12


def test_the_record_has_every_line_and_shows_all_words():
    table = recorded()
    for name, orders in table["possible"].items():
        assert set(orders) == set(ORDERS if name == "any" else ORDERS[:1])
        assert all(len(scores) == len(SEEDS) for row in orders.values() for scores in row.values())
    for order, passes, seed in product(ORDERS, PASSES, SEEDS):
        written = written_in(order, passes, seed)
        assert max(number for _, number in written) == (passes or len(written))
    assert "Decoder, from left to right:" in scores_chart().alt


def test_masks_become_words_in_the_drawing():
    masks = len(written_in("surest", 0, 0))
    assert (
        draw(4, "surest", 0, 0).svg.count(">?</text>") == masks and draw(4, "surest", 0, 4).svg.count(">?</text>") == 0
    )
    explorer = unmasking_explorer()
    assert f"({masks} masks left)" in explorer.summary
    explorer.set(passes=1, done=1, order="left", training=2)
    assert explorer.summary.startswith("Pass 1 of 1, from the left, training 2: ")
