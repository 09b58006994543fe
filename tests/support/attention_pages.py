"""The attention view in an empty page: two views for the tests, and what the page then shows of them."""

import json
import math

import torch

from tx_helpers.widgets import attention_data
from tx_helpers.widgets.attention_view import ESM, AttentionView
from widget_page import mount

PICTURE = """() => JSON.stringify([...document.querySelectorAll(".tx-picture line")]
  .filter((line) => line.style.display !== "none")
  .map((line) => ["y1", "y2", "stroke-opacity"].map((name) => Number(line.getAttribute(name)))))"""


def mount_view(page, view: AttentionView) -> None:
    mount(page, ESM, {"spec": view.widget.spec, "state": view.state, "data": view.widget.data}, sent="state")


def summary(page) -> str:
    return page.text_content(".tx-summary")


def drawn(page) -> list[tuple[int, int, float]]:
    """The visible lines: (query, key, opacity)."""
    rows = page.evaluate(f"({PICTURE})()")
    return [(round(y1 / 22 - 0.5), round(y2 / 22 - 0.5), w) for y1, y2, w in json.loads(rows)]


def translation() -> AttentionView:
    """Two layers of two heads, 'ein und zwanzig' on 'twenty one', scores given; d_k is 4."""
    scores = torch.randn(2, 2, 3, 2, generator=torch.Generator().manual_seed(3))
    return AttentionView.from_tensor(scores, ["ein", "und", "zwanzig"], ["twenty", "one"], scores=True, d_head=4)


def language_model(n: int = 4, layers: int = 2, heads: int = 3) -> AttentionView:
    """Causal self-attention with a padded key: scores and the weights that a real pass would make of them."""
    scores = torch.randn(layers, heads, n, n, generator=torch.Generator().manual_seed(4)) * 2
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    mask[:, 1] = n < 2
    tokens = [f"t{i}" for i in range(n)]
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    made = attention_data.attention_from_scores("Self-attention", scores, tokens, tokens, weights=weights, d_head=4)
    return AttentionView([made], "lm")
