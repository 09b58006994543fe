"""The checker itself: what it compares, what it tells, and that a learner's code spoils nothing."""

import asyncio
import functools
import io
import json
import math
import os
import random
import re
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import ipywidgets
import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from tx_helpers.exercises import checks, export, solved
from tx_helpers.exercises.catalogue import find, lesson_of
from tx_helpers.exercises.checks import examine, not_attempted
from tx_helpers.exercises.compare import difference, shown
from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.quizzes import Choice, Question, Quiz, questions, quiz, static
from tx_helpers.exercises.sandbox import guarded
from tx_helpers.progress_file import PREDICTIONS, progress_file
from wrong_arguments import faults


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))


@pytest.mark.parametrize(
    ("got", "right", "step", "says"),
    [
        (None, torch.zeros(2), "kind", "None (is a `return` missing?)"),
        (torch.zeros(3, 2), torch.zeros(2, 3), "shape", "has the shape (3, 2), expected (2, 3)"),
        (torch.zeros(2).bool(), torch.zeros(2), "dtype", "True and False (torch.bool), expected real numbers"),
        (torch.zeros(2), torch.zeros(2).long(), "dtype", "real numbers (torch.float32), expected whole numbers"),
        (torch.tensor([1.0, math.nan]), torch.ones(2), "finite", "is NaN at 1 of 2 places"),
        (torch.tensor([math.inf, 1.0]), torch.ones(2), "finite", "infinite at 1 of 2 places"),
        (torch.tensor([1.0, 1.5]), torch.ones(2), "value", "result[1] is 1.5, expected 1; 1 of 2 entries are off"),
        (torch.tensor([math.inf]), torch.tensor([-math.inf]), "value", "is inf, expected -inf"),
        (torch.tensor([0.0]), torch.tensor([-math.inf]), "value", "is 0, expected -inf"),
        (torch.tensor([0.0]), torch.tensor([math.nan]), "value", "is 0, expected nan"),
        (3, 4, "value", "result is 3, expected 4"),
        (torch.ones(2), 4, "shape", "result is a tensor (2,), expected a number"),
        (["a"], ["a", "b"], "value", "is ['a'], expected ['a', 'b']"),
        ({"a": 1}, {"a": 1, "b": 2}, "kind", "expected a dict with the keys a, b"),
        ((torch.ones(2),), (torch.ones(2), torch.ones(2, 2)), "kind", "a tuple of 1, expected 2 values"),
        ((torch.ones(2), torch.ones(2)), (torch.ones(2), torch.ones(2, 2)), "shape", "result[1] has the shape (2,)"),
    ],
)
def test_the_first_difference_is_told(got, right, step, says):
    found = difference(got, right, 1e-4)
    assert found.step == step
    assert says in found.says


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (torch.ones(2).double(), torch.ones(2)),
        (np.ones(2), torch.ones(2)),
        ([1.0, 1.0], torch.ones(2)),
        ([torch.tensor(1.0), torch.tensor(1.0)], torch.ones(2)),
        (torch.tensor([1.00001]), torch.ones(1)),
        (3.0, 3),
        (torch.tensor(3), 3),
        (("a", "b"), ["a", "b"]),
        (torch.tensor([-math.inf, math.nan]), torch.tensor([-math.inf, math.nan])),
        ({"a": [1, 2]}, {"a": torch.tensor([1, 2])}),
        (torch.ones(2, requires_grad=True), torch.ones(2)),
        (torch.ones(2, 3), (torch.ones(3), torch.ones(3))),
    ],
)
def test_equal_values_in_other_forms_agree(got, right):
    assert difference(got, right, 1e-4) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.tensor([[1.0, 0.33333]]), "[[1.0, 0.3333]]"),
        (torch.zeros(5, 5), "a tensor (5, 5)"),
        ((torch.zeros(2), torch.zeros(5, 5)), "[0.0, 0.0]; a tensor (5, 5)"),
        ({"output": torch.ones(1), "mode": 1}, "output: [1.0]; mode: 1"),
        (("a", "b"), "('a', 'b')"),
        (set("dacb"), "{'a', 'b', 'c', 'd'}"),
        ({("a", "b"): 2}, "{('a', 'b'): 2}"),
        ([examine, functools.partial(not_attempted, None), torch.relu], "[examine, not_attempted, relu]"),
        ((lambda: 1,), "(a function,)"),
        ({1: Exercise, "by": object()}, "{1: Exercise, 'by': object}"),
    ],
)
def test_values_are_shown_in_a_few_words(value, words):
    assert shown(value) == words


