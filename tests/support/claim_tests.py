"""Does a notebook's cell test its claim? It must pass as it stands, and fail with each break of its subject.

The cells that the claims of one notebook need (`notebook_slice.py`) run once, in this process, from top to bottom.
Where a break changes a cell, the process is copied just before it (`os.fork`). In the copy the broken cell runs in
place of the right one, and then the rest of the claim's cells, down to the one that tests the claim. So nothing runs
twice, and no broken object stays behind.

In the broken run the other cells' own `assert` statements are left out: the testing cell itself must notice.
"""

import ast
import io
import linecache
import os
import random
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial

import numpy as np
import torch

from claims import Break, Claim, laid_out, stands_in
from notebook_slice import needed_cells, without_magics

DONE = "fine"
LONGEST = 1200  # seconds that a broken run may take: a training that hangs must not hang the suite


def find_faults(claims: list[Claim], sources: list[str]) -> dict[Claim, list[str]]:
    """What is wrong with each claim of a notebook with these code cells ([] = it holds, and every break is noticed)."""
    found: dict[Claim, list[str]] = {claim: [] for claim in claims}
    cells: dict[Claim, list[int]] = {}
    for claim in claims:
        testing = [index for index, source in enumerate(sources) if stands_in(claim.cell, source)]
        if len(testing) == 1:
            cells[claim] = needed_cells(sources, partial(stands_in, claim.cell))
        else:
            numbers = [index + 1 for index in testing]
            found[claim].append(f"its cell {claim.cell!r} stands in the code cells {numbers}, expected in one")
    broken = {
        (claim, change): place_of(change, claim, sources, cells[claim], found[claim])
        for claim in cells
        for change in claim.breaks
    }
    namespace: dict = {"__name__": "__main__"}
    with no_traces():
        for index in sorted({index for indices in cells.values() for index in indices}):
            for (claim, change), place in broken.items():
                if place == index and not found[claim]:
                    rest = [i for i in cells[claim] if i >= index]
                    found[claim] += broken_run(claim, change, sources, rest, namespace)
            failed = run(sources[index], index, namespace)
            for claim in cells if failed else ():
                if index in cells[claim] and not found[claim]:
                    found[claim].append(f"as it stands, code cell {index + 1} fails: {failed}")
    return found


def place_of(change: Break, claim: Claim, sources: list[str], cells: list[int], found: list[str]) -> int | None:
    """The cell that a break changes; None, and a finding, where it cannot be applied or would change the assertion."""
    places = [index for index in cells for _ in laid_out(change.old).findall(sources[index])]
    if len(places) != 1:
        found.append(f"{change.old!r} stands {len(places)} times in the cells that its cell needs, expected once")
        return None
    before = sources[places[0]]
    after = broken_by(change, before)
    if stands_in(claim.cell, before) and asserted(before) != asserted(after):
        found.append(f"the break {change.old!r} → {change.new!r} changes an assertion, expected to change its subject")
        return None
    return places[0]


def broken_by(change: Break, source: str) -> str:
    return laid_out(change.old).sub(lambda found: change.new, source)


def broken_run(claim: Claim, change: Break, sources: list[str], cells: list[int], namespace: dict) -> list[str]:
    """Run the cells from the broken one to the testing one in a copy of this process; what is wrong with the result."""

    def task() -> str:
        for index in cells:
            source = broken_by(change, sources[index]) if index == cells[0] else sources[index]
            tests = stands_in(claim.cell, sources[index])
            failed = run(source, index, namespace, without_asserts=not tests)
            if tests:
                return "" if failed.startswith("AssertionError") else failed or "nothing fails"
            if failed:
                return f"code cell {index + 1} fails before: {failed}"
        return "its cell was not reached"

    told = in_a_copy(task)
    breaking = f"with {change.old!r} → {change.new!r}"
    return [f"{breaking}: {told}; expected an AssertionError of its cell"] if told else []


def run(source: str, index: int, namespace: dict, without_asserts: bool = False) -> str:
    """Execute a code cell; "" or its exception as text. Magics are blanked, what it prints or shows is dropped."""
    name = f"<code cell {index + 1}>"
    code = without_magics(source)
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)  # for inspect and for tracebacks
    try:
        tree = ast.parse(code, name)
        if without_asserts:
            tree = ast.fix_missing_locations(WithoutAsserts().visit(tree))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            exec(compile(tree, name, "exec"), namespace)
    except Exception as error:
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0] if lines else where(error, name)}"
    return ""


def where(error: Exception, name: str) -> str:
    """The cell's line at which an exception without a text was raised."""
    lines, trace = [], error.__traceback__
    while trace:
        lines += [trace.tb_lineno] if trace.tb_frame.f_code.co_filename == name else []
        trace = trace.tb_next
    return linecache.getline(name, lines[-1]).strip() if lines else ""


class WithoutAsserts(ast.NodeTransformer):
    """Removes a cell's `assert` statements, but not those of its functions: the testing cell may call them."""

    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node


def asserted(source: str) -> list[str]:
    """What a cell asserts."""
    return [ast.dump(node) for node in ast.walk(ast.parse(without_magics(source))) if isinstance(node, ast.Assert)]


def in_a_copy(task: Callable[[], str], longest: float = LONGEST) -> str:
    """The text that `task` returns in a copy of this process, which ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # the copy: it must not return into pytest
        told = "the copy of the process failed"
        try:
            torch.set_num_threads(1)  # the parent's threads were not copied
            told = task() or DONE  # silence would be a copy that died
        finally:
            os.write(writing, told.encode()[:4000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        if not select.select([pipe], [], [], longest)[0]:
            os.kill(child, signal.SIGKILL)
        told = pipe.read() or f"the copy of the process died, or did not end within {longest:g} s"
    os.waitpid(child, 0)
    return "" if told == DONE else told


@contextmanager
def no_traces() -> Iterator[None]:
    """Restores what notebooks may change for the process (they set seeds): random states, threads, the dtype."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_rng_state(states[0]), np.random.set_state(states[1]), random.setstate(states[2])
        torch.set_num_threads(threads)
        torch.set_default_dtype(dtype)
