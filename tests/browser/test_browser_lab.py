"""Every notebook in JupyterLab, in Chromium: it runs, and its explorers do what their cases say.

Here, too, only the cells that the explorers need are run. `make thorough` runs the whole notebooks, as a learner does:
by clicks on Run, Run All Cells; and the explorers on models trained from other seeds.
"""

import pytest

from browser_harness import NOTEBOOKS, copy_notebooks, front_end, shared_cache
from browser_moves import faults_of
from other_seeds import fill

pytestmark = pytest.mark.slow
OTHER_SEEDS = (1, 2)
ROUNDS = [  # whole notebooks, and the seed of the trainings
    pytest.param((False, 0), id="needed"),
    pytest.param((True, 0), id="whole", marks=pytest.mark.thorough),
    *(pytest.param((False, seed), id=f"seed{seed}", marks=pytest.mark.thorough) for seed in OTHER_SEEDS),
]


@pytest.fixture(scope="module", params=ROUNDS)
def faults(request, tmp_path_factory):
    whole, seed = request.param
    folder = tmp_path_factory.mktemp("lab")
    copy_notebooks(folder, whole, seed)
    cache = shared_cache(tmp_path_factory) if seed == 0 else tmp_path_factory.mktemp("cache")
    if seed:
        fill(cache, seed)
    with front_end("lab", folder, cache) as opened:
        yield lambda notebook: faults_of(opened, notebook, from_menu=whole)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook_and_its_explorers(faults, notebook):
    assert faults(notebook) == []
