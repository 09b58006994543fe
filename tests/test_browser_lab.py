"""Every notebook in JupyterLab, in Chromium: it runs, and its explorers do what their cases say."""

import pytest

from browser_harness import NOTEBOOKS, copy_notebooks, front_end
from browser_moves import faults_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    copy_notebooks(folder)
    with front_end("lab", folder) as opened:
        yield opened


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook_and_its_explorers(opened, notebook):
    assert faults_of(opened, notebook) == []
