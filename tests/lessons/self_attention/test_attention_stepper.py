"""The attention stepper: its numbers against the formula, its words, its stored picture, and what it refuses."""

import re
from pathlib import Path

import pytest
import torch

from test_widgets_alike import SECTIONS, TEXT
from tx_helpers.lessons.self_attention.attention_stepper import AttentionStepper, count_steps, draw, short, steps_of

TABLE = {"four": (1, 0, 0), "hundred": (0, 1, 0), "one": (1, 0, 1), "<b>&": (2, -1, 0.5)}
W_Q = torch.tensor([[-1.0, 1, 0, 1], [1, 0, -1, 1], [0, -1, 1, 0]])
W_K = torch.tensor([[2.0, 0, 0, 2], [0, 2, 0, 2], [-2, 0, 2, 0]])
W_V = torch.tensor([[4.0, 0], [0, 4], [0, 4]])
SENTENCE = "four hundred one"


def stepper(sentence: str = SENTENCE, **options) -> AttentionStepper:
    return AttentionStepper(TABLE, sentence, W_Q, W_K, W_V, **options)


def test_it_has_the_sections_of_an_explorer():
    sections = re.findall(
        r"^# --- (\w+) -+$", TEXT[Path("tx_helpers/lessons/self_attention/attention_stepper.py")], flags=re.MULTILINE
    )
    assert sections == SECTIONS


@pytest.mark.parametrize(("root", "temperature", "divisor"), [(True, 1.0, 2.0), (False, 1.0, 1.0), (True, 0.5, 1.0)])
def test_its_numbers_are_those_of_pytorch(root, temperature, divisor):
    shown = stepper("four <b>& hundred one")
    shown.set(root=root, temperature=temperature)
    found = steps_of(shown.state)
    x = torch.tensor([TABLE[word] for word in ("four", "<b>&", "hundred", "one")], dtype=torch.float64)
    q, k, v = x @ W_Q.double(), x @ W_K.double(), x @ W_V.double()
    torch.testing.assert_close(found.scores, q @ k.T)
    torch.testing.assert_close(found.weights, (q @ k.T / divisor).softmax(-1))
    right = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1 / divisor)
    torch.testing.assert_close(found.out, right)


def test_every_step_is_said_with_its_numbers():
    shown = stepper(query=1)
    said = []
    for step in range(count_steps(shown.state)):
        shown.set(step=step)
        said.append(shown.summary)
    assert [sentence.split(". ")[0] for sentence in said] == [f"Step {n} of 11" for n in range(1, 12)]
    assert said[1].endswith("its row of x times W_Q is (1, 0, −1, 1).")
    assert said[4].endswith("The query of 'hundred' times the key of 'four': 1·2 + 0·0 + (−1)·0 + 1·2 = 4.")
    assert said[7].endswith("The scores 4, 2, 0 divided by √4 are 2, 1, 0.")
    assert said[8].endswith("7.39, 2.72, 1, divided by their sum 11.11. The weights are 0.67, 0.24, 0.09.")
    assert said[9].endswith("0.67 · (4, 0) + 0.24 · (0, 4) + 0.09 · (4, 4) = (3.02, 1.34).")
    assert "'four' looks most at 'hundred' (0.67)" in said[10]
    shown.set(step=7, temperature=0.5, root=False)
    assert shown.summary.endswith("The scores 4, 2, 0 divided by 0.5 are 8, 4, 0.")


def test_the_stored_form_is_the_picture_of_the_output_with_its_sentence():
    shown = stepper(query=1)
    data, metadata = shown._repr_mimebundle_()
    assert data["text/plain"] == repr(shown) == f"AttentionStepper 'attention-stepper': {draw(shown.state).alt}"
    assert draw(shown.state).alt.startswith("Step 10 of 11. The output of 'hundred' is")
    assert "(3.02, 1.34)" in data["text/html"] and metadata["image/svg+xml"]["alt"] == draw(shown.state).alt
    numbers = re.findall(r">([−\d.]+)</text>", draw(shown.state).svg)
    found = steps_of(shown.state)
    assert numbers == [short(value) for name in shown_order() for value in getattr(found, name).flatten().tolist()]


def shown_order() -> tuple[str, ...]:
    return ("x", "Q", "K", "V", "out", "W_Q", "W_K", "W_V", "scores", "scaled", "weights")


def test_a_word_is_text_in_the_stored_picture():
    drawn = draw(stepper("<b>& four").state)
    assert "&lt;b&gt;&amp;" in drawn.svg and "<b>" not in drawn.svg


def test_numbers_are_short_and_halves_go_away_from_zero():
    values = (0.125, -0.125, 3.0, -0.001, 2.5, 1e7, 0.004999)
    assert [short(value) for value in values] == ["0.13", "−0.13", "3", "0", "2.5", "over a million", "0"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step": 11}, "step=11, expected at least 0 and at most 10"),
        ({"query": 3}, "query=3, expected at least 0 and at most 2"),
        ({"temperature": 0}, "temperature=0, expected at least 0.1"),
        ({"root": 1}, "root is 1, expected a bool"),
        ({"speed": 1}, "'speed' is none of step, query, root, temperature"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(changes, message):
    shown = stepper()
    before = shown.state
    with pytest.raises(ValueError, match=re.escape(message)):
        shown.set(**changes)
    assert shown.state == before


def test_a_sentence_and_a_table_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="'plum', which is none of the words four, hundred"):
        stepper("four plum")
    with pytest.raises(ValueError, match="sentence has 7 words, expected 1 to 6"):
        stepper("one " * 7)
    with pytest.raises(ValueError, match=re.escape("table['four'] has 2 numbers, but W_Q 3 rows")):
        AttentionStepper({"four": (1, 2)}, "four", W_Q, W_K, W_V)
    with pytest.raises(ValueError, match="name='A b'"):
        stepper(name="A b")
