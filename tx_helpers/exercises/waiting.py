"""What cells show between a question and its finding waits for the guess: folded by the kernel, for every front end.

`predict` calls `ask`, and `reveal` calls `found`. From the cell behind the question on, what a cell prints, displays or
ends with is published inside a closed <details>. A guess (or *Show me*) publishes it again as it is. So nothing depends
on the script of a page: a file, a site and any front end show the same. `unfolded` takes the fold off a stored output.
A finding behind an explorer also waits for the explorer's first move.
"""

import base64
import html
import io
import sys
from collections.abc import Callable, Mapping
from itertools import count
from math import isclose
from typing import Any

import anywidget

from tx_helpers.opening import VIEW, WAITS, Bundle

TITLE = "Waits for your guess above: {}"
MOST = 3  # cells that wait for one question; a learner who walks away from it finds the others open
_numbers = count()


def fold(data: Mapping[str, Any], metadata: Mapping[str, Any], key: str) -> tuple[Bundle, Bundle]:
    """What an output shows (MIME type -> content, and its metadata), folded until `key` has a guess.

    The words stay as they are, for nbval and for readers of the file; a widget's name goes, since it would be shown
    in place of the fold.
    """
    what = "the explorer" if VIEW in data else "the picture"
    if "text/html" in data:
        inside = data["text/html"]
    elif "image/svg+xml" in data:
        inside = data["image/svg+xml"]
    elif png := data.get("image/png"):
        code = base64.b64encode(png).decode() if isinstance(png, bytes) else png
        alt = html.escape(metadata.get("image/png", {}).get("alt", ""))
        inside = f'<img alt="{alt}" src="data:image/png;base64,{code}">'
    else:
        what, inside = "the numbers", f"<pre>{html.escape(data.get('text/plain', ''))}</pre>"
    text = f'<details class="tx-waits" data-key="{key}"><summary>{TITLE.format(what)}</summary>{inside}</details>'
    return {"text/html": text, "text/plain": data.get("text/plain", "")}, {WAITS: key}


class Waiting:
    """The cells of one kernel that wait, and what they would show."""

    def __init__(self, shell: Any):
        self.shell = shell
        self.asked: dict[str, int] = {}  # key of an open question -> how many more cells wait for it
        self.kept: dict[str, list[tuple[str, Bundle, Bundle]]] = {}  # key -> (display id, data, metadata)
        self.ended: dict[str, list[object]] = {}  # key -> what its cells end with
        self.known: set[str] = set()  # keys of questions with an answer: nothing waits for it
        self._restore: Callable[[], None] | None = None
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def ask(self, key: str, *, known: bool = False) -> None:
        """From the next cell on, what is shown waits for the guess of `key`, unless it is known."""
        self.asked[key], self.kept[key], self.ended[key] = MOST, [], []
        (self.known.add if known else self.known.discard)(key)

    def found(self, key: str) -> list[object]:
        """The finding of `key` is shown in this cell; returns what the cells before it end with."""
        self.asked.pop(key, None)
        self._end()
        return self.ended.pop(key, [])

    def open(self, key: str) -> None:
        """The guess is there: show what waited for it, as it is."""
        self.known.add(key)
        for place, data, metadata in self.kept.pop(key, []):
            self.shell.display_pub.publish(data, metadata, transient={"display_id": place}, update=True)

    def _begin(self, _info: object = None) -> None:
        if not self.asked:
            return
        key = list(self.asked)[-1]
        self.asked[key] -= 1
        if not self.asked[key]:
            del self.asked[key]
        publisher, trap, out = self.shell.display_pub, self.shell.display_trap, sys.stdout
        publish, hook, printed = publisher.publish, trap.hook, io.StringIO()

        def flush() -> None:
            if text := printed.getvalue():
                printed.seek(0)
                printed.truncate()
                keep({"text/plain": text.removesuffix("\n")}, {})

        def keep(data: Bundle, metadata: Bundle) -> None:
            place = f"tx-waits-{next(_numbers)}"
            self.kept[key].append((place, data, metadata))
            folded, about = fold(data, metadata, key)
            publish(folded, about, transient={"display_id": place})

        def show(data: Bundle, metadata: Bundle | None = None, *given: object, **options: Any) -> None:
            bar = VIEW in data and set(data) <= {VIEW, "text/plain"}  # of progress: it says how long, and nothing else
            if bar or options.get("update") or key in self.known:
                return publish(data, metadata, *given, **options)
            flush()
            keep(data, metadata or {})

        def ends_with(value: object) -> None:
            self.ended[key].append(value)
            if value is None or key in self.known:
                return hook(value)
            self.shell.displayhook.update_user_ns(value)
            data, metadata = self.shell.display_formatter.format(value)
            if data:
                show(data, metadata)

        def restore() -> None:
            flush()
            sys.stdout, publisher.publish, trap.hook = out, publish, hook
            if sys.displayhook is ends_with:
                sys.displayhook = hook

        publisher.publish, trap.hook, self._restore = show, ends_with, restore
        if key not in self.known:
            sys.stdout = printed

    def _end(self, _result: object = None) -> None:
        if self._restore:
            self._restore()
            self._restore = None


_of_kernel: Waiting | None = None


def waiting() -> Waiting | None:
    """The waiting cells of this kernel; None where no notebook runs."""
    global _of_kernel
    if _of_kernel is None and "IPython" in sys.modules:
        from IPython import get_ipython

        shell = get_ipython()
        if shell is not None and hasattr(shell, "kernel"):
            _of_kernel = Waiting(shell)
    return _of_kernel


def on_first_move(shown: object, tell: Callable[[], object]) -> bool:
    """Call `tell` when a learner moves what is shown; False for what is no explorer."""

    def moved(change: Any) -> None:
        numbers = isinstance(change["old"], float) and isinstance(change["new"], float)
        if not (numbers and isclose(change["old"], change["new"])):  # a slider rounds its value when it appears
            tell()

    controls = getattr(shown, "controls", None)
    if isinstance(controls, Mapping):
        for control in controls.values():
            if control.has_trait("value"):
                control.observe(moved, "value")
            else:
                control.on_click(lambda _button: tell())
        return bool(controls)
    widget = getattr(shown, "widget", shown)
    if not isinstance(widget, anywidget.AnyWidget):
        return False
    widget.observe(moved, [name for name in widget.keys if not name.startswith("_")])
    return True


def unfolded(output: Mapping[str, Any]) -> dict[str, Any]:
    """A stored output without its fold: printed words as a stream, everything else as data; others as they are."""
    data = output.get("data", {})
    if WAITS not in output.get("metadata", {}):
        return dict(output)
    inside = _text(data["text/html"]).partition("</summary>")[2].removesuffix("</details>")
    if inside.startswith("<pre>"):
        return {"output_type": "stream", "name": "stdout", "text": _text(data["text/plain"]) + "\n"}
    return {"output_type": "display_data", "metadata": {}, "data": {**data, "text/html": inside}}


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
