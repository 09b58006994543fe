"""Every notebook in JupyterLab, in Chromium: it runs, and its explorers do what their cases say.

Here, too, only the cells that the explorers need are run. `make thorough` runs the whole notebooks, as a learner does:
by clicks on Run, Run All Cells.
"""

import pytest

from browser_harness import NOTEBOOKS, copy_notebooks, front_end, shared_cache
from browser_moves import faults_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.thorough)], ids=["needed", "whole"])
def faults(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    copy_notebooks(folder, whole=request.param)
    with front_end("lab", folder, shared_cache(tmp_path_factory)) as opened:
        yield lambda notebook: faults_of(opened, notebook, from_menu=request.param)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook_and_its_explorers(faults, notebook):
    assert faults(notebook) == []
