"""A browser for each test file, and an empty page for each test."""

import pytest


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
