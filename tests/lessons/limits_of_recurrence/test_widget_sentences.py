"""The explorers that read a sentence of your own: overwritten, and he or she."""

import pytest
import torch

from tx_helpers.lessons.limits_of_recurrence.he_or_she import (
    MEN,
    NAMES,
    PRONOUN_RUNS,
    WOMEN,
    Read,
    draw_read,
    he_or_she_explorer,
    ids_of,
    learn_pronoun,
    pronoun_batch,
    read_on,
)
from tx_helpers.lessons.limits_of_recurrence.overwritten import (
    SENTENCE,
    draw_overwritten,
    overwritten_explorer,
    random_layer,
    read,
    reading,
    vector,
)
from tx_helpers.lessons.limits_of_recurrence.recurrent import Recaller
from tx_helpers.lessons.limits_of_recurrence.sentences import places, words_of


def models() -> dict[str, Recaller]:
    torch.manual_seed(0)
    return {
        "one state": Recaller("gru", 8, keys=2, symbols=46),
        "back": Recaller("gru", 8, keys=2, symbols=46, look_back=True),
    }


# --- overwritten ------------------------------------------------------------------------------------------------------
def test_the_states_are_those_of_the_formula():
    x = torch.stack([vector(word) for word in ("one", "two", "three")])
    (W, U), h = random_layer(), torch.zeros(16, dtype=torch.float64)
    for t, state in enumerate(read(x)):
        h = torch.tanh(x[t] @ W + h @ U)
        torch.testing.assert_close(state, h)
    assert torch.linalg.eigvals(U).abs().max().item() == pytest.approx(0.8)


def test_a_word_just_read_is_whole_and_then_fades():
    left = reading(tuple(SENTENCE.split())).left
    torch.testing.assert_close(left.diagonal(), torch.ones(20, dtype=torch.float64))
    assert (left.triu(1) == 0).all()
    means = [left.diagonal(-d).mean().item() for d in range(8)]
    assert means == sorted(means, reverse=True) and means[1] < 0.6 and means[7] < 0.02


def test_a_sentence_of_your_own():
    explorer = overwritten_explorer()
    assert (
        explorer.summary
        == "After word 1 of 20, 'Maya': 100 % is left of 'Maya', and a tenth or more of 1 of the 1 words."
    )
    explorer.set(word=20)
    assert "under 1 % is left of 'Maya'" in explorer.summary
    explorer.set(text="my own words")
    assert explorer.summary.startswith("After word 3 of 3, 'words'") and explorer.controls["word"].max == 3
    explorer.controls["text"].value = "word " * 40
    assert "a sentence of 40 words, expected 1 to 28" in explorer.error


def test_words_are_broken_into_lines():
    where, lines = places(["word"] * 40, width=720)
    assert lines > 2 and max(x + wide for x, _, wide in where) <= 704
    with pytest.raises(ValueError, match="here: a sentence of 0 words"):
        words_of("here", "  ")


# --- he or she --------------------------------------------------------------------------------------------------------
def test_the_answer_belongs_to_the_name():
    for seed in range(5):
        ids, answers = pronoun_batch(6, 64, generator=torch.Generator().manual_seed(seed))
        names = ids[ids < len(NAMES)]
        assert len(names) == 64 and torch.equal((names >= len(WOMEN)).long(), answers)
        assert 7 <= ids.shape[1] <= 10


def test_names_are_known_and_other_words_have_an_id_of_their_own():
    first, other, again, man = ids_of(["Anna,", "walked", "Walked", MEN[0]])
    assert (first, man) == (0, 4) and other == again and 8 <= other < 48


def test_each_prefix_is_read_as_if_the_sentence_ended_there():
    both = models()
    found = read_on(both, ["Anna", "went", "home"])
    ids = torch.tensor([ids_of(["Anna", "went"])])
    for name, model in both.items():
        assert found.she[name][1] == pytest.approx(model(ids).softmax(-1)[0, 0].item(), abs=1e-6)
    torch.testing.assert_close(found.weights.sum(dim=1), torch.ones(3))
    assert (found.weights.triu(1) == 0).all()


def test_a_look_back_is_made_of_the_last_state_and_the_context():
    model = models()["back"]
    x = model.tokens(torch.tensor([[0, 9, 8]]))
    states = model.layer(x)[0]
    context = model.alignment(states[:, -1:], states)[:, 0]
    torch.testing.assert_close(model.state(x), torch.cat([states[:, -1], context], dim=1))
    assert model.output.in_features == 16


def test_what_is_drawn_and_said(as_stored):
    """Shares and states of the overwritten words; he or she is gold where the model looks."""
    found = Read({"one": [0.5, 0.25], "back": [1.0, 0.9]}, torch.tensor([[1.0, 0.0], [0.75, 0.25]]))
    as_stored(overwritten=draw_overwritten("a <b> c", 2), she=draw_read(found, ["Anna", "<went>"], 2))


def test_the_explorer_reads_any_sentence():
    explorer = he_or_she_explorer(models())
    assert explorer.summary.startswith("After word 1 of 21, 'Anna'. one state: she ")
    explorer.set(text="Tom sleeps")
    explorer.set(word=2)
    assert explorer.summary.startswith("After word 2 of 2, 'sleeps'.")
    with pytest.raises(ValueError, match="expected one model that looks back"):
        he_or_she_explorer({"one state": models()["one state"]})


def test_learning_sets_what_the_name_says():
    learned = learn_pronoun("GRU that looks back", noise=3)
    assert learned.share > 0.9 and learned.model.alignment is not None
    assert set(PRONOUN_RUNS) == {"GRU, long sentences", "GRU, all lengths", "GRU that looks back"}
    with pytest.raises(ValueError, match="learn_pronoun: name='LSTM'"):
        learn_pronoun("LSTM")
