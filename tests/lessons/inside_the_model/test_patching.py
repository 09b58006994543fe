"""The grid of patches, against single patches by hand, and its explorer."""

import pytest
import torch

from tx_helpers.lessons.inside_the_model.patching import PatchGrid, draw, patch_explorer, patch_grid, place
from tx_helpers.lessons.inside_the_model.tools import put
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import sequence_batch
from tx_helpers.text.number_words import english, german, number_pairs
from tx_helpers.zoo.recipes import train_translator


@pytest.fixture(scope="module")
def barely_trained():
    return train_translator(number_pairs(train=200, held_out=10).train, steps=12, progress=False)


NAMES = [
    "encoder.input.hidden",
    "encoder.blocks.0.self_attention.output",
    "encoder.blocks.1.hidden",
    "decoder.blocks.0.cross_attention.output",
    "decoder.blocks.1.feed_forward.output",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_grid_holds_what_single_patches_give(barely_trained, name):
    model, tokens = barely_trained.model, barely_trained.data.target_tokenizer
    grid = patch_grid(barely_trained, 421, 431)
    batch = sequence_batch(barely_trained.data.encode([(english(n), german(n)) for n in (421, 431)]))
    prefix = batch.decoder_input[:, :5]
    with capture(model, name) as seen, torch.no_grad():
        model(batch.source, prefix)
    expected, said = [], []
    for at in range(seen[name].shape[1]):
        with capture(model, "*.none", edit={name: put(seen[name][1:], at=at)}), torch.no_grad():
            chances = model(batch.source[:1], prefix[:1])[0, -1].softmax(-1)
        expected.append(chances[tokens.encode("dreißig")[0]].item())
        said.append(tokens.tokens[chances.argmax()])
    assert grid.effect[name] == pytest.approx(expected, abs=1e-6)
    assert grid.likeliest[name] == said


def test_the_grid_names_what_it_read(barely_trained):
    grid = patch_grid(barely_trained, 421, 427)
    assert grid.said == ("ein", "sieben")
    assert grid.read == {"encoder": ["four", "hundred", "twenty", "one"], "decoder": ["<bos>", "vier", "hundert"]}
    assert {len(row) for name, row in grid.effect.items() if name.startswith("decoder")} == {3}
    assert len(grid.effect) == 7 + 9


@pytest.mark.parametrize(
    ("clean", "other", "says"),
    [
        (421, 412, "'vier hundert ein und zwanzig' and 'vier hundert zwölf'"),
        (421, 532, "'vier hundert ein und zwanzig' and 'fünf hundert zwei und dreißig'"),
        (421, 421, "expected as many words in both, and one that differs"),
    ],
)
def test_numbers_that_cannot_be_compared_are_refused(barely_trained, clean, other, says):
    with pytest.raises(ValueError, match=says):
        patch_grid(barely_trained, clean, other)


GRID = PatchGrid(
    421,
    431,
    {"encoder": ["four", "hundred", "twenty", "one"], "decoder": ["<bos>", "vier", "hundert", "ein", "und"]},
    ("zwanzig", "dreißig"),
    {"encoder.input.hidden": [0, 0.25, 1.0, 0], "decoder.blocks.1.hidden": [0, 0, 0, 0.004, 0.75]},
    {"encoder.input.hidden": ["zwanzig"] * 2 + ["dreißig", "zwanzig"], "decoder.blocks.1.hidden": ["dreißig"] * 5},
)


def test_the_drawing(as_stored):
    as_stored(
        ten=draw(GRID, "encoder.input.hidden 3"),
        nowhere=draw(GRID, "decoder.blocks.1.hidden 9"),  # of a longer sentence
    )


def test_the_text_says_where_the_word_changes():
    assert draw(GRID, "decoder.blocks.1.hidden 5").alt == (
        "421 with one vector of 431: 'dreißig' is likelier than not in 2 rows: encoder, embedding at 'twenty'; decoder "
        "block 2, stream at 'und'. Chosen: decoder block 2, stream, at 'und': the model says 'dreißig'; "
        "p('dreißig') = 0.75."
    )
    assert place("decoder.blocks.0.cross_attention.output") == "decoder block 1, cross-attention"


def test_the_explorer_follows_its_controls(barely_trained):
    explored = patch_explorer(barely_trained)
    assert (
        explored.summary.startswith("421 with one vector of 431: ")
        and "block 1, stream, at 'twenty'" in explored.summary
    )
    explored.set(sentences="421 and 427: the unit", cell="decoder.blocks.1.hidden 3")
    assert explored.summary.startswith("421 with one vector of 427: ")
    assert "Chosen: decoder block 2, stream, at 'hundert': the model says" in explored.summary
