"""A page in a browser that Playwright does not drive, by what Firefox and WebKit share: a script's value, and actions.

ENGINES = {"firefox": firefox, "webkit": webkit} of their modules give such a page, or skip the test.
"""

import json
import time
from typing import Any

KEYS = {"End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Space": " "}
# Where an element is after it has come into view: a share of its width, and the middle of its height.
PLACE = """(() => {{
  const node = document.querySelector({selector});
  node.scrollIntoView({{ block: "center" }});
  const box = node.getBoundingClientRect();
  return [Math.round(box.left + {share} * box.width), Math.round(box.top + box.height / 2)];
}})()"""


class Driven:
    """What the tests need of a page; `evaluate` and `act` are the engine's own."""

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON carries it."""
        raise NotImplementedError

    def act(self, actions: list[dict]) -> None:
        """Do what these WebDriver actions say: https://www.w3.org/TR/webdriver2/#actions."""
        raise NotImplementedError

    def wait(self, expression: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"not within {seconds} s: {expression}"
            time.sleep(0.1)

    def press(self, key: str, selector: str) -> None:
        """A key, while the element has the focus."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        pressed = [{"type": kind, "value": KEYS[key]} for kind in ("keyDown", "keyUp")]
        self.act([{"type": "key", "id": "keys", "actions": pressed}])

    def click(self, selector: str, share: float = 0.5, drag: int = 0) -> None:
        """The mouse on the element, at this share of its width, and drawn so many pixels to the right."""
        x, y = self.evaluate(PLACE.format(selector=json.dumps(selector), share=share))
        moves = [{"type": "pointerMove", "x": x + by, "y": y, "duration": 50} for by in (0, drag)]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self.act([{"type": "pointer", "id": "mouse", "actions": [moves[0], down, moves[1], up]}])
