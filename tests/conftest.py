"""What all tests share: they import the package before torch, and the run ends with the figures of the course."""

import os
import tempfile
from functools import partial
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, settings

import tx_helpers  # noqa: F401  sets how idle threads wait, before torch is imported
from notebook_comparison import compared_share
from repository import COURSE
from stored_drawings import compare_stored

# A learner's own answers and model change what notebooks show: nothing is read from the user's data folder.
os.environ["TX_PROGRESS"] = str(Path(tempfile.mkdtemp(prefix="tx-progress-")) / "progress.json")

# The same examples in every run, and no limit in seconds: a failure is seen again by running again.
settings.register_profile(
    "course", deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("course")

EXERCISES = {
    "mistakes of the bank named": "test_a_mistake_is_right_in_form_and_is_rejected_and_named",
    "right answers by other algorithms accepted": "test_another_algorithm_passes",
    "mistakes unlike any in the bank rejected": "test_a_mistake_unlike_any_in_the_bank_is_rejected",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Whatever opens a browser is slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


def pytest_terminal_summary(terminalreporter) -> None:
    """Print how many answers to exercises are told apart, and how many code cells strict nbval really compares."""
    stats = terminalreporter.stats
    for what, test in EXERCISES.items():
        passed = [report for report in stats.get("passed", []) if f"::{test}[" in report.nodeid]
        failed = sum(f"::{test}[" in report.nodeid for report in stats.get("failed", []))
        answers = sum(dict(report.user_properties)["answers"] for report in passed)
        if answers or failed:
            note = f"; {failed} exercises with others" if failed else ""
            terminalreporter.write_line(f"exercises: {answers} {what}{note}")
    compared = [
        value for report in stats.get("passed", []) for key, value in report.user_properties if key == "compared"
    ]
    if compared:
        terminalreporter.write_line("checkpoints: hidden states, logits and gradients equal those of transformers for")
        for row in sorted(set(compared)):
            terminalreporter.write_line(f"  {row}")
    notebooks = [nbformat.read(path, as_version=4) for path in COURSE]
    compared, bearing = compared_share(notebooks)
    if bearing:
        terminalreporter.write_line(
            f"strict nbval really compares {compared} of {bearing} code cells with an output "
            f"({compared / bearing:.0%}) in {len(notebooks)} notebooks"
        )


@pytest.fixture
def as_stored(request):
    """Are drawings those stored beside the test file? `as_stored(right=picture, wrong=picture)`, once in a file."""
    return partial(compare_stored, request.path.parent / "drawings" / request.path.stem.removeprefix("test_"))


@pytest.fixture(scope="module")
def browser():
    """Chromium without Jupyter; the test is skipped where Playwright or Chromium is absent."""
    pytest.importorskip("playwright", reason="playwright is not installed: scripts are not tested in a browser")
    from browser_harness import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def bare_page(browser):
    """A page with an empty #place, which at the end must have no message, error, dialog or request to show."""
    page, complaints = browser.new_page(viewport={"width": 1000, "height": 900}), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: complaints.append(request.url) if request.url[:4] == "http" else None)
    page.set_content('<!DOCTYPE html><html lang="en"><title>Widget</title><main id="place"></main></html>')
    yield page
    page.close()
    assert complaints == []
