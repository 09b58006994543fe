"""The explorer of masks: its rules against loops, its weights against the formula, its words against both."""

import math
import re

import pytest
import torch

from tx_helpers.lessons.masking import masks
from tx_helpers.lessons.masking.mask_grid import MaskGrid, Seen, set_by_hand
from tx_helpers.lessons.masking.masks import FILLS, compose, draw, mask_explorer, masked_weights, scores_of
from tx_helpers.show.charts import GRID
from tx_helpers.show.shapes import EDGE, GREY, INK, MUTED, ORANGE, PAPER, WEIGHT, WHITE

TOKENS = ["<bos>", "vier", "hundert", "<pad>", "ein", "<pad>"]
T = len(TOKENS)
YES, NO = True, False


@pytest.fixture
def q_k():
    return torch.randn(2, T, 4, generator=torch.Generator().manual_seed(0))


# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize("causal", [YES, NO])
@pytest.mark.parametrize("padding", [YES, NO])
@pytest.mark.parametrize("window", [None, 1, 2, T])
def test_rules_are_put_together_cell_by_cell(causal, padding, window):
    expected = [
        [
            (not causal or s <= t) and (not padding or TOKENS[s] != "<pad>") and (window is None or abs(t - s) < window)
            for s in range(T)
        ]
        for t in range(T)
    ]
    assert compose(TOKENS, causal=causal, padding=padding, window=window).tolist() == expected


@pytest.mark.parametrize("fill", FILLS.values())
def test_weights_are_a_softmax_over_the_allowed_keys(q_k, fill):
    q, k = q_k
    mask = compose(TOKENS, causal=True, padding=True)
    scores = (q @ k.T / 2).tolist()
    for t, row in enumerate(masked_weights(q, k, mask, fill).tolist()):
        total = sum(math.exp(scores[t][s]) for s in range(T) if mask[t, s])
        assert row == pytest.approx([math.exp(scores[t][s]) / total if mask[t, s] else 0.0 for s in range(T)], abs=1e-6)


def test_what_each_fill_makes_of_an_empty_row(q_k):
    mask = torch.zeros(T, T, dtype=torch.bool)
    mask[1:, 0] = True
    rows = {fill: masked_weights(*q_k, mask, fill)[0] for fill in FILLS.values()}
    assert rows["ours"].tolist() == [0.0] * T
    assert rows["naive"].isnan().all()
    assert rows["large"].tolist() == pytest.approx([1 / T] * T)


def test_cells_set_by_hand_overrule_and_those_beyond_the_edge_are_left_out():
    base = torch.tensor([[YES, NO], [YES, YES]])
    assert set_by_hand(base, ["0,1:1", "1,0:0", "7,0:1", "0,7:1"]).tolist() == [[YES, YES], [NO, YES]]
    assert base.tolist() == [[YES, NO], [YES, YES]]


# ---------------------------------------------------------------------------------------------------------------- draw


def seen(weights, mask, tokens, fill="−∞") -> Seen:
    scores = torch.arange(float(mask.numel())).view(mask.shape) - 1.5
    return Seen(mask, scores, weights, tokens, tokens, fill)


def test_the_drawing_holds_scores_mask_and_weights_in_a_row(as_stored):
    weights, mask = torch.tensor([[1.0, 0.0], [0.25, 0.75]]), torch.tensor([[YES, NO], [YES, YES]])
    empty = torch.tensor([[math.nan] * 2, [0.25, 0.75]])
    as_stored(
        row=draw(seen(weights, mask, ["a", "<b>"]), mask),
        nan=draw(seen(empty, mask & torch.tensor([[NO], [YES]]), ["a", "b"]), mask & torch.tensor([[NO], [YES]])),
    )


