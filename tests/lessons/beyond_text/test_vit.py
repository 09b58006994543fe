"""The tiny ViT and the convolution beside it: shapes, equations, training, what is read off the trained model."""

import pytest
import torch
import torch.nn.functional as F

from tx_helpers.lessons.beyond_text.digits import digits
from tx_helpers.lessons.beyond_text.vit import (
    SmallConvolution,
    TinyViT,
    accuracy,
    class_attention,
    patches,
    train_on_digits,
)
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import count_parameters

IMAGES = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(0))
SMALL = dict(d_model=12, n_heads=3, d_ff=10, n_layers=2)


def test_patches_are_squares_row_by_row():
    image = torch.arange(64.0).reshape(1, 8, 8)
    cut = patches(image)
    assert cut.shape == (1, 16, 4)
    assert cut[0, 0].tolist() == [0, 1, 8, 9] and cut[0, 1].tolist() == [2, 3, 10, 11]
    assert cut[0, 4].tolist() == [16, 17, 24, 25]
    assert torch.equal(patches(IMAGES, 4)[2, 3], IMAGES[2, 4:, 4:].flatten())
    assert torch.equal(patches(IMAGES, 1)[..., 0], IMAGES.flatten(1))


def test_the_forward_pass_is_that_of_the_paper():
    model = TinyViT(**SMALL, seed=3).eval()
    x = patches(IMAGES) @ model.embed.weight.T + model.embed.bias
    z = torch.cat([model.class_token[None, None].repeat(3, 1, 1), x], 1) + model.positions.table.weight
    for block in model.blocks:
        z = block(z)
    expected = F.layer_norm(z[:, 0], (12,)) @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(model(IMAGES), expected)


def test_without_positions_the_order_of_patches_means_nothing():
    model = TinyViT(**SMALL).eval()
    shuffled = IMAGES.clone()
    shuffled[:, :2, :2], shuffled[:, 4:6, 6:] = IMAGES[:, 4:6, 6:], IMAGES[:, :2, :2]
    assert not torch.allclose(model(shuffled), model(IMAGES))
    with torch.no_grad():
        model.positions.table.weight.zero_()
    torch.testing.assert_close(model(shuffled), model(IMAGES))


def test_both_models_have_the_same_size_within_one_per_cent():
    sizes = [count_parameters(TinyViT()), count_parameters(SmallConvolution())]
    assert sizes == [18218, 18280]


def test_initial_values_depend_on_the_seed_alone():
    for kind in (TinyViT, SmallConvolution):
        state = torch.get_rng_state()
        one, same, other = kind(seed=5)(IMAGES), kind(seed=5)(IMAGES), kind(seed=6)(IMAGES)
        assert torch.equal(one, same) and not torch.equal(one, other)
        assert torch.equal(torch.get_rng_state(), state)


def test_attention_of_the_class_token_is_that_of_the_forward_pass():
    model = TinyViT(**SMALL).eval()
    seen = class_attention(model, IMAGES)
    assert seen.shape == (3, 2, 3, 17)
    torch.testing.assert_close(seen.sum(-1), torch.ones(3, 2, 3))
    with capture(model, "blocks.1.self_attention.weights") as real, torch.no_grad():
        model(IMAGES)
    assert torch.equal(seen[:, 1], real["blocks.1.self_attention.weights"][:, :, 0])
    assert class_attention(TinyViT(**SMALL, size=4), IMAGES).shape == (3, 2, 3, 5)


def test_accuracy_counts():
    class Zero(torch.nn.Module):
        def forward(self, images):
            return F.one_hot(torch.zeros(len(images)).long(), 10)

    test = digits("test")
    assert accuracy(Zero(), test) == (test.labels == 0).double().mean().item()


def test_training_is_the_same_each_time_and_leaves_random_numbers_alone():
    state = torch.get_rng_state()
    one, same = (train_on_digits(TinyViT(**SMALL), steps=3) for _ in range(2))
    other = train_on_digits(TinyViT(**SMALL), steps=3, seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(one(IMAGES), same(IMAGES)) and not torch.equal(one(IMAGES), other(IMAGES))
    assert not one.training


@pytest.mark.thorough
def test_a_few_seconds_of_training_read_most_digits():
    for model, known, new in ((TinyViT(), 0.93, 0.85), (SmallConvolution(), 0.95, 0.91)):
        state = {name: value.clone() for name, value in model.state_dict().items()}
        assert accuracy(train_on_digits(model), digits("test")) > known
        model.load_state_dict(state)
        train_on_digits(model, digits("train", in_order=True))
        assert new < accuracy(model, digits("test", in_order=True)) < accuracy(model, digits("train", in_order=True))


@pytest.mark.thorough
def test_what_is_said_of_both_models_holds_at_five_seeds():
    """The convolution wins, most clearly on digits of new writers; both learn."""
    gaps = {False: [], True: []}
    for seed in range(5):
        for in_order in gaps:
            seen, test = digits("train", in_order=in_order), digits("test", in_order=in_order)
            vit = train_on_digits(TinyViT(seed=seed), seen, seed=seed)
            convolution = train_on_digits(SmallConvolution(seed=seed), seen, seed=seed)
            gaps[in_order].append(accuracy(convolution, test) - accuracy(vit, test))
            assert accuracy(vit, test) > (0.87 if in_order else 0.945)
    assert min(gaps[False]) > -0.02 and 0 < sum(gaps[False]) < sum(gaps[True])
    assert min(gaps[True]) > 0.01


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: patches(IMAGES[0]), "patches: images of shape (8, 8), expected float (B, 8, 8)"),
        (
            lambda: patches(IMAGES, 3),
            "patches: images of 8 × 8 cannot be cut into patches of 3 × 3; expected a divisor",
        ),
        (lambda: TinyViT(d_model=0), "TinyViT: d_model=0, expected at least 1"),
        (
            lambda: SmallConvolution()(IMAGES[:, :7]),
            "SmallConvolution: images of shape (3, 7, 8), expected float (B, 8, 8)",
        ),
        (lambda: train_on_digits(TinyViT, steps=1), "train_on_digits: model is a type, expected a Module"),
        (lambda: train_on_digits(TinyViT(), steps=0), "train_on_digits: steps=0, expected at least 1"),
        (
            lambda: class_attention(SmallConvolution(), IMAGES),
            "class_attention: model is a SmallConvolution, expected a TinyViT",
        ),
    ],
)
def test_a_wrong_argument_is_named(call, error):
    with pytest.raises(ValueError) as raised:
        call()
    assert str(raised.value) == error
