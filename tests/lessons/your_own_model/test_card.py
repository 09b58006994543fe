"""The card: every number of the run is in it, and none that is missing is passed over."""

import math

import pytest
from torch import nn

from tx_helpers.lessons.your_own_model.card import as_text, model_card
from tx_helpers.plain import GPT

RUN = dict(
    title="Tales",
    model=GPT(20, 16, 2, 32, 1),
    data_note="My own stories.",
    train_characters=180_000,
    held_out_loss=0.412,
    rivals={"uniform": 3.93, "7-grams": 0.49, "known floor": 0.277},
    minutes=9.5,
    seed=3,
    limits=["It forgets names.", "English alone."],
    examples={"Once": " upon a time"},
)


def test_a_card_has_the_numbers_of_the_run():
    card = model_card(**RUN)
    assert all(isinstance(text, str) and text for text in card.values())
    count = sum(p.numel() for p in RUN["model"].parameters())
    assert f"{count:,} parameters" in card["Model"]
    assert "My own stories. 180,000 characters" in card["Data"] and "9.5 minutes, seed 3" in card["Training"]
    assert card["Result"].startswith("0.412 nats a character") and "known floor 0.277, 7-grams 0.490" in card["Result"]
    assert card["Result"].endswith("It does not beat: known floor.")
    assert card["Limits"] == "It forgets names.\nEnglish alone." and card["Examples"] == "Once →  upon a time"
    assert "<" not in "".join(card.values())
    assert max(map(len, as_text(card).split("\n"))) <= 80


def test_a_share_of_right_answers_is_better_if_higher():
    card = model_card(**RUN | {"held_out_loss": 0.9, "rivals": {"nearest": 0.2}, "unit": "right", "better": "higher"})
    assert card["Result"].endswith("It beats them all.")


@pytest.mark.parametrize("name, value", [
    ("held_out_loss", None), ("held_out_loss", math.nan), ("minutes", "ten"), ("train_characters", None),
    ("seed", None), ("rivals", {}), ("limits", " "), ("examples", []), ("data_note", ""), ("title", ""),
])  # fmt: skip
def test_what_is_missing_is_named(name, value):
    with pytest.raises(ValueError, match=f"model_card: {name}"):
        model_card(**RUN | {name: value})


def test_a_rival_without_a_number_is_named():
    with pytest.raises(ValueError, match="rival '5-grams' is"):
        model_card(**RUN | {"rivals": {"5-grams": math.inf}})
    with pytest.raises(ValueError, match="better='more'"):
        model_card(**RUN | {"better": "more"})
    with pytest.raises(ValueError, match="model"):
        model_card(**RUN | {"model": nn.Linear})
