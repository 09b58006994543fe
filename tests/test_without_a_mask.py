"""Notebook 06 trains with a causal mask and without one, at one seed. What its cell asserts of that holds for five."""

import pytest

from judging import no_traces, run
from notebook_slice import needed_cells
from test_claims import code_of

ASSERTED = 'forced["without"] < 0.15 < 0.35 < forced["with the mask"] < 1.2 < by_prefix["without"]'
SEEDED = {
    "RandomStream(0)": "RandomStream({seed})",  # the parameters
    "TextBatches(ids, 32, 32)": "TextBatches(ids, 32, 32, seed={seed})",  # the windows of the text
}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_training_with_and_without_the_mask_differs_as_asserted_at_other_seeds(seed):
    sources = code_of("06_masking")
    cells = needed_cells(sources, lambda source: ASSERTED in source)
    for old in SEEDED:
        assert sum(sources[index].count(old) for index in cells) == 1, f"{old} is not where it was"
    namespace: dict = {"__name__": "__main__"}
    with no_traces():
        for index in cells:
            source = sources[index]
            for old, new in SEEDED.items():
                source = source.replace(old, new.format(seed=seed))
            assert run(source, index, namespace) == "", f"seed {seed}, code cell {index + 1}"
