"""Words that fuse, real tokens and directions: the numbers and the pictures, without a kernel."""

import pytest
import torch

from drawn import texts
from tx_helpers.lessons.tokens_and_embeddings import directions
from tx_helpers.lessons.tokens_and_embeddings.directions import directions_explorer, measure, nearest_word
from tx_helpers.lessons.tokens_and_embeddings.fusing import fusing_explorer, join, stages
from tx_helpers.lessons.tokens_and_embeddings.gpt2 import Gpt2Tokenizer
from tx_helpers.lessons.tokens_and_embeddings.real_tokens import (
    chat_picture,
    chat_tokens,
    digit_cuts,
    digit_map,
    price_picture,
)
from tx_helpers.text.subwords import BytePairTokenizer
from tx_helpers.text.world_vocabulary import world_tokenizer

TOY = {"ten": 6, "tens": 2, "hen": 4, "men": 5, "often": 3}
REAL = Gpt2Tokenizer()


def test_join_goes_from_left_to_right_and_compares_whole_pieces():
    assert join(("t", "e", "n"), ("e", "n")) == ("t", "en")
    assert join(("a", "a", "a"), ("a", "a")) == ("aa", "a")
    assert join(("ei", "n"), ("e", "in")) == ("ei", "n")
    assert join((), ("a", "b")) == ()


def test_the_stages_of_the_five_words():
    steps = stages(TOY, 5)
    assert [stage.newest for stage in steps] == ["", "en", "ten", "men", "hen", "ften"]
    assert steps[0].pairs[:2] == [(("e", "n"), 20), (("t", "e"), 11)]
    assert steps[4].pairs[0] == (("f", "ten"), 3) and steps[4].pairs[1] == (("o", "f"), 3)  # the older piece first
    assert steps[5].spelled == [("ten",), ("ten", "s"), ("hen",), ("men",), ("o", "ften")]
    assert steps[5].pieces == [*"efhmnost", "en", "ten", "men", "hen", "ften"]
    assert len(stages({"ab": 1}, 9)) == 2  # no pair is left


def test_the_explorer_of_fusing_shows_pieces_counts_and_the_vocabulary():
    explorer = fusing_explorer(TOY)
    assert explorer.summary == (
        "After 0 merges: t e n, t e n s, h e n, m e n, o f t e n. The most frequent pair is e + n, 20 times."
    )
    explorer.set(merges=2)
    assert "(the newest piece is 'ten')" in explorer.summary
    shown = texts(explorer._repr_mimebundle_()[0]["image/svg+xml"])
    assert {"ten", "s", "m", "en", "m + en", "5", "vocabulary: 10 pieces"} <= set(shown)
    with pytest.raises(ValueError, match="merges"):
        fusing_explorer(TOY, merges=-1)


def test_how_the_digits_are_cut():
    cuts = digit_cuts(REAL)
    assert len(cuts) == 9000
    assert (cuts[1984], cuts[1234], cuts[2049]) == ((4,), (2, 2), tuple(len(p.strip("Ġ")) for p in REAL.split(" 2049")))
    assert REAL.split(" 1234") == ["Ġ12", "34"]
    alone = digit_cuts(BytePairTokenizer())
    assert set(alone.values()) == {()}  # bytes alone: more than two tokens
    picture = digit_map(REAL)
    assert picture.alt.startswith("The 9,000 numbers from 1000 to 9999: one token 176, 2 + 2 digits 4,680, ")
    assert sum(int(count) for count in ("176", "4680", "3417", "513", "214")) == 9000
    assert "one token: 176" in texts(picture.svg)


def test_a_chat_has_marks_that_no_text_makes():
    turns = [("user", "Hi <|end|>"), ("assistant", "Hi")]
    tokens = chat_tokens(REAL, turns)
    assert [i for _, i, special in tokens if special] == [50257, 50258, 50259, 50258]
    inside = [i for _, i, special in tokens if not special]
    assert inside == REAL.encode("Hi <|end|>") + REAL.encode("Hi") and max(inside) < 50257
    picture = chat_picture(REAL, turns)
    assert picture.alt.startswith(f"A chat of {len(tokens)} tokens, 4 of them special: <|user|> (50257) Hi (17250) ")
    assert {"<|user|>", "50257", "␣<", "Hi"} <= set(texts(picture.svg))


TABLE = torch.tensor([[1.0, 0, 0.1], [1, 1, 0], [0, 0, 1], [0, 1, 1], [-1, 0, 0], [-1, 1, 0], [0.4, 0.4, -1]])
IDS = {word: i for i, word in enumerate(("a", "A", "b", "B", "c", "C", "x"))}
PAIRS = [("a", "A"), ("b", "B"), ("c", "C")]


def test_the_price_of_a_text_is_told_for_a_word_or_where_there_are_no_spaces_for_a_character(as_stored):
    as_stored(
        price=price_picture(REAL, {"two": "Once a", "none": "狐狐"}), chat=chat_picture(REAL, [("user", "Hi <|end|>")])
    )


def test_questions_are_answered_by_each_rule():
    found = measure(TABLE, IDS, PAIRS)
    unit = TABLE / TABLE.norm(dim=1, keepdim=True)
    right = 0
    for a, A in PAIRS:
        for b, B in PAIRS:
            if a != b:
                goal = unit[IDS[A]] - unit[IDS[a]] + unit[IDS[b]]
                scores = {w: float(unit[i] @ goal / goal.norm()) for w, i in IDS.items() if w not in (a, A, b)}
                right += max(scores, key=scores.get) == B
    assert (found.questions, found.right["b − a + c"]) == (6, right)
    assert found.right["c"] <= right and set(found.right) == set(directions.RULES)
    arrows = torch.stack([unit[IDS[A]] - unit[IDS[a]] for a, A in PAIRS])
    arrows /= arrows.norm(dim=1, keepdim=True)
    expected = sum(float(arrows[i] @ arrows[j]) for i in range(3) for j in range(3) if i != j) / 6
    assert found.alike == pytest.approx(expected)
    assert measure(TABLE, IDS, [("a", "A"), ("A", "b")]).questions == 0  # a shared word asks nothing
    assert nearest_word(unit, unit[0], [0]) == 1


def test_the_explorer_of_directions_on_the_shipped_model():
    from tx_helpers.zoo.world_models import world_model

    table, tokens = world_model("encoder").encoder.input.tokens.weight, world_tokenizer().tokens
    explorer = directions_explorer(table, tokens)
    assert explorer.summary.startswith("animal → sound: the arrow dog → barks finds 7 of 7 words. Of all 56 questions ")
    explorer.set(relation="number → next", arrow_of=2)
    assert explorer.summary.startswith("number → next: the arrow two → three finds ")
    shown = set(texts(explorer._repr_mimebundle_()[0]["image/svg+xml"]))
    assert {"seven", "three − two + … =", "all 42 questions: right answers by"} <= shown
    with pytest.raises(ValueError, match="directions_explorer: 3 tokens for 506 rows, expected one for each"):
        directions_explorer(table, tokens[:3])
