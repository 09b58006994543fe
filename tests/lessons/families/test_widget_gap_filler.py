"""A gap filled by three families: what each is asked, the drawing, the words, and the explorer."""

import pytest
import torch

from tx_helpers.lessons.families.gap_filler import TEXT, TRIED, WAYS, draw, fill, gap_filler_explorer
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.zoo.world_models import CLASSES, new_world_model, world_model

FOUND = ["tom", "lost", "a", "cat", "."]
FILLED = {
    "encoder": {"cat": 0.75, "dog": 0.25, "hat": 0.0, "fig": 0.0, "tea": 0.0, "sun": 0.0},
    "decoder, left": {"hat": 0.5, "dog": 0.25, "fig": 0.125, "tea": 0.0625, "sun": 0.0624, "cat": 0.01},
    "decoder, tried": {"cat": 1.0},
    "encoder–decoder": {"dog": 0.5, "cat": 0.5},
    "exact": {},
}


@pytest.fixture(scope="module")
def untrained():
    torch.manual_seed(0)
    models = {kind: new_world_model(kind).eval() for kind in CLASSES}
    with torch.no_grad():
        for model in models.values():
            for parameter in model.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
    return models


@pytest.fixture(scope="module")
def pretrained():
    return {kind: world_model(kind) for kind in CLASSES}


# --- compute ---------------------------------------------------------------------------------------------------------


def test_every_way_gives_a_distribution_over_words(untrained):
    filled = fill(untrained, TEXT, 3)
    assert list(filled) == list(WAYS)
    for way, chances in filled.items():
        values = list(chances.values())
        assert values == sorted(values, reverse=True) and sum(values) == pytest.approx(1, abs=1e-5)
        assert way == "exact" or set(chances) == set(world_tokenizer().tokens)
    assert sum(p > 0 for p in filled["decoder, tried"].values()) <= TRIED
    assert filled["exact"] == little_world().gap_words(TEXT, 3)


@pytest.mark.parametrize("place", [0, 3, 8])
def test_no_way_looks_at_the_hidden_word_and_the_left_side_not_at_the_right(untrained, place):
    words = ["lucy", "has", "a", "goat", ".", "it", "eats", "leaves", "."]
    other = [*words[:place], "cat", *words[place + 1 :]]
    one, same = (fill(untrained, " ".join(text), place) for text in (words, other))
    for way in WAYS:
        assert one[way] == pytest.approx(same[way], abs=1e-6)
    if place < 8:
        further = fill(untrained, " ".join([*words[:-1], "!"]), place)
        assert further["decoder, left"] == pytest.approx(one["decoder, left"], abs=1e-6)
        for way in ("encoder", "decoder, tried", "encoder–decoder"):
            assert further[way] != pytest.approx(one[way], abs=1e-6)


def test_trying_words_follows_bayes_rule(untrained):
    """p(word | rest) is the text's probability with this word, over the sum of it for all words that were tried."""
    words = ["lucy", "has", "a", "goat", "."]
    found = fill(untrained, " ".join(words), 3)["decoder, tried"]
    encode, log_p = world_tokenizer().encode, {}
    for word in [word for word, p in found.items() if p > 0][:3]:
        ids = torch.tensor([encode(" ".join([*words[:3], word, *words[4:]]), bos=True, eos=True)])
        with torch.no_grad():
            scores = untrained["decoder"](ids[:, :-1]).log_softmax(-1)
        log_p[word] = scores.gather(2, ids[:, 1:, None]).sum()
    (one, first), *others = log_p.items()
    for other, second in others:
        assert (found[one] / found[other]) == pytest.approx((first - second).exp().item(), rel=1e-3)


def test_the_pretrained_models_use_the_right_side_where_they_can(pretrained):
    """A text that says "it bleats" later: the left side allows many animals, the rest only a goat."""
    filled = fill(pretrained, TEXT, 3)
    assert filled["exact"] == {"goat": 1.0}
    for way in ("encoder", "decoder, tried", "encoder–decoder"):
        assert filled[way]["goat"] > 0.6
    assert filled["decoder, left"]["goat"] < 0.3


@pytest.mark.parametrize(
    ("text", "place", "error"),
    [
        (TEXT, 36, "fill: place=36, expected at least 0 and less than 36"),
        (TEXT, "goat", "fill: place is 'goat', expected a whole number at least 0 less than 36"),
        ("a goat .", 0, "words_of: 3 words and signs, expected 4 to 60"),
        ("a" * 10_000, 0, "words_of: a text of 10000 characters, expected a text of at most 400 characters"),
    ],
)
def test_a_wrong_argument_is_named(untrained, text, place, error):
    with pytest.raises(ValueError) as raised:
        fill(untrained, text, place)
    assert str(raised.value) == error


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """A column for each way, with its five best and the hidden word."""
    as_stored(columns=draw(FILLED, FOUND, 3))


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_moves_the_gap_through_a_text_of_ones_own(pretrained):
    explorer = gap_filler_explorer(pretrained)
    assert explorer.summary.startswith("Hidden is 'goat'. encoder: 'goat'") and "exact: 'goat' 1.00" in explorer.summary
    explorer.set(place=1)
    assert explorer.summary.startswith("Hidden is 'lucy'.")
    explorer.set(text="Tom has a <script>alert('x')</script> and a " + "w" * 90 + "!", place=5)
    assert explorer.error == "" and "<script" not in explorer.shown[0] and "exact: not a text" in explorer.summary
    explorer.set(place=19)
    assert explorer.summary.startswith(f"Hidden is '{'w' * 39}…'.")
    explorer.set(place=60)
    assert explorer.summary.startswith("Hidden is '!'.")  # the text has 20 words: the last one is hidden
    explorer.set(text="too short")
    assert explorer.error == "words_of: 2 words and signs, expected 4 to 60"


def test_wrong_models_are_named():
    with pytest.raises(ValueError, match=r"gap_filler_explorer: models\['decoder'\] is None, expected a Module"):
        gap_filler_explorer({"encoder": torch.nn.Linear(1, 1)})


def test_a_learners_scores_decide_what_the_decoder_fills_in(untrained):
    seen = []

    def last_one(model, ids, gap, candidates):
        seen.append(candidates)
        return [50.0 * place for place in range(len(candidates))]

    found = fill(untrained, " ".join(FOUND), 3, last_one)["decoder, tried"]
    assert len(seen[0]) == TRIED and next(iter(found)) == world_tokenizer().tokens[seen[0][-1]]
