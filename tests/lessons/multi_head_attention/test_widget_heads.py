"""Removing heads, and splitting into heads: the numbers, the pictures, and the two explorers."""

import pytest
import torch

from parity import H, K
from toy_models import model as toy
from tx_helpers.lessons.multi_head_attention import head_removal, head_split
from tx_helpers.lessons.multi_head_attention.head_removal import (
    Damaged,
    Head,
    HeadGrid,
    damaged,
    describe,
    draw,
    draw_fall,
    head_removal_explorer,
    heads_of,
    heads_removed,
    layer_name,
    match_each,
    match_in_turn,
    match_without,
)
from tx_helpers.lessons.multi_head_attention.head_split import (
    RIGHT,
    TOKENS,
    WIDTH,
    WRONG,
    landing,
    split_explorer,
    strangers,
)
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import word_pairs
from tx_helpers.text.number_words import english, german, number_pairs
from tx_helpers.zoo.recipes import Translator, translator_config

SELF, CROSS = "decoder.blocks.0.self_attention", "decoder.blocks.1.cross_attention"
IDS = torch.tensor([[5, 3, 4, 9, 6], [8, 7, 2, 1, 3]])


@pytest.fixture(scope="module")
def model():
    return toy(EncoderDecoder, n_layers=2)


@pytest.fixture(scope="module")
def translator():
    """Untrained: what it writes is wrong, and the same every time."""
    pairs = number_pairs(train=120, held_out=0).train
    data = word_pairs(pairs)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = EncoderDecoder(translator_config(data, d_model=16, n_layers=1)).eval()
    return Translator(model, data)


def logits(model, **options):
    with capture(model, **options), torch.no_grad():
        return model(IDS, IDS)


# --- removal ---------------------------------------------------------------------------------------------------------


def test_all_heads_are_named(model):
    heads = heads_of(model)
    assert len(heads) == len(set(heads)) == 2 * H + 4 * H
    assert heads[:2] == [Head("encoder.blocks.0.self_attention", 0), Head("encoder.blocks.0.self_attention", 1)]
    assert str(Head(CROSS, 2)) == "decoder block 2 cross-attention, head 3" and layer_name(SELF) in str(Head(SELF, 0))


@pytest.mark.parametrize("removed", [[Head(SELF, 1)], [Head(SELF, 0), Head(SELF, 2), Head(CROSS, 1)]])
def test_a_removed_head_is_one_whose_result_is_zero(model, removed):
    def silence(path):
        gone = [number for where, number in removed if where == path]
        return lambda heads: heads * torch.tensor([number not in gone for number in range(H)])[:, None, None]

    with heads_removed(model, removed):
        without = logits(model)
    edit = {f"{path}.heads": silence(path) for path in {head.path for head in removed}}
    torch.testing.assert_close(without, logits(model, edit=edit), rtol=0, atol=1e-12)
    assert (without - logits(model)).abs().max() > 1e-3


def test_afterwards_the_model_is_as_before_even_after_an_error(model):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(KeyError), heads_removed(model, [Head(SELF, 0), Head(SELF, 0), Head(CROSS, 2)]):
        weight = model.get_submodule(SELF).output.weight
        assert weight[:, :K].abs().sum() == 0 and (weight[:, K:] == before[f"{SELF}.output.weight"][:, K:]).all()
        raise KeyError
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


@pytest.mark.parametrize("head", [Head(SELF, H), Head("decoder.blocks.9.self_attention", 0)])
def test_an_unknown_head_is_refused_and_nothing_changed(model, head):
    before = logits(model)
    with pytest.raises(ValueError, match=f"is none of the model's {6 * H} heads"):
        heads_removed(model, [Head(SELF, 0), head]).__enter__()
    assert torch.equal(logits(model), before)


def test_the_exact_match_is_that_of_the_damaged_model(model):
    class Watched:
        """A translator that notes what it is asked, and which heads are silent at that moment."""

        def exact_match(self, pairs, max_new_tokens):
            weight = model.get_submodule(SELF).output.weight.view(-1, H, K)
            return pairs, max_new_tokens, (weight == 0).all(-1).all(0).tolist()

    translator, pairs = Watched(), [("seven", "sieben"), (21, "twenty-one", "ein und zwanzig")]
    translator.model = model
    assert match_without(translator, [Head(SELF, 1)], pairs) == (pairs, 4, [False, True, False])


def test_heads_are_removed_each_alone_and_in_turn(monkeypatch, translator):
    asked = []

    def noted(_, heads, pairs):
        asked.append((list(heads), pairs))
        return 1 - len(heads) / 10

    monkeypatch.setattr(head_removal, "match_without", noted)
    heads = heads_of(translator.model)
    assert match_each(translator, "pairs") == dict.fromkeys(heads, 0.9)
    assert asked == [([head], "pairs") for head in heads]
    asked.clear()
    assert match_in_turn(translator, heads[:2], "pairs") == [1.0, 0.9, 0.8]
    assert [removed for removed, _ in asked] == [[], heads[:1], heads[:2]]