def test_the_control_and_the_stored_drawing_have_the_same_measures_and_colours():
    """Two languages draw the same tables: what one of them changes, the other has to follow."""
    code = str(MaskGrid._esm)
    for line in ("[CELL, LEFT, TOP, RIGHT, BOTTOM] = [32, 66, 92, 40, 44]", "DARKEST = 0.6"):
        assert line in code
    assert (masks.CELL, masks.LEFT, masks.TOP, masks.RIGHT, masks.BOTTOM, masks.DARKEST) == (32, 66, 92, 40, 44, 0.6)
    colours = set(re.findall(r"#[0-9A-F]{6}", code)) - {"#000000"}
    assert colours <= {
        INK,
        MUTED,
        PAPER,
        WHITE,
        GREY.tint,
        GREY.full,
        WEIGHT.full,
        ORANGE.full,
        ORANGE.shade,
        GRID,
        EDGE,
    }


# ---------------------------------------------------------------------------------------------------------------- bind


def test_the_explorer_names_an_empty_row_and_its_fate(q_k):
    explorer = mask_explorer(*q_k, TOKENS)
    assert explorer.summary.startswith("21 of 36 cells allowed. Every row sums to 1.00")
    explorer.set(window=1, mask=["4,4:0"])
    assert explorer.summary == "5 of 36 cells allowed. Fully masked: query 4 ein (its weights are 0)."
    explorer.set(fill="naive")
    assert explorer.summary.endswith("query 4 ein (its weights are NaN).")
    explorer.set(fill="large")
    assert explorer.summary.endswith("query 4 ein (its weights sum to 1.00, all on masked keys).")
    explorer.set(length=3)
    assert explorer.summary.startswith("3 of 9 cells allowed. Every row")
    assert not explorer.error


def test_the_grid_follows_the_rules_and_the_button_undoes_the_clicks(q_k):
    explorer = mask_explorer(*q_k, TOKENS)
    grid = explorer.controls["mask"]
    explorer.set(length=2, causal=False)
    told = grid.table
    assert told["base"] == [[1, 1], [1, 1]] and told["queries"] == told["keys"] == TOKENS[:2] and told["fill"] == "−∞"
    q, k = q_k
    torch.testing.assert_close(torch.tensor(told["scores"]), scores_of(q[:2], k[:2]))
    torch.testing.assert_close(torch.tensor(told["weights"]), scores_of(q[:2], k[:2]).softmax(-1))
    grid.value = ["0,0:0"]
    assert explorer.summary.startswith("3 of 4") and grid.table["weights"][0] == [0.0, 1.0]
    explorer.controls["clear"].click()
    assert grid.value == [] and explorer.summary.startswith("4 of 4")


def test_the_grid_says_what_each_fill_adds_and_sends_nan_as_nothing(q_k):
    explorer = mask_explorer(*q_k, TOKENS)
    grid = explorer.controls["mask"]
    explorer.set(window=1, mask=["4,4:0"], fill="naive")
    assert grid.table["fill"] == "−∞" and grid.table["weights"][4] == [None] * T  # JSON has no NaN
    explorer.set(fill="large")
    assert grid.table["fill"] == "−1e9" and grid.table["weights"][4] == pytest.approx([1 / T] * T)


def test_the_grid_refuses_words_that_do_not_fit():
    right, wrong = torch.ones(2, 2), torch.ones(2, 3)
    with pytest.raises(ValueError, match=r"MaskGrid: base \(2, 3\), but 2 queries and 2 keys"):
        MaskGrid("m", Seen(wrong, right, right, ["a", "b"], ["a", "b"]))
    with pytest.raises(ValueError, match=r"MaskGrid: weights \(2, 3\), but 2 queries and 2 keys"):
        MaskGrid("m", Seen(right, right, wrong, ["a", "b"], ["a", "b"]))


def test_the_stored_picture_is_out_of_sight_where_the_control_is_alive():
    assert ".tx-explorer-mask .tx-picture { display: none; }" in MaskGrid._css


def test_the_first_table_needs_no_message_after_the_grid_was_made(q_k, monkeypatch):
    """A page that is slow to load the grid's module may never get one (anywidget gives up after 2 s)."""
    sent = []
    monkeypatch.setattr(MaskGrid, "send_state", lambda self, key=None: sent.extend([key] if key == "table" else []))
    explorer = mask_explorer(*q_k, TOKENS)
    assert sent == [] and len(explorer.controls["mask"].table["base"]) == len(TOKENS)
    explorer.set(length=3)
    assert sent == ["table"]
