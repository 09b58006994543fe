"""Drag a query: its numbers against the formula, and what the explorer says and shows of them."""

import numpy as np
import pytest
import traitlets

from tx_helpers.lessons.self_attention.query_plane import QueryPlane, answer, query_explorer

KEYS = [(3.0, 0.5), (0.5, 3.0), (0.0, 0.0)]


@pytest.mark.parametrize(("query", "temperature"), [((1.0, 1.0), 1.0), ((-3.0, 2.0), 0.2), ((0.0, 0.0), 4.0)])
def test_the_answer_is_the_formula(query, temperature):
    keys = np.array(KEYS)
    powers = np.exp(keys @ np.array(query) / temperature)
    found = answer(query, KEYS, temperature)
    np.testing.assert_allclose(found.weights[0], powers / powers.sum(), atol=1e-12)
    np.testing.assert_allclose(found.outputs[0], powers / powers.sum() @ keys, atol=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"^attend: temperature=0, expected more than 0$"):
        answer((1, 1), KEYS, 0)
    for value in ([3.1, 0.0], [1.0]):
        with pytest.raises(traitlets.TraitError, match="within ±3"):
            QueryPlane(value=value)


def test_the_explorer_says_what_the_query_looks_at_and_the_plane_follows_its_temperature():
    explorer = query_explorer(dict(zip(("pear", "phone", "the"), KEYS, strict=True)))
    plane = explorer.controls["query"]
    explorer.set(query=[3.0, -1.0], temperature=2.0)
    found = answer((3.0, -1.0), KEYS, 2.0)
    assert plane.follows.source == (explorer.controls["temperature"], "value")
    assert plane.follows.target == (plane, "temperature")
    assert explorer.summary == (
        f"Query (3.0, -1.0), length 3.16, temperature 2: it looks most at 'pear' ({found.weights[0, 0]:.2f}), least at "
        f"'phone' ({found.weights.min():.2f}). Output ({found.outputs[0, 0]:.2f}, {found.outputs[0, 1]:.2f})."
    )
    with pytest.raises(ValueError, match="within ±3"):
        explorer.set(query=[4.0, 0.0])