def test_a_known_mistake_is_named_and_an_unknown_one_gets_the_smallest_counterexample(double):
    named = examine(double, lambda x: x**2)
    assert (named.state, named.mistake) == ("wrong", "squared")
    assert "You squared it" in named.text and "result[0] is 1, expected 2" in named.text
    unknown = examine(double, lambda x: 3 * x if len(x) > 2 else 2 * x)  # the first case is right
    assert (unknown.state, unknown.mistake) == ("wrong", "")
    for part in ("result[3] is 9, expected 6", "x = [0.0, 1.0, 2.0, 3.0]", "Yours: [0.0, 3.0, 6.0, 9.0]"):
        assert part in unknown.text


def test_no_input_of_a_message_is_a_place_in_the_memory():
    told = [checks.told(find(name), case) for name in lesson_of() for case in find(name).cases()]
    assert [text for text in told if re.search(r" at 0x|functools|<function|<class", text)] == []


def test_of_a_result_in_parts_those_that_differ_are_shown(double):
    double.run = lambda answer, x: {"the sum": answer(x).sum(), "ids": "1 2", "the list": []}
    told = examine(double, lambda x: 3 * x).text
    assert "your sum: 9, expected 6." in told and "ids" not in told and "list" not in told


def test_every_input_of_a_message_has_its_name(double):
    assert checks.told(find("one_head"), find("one_head").cases()[1]).startswith(
        "x = a tensor (2, 5, 6), M = a tensor (6, 6), W_v = [["
    )
    assert checks.told(find("HeadProjections"), (4, 2)) == "D = 4, H = 2"
    assert checks.told(double, (1, 2)) == "1, 2"  # more inputs than names
    assert checks.told(double, ()) == "none"


def test_what_a_learners_code_does_is_reported_and_spoils_nothing(double):
    states = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()

    def busy(x):
        print("looking", x)
        torch.manual_seed(3)
        np.random.rand()
        random.random()
        torch.set_grad_enabled(False)
        x *= 2
        return x

    feedback = examine(double, busy)
    assert feedback.state == "right"
    for part in ("it prints ('looking", "changes its inputs in place", "global random numbers", "switches gradients"):
        assert part in feedback.text
    assert torch.equal(torch.get_rng_state(), states[0]) and torch.is_grad_enabled()
    assert (np.random.get_state()[1] == states[1]).all() and random.getstate() == states[2]


def test_only_what_the_answer_itself_replaces_is_held_against_it(double, monkeypatch):
    monkeypatch.setattr(torch, "manual_seed", torch.manual_seed)  # which torch.func's first use wraps, for good

    def by_torch_func(x):
        torch.manual_seed = torch._disable_dynamo(torch.manual_seed)  # as torch._dynamo does when it is imported
        return torch.func.vjp(lambda x: x**2, x)[1](torch.ones_like(x))[0]

    def by_replacing(x):
        torch.relu = functools.wraps(torch.relu)(lambda x: x)
        return 2 * x

    relu = torch.relu
    assert examine(double, by_torch_func).text == "right, on all 2 cases."
    assert "it replaces torch.relu for everybody" in examine(double, by_replacing).text
    assert torch.relu is relu


def test_an_endless_loop_ends_and_the_next_answer_is_checked_as_usual(double, capsys):
    double.seconds = 0.2

    def endless(x):
        while True:
            try:
                len(x)
            except BaseException:  # even this does not prevent the stop
                if x is None:
                    raise

    def ends_at_last(x):
        while True:
            pass

    assert "still running after 0.2 seconds" in examine(double, ends_at_last).text
    assert examine(double, lambda x: x + x).state == "right"
    assert capsys.readouterr() == ("", "")


class Endless(list):
    def __iter__(self):
        while True:
            yield 1.0


class Leaving(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *_, **__):
        raise SystemExit


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError


