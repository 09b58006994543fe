"""Two distributions over each other: the areas are those of the rule, and the words say them."""

import pytest

from tx_helpers.lessons.cheaper_and_longer.exercises_inline import keep_or_redraw
from tx_helpers.lessons.cheaper_and_longer.overlap import DRAFTS, draw_overlap, overlap, overlap_explorer


@pytest.mark.parametrize("draft", DRAFTS)
def test_what_is_kept_and_drawn_again_is_the_rule_s(draft):
    p, q, kept = overlap(draft)
    keep, redraw = keep_or_redraw(p, q)
    assert kept.tolist() == pytest.approx((q * keep).tolist())
    assert (p - kept).tolist() == pytest.approx(((1 - kept.sum()) * redraw).tolist())
    assert p.sum().item() == pytest.approx(1) and q.sum().item() == pytest.approx(1)


def test_the_explorer_says_what_becomes_of_a_token():
    explorer = overlap_explorer()
    explorer.set(draft="reversed", token="no")
    assert explorer.summary == (
        "Draft reversed: 45% of its tokens are kept. Token 'no': the draft has 0.50, the large model 0.05; if drafted "
        "it is kept with 10%; p has no more of it to draw again."
    )
    explorer.set(token="a")
    assert explorer.summary.endswith("if drafted it is kept with 100%; p has 0.45 more, which is drawn again.")
    assert 'data-sets="token=no"' in draw_overlap("good", "a").svg


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="draft='bad'"):
        draw_overlap("bad", "a")
    with pytest.raises(ValueError, match="token='x'"):
        draw_overlap("good", "x")
