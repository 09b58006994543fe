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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import websocket  # Jupyter's server brings it

from driven import Driven


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
