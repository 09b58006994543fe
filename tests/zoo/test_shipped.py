"""The writers that come with the package: the file is the one that was trained, and they are as good as is said."""

import hashlib

import pytest
import torch

import train_story_writers
from tx_helpers.lessons.a_model_that_writes import friend
from tx_helpers.nn.models import count_parameters
from tx_helpers.text.stories import CAST, entropy_per_character, stories
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.zoo.shipped import CONTEXTS, FILE, story_writer

SHA256 = "d842eb184aeefbc8646549c43dbc408d07144619aa8d368105f5389adcd1dc89"
LOSSES = {64: 0.408, 256: 0.330}  # on 100 unseen stories; the floor is 0.277


def test_the_file_is_the_one_that_was_trained_and_small():
    data = FILE.read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256 and len(data) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_shipped_writer_reaches_its_loss(context):
    writer = story_writer(context)
    assert writer.context == context and count_parameters(writer.model) == 204_928
    loss = writer.loss(stories(100, seed=1))
    assert loss == pytest.approx(LOSSES[context], abs=0.002) and loss > entropy_per_character()


def test_each_call_makes_a_writer_of_its_own():
    one, other = story_writer(64), story_writer(64)
    with torch.no_grad():
        one.model.output.weight.zero_()
    assert other.model.output.weight.abs().sum() > 0 and not one.model.training


def test_another_context_is_refused():
    with pytest.raises(ValueError, match="story_writer: context=100, expected 64 or 256"):
        story_writer(100)


def test_words_of_the_cast_weigh_more_and_nothing_else_does():
    text = 'Mia gave the hen two. She, he and Otto: "onions!" Mias hens.'
    heavy = {text[i] + str(i) for i, weight in enumerate(friend.weights(text).tolist()) if weight == 8}
    words = [(0, "Mia"), (13, "hen"), (17, "two"), (22, "She"), (27, "he"), (34, "Otto"), (41, "onions")]
    assert heavy == {letter + str(start + i) for start, word in words for i, letter in enumerate(word)}
    assert "Mia" in {record["name"] for record in CAST["hero"]}


@pytest.mark.slow
def test_a_few_steps_train_a_writer_whose_weights_load(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train_story_writers, "STORIES", 300)
    monkeypatch.setattr("sys.argv", ["train_story_writers", "--steps", "2", "--to", str(tmp_path / "writers.pt")])
    monkeypatch.setattr("tx_helpers.zoo.shipped.FILE", tmp_path / "writers.pt")
    train_story_writers.main()
    said = capsys.readouterr().out
    assert "context 64: " in said and "context 256: " in said
    from tx_helpers.zoo import shipped

    shipped._content.cache_clear()
    try:
        assert story_writer(64).tokenizer.tokens == CharTokenizer.train(stories(300)).tokens
    finally:
        shipped._content.cache_clear()
