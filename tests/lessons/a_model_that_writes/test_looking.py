"""What a writer still sees, what it writes there, and where its heads look."""

import re

import pytest
import torch

from drawn import texts
from tx_helpers.lessons.a_model_that_writes.friend import CHANGES, EVERY, SEEDS, STEPS, go_on, grammar
from tx_helpers.lessons.a_model_that_writes.looking import (
    KINDS,
    ROOM,
    Answer,
    Place,
    cast_words,
    describe,
    draw,
    known,
    last_row,
    lines,
    next_words,
    on_word,
    probability,
    returns,
    trained_on,
    view,
    windows_explorer,
)
from tx_helpers.text.stories import stories
from tx_helpers.zoo.shipped import story_writer

TALE = 'Once a shy fox named Ben had a big red hut. He met a kind goose. "I lost my new bell!" it wept. Ben gave the '
PLACE = Place(TALE + "goose five.", len(TALE), "goose", "friend")
ANSWERS = {"context 64": Answer(64, "goat", 0.06, 0.05), "context 256": Answer(256, "goose", 0.9, 0.9)}


def test_each_kind_returns_as_one_of_its_words():
    text = stories(30, seed=5)
    for kind in KINDS:
        places = returns(text, kind)
        assert len(places) >= 5, kind
        for place in places:
            assert place.word in known(kind) and place.story.startswith(place.word, place.start) and place.named


def test_the_view_ends_before_the_word_and_leaves_room_for_it():
    writer = story_writer(64)
    assert view(writer, PLACE.story, PLACE.start) == TALE[-(64 - ROOM) :]
    assert view(writer, "Ben ran", 4) == "\n\nBen "


def test_a_word_has_the_product_of_its_characters_probabilities():
    writer, before = story_writer(64), "\n\nOnce a shy "
    p = 1.0
    for at, letter in enumerate("fox"):
        ids = writer.tokenizer.encode(before + "fox"[:at])
        with torch.no_grad():
            p *= writer.model(torch.tensor([ids]))[0, -1].softmax(-1)[writer.tokenizer.encode(letter)[0]].item()
    assert probability(writer, before, "fox") == pytest.approx(p, rel=1e-4)


def test_words_are_written_alike_alone_and_together():
    writer, places = story_writer(64), returns(stories(8, seed=2), "what is left")
    assert next_words(writer, places) == [next_words(writer, [place])[0] for place in places]


def test_the_share_counts_each_earlier_mention_and_the_character_before_it():
    weights = torch.zeros(2, len(TALE))
    at = TALE.index("goose")
    weights[0, at - 1 : at + 5] = 0.1
    weights[1, 0] = 1.0
    assert on_word(PLACE, weights).tolist() == pytest.approx([0.6, 0.0])
    assert on_word(PLACE, weights[:, 40:])[0].item() == pytest.approx(0.6)


def test_a_row_of_weights_has_a_number_for_each_character_seen():
    rows = last_row(story_writer(64), PLACE)
    assert rows.shape == (4, 2, 54) and torch.allclose(rows.sum(-1), torch.ones(4, 2), atol=1e-5)


def test_the_cast_is_found():
    assert [TALE[a:b] for a, b, _ in cast_words(PLACE)] == ["Ben", "He", "goose", "bell", "Ben"]


def test_the_drawing_shows_both_windows_and_both_words():
    svg = draw(PLACE, ANSWERS, "what it shows").svg
    shown = texts(svg)
    assert {"context 64 begins", "context 256 sees it all", "context 64 writes “goat”"} <= set(shown)
    assert "6%   (“goose”: 5%)" in shown and "90%" in shown


def test_the_drawing_of_heads_has_gold_where_the_chosen_one_looks():
    weights = torch.zeros(4, len(TALE))
    weights[1, 3] = 1.0
    rows = [draw(PLACE, ANSWERS, "alt", weights, chosen).svg for chosen in (0, 1)]
    assert [len(re.findall(r'height="9" fill="#E69F00"|fill="#E69F00"[^>]*height="9"', svg)) for svg in rows] == [0, 1]
    assert "layer 2, head 2" in texts(rows[0])


def test_what_is_said():
    begun = "Next comes the friend, “goose”; “goose” stood 47 characters ago."
    ago = len(TALE) - TALE.index("goose")
    said = describe(PLACE, ANSWERS)
    assert said == (
        begun.replace("47", str(ago)) + " context 64 writes “goat” (6%), right 5%; context 256 writes “goose” (90%)."
    )


def test_lines_are_cut_behind_spaces_and_lose_nothing():
    text = "abcd " * 40 + "e" * 100
    assert "".join(lines(text)) == text and max(map(len, lines(text))) <= 88


def test_the_explorer_goes_from_place_to_place():
    explorer = windows_explorer({"context 64": story_writer(64)}, stories(30, seed=5))
    assert explorer.summary.startswith("Next comes the lost thing, ")
    explorer.set(place="friend", story=2)
    assert explorer.summary.startswith("Next comes the friend, ")
    heads = windows_explorer({"context 64": story_writer(64)}, stories(30, seed=5), heads=True)
    heads.set(head="layer 3, head 2")
    assert "Layer 3, head 2 puts " in heads.summary


def test_the_record_of_learning_on_is_that_of_the_tool():
    recorded = trained_on()
    assert list(recorded) == list(CHANGES)
    runs = [run for runs in recorded.values() for run in runs]
    assert len(runs) == len(SEEDS) * len(CHANGES)
    assert all(len(shares) == STEPS // EVERY for run in runs for shares in run.values())
    assert "my " in next(grammar("a cue of its own").texts(1))


@pytest.mark.thorough
def test_more_weight_makes_a_writer_learn_the_friend():
    assert any(go_on("counts eight times as much", seed=seed)["friend"][-1] > 0.4 for seed in range(3))
    assert go_on("nothing changed", seed=2)["friend"][-1] < 0.2
