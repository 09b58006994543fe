"""JavaScript of the widgets. anywidget takes one module, so what several files need is joined to each."""

from pathlib import Path

FOLDER = Path(__file__).parent


def script(path: Path) -> str:
    """The module of a control that is drawn in the browser: svg.js, which all of them share, and its own file."""
    return joined(FOLDER / "svg.js", path)


def joined(*paths: Path) -> str:
    """Files as one module."""
    return "\n".join(path.read_text("utf-8") for path in paths)
