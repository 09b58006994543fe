"""Features in superposition: the toy, the sparse autoencoder, its score and its rivals, the explorer."""

import pytest
import torch

from tx_helpers.lessons.inside_the_model import dictionary
from tx_helpers.lessons.inside_the_model.dictionary import dictionary_explorer
from tx_helpers.lessons.inside_the_model.exercises_features import sae_loss
from tx_helpers.lessons.inside_the_model.feature_findings import outlier_lines, toy_finding, words_picture, words_table
from tx_helpers.lessons.inside_the_model.feature_runs import RECORDED, best_units, f1, rivals
from tx_helpers.lessons.inside_the_model.features import (
    autoencoders,
    dictionaries,
    examples,
    random_directions,
    report,
    toy_directions,
    unit,
)

EYE = torch.eye(20, 20)


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_pairs_come_together_and_the_others_alone():
    on = examples(40_000, draws()) > 0
    often = on.double().mean(0)
    assert often[[0, 1, 2, *range(4, 20)]].tolist() == pytest.approx([0.05] * 19, abs=0.006)
    assert often[3].item() == pytest.approx(0.025, abs=0.004)
    assert (on[:, 0] == on[:, 1]).all()
    assert (on[:, 2] | ~on[:, 3]).all()
    assert (on[:, 4] & on[:, 5]).double().mean() < 0.005


def test_a_column_is_found_split_or_merged():
    assert report(EYE, EYE[:12])._asdict() == {"found": 12, "split": 0, "merged": 0, "true": 1.0}
    twice = torch.cat([EYE[:3], EYE[:2] + 0.01, EYE[4:5] + EYE[5:6], EYE[:4].sum(0, keepdim=True)])
    assert report(EYE, twice)._asdict() == {"found": 3, "split": 2, "merged": 1, "true": round(5 / 7, 3)}
    assert report(EYE, 7 * EYE) == report(3 * EYE, EYE)  # lengths do not count
    assert report(EYE, -EYE).found == 0  # signs do
    assert report(EYE, EYE[:0])._asdict() == {"found": 0, "split": 0, "merged": 0, "true": 0.0}
    with pytest.raises(ValueError, match=r"columns of shape \(3, 8\), but directions \(20, 20\)"):
        report(EYE, torch.ones(3, 8))


def test_one_step_of_the_autoencoder_goes_down_the_gradient_of_the_exercises_loss():
    """Adam's first step is the sign of the gradient, times the rate."""
    h = torch.randn(64, 3, generator=draws(1))
    (one,) = autoencoders(lambda _: h, h, 5, (0.3,), steps=1)
    start = unit(torch.randn(1, 5, 3, generator=draws(1000)))[0]
    W_dec = start.clone().requires_grad_()
    sae_loss(h, start.T, torch.zeros(5), W_dec, h.mean(0), 0.3).backward()
    strong = W_dec.grad.abs() > 1e-4
    assert strong.sum() >= 8
    (own,) = autoencoders(lambda _: h, h, 5, (0.3,), steps=1, loss=sae_loss)
    assert torch.allclose(own.rows, one.rows, atol=1e-6)
    assert torch.allclose((one.rows - start)[strong], -3e-3 * W_dec.grad.sign()[strong], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_enough_sparsity_finds_the_features_and_too_little_does_not(seed):
    little, enough = dictionaries(toy_directions(seed), 40, (0.02, 0.4), seed=seed)
    few, most = (report(toy_directions(seed), one.columns) for one in (little, enough))
    assert most.found >= 17 > few.found
    assert little.error < enough.error / 5
    assert little.active > 2 * enough.active
    h = examples(500, draws(7)) @ toy_directions(seed)
    assert (enough.encode(h) > 1e-3).double().sum(1).mean().item() == pytest.approx(enough.active, abs=0.3)


def test_random_directions_have_length_one_and_a_seed():
    assert random_directions(1).norm(dim=1).tolist() == pytest.approx([1] * 20)
    assert not torch.equal(random_directions(1), random_directions(2))


def test_the_rivals_find_what_they_are_made_for():
    sizes = torch.rand(20_000, 3, generator=draws()) * (torch.rand(20_000, 3, generator=draws(1)) < 0.1)
    true = torch.tensor([[1.0, 0.5, 0.0], [0.0, 2.0, 0.7], [-0.8, 0.0, 1.0]])
    found = {name: report(true, rows).found for name, rows in rivals(sizes @ true).items()}
    assert found["ICA"] == 3
    assert found["k-means, 40"] == 3
    assert found["coordinates"] == 1  # (0, 2, 0.7) is nearly the second axis
    assert report(EYE[:8, :8], rivals(torch.randn(200, 8, generator=draws()))["coordinates"]).found == 8


def test_a_unit_is_scored_by_its_best_threshold():
    values = torch.tensor([[3.0, 1.0], [2.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    right = torch.tensor([True, False, True, False])
    assert f1(values, right).tolist() == pytest.approx([0.8, 2 / 3])  # 2 of 3 and 2 of 2; a constant finds all
    labels = torch.tensor([5] * 30 + [6] * 30 + [7] * 10)
    x = torch.stack([labels == 6, labels != 6], 1).float()
    assert best_units((x, labels), (x, labels)) == [pytest.approx(6 / 7, abs=1e-3), 1.0]  # 7 is too rare


def test_what_is_drawn_and_said(as_stored):
    directions = unit(torch.randn(20, 8, generator=draws()))
    columns = torch.cat([directions[:9], directions[:3], unit(directions[9:10]) + unit(directions[10:11])])
    drawn = dictionary.draw(directions, columns, 20, 0.1)
    seen = report(directions, columns)
    assert drawn.alt == (
        f"20 columns, L1 0.1: {seen.found} of 20 features found, {seen.split} of them split. "
        f"13 columns are in use: {seen.true:.0%} are right, {seen.merged} merge two features."
    )
    assert (seen.found, seen.split) == (9, 3)
    as_stored(dictionary=drawn)


def test_the_explorer_shows_what_was_recorded():
    explored = dictionary_explorer()
    toy = RECORDED.read()["toy"]["trained"]
    for width, weight in ((40, 0.02), (40, 0.2), (80, 0.8), (10, 0.4)):
        explored.set(width=width, weight=weight)
        found = toy[f"{width}, {weight:g}"][0]["found"]
        assert explored.summary.startswith(f"{width} columns, L1 {weight:g}: {found} of 20 features found")
    assert not explored.error


def test_the_findings_are_those_of_three_seeds():
    toy = RECORDED.read()["toy"]["trained"]
    assert all(len(each) == 3 for each in toy.values())
    assert max(seed["found"] for seed in toy["40, 0.02"]) < min(seed["found"] for seed in toy["40, 0.4"])
    table = words_table()
    assert list(table)[-2:] == ["autoencoder", "a probe, told the words"]
    assert "found 11, 6 and 5 features" in toy_finding()
    assert "autoencoder 0.92, 0.88 and 0.90" in words_picture().alt
    assert len(outlier_lines()) == 6
