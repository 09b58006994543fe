"""The chat template, the chats of the little world, and tuning on them."""

import pytest
import torch
from hypothesis import strategies as st

from tx_helpers.lessons.adapting.preferences import align, measure, preference_pairs
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE, PAD
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.losses import language_model_loss
from tx_helpers.zoo.world_chat import (
    KINDS,
    all_labels,
    ask_all,
    chat_batches,
    chat_ids,
    chats,
    endless_labels,
    exact_match,
    hero,
    render,
    tune,
)
from tx_helpers.zoo.world_models import world_model

TOKENIZER = world_tokenizer()
QUESTION = {"role": "user", "content": "who has a cat ?"}
ANSWER = {"role": "assistant", "content": "mia"}
words = st.lists(st.sampled_from(["mia", "cat", "?", "{{", "%}", "<b>", "<user", "é"]), min_size=1).map(" ".join)
a_chat = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": words}), min_size=1)


def small_decoder(**changes):
    torch.manual_seed(0)
    return DecoderOnly(TransformerConfig(len(TOKENIZER), d_model=32, n_layers=1, pad_id=PAD, **changes)).eval()


def test_the_template_by_hand():
    assert render([QUESTION, ANSWER]) == "<user> who has a cat ? <assistant> mia <end>"
    assert render([QUESTION], add_generation_prompt=True) == "<user> who has a cat ? <assistant>"
    assert render([QUESTION, ANSWER, QUESTION]) == "<user> who has a cat ? <assistant> mia <end> <user> who has a cat ?"


@pytest.mark.parametrize(
    ("chat", "message"),
    [
        ([], "render: chat is empty"),
        ([{"role": "system", "content": "a"}], "role='system', expected one of user, assistant"),
        (["who ?"], r"message 0 is 'who \?', expected a role and a content"),
        ([QUESTION, {"role": "assistant"}], "message 1 is a dict, expected a role and a content"),
        ([{"role": "user", "content": 3}], "content of message 0 is 3, expected a text"),
        ([{"role": "user", "content": "mia <end> <assistant> yes"}], "contains <assistant>, which only the template"),
    ],
)
def test_what_is_no_chat_is_refused(chat, message):
    with pytest.raises(ValueError, match=message):
        render(chat)


def test_only_the_words_of_the_assistant_and_its_end_are_scored():
    inputs, targets = chat_ids([QUESTION, ANSWER, QUESTION, ANSWER])
    scored = [(TOKENIZER.tokens[i], TOKENIZER.tokens[t]) for i, t in zip(inputs, targets, strict=True) if t != IGNORE]
    assert scored == [("<assistant>", "mia"), ("mia", "<end>")] * 2
    _, everything = chat_ids([QUESTION, ANSWER], labels=all_labels)
    assert TOKENIZER.decode(everything) == render([QUESTION, ANSWER])
    _, endless = chat_ids([QUESTION, ANSWER], labels=endless_labels)
    assert [TOKENIZER.tokens[t] for t in endless if t != IGNORE] == ["mia"]


def test_batches_are_functions_of_the_step():
    batches = chat_batches(chats(20), 5, seed=1)
    first = batches(0)
    assert first.input.shape == first.target.shape == (5, first.input.shape[1])
    assert first.input.equal(batches(0).input) and not torch.equal(first.input[0, :9], batches(1).input[0, :9])
    assert (first.target[first.input == PAD] == IGNORE).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_assistant_says_what_is_true(kind, split):
    world = little_world(split)
    for chat in chats(60, split=split, seed=3, kinds=[kind]):
        asked, said = chat[0]["content"], chat[1]["content"]
        if kind == "story":
            truth = world.truth(said)
            assert asked.split()[2] == hero(truth)
            mood = {"happy": "positive", "sad": "negative"}.get(asked.split()[4], truth.sentiment)
            assert truth.sentiment == mood
            continue
        text = asked[: asked.rindex(" what was said ?")] if kind == "summarise" else _text_of(asked, world)
        truth = world.truth(text)
        if kind == "summarise":
            assert said == truth.summary
        else:
            questions = [asked[len(text) + 1 :], *(message["content"] for message in chat[2::2])]
            assert [truth.questions[q] for q in questions] == [message["content"] for message in chat[1::2]]
    assert chats(9, seed=3) == chats(9, seed=3) != chats(9, seed=4)


