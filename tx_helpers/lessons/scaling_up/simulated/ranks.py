"""Ranks in one process: each runs the same function in a thread of its own, and they exchange tensors.

On a cluster every GPU has a process with a number, its rank, and all processes run the same program. `simulate` does
this with threads, so a notebook can show it. `send` and `receive` work like `torch.distributed.isend` and `recv`.
Unlike a cluster, `simulate` notices when the ranks wait for each other, and says which rank waits for what.
"""

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types


class Message(NamedTuple):
    """A tensor that one rank has sent to another."""

    source: int
    to: int
    bytes: int


class Simulated(NamedTuple):
    """What the ranks returned, and every message, sorted by sender and then by time."""

    results: list[Any]
    messages: list[Message]

    def bytes_sent(self) -> list[int]:
        """Bytes that each rank sent."""
        return [sum(m.bytes for m in self.messages if m.source == rank) for rank in range(len(self.results))]


class Rank:
    """One of `count` ranks: its number, and how it sends and receives."""

    def __init__(self, number: int, mail: "_Mail"):
        self.number, self.count = number, mail.count
        self._mail = mail

    def __repr__(self) -> str:
        return f"Rank({self.number} of {self.count})"

    @property
    def next(self) -> int:
        """The rank to the right on the ring."""
        return (self.number + 1) % self.count

    @property
    def previous(self) -> int:
        """The rank to the left on the ring."""
        return (self.number - 1) % self.count

    def send(self, tensor: Tensor, to: int) -> None:
        """Send a copy of the tensor."""
        self._mail.wait_for(self.number, self._mail.post(self.number, to, tensor), f"rank {to} to receive")

    def receive(self, source: int) -> Tensor:
        """The next tensor from that rank, in the order in which it was sent."""
        return self._mail.take(self.number, source)

    def swap(self, tensor: Tensor, *, to: int, source: int) -> Tensor:
        """Send and receive at the same time, which cannot block: `torch.distributed.batch_isend_irecv`."""
        self._mail.post(self.number, to, tensor)
        return self.receive(source)


def simulate(program: Callable[..., Any], *inputs: list, count: int | None = None, buffered: bool = True) -> Simulated:
    """Run `program(rank, *its inputs)` on every rank, and wait until all have returned.

    inputs    lists with one entry for each rank; without any, `count` says how many ranks there are
    buffered  True: a message waits at its receiver, and `send` returns at once. False: `send` waits until the other
              rank receives, as for large messages on a real network

    Errors: a ValueError where the ranks wait for each other, or where a message is never received. An error in the
    program itself ends the run and is raised here, with a note that names the rank.
    """
    check_types("simulate", Callable, program=program)
    check_types("simulate", bool, buffered=buffered)
    check_numbers("simulate", least=1, whole=True, optional=True, count=count)
    for i, values in enumerate(inputs):
        check_types("simulate", (list, tuple), **{f"inputs[{i}]": values})
    counts = {len(values) for values in inputs} | ({count} if count else set())
    if len(counts) != 1:
        raise ValueError(f"simulate: {sorted(counts)} ranks, expected inputs of one length, or a count")
    mail = _Mail(counts.pop(), buffered)
    mode = torch.enable_grad if torch.is_grad_enabled() else torch.no_grad  # a new thread begins with the default
    results: list[Any] = [None] * mail.count

    def run(number: int) -> None:
        try:
            with mode():
                results[number] = program(Rank(number, mail), *(values[number] for values in inputs))
        except _StoppedError:
            pass
        except BaseException as error:
            error.add_note(f"on rank {number} of {mail.count}")
            mail.stop(error)
        finally:
            mail.end(number)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(mail.count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt as error:
        mail.stop(error)  # otherwise ranks that wait would wait on behind the caller's back
        raise
    return Simulated(results, mail.all_received())


class _StoppedError(Exception):
    """Another rank has failed, or all wait: this one ends, too."""


@dataclass
class _Posted:
    tensor: Tensor
    received: bool = False


class _Mail:
    """The messages between the ranks, and who waits for what. One condition guards all of it."""

    def __init__(self, count: int, buffered: bool):
        self.count, self.buffered = count, buffered
        self._changed = threading.Condition()
        self._boxes: dict[tuple[int, int], deque[_Posted]] = defaultdict(deque)
        self._log: list[list[Message]] = [[] for _ in range(count)]
        self._waiting: dict[int, tuple[Callable[[], bool], str]] = {}
        self._running = set(range(count))
        self._error: BaseException | None = None

    def post(self, source: int, to: int, tensor: Tensor) -> _Posted:
        check_tensors("send", tensor=(tensor, "…"))
        self._check_other("send", source, to)
        posted = _Posted(tensor.detach().clone())
        with self._changed:
            self._boxes[source, to].append(posted)
            self._log[source].append(Message(source, to, tensor.numel() * tensor.element_size()))
            self._changed.notify_all()
        return posted

    def wait_for(self, number: int, posted: _Posted, what: str) -> None:
        if not self.buffered:
            with self._changed:
                self._wait(number, lambda: posted.received, what)

    def take(self, number: int, source: int) -> Tensor:
        self._check_other("receive", number, source)
        with self._changed:
            box = self._boxes[source, number]
            self._wait(number, lambda: bool(box), f"a message from rank {source}")
            posted = box.popleft()
            posted.received = True
            self._changed.notify_all()
        return posted.tensor

    def stop(self, error: BaseException) -> None:
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def end(self, number: int) -> None:
        with self._changed:
            self._running.discard(number)
            self._changed.notify_all()

    def all_received(self) -> list[Message]:
        if self._error is not None:
            raise self._error
        for (source, to), box in self._boxes.items():
            if box:
                raise ValueError(
                    f"simulate: rank {source} sent {len(box)} message(s) to rank {to} that were never received"
                )
        return [message for sent in self._log for message in sent]

    def _wait(self, number: int, ready: Callable[[], bool], what: str) -> None:
        self._waiting[number] = ready, what
        while not ready():
            if self._error is None and all(r in self._waiting and not self._waiting[r][0]() for r in self._running):
                waits = "; ".join(f"rank {r} waits for {self._waiting[r][1]}" for r in sorted(self._running))
                ended = sorted(set(range(self.count)) - self._running)
                self._error = ValueError(
                    f"simulate: nobody can go on: {waits}" + (f"; ended: {ended}" if ended else "")
                )
                self._changed.notify_all()
            if self._error is not None:
                raise _StoppedError
            self._changed.wait()
        del self._waiting[number]

    def _check_other(self, where: str, number: int, other: int) -> None:
        check_numbers(where, least=0, less_than=self.count, whole=True, rank=other)
        if other == number:
            raise ValueError(f"{where}: rank {number} names itself, expected another of the {self.count} ranks")
