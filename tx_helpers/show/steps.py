"""Work that is done step by step and watched: a training run, a text that is written, a slider that plays.

    steps = Steps(rest=0.01)
    steps.start(step, ended)      # step() takes one, and says whether there is another
    steps.stop()

A kernel that computes sees no click, so the work is an asyncio task that rests before every step. Whatever came in
meanwhile (a press of Stop, a cell to run) is done then. It needs no thread. But JupyterLab 4 handles presses in a
thread of the kernel (a "subshell"), so the task runs in the event loop in which the `Steps` were made, that of the
cells: cells and work never compute at the same time. Where no event loop runs (in a script), all steps are taken at
once.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

_hands: list[list["Steps"]] = []  # what was started inside of `by_hand`, of each that is open


class Steps:
    """One piece of work at a time; `task` is the future of the last one, None before and where no loop runs."""

    def __init__(self, rest: float):
        self.rest = rest
        self.task: Future[None] | None = None
        self._token: object | None = None  # of the work that may go on
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    @property
    def going(self) -> bool:
        """Is there work that may go on?"""
        return self._token is not None

    def start(self, step: Callable[[], bool], ended: Callable[[bool], None]) -> None:
        """Take steps until there is none left, then call ended(True), or until `stop`, then ended(False).

        Work that was going on stops, as by `stop`.
        """
        token = self._token = object()

        def take() -> bool:
            if self._token is token and step():
                return True
            whole = self._token is token
            if whole:
                self._token = None
            ended(whole)
            return False

        self.take = take
        if _hands:
            _hands[-1].append(self)
        elif self._loop is not None and self._loop.is_running():
            self.task = asyncio.run_coroutine_threadsafe(self._run(take), self._loop)
        else:
            while take():
                pass

    def stop(self) -> None:
        """No further step; one that is being computed is still completed."""
        self._token = None

    async def _run(self, take: Callable[[], bool]) -> None:
        await asyncio.sleep(self.rest)
        while take():
            await asyncio.sleep(self.rest)


@contextmanager
def by_hand() -> Iterator[list[Steps]]:
    """Within it nothing goes on by itself: the list gets what is started, and `take()` takes a step of it."""
    _hands.append([])
    try:
        yield _hands[-1]
    finally:
        _hands.pop()
