"""Widgets that a notebook can store: beside the live view they give a static form, for pages without a kernel."""

import anywidget

VIEW = "application/vnd.jupyter.widget-view+json"


class StoredWidget(anywidget.AnyWidget):
    """An anywidget whose stored output is `static_form()`, with `repr` as its plain text."""

    _ipython_display_ = None  # that of ipywidgets 7 (on Colab) would show the widget alone, without the static form

    def static_form(self) -> tuple[dict, dict]:
        """MIME type -> content, and MIME type -> metadata."""
        raise NotImplementedError

    def _repr_mimebundle_(self, include=None, exclude=None):
        _, colab = super()._repr_mimebundle_()  # anywidget knows what Colab wants to be told
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        data, metadata = self.static_form()
        return {VIEW: view, **data, "text/plain": repr(self)}, {**colab, **metadata}
