"""Five objectives of one text: inputs, targets and who sees whom, the drawing, the words, and the explorer."""

import re

import pytest
import torch

from tx_helpers.lessons.families.objectives import (
    NAMES,
    describe,
    draw,
    example,
    objectives_explorer,
    show_pair,
    unknown_words,
)
from tx_helpers.text.world_vocabulary import EXAMPLES, MASK, SENTINELS, world_tokenizer
from tx_helpers.training.objectives import halves

WORDS = EXAMPLES[0].split()

# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_words_that_the_world_does_not_know():
    assert unknown_words("Tom saw a zebra, a zebra and <x0>.") == ["zebra", "<", "x0", ">"]


def test_every_next_token_is_predicted_from_those_before_it():
    one = example(EXAMPLES[0], "causal")
    assert one.inputs == ["<bos>", *WORDS] and one.targets == [*WORDS, "<eos>"]
    assert torch.equal(one.sees, torch.ones(10, 10).tril().bool()) and one.decoder == 10


@pytest.mark.parametrize("seed", range(5))
def test_masked_words_are_scored_and_nothing_else(seed):
    one = example(EXAMPLES[0], "masked", 0.5, seed)
    assert one.sees.shape == (11, 11) and one.sees.all()
    told = [word if target is None else target for word, target in zip(one.inputs, one.targets, strict=True)]
    assert told == ["<cls>", *WORDS, "<sep>"]
    assert all(target for word, target in zip(one.inputs, one.targets, strict=True) if word == MASK)
    assert one.targets[0] is one.targets[-1] is None


def test_the_next_sentence_is_its_own_or_a_strangers():
    said = {}
    for seed in range(6):
        one = example(EXAMPLES[0], "next sentence", seed=seed)
        assert one.inputs[:7] == ["<cls>", *WORDS[:5], "<sep>"] and one.inputs[-1] == "<sep>"
        assert one.targets[1:] == [None] * (len(one.inputs) - 1) and one.sees.all()
        follows = one.inputs[7:-1] == WORDS[5:]
        assert one.targets[0] == ("yes" if follows else "no")
        said[one.targets[0]] = one.inputs
    assert set(said) == {"yes", "no"}


def test_spans_are_cut_out_and_put_back_by_the_decoder():
    one = example(EXAMPLES[0], "spans", 0.3, 1)
    source, begun = one.inputs[: one.decoder], one.inputs[one.decoder :]
    targets = one.targets[one.decoder :]
    assert one.targets[: one.decoder] == [None] * one.decoder
    assert begun == ["<bos>", *targets[:-1]] and targets[-1] == "<eos>"
    spans = re.split("|".join(SENTINELS), " ".join(targets[:-1]))
    told = " ".join(source)
    for sentinel, span in zip(SENTINELS, spans[1:-1], strict=False):
        told = told.replace(sentinel, span.strip())
    assert told == EXAMPLES[0]
    S, n = one.decoder, len(one.inputs)
    assert one.sees[:, :S].all() and not one.sees[:S, S:].any()
    assert torch.equal(one.sees[S:, S:], torch.ones(n - S, n - S).tril().bool())


def test_the_rest_is_scored_behind_a_prefix_that_sees_itself():
    one = example(EXAMPLES[0], "prefix", 0.3)
    assert one.targets == [None] * 6 + ["eats", "leaves", ".", "<eos>"]
    assert one.sees[:7, :7].all() and not one.sees[:7, 7:].any()
    assert torch.equal(one.sees[7:], torch.ones(10, 10).tril().bool()[7:])


def test_a_text_is_halved_behind_the_middle_full_stop():
    encode = world_tokenizer().encode
    first, second = halves(torch.tensor(encode("a . a . a a .")))
    assert (len(first), len(second)) == (4, 3)
    assert [len(part) for part in halves(torch.tensor(encode("a goat a goat .")))] == [2, 3]


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """A cell for each pair: gold within a side, green from the decoder to the encoder; a box for each word."""
    as_stored(**{name.replace(" ", "_"): draw("tom lost a cat . it ran .", name, 0.3, 3) for name in NAMES.values()})


def test_the_words_say_what_is_scored_and_seen():
    assert draw(EXAMPLES[0], "prefix", 0.3).alt == (
        "Prefix: 4 of 10 positions are scored: 'eats', 'leaves', '.', '<eos>'. A position sees 7.6 of 10 on average."
    )
    assert draw(EXAMPLES[0], "causal").alt == (
        "Next token (GPT): 10 of 10 positions are scored: 'lucy', 'has', 'a', 'goat', '.', 'it', …. "
        "A position sees 5.5 of 10 on average."
    )
    one = example("tom lost a zebra .", "causal")
    one.inputs[2], one.targets[1:] = "cat", [None, "dog", None, "lost", None]
    one.inputs[4] = "lost"
    assert describe(one, "tom lost a zebra .", "masked") == (
        "Masked words (BERT): 3 of 6 positions are scored: 'tom', 'dog', 'lost'. "
        "A position sees 3.5 of 6 on average. '<bos>' stands in for 'tom'. 'cat' stands in for 'dog'. 'lost' stays. "
        "The little world has no 'zebra': <unk>."
    )


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_follows_its_controls():
    explorer = objectives_explorer()
    assert explorer.summary.startswith("Next token (GPT): 10 of 10 positions")
    explorer.set(objective="masked", share=0.6, seed=3)
    assert explorer.summary == draw(EXAMPLES[0], "masked", 0.6, 3).alt
    explorer.set(text="Ada has a <script>alert(1)</script> goat.", objective="causal")
    assert "The little world has no '<', 'script', '>'" in explorer.summary and "<script" not in explorer.shown[0]
    explorer.set(text="short")
    assert explorer.error == "words_of: 1 words and signs, expected 4 to 16"
    assert len(objectives_explorer("tom lost a cat .").recorded["text"]) == 4


def test_a_pair_is_printed_word_below_word(capsys):
    show_pair("next", torch.tensor(world_tokenizer().encode("mia lost")), torch.tensor([-100, 1]))
    assert capsys.readouterr().out == "next     mia lost \n         ·   <bos>\n"
