"""The web edition in a browser: its pages opened from the disk or from a server, and what lives on them moved.

with served(folder) as address: …          # http://127.0.0.1:<port>, the folder's files
opened = Opened(browser, address)          # or folder.as_uri()
page = opened("04_self_attention.html")
opened.close()                             # AssertionError if a page complained
"""

import functools
import http.server
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser_harness import is_foreign
from browser_moves import act, control_of
from explorer_cases import Move
from player_page import put

PATIENCE = 20  # seconds in which a summary must follow a move
ALIVE = """() => [...document.querySelectorAll("[data-form]")].every((place) => place.dataset.lives)"""
# The middle of the thumb if a slider stood at this stop.
STOP = """([node, stop]) => {
  const box = node.getBoundingClientRect(), thumb = 8, share = stop / node.max;
  return [box.left + thumb + share * (box.width - 2 * thumb), box.top + box.height / 2];
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server for the folder, on this machine alone."""
    handler = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Opened:
    """Opens pages below an address, each in a window of its own, and notes errors and requests to other hosts."""

    def __init__(self, browser, address: str):
        self.browser, self.address = browser, address
        self.complaints: list[str] = []
        self._contexts: list = []

    def __call__(self, name: str, **options):
        """The page, open."""
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._complain(name, message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._complain(name, str(error)))
        page.on("request", lambda request: self._complain(name, request.url) if is_foreign(request.url) else None)
        page.goto(f"{self.address}/{name}")
        return page

    def _complain(self, name: str, text: str) -> None:
        self.complaints.append(f"{name}: {text}")

    def close(self) -> None:
        """Close all pages. None may have complained."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()
        assert self.complaints == []


def wake(page) -> None:
    """Unfold everything and bring all that lives on the page to life."""
    page.evaluate("() => document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
    for place in page.locator("[data-form]").all():
        place.scroll_into_view_if_needed()
    page.wait_for_function(ALIVE)


def said(root, selector: str = ".tx-summary") -> str:
    """What an explorer says, its spaces as one."""
    return " ".join((root.locator(selector).first.text_content() or "").split())


def turned(root, about: dict, place: int, *, by_keyboard: bool) -> None:
    """Turn the control that a recording describes so to one of its places, by keys or by the mouse."""
    page, last = root.page, len(about["values"]) - 1
    if about["kind"] == "slider":
        slider = root.get_by_role("slider", name=about["label"], exact=True)
        slider.scroll_into_view_if_needed()
        if not by_keyboard:
            page.mouse.click(*page.evaluate(STOP, [slider.element_handle(), place]))
            return
        slider.focus()
        beside = "ArrowRight" if place > about["at"] else "ArrowLeft"
        page.keyboard.press({0: "Home", last: "End"}.get(place, beside))
    elif about["kind"] == "choice" and by_keyboard:
        root.get_by_role("combobox", name=about["label"], exact=True).focus()
        for _ in range(abs(place - about["at"])):
            page.keyboard.press("ArrowDown" if place > about["at"] else "ArrowUp")
    elif about["kind"] == "tick" and by_keyboard:
        root.get_by_role("checkbox", name=about["label"], exact=True).focus()
        page.keyboard.press("Space")
    elif about["kind"] == "buttons" and by_keyboard:
        root.get_by_role("button", name=about["texts"][place], exact=True).focus()
        page.keyboard.press("Enter")
    elif about["kind"] in ("text", "number"):
        root.get_by_label(about["label"], exact=True).focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.press("Delete")  # the new text may be empty
        page.keyboard.type(about["texts"][place])
        page.keyboard.press("Enter" if by_keyboard else "Tab")
    else:
        put(root, about, place)


def differences(root, form: dict) -> list[str]:
    """Move each control to the settings that Python drew afresh after the recording; what the page says otherwise."""
    controls = {about["key"]: about for about in form["state"].get("recording", {}).get("controls", [])}
    start, found = said(root), []
    for n, check in enumerate(form["checks"]):
        about = controls[check["key"]]
        move = f"{form['name']}: {about['label']} to {about['texts'][check['place']]}, {'mouse' if n % 2 else 'keys'}"
        turned(root, about, check["place"], by_keyboard=n % 2 == 0)
        expected = " ".join(check["summary"].split()), " ".join(check["error"].split())
        if (seen := (_soon(root, expected[0]), said(root, ".tx-error"))) != expected:
            found.append(f"{move}: {seen}, expected {expected}")
        if about["kind"] in ("text", "number"):
            turned(root, about, about["at"], by_keyboard=True)
        else:
            put(root, about, about["at"])
        if _soon(root, start) != start:
            found.append(f"{move} and back: {said(root)!r}, expected {start!r}")
    return found


def moved(root, move: Move) -> list[str]:
    """Make a move of the browser suite for Jupyter; the summary must match. Returns a list of one fault or none."""
    before, deadline = said(root), time.monotonic() + PATIENCE
    act(root.page, control_of(root, move.control), move)
    while not (re.search(move.summary, said(root)) and move.holds(before, said(root))):
        if time.monotonic() > deadline:
            return [f"{move.control}: {said(root)!r}, expected {move.summary!r}"]
        root.page.wait_for_timeout(20)
    return []


def played(root, form: dict) -> bool:
    """Press the button that starts something; does the explorer then say something else?"""
    about = next(about for about in form["state"]["recording"]["controls"] if about["kind"] == "run")
    before, deadline = said(root), time.monotonic() + PATIENCE
    root.get_by_role("button", name=about["labels"][0], exact=True).click()
    while said(root) == before and time.monotonic() < deadline:
        root.page.wait_for_timeout(20)
    return said(root) != before


def _soon(root, expected: str) -> str:
    """What the explorer says, after some time for it to say this."""
    deadline = time.monotonic() + PATIENCE
    while (seen := said(root)) != expected and time.monotonic() < deadline:
        root.page.wait_for_timeout(20)
    return seen
