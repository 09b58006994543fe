"""Firefox without a driver of its own: WebDriver BiDi, which it speaks over a web socket.

with firefox() as page:
    page.goto("http://…")
    page.evaluate("document.title")
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import websocket  # Jupyter's server brings it

END, LEFT, RIGHT = "\ue010", "\ue012", "\ue014"  # keys
MIDDLE = """((node) => (node.scrollIntoView({{ block: "center" }}), node.getBoundingClientRect().toJSON()))
  (document.querySelector({!r}))"""


class Driven:
    """A page without Playwright; an engine has its own `evaluate`, and its own `act` for the actions of WebDriver."""

    def wait(self, expression: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"not within {seconds} s: {expression}"
            time.sleep(0.1)

    def press(self, key: str, selector: str) -> None:
        self.evaluate(f"document.querySelector({selector!r}).focus()")
        self.act(
            [{"type": "key", "id": "k", "actions": [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]}]
        )

    def click(self, selector: str, share: float = 0.5, drag: int = 0) -> None:
        """The mouse on the element, at this share of its width, and drawn so many pixels to the right."""
        box = self.evaluate(MIDDLE.format(selector))
        x, y = round(box["left"] + share * box["width"]), round(box["top"] + box["height"] / 2)
        there, on = ({"type": "pointerMove", "x": x + by, "y": y, "duration": 50} for by in (0, drag))
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self.act([{"type": "pointer", "id": "m", "actions": [there, down, on, up]}])


class Page(Driven):
    """One tab."""

    def __init__(self, address: str):
        self._socket = websocket.create_connection(f"{address}/session", timeout=60, suppress_origin=True)
        self._numbers = itertools.count(1)
        self._ask("session.new", capabilities={})
        self._tab = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def _ask(self, method: str, **params: Any) -> dict:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (answer := json.loads(self._socket.recv())).get("id") != number:
            pass
        if answer["type"] == "error":
            raise RuntimeError(f"Firefox: {method}: {answer['message']}")
        return answer["result"]

    def size(self, width: int, height: int) -> None:
        """Of the page, in CSS pixels."""
        self._ask("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height})

    def goto(self, url: str) -> None:
        self._ask("browsingContext.navigate", context=self._tab, url=url, wait="interactive")

    def evaluate(self, expression: str) -> Any:
        code = f"JSON.stringify({expression})"
        asked = {"expression": code, "target": {"context": self._tab}, "awaitPromise": False}
        answer = self._ask("script.evaluate", **asked)
        if answer["type"] == "exception":
            raise RuntimeError(f"Firefox: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"].get("value", "null"))

    def act(self, actions: list[dict]) -> None:
        self._ask("input.performActions", context=self._tab, actions=actions)


@contextmanager
def firefox() -> Iterator[Page]:
    """A headless Firefox with a profile of its own; the test is skipped where there is none."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if not path:
        pytest.skip("no Firefox found (get one by: apt install firefox-esr)")
    profile = Path(tempfile.mkdtemp(prefix="tx_firefox_"))
    command = [path, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port=0"]
    environment = os.environ | {"HOME": str(profile)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        for line in process.stderr:
            if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                yield Page(found[1])
                break
        else:
            pytest.fail("Firefox ended before it listened", pytrace=False)
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()
        shutil.rmtree(profile, ignore_errors=True)
