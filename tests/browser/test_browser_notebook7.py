"""The cells that the explorers need in Notebook 7, in Chromium: they run, and the explorers do what their cases say.

JupyterLab, which shares its notebook and its widgets with Notebook 7, opens every notebook in `test_browser_lab.py`.
Here `make test` opens one notebook for each kind of control, and `make thorough` the others.
"""

import pytest

from browser_harness import NOTEBOOKS, copy_notebooks, front_end, shared_cache
from browser_moves import faults_of

pytestmark = pytest.mark.slow
A_NOTEBOOK_A_KIND = {
    "00_start_here.ipynb": "the machine, an attention view",
    "04_self_attention.ipynb": "the stepper, a drawing that the page computes",
    "10_debugging.ipynb": "a training that a button starts",
    "12_a_model_that_writes.ipynb": "text that is typed, a text that grows",
    "14_families.ipynb": "sliders, choices and words of your own",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    copy_notebooks(folder, whole=False)
    with front_end("notebook", folder, shared_cache(tmp_path_factory)) as opened:
        yield opened


@pytest.mark.parametrize(
    "notebook",
    [
        pytest.param(notebook, marks=() if notebook in A_NOTEBOOK_A_KIND else pytest.mark.thorough)
        for notebook in NOTEBOOKS
    ],
)
def test_notebook_and_its_explorers(opened, notebook):
    assert faults_of(opened, notebook) == []
