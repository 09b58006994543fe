"""How long `check` takes for each exercise: the first time in a session, and for a wrong answer after that.

    python tools/bench_exercises.py [--rounds 3]

First: the right answer, before the exercise's own results have been computed (the modules are loaded before; their
loading time is printed, too). Wrong: its first known mistake, with the results there. Goal: under 1 second.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ["TX_PROGRESS"] = os.path.join(tempfile.mkdtemp(), "progress.json")  # not the user's own progress

from timing import medians
from tx_helpers.exercises.catalogue import notebook_of
from tx_helpers.exercises.checks import check, find

GOAL, SLOWEST = 1.0, 5


def first(name: str) -> Callable[[], object]:
    """Checks the right answer as if nothing had been checked before."""

    def run():
        find(name)._results.clear()
        return check(name, find(name).answer)

    return run


def wrong(name: str) -> Callable[[], object]:
    """Checks a known mistake."""
    return lambda: check(name, find(name).mistakes[0].answer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    start = time.perf_counter()
    names = list(notebook_of())
    print(f"loading {len(names)} exercises: {time.perf_counter() - start:.2f} s")
    found = {name: medians({"first": first(name), "wrong": wrong(name)}, rounds=arguments.rounds) for name in names}
    for kind in ("first", "wrong"):
        seconds = [found[name][kind] for name in names]
        result = "within" if max(seconds) < GOAL else "OVER"
        print(f"{kind:6} median {statistics.median(seconds):.3f} s, max {max(seconds):.3f} s   {result} {GOAL:.0f} s")
    print(f"\nthe slowest{'':24}first     wrong")
    for name in sorted(names, key=lambda name: -max(found[name].values()))[:SLOWEST]:
        print(f"{notebook_of()[name]} {name:28}{found[name]['first']:7.3f} s {found[name]['wrong']:7.3f} s")


if __name__ == "__main__":
    main()
