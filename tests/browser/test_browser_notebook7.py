"""The cells that the explorers need in Notebook 7, in Chromium: they run, and the explorers do what their cases say.

Notebook 7 shares its notebook and its widgets with JupyterLab (test_browser_lab.py): `make test` opens one notebook
here, with most kinds of control in it, and `make thorough` the others.
"""

import pytest

from browser_harness import NOTEBOOKS, copy_notebooks, front_end, shared_cache
from browser_moves import faults_of

ONE = "04_self_attention.ipynb"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    copy_notebooks(folder, whole=False)
    with front_end("notebook", folder, shared_cache(tmp_path_factory)) as opened:
        yield opened


@pytest.mark.parametrize(
    "notebook", [pytest.param(name, marks=() if name == ONE else pytest.mark.thorough) for name in NOTEBOOKS]
)
def test_notebook_and_its_explorers(opened, notebook):
    assert faults_of(opened, notebook) == []
