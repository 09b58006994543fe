"""A ViT that reads a digit: hidden patches, weights, the drawings, the words, and the explorer."""

import pytest
import torch

from tx_helpers.lessons.beyond_text.digit_attention import (
    HIDE,
    Reading,
    article,
    changed_answers,
    changed_by_any,
    describe,
    digit_attention_explorer,
    draw,
    emptied,
    misread,
    read,
)
from tx_helpers.lessons.beyond_text.digits import digits
from tx_helpers.lessons.beyond_text.vit import TinyViT, class_attention, patches

IMAGES = digits("test").images[:5]
WEIGHTS = torch.tensor([[0.25, 0.0, 0.01, 0.022, 0.03, 0.5, *[0.019] * 10, 0.0]])
CHANCES, BEFORE = torch.eye(10)[[4]] * 0.75, torch.eye(10)[[9]] * 0.5


@pytest.fixture(scope="module")
def model():
    return TinyViT(seed=1).eval()


# --- compute ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 4])
def test_one_patch_of_each_image_is_emptied(size):
    model = TinyViT(d_model=4, n_heads=1, size=size)
    images = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(0)) + 0.1
    patch = torch.tensor([0, model.n_patches - 1, 2])
    cut, before = patches(emptied(model, images, patch), size), patches(images, size)
    for row, hidden in enumerate(patch.tolist()):
        assert (cut[row, hidden] == 0).all()
        others = [n for n in range(model.n_patches) if n != hidden]
        assert torch.equal(cut[row, others], before[row, others])


def test_a_reading_is_that_of_the_model(model):
    seen = read(model, IMAGES, 1, 2)
    assert torch.equal(seen.weights, class_attention(model, IMAGES)[:, 1, 2])
    with torch.no_grad():
        assert torch.equal(seen.before, model(IMAGES).softmax(-1))
    assert torch.equal(seen.chances, seen.before) and seen.hidden.tolist() == [-1] * 5
    for hide, chosen in ((HIDE[1], seen.weights[:, 1:].argmax(-1)), (HIDE[2], seen.weights[:, 1:].argmin(-1))):
        without = read(model, IMAGES, 1, 2, hide)
        assert torch.equal(without.hidden, chosen) and torch.equal(without.before, seen.before)
        assert torch.equal(without.shown, emptied(model, IMAGES, chosen))
        with torch.no_grad():
            assert torch.equal(without.chances, model(without.shown).softmax(-1))


def test_misread_digits_are_counted(model):
    with torch.no_grad():
        answers = model(IMAGES).argmax(-1)
    labels = answers.clone()
    labels[[1, 4]] += 1
    assert misread(model, IMAGES, labels) == [1, 4]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (dict(layer=2), "read: layer=2, expected at least 0 and less than 2"),
        (dict(head=-1), "read: head=-1, expected at least 0 and less than 4"),
        (dict(hide="all"), "read: hide='all', expected one of nothing, the patch with most weight, "),
        (dict(images=IMAGES[0]), "patches: images of shape (8, 8), expected float (B, 8, 8)"),
    ],
)
def test_a_wrong_argument_is_named(model, wrong, error):
    with pytest.raises(ValueError) as raised:
        read(**dict(model=model, images=IMAGES) | wrong)
    assert str(raised.value).startswith(error)


def test_changed_answers_are_counted_for_each_layer_and_head(model):
    images = digits("test").images[:40]
    for hide in HIDE:
        shares = changed_answers(model, images, hide)
        assert shares.shape == (2, 4)
        for layer, head in ((0, 3), (1, 2)):
            seen = read(model, images, layer, head, hide)
            other = [
                a != b for a, b in zip(seen.chances.argmax(-1).tolist(), seen.before.argmax(-1).tolist(), strict=True)
            ]
            assert shares[layer, head].item() == pytest.approx(sum(other) / 40)
    assert changed_answers(model, images, "nothing").max() == 0
    before, lost = model(images).argmax(-1), 0
    for patch in range(16):
        one = patches(images).clone()
        one[:, patch] = 0
        rows = one.reshape(40, 4, 4, 2, 2).transpose(2, 3).reshape(40, 8, 8)
        lost += (model(rows).argmax(-1) != before).sum().item()
    assert lost and changed_by_any(model, images) == pytest.approx(lost / 640)


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """Gold says the weights, a frame what is hidden, orange a wrong answer."""
    seen = Reading(IMAGES[:1], WEIGHTS, CHANCES, BEFORE, torch.tensor([4]))
    as_stored(
        hidden=draw(IMAGES[0], 9, seen, "layer 1, head 2", [3, 14, *range(20, 60)]),
        whole=draw(IMAGES[0], 8, seen._replace(hidden=torch.tensor([-1])), "layer 1, head 2"),
    )


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_follows_its_controls(model):
    explorer = digit_attention_explorer(model)
    labels = digits("test").labels
    assert explorer.summary.startswith(f"{article(labels[0]).capitalize()} {labels[0]}, read as ")
    assert "In layer 2, head 1, " in explorer.summary
    explorer.set(number=3, layer=1, head=4, hide=HIDE[2])
    seen = read(model, digits("test").images[3:4], 0, 3, HIDE[2])
    assert explorer.summary == describe(int(labels[3]), seen, "layer 1, head 4")
    explorer._clicked(None, {"sets": "number=7"}, [])
    assert explorer.summary.startswith(f"{article(labels[7]).capitalize()} {labels[7]}, read as ")
    with pytest.raises(ValueError, match="digit_attention_explorer: model is 'vit', expected a TinyViT"):
        digit_attention_explorer("vit")