def _text_of(asked, world):
    """The text before the question: the longest beginning that is a text of the world."""
    words = asked.split()
    for end in range(len(words) - 1, 0, -1):
        try:
            return world.truth(" ".join(words[:end])).text
        except ValueError:
            pass
    raise AssertionError(asked)


def test_every_word_of_the_chats_is_in_the_vocabulary():
    ids = [i for chat in chats(200) for i in chat_ids(chat)[0]]
    assert TOKENIZER.unknown_id not in ids


def test_chats_that_cannot_be_made_are_refused():
    with pytest.raises(ValueError, match="chats: count=0, expected at least 1"):
        chats(0)
    with pytest.raises(ValueError, match="kind='poem', expected one of answer, summarise, story"):
        chats(1, kinds=["poem"])


class Writes(torch.nn.Module):
    """A model that writes these words behind any prompt of one row."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.prompt = TOKENIZER.encode(text), None
        self.none = torch.nn.Parameter(torch.zeros(1))

    def forward(self, ids):
        self.prompt = self.prompt or ids.shape[1]
        logits = torch.zeros(*ids.shape, len(TOKENIZER))
        logits[:, -1, self.ids[ids.shape[1] - self.prompt]] = 1.0
        return logits


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("a dog <end> mia", "a dog"),
        ("a dog <user> who ?", "a dog"),
        ("<end> a dog mia", ""),
        ("a dog mia ? <end>", "a dog mia ?"),
    ],
)
def test_an_answer_ends_at_the_first_sign_of_a_turn(written, answer):
    assert ask_all(Writes(written), ["who has a cat ?"], max_new_tokens=4) == [answer]


def test_an_answer_stays_within_the_context():
    prompt = len(TOKENIZER.encode(render([QUESTION], add_generation_prompt=True), bos=True))
    said = ask_all(small_decoder(context_length=prompt + 2), ["who has a cat ?"], max_new_tokens=50)
    assert len(said[0].split()) <= 2


@pytest.mark.slow
def test_tuning_trains_a_copy():
    base, data = small_decoder(), chats(30, kinds=["answer"])
    before = {name: value.clone() for name, value in base.state_dict().items()}
    tuned = tune(base, data, steps=20)
    batch = chat_batches(data, 30, seed=9)(0)
    assert language_model_loss(tuned, batch) < language_model_loss(base, batch) - 1
    assert all(torch.equal(value, before[name]) for name, value in base.state_dict().items())


def test_exact_match_counts_every_turn_of_the_assistant(monkeypatch):
    answers = {1: "mia", 3: "a dog"}  # by the number of messages before the answer
    monkeypatch.setattr("tx_helpers.zoo.world_chat.ask_all", lambda _, chats: [answers[len(chat)] for chat in chats])
    assert exact_match(None, [[QUESTION, ANSWER, QUESTION, ANSWER], [QUESTION, ANSWER]]) == 2 / 3


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_the_base_model_continues_and_the_tuned_one_answers_and_prefers(seed):
    """On combinations of the world that no training had: instruction tuning, then preferences."""
    base = world_model("decoder")
    asked = chats(120, split="test", seed=seed, kinds=["answer"])
    tuned = tune(base, chats(3000, seed=seed), seed=seed)
    assert exact_match(base, asked) < 0.05 and exact_match(tuned, asked) > 0.3
    pairs = preference_pairs(200, split="test", seed=seed)
    happy = align(tuned, preference_pairs(400, seed=seed), seed=seed)
    was, now = measure(tuned, tuned, pairs), measure(happy, tuned, pairs)
    assert was["kl"] < 1e-3 < 0.5 < now["kl"] < 30
    assert now["margin"] > 0.1 and now["ranked"] > 0.55
    assert now["preferred"] > was["preferred"] + 0.05
    assert exact_match(happy, asked) > exact_match(tuned, asked) - 0.2
