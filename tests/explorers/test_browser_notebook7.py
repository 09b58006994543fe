"""The cells that the explorers need in Notebook 7, in Chromium: they run, and the explorers do what their cases say."""

import pytest

from browser_harness import NOTEBOOKS, copy_notebooks, front_end, shared_cache
from browser_moves import faults_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    copy_notebooks(folder, whole=False)
    with front_end("notebook", folder, shared_cache(tmp_path_factory)) as opened:
        yield opened


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook_and_its_explorers(opened, notebook):
    assert faults_of(opened, notebook) == []