def _deep(x):
    sys.setrecursionlimit(10**9)
    return _deep(x)


def _printing(x):
    while True:
        print("x" * 1000)


def _raising(x):
    raise SilentError


HOSTILE = {
    "a number too long": (lambda x: 10**10**9, "still running after"),
    "text without an end": (_printing, "it printed more than 100,000 characters"),
    "a list without an end": (lambda x: Endless([2.0, 4.0]), "cannot be compared with the right one: it was still"),
    "a tensor that leaves": (lambda x: x.as_subclass(Leaving), "cannot be compared with the right one: it raised Sys"),
    "an error without a text": (_raising, "it raised SilentError: (an error whose own text raises an error)"),
    "recursion without a limit": (_deep, "it raised RecursionError"),
}


@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.parametrize("beside", [False, True], ids=["main thread", "another thread"])
def test_hostile_answers_end_and_are_told(how, beside, double):
    answer, says = HOSTILE[how]
    if beside and how == "a number too long":
        return  # only a signal interrupts one long calculation, and only in the main thread
    double.seconds = 0.2 if "still running" in says else 5
    limit, found = sys.getrecursionlimit(), []

    def go() -> None:
        found.append(examine(double, answer))

    if beside:
        thread = threading.Thread(target=go)
        thread.start()
        thread.join()
    else:
        go()
    assert says in found[0].text and sys.getrecursionlimit() == limit


def test_a_closed_standard_output_is_only_the_answers_own(double):
    def closing(x):
        sys.stdout.close()
        print("still here")
        return 2 * x

    assert examine(double, closing).state == "right"


@pytest.mark.parametrize("switch", [sys.settrace, sys.setprofile], ids=["tracer", "profiler"])
def test_an_answer_is_checked_and_stopped_while_a_tracer_or_a_profiler_is_on(switch):
    """In another thread: there no signal helps, and if it hangs, the test does not."""
    problems = []

    def watched(*_):
        return watched

    def endless():
        while True:
            pass

    def go():
        switch(watched)
        try:
            problems.extend(guarded(call, (), 0.2).problem[:21] for call in (endless, dict))
        finally:
            switch(None)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    thread.join(120)
    assert problems == ["it was still running ", ""]


def test_an_error_is_told_with_its_line_and_input(double):
    def broken(x):
        return x @ torch.ones(3)

    text = examine(double, broken).text
    assert "It raised RuntimeError" in text and "`return x @ torch.ones(3)`" in text and "x = [1.0, 2.0]" in text
    assert "SystemExit" in examine(double, lambda x: exit(3)).text


def test_an_answer_cannot_fool_the_comparison_or_spoil_the_next_check(double):
    originals = torch.where, torch.Tensor.double, any

    def fooling(x):
        import builtins

        torch.where = lambda condition, one, other: torch.zeros(1)
        torch.Tensor.double = lambda self: torch.zeros(1)
        builtins.any = lambda found: False
        torch.set_default_device("meta")
        return 7 * x.cpu()

    feedback = examine(double, fooling)
    assert feedback.state == "wrong"
    for name in ("torch.where", "Tensor.double", "builtins.any", "default device"):
        assert name in feedback.text
    assert (torch.where, torch.Tensor.double, any) == originals and torch.zeros(1).device.type == "cpu"
    assert examine(double, lambda x: x + x).state == "right"


class Agreeable(torch.Tensor):
    """Whatever is subtracted from it, nothing is left."""

    def __sub__(self, other):
        return torch.zeros(2)


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([9.0, 9.0]).as_subclass(Agreeable),
        torch.tensor([2.0 + 5j, 4.0]),
        np.ma.masked_all(2),
        torch.zeros(2).to_sparse(),
        torch.zeros(2, device="meta"),
        [Fraction(1, 3), Fraction(4)],
    ],
)
def test_odd_results_are_wrong_and_no_error(double, value):
    double.cases = lambda: [(torch.tensor([1.0, 2.0]),)]
    assert examine(double, lambda x: value).state == "wrong"
    assert examine(double, lambda x: [Fraction(2), Decimal(4)]).state == "right"


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, SystemExit])
def test_no_answer_ends_the_session(double, error):
    def leaving(x):
        raise error

    assert error.__name__ in examine(double, leaving).text


