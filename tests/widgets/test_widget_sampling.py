"""The explorer of temperature, top-k, top-p and min-p: numbers, picture, controls."""

import math

import pytest
import torch

from drawn import texts
from parity import randomise
from toy_models import config
from tx_helpers.generation.sampling import filter_logits
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.text.data import BOS, word_pairs
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.widgets.sampling import (
    NextToken,
    draw,
    next_character,
    next_word,
    sampling_explorer,
    shape,
)
from tx_helpers.zoo.recipes import Translator, Writer, translator_config

P = torch.tensor([0.1, 0.5, 0.15, 0.25], dtype=torch.float64)
TOKENS = ["drei", "eins", "vier", "zwei"]


def toy_translator() -> Translator:
    data = word_pairs([("one two", "eins zwei"), ("three", "drei")])
    return Translator(randomise(EncoderDecoder(translator_config(data)).double(), std=0.3).eval(), data)


def toy_writer() -> Writer:
    tokenizer = CharTokenizer.train("abc d\n")
    small = config(vocab_size=len(tokenizer), context_length=5, pad_id=None)
    return Writer(randomise(DecoderOnly(small)).eval(), tokenizer)


def test_shape_of_a_distribution_that_fits_on_paper():
    shaped = shape(P.log(), top_k=2)
    torch.testing.assert_close(shaped.p, P)
    torch.testing.assert_close(shaped.q, torch.tensor([0, 2 / 3, 0, 1 / 3], dtype=torch.float64))
    assert shaped.stays.tolist() == [False, True, False, True]
    assert shaped.cut == pytest.approx(0.25)
    h_p = -sum(p * math.log(p) for p in P.tolist())
    assert shaped.entropies == pytest.approx((h_p, math.log(3) - 2 / 3 * math.log(2)))


@pytest.mark.parametrize(
    "rule", [{}, {"temperature": 0.3}, {"top_p": 0.7}, {"min_p": 0.4}, {"temperature": 2.0, "top_k": 3, "min_p": 0.5}]
)
def test_the_rules_are_those_of_filter_logits(rule):
    logits = torch.randn(11, generator=torch.Generator().manual_seed(0))
    filtered = filter_logits(logits, **rule)
    shaped = shape(logits, **rule)
    assert torch.equal(shaped.q, filtered.softmax(-1)) and torch.equal(shaped.stays, filtered > -torch.inf)


def test_what_is_cut_is_measured_before_the_temperature():
    assert shape(P.log(), temperature=0.5, top_k=1).cut == pytest.approx(0.5)


def test_the_picture_names_the_likeliest_first_and_marks_what_is_ruled_out():
    picture = draw(shape(P.log(), top_k=2), TOKENS)
    legend = ["the model's own p", "drawn from q", "ruled out", "✗", "p → q"]
    rows = ["eins", "0.50 → 0.67", "zwei", "0.25 → 0.33", "vier", "✗", "0.15 ✗", "drei", "✗", "0.10 ✗"]
    assert texts(picture.svg) == legend + rows
    assert picture.alt == (
        "2 of 4 tokens stay; 0.25 of the model's probability is cut; entropy 1.21 → 0.64 nats; "
        "the likeliest, 'eins', 0.50 → 0.67."
    )


def test_a_single_token_stays_and_the_many_are_summed_up():
    logits = torch.zeros(15, dtype=torch.float64)
    logits[4] = math.log(6)  # 6 / 20; the others 1 / 20 each
    picture = draw(shape(logits, top_k=1), [str(i) for i in range(15)])
    assert picture.alt.startswith("1 of 15 tokens stays; 0.70 of the model's probability is cut; entropy 2.46 → 0.00")
    assert texts(picture.svg)[-2:] == ["3 more tokens together", "0.15 → 0.00"]


def test_hostile_tokens_stay_words():
    hostile = "</text><script>alert(1)</script>"
    picture = draw(shape(P.log()), [hostile, "a b", "\n", "&"])
    assert "<script" not in picture.svg and hostile in texts(picture.svg)
    assert {"a␣b", "↵"} <= set(texts(picture.svg))


def test_next_word_is_what_the_model_says_after_the_words_so_far():
    translator = toy_translator()
    source = torch.tensor([translator.data.source_tokenizer.encode("one two")])
    after = next_word(translator, "one two")
    for so_far in ("", "eins", "zwei drei"):
        ids = torch.tensor([[BOS, *translator.data.target_tokenizer.encode(so_far)]])
        assert torch.equal(after.logits(so_far), translator.model(source, ids)[0, -1])
    assert after.tokens == translator.data.target_tokenizer.tokens


def test_next_character_sees_as_much_as_the_context_holds():
    writer = toy_writer()
    after = next_character(writer)
    assert torch.equal(after.logits("ab"), writer.model(torch.tensor([writer.tokenizer.encode("ab")]))[0, -1])
    assert torch.equal(after.logits("aaaabc d"), after.logits("d\nabc d"))
    assert not torch.equal(after.logits("bc d"), after.logits("cc d"))
    with pytest.raises(ValueError, match="no text so far, expected at least one character"):
        after.logits("")


def test_the_explorer_rules_nothing_out_until_a_control_is_turned():
    explorer = sampling_explorer(NextToken(lambda so_far: P.log(), TOKENS))
    assert explorer.values == {"so_far": "", "temperature": 1.0, "top_k": 4, "top_p": 1.0, "min_p": 0.0}
    assert explorer.summary.startswith("4 of 4 tokens stay; 0.00 ") and explorer.summary.endswith("0.50 → 0.50.")
    for rule, stay in (({"top_k": 3}, 3), ({"top_p": 0.7}, 2), ({"min_p": 0.9}, 1)):
        explorer.set(**({"top_k": 4, "top_p": 1.0, "min_p": 0.0} | rule))
        assert int(explorer.summary[0]) == stay
    explorer.set(min_p=0.0, temperature=0.5)
    assert explorer.summary.endswith("'eins', 0.50 → 0.72.")


def test_top_p_of_one_rules_nothing_out_by_rounding():
    sure = torch.tensor([30.0, 0.0, 0.0])  # in float32 the first has all the probability
    explorer = sampling_explorer(NextToken(lambda so_far: sure, "abc"))
    assert explorer.summary.startswith("3 of 3 tokens stay")


def test_the_model_is_asked_once_for_a_text_and_errors_are_told():
    asked = []

    def logits(so_far):
        asked.append(so_far)
        if so_far == "foo":
            raise ValueError("'foo' is no word")
        return P.log()

    explorer = sampling_explorer(NextToken(logits, TOKENS), "eins", name="asked")
    explorer.set(temperature=2.0)
    explorer.set(top_k=1)
    assert asked == ["eins"]
    explorer.set(so_far="foo")
    assert explorer.error == "'foo' is no word" and explorer.summary.startswith("1 of 4")
    explorer.set(so_far="zwei")
    assert explorer.error == "" and asked == ["eins", "foo", "zwei"]
