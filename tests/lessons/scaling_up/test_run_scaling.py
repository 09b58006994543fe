"""tools/run_scaling.py: it goes on where it was stopped, and its file is what the package reads."""

import json

import pytest

import run_scaling
from tx_helpers.lessons.scaling_up import law_runs
from tx_helpers.lessons.scaling_up.law_runs import recorded


@pytest.fixture
def small(monkeypatch):
    """Four runs and eight rates."""
    monkeypatch.setattr(law_runs, "floors", lambda: (0.5, 0.5))
    monkeypatch.setattr(law_runs, "WIDTHS", (8, 16))
    monkeypatch.setattr(law_runs, "LENGTHS", (20, 22))
    monkeypatch.setattr(law_runs, "ON_THE_WAY", (20,))
    monkeypatch.setattr(law_runs, "RATE_WIDTHS", (16, 32))
    monkeypatch.setattr(law_runs, "RATES", (0.01, 0.02))


def run(file, monkeypatch, *options):
    monkeypatch.setattr("sys.argv", ["run_scaling.py", "--to", str(file), *options])
    run_scaling.main()


def test_a_stopped_run_goes_on_where_it_was(small, tmp_path, monkeypatch):
    file, trained = tmp_path / "laws.json", []

    def train_one(width, steps, **options):
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append((width, steps))
        return law_runs.LawRun(width, steps, 100 * width, 90 * width, 50 * steps, 1.5, [list(options["on_the_way"])])

    monkeypatch.setattr(law_runs, "train_one", train_one)
    with pytest.raises(KeyboardInterrupt):
        run(file, monkeypatch, "--only", "runs")
    assert [(one["width"], one["steps"]) for one in recorded(file)["runs"]] == [(8, 20), (16, 20), (8, 22)] == trained
    trained.clear()
    run(file, monkeypatch, "--only", "runs")
    assert trained == [(16, 22)]
    found = recorded(file)
    assert found["about"]["floor"] == 0.5 and found["runs"][3]["parameters"] == 1600
    assert all(one["on_the_way"] == [[20]] for one in found["runs"])


@pytest.mark.slow
def test_the_rates_are_tried_at_each_width_once(small, tmp_path, monkeypatch):
    file, tried = tmp_path / "laws.json", []
    monkeypatch.setattr(
        law_runs, "train_at_rate", lambda way, width, rate, seed: tried.append((way, width, rate, seed)) or rate
    )
    run(file, monkeypatch, "--only", "rates")
    assert len(tried) == len(set(tried)) == 3 * 2 * 2  # at the base width both ways are the same
    losses = recorded(file)["rates"]["losses"]
    assert losses["μP"]["16"] == losses["one rate"]["16"] == [[0.01, 0.01], [0.02, 0.02]]
    before = json.loads(file.read_text("utf-8"))
    run(file, monkeypatch)
    assert recorded(file)["rates"]["losses"] == before["rates"]["losses"] and len(tried) == 12


def test_a_file_made_with_other_settings_is_not_mixed_with_new_runs(small, tmp_path, monkeypatch):
    file = tmp_path / "laws.json"
    monkeypatch.setattr(law_runs, "train_at_rate", lambda way, width, rate, seed: rate)
    run(file, monkeypatch, "--only", "rates")
    monkeypatch.setattr(law_runs, "RATES", (0.01, 0.02, 0.04))
    run(file, monkeypatch, "--only", "rates")
    rates = recorded(file)["rates"]
    assert rates["rates"] == [0.01, 0.02, 0.04] and rates["losses"]["μP"]["32"][2] == [0.04, 0.04]
    for name, value in (("RATES", (0.02, 0.04)), ("RATE_STEPS", 20), ("COUNT", 8)):
        with monkeypatch.context() as changed:
            changed.setattr(law_runs, name, value)
            with pytest.raises(ValueError, match=r"run_scaling: .*laws\.json' was made with .*, but now it is "):
                run(file, monkeypatch)
