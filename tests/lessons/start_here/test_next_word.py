"""The next words of a text: those of the model that comes with the package."""

import pytest
import torch

from tx_helpers.lessons.start_here.next_word import next_words
from tx_helpers.text.data import BOS
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.zoo.world_models import world_model


def test_they_are_the_models_likeliest_with_their_probabilities():
    found = next_words("Nora has a garden with a", 506)
    tokenizer = world_tokenizer()
    ids = torch.tensor([[BOS, *tokenizer.encode("nora has a garden with a")]])
    with torch.no_grad():
        p = world_model("decoder")(ids)[0, -1].softmax(-1)
    assert [chance for _, chance in found] == sorted((chance for _, chance in found), reverse=True)
    for word, chance in found:
        assert chance == pytest.approx(p[tokenizer.tokens.index(word)].item(), abs=1e-6)


def test_after_a_garden_comes_a_fruit():
    words = [word for word, _ in next_words("Nora has a garden with a")]
    assert set(words) <= {"pear", "lime", "peach", "plum", "lemon", "apple", "orange", "cherry"} and len(words) == 5


@pytest.mark.parametrize(
    ("text", "count", "says"),
    [
        ("the zebra", 5, "does not know 'zebra'"),
        (" ", 5, "needs at least one word"),
        ("ada", 0, "count=0"),
    ],
)
def test_what_it_cannot_do_is_named(text, count, says):
    with pytest.raises(ValueError, match=f"next_words: .*{says}"):
        next_words(text, count)
