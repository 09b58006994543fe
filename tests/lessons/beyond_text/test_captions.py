"""Drawn shapes, captions and what was recorded of them."""

import torch

from tx_helpers.lessons.beyond_text import captions, drawn_shapes
from tx_helpers.lessons.beyond_text.amounts import AMOUNTS, CHANGES, MODELS, amounts, rearranged, unpatched
from tx_helpers.lessons.beyond_text.caption_search import gallery, search
from tx_helpers.lessons.beyond_text.digits import digits
from tx_helpers.lessons.beyond_text.stored_weights import load_small
from tx_helpers.lessons.beyond_text.vit import patches


def test_unseen_pairs_are_never_drawn_for_training():
    scenes = drawn_shapes.one_shape(500, generator=torch.Generator().manual_seed(0))
    drawn = {tuple(drawn_shapes.text_of(row).split()[:2]) for row in scenes.captions.tolist()}
    assert drawn == set(drawn_shapes.SEEN) and not drawn & set(drawn_shapes.HELD_OUT)


def test_exchanging_twice_gives_the_caption_back():
    scenes = drawn_shapes.two_shapes(9, generator=torch.Generator().manual_seed(1))
    turned = drawn_shapes.swapped(scenes.captions)
    assert not torch.equal(turned, scenes.captions)
    assert torch.equal(drawn_shapes.swapped(turned), scenes.captions)


def test_a_batch_with_opposites_holds_each_caption_and_its_opposite():
    batch = captions.with_opposites(8, torch.Generator().manual_seed(2))
    assert torch.equal(drawn_shapes.swapped(batch.captions[:4]), batch.captions[4:])


def test_the_stored_models_give_the_recorded_figures():
    for kind in captions.ORDERS:
        model = load_small(captions.PictureAndCaption(), f"order_{kind}")
        recorded = captions.recorded_captions()["order"][kind][0]
        for name, value in captions.order_scores(model).items():
            assert abs(value - recorded[name]) < 0.02


def test_a_search_scores_every_picture():
    shown = gallery()
    scores = search(captions.PictureAndCaption(), shown, "blue square top-left")
    assert scores.shape == (64,) and scores.abs().max() <= 1.0001


def test_shuffled_pictures_hold_the_same_pixels():
    images = digits("test").images
    assert torch.equal(unpatched(patches(images)), images)
    for change in CHANGES[1:3]:
        moved = rearranged(images, change)
        assert not torch.equal(moved, images)
        assert torch.equal(moved.flatten(1).sort().values, images.flatten(1).sort().values)
    moved = rearranged(images, CHANGES[3])
    assert torch.equal(moved[:, :, 1:], images[:, :, :-1]) and not moved[:, :, 0].any()


def test_all_amounts_are_recorded():
    found = amounts()
    assert set(found["right"]) == set(found["changed"]) == set(MODELS)
    for name in MODELS:
        assert list(found["right"][name]) == [str(n) for n in AMOUNTS]
        assert set(found["changed"][name]) == set(CHANGES[1:])
        assert all(len(runs) == 5 for runs in [*found["right"][name].values(), *found["changed"][name].values()])
