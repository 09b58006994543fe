"""WebKit as GTK has it, by WebKitWebDriver: plain WebDriver, JSON over HTTP. The engine of Safari, not Safari itself.

webkit() gives a page as firefox() does.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from firefox import Driven


class Page(Driven):
    """The window of a session; `port` is the driver's."""

    def __init__(self, port: int):
        self._address = f"http://127.0.0.1:{port}/session"
        self._address += "/" + self._ask("", capabilities={})["sessionId"]

    def _ask(self, path: str, **params: Any) -> Any:
        request = urllib.request.Request(self._address + path, json.dumps(params).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def size(self, width: int, height: int) -> None:
        self._ask("/window/rect", width=width, height=height)

    def goto(self, url: str) -> None:
        self._ask("/url", url=url)

    def evaluate(self, expression: str) -> Any:
        return self._ask("/execute/sync", script=f"return {expression}", args=[])

    def act(self, actions: list[dict]) -> None:
        self._ask("/actions", actions=actions)


@contextmanager
def webkit() -> Iterator[Page]:
    """A window on a screen that nobody sees; the test is skipped where there is no driver, or no such screen."""
    if not (shutil.which("WebKitWebDriver") and shutil.which("xvfb-run")):
        pytest.skip("no WebKit found (get it by: apt install webkit2gtk-driver xvfb)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["xvfb-run", "-a", "-s", "-screen 0 1600x1200x24", "WebKitWebDriver", f"--port={port}"]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None, "WebKitWebDriver ended before it listened"
            time.sleep(0.1)
        yield Page(port)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)
