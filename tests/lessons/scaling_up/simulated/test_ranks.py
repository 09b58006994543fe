"""Simulated ranks: messages arrive in order, and a run that cannot go on says who waits for whom."""

import threading

import pytest
import torch

from tx_helpers.lessons.scaling_up.simulated.ranks import Message, simulate
from wrong_arguments import faults


def around_the_ring(rank, x):
    rank.send(x, rank.next)
    return rank.receive(rank.previous)


def test_messages_arrive_in_order_and_are_counted():
    def program(rank):
        if rank.number == 0:
            for value in range(3):
                rank.send(torch.full((2,), value), to=1)
            return None
        return [rank.receive(0).tolist() for _ in range(3)]

    run = simulate(program, count=2)
    assert run.results == [None, [[0, 0], [1, 1], [2, 2]]]
    assert run.messages == [Message(0, 1, 16)] * 3
    assert run.bytes_sent() == [48, 0]


def test_what_was_sent_is_a_copy():
    def program(rank):
        x = torch.zeros(1)
        if rank.number:
            return rank.receive(0).item()
        rank.send(x, 1)
        x += 5
        return x.item()

    assert simulate(program, count=2).results == [5, 0]


def test_sending_first_blocks_where_nothing_is_buffered():
    xs = [torch.tensor(float(i)) for i in range(3)]
    assert [x.item() for x in simulate(around_the_ring, xs).results] == [2, 0, 1]
    with pytest.raises(ValueError, match="nobody can go on: rank 0 waits for rank 1 to receive; rank 1 waits for"):
        simulate(around_the_ring, xs, buffered=False)

    def even_ranks_first(rank, x):
        if rank.number % 2:
            received = rank.receive(rank.previous)
            rank.send(x, rank.next)
            return received
        return around_the_ring(rank, x)

    assert [x.item() for x in simulate(even_ranks_first, xs, buffered=False).results] == [2, 0, 1]

    def at_the_same_time(rank, x):
        return rank.swap(x, to=rank.next, source=rank.previous)

    assert [x.item() for x in simulate(at_the_same_time, xs, buffered=False).results] == [2, 0, 1]


def test_a_rank_that_waits_for_one_that_has_ended():
    with pytest.raises(ValueError, match=r"rank 0 waits for a message from rank 1; ended: \[1\]"):
        simulate(lambda rank: rank.receive(1) if rank.number == 0 else None, count=2)


def test_a_message_that_nobody_receives():
    with pytest.raises(ValueError, match=r"rank 0 sent 1 message\(s\) to rank 1 that were never received"):
        simulate(lambda rank: rank.send(torch.ones(1), 1) if rank.number == 0 else None, count=2)


def test_an_error_on_one_rank_ends_all_and_names_the_rank():
    def program(rank):
        return [][0] if rank.number == 1 else rank.receive(1)

    before = threading.active_count()
    with pytest.raises(IndexError) as caught:
        simulate(program, count=3)
    assert caught.value.__notes__ == ["on rank 1 of 3"]
    assert threading.active_count() == before


def test_gradients_are_on_or_off_as_outside():
    def needs_gradient(rank):
        return (torch.ones(1, requires_grad=True) * 2).requires_grad

    assert simulate(needs_gradient, count=1).results == [True]
    with torch.no_grad():
        assert simulate(needs_gradient, count=1).results == [False]


@pytest.mark.parametrize("other", [2, -1, 0.5, "1", None])
def test_a_rank_that_is_not_there(other):
    with pytest.raises(ValueError, match=r"send: rank(=| is)"):
        simulate(lambda rank: rank.send(torch.ones(1), other), count=2)
    with pytest.raises(ValueError, match=r"receive: rank(=| is)"):
        simulate(lambda rank: rank.receive(other), count=2)


def test_a_rank_that_names_itself():
    with pytest.raises(ValueError, match="rank 1 names itself"):
        simulate(lambda rank: rank.send(torch.ones(1), 1) if rank.number else None, count=2)


def test_wrong_arguments_are_named():
    def call(program, inputs, count, buffered):
        return simulate(program, inputs, count=count, buffered=buffered)

    arguments = {"inputs": [torch.ones(1)] * 2, "count": 2, "buffered": True}
    assert faults(call, {"program": lambda rank, x: None} | arguments) == []
    with pytest.raises(ValueError, match=r"simulate: \[2, 3\] ranks"):
        simulate(lambda rank, a, b: None, [1, 2], [1, 2, 3])


def test_an_interrupt_ends_the_ranks_that_wait(monkeypatch):
    threads, begun, go_on = [], threading.Event(), threading.Event()

    def program(rank):
        if rank.number:
            go_on.wait(30)
        else:
            threads.append(threading.current_thread())
            begun.set()
            rank.receive(1)

    def interrupted(_):
        begun.wait(30)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "join", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate(program, count=2)
    threads[0].join(30)  # rank 1 has neither sent nor ended
    assert not threads[0].is_alive()
    go_on.set()
