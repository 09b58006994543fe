"""A bare page in Chromium that holds one widget's module, without Jupyter, and complains of what goes wrong in it."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from browser_harness import chromium

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"' $$"
MOUNT = """async ({ esm, stored }) => {
  const heard = {};
  const model = {
    get: (key) => stored[key], set: (key, value) => { stored[key] = value; heard["change:" + key]?.(); },
    on: (event, call) => { heard[event] = call; }, off: (event) => { delete heard[event]; },
    save_changes: () => { window.saved = stored.value; },
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  window.tell = (key, value) => model.set(key, value);
  window.heard = heard;
  window.close_ = module.default.render({ model, el: document.getElementById("place") });
}"""


@contextmanager
def bare_page() -> Iterator[Page]:
    """A page with an empty #place; at the end it must have no message, error or dialog to show."""
    with chromium() as browser:
        page = browser.new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.set_content('<!DOCTYPE html><html lang="en"><title>Widget</title><main id="place"></main></html>')
        yield page
        assert complaints == []


def mount(page: Page, esm: object, stored: dict) -> None:
    """Render the module with these traits; in the page `tell(key, value)` is the kernel, `saved` what it was sent."""
    page.evaluate(MOUNT, {"esm": str(esm), "stored": stored})


def focused(page: Page) -> str:
    """The accessible name of what has the focus."""
    return page.evaluate("() => document.activeElement.getAttribute('aria-label')")
