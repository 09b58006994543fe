"""What makes ladder.json: budgets, a run that is stopped and goes on, a small ladder trained anew."""

import pytest
import torch

from tx_helpers.lessons.what_changed import ladder, ladder_runs
from tx_helpers.lessons.what_changed.ladder import LadderText, Recipe, recipes
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.experiment import Experiment

FEW = {"rungs": ("2017", "pre-norm", "grouped queries"), "alone": ("pre-norm",), "without": ("bfloat16",)}


@pytest.fixture
def few(monkeypatch):
    """Four recipes in five places, and a short text."""
    chosen = {group: {name: recipes()[group][name] for name in names} for group, names in FEW.items()}
    monkeypatch.setattr(ladder, "recipes", lambda: chosen)
    tokenizer = CharTokenizer.train("to be or not to be")
    ids = torch.tensor(tokenizer.encode("to be or not to be" * 20))
    text = LadderText(tokenizer, ids, ids[:130])
    monkeypatch.setattr(ladder, "ladder_text", lambda: text)
    return text


def test_equal_recipes_are_one_job(few):
    found = ladder_runs.jobs()
    assert found["alone", "pre-norm"] == found["rungs", "pre-norm"]
    assert len({job.name for job in found.values()}) == 4
    assert all(isinstance(job.recipe, Recipe) for job in found.values())


def test_a_budget_is_what_the_first_rung_takes():
    first = {"flops_per_token": 100.0, "seconds_per_step": 0.02}
    assert ladder_runs.steps_at(200, 100.0, 0.02, first) == {"steps": 200, "flops": 200, "seconds": 200}
    assert ladder_runs.steps_at(200, 125.0, 0.01, first) == {"steps": 200, "flops": 160, "seconds": 400}


def test_the_seconds_of_a_step_are_measured_in_turns(few):
    found = ladder_runs.seconds_per_step({"a": Recipe(), "b": Recipe()}, few, rounds=2, steps=1)
    assert set(found) == {"a", "b"} and all(0 < seconds < 60 for seconds in found.values())


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_was(few, tmp_path, monkeypatch):
    table = ladder_runs.plan(few, steps=2, rounds=1)
    for group in FEW:
        for row in table[group]:
            row["steps_at"] = {"steps": 2, "flops": 2, "seconds": 3}
    monkeypatch.setattr(ladder_runs, "plan", lambda text: table)
    monkeypatch.setattr(ladder_runs, "SEEDS", range(1))
    monkeypatch.setattr(ladder_runs, "LONGER", ())
    one = Experiment(tmp_path / "ladder.json", ladder_runs.climb, "a second", {})
    trained, real = [], ladder.train

    def train(recipe, **options):
        if len(trained) == 5:
            raise KeyboardInterrupt
        trained.append(options["steps"])
        return real(recipe, **options)

    monkeypatch.setattr(ladder, "train", train)
    with pytest.raises(KeyboardInterrupt):
        one.write()
    assert one.read()["about"]["seeds"] == [], "no seed is complete"
    trained.clear()
    one.write()
    assert len(trained) == 3, "four recipes for two numbers of steps are eight trainings"
    done = one.read()
    assert done["about"]["seeds"] == [0]
    for group, names in FEW.items():
        assert [row["name"] for row in done[group]] == list(names)
        assert all(len(row[budget]) == 1 for row in done[group] for budget in ladder.BUDGETS)
    assert done["alone"][0]["steps"] == done["rungs"][1]["steps"]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [10, 11])
def test_the_large_effects_come_back_with_other_seeds(seed):
    """Seeds that the file has not: rotary positions, Muon and today's recipe are better than 2017's by far."""
    losses = {
        name: ladder.train(recipe, steps=120, seed=seed).held_out
        for name, recipe in {
            "2017": ladder.as_of("2017"),
            "rotary": ladder.with_changes("rotary"),
            "Muon": ladder.with_changes("Muon"),
            "today": ladder.as_of(ladder.RUNGS[-1].name),
        }.items()
    }
    assert losses["rotary"] < losses["2017"] - 0.1
    assert losses["Muon"] < losses["2017"] - 0.1
    assert losses["today"] < min(losses["rotary"], losses["Muon"]) - 0.1