def test_what_is_drawn_and_said(as_stored):
    """What is left without heads; the fall beside the sum of the single losses; where a number lands."""
    heads = tuple(Head(SELF, n) for n in range(4))
    as_stored(
        whole=draw(Damaged((), 24, 421, german(421), 1.0, 100)),
        broken=draw(Damaged(heads, 24, 421, "vier hundert und", 0.25, 100)),
        silent=draw(Damaged((), 24, 0, "", 0.0, 1)),
        fall=draw_fall([1.0, 0.98, 0.5], [0.98, 0.99]),
        split=head_split.draw(1, 3, 2, RIGHT),
        strangers=head_split.draw(1, 3, 2, WRONG),
    )
    with pytest.raises(ValueError, match="3 shares for 1 heads"):
        draw_fall([1.0, 0.98, 0.5], [0.98])


def test_the_explorer_takes_known_shares_of_all_heads_only(translator):
    pairs = [(english(n), german(n)) for n in (7, 77_777)]
    alone = dict.fromkeys(heads_of(translator.model), 0.5)
    explorer = head_removal_explorer(translator, pairs, alone=alone)
    assert {head["share"] for head in explorer.controls["removed"].heads} == {0.5}
    alone.popitem()
    with pytest.raises(ValueError, match="alone names 11 heads"):
        head_removal_explorer(translator, pairs, alone=alone)


def test_one_number_and_the_pairs_are_translated_together(translator):
    removed = [Head(SELF, 1)]
    pairs = [(english(n), german(n)) for n in (7, 77_777)]
    seen = damaged(translator, removed, 421, pairs)
    with heads_removed(translator.model, removed):
        longest = len(german(77_777).split()) + 1
        assert seen.written == translator.translate_all([english(421)], max_new_tokens=longest)[0]
    assert (seen.removed, seen.count, seen.match, seen.pairs) == (tuple(removed), 12, 0.0, 2)


def test_the_grid_knows_rows_columns_and_shares():
    grid = HeadGrid({Head(SELF, 0): 0.5, Head(SELF, 1): 1.0, Head(CROSS, 0): 0.25}, "Heads", [Head(SELF, 1)])
    assert grid.value == [[SELF, 1]] and repr(grid) == "HeadGrid: 1 of 3 heads removed"
    assert [(h["row"], h["column"], h["share"]) for h in grid.heads] == [(0, 0, 0.5), (0, 1, 1.0), (1, 0, 0.25)]
    assert grid.heads[2]["name"] == "decoder block 2 cross-attention, head 1"


def test_the_explorer_answers(translator):
    pairs = [(english(n), german(n)) for n in (7, 77)]
    explorer = head_removal_explorer(translator, pairs)
    whole = explorer.summary
    explorer.set(removed=[[SELF, 1], [SELF, 0]], number=45)
    assert explorer.summary == describe(damaged(translator, [Head(SELF, 0), Head(SELF, 1)], 45, pairs))
    explorer.set(number=1_000_000)
    assert "1000000" in explorer.error.replace(",", "") and "45" in explorer.summary
    explorer.set(removed=[], number=421)
    assert explorer.summary == whole and not explorer.error


# --- splitting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [RIGHT, WRONG])
@pytest.mark.parametrize(("t", "h"), [(3, 2), (5, 3), (4, 1), (2, 6)])
def test_landing_is_what_torch_does(t, h, way):
    d = 12
    x = torch.arange(t * d).view(t, d)
    heads = x.view(t, h, d // h).transpose(0, 1) if way == RIGHT else x.view(h, t, d // h)
    for row in range(t):
        for column in range(d):
            assert heads[landing(row, column, T=t, D=d, H=h, way=way)] == x[row, column]


def test_strangers_are_counted():
    x = torch.arange(18).view(3, 6)
    for h in head_split.HEADS:
        owner = (x.view(h, 3, 6 // h) // 6 != torch.arange(3)[:, None]).sum()
        assert strangers(h, WRONG) == owner and strangers(h, RIGHT) == 0
    assert [h for h in head_split.HEADS if strangers(h, WRONG) == 0] == [1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: landing(0, 0, T=3, D=6, H=4),
        lambda: landing(3, 0, T=3, D=6, H=2),
        lambda: landing(0, 6, T=3, D=6, H=2),
        lambda: landing(0, 0, T=3, D=6, H=2, way="sideways"),
    ],
)
def test_impossible_splits(call):
    with pytest.raises(ValueError, match=r"^landing: "):
        call()


def test_the_split_explorer_answers():
    explorer = split_explorer()
    assert explorer.summary == head_split.draw(1, 3, 2, RIGHT).alt
    explorer.set(way=WRONG)
    assert explorer.summary == head_split.draw(1, 3, 2, WRONG).alt
    for h in head_split.HEADS:
        for number in range(len(TOKENS) * WIDTH):
            picture = head_split.draw(number // WIDTH, number % WIDTH, h, WRONG)
            assert picture.svg.count(f">{number}<") == 3 and picture.svg.count('stroke-width="3"') == 3
