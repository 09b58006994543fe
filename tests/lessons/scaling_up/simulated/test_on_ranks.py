"""Programs of ranks as exercises: whatever a learner's program does, it ends, and what happened is told."""

import threading

import pytest
import torch

from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.checks import examine
from tx_helpers.lessons.scaling_up.simulated import on_ranks as module
from tx_helpers.lessons.scaling_up.simulated.on_ranks import ENDED, on_ranks

PART = torch.ones(2)  # 8 bytes


def turned(rank, part):
    return rank.swap(part, to=rank.next, source=rank.previous)


def test_results_and_the_bytes_of_the_busiest_rank_are_told():
    parts = [PART * number for number in range(3)]
    found = on_ranks(turned, parts)
    assert found.pop("the ranks") == ENDED and found.pop("bytes through the busiest rank") == 16
    assert {name: float(value[0]) for name, value in found.items()} == {"rank 0": 2, "rank 1": 0, "rank 2": 1}


def test_bytes_count_at_both_ends():
    def program(rank, part):
        for other in (1, 2):
            if rank.number == 0:
                rank.send(part, other)
            elif rank.number == other:
                rank.receive(0)

    assert on_ranks(program, [PART] * 3)["bytes through the busiest rank"] == 16
    assert "bytes through the busiest rank" not in on_ranks(program, [PART] * 3, traffic=False)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (lambda rank, part: rank.receive(rank.next), "rank 0 waits for a message from rank 1"),
        (lambda rank, part: rank.send(part, rank.next), "rank 1 waits for rank 0 to receive"),
        (lambda rank, part: None if rank.number else rank.receive(1), "ended: [1]"),
    ],
)
def test_a_deadlock_is_a_result_that_says_who_waits_for_whom(program, says):
    found = on_ranks(program, [PART] * 2, buffered=False)
    assert says in found["the ranks"] and found["rank 0"] is found["rank 1"] is None


def test_an_error_of_the_program_itself_is_raised():
    with pytest.raises(ValueError, match="my own"):
        on_ranks(lambda rank, part: (_ for _ in ()).throw(ValueError("my own")), [PART] * 2)


def endless(rank, parts):
    while True:
        pass


def endless_on_one_rank(rank, parts):
    while rank.number == 0:
        pass
    return rank.receive(0)


def endless_in_spite_of_errors(rank, parts):
    while True:
        try:
            rank.receive(rank.next)
        except Exception:
            continue


@pytest.mark.parametrize("program", [endless, endless_on_one_rank])
def test_an_endless_loop_on_a_rank_ends_and_leaves_no_thread(program, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.3)
    exercise, before = find("ring_reduce_scatter"), set(threading.enumerate())
    assert "look for a loop that never ends" in examine(exercise, program).text
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive(), thread
    assert examine(exercise, exercise.answer).state == "right"


def test_even_ranks_that_catch_every_error_do_not_hold_up_the_learner(monkeypatch):
    exercise = find("ring_reduce_scatter")
    monkeypatch.setattr(module, "SECONDS", 0.3)
    monkeypatch.setattr(exercise, "seconds", 1.0)
    assert examine(exercise, endless_in_spite_of_errors).state == "wrong"
    assert examine(exercise, exercise.answer).state == "right"


@pytest.mark.parametrize("name", ["ring_reduce_scatter", "split_feed_forward"])
def test_what_is_not_written_yet_counts_as_not_attempted(name):
    def placeholder(rank, *inputs):
        total = ...
        return total

    def unwritten(rank, *inputs):
        raise NotImplementedError

    assert examine(find(name), placeholder).state == examine(find(name), unwritten).state == "open"


def test_what_a_rank_prints_and_changes_is_remarked():
    def busy(rank, parts):
        print("on rank", rank.number)
        torch.manual_seed(0)
        return find("ring_reduce_scatter").answer(rank, parts)

    text = examine(find("ring_reduce_scatter"), busy).text
    assert text.startswith("right") and "it prints" in text and "global random numbers" in text
