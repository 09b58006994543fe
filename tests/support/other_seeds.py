"""The course's models, trained from another seed: as a cache in place of the learner's, or in a kernel of its own.

    python tests/support/other_seeds.py /tmp/cache_of_seed_1 1      # then: TX_CACHE=/tmp/cache_of_seed_1 pytest …

The bits of a training differ between processors, and so do the numbers of a trained model. What the tests ask of one
must hold for every model that the same recipe trains: other seeds are the cheapest way to find out.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Run in a kernel before its first cell, this changes the seed of all recipes that a notebook calls without one.
START = """
from tx_helpers import recipes
recipes.train_translator.__kwdefaults__["seed"] = recipes.train_writer.__kwdefaults__["seed"] = {seed}
"""


@contextmanager
def recipes_start_from(seed: int) -> Iterator[None]:
    """Within it, `train_translator` and `train_writer` use this seed unless they are given one."""
    exec(START.format(seed=seed), {})
    try:
        yield
    finally:
        exec(START.format(seed=0), {})


def fill(folder: Path, seed: int) -> None:
    """Put into the folder what the package keeps in its cache, trained from this seed; what is there already stays."""
    from tx_helpers.recipes import number_translator

    before = os.environ.get("TX_CACHE")
    os.environ["TX_CACHE"] = str(folder)
    try:
        with recipes_start_from(seed):
            number_translator(progress=False)
    finally:
        del os.environ["TX_CACHE"]
        os.environ |= {"TX_CACHE": before} if before is not None else {}


if __name__ == "__main__":
    fill(Path(sys.argv[1]), int(sys.argv[2]))
