"""The shipped digits: what is in the file, and how it is divided."""

import hashlib

import pytest
import torch

from tx_helpers.lessons.beyond_text.digits import FILE, digits

BOTH = [False, True]


def all_digits(in_order):
    parts = digits("train", in_order=in_order), digits("test", in_order=in_order)
    return torch.cat([part.images for part in parts]), torch.cat([part.labels for part in parts])


@pytest.mark.parametrize("in_order", BOTH)
def test_the_parts_are_all_1797_digits_each_once(in_order):
    images, labels = all_digits(in_order)
    assert images.shape == (1797, 8, 8) and images.dtype == torch.float32
    assert torch.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # as UCI counts them
    assert len((16 * images).byte().flatten(1).unique(dim=0)) == 1797
    assert len(digits("test", in_order=in_order).labels) == 500


def test_in_order_they_are_those_of_scikit_learn():
    images, labels = all_digits(True)
    content = (16 * images).byte().numpy().tobytes() + labels.byte().numpy().tobytes()
    # of load_digits() of scikit-learn 1.9.1: images and target, as uint8
    assert hashlib.sha256(content).hexdigest() == "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"
    assert FILE.stat().st_size < 80_000


def test_pixels_are_sixteenths_from_paper_to_ink():
    images, _ = all_digits(False)
    assert torch.equal((16 * images).round(), 16 * images)
    assert (images.min(), images.max()) == (0, 1)
    assert images[:, :, 0].mean() < 0.01 < 0.5 < images[:, 4, 3:5].mean() + images[:, 3, 3:5].mean()


def test_every_call_gives_the_same_division_and_the_two_differ():
    assert torch.equal(digits("test").labels, digits("test").labels)
    assert not torch.equal(digits("test").labels, digits("test", in_order=True).labels)
    assert digits("train", in_order=True).labels[:12].tolist() == [*range(10), 0, 1]
    for in_order in BOTH:  # no class is missing from a part
        assert (torch.bincount(digits("test", in_order=in_order).labels, minlength=10) > 30).all()


def test_neighbours_in_the_file_look_alike():
    """What the docstring says of writers: 58 % against 14 % by chance."""
    images, labels = all_digits(True)
    distances = torch.cdist(images.flatten(1), images.flatten(1))
    distances[labels[:, None] != labels] = torch.inf
    distances.fill_diagonal_(torch.inf)
    places = torch.arange(1797)
    near = ((distances.argmin(1) - places).abs() < 130).double().mean()
    chance = ((places[:, None] - places).abs() < 130).double().mean()
    assert abs(near - 0.58) < 0.01 and abs(chance - 0.14) < 0.01


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (dict(part="tests"), "digits: part='tests', expected one of train, test"),
        (dict(in_order=1), "digits: in_order is 1, expected a bool"),
    ],
)
def test_a_wrong_argument_is_named(arguments, error):
    with pytest.raises(ValueError) as raised:
        digits(**arguments)
    assert str(raised.value) == error
