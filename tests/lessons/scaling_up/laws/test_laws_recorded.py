"""The runs of the scaling laws: they go on where they were stopped."""

import pytest

from tx_helpers.lessons.scaling_up.laws import law_runs
from tx_helpers.training.experiment import Experiment


@pytest.fixture
def small(monkeypatch):
    """Four runs and eight rates, whose losses are made up."""
    monkeypatch.setattr(law_runs, "floors", lambda: (0.5, 0.5))
    monkeypatch.setattr(law_runs, "WIDTHS", (8, 16))
    monkeypatch.setattr(law_runs, "LENGTHS", (20, 22))
    monkeypatch.setattr(law_runs, "ON_THE_WAY", (20,))
    monkeypatch.setattr(law_runs, "RATE_WIDTHS", (16, 32))
    monkeypatch.setattr(law_runs, "RATES", (0.01, 0.02))

    monkeypatch.setattr(law_runs, "train_at_rate", lambda way, width, rate, seed: rate)
    monkeypatch.setattr(law_runs, "train_one", made_up)


def made_up(width, steps, **options):
    return law_runs.LawRun(width, steps, 100 * width, 90 * width, 50 * steps, 1.5, [list(options["on_the_way"])])


def laws(file):
    return Experiment(file, law_runs.train_all, "a second", {})


def test_a_stopped_run_goes_on_where_it_was(small, tmp_path, monkeypatch):
    one, trained = laws(tmp_path / "laws.json"), []

    def train_one(width, steps, **options):
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append((width, steps))
        return made_up(width, steps, **options)

    monkeypatch.setattr(law_runs, "train_one", train_one)
    with pytest.raises(KeyboardInterrupt):
        one.write()
    assert [(run["width"], run["steps"]) for run in one.read()["runs"]] == [(8, 20), (16, 20), (8, 22)] == trained
    trained.clear()
    one.write()
    assert trained == [(16, 22)]
    found = one.read()
    assert found["about"]["floor"] == 0.5 and found["runs"][3]["parameters"] == 1600
    assert all(run["on_the_way"] == [[20]] for run in found["runs"])


def test_the_rates_are_tried_at_each_width_once(small, tmp_path, monkeypatch):
    one, tried = laws(tmp_path / "laws.json"), []
    monkeypatch.setattr(
        law_runs, "train_at_rate", lambda way, width, rate, seed: tried.append((way, width, rate, seed)) or rate
    )
    one.write()
    assert len(tried) == len(set(tried)) == 3 * 2 * 2  # at the base width both ways are the same
    losses = one.read()["rates"]["losses"]
    assert losses["μP"]["16"] == losses["one rate"]["16"] == [[0.01, 0.01], [0.02, 0.02]]
    one.write()
    assert one.read()["rates"]["losses"] == losses and len(tried) == 12


def test_rates_can_be_added_and_other_ones_are_not_mixed_in(small, tmp_path, monkeypatch):
    one = laws(tmp_path / "laws.json")
    one.write()
    monkeypatch.setattr(law_runs, "RATES", (0.01, 0.02, 0.04))
    one.write()
    rates = one.read()["rates"]
    assert rates["rates"] == [0.01, 0.02, 0.04] and rates["losses"]["μP"]["32"][2] == [0.04, 0.04]
    for name, value in (("RATES", (0.02, 0.04)), ("RATE_STEPS", 20)):
        with monkeypatch.context() as changed:
            changed.setattr(law_runs, name, value)
            with pytest.raises(ValueError, match=r"scaling_up/laws: the rates were tried with .*, expected .*; --anew"):
                one.write()
