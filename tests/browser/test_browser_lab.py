"""The notebooks in JupyterLab, in Chromium: they run, and their explorers do what their cases say.

`make test` opens one notebook for each kind of control and runs only the cells that its explorers need. `make thorough`
runs every notebook whole, as a learner does, by clicks on Run, Run All Cells; and the explorers of all of them on
models trained from another seed.
"""

import pytest

from browser_harness import A_NOTEBOOK_A_KIND, NOTEBOOKS, copy_notebooks, front_end, shared_cache
from browser_moves import faults_of
from other_seeds import fill

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def faults(request, tmp_path_factory):
    whole, seed = request.param
    folder = tmp_path_factory.mktemp("lab")
    copy_notebooks(folder, whole, seed)
    cache = shared_cache(tmp_path_factory) if seed == 0 else tmp_path_factory.mktemp("cache")
    if seed:
        fill(cache, seed)
    with front_end("lab", folder, cache) as opened:
        yield lambda notebook: faults_of(opened, notebook, from_menu=whole)


@pytest.mark.parametrize("faults", [(False, 0)], ids=["needed"], indirect=True)
@pytest.mark.parametrize("notebook", A_NOTEBOOK_A_KIND)
def test_a_notebook_of_each_kind_and_its_explorers(faults, notebook):
    assert faults(notebook) == []


@pytest.mark.thorough
@pytest.mark.parametrize("faults", [(True, 0), (False, 1)], ids=["whole", "seed1"], indirect=True)
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_notebook_and_its_explorers(faults, notebook):
    assert faults(notebook) == []
