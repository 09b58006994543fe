"""`your_turn`: the learner's version where it passes, else the course's, and what the notebook shows."""

import pytest

from tx_helpers.exercises import checks, own, solved
from tx_helpers.exercises.catalogue import find, lesson_of
from tx_helpers.exercises.own import your_turn


@pytest.fixture(autouse=True)
def inline(double, tmp_path, monkeypatch):
    """`double` stands inside a notebook."""
    double.inline = True
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    for module in (checks, own):
        monkeypatch.setattr(module, "find", {"double": double}.__getitem__)


def turn(answer) -> tuple[object, str]:
    """What is returned and what is shown."""
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "display", shown.append)
        used = your_turn("double", answer)
    (data,) = (one._repr_mimebundle_() for one in shown)
    assert 'role="status"' in data["text/html"]
    return used, data["text/plain"]


def test_an_answer_that_passes_is_used_from_here_on():
    def mine(x):
        return x + x

    used, shown = turn(mine)
    assert used is mine
    assert shown == "✓ double: right, on all 2 cases.\nFrom here on the notebook uses your version."
    assert solved.read()["double"]["right"]


def test_a_wrong_answer_is_named_and_the_courses_version_is_used(double):
    used, shown = turn(lambda x: x * x)
    assert used is double.answer
    assert "You squared it" in shown and shown.endswith("\nFrom here on the notebook uses the course's version.")
    assert solved.read()["double"]["mistakes"] == ["squared"]


@pytest.mark.parametrize("starter", [None, ..., lambda x: None, lambda x: ...])
def test_a_starter_lets_the_notebook_go_on(double, starter):
    used, shown = turn(starter)
    assert used is double.answer and solved.read() == {}
    assert shown == "○ double: not written yet.\nFrom here on the notebook uses the course's version."


def test_an_exercise_from_the_end_of_a_notebook_is_refused(double):
    double.inline = False
    with pytest.raises(ValueError, match="'double' is an exercise from the end of a notebook"):
        your_turn("double", ...)


def test_the_course_can_go_on_with_its_version():
    """A function or a class, not a value: `your_turn` returns it as it is."""
    inline = [name for name in lesson_of() if find(name).inline]
    assert [name for name in inline if find(name).starter().startswith(f"{name} = ")] == []
