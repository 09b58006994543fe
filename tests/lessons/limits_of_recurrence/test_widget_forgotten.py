import re

import pytest
import torch

from tx_helpers.lessons.limits_of_recurrence.forgotten import draw_forgotten, forgotten_explorer, shares
from tx_helpers.lessons.limits_of_recurrence.recurrent import Recaller, state_gradients

WORDS, IDS = ["Anna", "put", "the", "<keys>", "down"], [0, 9, 8, 11, 10]


def recaller(kind: str) -> Recaller:
    torch.manual_seed(1)
    return Recaller(kind, 7, symbols=5)


@pytest.fixture
def explorer():
    models = {"RNN": recaller("rnn"), "attention": recaller("attention")}
    return forgotten_explorer({"untrained": models, "trained": {"GRU": recaller("gru")}}, WORDS, IDS)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru", "attention"])
def test_gradients_are_the_jacobians_of_the_states(kind):
    model = recaller(kind)
    found = state_gradients(model, torch.tensor(IDS))
    vectors = model.double().tokens(torch.tensor(IDS)).detach()
    for t in range(5):
        jacobian = torch.autograd.functional.jacobian(lambda x: model.state(x[None])[0], vectors[: t + 1])  # (D, t, E)
        torch.testing.assert_close(found[t, : t + 1], jacobian.square().sum((0, 2)).sqrt())
        assert (found[t, t + 1 :] == 0).all()


def test_ids_are_checked():
    with pytest.raises(ValueError, match="state_gradients: ids"):
        state_gradients(recaller("rnn"), torch.tensor([IDS]))
    with pytest.raises(ValueError, match="state_gradients: ids 0 … 13, but the vocabulary has 13"):
        state_gradients(recaller("rnn"), torch.tensor([0, 13]))


def test_each_row_is_a_share_of_its_largest_number():
    model = recaller("lstm")
    table, raw = shares({"LSTM": model}, IDS)["LSTM"], state_gradients(model, torch.tensor(IDS))
    torch.testing.assert_close(table, raw / raw.max(dim=1, keepdim=True).values)


def test_the_drawing_shades_by_the_shares_and_frames_the_chosen_word():
    table = torch.tensor([[1.0, 0, 0], [0.25, 1.0, 0], [0.002, 0.5, 1.0]], dtype=torch.float64)
    drawn = draw_forgotten({"RNN": table}, ["a", "<b>", "c"], 2, "untrained")
    assert re.findall(r'fill-opacity="([^"]*)"', drawn.svg) == ["0.25", "1"]
    assert drawn.svg.count('stroke-width="2.5"') == 1 and "&lt;b&gt;" in drawn.svg and "<b>" not in drawn.svg
    assert re.findall(r'font-size="11"[^>]*>([^<]*)<', drawn.svg) == ["25", "100"]
    last = draw_forgotten({"RNN": table}, ["a", "<b>", "c"], 3, "untrained")
    assert re.findall(r'font-size="11"[^>]*>([^<]*)<', last.svg) == ["&lt;1", "50", "100"]
    assert drawn.alt == (
        "At word 2, '<b>', models untrained. Gradient of 'a' as a share of the strongest word's: RNN 25.0%."
    )


def test_words_on_a_full_shade_are_white_and_black_on_a_paler_one():
    table = torch.tensor([[1.0, 0], [0.8, 1.0]], dtype=torch.float64)
    drawn = draw_forgotten({"RNN": table}, ["first", "second"], 2, "untrained")
    inks = dict(re.findall(r'fill="(#[0-9A-F]{6})"[^>]*>(first|second)<', drawn.svg))
    assert inks == {"#000000": "first", "#FFFFFF": "second"}


def test_a_long_sentence_is_broken_into_lines():
    table = torch.eye(30, dtype=torch.float64)
    drawn = draw_forgotten({"RNN": table}, ["word"] * 30, 1, "untrained")
    right_ends = [float(x) + float(w) for x, w in re.findall(r'<rect[^>]*x="([\d.]+)"[^>]*width="([\d.]+)"', drawn.svg)]
    assert max(right_ends) <= 720


def test_the_explorer(explorer):
    assert explorer.summary.startswith("At word 5, 'down', models untrained. Gradient of 'Anna' as a share")
    explorer.set(word=1)
    assert explorer.summary.endswith("RNN 100.0%, attention 100.0%.")
    explorer.set(models="trained", word=3)
    assert explorer.summary.startswith("At word 3, 'the', models trained.") and "GRU" in explorer.summary


def test_words_and_ids_go_together():
    with pytest.raises(ValueError, match="sentence of 5 words, but 4 ids"):
        forgotten_explorer({"untrained": {"RNN": recaller("rnn")}}, WORDS, IDS[:4])


def test_a_click_on_a_word_chooses_it(explorer):
    assert re.findall(r'data-sets="word=(\d)"', draw_of(explorer)) == [*"12345"] * 2  # two models
    explorer._clicked(None, {"sets": "word=2"}, [])
    assert explorer.values["word"] == 2 and explorer.summary.startswith("At word 2, ")


def draw_of(explorer) -> str:
    return explorer._repr_mimebundle_()[0]["image/svg+xml"]
