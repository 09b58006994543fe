"""What learners write computes the same as the package, whose code the solutions do not use."""

import torch

from tx_helpers.exercises.catalogue import find, of_lesson
from tx_helpers.lessons.beyond_text import captions, vit
from tx_helpers.lessons.beyond_text.digits import digits


def solved(name: str):
    return find(name).answer


def test_no_solution_calls_the_package():
    assert [e.name for e in of_lesson("beyond_text") if "tx_helpers" in e.solution_source()] == []


def test_pictures_of_patches():
    images = digits("test").images
    assert torch.equal(solved("picture_of")(vit.patches(images), 8, 8), images)
    assert torch.equal(solved("patches_of")(images, 4), vit.patches(images, 4))


def test_the_contrastive_loss():
    generator = torch.Generator().manual_seed(3)
    pictures, words = torch.randn(7, 5, generator=generator), torch.randn(7, 5, generator=generator)
    scores = solved("caption_scores")(pictures, words, 0.3)
    torch.testing.assert_close(scores, captions.scores_of(pictures, words, 0.3))
    torch.testing.assert_close(solved("contrastive_loss")(scores), captions.contrastive_loss(pictures, words, 0.3))


def test_multiplications():
    """By hand: the matrix of the patches, in each block four matrices, a hidden layer and two tables, the output."""
    block = 17 * (4 * 32 * 32 + 2 * 32 * 64) + 2 * 17 * 17 * 32
    assert vit.multiplications(vit.TinyViT()) == 16 * 4 * 32 + 2 * block + 32 * 10
    third = 16 * 9 * 32 * 30 + 10 * 30 * 16
    assert vit.multiplications(vit.SmallConvolution()) == 64 * 9 * (16 + 16 * 32) + third
