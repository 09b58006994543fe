"""What is forgotten, an explorer: every earlier word, shaded by its measured gradient.

    forgotten_explorer({"trained": {"RNN": rnn, "attention": attention}}, words, ids)

The models are `Recaller`s. The shades are ‖∂ state_t / ∂ x_s‖ (`recurrent.state_gradients`): how much the state at the
chosen word t depends on the vector of each earlier word s, as a share of the word on which it depends most.
"""

from collections.abc import Mapping, Sequence

import ipywidgets as widgets
import torch
from torch import Tensor

from tx_helpers.lessons.limits_of_recurrence.recurrent import Recaller, state_gradients
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.charts import ink_on
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, card, percent, setting, shape, words

Shares = dict[str, Tensor]  # model -> (T, T): a row for each word as the chosen one
WIDTH, LEFT, LINE, LETTER = 720, 112, 50, 7.6


# --- compute ----------------------------------------------------------------------------------------------------------
def shares(models: Mapping[str, Recaller], ids: Sequence[int]) -> Shares:
    """For each model the gradients (T, T) of every word's state, each row divided by its largest number."""
    found = {}
    for name, model in models.items():
        gradients = state_gradients(model, torch.tensor(list(ids)))
        found[name] = gradients / gradients.amax(dim=1, keepdim=True)
    return found


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_forgotten(found: Shares, sentence: Sequence[str], word: int, models: str) -> Svg:
    """The sentence once for each model; the chosen word (counted from 1) has a frame, earlier ones are shaded."""
    check_numbers("draw_forgotten", least=1, most=len(sentence), whole=True, word=word)
    places, lines = _places(sentence)
    parts, top = [], 20
    for name, table in found.items():
        parts.append(words(20, top + 21, name, font_weight="bold"))
        for number, (token, (x, line, wide)) in enumerate(zip(sentence, places, strict=True)):
            share = table[word - 1, number].item() if number < word else None
            drawn = _word(x, top + LINE * line, wide, token, share, chosen=number == word - 1)
            parts.append(setting("word", number + 1, drawn))
        top += LINE * lines + 12
    return card(WIDTH, top + 4, parts, describe_forgotten(found, sentence, word, models))


def _places(sentence: Sequence[str]) -> tuple[list[tuple[float, int, float]], int]:
    """(left edge, line, width) of each word, broken into lines; and the number of lines."""
    x: float = LEFT
    line, places = 0, []
    for token in sentence:
        wide = max(38, 14 + LETTER * len(token))
        if x + wide > WIDTH - 16:
            x, line = LEFT, line + 1
        places.append((x, line, wide))
        x += wide + 4
    return places, line + 1


def _word(x: float, y: float, wide: float, token: str, share: float | None, chosen: bool) -> list[str]:
    """A word on its shade, its share in per cent beneath it; a later word is pale and has none."""
    frame = dict(x=x, y=y, width=wide, height=28, rx=5)
    if share is None:
        later = shape("rect", fill="none", stroke=GREY.tint, **frame)
        return [later, words(x + wide / 2, y + 19, token, fill=MUTED, anchor="middle")]
    edge = dict(stroke=INK, stroke_width=2.5) if chosen else dict(stroke=GREY.full)
    said = "<1" if share < 0.005 else f"{100 * share:.0f}"
    return [
        shape("rect", fill=BLUE.full, fill_opacity=round(share, 3), **edge, **frame),
        words(x + wide / 2, y + 19, token, fill=ink_on(share, BLUE.full), anchor="middle"),
        words(x + wide / 2, y + 41, said, size=11, fill=MUTED, anchor="middle"),
    ]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_forgotten(found: Shares, sentence: Sequence[str], word: int, models: str) -> str:
    """Which word has been chosen, and what is left of the first one there in each model."""
    left = ", ".join(f"{name} {percent(table[word - 1, 0].item())}" for name, table in found.items())
    return (
        f"At word {word}, '{sentence[word - 1]}', models {models}. Gradient of '{sentence[0]}' as a share of the "
        f"strongest word's: {left}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def forgotten_explorer(
    models: Mapping[str, Mapping[str, Recaller]], sentence: Sequence[str], ids: Sequence[int]
) -> Explore:
    """Groups of models ("trained", "untrained") and a sentence of as many words as ids: choose a group and a word.

    A word is chosen by the slider or by a click on it.
    """
    check_types("forgotten_explorer", Mapping, models=models)
    for group, members in models.items():
        check_types("forgotten_explorer", Mapping, **{f"models[{group!r}]": members})
        check_types(
            "forgotten_explorer", Recaller, **{f"models[{group!r}][{name!r}]": members[name] for name in members}
        )
    check_types("forgotten_explorer", Sequence, sentence=sentence, ids=ids)
    check_types("forgotten_explorer", str, **{f"sentence[{place}]": word for place, word in enumerate(sentence)})
    check_numbers("forgotten_explorer", least=0, whole=True, **{f"ids[{place}]": id_ for place, id_ in enumerate(ids)})
    if len(sentence) != len(ids) or not len(ids):
        raise ValueError(f"forgotten_explorer: sentence of {len(sentence)} words, but {len(ids)} ids")
    measured = {group: shares(members, ids) for group, members in models.items()}

    def draw(word: int, models: str) -> Svg:
        return draw_forgotten(measured[models], sentence, word, models)

    word = widgets.IntSlider(value=len(ids), min=1, max=len(ids), description="Word")
    return Explore(
        draw, name="forgotten", word=word, models=widgets.Dropdown(options=list(measured), description="Models")
    )
