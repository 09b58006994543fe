"""The explorer of five decoders side by side: what each writes, how it is drawn, what the seed may change."""

import math
import random
import re
from itertools import accumulate

import pytest
import torch
from test_widget_decoding_steps import NAMES as WORDS
from test_widget_decoding_steps import ids_of, toy_translator

from drawn import texts
from tx_helpers.generation.search import beam_search, generate
from tx_helpers.lessons.decoding.five_decoders import (
    NAMES,
    Written,
    describe,
    draw,
    five_decoders_explorer,
    five_texts,
    listed,
)
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.number_words import english


@torch.no_grad()
def by_hand(translator, source, seed, shape) -> list[int]:
    """Ids drawn from shape(p), which may rule tokens out, by walking along the vocabulary."""
    ids, numbers = [], random.Random(seed)
    while len(ids) < 12 and EOS not in ids:
        q = shape(translator.model(source, torch.tensor([[BOS, *ids]]))[0, -1].softmax(-1))
        number = numbers.random() * q.sum().item()
        ids.append(next(i for i, total in enumerate(accumulate(q.tolist())) if total > number))
    return ids


def test_each_column_is_what_its_rule_says_with_the_models_own_probabilities():
    translator = toy_translator()
    source = ids_of(translator, 421)
    options = {"source": source, "max_new_tokens": 12, "end_id": EOS}
    best = beam_search(translator.model, BOS, beams=4, length_penalty=0.0, **options)[0][0]
    expected = {
        "greedy": generate(translator.model, BOS, **options)[0].tolist(),
        "temperature 0.5": by_hand(translator, source, 5, lambda p: p**2),
        "top-k 3": by_hand(translator, source, 5, lambda p: p * (p >= p.topk(3).values[-1])),
        "top-p 0.8": by_hand(translator, source, 5, lambda p: p * ((p > p[:, None]) * p).sum(-1).lt(0.8)),
        "4 beams": best.ids,
    }
    found = five_texts(translator, english(421), seed=5)
    assert tuple(found) == tuple(expected) == NAMES
    for name, ids in expected.items():
        assert found[name].words == [WORDS[i] for i in ids]
        with torch.no_grad():
            log_p = translator.model(source, torch.tensor([[BOS, *ids[:-1]]]))[0].log_softmax(-1)
        assert found[name].log_probability == pytest.approx(log_p[range(len(ids)), ids].sum().item())
    assert found["4 beams"].log_probability == pytest.approx(best.log_probability)


def test_the_model_is_left_as_it_was():
    translator = toy_translator()
    translator.model.train()
    five_texts(translator, english(421), seed=0)
    assert translator.model.training


def test_the_seed_changes_what_is_drawn_and_nothing_else():
    translator = toy_translator()
    runs = [five_texts(translator, english(421), seed) for seed in range(6)]
    for name in NAMES:
        different = len({tuple(run[name].words) for run in runs})
        assert (different == 1) == (name in ("greedy", "4 beams")), name


def test_the_limit_ends_a_text_without_an_end():
    found = five_texts(toy_translator(end=-50.0), english(421), 0, longest=4)
    assert {len(one.words) for one in found.values()} == {4}


FOUND = {
    "greedy": Written(["vier", "<eos>"], [0.5, 0.5]),
    "top-k 3": Written(["fünf", "und", "<eos>"], [0.25, 1.0, 1.0]),
    "4 beams": Written(["vier", "<eos>"], [0.5, 0.5]),
}


def test_the_picture_has_a_box_for_each_word_shaded_by_its_surprise():
    picture = draw(FOUND, "vier")
    assert texts(picture.svg) == [
        *("greedy", "vier", "0.50", "<eos>", "0.50", "✓ right", "ln P -1.39"),
        *("top-k 3", "fünf", "0.25", "und", "1.00", "<eos>", "1.00", "✗ wrong", "ln P -1.39"),
        *("4 beams", "vier", "0.50", "<eos>", "0.50", "✓ right", "ln P -1.39"),
    ]
    shades = [float(opacity) for opacity in re.findall(r'fill-opacity="([\d.]+)"', picture.svg)]
    assert shades == [0.3, 0.3, 0.45, 0.0, 0.0, 0.3, 0.3]


def test_the_summary_names_who_is_right_and_the_likeliest_text():
    likelier = FOUND | {"top-k 3": Written(["fünf", "<eos>"], [0.75, 1.0])}
    assert describe(likelier, "vier") == (
        "2 of 3 right: greedy and 4 beams; the likeliest text, by top-k 3: 'fünf'; "
        f"ln P: greedy -1.39, top-k 3 {math.log(0.75):.2f}, 4 beams -1.39."
    )
    assert describe(FOUND, "zwei").startswith("0 of 3 right; the likeliest text, by greedy and 4 beams: 'vier'")
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_the_explorer_writes_once_for_each_setting_and_names_a_wrong_number():
    translator, runs = toy_translator(), []
    explorer = five_decoders_explorer({"toy": translator}, translator="toy", number=421)
    assert explorer.values == {"number": 421, "translator": "toy", "seed": 1}
    explorer.set(seed=3)
    translator.model.encoder.register_forward_hook(lambda *_: runs.append(1))
    explorer.set(seed=1)
    assert not runs
    explorer.set(number=-1)
    assert explorer.error == "-1 is not a whole number from 0 to 999,999"
