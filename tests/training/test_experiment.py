"""Recorded experiments: what is written and read, how one goes on, and the command that lists and runs them."""

import json

import pytest

from tx_helpers.__main__ import main
from tx_helpers.training import experiment
from tx_helpers.training.experiment import PACKAGE, Experiment, experiments


def grown(begun, stop=None):
    """Three runs, one at a time; interrupted before the run `stop`."""
    content = begun or {"about": {}, "runs": []}
    for n in range(len(content["runs"]), 3):
        if n == stop:
            raise KeyboardInterrupt
        content["runs"].append([n, n + 1])
        yield content


def goes_on(begun):
    yield from grown(begun)


def stops(begun):
    yield from grown(begun, stop=2)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "lesson" / "runs.json"


@pytest.fixture(autouse=True)
def folder(file):
    file.parent.mkdir()


def test_what_is_written_is_read_and_says_how_it_was_made(file):
    one = Experiment(file, lambda: {"found": [0.5, 1]}, "a second", {"seeds": (0, 1)})
    one.write()
    content = one.read()
    assert one.name == "lesson/runs" and one.read() is content
    assert set(content) == {"found", "seeds", "cores", "commit", "torch", "date", "seconds"}
    assert content["found"] == [0.5, 1] and content["seeds"] == [0, 1]
    assert '"found": [0.5, 1],\n' in file.read_text("utf-8"), "a list of numbers stands on one line"
    assert list(file.parent.iterdir()) == [file]


def test_without_settings_the_content_alone_is_written(file):
    Experiment(file, lambda: [{"é": 1}], "a second").write()
    assert json.loads(file.read_text("utf-8")) == [{"é": 1}]


def test_a_file_that_was_begun_goes_on_and_is_made_anew_when_asked(file):
    with pytest.raises(KeyboardInterrupt):
        Experiment(file, stops, "a second", {"steps": 2}).write()
    before = json.loads(file.read_text("utf-8"))
    assert before["runs"] == [[0, 1], [1, 2]] and before["about"]["steps"] == 2
    before["runs"][0] = before["about"]["commit"] = "kept"
    file.write_text(json.dumps(before), encoding="utf-8")
    one = Experiment(file, goes_on, "a second", {"steps": 2})
    one.write()
    assert one.read()["runs"] == ["kept", [1, 2], [2, 3]] and one.read()["about"]["commit"] == "kept"
    one.write(anew=True)
    assert one.read()["runs"] == [[0, 1], [1, 2], [2, 3]]


def test_the_seconds_of_work_are_added_up(file, monkeypatch):
    clock = iter(range(0, 100, 10))
    monkeypatch.setattr(experiment.time, "process_time", lambda: next(clock))
    one = Experiment(file, goes_on, "a second", {})
    one.write()
    assert one.read()["about"]["seconds"] == 30


def test_a_missing_file_and_other_settings_are_named(file):
    with pytest.raises(FileNotFoundError, match=r"lesson/runs: .*runs\.json is missing; `python -m .* makes it: a sec"):
        Experiment(file, goes_on, "a second").read()
    Experiment(file, goes_on, "a second", {"steps": 2}).write()
    other = Experiment(file, goes_on, "a second", {"steps": 3})
    wrong = r"lesson/runs: runs.json was made with steps=2, expected 3 as in the code; `python -m .* --anew` makes it"
    with pytest.raises(ValueError, match=wrong):
        other.read()
    with pytest.raises(ValueError, match=wrong):
        other.write()
    other.write(anew=True)
    assert other.read()["about"]["steps"] == 3


def test_every_file_of_the_lessons_is_an_experiments_and_fits_its_settings():
    known = experiments()
    assert {one.file for one in known.values()} == set(PACKAGE.glob("lessons/*/*.json"))
    for one in known.values():
        assert one.read() and one.takes


def test_the_command_lists_runs_and_names_what_is_there(file, tmp_path, monkeypatch, capsys):
    known = {name: Experiment(file.with_stem(name), goes_on, "a second", {"steps": 2}) for name in ("one", "two")}
    monkeypatch.setattr(experiment, "experiments", lambda: known)
    assert main(["record"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["one", "two"]
    assert main(["record", "one", "two"]) == 0 and known["two"].read()["runs"]
    assert main(["record", "one", "--to", str(tmp_path / "x.json")]) == 0
    assert known["one"].read(tmp_path / "x.json")["runs"] == known["one"].read()["runs"]
    assert main(["record", "one", "three"]) == 2
    assert "record: no experiment is called three, expected one, two" in capsys.readouterr().err
    assert main(["record", "one", "two", "--to", "x.json"]) == 2
    known["one"].settings = {"steps": 3}
    assert main(["record", "one"]) == 1 and "steps=2" in capsys.readouterr().err
    assert main(["record", "one", "--anew"]) == 0