def test_a_keyboard_interrupt_is_the_learners_own():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded(interrupted, (), 1.0)


@pytest.mark.parametrize("answer", [None, ..., lambda x: ..., lambda x: None])
def test_a_starter_is_not_attempted(answer):
    assert not_attempted(answer)


@pytest.mark.parametrize("answer", [lambda x: 0, lambda x: x, 3, torch.zeros(2), len, Exercise])
def test_whatever_has_been_written_is_attempted(answer):
    assert not not_attempted(answer)


def test_a_placeholder_inside_and_an_unwritten_method_are_not_attempted(double):
    def half(x):
        scores = ...
        return scores

    def unwritten(x):
        raise NotImplementedError

    assert examine(double, half).state == examine(double, unwritten).state == "open"


def test_an_unknown_name_is_refused_with_similar_ones():
    with pytest.raises(ValueError, match="did you mean 'attention_weights'"):
        checks.check("atention_weight", None)
    with pytest.raises(ValueError, match="hint: step=4, expected at least 1 and at most 3"):
        checks.hint("attention_weights", 4)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (checks.check, {"name": "one_head"}),
        (checks.hint, {"name": "one_head", "step": 2}),
        (checks.solution, {"name": "one_head"}),
        (quiz, {"lesson": "self_attention"}),
    ],
)
def test_wrong_arguments_are_named(call, arguments):
    assert faults(functools.partial(call, answer=...) if call is checks.check else call, arguments) == []


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_console_of_any_encoding_gets_what_it_can_print(encoding, double, monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    monkeypatch.setattr("sys.stdout", console)
    print(examine(double, lambda x: 2 * x))
    checks.hint("attention_weights", 2)
    checks.hint("cross_attention", 3)
    checks.solution("gradient_through_time")
    console.flush()
    text = console.buffer.getvalue().decode(encoding)
    signs = ("✓ double", "√d_k", "∂h_T/∂h_0") if encoding == "utf-8" else ("+ double", "sqrt d_k", "?h_T/?h_0")
    assert not [sign for sign in signs if sign not in text], text


def test_hints_come_one_after_the_other(capsys, monkeypatch):
    monkeypatch.setattr(checks, "_hints_given", {})
    for _ in range(4):
        checks.hint("attention_weights")
    hints = find("attention_weights").hints
    expected = [f"Hint {n} of 3: {hints[n - 1]}" for n in (1, 2, 3, 3)]
    assert capsys.readouterr().out.splitlines() == expected


def test_the_solution_is_printed_without_its_decorator(capsys):
    checks.solution("attention_weights")
    printed = capsys.readouterr().out
    assert printed.startswith("import math\n\n\ndef attention_weights(Q, K):") and "softmax" in printed
    namespace = {}
    exec(printed, namespace)  # it stands alone
    assert examine(find("attention_weights"), namespace["attention_weights"])


def test_starters_of_values_and_of_classes():
    whole = dict(title="t", goal="g", difficulty=1, minutes=1, hints=(), cases=lambda: [()])
    value, module = Exercise("number", **whole), Exercise("Twice", run=lambda answer: answer().double(2), **whole)

    @value.solution
    def number():
        """A number."""
        return 4

    @module.solution
    class Twice:
        """Doubles."""

        def double(self, x):
            """Twice x."""
            return 2 * x

    found = {"Twice": Twice, "number": number}
    for exercise in (value, module):
        namespace = {}
        exec(exercise.starter(), namespace)
        assert examine(exercise, namespace[exercise.name]).state == "open"
        assert examine(exercise, found[exercise.name]).state == "right"
    assert examine(value, 4).state == "right"
    assert examine(value, 5).state == "wrong"


def test_feedback_shows_hostile_text_as_text(double):
    feedback = examine(double, lambda x: {"<script>alert(1)</script>": x})
    html = feedback._repr_mimebundle_()["text/html"]
    assert "<script" not in html and 'role="status"' in html


# --- progress --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [5, 8, 12])
def test_the_map_has_room_for_the_longest_row(most):
    svg = solved.drawn({"debugging": {f"exercise {place}": "open" for place in range(most)}}).svg
    boxes = [float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*width="24"', svg)]
    (count,) = re.findall(rf'<text x="([\d.]+)"[^>]*>0 of {most}<', svg)
    assert len(boxes) == most and max(boxes) + 24 < float(count) - 45


def test_tries_are_stored_and_once_right_is_right():
    answer = find("attention_weights").answer
    assert "0 of" in solved.progress().alt
    checks.check("attention_weights", ...)
    assert solved.read() == {}
    checks.check("attention_weights", find("attention_weights").mistakes[0].answer)
    checks.check("attention_weights", answer)
    checks.check("attention_weights", lambda Q, K: Q.T @ K * 7)
    entry = solved.read()["attention_weights"]
    assert (entry["right"], entry["tries"], entry["mistakes"]) == (True, 3, ["unscaled"])
    assert "04: 1 of" in solved.progress().alt
    assert solved.states("self_attention", solved.read())["attention_weights"] == "right"


def test_progress_is_exported_and_reset(tmp_path):
    with pytest.raises(ValueError, match="export: path is None, expected the name of a file"):
        export(None)
    solved.note("attention_weights", right=True)
    lines = export(tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].startswith("notebook,exercise,right,tries,mistakes,first,last,kind,student,")
    assert any(line.startswith("04,attention_weights,True,1,,2") for line in lines)
    solved.reset()
    assert solved.read() == {}
    solved.reset()


def solves_one() -> bool:
    """The answer to an exercise is right, and it is recorded."""
    assert checks.check("attention_weights", find("attention_weights").answer)
    return solved.read().get("attention_weights", {}).get("right", False)


DAMAGED = [b'{"one_head": {"right": tr', b"[1, 2]", b"\xff\xfe\x00", b"[" * 100_000]


@pytest.mark.parametrize("content", DAMAGED, ids=["cut off", "a list", "no text", "deep"])
def test_a_damaged_file_is_set_aside_with_a_line_and_the_record_goes_on(content, tmp_path, capsys):
    progress_file().write_bytes(content)
    assert solves_one()
    (aside,) = tmp_path.glob("progress-damaged-*.json")
    assert aside.read_bytes() == content
    assert "progress.json is damaged (" in (said := capsys.readouterr().out) and f"called {aside.name}, beside" in said


ENTRIES = [{}, [], 3, {"right": True}, {"right": True, "tries": "2", "mistakes": [3], "first": None}]


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_an_entry_with_gaps_is_read_and_the_others_stay(entry, tmp_path):
    solved.note("one_head", right=True)
    content = json.loads(progress_file().read_text())
    progress_file().write_text(json.dumps(content | {"attention_weights": entry, PREDICTIONS: [1]}))
    assert "04: " in solved.progress().alt and solved.guesses() == {}
    export(tmp_path / "out.csv")
    solved.note("attention_weights", right=False)
    solved.note_guess("hot", "zero")
    found = solved.read()
    assert found["one_head"]["right"] and found["attention_weights"]["tries"] == 1
    assert found["attention_weights"]["right"] == (isinstance(entry, dict) and "right" in entry)
    assert solved.guesses() == {"hot": "zero"}


def test_a_byte_order_mark_is_read():
    solved.note("one_head", right=True)
    progress_file().write_bytes(b"\xef\xbb\xbf" + progress_file().read_bytes())
    assert solved.read()["one_head"]["right"]


def test_what_a_killed_process_left_of_its_write_is_removed(tmp_path):
    old, new, others = (tmp_path / f".{name}.unfinished" for name in ("progress.json.a", "progress.json.b", "run.pt.7"))
    for file in (old, new, others):
        file.write_text("{")
    os.utime(old, (0, 0))
    os.utime(others, (0, 0))
    solved.note("scored", right=True)
    assert not old.exists() and new.exists() and others.exists() and (tmp_path / "progress.json").exists()


def test_a_link_to_the_file_stays_a_link(tmp_path):
    (tmp_path / "progress.json").symlink_to(tmp_path / "elsewhere.json")
    assert solves_one()
    assert (tmp_path / "progress.json").is_symlink() and "attention" in (tmp_path / "elsewhere.json").read_text()


def test_two_notebooks_at_once_lose_no_entry(both_at_once):
    both_at_once(solved, [lambda: solved.note("one_head", right=True), lambda: solved.note_guess("hot", "zero")])
    assert list(solved.read()) == ["one_head"] and solved.guesses() == {"hot": "zero"}


PLACES = {
    "an unknown user": lambda folder: "~nosuchuser/progress.json",
    "a folder": lambda folder: folder,
    "below a file": lambda folder: Path(__file__) / "progress.json",
    "a pipe": lambda folder: getattr(os, "mkfifo", Path.mkdir)(folder / "pipe") or folder / "pipe",
    "a name too long": lambda folder: folder / ("x" * 300),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_cannot_hold_the_record_is_told_and_stops_nobody(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(solved, "_told", set())
    monkeypatch.setenv("TX_PROGRESS", str(PLACES[place](tmp_path)))
    assert not solves_one()
    assert "Your progress cannot be recorded (" in capsys.readouterr().out
    assert "0 of" in solved.progress().alt and solved.guesses() == {}
    solves_one()
    assert "recorded" not in capsys.readouterr().out  # once is enough


def test_a_full_disk_is_told_and_what_was_recorded_stays(monkeypatch, capsys):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(solved, "_told", set())
    solved.note("one_head", right=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert not solves_one()
    assert capsys.readouterr().out == "Your progress cannot be recorded (No space left on device).\n"
    assert list(solved.read()) == ["one_head"] and len(list(progress_file().parent.iterdir())) == 1


def test_the_file_is_plain_json():
    solved.note("attention_weights", right=False, mistake="unscaled")
    entry = json.loads(progress_file().read_text())["attention_weights"]
    assert set(entry) == {"right", "tries", "mistakes", "first", "last", "hints", "hints_before"}


# --- quiz ------------------------------------------------------------------------------------------------------------

QUESTIONS = questions("""
1 + 1 <
    3?
  * yes | 2 is less
    than 3.
  - <b>no</b> | It is less.
2 + 2?
  - 5 | Too many.
  * 4 | Count | them.
""")


def test_a_table_holds_questions():
    yes, no = Choice("yes", "2 is less than 3.", right=True), Choice("<b>no</b>", "It is less.")
    assert QUESTIONS[0] == Question("1 + 1 < 3?", (yes, no))
    assert QUESTIONS[1].choices[1] == Choice("4", "Count | them.", right=True)


@pytest.mark.parametrize("row", ["  * yes, without a reason", "  + yes | a reason", "   - yes | a reason"])
@pytest.mark.parametrize("head", ["", "1 + 1 < 3?\n"])
def test_a_row_of_another_form_is_named(head, row):
    with pytest.raises(ValueError, match=re.escape(f"for the right one, got {row!r}")):
        questions(head + row + "\n  - no | It is.")


def test_a_quiz_counts_right_answers():
    widget = Quiz("Quiz 04", QUESTIONS)
    assert repr(widget) == "Quiz 04: 0 of 2 questions right"
    widget.answers = [0, 0]
    assert widget.score == 1
    widget.answers = [0, 1]
    assert repr(widget) == "Quiz 04: 2 of 2 questions right"


def test_the_static_form_is_shown_by_an_ipywidgets_that_displays_its_widgets_itself(monkeypatch):
    """As version 7 does, which Colab has."""
    monkeypatch.setattr(ipywidgets.Widget, "_ipython_display_", lambda self: None, raising=False)
    data, _ = DisplayFormatter().format(Quiz("Quiz 04", QUESTIONS))
    assert data["text/html"] == static(QUESTIONS)


def test_the_static_form_holds_every_reason_and_no_markup_of_a_question():
    html = static(QUESTIONS)
    assert "&lt;b&gt;no&lt;/b&gt;" in html and "1 + 1 &lt; 3?" in html
    for question in QUESTIONS:
        assert all(choice.why in html for choice in question.choices)
    assert html.count("<details>") == 2


@pytest.mark.parametrize("right", [(False, False), (True, True)])
def test_a_question_has_one_right_choice(right):
    with pytest.raises(ValueError, match="expected one"):
        Question("?", [Choice("a", "b", right=r) for r in right])
