"""JavaScript of the widgets. anywidget takes one module, so what several files need is joined to each."""

from pathlib import Path

from tx_helpers.language import in_use, script_in

FOLDER = Path(__file__).parent
DRAWN = [FOLDER.parent / "show" / "legible.js", FOLDER / "svg.js"]


def script(path: Path) -> str:
    """The module of a control that is drawn in the browser: what all of them share, and its own file."""
    return joined(*DRAWN, path)


def joined(*paths: Path) -> str:
    """Files as one module, in the language in use."""
    return in_use(script_in, "\n".join(path.read_text("utf-8") for path in paths))
