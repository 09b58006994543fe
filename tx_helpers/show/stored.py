"""Widgets that a notebook can store: beside the live view they give a static form, for pages without a kernel.

And what a page needs so that something of the course is alive on it, with no kernel at all: its `PageForm`.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anywidget

from tx_helpers.opening import VIEW, Bundle

SCRIPT = {"_esm", "_css", "_anywidget_id"}  # synced traits that are not state
EXPORT = re.compile(r"^export\s+(default\s+)?(?=\S)", re.MULTILINE)
EXPORTS = re.compile(r"^export\s*\{[^}]*\}\s*;?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class PageForm:
    """A script that draws and the state that it draws from.

    script  an ES module whose default export is { render({ model, el }) }, as anywidget has it
    css     its style sheet
    state   trait -> JSON value or bytes; on the page `model.get(trait)` gives it, bytes as a DataView
    text    the `repr` in Python: what is to be seen at first
    """

    script: str
    css: str
    state: dict[str, Any]
    text: str


def page_form(widget: anywidget.AnyWidget, text: str) -> PageForm:
    """The page form of a widget whose script needs no kernel: its own traits as they are now."""
    inherited = set(anywidget.AnyWidget.class_trait_names(sync=True)) | SCRIPT
    state = {name: getattr(widget, name) for name in sorted(widget.keys) if name not in inherited}
    return PageForm(str(widget._esm), str(getattr(widget, "_css", "")), state, text)


def default_export(module: str) -> str:
    """An ES module as a JavaScript expression whose value is what the module exports as its default.

    ValueError if it imports something, or exports no default.
    """
    if found := re.search(r"^\s*import\b.*$", module, re.MULTILINE):
        raise ValueError(f"default_export: the module says {found[0].strip()!r}, but on a page it must import nothing")
    module = EXPORTS.sub("", module)
    if not any(found[1] for found in EXPORT.finditer(module)):
        raise ValueError("default_export: no line of the module begins with 'export default'")
    text = EXPORT.sub(lambda found: "const txDefault = " if found[1] else "", module)
    return f"(() => {{\n{text}\nreturn txDefault;\n}})()"


def as_json(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state with bytes as {"base64": …}."""
    return {
        name: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in state.items()
    }


class StoredWidget(anywidget.AnyWidget):
    """An anywidget whose stored output is `static_form()`, with `repr` as its plain text."""

    _ipython_display_ = None  # that of ipywidgets 7 (on Colab) would show the widget alone, without the static form

    def static_form(self) -> tuple[Bundle, Bundle]:
        """MIME type -> content, and MIME type -> metadata."""
        raise NotImplementedError

    def page_form(self) -> PageForm:
        """What a page without a kernel needs: the script and the traits as they are now."""
        return page_form(self, repr(self))

    def _repr_mimebundle_(self, **_asked: object) -> tuple[Bundle, Bundle]:
        _, colab = super()._repr_mimebundle_() or ({}, {})  # anywidget knows what Colab wants to be told
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        data, metadata = self.static_form()
        return {VIEW: view, **data, "text/plain": repr(self)}, {**colab, **metadata}
